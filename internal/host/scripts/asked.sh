
# Paths that somebody else's list names. They are data: a line each, no shell reads them, and of what a shell makes of
# a name only * and ? (and what hides from those) are given to it, a step of the path at a time.

HASH=                # set while the listed paths are looked at: regular files are hashed
HN=0 HB=0 HL=0       # files hashed, bytes of them, and how many did not end in time
HMAX=67108864        # bytes of one file
HALL=536870912       # and of all

# unhashed PATH WHY
unhashed() {
  mark "$2"
  frame nodata "$1" "$E"
}

# digest FULLPATH IDENTITY: of that file alone, see front
digest() {
  held "$1" || return 9
  V=$({
    st=$({ {
      if [ -n "$DD" ]; then $LO dd if="$O" bs=65536 "$DD"; else $LO head -c "$HMAX" "$O"; fi
      echo $? >&3
    } | sha256sum >&4; } 3>&1)
    printf '%s' "$st"
  } 4>&1)
  st=${V##*"$NL"}
  [ "$st" = 0 ] || return "${st:-1}"
  [ "$($TO stat -c %d:%i:%z "$O")" = "$2" ] || return 9
  printf %s "${V%% *}"
}

# hashed FULLPATH SIZE: the frame that says the hash of a regular file, or why there is none
hashed() {
  hp=${1#"$R"} hs=$2 hc=$CN hw=$CW
  HN=$((HN + 1))
  if [ "$hs" -gt "$HMAX" ]; then unhashed "$hp" "$hs bytes, more than the $HMAX that are hashed"
  elif [ "$HN" -gt 200 ] || [ $((HB + hs)) -gt "$HALL" ] || [ "$HL" -ge 3 ]; then unhashed "$hp" 'not hashed: the ones before took all that is read for it'
  elif ! command -v sha256sum >/dev/null 2>&1; then unhashed "$hp" 'no sha256sum there'
  elif kernelfs "$1"; then unhashed "$hp" 'a file of the kernel'
  else
    HB=$((HB + hs))
    told "$hp" 100 digest "$1" "$($TO stat -c %d:%i:%z "$1" 2>/dev/null)"
    CN=$hc CW=$hw
    case $L in
    0) frame sum "$hp" "$E" ;;
    9) unhashed "$hp" 'changed while it was read, or not to be read without following a link' ;;
    ???)
      HL=$((HL + 1))
      unhashed "$hp" 'did not end in time'
      ;;
    *) unhashed "$hp" 'not to be read by this account' ;;
    esac
  fi
}

# single FULLPATH: one path, not a pattern
single() {
  if far "${1#"$R"}"; then cut 'on a mount that may hang'
  elif ! inside "$1"; then cut 'a directory on the way is a link, not followed'
  elif [ -L "$1" ] || [ -e "$1" ]; then many 0 "$1"
  else gone "$1"
  fi
}

# asked: each of the lines in ASK, and what came of it. What could not be seen is told line by line.
asked() {
  enter asked
  ACC='' OWN='' HASH=1 a0=$S
  IFS=$NL
  set -f
  for al in $ASK; do
    unset IFS
    set +f
    DN=0 DW='' CN=0 CW='' FOUND=''
    if [ $((S - a0)) -gt 15000 ]; then cut 'the ones before brought too much'
    else
      case $al in
      *[*?]*) nest 0 "${al#/}" "${R:-/}" ;;
      *) single "$R$al" ;;
      esac
    fi
    t=$DW$CW
    if [ -n "$FOUND" ]; then t="there $t"
    elif [ $((DN + CN)) -gt 0 ]; then t="unseen $t"
    else t=absent
    fi
    mark "$t"
    frame asked "$al" "$E"
  done
  unset IFS
  set +f
  DN=0 DW='' CN=0 CW='' HASH=''
  [ -n "$ASK" ] || cut 'the list could not be read there'
  leave asked
}
