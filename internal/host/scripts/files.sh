
# Reading files: paths are data, links are never followed to content, only regular files are opened.
T=0            # characters of content written
MAX=16777216   # and how many there may be
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

# leave SECTION [WHY-MISSING]
leave() {
  if [ -n "$2" ]; then mark "missing $2"
  elif [ "$DN" -gt 0 ]; then mark "denied $DN not readable, first $DW"
  elif [ "$CN" -gt 0 ]; then mark "cut $CN over a cap, first $CW"
  else E='=ok'
  fi
  frame section "$1" "$E"
}

# inside PATH: with a root prefix, no directory under it on the way may be a link
inside() {
  [ -n "$R" ] || return 0
  q=${1%/*}
  while [ -n "$q" ] && [ "$q" != "$R" ]; do
    if [ -L "$q" ]; then return 1; fi
    q=${q%/*}
  done
}

# mounts: FAR becomes the places, a line each, behind which a file system may never answer: of the network or
# of a process (FUSE). A shell's own test would hang there and could not be ended by itself.
mounts() {
  FAR=
  plain "$R/proc/self/mountinfo" && { while read -r a b c d m o || [ -n "$a" ]; do
    while :; do
      case $o in
      '- '*) break ;;
      *' '*) o=${o#* } ;;
      *) o= && break ;;
      esac
    done
    o=${o#- }
    case ${o%% *} in nfs* | cifs | smb* | afs | ceph | 9p | autofs | coda | glusterfs | lustre | gpfs | beegfs* | ocfs2 | gfs* | orangefs | davfs | fuse*) ;; *) continue ;; esac
    case $m in *\\*) m=$(printf %b "$(printf %s "$m" | sed 's/\\/\\0/g')") ;; esac
    case $m in / | /proc/* | /sys/* | /dev/* | *"$NL"*) ;; *) FAR=$FAR$m$NL ;; esac
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

# one FULLPATH LSTAT: frames of one file, with content where C is not 0
one() {
  h=${1#"$R"}
  [ -z "$OWN" ] || WAS=$WAS$NL$h
  frame lstat "$h" "=$2"
  case $2 in
  a*)
    mark "$(readlink "$1")"
    frame link "$h" "$E"
    ;;
  8*)
    [ "$C" -gt 0 ] || return
    if [ "$T" -ge "$MAX" ]; then
      cut "$h"
      frame nodata "$h" =cut
    elif [ -L "$1" ] || [ ! -f "$1" ] || [ ! -r "$1" ]; then
      deny "$h"
      frame nodata "$h" =denied
    else
      E="~$($TO head -c "$C" "$1" 2>/dev/null | encode)"
      T=$((T + ${#E}))
      frame data "$h" "$E"
    fi
    ;;
  esac
}

# many CAP FULLPATH...: one lstat for all of them where none vanishes meanwhile
many() {
  C=$1
  shift
  [ $# -gt 0 ] || return
  [ -e "$1" ] || [ -L "$1" ] || [ $# -gt 1 ] || return # a pattern that matched nothing
  if [ $# -gt 2000 ]; then
    cut "${1%/*}"
    return
  fi
  if LS=$(stat -c '%f %u %g %s %Y %Z' "$@" 2>/dev/null); then
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
    if l=$(stat -c '%f %u %g %s %Y %Z' "$f" 2>/dev/null); then one "$f" "$l"; else gone "$f"; fi
  done
}

matches() { MN=$#; }

# some CAP DIR PATTERN...: what exists of the patterns in DIR (as on the host)
some() {
  c=$1 b=$R$2
  if far "$2"; then
    cut "$2, a mount that may hang"
    return
  fi
  shift 2
  if [ ! -d "$b" ]; then
    gone "$b"
    return
  fi
  inside "$b/x" || return
  if [ ! -x "$b" ]; then
    deny "${b#"$R"}"
    return
  fi
  n=$#
  for s do
    if far "${b#"$R"}/$s"; then
      cut "${b#"$R"}/$s, a mount that may hang"
      continue
    fi
    case $s in
    */*)
      for p in "$b"/${s%/*}; do
        if [ ! -d "$p" ]; then
          gone "$p"
        elif [ ! -x "$p" ]; then
          deny "${p#"$R"}"
        else
          case ${s##*/} in *[*]*) [ -r "$p" ] || deny "${p#"$R"}" ;; esac
        fi
      done
      ;;
    *[*]*) [ -r "$b" ] || deny "${b#"$R"}" ;;
    esac
    # shellcheck disable=SC2086 # it is a pattern
    matches "$b"/$s
    if [ "$MN" -gt 2000 ]; then
      cut "${b#"$R"}/$s"
      continue
    fi
    for p in "$b"/$s; do
      if [ -e "$p" ] || [ -L "$p" ]; then
        if inside "$p"; then set -- "$@" "$p"; fi
      fi
    done
  done
  shift "$n"
  many "$c" "$@"
}
