
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
  if [ "$P" = image ]; then
    slurp "$R/etc/hostname" && value hostname "$V"
  else
    slurp "$R/proc/sys/kernel/hostname" && value hostname "$V"
    slurp "$R/proc/sys/kernel/osrelease" && value kernel "$V"
  fi
  for f in /etc/os-release /usr/lib/os-release; do
    if field "$R$f" PRETTY_NAME=; then
      value os "$V"
      break
    fi
  done
  slurp "$R/etc/machine-id" && value machineid "$V"
  zone
  [ "$P" != image ] || { leave ident; return; }
  slurp "$R/proc/sys/kernel/random/boot_id" && value bootid "$V"
  field "$R/proc/stat" 'btime ' && value btime "$V"
  slurp "$R/proc/uptime" && value uptime "${V%% *}"
  cards
  addresses
  within
  leave ident
}

# owner FILE: V becomes the numbers of Uid: and, where somebody traces the process, behind them who
owner() {
  V='' tracer=
  plain "$1" || return 1
  { while IFS= read -r L || [ -n "$L" ]; do
    case $L in
    TracerPid:*) tracer=${L#*:} ;;
    Uid:*)
      V=${L#*:}
      break
      ;;
    esac
  done; } 2>/dev/null <"$1"
  case ${tracer#"${tracer%%[0-9]*}"} in '' | 0) ;; *) V="$V $tracer" ;; esac
}

# A process table as /proc has it. PIDS are those with a user side; AGENTS those named like a runner, or like what
# starts one from an archive.
procs() {
  enter proc
  PIDS= AGENTS= ALL= AB=0 AC=
  [ -n "$R" ] || frame fact collector "=$$"
  if [ ! -r "$R/proc/1/stat" ]; then
    deny /proc/1/stat
    leave proc
    return
  fi
  k=0
  for d in "$R"/proc/[0-9]*; do
    pid=${d##*/}
    case $pid in *[!0-9]*) continue ;; esac
    if ! slurp "$d/stat" || [ -z "$V" ]; then continue; fi # ended meanwhile
    k=$((k + 1))
    if [ "$k" -gt 8192 ]; then
      cut "/proc/$pid"
      break
    fi
    ALL="$ALL $pid" st=$V
    mark "$st"
    frame pstat "$pid" "$E"
    set -f
    # shellcheck disable=SC2086 # its fields
    set -- ${st##*) }
    set +f
    case ${7:-x} in *[!0-9]*) set -- x x x x x x 0 ;; esac
    [ $(($7 & 2097152)) -eq 0 ] || continue
    PIDS="$PIDS $pid"
    owner "$d/status"
    set -f
    # shellcheck disable=SC2086 # its fields
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
    if [ "$AB" -lt 4194304 ]; then
      E=\~$($TO head -c 131072 "$d/cmdline" 2>/dev/null | encode)
      AB=$((AB + ${#E}))
      frame pargs "$pid" "$E"
    else # whoever may start processes may fill this; what is named like an agent counts as one without its words
      [ -n "$AC" ] || AC="/proc/$pid/cmdline"
      case $st in *'(java)'*) cut "/proc/$pid/cmdline" ;; esac
    fi
    case $st in *'(gitlab-runner)'* | *'(Runner.Listener)'* | *'(Agent.Listener)'* | *'(act_runner)'* | *'(act-runner)'* | *'(forgejo-runner)'* | \
      *'(gitea-runner)'* | *'(buildkite-agent)'* | *'(java)'*) AGENTS="$AGENTS $pid:$uid" ;; esac
  done
  leave proc
}

detail() {
  enter detail
  EB=0
  [ -z "$AC" ] || cut "$AC"
  for pid in $PIDS; do
    d=$R/proc/$pid
    [ -d "$d" ] || continue
    plain "$d/environ" || continue
    if [ "$EB" -ge 8388608 ]; then
      cut "/proc/$pid/environ"
    elif [ -r "$d/environ" ]; then
      E="~$($TO head -c 32768 "$d/environ" 2>/dev/null | encode)"
      if [ "$E$R" = "~" ] && [ "$UID_" != 0 ] && [ -d "$d" ]; then deny "/proc/$pid/environ"; fi
      EB=$((EB + ${#E}))
      frame penv "$pid" "$E"
    elif [ -d "$d" ]; then
      deny "/proc/$pid/environ"
    fi
  done
  if [ -z "$R$PIDS" ]; then leave detail; return; fi
  if find / -maxdepth 0 -printf '' 2>/dev/null; then
    told 'programs and directories of processes' 4194304 places exe
    frame plinks exe "$E"
    told 'descriptors of processes' 4194304 places fd
    frame plinks fd "$E"
  else
    for pid in $PIDS; do
      frame plinks "$pid" "~$(links "$pid" | encode)"
    done
  fi
  leave detail
}

# places exe|fd: pairs of path and target
places() {
  cd "$R/proc" || return
  if [ "$1" = exe ]; then
    $TO find [0-9]*/exe [0-9]*/cwd -maxdepth 0 -printf '%p\0%l\0'
  else
    $TO find [0-9]*/fd -maxdepth 1 \( -lname 'socket:*' -o -lname '/proc/*/mem' \) -printf '%p\0%l\0'
  fi
  [ $? -ge 124 ] && return 124 # find says 1 where a process ended meanwhile
  return 0
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

# probe UPTO: asks for numbers from n on; those that answer and are not in the list are put into hid. Threads answer
# too, so the number has to be that of the group.
probe() {
  while [ "$n" -lt "$1" ]; do
    n=$((n + 1))
    [ -d "/proc/$n" ] || continue
    case "$ALL " in *" $n "*) continue ;; esac
    if field "/proc/$n/status" Tgid: && [ "${V#"${V%%[0-9]*}"}" = "$n" ]; then hid="$hid $n"; fi
  done
}

# tasks: how many tasks the kernel counts, in all of it, and how many the list accounts for. They are one moment's where
# no process and no thread was begun meanwhile, by the last number that was given; where there was no such moment MOVING is set.
tasks() {
  COUNT='' LISTED='' MOVING=' moving' k=0
  while [ "$k" -lt 5 ]; do
    k=$((k + 1))
    slurp /proc/loadavg || return 1
    was=${V#* * * } sum=0 # tasks that run/all of them, and the last number
    for d in /proc/[0-9]*; do
      slurp "$d/stat" || continue
      V=${V##*) }
      set -f
      # shellcheck disable=SC2086 # its fields
      set -- $V
      set +f
      case ${18:-x} in *[!0-9]*) ;; *) sum=$((sum + ${18})) ;; esac
    done
    slurp /proc/loadavg || return 1
    now=${V#* * * }
    c=${now#*/}
    c=${c%% *}
    case $c in '' | *[!0-9]* | ?????????*) return 1 ;; esac
    [ -n "$COUNT" ] || COUNT=$c LISTED=$sum
    if [ "${was#*/}" = "${now#*/}" ]; then
      COUNT=$c LISTED=$sum MOVING=''
      [ "$sum" -lt "$c" ] || return 0
    fi
  done
  return 1
}

# seconds: V becomes how long this machine runs
seconds() { slurp /proc/uptime && V=${V%%.*} && case $V in '' | *[!0-9]*) return 1 ;; esac }

# cross: a process that answers under its number and is not in the list of numbers is hidden; what came or went meanwhile
# is asked twice. Asked for is every number up to 65536; there are higher ones, and who is root can take one. So the
# kernel's count of tasks is held against the list, and where it says that there are more, the numbers to the highest
# possible are asked for too, as far as fifteen seconds reach. How far is told.
# In a tree the list is all there is.
cross() {
  enter cross
  if [ -n "$R" ]; then
    frame fact probed '=tree'
    frame fact hidden '='
    leave cross
    return
  fi
  mx=$($TO head -c 16 /proc/sys/kernel/pid_max 2>/dev/null) # in one read: the kernel gives a number once only
  case $mx in '' | *[!0-9]* | ??????????*) mx=4194304 ;; esac
  up=65536
  [ "$mx" -ge "$up" ] || up=$mx
  hid='' n=0
  probe "$up"
  COUNT=''
  if [ "$n" -lt "$mx" ] && ! tasks && seconds; then
    end=$((V + 15))
    while [ "$n" -lt "$mx" ] && seconds && [ "$V" -lt "$end" ]; do
      up=$((n + 8192))
      [ "$mx" -ge "$up" ] || up=$mx
      probe "$up"
    done
  fi
  probed=$n
  set -- /proc/[0-9]*
  left=
  for n in $hid; do
    for d do [ "$d" != "/proc/$n" ] || continue 2; done
    if [ -d "/proc/$n" ]; then left="$left $n"; fi
  done
  frame fact probed "=$probed"
  frame fact pidmax "=$mx"
  [ -z "$COUNT" ] || frame fact tasks "=$COUNT $LISTED$MOVING"
  frame fact hidden "=${left# }"
  leave cross
}
