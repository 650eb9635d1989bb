
# The directories where jobs work, and what they left there.

LATE=0 # searches for repositories that were ended

CLOSED= # an account: only what it can look into itself is searched
LEFT=   # where variables of jobs that are over may lie

# gitfiles FULLDIR: hooks and settings of the repositories below, those of submodules, mirrors and bare ones too
gitfiles() {
  set -- "$1" -xdev '(' -name node_modules -o -path '*.git/objects' -o -path '*/.git/modules/*/objects' ')' -prune -o
  [ -z "$CLOSED" ] || set -- "$@" -type d ! -user "$CLOSED" ! -perm -005 -prune -o
  $TO find "$@" ! -type d ! -path "*$NL*" '(' \
    '(' -path '*.git/hooks/*' -o -path '*/.git/modules/*/hooks/*' -o -path '*/git-mirrors/*/hooks/*' ')' ! -name '*.sample' \
    -o -path '*.git/config' -o -path '*/.git/modules/*/config' -o -path '*.git/*' -name config.worktree \
    -o -path "${LEFT:-*/builds/*.tmp/*}" ')' -print 2>/dev/null
}

# repos FULLDIR...: what git starts in the repositories below, however deep; and what jobs left beside them
repos() {
  for d do
    if [ ! -d "$d" ] || [ -L "$d" ]; then continue; fi
    if [ "$LATE" -ge 6 ]; then # each was five seconds in which nothing was told
      cut "the searches for repositories ran out of time: ${d#"$R"}"
      continue
    fi
    g=$(gitfiles "$d")
    if [ $? -ge 124 ]; then
      LATE=$((LATE + 1))
      cut "the search for repositories ran out of time: ${d#"$R"}"
    fi
    charge "${d#"$R"}"
    listed 100 4096 "$(printf '%s\n' "$g" | grep '/hooks/')"
    listed 100 4096 "$(printf '%s\n' "$g" | grep -v -e '/hooks/' -e '\.tmp/')"
    listed 100 0 "$(printf '%s\n' "$g" | grep '\.tmp/[^/]*$')"
  done
}

# jobhooks FULLPATH: lstat of the scripts that a .env names
jobhooks() {
  if far "${1#"$R"}" || ! inside "$1" || [ -L "$1" ] || [ ! -f "$1" ]; then return 0; fi
  t=$(front 65536 "$1" 2>/dev/null | tr -d '\0')
  IFS=$NL
  set -f
  for L in $t; do
    unset IFS
    set +f
    L=${L%"$CR"}
    case $L in *[!\ -~]* | */../*) continue ;; ACTIONS_RUNNER_HOOK_JOB_*=/*) L=${L#*=} ;; *) continue ;; esac
    if far "$L"; then cut "on a mount that may hang: $L"; elif ! kernels "$L" && inside "$R$L"; then many 0 "$R$L"; fi
  done
  unset IFS
  set +f
}

# searched FULLPATH: lstat of the directories that a .path names; where one is missing, of what it would lie in
searched() {
  if far "${1#"$R"}" || ! inside "$1" || [ -L "$1" ] || [ ! -f "$1" ]; then return 0; fi
  y=$(front 65536 "$1" 2>/dev/null | tr -d '\0\r' | tr ':' '\n' | head -n 40)
  IFS=$NL
  set -f
  for y in $y; do
    unset IFS
    set +f
    while :; do case $y in *?/) y=${y%/} ;; *) break ;; esac; done
    case $y in *[!\ -~]* | */../* | */..) continue ;; /?*) ;; *) continue ;; esac
    if kernels "$y/"; then continue; fi
    if far "$y"; then
      cut "on a mount that may hang: $y"
      continue
    fi
    while [ -n "$y" ] && inside "$R$y" && [ ! -L "$R$y" ] && [ ! -e "$R$y" ]; do y=${y%/*}; done
    if [ -z "$y" ]; then y=/.; elif ! inside "$R$y"; then continue; fi
    charge "$y"
    many 0 "$R$y"
    case $y in /bin | /sbin | /usr/bin | /usr/sbin | /usr/games | /usr/local/* | /snap/bin | /.) ;; *) if [ -d "$R$y" ] && [ ! -L "$R$y" ]; then shadow "$y"; fi ;; esac
  done
  unset IFS
  set +f
}

# cached DIR: of the tools in a cache the programs that bear their names, and what lies beside their directories
cached() {
  if [ ! -d "$R$1" ] || [ -L "$R$1" ] || ! inside "$R$1/x"; then return 0; fi
  t=$({
    $TO find "$R$1" -xdev -mindepth 4 -maxdepth 4 -type f ! -path "*$NL*" -print
    [ $? -lt 124 ] || exit 124
    $TO find "$R$1" -xdev -mindepth 4 -maxdepth 8 \( -name lib -o -name include -o -name share -o -name src -o -name node_modules \) -prune -o -type f ! -path "*$NL*" \
      \( -name node -o -name go -o -name gofmt -o -name compile -o -name link -o -name java -o -name javac -o -name 'python[0-9.]*' -o -name ruby -o -name dotnet -o -name cargo -o -name rustc \
      -o -name mvn -o -name gradle -o -name ghc -o -name stack -o -name codeql -o -name kubectl -o -name helm -o -name terraform -o -name deno -o -name bun \) -print
  } 2>/dev/null)
  [ $? -lt 124 ] || cut "the look at the tools ran out of time: $1"
  charge "$1"
  listed 400 0 "$t"
}

# folder WHO DIR: a directory where jobs work that is not its runner's _work; what an account names is searched as far
# as it could do so itself
folder() {
  reached "$R$2" || return 0
  if ! lets "$1" "$R$2"; then
    cut "a directory of jobs that belongs to another user, not looked at: $2"
    return 0
  fi
  some 0 "$2" . _tool '_tool/*/*/*' '*/*/.git'
  cached "$2/_tool"
  case $2 in /home/*/*) return 0 ;; esac # the home is searched
  case $1 in '' | u0) ;; *) CLOSED=${1#u} ;; esac
  LEFT="$R$2/*.tmp/*"
  repos "$R$2"
  CLOSED='' LEFT=''
}

# aside WHAT WHO DIR: hooks or plugins of a Buildkite agent that its settings name
aside() {
  reached "$R$3" || return 0
  if ! lets "$2" "$R$3"; then
    cut "$1 that belong to another user, not read: $3"
    return 0
  fi
  some 0 "$3" .
  case $1 in
  plugins-path) some 0 "$3" '*' ;;
  *) some 8192 "$3" agent-startup agent-shutdown pre-bootstrap environment pre-checkout checkout post-checkout pre-command command post-command pre-artifact post-artifact pre-exit ;;
  esac
}

# work: what lies in the runners' own directories beside their configuration
work() {
  enter work
  [ -z "$WX" ] || cut "$WX"
  IFS=$NL
  set -f
  for u in $ROOTS; do
    unset IFS
    set +f
    some 0 "$u" . 'bin/*' 'externals/node*/bin/node' _work _work/_tool '_work/_tool/*/*/*' '_work/*/*/.git' _diag '_diag/blocks/*' '_diag/pages/*'
    some 8192 "$u" safe_sleep.sh config.sh env.sh run-helper.sh bin/runsvc.sh bin/run-helper.sh.template
    cached "$u/_work/_tool"
    jobhooks "$R$u/.env"
    searched "$R$u/.path"
    case $u in /home/* | /var/lib/*) ;; *) repos "$R$u/_work" ;; esac
  done
  IFS=$NL
  set -f
  for w in $WDIRS; do
    unset IFS
    set +f
    folder "${w%%:*}" "${w#*:}"
  done
  IFS=$NL
  set -f
  for w in $BKS; do
    unset IFS
    set +f
    u=${w%%:*} w=${w#*:}
    aside "$u" "${w%%:*}" "${w#*:}"
  done
  unset IFS
  set +f
  some 0 /opt/hostedtoolcache '*/*/*' .
  cached /opt/hostedtoolcache
  for u in /etc/buildkite-agent /usr/local/etc/buildkite-agent; do
    some 8192 "$u" buildkite-agent.cfg 'hooks/*'
    some 0 "$u" 'plugins/*' hooks plugins
  done
  shadow /usr/local/bin
  shadow /usr/local/sbin
  leave work
}
