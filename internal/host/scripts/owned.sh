
# What packages brought of the paths that were told so far. Where that cannot be known nothing is said of it.

# names: those paths, a line each; a merged /usr has two names for one file
names() { printf '%s\n' "$WAS" | sed -n 's,^/usr\(/\(lib\|bin\|sbin\)[^/]*/.*\)$,&\n\1,;/^\//p'; }

# both: the lines of standard input that are among the names
both() {
  {
    names | sort -u
    sort -u
  } | sort | uniq -d
}

bydpkg() { cd "$i" && names | $TO grep -hxFf - -- *.list; }

# byapk: its database is text, F: a directory and R: a file in it
byapk() { $TO sed -n '/^F:/{s/^F://;h;s,^,/,;p;};/^R:/{s/^R://;G;s,^\(.*\)\n\(.*\)$,/\2/\1,;s,^//,/,;p;}' "$i" | both; }

# byrpm: only rpm reads its database. It is asked for what all packages hold, which starts nothing of theirs; without a home,
# as what an account keeps in its own (.rpmmacros) is run by it.
byrpm() {
  unset XDG_CONFIG_HOME
  {
    st=$({ {
      HOME=/nonexistent $LO rpm -qa --list --nodigest --nosignature
      echo $? >&5
    } | both >&6; } 5>&1)
  } 6>&1
  return "${st:-1}"
}

# owned: a fact for each kind of package manager there is
owned() {
  enter owned
  i=$R/var/lib/dpkg/info
  if [ -d "$i" ] && inside "$i/x"; then
    told 'what packages brought' 1048576 bydpkg
    frame fact dpkg "$E"
  fi
  for i in "$R/lib/apk/db/installed" "$R/usr/lib/apk/db/installed"; do
    if [ -f "$i" ] && [ ! -L "$i" ] && inside "$i"; then
      told 'what packages brought' 1048576 byapk
      frame fact apk "$E"
      break
    fi
  done
  for i in /var/lib/rpm /usr/lib/sysimage/rpm; do
    if [ ! -d "$R$i" ] || ! inside "$R$i/x"; then continue; fi
    if [ -z "$R" ] && command -v rpm >/dev/null 2>&1; then
      told 'what packages brought' 1048576 byrpm
      if [ "$L" = 0 ]; then frame fact rpm "$E"; elif [ "$L" -lt 124 ]; then cut 'rpm could not read its database'; fi
    else
      mark 'only rpm itself reads its database, and it is not there, or this is no running machine: which files packages brought is not known'
      frame gap packages "$E"
    fi
    break
  done
  leave owned
}
