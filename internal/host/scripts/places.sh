
# Where persistence and secrets live. Each function gets the homes as its arguments.

wants() {
  enter wants
  some 0 /etc/systemd/system '*.wants/*' '*.requires/*'
  leave wants
}

unitdir() {
  [ -d "$R$1" ] || { gone "$R$1/x"; return; }
  some 32768 "$1" '*.service' '*.timer' '*.socket' '*.path' '*.d/*.conf'
  some 0 "$1" '*.wants/*' '*.requires/*'
}

units() {
  enter units
  for u in /etc/systemd/system /etc/systemd/system.control /etc/systemd/system.attached \
    /run/systemd/system /run/systemd/transient /run/systemd/system.control \
    /run/systemd/generator /run/systemd/generator.early /run/systemd/generator.late \
    /usr/local/lib/systemd/system /usr/lib/systemd/system /lib/systemd/system \
    /etc/systemd/user /usr/lib/systemd/user /lib/systemd/user /usr/local/lib/systemd/user \
    /usr/share/systemd/user /usr/local/share/systemd/user; do
    case $u in /lib/*) [ ! -L "$R/lib" ] || continue ;; esac
    unitdir "$u"
  done
  for r in "$R"/run/user/*; do
    r=${r#"$R"}
    for u in user user.control transient generator; do
      [ ! -d "$R$r" ] || unitdir "$r/systemd/$u"
    done
  done
  for u do
    unitdir "$u/.config/systemd/user"
    unitdir "$u/.config/systemd/user.control"
    unitdir "$u/.local/share/systemd/user"
  done
  some 0 /var/lib/systemd/linger '*'
  for g in /etc /run /usr/lib /usr/local/lib; do
    some 0 "$g/systemd" 'system-generators/*' 'user-generators/*' 'system-environment-generators/*' 'user-environment-generators/*'
    some 16384 "$g/systemd" system.conf user.conf 'system.conf.d/*.conf' 'user.conf.d/*.conf'
  done
  some 32768 /etc sysconfig/gitlab-runner default/gitlab-runner
  leave units
}

crons() {
  enter cron
  some 65536 /etc crontab anacrontab rc.local rc.d/rc.local 'cron.d/*' 'cron.hourly/*' 'cron.daily/*' 'cron.weekly/*' 'cron.monthly/*' 'crontabs/*' 'periodic/*/*'
  some 65536 /var/spool 'cron/*' 'cron/crontabs/*' 'cron/tabs/*' 'cron/atjobs/*' 'at/*'
  for d in /etc/cron.d /var/spool/cron /var/spool/cron/crontabs /var/spool/cron/tabs /etc/crontabs /var/spool/cron/atjobs /var/spool/at; do
    [ ! -d "$R$d" ] || [ -r "$R$d" ] || deny "$d"
  done
  leave cron
}

keys() {
  enter keys
  some 131072 /etc passwd group shells
  some 65536 /etc/ssh sshd_config 'sshd_config.d/*.conf' sshrc 'authorized_keys/*' 'authorized_keys.d/*'
  for u do
    some 65536 "$u" .ssh/authorized_keys .ssh/authorized_keys2 '.ssh/authorized_keys*.bak' .ssh/rc .ssh/environment
  done
  leave keys
}

profiles() {
  enter profiles
  some 65536 /etc profile bash.bashrc bashrc environment ld.so.preload zshenv 'zsh/*' 'profile.d/*' 'environment.d/*'
  for u do
    some 65536 "$u" .bashrc .bash_profile .bash_login .bash_logout .profile .zshenv .zshrc .zprofile .zlogin \
      .config/fish/config.fish '.config/environment.d/*.conf' .pam_environment .gitconfig .config/git/config
  done
  leave profiles
}

secrets() {
  enter secrets
  for u do
    some 0 "$u" . .netrc _netrc .git-credentials .config/git/credentials .npmrc .yarnrc.yml .pypirc .vault-token .pgpass .my.cnf .boto .s3cfg \
      .aws/credentials .aws/config .docker/config.json .kube/config .config/gh/hosts.yml .config/glab-cli/config.yml \
      .config/gcloud/application_default_credentials.json .config/gcloud/credentials.db '.config/gcloud/*.json' '.config/gcloud/legacy_credentials/*/*.json' .config/gcloud/access_tokens.db \
      .azure/accessTokens.json '.azure/msal_token_cache*' .azure/azureProfile.json .azure/service_principal_entries.json .cargo/credentials .cargo/credentials.toml .gem/credentials \
      .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .terraform.d/credentials.tfrc.json .terraformrc .config/containers/auth.json .config/pip/pip.conf \
      .composer/auth.json .config/composer/auth.json .nuget/NuGet/NuGet.Config .config/sops/age/keys.txt '.gnupg/private-keys-v1.d/*' .gnupg/secring.gpg \
      '.ssh/id_*' '.ssh/*.pem' '.ssh/*.key' '*.pem' '*.key' '*.p12' '*.pfx' '*.jks' '*.keystore' '*.kubeconfig' .env '.credentials*'
  done
  some 0 /etc npmrc pip.conf 'gitlab-runner/certs/*'
  some 0 /run 'containers/*/auth.json' 'user/*/containers/auth.json'
  IFS=$NL
  set -f
  for u in $ROOTS; do
    unset IFS
    set +f
    some 0 "$u" '.credentials*' .env .proxycredentials .credential_store .runner
  done
  unset IFS
  set +f
  leave secrets
}
