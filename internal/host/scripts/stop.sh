
act stop
