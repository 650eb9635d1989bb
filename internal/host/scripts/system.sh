
# Where an intruder of a machine keeps a way back, and what can be reached from here: the places of facts/host.md §2
# that are no units, crontabs, keys or profiles. OWN makes one() note each path in WAS, so that what packages own of
# them can be asked once.

# fact NAME CAP FULLPATH: text of the kernel's
fact() {
  if ! plain "$3" || [ ! -e "$3" ]; then
    gone "$3"
  elif [ ! -r "$3" ]; then
    deny "${3#"$R"}"
  else
    E="~$($TO head -c "$2" "$3" 2>/dev/null | encode)"
    frame fact "$1" "$E"
    [ ${#E} -lt $(($2 * 4 / 3)) ] || cut "${3#"$R"}"
  fi
}

# unlisted: modules that /sys has loaded and that /proc/modules leaves out; one that goes meanwhile is in neither
unlisted() {
  if [ ! -d "$R/sys/module" ] || [ ! -r "$R/proc/modules" ] || ! plain "$R/proc/modules"; then return 0; fi
  t=
  set -- "$R"/sys/module/*/initstate
  mods=$NL$($TO head -c 262144 "$R/proc/modules" 2>/dev/null | sed 's/ .*//')$NL
  for f do
    b=${f%/initstate} b=${b##*/}
    case $mods in *"$NL$b$NL"*) continue ;; esac
    [ ! -e "$f" ] || t="$t $b"
  done
  mark "${t# }"
  frame fact unlisted "$E"
}

kernel() {
  enter kernel
  fact cmdline 4096 "$R/proc/cmdline"
  fact modules 65536 "$R/proc/modules"
  unlisted
  fact tainted 64 "$R/proc/sys/kernel/tainted"
  fact core_pattern 512 "$R/proc/sys/kernel/core_pattern"
  fact modprobe 512 "$R/proc/sys/kernel/modprobe"
  fact mounts 262144 "$R/proc/self/mountinfo"
  fact route 16384 "$R/proc/net/route"
  fact arp 65536 "$R/proc/net/arp"
  fact vendor 256 "$R/sys/class/dmi/id/sys_vendor"
  field "$R/proc/self/status" CapEff: && [ -n "$V" ] && { mark "$V"; frame fact capeff "$E"; }
  some 4096 /proc/sys/fs/binfmt_misc '*'
  some 0 /sys/fs/bpf '*'
  leave kernel
}

# system HOME...: persistence places of the machine
system() {
  enter system
  some 16384 /etc 'init.d/*' 'update-motd.d/*' 'pam.d/*' sudoers 'sudoers.d/*' modules 'modules-load.d/*' 'modprobe.d/*' \
    'udev/rules.d/*' apt/apt.conf 'apt/apt.conf.d/*' 'dpkg/dpkg.cfg.d/*' 'xdg/autostart/*' 'NetworkManager/dispatcher.d/*' \
    'NetworkManager/dispatcher.d/*/*' 'networkd-dispatcher/*/*' 'network/if-*.d/*' 'dhcp/dhclient-*-hooks.d/*' 'ppp/ip-*.d/*' \
    ld.so.conf 'ld.so.conf.d/*' default/grub 'default/grub.d/*' 'initramfs-tools/hooks/*' 'initramfs-tools/scripts/*/*' 'binfmt.d/*' \
    'dbus-1/system.d/*' 'polkit-1/rules.d/*' 'polkit-1/localauthority/*/*' 'dnf/plugins/*' 'yum/pluginconf.d/*' 'cloud/cloud.cfg.d/*' \
    gitconfig npmrc pip.conf 'tmpfiles.d/*' 'logrotate.d/*' rsyslog.conf 'rsyslog.d/*' nsswitch.conf 'bash_completion.d/*' 'kernel/*.d/*' \
    'perl/sitecustomize.pl' 'needrestart/*.d/*' vim/vimrc.local apt/sources.list 'apt/sources.list.d/*'
  some 16384 /usr/share 'dbus-1/system-services/*' 'polkit-1/rules.d/*'
  some 16384 /usr/local 'lib/udev/rules.d/*' 'share/dbus-1/system-services/*' 'share/polkit-1/rules.d/*'
  some 16384 /run 'udev/rules.d/*'
  some 16384 /var/lib 'polkit-1/localauthority/*/*' 'cloud/scripts/per-*/*' 'cloud/instance/scripts/*'
  some 0 /etc 'rc[0-6S].d/*' machine-id hostname 'ssh/ssh_host_*_key.pub'
  some 0 /usr/lib 'udev/rules.d/*' 'modules-load.d/*' 'dracut/modules.d/*' 'security/*' '*/security/*' 'yum-plugins/*' \
    'python3*/site-packages/dnf-plugins/*'
  [ -L "$R/lib" ] || some 0 /lib 'udev/rules.d/*' '*/security/*' 'security/*'
  some 0 / grub-panix.sh 'boot/*.bak' 'boot/*.orig' 'boot/grub/*.bak'
  some 65536 /boot grub/grub.cfg grub2/grub.cfg
  some 0 /var/lib/dpkg/info base-files.list
  some 4096 /etc 'python3*/sitecustomize.py'
  some 4096 /usr/lib 'python3*/dist-packages/*.pth' 'python3*/dist-packages/*customize.py' 'python3*/site-packages/*.pth' 'python3*/site-packages/*customize.py'
  some 4096 /usr/local/lib 'python3*/dist-packages/*.pth' 'python3*/dist-packages/*customize.py' 'python3*/site-packages/*.pth' 'python3*/site-packages/*customize.py'
  binaries
  accounts
  installers
  leave system
}

# binaries: programs that everybody starts must be programs; a script in the place of one is read
binaries() {
  for d in /usr/bin /usr/sbin /bin /sbin; do
    if [ ! -d "$R$d" ] || [ -L "$R$d" ]; then continue; fi
    some 0 "$d" '*.original' '*.orig' '*.real' '*.bak'
    for b in bash sh dash cat ls ps ss ip netstat find grep login su sudo sshd ssh passwd cron crontab systemctl journalctl top id stat head git; do
      f=$R$d/$b
      if [ ! -f "$f" ] || [ -L "$f" ]; then continue; fi
      case $($TO head -c 4 "$f" 2>/dev/null | tail -c 3) in
      ELF) many 0 "$f" ;;
      *) many 4096 "$f" ;;
      esac
    done
  done
}

# accounts: of /etc/shadow only the name, whether a password opens the account, and the day of its change
accounts() {
  f=$R/etc/shadow
  if ! plain "$f" || [ ! -e "$f" ]; then
    gone "$f"
  elif [ ! -r "$f" ]; then
    deny /etc/shadow
  else
    t=
    { while IFS=: read -r a b c d || [ -n "$a" ]; do
      case $b in
      '') b='open' ;;
      '!'* | '*'* | x) b='none' ;;
      *) b='hash' ;;
      esac
      t="$t$a $b $c$NL"
    done; } 2>/dev/null <"$f"
    mark "$t"
    frame fact shadow "$E"
  fi
}

# installers: scripts of packages that do what installing does not need
installers() {
  i=$R/var/lib/dpkg/info
  [ -d "$i" ] && inside "$i/x" || return
  t=$(cd "$i" && $TO grep -lE '/dev/(tcp|udp)/|base64 +(-d|--decode)|\b(nohup|setsid)\b|\b(curl|wget)\b.*\| *(ba|da)?sh' -- *.preinst *.postinst *.prerm *.postrm 2>/dev/null)
  [ $? -lt 124 ] || cut "the search of the packages' scripts ran out of time"
  n=0
  IFS=$NL
  set -f
  for p in $t; do
    unset IFS
    set +f
    n=$((n + 1))
    if [ "$n" -gt 20 ]; then
      cut "$i/$p"
      break
    fi
    many 8192 "$i/$p"
  done
  unset IFS
  set +f
}

# listed LIMIT CAP PATHS: tells each of the paths, a line each, LIMIT at most
listed() {
  k=0
  IFS=$NL
  set -f
  for p in $3; do
    unset IFS
    set +f
    k=$((k + 1))
    if [ "$k" -gt "$1" ]; then
      cut "${p#"$R"}"
      break
    fi
    ! inside "$p" || many "$2" "$p"
  done
  unset IFS
  set +f
}

capable() {
  t=$($LO getcap -r "$@")
  st=$?
  printf '%s\n' "$t" | sed "/./!d;s,^$R/,/,"
  return $st
}

# privileged: files that run with more rights than who starts them
privileged() {
  enter privileged
  set -- "$R/"
  IFS=$NL
  set -f
  for m in $NEAR; do
    if [ $# -lt 40 ]; then set -- "$@" "$R$m"; else cut "setuid files on $m, and on what is mounted after it"; break; fi
  done
  unset IFS
  set +f
  t=$($LO find "$@" -xdev \( -path "$R/proc" -o -path "$R/sys" -o -path "$R/var/lib/docker" -o -path "$R/var/lib/containerd" \
    -o -path "$R/var/lib/containers" -o -path "$R/snap" \) -prune -o -type f \( -perm -4000 -o -perm -2000 \) ! -path "*$NL*" -print 2>/dev/null)
  st=$?
  [ $st -lt 124 ] || cut 'the search for setuid files ran out of time'
  # find says by its status whether a directory was closed to it
  [ $st -eq 0 ] || [ "$UID_" = 0 ] || deny 'directories of other users'
  ACC=
  listed 300 0 "$t"
  if command -v getcap >/dev/null 2>&1; then
    shift # getcap goes through what is mounted below; what else is mounted is told to it
    for d in /usr /opt /home /root /srv /bin /sbin; do
      if [ -d "$R$d" ] && [ ! -L "$R$d" ]; then set -- "$@" "$R$d"; fi
    done
    [ $# -eq 0 ] || {
      told 'capabilities of files' 65536 capable "$@"
      frame fact caps "$E"
    }
  else
    mark 'getcap is not installed: capabilities of files were not looked for'
    frame gap capabilities "$E"
  fi
  leave privileged
}

# homes HOME...: what tools of developers start, and where the account can go
homes() {
  enter homes
  for u do
    some 16384 "$u" .npmrc .config/pip/pip.conf .pip/pip.conf .cargo/config .cargo/config.toml .config/go/env .gradle/init.gradle '.gradle/init.d/*' \
      .yarnrc.yml .m2/settings.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config .config/NuGet/NuGet.Config \
      '.config/autostart/*' '.config/containers/systemd/*' .ssh/config .docker/config.json .xsessionrc .xprofile .selected_editor .terraformrc .curlrc \
      '.local/lib/python3*/site-packages/*.pth' '.local/lib/python3*/site-packages/*customize.py'
    some 65536 "$u" .ssh/known_hosts
    some 0 "$u" '.docker/cli-plugins/*' .kube/config '.ssh/*'
    case $u in /home/* | /var/lib/*) repos "$R$u" ;; esac
  done
  some 0 /tmp 'ssh-*/agent.*'
  leave homes
}

# shadow DIR: programs of well-known names in a directory that is searched before the system's; a script is read
shadow() {
  reached "$R$1" || return 0
  charge "$1"
  for b in git sh bash env ssh curl wget tar sudo make docker node python3 ls cat ps rm cp grep sed; do
    f=$R$1/$b
    if [ -L "$f" ]; then
      many 0 "$f"
    elif [ -f "$f" ]; then
      case $(front 4 "$f" 2>/dev/null | tail -c 3) in
      ELF) many 0 "$f" ;;
      *) many 4096 "$f" ;;
      esac
    fi
  done
}

containers() {
  enter containers
  some 32768 /var/lib/docker 'containers/*/hostconfig.json'
  some 32768 /etc docker/daemon.json 'containers/systemd/*'
  some 0 /run docker.sock containerd/containerd.sock podman/podman.sock crio/crio.sock
  some 0 /var/run/secrets/kubernetes.io/serviceaccount '*'
  leave containers
}
