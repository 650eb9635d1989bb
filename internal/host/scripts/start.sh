
act start
