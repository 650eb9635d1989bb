
# One file, in pieces. Its name is data: it comes encoded, no shell reads it, and it is never a pattern.

# numbers FULLPATH [-L]: what it is; -L: what it leads to
numbers() {
  # shellcheck disable=SC2086 # nothing, or -L
  $TO stat $2 -c '%f %u %g %s %Y %Z %i %h' "$1" 2>/dev/null
}

# no WHY: it is not read
no() {
  NO=1
  mark "$1"
  frame nodata "$F" "$E"
}

# piece FULLPATH: 1 MiB of it; of a file, from the directory that was looked at, and no link in its place. For a subshell.
piece() {
  if [ -n "$exe" ]; then
    O=$1
  else
    held "$1" || return
  fi
  if [ -n "$DD" ] && [ -z "$exe" ]; then
    $LO dd if="$O" bs=65536 skip=$((n * 65536)) count=16 "$DD" 2>/dev/null
  else
    $LO dd if="$O" bs=65536 skip="$n" count=16 2>/dev/null
  fi
}

# pieces FULLPATH MAX: frames of at most 1 MiB each, every one read under a limit of its own
pieces() {
  left=$2 n=0
  while [ "$left" -gt 0 ]; do
    c=1048576
    [ "$left" -ge "$c" ] || c=$left
    id=
    if [ -z "$DD$exe" ]; then id=$($TO stat -c %d:%i:%z "$1" 2>/dev/null); fi # a link could have been put in its place and taken away
    E=$(piece "$1" | head -c "$c" | encode)
    [ -n "$E" ] || break
    if [ -n "$id" ] && [ "$id" != "$($TO stat -c %d:%i:%z "$1" 2>/dev/null)" ]; then
      [ "$n" -gt 0 ] || no 'changed while it was read, and the tools there cannot refuse a link in its place'
      return
    fi
    frame data "$F" "~$E"
    left=$((left - c)) n=$((n + 16))
    [ "${#E}" -ge 1398104 ] || break # a piece that is not full is the last
  done
}

pick() {
  exec </dev/null
  tools
  watchdog 170
  mounts
  M=${A%%:*}
  F=$(printf %s "${A#*:}" | base64 -d 2>/dev/null; printf x)
  F=${F%x}
  frame begin fetch '=cordon-fetch 1'
  [ -n "$R" ] || value date "$(date +%s)"
  value uid "$(id -u)"
  f=$R$F exe=
  # only on a running machine: in a tree the link would lead out of it
  case $R$F in
  /proc/*/exe)
    p=${F#/proc/}
    case ${p%/exe} in '' | *[!0-9]*) ;; *) exe=-L ;; esac
    ;;
  esac
  st=
  case $F in
  /*)
    if far "$F"; then no 'behind a mount that may hang'
    elif ! inside "$f"; then no 'a directory on the way is a link'
    elif ! st=$(numbers "$f") || [ -z "$st" ]; then no 'not there, or not to be seen by this account'
    fi
    ;;
  *) no 'not a path' ;;
  esac
  [ -z "$st" ] || about
  frame end fetch "=$S"
  kill -s TERM "$WD" 2>/dev/null
}

# about: the file that was found
about() {
  frame lstat "$F" "=${st% * *}"
  case $st in
  a*)
    mark "$(readlink "$f")"
    frame link "$F" "$E"
    ;;
  esac
  if [ -n "$exe" ]; then
    if ! st=$(numbers "$f" -L) || [ -z "$st" ]; then no 'the process ended, or its executable is not to be seen by this account'; return; fi
  fi
  case $st in
  8*) ;;
  a*) no 'a link; ask for what it leads to'; return ;;
  *) no 'not a regular file'; return ;;
  esac
  if [ -z "$exe" ] && kernelfs "$f"; then
    no 'a file of the kernel; only the executable of a process is read there'
    return
  fi
  value before "$st"
  NO=
  pieces "$f" "$M"
  [ "$n" -gt 0 ] || [ -n "$NO" ] || [ ! -s "$f" ] || no 'not to be read by this account'
  value after "$(numbers "$f" $exe)"
}

pick
