# shellcheck shell=bash
# For tests of the real kernel: needs root and tracefs, and checks that both are left as found.
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
TRACEFS=$(awk '$3 == "tracefs" { print $2; exit }' /proc/self/mounts)
[ -n "$TRACEFS" ] || skip_all "tracefs is not mounted"
[ -w "$TRACEFS/uprobe_events" ] || skip_all "the kernel has no uprobe_events"

cd "$TEST_DIR" || exit 1

# A file of its own for each script: tests kill tracers, and one that is killed while it disables
# leaves something of its places in the kernel as long as the file is there ("leaking uprobe").
mkdir own && cp "$SERVER" own/server && SERVER=$PWD/own/server

# Is process $1 this test or started by it? What runs in a terminal of tmux's has another parent, but our environment.
is_ours() {
  local pid=$1
  grep -qzxF "TEST_DIR=$TEST_DIR" "/proc/$pid/environ" 2>/dev/null && return
  while [ "${pid:-0}" -gt 1 ]; do
    [ "$pid" != $$ ] || return 0
    pid=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status" 2>/dev/null)
  done
  return 1
}

# Is the session of that name one of a process that lives and is not ours? Then somebody else measures on this machine
# meanwhile. A session's name begins with the number of its process.
is_others() {
  [ -d "/proc/${1%%_*}" ] && ! is_ours "${1%%_*}"
}

others_sessions() {
  local name
  for name in "$TRACEFS"/instances/nopwatch_* /run/nopwatch/[0-9]*_*; do
    name=${name##*/} name=${name#nopwatch_}
    is_others "$name" && printf '%s\n' "$name"
  done
}

# Does a text name a session that has gone, or say that one disarms (rcu_expedited)? Somebody else's, which began and ended
# while the text was read.
has_gone_meanwhile() {
  local name
  grep -qx 'rcu_expedited 28279' <<<"$1" && return
  for name in $(grep -oE '\b(nopwatch_|gate\.)?[0-9]+_[0-9a-f]{6}\b' <<<"$1" | sed 's/^nopwatch_//; s/^gate\.//' | sort -u); do
    [ -d "$TRACEFS/instances/nopwatch_$name" ] || [ -e "/run/nopwatch/$name" ] || return 0
  done
  return 1
}

# What a session could leave behind, and what of others it could disturb. Sessions of others that begin or end meanwhile are
# left out. What is left behind stays, and is told after ten looks.
tracefs_state() {
  local others state i
  for i in {1..10}; do
    others=$(others_sessions)
    state=$(
      cat "$TRACEFS/uprobe_events"
      cat "$TRACEFS/synthetic_events" 2>/dev/null
      ls "$TRACEFS/instances"
      ls -A -I hit.cost /run/nopwatch 2>/dev/null # kept until the next boot
      cat "$TRACEFS/events/enable" "$TRACEFS/tracing_on" "$TRACEFS/current_tracer" \
        "$TRACEFS/trace_clock" "$TRACEFS/set_event_pid"
      sed 's/^/rcu_expedited /' /sys/kernel/rcu_expedited 2>/dev/null
    )
    others+=$'\n'$(others_sessions)
    # sessions of others switch it on while they disarm (NW_EXPEDITED)
    [ "$others" = $'\n' ] || state=${state/%rcu_expedited 28279/rcu_expedited 0}
    state=$(grep -vF -- "$(grep . <<<"$others" || echo /none/)" <<<"$state")
    has_gone_meanwhile "$state" || break
  done
  printf '%s\n' "$state"
}

state_before=$(tracefs_state)

unchanged() {
  is "${1:-tracefs and /run/nopwatch are as they were}" "$(tracefs_state)" "$state_before"
}

# Wait until a command succeeds, at most a minute (more on a busy machine).
wait_for() {
  local i
  for ((i = 0; i < 600; i++)); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  echo "# gave up waiting for: $*"
  return 1
}

# Wait until a process that was just made runs the program: until then it is a shell, without probes.
begun() {
  wait_for test "/proc/$1/exe" -ef "$2"
}

# The probes of a session of ours, as the kernel has them. What nopwatch measures its own cost with, in its own code, is none.
session_probes() { # GROUP, a pattern
  grep ":$1/" "$TRACEFS/uprobe_events" | grep -v ' /proc/[0-9]*/exe:' | grep -vF -- "$(others_sessions | grep . || echo /none/)"
}

# armed [N]: is a session of ours armed, are N? Its instance records from its birth, and what the kernel tells of threads is
# enabled before the first probe is: so all events of its own have to be, unless it has none but the kernel's.
armed() {
  local dir group count=0
  for dir in "$TRACEFS"/instances/nopwatch_*/; do
    group=${dir%/} group=${group##*/}
    is_others "${group#nopwatch_}" && continue
    if [ -d "$dir/events/$group" ]; then
      [ "$(cat "$dir/events/$group/enable")" = 1 ] || continue
      session_probes "$group" >/dev/null || continue
    else
      [ -n "$(cat "$dir/set_event")" ] || continue
    fi
    grep -q 1 "$dir/tracing_on" && count=$((count + 1))
  done 2>/dev/null
  [ "$count" -ge "${1:-1}" ]
}

# How often sessions of ours were hit so far, as the kernel counts it, in whatever process. A test that needs hits waits
# for them, and not for a time in which a busy machine may have none.
session_hits() {
  session_probes 'nopwatch_[^ /]*' | awk 'NR == FNR { sub(/.*\//, "", $1); ours[$1] = 1; next }
    $2 in ours { sum += $3 } END { print sum + 0 }' - "$TRACEFS/uprobe_profile"
}

# hit N [SINCE]: that often, or that often since there were SINCE
hit() {
  [ "$(session_hits)" -ge $(($1 + ${2:-0})) ]
}

# Wait for so many hits from now on: of everybody, so a program that must have some of its own is the only one there.
# In place of a time, in which a busy machine may run nothing of it.
more_hits() {
  wait_for hit "$1" "$(session_hits)"
}

# Wait until a session is armed, and for so many hits that it records.
armed_and_hit() {
  wait_for armed && more_hits "$1"
}

# Wait until a tracer of ours has read what was there: it waits for more (poll), again and again, with nothing left to do. The
# first time may be the one that it was stopped in; hits are handed out once every CPU is known up to their time. That it
# sleeps is not enough: it also waits for the process that reads files for it.
slept() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$1/status"; }
waits_again() { # PID SLEPT
  [ "$(slept "$1")" -gt "$2" ] && grep -q poll "/proc/$1/wchan"
}
all_read() { # PID
  local i
  for i in 1 2 3 4 5 6; do
    wait_for waits_again "$1" "$(slept "$1")" || return 1
  done
}

# How often each thread of a process has gone to sleep by itself: "TID TIMES" a line.
naps() {
  local task
  for task in /proc/"$1"/task/*; do
    echo "${task##*/} $(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "$task/status" 2>/dev/null)"
  done
}
has_napped() { # PID BEFORE TIMES: each of its threads, but the first one, which may wait for the others all the time
  naps "$1" | awk -v pid="$1" -v times="$3" 'NR == FNR { before[$1] = $2; next }
    $1 != pid { n++; late += $2 - before[$1] < times } END { exit !n || late }' <(echo "$2") -
}

# Wait until each thread of a server has answered so many requests more: it sleeps after each.
each_answers() { # PID TIMES
  wait_for has_napped "$1" "$(naps "$1")" "$2"
}

# A server of so many threads has them all.
has_threads() { [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" -gt "$2" ]; }

# Background processes do not outlive the test, whatever happens.
kill_jobs() {
  local job
  for job in $(jobs -p); do kill -9 "$job" 2>/dev/null; done
  wait 2>/dev/null
}
trap kill_jobs EXIT

# Has a perf that was started an event open?
perf_holds() {
  readlink /proc/"$1"/fd/* | grep -q perf_event
}

need() {
  command -v "$1" >/dev/null 2>&1
}

# Stay on CPUs of which this kernel tells nearly all switches: on some virtual machines it leaves those from an idle CPU out,
# on one of several CPUs and all the time, in a buffer that says of nothing lost. One that others keep busy is not idle
# meanwhile, and shows nothing: it is looked at until it was, ten times as long if need be.
on_telling_cpus() {
  local dir=$TRACEFS/instances/tests_switches all cpus cpu i
  mkdir "$dir" || return
  all=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
  for i in {1..10}; do
    echo 1 >"$dir/events/sched/sched_switch/enable"
    for cpu in $all; do
      taskset -c "$cpu" bash -c 'for i in {1..20}; do read -rt 0.005 <> <(:); done'
    done
    echo 0 >"$dir/events/sched/sched_switch/enable"
    # CPU, and whether it is told of: 0 or 1; -: it was hardly ever idle
    cpus=$(sed -n 's/.*\[\([0-9]*\)\].* prev_pid=\([0-9]*\) .* next_pid=\([0-9]*\) .*/\1 \2 \3/p' "$dir/trace" |
      awk '$1 in now { idle[$1] += now[$1] == 0; bad[$1] += now[$1] != $2 }
        { all[$1]++; now[$1] = $3 }
        END { for (cpu in now) printf("%d %s\n", cpu, (bad[cpu] * 50 > all[cpu] ? 0 : idle[cpu] < 15 ? "-" : 1)) }')
    grep -q ' -' <<<"$cpus" || break
  done
  rmdir "$dir"
  grep -q ' 1$' <<<"$cpus" && cpus=$(grep ' 1$' <<<"$cpus")
  cpus=$(sed -n 's/ [-1]$//p' <<<"$cpus" | sort -n | paste -sd ,)
  comment "CPUs of which the switches are told: $cpus"
  [ -n "$cpus" ] && taskset -cp "$cpus" $$ >/dev/null
}
