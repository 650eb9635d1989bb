
# Installations of runners: configuration with content; credentials are described by the section secrets.
# ROOTS are the directories of those that keep their identity in one: GitHub, Azure Pipelines, Gitea and Forgejo.

ROOTS= RN=0 # a line each, and how many
JDIRS=      # directories of Jenkins agents
BCFGS=      # configurations of Buildkite agents
STARTS=     # which unit starts which root, a line each
RC=         # why not all of them may have been found
RG=         # what was found and is not read, "PATH WHY" a line each

# seed DIR: one more root; the first that is named is read first
seed() {
  sd=$1
  while :; do
    case $sd in *//*) sd=${sd%%//*}/${sd#*//} ;; *?/) sd=${sd%/} ;; */.) sd=${sd%/.} ;; *) break ;; esac
  done
  case $sd in /?*) ;; *) return 0 ;; esac
  if kernels "$sd/"; then return 0; fi
  case $sd/ in *"$NL"* | */../*) return 0 ;; esac
  case $NL$ROOTS$NL in *"$NL$sd$NL"*) return 0 ;; esac
  if far "$sd"; then
    RC="$sd is on a mount that may hang"
  elif inside "$R$sd/x" && [ -d "$R$sd" ]; then
    RN=$((RN + 1))
    if [ "$RN" -gt 64 ]; then RC="more than 64 installations, first $sd"; else ROOTS=$ROOTS$NL$sd; fi
  fi
}

# marked DIR: seed it where an identity or its residue is there
marked() {
  if far "$1" || ! inside "$R$1/x"; then return 0; fi
  for f in .runner .runner_migrated .agent .credentials; do
    if [ ! -L "$R$1/$f" ] && [ -f "$R$1/$f" ]; then
      seed "$1"
      return 0
    fi
  done
}

# argv PID: V becomes its command line, a word a line
argv() {
  V=
  plain "$R/proc/$1/cmdline" || return
  V=$($TO head -c 16384 "$R/proc/$1/cmdline" 2>/dev/null | tr '\n\0' ' \n')
}

# option NAME...: O becomes the value of an option of the words in V
option() {
  O= nx=
  IFS=$NL
  set -f
  for a in $V; do
    if [ -n "$nx" ]; then O=$a nx=; fi
    for o do
      case $a in "$o") nx=1 ;; "$o="*) O=${a#*=} ;; esac
    done
  done
  unset IFS
  set +f
}

# place PID: O becomes an absolute path, by the process's own directory; empty where it is not plain
place() {
  case $O in '' | *[!\ -~]*) O= ;; /*) ;; *) O=$(readlink "$R/proc/$1/cwd")/${O#./} ;; esac
  case $O in */../* | *"$NL"*) O= ;; esac
}

# processes: which runners run, by the file they run, which the kernel names; by their own name where that is not told
processes() {
  GL= ps=
  t=$(cd "$R/proc" 2>/dev/null && $TO ls -l [0-9]*/exe 2>/dev/null)
  IFS=$NL
  set -f
  for l in $t; do
    unset IFS
    set +f
    e=${l#*'/exe -> '} pid=${l%%'/exe -> '*}
    pid=${pid##* }
    case $e$pid in "$l"*) continue ;; esac
    case $pid in '' | *[!0-9]*) continue ;; esac
    e=${e%' (deleted)'}
    case $e in
    */bin/Runner.Listener | */bin.*/Runner.Listener | */bin/Agent.Listener | */bin.*/Agent.Listener)
      # shellcheck disable=SC3013 # dash, bash and busybox have it
      # The name is as the process sees it: in a name space of its own it could be any file of ours.
      if [ -n "$R" ] || { ! far "$e" && inside "$e" && [ "/proc/$pid/exe" -ef "$e" ]; }; then
        e=${e%/*}
        seed "${e%/*}"
      else
        marked "${e%/*/*}"
      fi
      ;;
    *Runner.Listener | *Agent.Listener) marked "$(readlink "$R/proc/$pid/cwd" 2>/dev/null)" ;;
    */gitlab-runner | */gitlab-ci-multi-runner | */act_runner* | */act-runner* | */forgejo-runner* | */gitea-runner* | */buildkite-agent | */java) ps="$ps $pid:${e##*/}" ;;
    esac
  done
  unset IFS
  set +f
  for a in $AGENTS; do
    pid=${a%%:*}
    case "$ps " in *" $pid:"*) ;; *) ps="$ps $pid:" ;; esac
  done
  k=0
  for a in $ps; do
    pid=${a%%:*}
    k=$((k + 1))
    if [ "$k" -gt 64 ]; then
      RC='more than 64 processes that could be runners'
      break
    fi
    argv "$pid"
    case ${a#*:}${V%%"$NL"*} in
    *gitlab-*) GL="$GL $pid" ;;
    *act_runner* | *act-runner* | *forgejo-runner* | *gitea-runner*)
      w=$(readlink "$R/proc/$pid/cwd" 2>/dev/null)
      case $w in /?*) marked "$w" ;; esac
      option --config -c
      place "$pid"
      case $O in
      /etc/*/* | /opt/*/* | /srv/*/* | /var/lib/*/*) seed "${O%/*}" ;;
      /?*/*) if ! far "$O" && mine "$pid" "$R$O"; then seed "${O%/*}"; fi ;;
      esac
      ;;
    *buildkite-agent*)
      option --config
      place "$pid"
      case $O in /?*) BCFGS=$BCFGS$NL$pid:$O ;; esac
      ;;
    *java*)
      case $V in *agent.jar* | *remoting.jar* | *slave.jar* | *hudson.remoting* | *swarm-client*) ;; *) continue ;; esac
      option -workDir --workDir -fsroot
      [ -n "$O" ] || O=.
      place "$pid"
      jdir "$O"
      ;;
    esac
  done
}

jdir() {
  j=${1%/.}
  case $j in /?*) ;; *) return 0 ;; esac
  case $NL$JDIRS$NL in *"$NL$j$NL"*) return 0 ;; esac
  if far "$j"; then RC="$j is on a mount that may hang"; elif ! kernels "$j/"; then JDIRS=$JDIRS$NL$j; fi
}

# started DIR [USER]: the roots that units in DIR start; of a user's own units only where an identity is there
started() {
  if far "$1" || ! inside "$R$1/x" || [ ! -d "$R$1" ]; then return 0; fi
  k=0
  for f in "$R$1"/*.service; do
    if [ -L "$f" ] || far "${f#"$R"}" || [ ! -f "$f" ]; then continue; fi
    k=$((k + 1))
    if [ "$k" -gt 200 ]; then
      RC="more than 200 units in $1"
      break
    fi
    w= x=
    t=$(front 16384 "$f" 2>/dev/null | tr -d '\0')
    IFS=$NL
    set -f
    for L in $t; do
      case $L in WorkingDirectory=*) w=${L#*=} ;; ExecStart=*) x=${L#*=} ;; esac
    done
    unset IFS
    set +f
    f=${f##*/}
    case $x in
    */runsvc.sh* | */run.sh*)
      xr=${x%/run*.sh*}
      xr=/${xr#*/}
      STARTS=$STARTS$f' '$xr$NL
      case $2$f in actions.runner.* | vsts.agent.*) seed "$xr" ;; *) marked "$xr" ;; esac
      ;;
    esac
    case $w in
    /?*)
      case $x in *runner* | *agent*) case $x in */runsvc.sh* | */run.sh*) ;; *) STARTS=$STARTS$f' '$w$NL ;; esac ;; esac
      marked "$w"
      ;;
    esac
  done
}

# roots HOME...: finds them: running ones, those of units, those in the usual places; the search of the disk is triage's
roots() {
  GL=''
  [ "$P" = image ] || processes # an image's /proc could be of whoever mounted it
  for u in /etc/systemd/system /run/systemd/system /run/systemd/transient /usr/local/lib/systemd/system; do started "$u"; done
  for u do
    started "$u/.config/systemd/user" user:
    if ! far "$u/.dev-env" && inside "$R$u/.dev-env/x" && [ -d "$R$u/.dev-env" ]; then seed "$u/.dev-env"; fi
  done
  for u in / /opt /srv /var/lib /home "$@"; do
    if far "$u"; then continue; fi
    # A name at a time: a pattern for what lies in them would ask a mount that may hang.
    matches "$R${u%/}"/*
    if [ "$MN" -gt 2000 ]; then
      RC="too many places in $u"
      continue
    fi
    for d in "$R${u%/}" "$R${u%/}"/* "$R${u%/}"/.[!.]*; do
      if [ ! -L "$d" ] || [ "$d" = "$R${u%/}" ]; then
        if far "${d#"$R"}"; then RC="on a mount that may hang: ${d#"$R"}"; elif [ -d "$d" ]; then marked "${d#"$R"}"; fi
      fi
    done
  done
  [ "$P" != watch ] || return 0
  # Bounded: this file system each, five levels, twenty seconds. A path with a line feed cannot be told apart from two.
  t=$(found ! -path "*$NL*")
  [ $? -lt 124 ] || RC='the search for installations ran out of time'
  IFS=$NL
  set -f
  for p in $(printf '%s\n' "$t" | sort); do
    unset IFS
    set +f
    p=${p#"$R"}
    case $p in
    */.runner | */.agent | */.runner_migrated) seed "${p%/*}" ;;
    */buildkite-agent.cfg) BCFGS=$BCFGS$NL:$p ;;
    *.jar) if [ "${p##*/}" != agent.jar ] || [ -d "$R${p%/*}/remoting" ]; then jdir "${p%/*}"; fi ;;
    esac
  done
  unset IFS
  set +f
  if [ -n "$(found -path "*$NL*")" ]; then
    RG="$RG$NL.runner has a line feed in its path, not read"
    RC=.runner
  fi
}

# found TEST...: files that mark an installation
found() {
  set -- "$@"
  for d in "$R"/*; do
    case ${d#"$R"} in
    /proc | /sys | /dev | /run | /boot | /lib | /lib32 | /lib64 | /libx32 | /bin | /sbin | /usr | /var | /etc | /snap | /lost+found) continue ;;
    esac
    if ! far "${d#"$R"}" && [ ! -L "$d" ] && [ -d "$d" ]; then set -- "$d" "$@"; fi
  done
  for d in "$R/usr/local" "$R/usr/share" "$R/var/lib" "$R/var/opt" "$R/var/tmp" "$R/dev/shm" "$R/etc"; do
    if ! far "${d#"$R"}" && inside "$d/x" && [ -d "$d" ]; then set -- "$d" "$@"; fi
  done
  n=0
  for d do case $d in /*) n=$((n + 1)) ;; *) break ;; esac; done
  k=0
  for d do
    shift
    k=$((k + 1))
    set -- "$@" "$d"
    if [ "$k" -eq "$n" ]; then
      set -- "$@" -xdev -maxdepth 5 -type f '(' -name .runner -o -name .agent -o -name .runner_migrated -o -name buildkite-agent.cfg \
        -o -name agent.jar -o -name remoting.jar -o -name slave.jar ')'
    fi
  done
  [ "$n" -gt 0 ] && $LO find "$@" 2>/dev/null
}

# config FULLPATH: a config.toml with what lies beside it
config() {
  g=${1%/*}
  charge "${g#"$R"}"
  many 131072 "$1"
  some 4096 "${g#"$R"}" .runner_system_id
}

# mine PID FULLPATH: a file that a running agent names is believed only where it belongs to that agent's account,
# so that nobody can have us read for him what he could not read himself
mine() {
  if kernels "${2#"$R"}" || ! inside "$2" || [ -L "$2" ] || [ ! -f "$2" ]; then return 1; fi
  field "$R/proc/$1/status" Uid:
  set -f
  # shellcheck disable=SC2086 # the numbers of the line
  set -- "$1" "$2" $V
  set +f
  [ "$(stat -c %u "$2" 2>/dev/null)" != "${3:-x}" ] || return 0
  mark "a running agent names it, but it belongs to another user"
  frame gap "${2#"$R"}" "$E"
  return 1
}

# named PID: the --config of a running gitlab-runner
named() {
  argv "$1"
  option --config -c
  place "$1"
  case $O in '' | /etc/gitlab-runner/config.toml) return ;; esac
  if far "$O"; then cut "$O, a mount that may hang"; elif mine "$1" "$R$O"; then config "$R$O"; fi
}

# root DIR: one installation that keeps its identity in a directory
root() {
  some 65536 "$1" .runner .runner_migrated .agent .env .path .service .proxy config.yaml config.yml runsvc.sh run.sh run-helper.sh.template svc.sh
  some 0 "$1" bin bin/Runner.Listener bin/Agent.Listener bin/RunnerService.js bin/AgentService.js externals _work _diag
}

runners() {
  enter runners
  [ -z "$RC" ] || cut "$RC"
  gl=$R/etc/gitlab-runner/config.toml
  if [ -f "$gl" ] && inside "$gl"; then config "$gl"; else gone "$gl"; fi
  some 131072 /etc/buildkite-agent buildkite-agent.cfg
  some 131072 /usr/local/etc/buildkite-agent buildkite-agent.cfg
  for u do
    some 131072 "$u" .gitlab-runner/config.toml .gitlab-runner/.runner_system_id .runner_system_id .buildkite-agent/buildkite-agent.cfg .dev-env
  done
  for a in $GL; do named "$a"; done
  IFS=$NL
  set -f
  for b in $BCFGS; do
    unset IFS
    set +f
    pid=${b%%:*} b=${b#*:}
    case $b in /etc/buildkite-agent/* | /usr/local/etc/buildkite-agent/* | */.buildkite-agent/buildkite-agent.cfg) continue ;; esac
    if far "$b"; then cut "$b, a mount that may hang"; elif [ -z "$pid" ] || mine "$pid" "$R$b"; then charge "${b%/*}" && many 131072 "$R$b"; fi
  done
  IFS=$NL
  set -f
  for p in $ROOTS; do
    unset IFS
    set +f
    root "$p"
  done
  IFS=$NL
  set -f
  for p in $JDIRS; do
    unset IFS
    set +f
    some 0 "$p" agent.jar remoting.jar slave.jar swarm-client.jar remoting remoting/jarCache remoting/logs
  done
  IFS=$NL
  set -f
  for p in $RG; do
    unset IFS
    set +f
    mark "${p#* }"
    frame gap "${p%% *}" "$E"
  done
  unset IFS
  set +f
  leave runners
}
