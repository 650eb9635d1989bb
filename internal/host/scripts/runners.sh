
# Installations of runners: configuration with content; credentials are described by the section secrets.

# config FULLPATH: a config.toml with what lies beside it
config() {
  case $CDONE$NL in *"$NL$1$NL"*) return 0 ;; esac
  CDONE=$CDONE$NL$1
  g=${1%/*}
  charge "${g#"$R"}"
  many 131072 "$1"
  some 4096 "${g#"$R"}" .runner_system_id
  some 0 "${g#"$R"}" .
  if [ -L "$1" ] || [ ! -f "$1" ]; then return 0; fi
  y=$(front 131072 "$1" 2>/dev/null | tr -d '\0\r' | sed -nE "s/^[[:space:]]*builds_dir[[:space:]]*=[[:space:]]*[\"'](\/[^\"']*).*/\1/p" | head -n 20)
  IFS=$NL
  set -f
  for y in $y; do
    unset IFS
    set +f
    wdir "u$($TO stat -c %u "$1" 2>/dev/null)" "$y"
  done
  unset IFS
  set +f
}

# his WHO FULLPATH: a file that somebody names is believed only where it belongs to him, so that nobody can have us
# read for him what he could not read himself. WHO is the number of a process, u and that of an account, or nothing: root.
his() {
  if kernels "${2#"$R"}" || ! inside "$2" || [ -L "$2" ] || [ ! -f "$2" ]; then return 1; fi
  case $1 in
  '') return 0 ;;
  u*) V=${1#u} ;;
  *) account "$1" ;;
  esac
  [ "$V" = 0 ] || [ "$($TO stat -c %u "$2" 2>/dev/null)" = "$V" ]
}

# account PID: V becomes the number of its account
account() {
  field "$R/proc/$1/status" Uid:
  set -f
  # shellcheck disable=SC2086 # the numbers of the line
  set -- x $V
  set +f
  V=${2:-x}
}

# mine WHO FULLPATH: the same, and where it is not so that is told
mine() {
  ! his "$1" "$2" || return 0
  if kernels "${2#"$R"}" || ! inside "$2" || [ -L "$2" ] || [ ! -f "$2" ]; then return 1; fi
  mark "an agent or its unit names it, but it belongs to another user"
  frame gap "${2#"$R"}" "$E"
  return 1
}

# given WHO PATH: it is a configuration that may be read; a link is told and not followed
given() {
  if far "$2"; then
    cut "$2, a mount that may hang"
  elif kernels "$2"; then
    return 1
  elif ! inside "$R$2"; then
    cut "a link leads there, not followed: $2"
  elif [ -L "$R$2" ]; then
    case $CDONE$NL in *"$NL$R$2$NL"*) return 1 ;; esac
    CDONE=$CDONE$NL$R$2
    charge "${2%/*}"
    many 0 "$R$2"
  elif [ ! -e "$R$2" ]; then
    gone "$R$2"
  else
    mine "$1" "$R$2" && return 0
  fi
  return 1
}

# named PID: the --config of a running gitlab-runner
named() {
  argv "$1"
  option --config -c
  place "$1"
  case $O in /?*) GCFGS=$GCFGS$NL$1:$O ;; esac
  option --working-directory -d
  place "$1"
  case $O in /?*) account "$1" && wdir "u$V" "$O/builds" ;; esac
}

# workfolder ROOT: where its jobs work, by its registration, where that is not the usual _work
workfolder() {
  for f in .runner .agent; do
    f=$R$1/$f
    if [ -L "$f" ] || [ ! -f "$f" ] || ! inside "$f"; then continue; fi
    t=$(front 65536 "$f" 2>/dev/null | tr -d '\0\r\n')
    case $t in *'"workFolder"'* | *'"WorkFolder"'*) ;; *) continue ;; esac
    y=$(printf '%s\n' "$t" | sed -nE 's/.*"[wW]orkFolder"[[:space:]]*:[[:space:]]*"([^"\\]*)".*/\1/p')
    case $y in
    _work) ;;
    /*) wdir "u$($TO stat -c %u "$R$1" 2>/dev/null)" "$y" ;;
    '' | *[!\ -~]* | ../* | */../*) WX="the directory of its jobs has no plain name: $1" ;;
    *) wdir "u$($TO stat -c %u "$R$1" 2>/dev/null)" "$1/${y#./}" ;;
    esac
  done
}

# root DIR: one installation that keeps its identity in a directory
root() {
  some 65536 "$1" .runner .runner_migrated .agent .env .path .service .proxy config.yaml config.yml runsvc.sh run.sh run-helper.sh.template svc.sh
  some 0 "$1" bin bin/Runner.Listener bin/Agent.Listener bin/RunnerService.js bin/AgentService.js externals _work _diag
  workfolder "$1"
}

# settings FULLPATH SEPARATOR KEY|KEY...: lines "KEY VALUE" of a file of settings, without quotes, comments and what
# stands behind them; 20 at most
settings() {
  front 65536 "$1" 2>/dev/null | tr -d '\0\r' |
    sed -nE "s/^[[:space:]]*($3)[[:space:]]*$2[[:space:]]*[\"']?([^\"'#]*).*/\1 \2/p" | sed 's/ *$//' | head -n 20
}

# buildkite FULLPATH: where the settings of an agent say that its hooks, plugins and builds are
BKS=
buildkite() {
  if [ -L "$1" ] || [ ! -f "$1" ] || ! inside "$1"; then return 0; fi
  bu=u$($TO stat -c %u "$1" 2>/dev/null) bh=${1%/*}
  bh=${bh#"$R"}
  BKS=$BKS${NL}hooks-path:$bu:$bh/hooks${NL}plugins-path:$bu:$bh/plugins
  bh=${bh%/.buildkite-agent}
  y=$(settings "$1" = 'hooks-path|additional-hooks-paths|plugins-path|build-path|git-mirrors-path')
  IFS=$NL
  set -f
  for y in $y; do
    unset IFS
    set +f
    bn=${y%% *} y=${y#* }
    while :; do
      b=${y%%,*}
      # shellcheck disable=SC2016 # as it stands in the file
      case $b in '$HOME'/* | '~'/*) b=$bh/${b#*/} ;; '${HOME}'/*) b=$bh/${b#*/} ;; esac
      case $b in
      *[!\ -~]* | */../* | *'$'*) cut "$bn of ${1#"$R"} has no plain name" ;;
      /?*) case $bn in build-path | git-mirrors-path) wdir "$bu" "$b" ;; *) BKS=$BKS$NL$bn:$bu:$b ;; esac ;;
      esac
      case $y in *,*) y=${y#*,} ;; *) break ;; esac
    done
  done
  unset IFS
  set +f
}

runners() {
  enter runners
  [ -z "$RC" ] || cut "$RC"
  RC=
  gl=$R/etc/gitlab-runner/config.toml
  if inside "$gl" && { [ -L "$gl" ] || [ -f "$gl" ]; }; then config "$gl"; else gone "$gl"; fi
  some 131072 /etc/buildkite-agent buildkite-agent.cfg
  some 131072 /usr/local/etc/buildkite-agent buildkite-agent.cfg
  for u in /etc/buildkite-agent /usr/local/etc/buildkite-agent; do buildkite "$R$u/buildkite-agent.cfg"; done
  for u do
    some 131072 "$u" .gitlab-runner/.runner_system_id .runner_system_id .buildkite-agent/buildkite-agent.cfg .dev-env
    if ! far "$u/.gitlab-runner" && inside "$R$u/.gitlab-runner/x" && [ -d "$R$u/.gitlab-runner" ]; then
      f=$R$u/.gitlab-runner/config.toml
      if [ -L "$f" ] || [ -f "$f" ]; then config "$f"; else gone "$f"; fi
    fi
    ! far "$u/.buildkite-agent" && buildkite "$R$u/.buildkite-agent/buildkite-agent.cfg"
  done
  for a in $GL; do named "$a"; done
  IFS=$NL
  set -f
  for b in $GCFGS; do
    unset IFS
    set +f
    ! given "${b%%:*}" "${b#*:}" || config "$R${b#*:}"
  done
  IFS=$NL
  set -f
  for b in $BCFGS; do
    unset IFS
    set +f
    pid=${b%%:*} b=${b#*:}
    case $b in /etc/buildkite-agent/buildkite-agent.cfg | /usr/local/etc/buildkite-agent/buildkite-agent.cfg | */.buildkite-agent/buildkite-agent.cfg) continue ;; esac
    if given "$pid" "$b"; then
      case $CDONE$NL in *"$NL$R$b$NL"*) continue ;; esac
      CDONE=$CDONE$NL$R$b
      charge "${b%/*}"
      case $b in
      *.cfg) many 131072 "$R$b" ;;
      *)
        cut "its name does not say how its secrets would be found: $b"
        many 0 "$R$b"
        ;;
      esac
      buildkite "$R$b"
    fi
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
  for b in $ACFGS; do
    unset IFS
    set +f
    pid=${b%%:*} b=${b#*:}
    case ${b##*/} in config.yaml | config.yml) case $NL$ROOTS$NL in *"$NL${b%/*}$NL"*) continue ;; esac ;; esac
    if given "$pid" "$b"; then
      charge "${b%/*}"
      case $b in
      *.yaml | *.yml) many 65536 "$R$b" ;;
      *)
        cut "its name does not say how its secrets would be found: $b"
        many 0 "$R$b"
        ;;
      esac
    fi
  done
  IFS=$NL
  set -f
  for p in $JDIRS; do
    unset IFS
    set +f
    some 0 "$p" agent.jar remoting.jar slave.jar swarm-client.jar remoting remoting/jarCache remoting/logs
    wdir "u$($TO stat -c %u "$R$p" 2>/dev/null)" "$p/workspace"
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
  [ -z "$RC" ] || cut "$RC"
  leave runners
}
