
# What the kernel says: identity, processes, sockets.

# field FILE KEY: V becomes the rest of the first line that starts with KEY
field() {
  V=
  plain "$1" || return 1
  { while IFS= read -r L || [ -n "$L" ]; do
    case $L in "$2"*)
      V=${L#"$2"}
      break
      ;;
    esac
  done; } 2>/dev/null <"$1"
}

ident() {
  enter ident
  [ -n "$R" ] || value date "$(date +%s)"
  UID_=$(id -u)
  value uid "$UID_"
  slurp "$R/proc/sys/kernel/hostname" && value hostname "$V"
  slurp "$R/proc/sys/kernel/osrelease" && value kernel "$V"
  for f in /etc/os-release /usr/lib/os-release; do
    if field "$R$f" PRETTY_NAME=; then
      value os "$V"
      break
    fi
  done
  slurp "$R/etc/machine-id" && value machineid "$V"
  slurp "$R/proc/sys/kernel/random/boot_id" && value bootid "$V"
  field "$R/proc/stat" 'btime ' && value btime "$V"
  slurp "$R/proc/uptime" && value uptime "${V%% *}"
  leave ident
}

# A process table as /proc has it. PIDS are those with a user side; AGENTS those named like a runner.
procs() {
  enter proc
  PIDS= AGENTS=
  if [ ! -r "$R/proc/1/stat" ]; then
    deny /proc/1/stat
    leave proc
    return
  fi
  k=0
  for d in "$R"/proc/[0-9]*; do
    pid=${d##*/}
    case $pid in *[!0-9]*) continue ;; esac
    slurp "$d/stat" && [ -n "$V" ] || continue # ended meanwhile
    k=$((k + 1))
    if [ "$k" -gt 8192 ]; then
      cut "/proc/$pid"
      break
    fi
    st=$V
    mark "$st"
    frame pstat "$pid" "$E"
    set -f
    set -- ${st##*) }
    set +f
    case ${7:-x} in *[!0-9]*) set -- x x x x x x 0 ;; esac
    [ $(($7 & 2097152)) -eq 0 ] || continue
    PIDS="$PIDS $pid"
    field "$d/status" Uid:
    set -f
    set -- $V
    set +f
    uid=$1
    mark "$*"
    frame pstatus "$pid" "$E"
    cg=
    plain "$d/cgroup" && { while IFS= read -r L || [ -n "$L" ]; do
      case $L in 0::* | *:name=systemd:*) cg=$L ;; esac
    done; } 2>/dev/null <"$d/cgroup"
    mark "$cg"
    frame pcgroup "$pid" "$E"
    plain "$d/cmdline" || continue
    frame pargs "$pid" "~$($TO head -c 16384 "$d/cmdline" 2>/dev/null | encode)"
    case $st in *'(gitlab-runner)'* | *'(Runner.Listener)'*) AGENTS="$AGENTS $pid:$uid" ;; esac
  done
  leave proc
}

detail() {
  enter detail
  for pid in $PIDS; do
    d=$R/proc/$pid
    [ -d "$d" ] || continue
    plain "$d/environ" || continue
    if [ -r "$d/environ" ]; then
      E="~$($TO head -c 32768 "$d/environ" 2>/dev/null | encode)"
      if [ "$E$R" = "~" ] && [ "$UID_" != 0 ] && [ -d "$d" ]; then deny "/proc/$pid/environ"; fi
      frame penv "$pid" "$E"
    elif [ -d "$d" ]; then
      deny "/proc/$pid/environ"
    fi
  done
  if [ -z "$R$PIDS" ]; then leave detail; return; fi
  if find / -maxdepth 0 -printf '' 2>/dev/null; then
    frame plinks exe "~$(cd "$R/proc" && $TO find [0-9]*/exe [0-9]*/cwd -maxdepth 0 -printf '%p\0%l\0' 2>/dev/null | head -c 4194304 | encode)"
    frame plinks fd "~$(cd "$R/proc" && $TO find [0-9]*/fd -maxdepth 1 \( -lname 'socket:*' -o -lname '/proc/*/mem' \) -printf '%p\0%l\0' 2>/dev/null | head -c 4194304 | encode)"
  else
    for pid in $PIDS; do
      frame plinks "$pid" "~$(links "$pid" | encode)"
    done
  fi
  leave detail
}

# links PID: pairs for a find that cannot print them
links() {
  cd "$R/proc" || return
  for f in "$1/exe" "$1/cwd" "$1"/fd/*; do
    [ -L "$f" ] || continue
    case $f in */fd/*) [ -n "$R" ] || [ -S "$f" ] || { [ -f "$f" ] && [ ! -s "$f" ]; } || continue ;; esac
    t=$(readlink "$f") && printf '%s\0%s\0' "$f" "$t"
  done 2>/dev/null
}

net() {
  enter net
  for t in tcp tcp6 udp udp6; do
    f=$R/proc/net/$t
    if plain "$f" && [ -r "$f" ]; then
      frame table "$t" "~$($TO head -c 2097152 "$f" 2>/dev/null | encode)"
    elif [ "$t" = tcp ] || [ -e "$f" ]; then
      deny "/proc/net/$t"
    fi
  done
  leave net
}

# The agent's own words: the journal on a running host, its log file in a tree.
log() {
  enter log
  f=$R/var/log/gitlab-runner.log
  if [ -z "$R" ] && command -v journalctl >/dev/null 2>&1; then
    E="~$($TO journalctl -u 'gitlab-runner*' -o json --no-pager -q -n 400 2>/dev/null </dev/null | head -c 1048576 | encode)"
    if [ "$E" = "~" ] && [ "$UID_" != 0 ]; then deny "the journal (no entries for uid $UID_)"; fi
    frame log journal "$E"
    leave log
  elif inside "$f" && [ -f "$f" ] && [ ! -L "$f" ]; then
    if [ -r "$f" ]; then
      frame log /var/log/gitlab-runner.log "~$($TO tail -c 262144 "$f" 2>/dev/null | encode)"
    else
      deny /var/log/gitlab-runner.log
    fi
    leave log
  else
    gone "$f"
    if [ "$DN" -gt 0 ]; then leave log; else leave log 'no journal and no /var/log/gitlab-runner.log'; fi
  fi
}
