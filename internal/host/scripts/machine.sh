
# What a record of evidence says of a machine beside its names: its addresses, what it runs in, its time zone. All of
# it is in files; nothing is started for it.

# cards: a line each, the name of an interface and its hardware address
cards() {
  t= n=0
  for f in "$R"/sys/class/net/*/address; do
    slurp "$f" || continue
    n=$((n + 1))
    if [ "$n" -gt 256 ]; then
      cut "more than 256 interfaces"
      break
    fi
    f=${f%/address}
    t="$t${f##*/} $V$NL"
  done
  [ -z "$t" ] || value cards "$t"
}

# addresses: those that are the machine's own by its tables of routes, in the kernel's forms
addresses() {
  f=$R/proc/net/fib_trie
  if plain "$f" && [ -r "$f" ]; then
    # shellcheck disable=SC2086 # a command and its options
    told "$f" 65536 $TO sed -n '/|-- /{s/.*|-- //;h;};/\/32 host LOCAL/{x;p;x;}' "$f"
    frame value inet "$E"
  fi
  f=$R/proc/net/if_inet6
  if plain "$f" && [ -r "$f" ]; then
    # shellcheck disable=SC2086 # a command and its options
    told "$f" 65536 $TO head -c 65536 "$f"
    frame value inet6 "$E"
  fi
}

# within: signs of a virtual machine or a container, a line each: where it stands, and what stands there
within() {
  t=
  for k in sys_vendor product_name board_vendor bios_vendor; do
    slurp "$R/sys/class/dmi/id/$k" && t="$t$k $V$NL"
  done
  slurp "$R/sys/hypervisor/type" && t="${t}hypervisor $V$NL"
  field "$R/proc/cpuinfo" flags && case "$V " in *' hypervisor '*) t="${t}cpu hypervisor$NL" ;; esac
  for k in /.dockerenv /run/.containerenv /proc/vz /proc/bc; do
    [ ! -e "$R$k" ] || t="${t}there $k$NL"
  done
  slurp "$R/run/systemd/container" && t="${t}manager $V$NL"
  plain "$R/proc/1/environ" && [ -r "$R/proc/1/environ" ] &&
    V=$($TO head -c 32768 "$R/proc/1/environ" 2>/dev/null | tr '\n\0' ' \n' | sed -n 's/^container=//p') && [ -n "$V" ] && t="${t}manager $V$NL"
  slurp "$R/proc/1/cgroup" && while :; do
    t="${t}cgroup ${V%%"$NL"*}$NL"
    case $V in *"$NL"*) V=${V#*"$NL"} ;; *) break ;; esac
  done
  slurp "$R/proc/sys/kernel/osrelease" && t="${t}kernel $V$NL"
  value within "$t"
}

# zone: by the link that the C library follows, and by what Debian writes beside it
zone() {
  if [ -L "$R/etc/localtime" ]; then
    value localtime "link $(readlink "$R/etc/localtime")"
  elif [ -e "$R/etc/localtime" ]; then
    value localtime file
  else
    value localtime none
  fi
  slurp "$R/etc/timezone" && value timezone "${V%%"$NL"*}"
}
