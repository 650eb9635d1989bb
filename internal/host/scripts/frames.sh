# cordon: reads this host and writes framed text to standard output. It writes nothing on the host.
# What it writes holds secrets of the host in clear: keep it where nobody else reads ((umask 077; sh FILE > ANSWER)),
# delete it when it was taken in.
# N (nonce), R (root prefix) and P (profile) or U (unit) were set by the three lines before this one.
\unalias -a 2>/dev/null
\unset -f unset command printf read test [ shift set eval trap wait kill sleep cd pwd base64 dd head tail tr sed ls stat find readlink id date timeout renice journalctl systemctl sudo \
  grep sort getcap true echo cat 2>/dev/null
unset LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV CDPATH GLOBIGNORE IFS
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TZ=UTC0
export PATH LC_ALL TZ
umask 077
set +e +f

NL='
'
CR=$(printf '\r')
S=0     # frames written
W=-w0   # how base64 is told not to wrap; empty: it cannot, tr does it
DD= RP= # how dd is told to open no link and wait for nobody, where it can; R without links
TO='timeout -s KILL 5' LO='timeout -s KILL 20' # what stands before a command that could hang

tools() {
  [ "$(printf x | base64 $W 2>/dev/null)" = eA== ] || W=
  $TO true 2>/dev/null || TO='limit 5' LO='limit 20'
  DD=iflag=nofollow,nonblock,fullblock,skip_bytes
  $TO dd if=/ bs=1 count=0 "$DD" 2>/dev/null || DD=
  [ -z "$R" ] || RP=$(cd -P -- "$R" 2>/dev/null && pwd -P)
}

# limit SECONDS COMMAND...: timeout(1) where there is none. The command runs in front, as what starts its own watch
# beside it: so it keeps its input, which bash takes away from what runs behind. The watch ends with it, within a
# second, and kills only while it is its child: the number may be another's later.
limit() (
  lt=$1
  shift
  IFS=' ' read -r me L </proc/self/stat
  (
    n=0
    while [ "$n" -lt "$lt" ]; do
      sleep 1
      n=$((n + 1))
      IFS= read -r L </proc/self/stat
      L=${L##*) }
      L=${L#* }
      [ "${L%% *}" = "$me" ] || exit
    done
    kill -s KILL "$me"
  ) </dev/null >/dev/null 2>&1 &
  exec "$@"
)

# watchdog SECONDS: ends this shell where a builtin hangs, at a dead mount for one. Only while it is our
# parent: the number may be another's later.
watchdog() {
  (
    trap 'kill "$ws"; exit' TERM
    sleep "$1" &
    ws=$!
    wait "$ws"
    while IFS= read -r L; do
      L=${L##*) }
      L=${L#* }
      if [ "${L%% *}" = "$$" ]; then kill -s KILL "$$"; fi
    done </proc/self/stat
  ) </dev/null >/dev/null 2>&1 &
  WD=$!
}

# encode: standard input as base64 on one line
encode() {
  if [ -n "$W" ]; then base64 $W; else base64 | tr -d '\n'; fi
}

# mark TEXT: E becomes its marked form
mark() {
  case $1 in
  *[!\ -~]*) E="~$(printf %s "$1" | encode)" ;;
  *) E="=$1" ;;
  esac
}

# frame KIND NAME MARKED-BODY
frame() {
  S=$((S + 1))
  case $2 in
  *[!!-~]*) printf 'C1 %s %s %s %s %s\n%s\n' "$N" "$S" "$1" "~$(printf %s "$2" | encode)" "${#3}" "$3" ;;
  *) printf 'C1 %s %s %s =%s %s\n%s\n' "$N" "$S" "$1" "$2" "${#3}" "$3" ;;
  esac
}

# value KEY TEXT
value() {
  mark "$2"
  frame value "$1" "$E"
}
