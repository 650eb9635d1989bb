
# dead SECTION: what only a running machine has; in a disk image /proc and /sys could be those of whoever mounted it
dead() {
  enter "$1"
  leave "$1" 'disk image: nothing runs in it'
}

main() {
  exec </dev/null
  tools
  ASKED='' ASK=''
  case $P in *:*)
    ASKED=1 ASK=$(printf %s "${P#*:}" | base64 -d 2>/dev/null) P=${P%%:*}
    ;;
  esac
  watchdog 170
  renice -n 10 -p $$ >/dev/null 2>&1
  mounts
  frame begin "$P" '=cordon-collector 1'
  ident
  if [ "$P" = image ]; then
    PIDS='' AGENTS='' ALL=''
    dead proc
    dead detail
    dead net
    dead cross
    dead kernel
  else
    procs
    detail
    net
    if [ "$P" != watch ]; then
      cross
      kernel
    fi
  fi
  # every home: of /etc/passwd, /root, /home/*; "/" is written "/." so that it is a path
  set --
  plain "$R/etc/passwd" && { while IFS=: read -r a b c d e u f || [ -n "$a" ]; do
    case $u in
    /) u=/. ;;
    /*) ;;
    *) continue ;;
    esac
    for o do [ "$o" != "$u" ] || continue 2; done
    if far "$u"; then HC="$u is on a mount that may hang"
    elif ! inside "$R$u/x"; then
      case $u in /bin | /sbin | /var/run/*) ;; *) HC="a link leads there, not followed: $u" ;; esac
    elif [ $# -lt 400 ]; then set -- "$@" "$u"; else HC='homes beyond the first 400'; fi
  done; } 2>/dev/null <"$R/etc/passwd"
  for u in "$R/root" "$R"/home/*; do
    u=${u#"$R"}
    if far "$u"; then HC="$u is on a mount that may hang"; continue; fi
    for o do [ "$o" != "$u" ] || continue 2; done
    [ -d "$R$u" ] || [ -L "$R$u" ] || continue
    if ! inside "$R$u/x"; then HC="a link leads there, not followed: $u"; continue; fi
    if [ $# -lt 400 ]; then set -- "$@" "$u"; else HC='homes beyond the first 400'; fi
  done
  roots "$@"
  log
  wants
  if [ "$P" != watch ]; then
    OWN=1
    units "$@"
    crons "$@"
    runners "$@"
    keys "$@"
    profiles "$@"
    secrets "$@"
    jobs
    system "$@"
    privileged
    homes "$@"
    work
    containers
    owned
    [ -z "$ASKED" ] || asked
  fi
  frame end "$P" "=$S"
  kill -s TERM "$WD" 2>/dev/null
}
main
