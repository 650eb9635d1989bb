
# Reading files: paths are data, links are never followed to content, only regular files are opened.
T=0            # characters of content written
MAX=16777216   # and how many there may be
BT=0 BMAX=8388608 # of those, from places that an account could fill
AT=0 AMAX=1048576 # of those, from the one place that is being read
BF=0           # paths told of such places
ACC=           # that place; empty: only root writes there
DN=0 DW= CN=0 CW= # places denied and cut in this section, and the first of each
OWN= WAS=       # with OWN, the paths that were told
HC=             # set where not every home was read, with why

deny() { DN=$((DN + 1)); [ -n "$DW" ] || DW=$1; }
cut() { CN=$((CN + 1)); [ -n "$CW" ] || CW=$1; }

enter() {
  DN=0 DW= CN=0 CW=
  [ -z "$HC" ] || cut "$HC"
  frame enter "$1" =
}

# brief TEXT: so much of it that what follows is read too
brief() {
  case $1 in ??????????????????????????????????????????????????????????????????????????????????????????????????*) printf '%.90s...' "$1" ;; *) printf %s "$1" ;; esac
}

# leave SECTION [WHY-MISSING]
leave() {
  if [ -n "$2" ]; then mark "missing $2"
  elif [ "$DN" -gt 0 ] && [ "$CN" -gt 0 ]; then mark "denied $DN not readable, first $(brief "$DW"); and $CN cut, first $(brief "$CW")"
  elif [ "$DN" -gt 0 ]; then mark "denied $DN not readable, first $DW"
  elif [ "$CN" -gt 0 ]; then mark "cut $CN not read whole, first $CW"
  else E='=ok'
  fi
  frame section "$1" "$E"
}

# mounts: FAR becomes the places, a line each, behind which a file system may never answer: of the network or
# of a process (FUSE). A shell's own test would hang there and could not be ended by itself. NEAR becomes those of
# this machine's own beside the root where setuid counts: a search that stays on one file system leaves them out.
mounts() {
  FAR='' NEAR=''
  plain "$R/proc/self/mountinfo" && { while read -r a b c d m o || [ -n "$a" ]; do
    p=${o%% *}
    while :; do
      case $o in
      '- '*) break ;;
      *' '*) o=${o#* } ;;
      *) o= && break ;;
      esac
    done
    o=${o#- }
    case ${o%% *} in nfs* | cifs | smb* | afs | ceph | 9p | autofs | coda | glusterfs | lustre | gpfs | beegfs* | ocfs2 | gfs* | orangefs | davfs | fuse*) c=far ;;
    ext[234] | xfs | btrfs | bcachefs | zfs | f2fs | jfs | reiserfs | tmpfs | overlay) case ,$p, in *,nosuid,*) continue ;; *) c=near ;; esac ;;
    *) continue ;;
    esac
    case $m in *\\*) m=$(printf %b "$(printf %s "$m" | sed 's/\\/\\0/g')") ;; esac
    case $c$m in
    *"$NL"*) ;;
    near/ | near/proc/* | near/sys/* | near/var/lib/docker/* | near/var/lib/containerd/* | near/var/lib/containers/* | near/snap/*) ;;
    near*) NEAR=$NEAR$m$NL ;;
    far/ | far/proc/* | far/sys/* | far/dev/*) ;;
    *) FAR=$FAR$m$NL ;;
    esac
  done; } 2>/dev/null <"$R/proc/self/mountinfo"
}

# far PATH: it is such a place, or below one
far() {
  [ -n "$FAR" ] || return 1
  IFS=$NL
  set -f
  for m in $FAR; do
    case $1/ in "$m"/*)
      unset IFS
      set +f
      return 0
      ;;
    esac
  done
  unset IFS
  set +f
  return 1
}

# charge PATH: ACC becomes the place whose budget it counts against. A home, a runner's directory and what else an
# account can fill have one each, so that none can use up what the rest of the machine needs.
charge() {
  case $1/ in
  // | /etc/* | /usr/* | /lib/* | /bin/* | /sbin/* | /boot/* | /root/* | /proc/* | /sys/*) a= ;;
  /var/lib/dpkg/* | /var/lib/systemd/* | /var/lib/cloud/*) a= ;;
  /home/*/* | /var/lib/*/*)
    a=${1#/*/}
    case $1 in /var/*) a=${a#*/} ;; esac
    a=${1%%"/$a"}/${a%%/*}
    ;;
  /run/user/*/*) a=${1#/run/user/} a=/run/user/${a%%/*} ;;
  /run/*) a= ;;
  *) a=$1 ;;
  esac
  [ "$a" = "$ACC" ] || AT=0
  ACC=$a
}

# plain FULLPATH: on a running host anything the kernel or the system put there, in a tree only what is in it
plain() {
  [ -z "$R" ] || { [ -f "$1" ] && [ ! -L "$1" ] && inside "$1"; }
}

# gone PATH: it could not be seen; was that for want of rights?
gone() {
  q=${1%/*}
  while [ -n "$q" ]; do
    if [ -d "$q" ]; then
      [ -x "$q" ] || deny "${q#"$R"}"
      return
    fi
    q=${q%/*}
  done
}

# slurp FILE: V becomes its lines (small text of the kernel's)
slurp() {
  V=
  plain "$1" || return 1
  { while IFS= read -r L || [ -n "$L" ]; do V=$V$L$NL; done; } 2>/dev/null <"$1" || return 1
  V=${V%"$NL"}
}

# told WHAT CAP COMMAND...: E becomes, marked, what a command writes; where it did not come to its own end, or wrote
# as much as the cap, that is cut
told() {
  tw=$1 tc=$2
  shift 2
  V=$({
    st=$({ { "$@" 2>/dev/null; echo $? >&3; } | head -c "$tc" | encode >&4; } 3>&1)
    printf '\n%s' "$st"
  } 4>&1)
  L=${V##*"$NL"}
  E=\~${V%"$NL"*}
  if [ "$L" -ge 124 ]; then cut "did not end in time: $tw"; elif [ $((${#E} * 3 / 4 + 2)) -ge "$tc" ]; then cut "$tw"; fi
}

# kernels PATH: it is one of the kernel's files, which may wait, be consumed or act when it is opened
kernels() {
  case $1 in /proc/sys/fs/binfmt_misc/*) return 1 ;; /proc/* | /sys/* | /dev/*) ;; *) return 1 ;; esac
}

# one FULLPATH LSTAT: frames of one file, with content where C is not 0
one() {
  h=${1#"$R"} s=$2 id=
  if [ -n "$ACC" ]; then id=${2#* * * * * * } s=${2%" $id"}; fi
  [ -z "$OWN" ] || WAS=$WAS$NL$h
  frame lstat "$h" "=$s"
  FOUND=1
  case $s in
  a*)
    mark "$(readlink "$1")"
    frame link "$h" "$E"
    ;;
  8*)
    if [ -n "$HASH" ]; then
      l=${s#* * * }
      hashed "$1" "${l%% *}"
      return
    fi
    [ "$C" -gt 0 ] || return
    if [ "$T" -ge "$MAX" ] || { [ -n "$ACC" ] && { [ "$AT" -ge "$AMAX" ] || [ "$BT" -ge "$BMAX" ]; }; }; then
      cut "$h"
      frame nodata "$h" =cut
    elif kernels "$h" || [ -L "$1" ] || [ ! -f "$1" ] || [ ! -r "$1" ]; then
      deny "$h"
      frame nodata "$h" =denied
    else
      told "$h" $((C * 2)) front "$C" "$1" "$id"
      if [ "$L" = 9 ] && [ -n "$id" ]; then # it was written meanwhile, or put in place of another: once more
        told "$h" $((C * 2)) front "$C" "$1" "$($TO stat -c %d:%i:%z "$1" 2>/dev/null)"
      fi
      T=$((T + ${#E}))
      if [ -n "$ACC" ]; then AT=$((AT + ${#E})) BT=$((BT + ${#E})); fi
      case $L in
      0 | ???) frame data "$h" "$E" ;;
      9)
        deny "$h changed while it was read"
        frame nodata "$h" =changed
        ;;
      *)
        deny "$h"
        frame nodata "$h" =denied
        ;;
      esac
    fi
    ;;
  esac
}

# many CAP FULLPATH...: one lstat for all of them where none vanishes meanwhile
many() {
  C=$1
  shift
  [ $# -gt 0 ] || return
  [ -L "$1" ] || [ -e "$1" ] || [ $# -gt 1 ] || return # a pattern that matched nothing
  if [ $# -gt 2000 ]; then
    cut "${1%/*}"
    return
  fi
  if [ -n "$ACC" ]; then
    BF=$((BF + $#))
    if [ $BF -gt 20000 ]; then
      cut "${1%/*}"
      return
    fi
  fi
  sf='%f %u %g %s %Y %Z'
  [ -z "$ACC" ] || sf="$sf %d:%i:%z" # there it is asked again when it was read
  LS=$($TO stat -c "$sf" "$@" 2>/dev/null)
  st=$?
  if [ $st = 0 ]; then
    IFS=$NL
    for l in $LS; do
      unset IFS
      one "$1" "$l"
      shift
    done
    unset IFS
    return
  fi
  for f do
    if [ $st -ge 124 ]; then
      cut "did not answer in time: ${f#"$R"}"
      return
    fi
    l=$($TO stat -c "$sf" "$f" 2>/dev/null)
    st=$?
    if [ $st = 0 ]; then one "$f" "$l"; elif [ $st -lt 124 ]; then gone "$f"; fi
  done
}

matches() { # how many a pattern has
  MN=$#
  unset IFS
}

# reached FULLPATH: it is a directory that may be looked into, and where not the section says why. What is asked first
# is asked without following anything: behind a link may be what never answers.
reached() {
  if far "${1#"$R"}"; then
    cut "on a mount that may hang: ${1#"$R"}"
  elif ! inside "$1/x"; then
    [ ! -d "${1%/*}" ] || cut "a link leads there, not followed: ${1#"$R"}"
  elif [ ! -d "$1" ]; then
    gone "$1"
  elif [ ! -x "$1" ]; then
    deny "${1#"$R"}"
  else
    return 0
  fi
  return 1
}

# nodir PATH: a link, and followed in the tree itself it is known to lead to no directory: nothing can lie below it
nodir() {
  ld='' lo=$1 ln=0
  while [ -n "$lo" ]; do
    lo=${lo#/} lc=${lo%%/*}
    case $lo in */*) lo=${lo#*/} ;; *) lo= ;; esac
    case $lc in
    '' | .) continue ;;
    ..)
      ld=${ld%/*}
      continue
      ;;
    esac
    if far "$ld/$lc"; then return 1; fi
    if [ ! -L "$R$ld/$lc" ]; then
      ld=$ld/$lc
      continue
    fi
    ln=$((ln + 1))
    lc=$($TO readlink "$R$ld/$lc" 2>/dev/null)
    case $lc in '') return 1 ;; /*) ld= ;; esac
    [ "$ln" -lt 20 ] || return 1
    lo=$lc/$lo
  done
  case $ld/ in /proc/* | /sys/* | /dev/*) return 1 ;; esac
  lc=${ld%/*}
  [ ! -d "$R$ld" ] && [ -d "$R$lc/" ] && [ -x "$R$lc/" ]
}

# some CAP DIR PATTERN...: what exists of the patterns in DIR (as on the host)
some() {
  c=$1 b=$R$2
  charge "$2"
  shift 2
  reached "$b" || return 0
  n=$#
  for s do
    sdir=$b
    case $s in
    *[[*?]*/*)
      nest "$c" "$s" "$b"
      continue
      ;;
    */*)
      sdir=$b/${s%/*}
      reached "$sdir" || continue
      ;;
    esac
    case ${s##*/} in *[[*?]*) [ -r "$sdir" ] || deny "${sdir#"$R"}" ;; esac
    # shellcheck disable=SC2086 # it is a pattern
    matches "$sdir"/${s##*/}
    if crowd $MN; then
      cut "too many: ${sdir#"$R"}/${s##*/}"
      continue
    fi
    for p in "$sdir"/${s##*/}; do
      if far "${p#"$R"}"; then
        cut "on a mount that may hang: ${p#"$R"}"
      elif [ -L "$p" ] || [ -e "$p" ]; then
        set -- "$@" "$p"
      fi
    done
  done
  shift "$n"
  many "$c" "$@"
}

# crowd NUMBER: it is more than one place may have
crowd() { [ "$1" -gt 2000 ] || { [ -n "$ACC" ] && [ "$1" -gt 1000 ]; }; }

# nest CAP PATTERN FULLDIR...: the same for a pattern with a pattern for a directory, a step at a time
nest() {
  nc=$1 np=$2
  shift 2
  while :; do
    case $np in */*) nd=${np%%/*} np=${np#*/} ;; *) break ;; esac
    nk=$#
    for sdir do
      case $nd in *[[*?]*) [ -r "$sdir" ] || deny "${sdir#"$R"}" ;; esac
      IFS= # a name with a space in it is one name
      # shellcheck disable=SC2086 # it is a pattern
      matches "${sdir%/}"/$nd
      if crowd $((MN + $#)); then
        cut "too many: ${sdir#"$R"}/$nd"
        continue
      fi
      IFS=
      for p in "${sdir%/}"/$nd; do
        unset IFS
        if [ -L "$p" ] || [ -e "$p" ]; then
          if [ -L "$p" ]; then
            if nodir "${p#"$R"}"; then continue; fi
          elif [ ! -d "$p" ]; then
            continue
          fi
          if reached "$p"; then set -- "$@" "$p"; fi
        else
          gone "$p"
        fi
      done
    done
    shift "$nk"
    [ $# -gt 0 ] || return 0
  done
  nk=$#
  for sdir do
    case $np in *[[*?]*) [ -r "$sdir" ] || deny "${sdir#"$R"}" ;; esac
    IFS=
    # shellcheck disable=SC2086 # it is a pattern
    matches "${sdir%/}"/$np
    if crowd $((MN + $#)); then
      cut "too many: ${sdir#"$R"}/$np"
      continue
    fi
    IFS=
    for p in "${sdir%/}"/$np; do
      unset IFS
      if far "${p#"$R"}"; then
        cut "on a mount that may hang: ${p#"$R"}"
      elif [ -L "$p" ] || [ -e "$p" ]; then
        set -- "$@" "$p"
      fi
    done
  done
  shift "$nk"
  many "$nc" "$@"
}
