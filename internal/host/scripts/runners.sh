
# Installations of runners: configuration with content; credentials are described by the section secrets.

# config FULLPATH: a config.toml with what lies beside it
config() {
  g=${1%/*}
  many 131072 "$1"
  some 4096 "${g#"$R"}" .runner_system_id
}

# named PID UID: the --config of a running gitlab-runner, believed only where the file belongs to that user,
# so that nobody can have us read for him what he could not read himself
named() {
  cf= nx=
  plain "$R/proc/$1/cmdline" || return
  t=$($TO head -c 16384 "$R/proc/$1/cmdline" 2>/dev/null | tr '\0' '\n')
  IFS=$NL
  set -f
  for a in $t; do
    if [ -n "$nx" ]; then cf=$a nx=; fi
    case $a in --config | -c) nx=1 ;; --config=*) cf=${a#--config=} ;; esac
  done
  set +f
  unset IFS
  case $cf in '' | *[!\ -~]*) return ;; /*) ;; *) cf=$(readlink "$R/proc/$1/cwd")/$cf ;; esac
  case $cf in */../* | /etc/gitlab-runner/config.toml) return ;; esac
  p=$R$cf
  if [ -f "$p" ] && [ ! -L "$p" ] && inside "$p"; then
    if [ "$(stat -c %u "$p" 2>/dev/null)" = "$2" ]; then
      config "$p"
    else
      mark "a running agent names it, but it belongs to another user"
      frame gap "$cf" "$E"
    fi
  fi
}

# root DIR: one installation of a GitHub, Gitea or Forgejo runner
root() {
  case $NL$ROOTS$NL in *"$NL$1$NL"*) return ;; esac
  ROOTS=$ROOTS$NL$1
  some 65536 "$1" .runner .runner_migrated .env .path .service config.yaml config.yml runsvc.sh run.sh run-helper.sh.template svc.sh
  some 0 "$1" bin bin/Runner.Listener bin/RunnerService.js externals _work _diag
}

runners() {
  enter runners
  ROOTS=
  gl=$R/etc/gitlab-runner/config.toml
  if [ -f "$gl" ] && inside "$gl"; then config "$gl"; else gone "$gl"; fi
  for u do
    some 131072 "$u" .gitlab-runner/config.toml .gitlab-runner/.runner_system_id .runner_system_id .dev-env
    if [ -d "$R$u/.dev-env" ]; then root "$u/.dev-env"; fi
  done
  for a in $AGENTS; do
    pid=${a%%:*}
    t=$(readlink "$R/proc/$pid/exe" 2>/dev/null)
    case $t in
    *"$NL"*) ;;
    */bin/Runner.Listener | */bin.*/Runner.Listener)
      t=${t%/*}
      root "${t%/*}"
      ;;
    *) named "$pid" "${a#*:}" ;;
    esac
  done
  # Bounded: this file system each, five levels, twenty seconds. A path with a line feed cannot be told apart from two.
  t=$(found ! -path "*$NL*")
  k=0
  IFS=$NL
  set -f
  for p in $t; do
    unset IFS
    set +f
    k=$((k + 1))
    if [ "$k" -gt 64 ]; then
      cut "$p"
      break
    fi
    p=${p#"$R"}
    root "${p%/*}"
  done
  unset IFS
  set +f
  if [ -n "$(found -path "*$NL*")" ]; then
    mark "has a line feed in its path, not read"
    frame gap .runner "$E"
    cut .runner
  fi
  leave runners
}

# found TEST...: files that mark an installation
found() {
  for d in /home /root /opt /srv /var/lib /usr/local /data /mnt /actions-runner; do
    if [ -d "$R$d" ] && [ ! -L "$R$d" ]; then
      ${TO:+timeout -s KILL 20} find "$R$d" -xdev -maxdepth 5 -type f -name .runner "$@" 2>/dev/null
    fi
  done
}
