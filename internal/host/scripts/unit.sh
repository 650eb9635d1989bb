
# One unit stopped and disabled, or started and enabled. State is read before and after; what is so already is left alone.
ask() { # KEY COMMAND...: first word of the answer
  a=$1
  shift
  V=$("$@" 2>/dev/null </dev/null | head -n 1)
  V=${V%%[!a-z0-9-]*}
  value "$a" "$V"
}

state() { # WHEN: sets ACTIVE and ENABLED
  if command -v systemctl >/dev/null 2>&1; then
    ask "$1.active" systemctl is-active -- "$U"
    ACTIVE=$V
    ENABLED=$(systemctl is-enabled -- "$U" 2>/dev/null </dev/null | head -n 1)
    ENABLED=${ENABLED%%[!a-z0-9-]*}
    ENABLED=${ENABLED:-not-found}
  else
    ACTIVE=unknown ENABLED=not-found
    value "$1.active" "$ACTIVE"
  fi
  value "$1.enabled" "$ENABLED"
}

act() { # stop|start
  exec </dev/null
  TO=
  tools
  frame begin "$1" '=cordon-act 1'
  value unit "$U"
  case $R$U in *[!A-Za-z0-9@._-]* | -* | '') value before.active unknown; value before.enabled not-found; ENABLED=not-found ;; *) state before ;; esac
  did=ran code=0 err=
  case $1.$ACTIVE.$ENABLED in
  *.not-found) did=nothing ;;
  start.active.enabled) did=already ;;
  stop.inactive.* | stop.failed.* | stop.unknown.*)
    case $ENABLED in enabled | enabled-runtime | linked | linked-runtime | alias) ;; *) did=already ;; esac
    ;;
  esac
  if [ "$did" = ran ]; then
    if [ "$1" = stop ]; then verb=disable; else verb=enable; fi
    err=$(systemctl "$verb" --now -- "$U" 2>&1 >/dev/null </dev/null)
    code=$?
  fi
  value did "$did"
  value exit "$code"
  value stderr "$(printf %s "$err" | head -c 2048)"
  if [ "$did" = nothing ]; then
    value after.active unknown
    value after.enabled not-found
    value mainpid 0
  else
    state after
    ask mainpid systemctl show -p MainPID --value -- "$U"
  fi
  frame end "$1" "=$S"
}
