#!/bin/sh
# shellcheck disable=SC2016 # what is quoted is text of the runners
# make.sh SUITE github|gitlab NAME [MIRROR]: a clean host of SUITE with one stock runner, booted, read over SSH into NAME.json.gz.
# As root, with debootstrap, systemd-container, iproute2 and Go; run it in this directory. It writes to a temporary directory only.
set -eu
suite=$1 kind=$2 name=$3 mirror=${4:-http://deb.debian.org/debian/}
here=$PWD
work=$(mktemp -d)
root=$work/root ns=clean$$
script='' opt=''
case $suite in
noble) # Debian's debootstrap knows neither the suite nor its key
  mirror=${4:-http://archive.ubuntu.com/ubuntu/} script=/usr/share/debootstrap/scripts/gutsy opt='--no-check-gpg --components=main,universe'
  ;;
esac
# shellcheck disable=SC2086
debootstrap $opt --variant=minbase --include=systemd,systemd-sysv,dbus,openssh-server,iproute2,procps,cron,libpam-systemd,dbus-user-session,sudo,git,at,curl,libcap2-bin,python3,udev,kmod,ca-certificates,logrotate "$suite" "$root" "$mirror" $script >"$work/log" 2>&1
echo "$name" >"$root/etc/hostname"
: >"$root/etc/resolv.conf"

# A program that waits, in place of the runners' own.
cat >"$work/wait.go" <<'X'
package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, os.Interrupt)
	if filepath.Base(os.Args[0]) == "node" {
		_ = exec.Command("./bin/Runner.Listener", "run", "--startuptype", "service").Start()
	}
	<-c
}
X
CGO_ENABLED=0 go build -ldflags '-s -w' -o "$work/wait" "$work/wait.go"

service() { # NAME: its text from standard input
  cat >"$root/etc/systemd/system/$1"
  mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
  ln -sf "/etc/systemd/system/$1" "$root/etc/systemd/system/multi-user.target.wants/$1"
}

if [ "$kind" = github ]; then
  chroot "$root" useradd -m -s /bin/bash -u 1000 runner
  a=$root/home/runner/actions-runner
  mkdir -p "$a/bin" "$a/externals/node20/bin" "$a/_work/_tool/node/20.11.1/x64" "$a/_work/_temp" "$a/_diag" "$a/_work/web/web/.git/hooks"
  for b in bin/Runner.Listener bin/Runner.Worker bin/Runner.PluginHost externals/node20/bin/node; do cp "$work/wait" "$a/$b"; done
  echo 'var childProcess = require("child_process");' >"$a/bin/RunnerService.js"
  : >"$a/_work/_tool/node/20.11.1/x64.complete"
  printf '[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = https://github.example.org/acme/web\n' >"$a/_work/web/web/.git/config"
  printf '#!/bin/sh\nexit 0\n' >"$a/_work/web/web/.git/hooks/pre-commit.sample"
  cat >"$a/bin/runsvc.sh" <<'X'
#!/bin/bash
trap 'kill -INT $PID' TERM INT
if [ -f ".path" ]; then
    export PATH=`cat .path`
fi
nodever="node20"
./externals/$nodever/bin/node ./bin/RunnerService.js &
PID=$!
wait $PID
X
  cp "$a/bin/runsvc.sh" "$a/runsvc.sh"
  printf '#!/bin/bash\ncp -f "$DIR"/run-helper.sh.template "$DIR"/run-helper.sh\n"$DIR"/run-helper.sh $*\n' >"$a/run.sh"
  printf '#!/bin/bash\n"$DIR"/bin/Runner.Listener run $*\n' >"$a/run-helper.sh.template"
  printf '#!/bin/bash\nSVC_NAME="actions.runner.acme-web.clean.service"\n' >"$a/svc.sh"
  printf '#!/bin/bash\nwhile [[ $SECONDS != $1 ]]; do\n    :\ndone\n' >"$a/safe_sleep.sh"
  chmod 755 "$a"/*.sh "$a"/bin/*
  printf '\357\273\277{\n  "agentId": 7,\n  "agentName": "clean",\n  "poolId": 1,\n  "poolName": "Default",\n  "serverUrl": "https://pipelines.example.org/",\n  "gitHubUrl": "https://github.example.org/acme/web",\n  "workFolder": "_work"\n}' >"$a/.runner"
  echo '{}' >"$a/.credentials"
  echo '{}' >"$a/.credentials_rsaparams"
  chmod 600 "$a"/.credentials*
  echo 'LANG=C.UTF-8' >"$a/.env"
  echo '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' >"$a/.path"
  echo 'actions.runner.acme-web.clean.service' >"$a/.service"
  chroot "$root" chown -R runner:runner /home/runner
  service actions.runner.acme-web.clean.service <<'X'
[Unit]
Description=GitHub Actions Runner (acme-web.clean)
After=network-online.target

[Service]
ExecStart=/home/runner/actions-runner/runsvc.sh
User=runner
WorkingDirectory=/home/runner/actions-runner
KillMode=process
KillSignal=SIGTERM
TimeoutStopSec=5min

[Install]
WantedBy=multi-user.target
X
else
  chroot "$root" useradd --system --create-home --home-dir /home/gitlab-runner --skel /dev/null --shell /bin/bash gitlab-runner
  cp "$work/wait" "$root/usr/bin/gitlab-runner"
  mkdir -m 700 "$root/etc/gitlab-runner"
  printf 'concurrent = 1\ncheck_interval = 0\n\n[[runners]]\n  name = "clean"\n  url = "https://gitlab.example.org"\n  id = 1\n  executor = "shell"\n' >"$root/etc/gitlab-runner/config.toml"
  printf s_0123456789ab >"$root/etc/gitlab-runner/.runner_system_id"
  chmod 600 "$root/etc/gitlab-runner/config.toml" "$root/etc/gitlab-runner/.runner_system_id"
  service gitlab-runner.service <<'X'
[Unit]
Description=GitLab Runner
ConditionFileIsExecutable=/usr/bin/gitlab-runner

After=network.target

[Service]
StartLimitInterval=5
StartLimitBurst=10
ExecStart=/usr/bin/gitlab-runner "run" "--config" "/etc/gitlab-runner/config.toml" "--working-directory" "/home/gitlab-runner" "--service" "gitlab-runner" "--user" "gitlab-runner"

Restart=always
RestartSec=120
EnvironmentFile=-/etc/sysconfig/gitlab-runner

[Install]
WantedBy=multi-user.target
X
fi

ssh-keygen -q -t ed25519 -N '' -C responder -f "$work/key"
install -Dm600 "$work/key.pub" "$root/root/.ssh/authorized_keys"
chmod 700 "$root/root/.ssh"

mkdir -p /run/systemd/nspawn
ip netns add "$ns"
ip link add "v-$ns" type veth peer name host0 netns "$ns"
ip addr add 10.78.1.1/30 dev "v-$ns"
ip link set "v-$ns" up
ip netns exec "$ns" ip addr add 10.78.1.2/30 dev host0
ip netns exec "$ns" ip link set host0 up
ip netns exec "$ns" ip link set lo up
systemd-nspawn -q -D "$root" --machine="$name" --register=no --keep-unit --network-namespace-path="/run/netns/$ns" --console=pipe -b </dev/null >"$work/boot" 2>&1 &
pid=$!
trap 'kill -TERM $pid; wait $pid || :; ip netns del "$ns"; rm -rf "$work"' EXIT
until ssh-keyscan -T 2 10.78.1.2 >"$work/known" 2>/dev/null && [ -s "$work/known" ]; do sleep 1; done
sleep 10
cd "$here/../.."
go test . -count 1 -run TestRealCleanHosts -take 10.78.1.2:22 -take-key "$work/key" -take-known "$work/known" -take-name "$name" \
  -take-out "$here/$name.json.gz" -take-scrub "$work"
