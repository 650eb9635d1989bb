
# Opening files: we read as root what an account may fill. It must not have us read for it, by a link that it puts
# there between the look and the opening, what it may not read itself.
LOK=$NL # links that were found to be root's, and where they lead

# inside PATH: no directory on the way may be a link: we read as root what its maker may not. On a running machine a
# link that is root's is the machine's own arrangement (/var/run, /home) and is followed, but never into the kernel's files.
# D becomes the directory that PATH lies in, without any link.
inside() {
  q=$R D=$RP o=${1#"$R"/}
  while :; do
    case $o in */*) ;; *) return 0 ;; esac
    q=$q/${o%%/*}
    case ${o%%/*} in '' | .) ;; *) D=$D/${o%%/*} ;; esac
    o=${o#*/}
    [ -L "$q" ] || continue
    # A name beside it is no way out (a runner's bin, which an update points at bin.2.x).
    t=$($TO readlink "$q" 2>/dev/null)
    h=${q%/*}
    [ -n "$R" ] || t=${t#"$h/"}
    case $t in */* | .. | . | '') ;; *) if ! far "${h#"$R"}/$t" && [ ! -L "$h/$t" ]; then D=${D%/*}/$t && continue; fi ;; esac
    [ -z "$R" ] || return 1
    case $LOK in *"$NL$q//"*)
      D=${LOK##*"$NL$q//"}
      D=${D%%"$NL"*}
      continue
      ;;
    esac
    [ "$($TO stat -c %u "$q" 2>/dev/null)" = 0 ] || return 1
    t=$($TO readlink -f "$q" 2>/dev/null)
    case $t/ in / | // | /proc/* | /sys/*) return 1 ;; esac
    if far "$t"; then return 1; fi
    LOK=$LOK$q//$t$NL
    D=$t
  done
}

# held FULLPATH: goes into the directory that a file lies in, where that is still the one that was looked at, and stays
# in it: what is put in its place since is elsewhere. O becomes the file's name there. For a subshell.
held() {
  inside "$1" || return 9
  cd -P -- "${D:-/}" 2>/dev/null || return 9
  [ "${PWD%/}" = "$D" ] || return 9
  O=./${1##*/}
  if [ -L "$O" ] || [ ! -f "$O" ]; then return 9; fi
}

# front CAP FULLPATH [IDENTITY]: the first bytes of a file, of that file alone. Where dd can, a link in its place is not
# opened at all; else, and where an identity is given (device, inode, change), it has to be the same when it was read.
front() {
  held "$2" || return 9
  if [ -n "$DD" ]; then $TO dd if="$O" bs="$1" count=1 "$DD"; else $TO head -c "$1" "$O"; fi || return
  [ -z "$3" ] || [ "$($TO stat -c %d:%i:%z "$O")" = "$3" ] || return 9
}

# back CAP FULLPATH: the last bytes of a file that may grow meanwhile
back() {
  held "$2" || return 9
  if [ -n "$DD" ]; then
    s=$($TO stat -c %s "$O") && [ -n "$s" ] || return 9
    s=$((s > $1 ? s - $1 : 0))
    $TO dd if="$O" bs=65536 skip="$s" "$DD" | head -c "$1"
  else
    $TO tail -c "$1" "$O"
  fi
}

# kernelfs FULLPATH: it lies in proc, sysfs, debugfs, tracefs, cgroup, cgroup2 or bpf: reading it may act, or never end
kernelfs() {
  case $($TO stat -f -c %t "$1" 2>/dev/null) in 9fa0 | 62656572 | 64626720 | 74726163 | 27e0eb | 63677270 | cafe4a11) ;; *) return 1 ;; esac
}
