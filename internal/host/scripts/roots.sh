
# Which runners are installed here, and where: running ones, those of units, those that a search finds.
# ROOTS are the directories of those that keep their identity in one: GitHub, Azure Pipelines, Gitea and Forgejo.

ROOTS= RN=0 # a line each, and how many
JDIRS=      # directories of Jenkins agents
BCFGS=      # configurations of Buildkite agents, "WHO:PATH" a line each; mine() says what WHO is
ACFGS=      # the same of act_runner and its kin
GCFGS=      # the same of gitlab-runner, where it is not in its usual place
WX=         # why not all of those are known
WDIRS=      # where jobs work outside their runner's root, "WHO:PATH" a line each
CDONE=      # configurations that were read
LOCAL=      # mounts that are searched beside the root
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

# marked DIR: seed it where an identity or its residue is there; one that is a link is told, not followed
marked() {
  if far "$1" || ! inside "$R$1/x"; then return 0; fi
  for f in .runner .runner_migrated .agent .credentials; do
    if [ -L "$R$1/$f" ] || [ -f "$R$1/$f" ]; then
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
      acts "$pid" "$O"
      case $O in
      /etc/*/* | /opt/*/* | /srv/*/* | /var/lib/*/*) seed "${O%/*}" ;;
      /?*/*) if ! far "$O" && his "$pid" "$R$O"; then seed "${O%/*}"; fi ;;
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

# acts WHO PATH: a configuration of act_runner, with where it keeps its registration and where its jobs work
acts() {
  case $2 in /?*/?*) ;; *) return 0 ;; esac
  case $ACFGS$NL in *":$2$NL"*) return 0 ;; esac
  ACFGS=$ACFGS$NL$1:$2
  if far "$2" || ! his "$1" "$R$2"; then return 0; fi
  y=$(settings "$R$2" : 'file|workdir_parent')
  IFS=$NL
  set -f
  for y in $y; do
    unset IFS
    set +f
    case $y in
    *[!\ -~]* | */../*) ;;
    'workdir_parent /'*) wdir "$1" "${y#* }" ;;
    'file /'*/.runner)
      y=${y#* }
      marked "${y%/*}"
      ;;
    'file /'*) RG="$RG$NL${y#* } not searched for installations: a registration under a name of its own, not read" ;;
    esac
  done
  unset IFS
  set +f
}

# wdir WHO DIR: one more directory where jobs work
wdir() {
  wd=$2
  while :; do case $wd in *?/) wd=${wd%/} ;; *) break ;; esac; done
  case $wd in /?*) ;; *) return 0 ;; esac
  case $wd in *[!\ -~]* | */../* | */..) wd= ;; esac
  if [ -z "$wd" ] || kernels "$wd/"; then
    WX="a directory of jobs whose name is not plain"
    return 0
  fi
  case $WDIRS$NL in *":$wd$NL"*) return 0 ;; esac
  case $1 in
  '' | u*) WDIRS=$WDIRS$NL$1:$wd ;;
  *) account "$1" && WDIRS=${WDIRS}${NL}u$V:$wd ;;
  esac
}

# lets WHO FULLDIR: he may look into the directory himself: it is his, or root's and open to everybody
lets() {
  case $1 in '' | u0) return 0 ;; esac
  case $($TO stat -c '%u %a' "$2" 2>/dev/null) in "${1#u} "* | '0 '*[57]) return 0 ;; esac
  return 1
}

# starter FULLPATH WHO UNIT: the root, the configuration and the directory of jobs that a unit or a drop-in names
starter() {
  if [ -L "$1" ] || far "${1#"$R"}" || [ ! -f "$1" ]; then return 0; fi
  k=$((k + 1))
  if [ "$k" -gt 200 ]; then
    RC="more than 200 units in ${1%/*}"
    return 0
  fi
  w= x= e= c=
  t=$(front 16384 "$1" 2>/dev/null | tr -d '\0' | sed 's/^[[:space:]]*//;s/[[:space:]]*=[[:space:]]*/=/')
  IFS=$NL
  set -f
  for L in $t; do
    case $L in *\\)
      c="$c${L%\\} "
      continue
      ;;
    esac
    L=$c$L c=
    case $L in
    WorkingDirectory=*) w=${L#*=} ;;
    ExecStart=*) x=${L#*=} ;;
    Environment=*) e="$e ${L#*=}" ;;
    esac
  done
  unset IFS
  set +f
  case $x in
  */runsvc.sh* | */run.sh*)
    xr=${x%/run*.sh*}
    xr=/${xr#*/}
    STARTS=$STARTS$3' '$xr$NL
    case $2$3 in actions.runner.* | vsts.agent.*) seed "$xr" ;; *) marked "$xr" ;; esac
    ;;
  esac
  case $w in
  /?*)
    case $x in *runner* | *agent*) case $x in */runsvc.sh* | */run.sh*) ;; *) STARTS=$STARTS$3' '$w$NL ;; esac ;; esac
    marked "$w"
    ;;
  esac
  case $x$3 in *gitlab-* | *act_runner* | *act-runner* | *forgejo-runner* | *gitea-runner* | *buildkite-agent*) ;; *) return 0 ;; esac
  # shellcheck disable=SC2020 # four characters become one each
  V=$(printf %s "$x $e" | tr '"\t '\' '\n\n\n\n')
  if [ -n "$2" ]; then set -- "$1" "u$($TO stat -c %u "$1" 2>/dev/null)" "$3"; fi
  option --config -c CONFIG_FILE BUILDKITE_AGENT_CONFIG
  case $O in
  *%* | *'$'*)
    RC="a configuration that ${1#"$R"} names by $O"
    O=
    ;;
  '' | /*) ;;
  *) O=$w/${O#./} ;;
  esac
  case $O in *[!\ -~]* | */../*) O= ;; esac
  case $x$3 in
  *gitlab-*)
    [ -z "$O" ] || GCFGS=$GCFGS$NL$2:$O
    option --working-directory -d
    case $O in /?*) wdir "$2" "$O/builds" ;; esac
    ;;
  *buildkite-agent*) [ -z "$O" ] || BCFGS=$BCFGS$NL$2:$O ;;
  *act_runner* | *act-runner* | *forgejo-runner* | *gitea-runner*)
    case $O in /?*/?*) marked "${O%/*}" ;; esac
    acts "$2" "$O"
    ;;
  esac
}

# started DIR [USER [NAMES]]: what units in DIR start; of a user's own units only where an identity is there
started() {
  if far "$1" || ! inside "$R$1/x" || [ ! -d "$R$1" ]; then return 0; fi
  k=0 un=${3:-*}
  # shellcheck disable=SC2231 # it is a pattern
  for u in "$R$1"/$un.service "$R$1"/$un.service.d; do
    if [ -L "$u" ] || far "${u#"$R"}"; then continue; fi
    if [ -f "$u" ]; then
      starter "$u" "$2" "${u##*/}"
    elif [ -d "$u" ]; then
      un=${u##*/}
      for g in "$u"/*.conf; do starter "$g" "$2" "${un%.d}"; done
    fi
  done
}

# nearby: LOCAL becomes the mounts of this machine's own beside the root, a line each; of others it is told that they are
# not searched. A disk image has no such table: there those below it count, which the machine that reads it says.
nearby() {
  f=$R/proc/self/mountinfo p= n=0
  if [ "$P" = image ]; then f=/proc/self/mountinfo p=$RP; elif ! plain "$f"; then return 0; fi
  { while read -r a b c d m o || [ -n "$a" ]; do
    case $o in *' - '*) o=${o#*' - '} ;; *) continue ;; esac
    o=${o%% *}
    case $m in *\\*) m=$(printf %b "$(printf %s "$m" | sed 's/\\/\\0/g')") ;; esac
    case $m in "$p"/?*) m=${m#"$p"} ;; *) continue ;; esac
    case $m in
    /proc/* | /sys/* | /dev/* | /snap/* | *"$NL"*) continue ;;
    /var/lib/docker/* | /var/lib/containerd/* | /var/lib/containers/*) continue ;;
    esac
    case $o in
    ext[234] | xfs | btrfs | bcachefs | zfs | f2fs | jfs | reiserfs | nilfs2 | tmpfs | ramfs | overlay | vfat | msdos | exfat | ntfs3 | hfsplus | udf | ufs | erofs | squashfs | iso9660)
      n=$((n + 1))
      if [ "$n" -gt 60 ]; then RC="more than 60 mounts, first $m"; else LOCAL=$LOCAL$NL$m; fi
      ;;
    proc | sysfs | dev* | cgroup* | securityfs | debugfs | tracefs | bpf | pstore | efivarfs | configfs | mqueue | hugetlbfs | autofs | binfmt_misc | rpc_pipefs | nsfs | nfsd | fusectl | selinuxfs | fuse.lxcfs | fuse.gvfsd-fuse | fuse.portal | fuse.snapfuse) ;;
    *) RG="$RG$NL$m not searched for installations: a mount of the kind $o" ;;
    esac
  done; } 2>/dev/null <"$f"
}

# roots HOME...: finds them: running ones, those of units, those in the usual places; the search of the disk is triage's
roots() {
  GL=''
  [ "$P" = image ] || processes # an image's /proc could be of whoever mounted it
  for hm in /etc/systemd/system /run/systemd/system /run/systemd/transient /usr/local/lib/systemd/system; do started "$hm"; done
  for hm in /usr/lib/systemd/system /lib/systemd/system; do
    started "$hm" '' '*runner*'
    started "$hm" '' '*buildkite*'
  done
  for hm do
    started "$hm/.config/systemd/user" user:
    if ! far "$hm/.dev-env" && inside "$R$hm/.dev-env/x" && [ -d "$R$hm/.dev-env" ]; then seed "$hm/.dev-env"; fi
    case $hm in
    /home/* | /var/lib/*) ;;
    *) if ! far "$hm/builds" && inside "$R$hm/builds/x" && [ -d "$R$hm/builds" ]; then wdir "u$($TO stat -c %u "$R$hm" 2>/dev/null)" "$hm/builds"; fi ;;
    esac
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
  nearby
  # Bounded: twenty seconds each. Six levels first, so that one deep tree does not use up the time of all others.
  t=$(found -maxdepth 6)
  [ $? -lt 124 ] || RC='the search for installations ran out of time'
  n=$(found)
  [ $? -lt 124 ] || RC='the search for installations below six levels ran out of time'
  IFS=$NL
  set -f
  for p in $(printf '%s\n' "$t" "$n" | sort -u); do
    unset IFS
    set +f
    p=${p#"$R"}
    case $p in
    .)
      case $RG in *'.runner has a line feed'*) continue ;; esac
      RG="$RG$NL.runner has a line feed in its path, not read"
      RC=.runner
      ;;
    */.runner | */.agent | */.runner_migrated) seed "${p%/*}" ;;
    */buildkite-agent.cfg) BCFGS=$BCFGS$NL:$p ;;
    *.toml) GCFGS=$GCFGS$NL:$p ;;
    *.jar) if [ "${p##*/}" != agent.jar ] || [ -d "$R${p%/*}/remoting" ]; then jdir "${p%/*}"; fi ;;
    esac
  done
  unset IFS
  set +f
  for d in /var/lib/docker/overlay2 /var/lib/containerd /var/lib/containers/storage; do
    if ! far "$d" && inside "$R$d/x" && [ -d "$R$d" ]; then RG="$RG$NL$d not searched for installations: file systems of containers"; fi
  done
}

# found [OPTION...]: files that mark an installation, on this machine's own file systems; "." for each whose path has a
# line feed, which could not be told apart from two. Where a mount may hang nothing is touched, as far as a start can avoid it.
found() {
  set -- "$@"
  IFS=$NL
  set -f
  for d in $LOCAL; do
    case $d in /*/*) set -- "$R$d" "$@" ;; esac
  done
  unset IFS
  set +f
  for d in "$R"/* "$R"/.[!.]* "$R/dev/shm"; do
    case ${d#"$R"} in /proc | /sys | /dev | /snap | /lost+found) continue ;; esac
    if ! far "${d#"$R"}" && [ ! -L "$d" ] && [ -d "$d" ]; then set -- "$d" "$@"; fi
  done
  case $1 in /*) ;; *) return 0 ;; esac
  $LO find "$@" -xdev '(' -path "$R/var/lib/docker" -o -path "$R/var/lib/containerd" -o -path "$R/var/lib/containers" ')' -prune -o ! -type d '(' \
    '(' -name .runner -o -name .agent -o -name .runner_migrated -o -name buildkite-agent.cfg -o -name agent.jar -o -name remoting.jar -o -name slave.jar ')' \
    '(' -path "*$NL*" -exec echo . ';' -o -print ')' -o \
    -type f '(' -name config.toml -o -name '*runner*.toml' ')' ! -path "*$NL*" -exec grep -lsE '^[[:space:]]*\[\[ *runners *\]\]' '{}' + ')' 2>/dev/null
}
