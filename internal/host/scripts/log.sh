
# The agents' own words: the journal on a running host, log files everywhere.

UNITS='gitlab-runner* actions.runner.* vsts.agent.* act_runner* act-runner* forgejo-runner* gitea-runner* gitea-act-runner* buildkite-agent* jenkins-agent* jenkins-inbound*'

# journal: the end of what the journal has of agents' units
journal() {
  set -f
  # shellcheck disable=SC2086 # a list of patterns
  set -- $UNITS
  set +f
  for u do
    shift
    set -- "$@" -u "$u"
  done
  V=$({
    $TO journalctl "$@" -o json --no-pager -q -n 600 2>/dev/null </dev/null
    printf '\n:%s' "$?"
  } | tail -c 1048576)
  case ${V##*"$NL":} in 0 | 1) ;; *) cut 'the journal did not answer in time' ;; esac
  V=${V%"$NL":*}
  if [ -z "$V" ] && [ "$UID_" != 0 ]; then deny "the journal (no entries for uid $UID_)"; fi
  frame log journal "~$(printf '%s\n' "$V" | encode)"
}

# tailed CAP FULLPATH [SED-PROGRAM]: the end of one log file, its lines chosen at the source where a program says which
tailed() {
  h=${2#"$R"}
  if [ ! -r "$2" ]; then
    deny "$h"
  elif [ -n "$3" ]; then
    frame log "$h" "~$(back "$1" "$2" 2>/dev/null | $TO sed -nE "$3" 2>/dev/null | tail -n 400 | head -c 262144 | encode)"
  else
    frame log "$h" "~$(back "$1" "$2" 2>/dev/null | encode)"
  fi
  seen=1
}

# last N FULLPATH...: sets the last of the patterns' files that are regular and not links, the newest last where names sort by time
last() {
  n=$1
  shift
  if [ $# -gt 2000 ]; then
    cut "more than 2000, the older ones not looked at: ${1%/*}"
    shift $(($# - 200))
  fi
  for p do
    shift
    if ! far "${p#"$R"}" && inside "$p" && [ ! -L "$p" ] && [ -f "$p" ]; then set -- "$@" "$p"; fi
  done
  while [ $# -gt "$n" ]; do shift; done
  IFS=$NL
  LAST="$*"
  unset IFS
}

# What of a listener's diagnostic log is about polling and jobs: the first lines' version, and what these parts write.
SAYS='/^\[[^]]* (Terminal|BrokerMessageListener|MessageListener|JobDispatcher|Runner|Agent|Listener|Program|ConfigurationManager)\] /p'

log() {
  enter log
  seen=
  mark "$STARTS"
  frame fact starts "$E"
  if [ -z "$R" ] && command -v journalctl >/dev/null 2>&1; then
    journal
    seen=1
  fi
  for f in gitlab-runner act_runner act-runner forgejo-runner gitea-runner buildkite-agent jenkins-agent; do
    f=$R/var/log/$f.log
    if [ -f "$f" ] && [ ! -L "$f" ] && inside "$f"; then tailed 262144 "$f"; elif [ -z "$seen" ]; then gone "$f"; fi
  done
  IFS=$NL
  set -f
  for u in $ROOTS; do
    unset IFS
    set +f
    diag "$u"
  done
  unset IFS
  set +f
  if [ -n "$seen" ] || [ "$DN" -gt 0 ]; then leave log; else leave log 'no journal and no log of an agent'; fi
}

# diag ROOT: the newest logs of a listener, and what nohup kept of an agent that was started by hand
diag() {
  d=$R$1
  for f in "$1/_diag" "$1/nohup.out"; do
    if far "$f"; then
      cut "on a mount that may hang: $f"
      return 0
    fi
  done
  if ! inside "$d/_diag/x"; then
    cut "a link leads there, not followed: $1/_diag"
    return 0
  fi
  if [ -d "$d/_diag" ] && { [ ! -x "$d/_diag" ] || [ ! -r "$d/_diag" ]; }; then deny "$1/_diag"; fi
  last 2 "$d"/_diag/Runner_*.log "$d"/_diag/Agent_*.log
  IFS=$NL
  set -f
  for f in $LAST; do
    unset IFS
    set +f
    case $f in *[!\ -~]*) continue ;; esac
    tailed 524288 "$f" "$SAYS"
  done
  unset IFS
  set +f
  f=$d/nohup.out
  if inside "$f" && [ ! -L "$f" ] && [ -f "$f" ]; then tailed 65536 "$f"; fi
}

# Of a worker's log: which job, of which repository and run, and how it ended. All else in it stays there.
WORKED='1p;/^ {2,3}"(jobDisplayName|jobId)": /p;/^ {4,5}"[a-z]*": \{/p;/^ {10,11}"k": "(repository|run_id|run_attempt|workflow|event_name|actor|ref|sha|job)",/{p;n;p;}
/^\[[^]]* (JobRunner|Worker)\] Job (result|completed|ID)/p'

# jobs: what ran here, by the newest worker logs of each listener and its record of repositories
jobs() {
  enter jobs
  IFS=$NL
  set -f
  for u in $ROOTS; do
    unset IFS
    set +f
    worked "$u"
  done
  IFS=$NL
  set -f
  for w in $WDIRS; do
    unset IFS
    set +f
    if far "${w#*:}" || ! lets "${w%%:*}" "$R${w#*:}"; then continue; fi # the section work says so
    some 8192 "${w#*:}" '_PipelineMapping/*/*/PipelineFolder.json'
  done
  unset IFS
  set +f
  leave jobs
}

worked() {
  d=$R$1
  if far "$1/_diag" || ! inside "$d/_diag/x"; then
    cut "a mount or a link, not followed: $1/_diag"
    return 0
  fi
  last 20 "$d"/_diag/Worker_*.log
  IFS=$NL
  set -f
  for f in $LAST; do
    unset IFS
    set +f
    h=${f#"$R"}
    case $f in *[!\ -~]*) continue ;; esac
    if [ ! -r "$f" ]; then
      deny "$h"
      continue
    fi
    frame job "$h" "~$({
      (front 524288 "$f") | $TO sed -nE "$WORKED"
      echo
      (back 32768 "$f") | $TO sed -nE '/^\[[^]]* (JobRunner|Worker)\] Job (result|completed)/p'
    } 2>/dev/null | head -c 32768 | encode)"
  done
  unset IFS
  set +f
  some 8192 "$1" '_work/_PipelineMapping/*/*/PipelineFolder.json'
}
