# shellcheck shell=bash
# For tests of the real kernel: needs root and tracefs, and checks that both are left as found.
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
TRACEFS=$(awk '$3 == "tracefs" { print $2; exit }' /proc/self/mounts)
[ -n "$TRACEFS" ] || skip_all "tracefs is not mounted"
[ -w "$TRACEFS/uprobe_events" ] || skip_all "the kernel has no uprobe_events"

# Its own /run/nopwatch for each script: a dead session is taken away by the next command that finds its journal, and only the
# script's own commands do. A script that sets OWN_RUN=no has the machine's.
# One that runs in turn (tests/run) also waits for those of another run of the tests on this machine.
if [ -z "${OWN_RUN:-}" ]; then
  turn=()
  ! grep -q '^# in turn: ' "$0" || turn=(flock -o /run/nopwatch-tests.turn)
  OWN_RUN=yes exec "${turn[@]}" "$TESTS_LIB/own_run" "$TEST_DIR.run" "$TEST_DIR.machine" bash "$0" "$@"
fi

cd "$TEST_DIR" || exit 1
# What a hit costs is known already (tests/run); a script that is run by itself measures it.
[ "$OWN_RUN" != yes ] || [ -z "${HIT_COST:-}" ] || install -m 600 "$HIT_COST" /run/nopwatch/hit.cost

# Files of its own for each script: what runs beside it may run the same programs, whose hits are counted, too; nopwatch arms probes
# in itself to learn what a hit costs. And tests kill tracers: one that is killed while it disables leaves something of its places
# in the kernel as long as the file is there ("leaking uprobe").
# shellcheck disable=SC2034 # for the tests
BUILT=$(dirname "$(readlink -f "$NOPWATCH")")
mkdir own && cp "$SERVER" own/server && cp -r "$PROGRAMS" own/programs && cp "$NOPWATCH" own/nopwatch || exit 1
SERVER=$PWD/own/server PROGRAMS=$PWD/own/programs NOPWATCH=$PWD/own/nopwatch

# Is process $1 this test or started by it? What runs in a terminal of tmux's has another parent, but our environment.
# It is asked of every session again and again, so it starts no program.
is_ours() {
  local pid=$1 line variables
  {
    mapfile -d '' -t variables <"/proc/$pid/environ"
    [[ " ${variables[*]} " != *" TEST_DIR=$TEST_DIR "* ]] || return 0
    while [ "${pid:-0}" -gt 1 ]; do
      [ "$pid" != $$ ] || return 0
      read -r line <"/proc/$pid/stat" || return 1 # PID (NAME) STATE PARENT ...
      line=${line##*) } line=${line#* } pid=${line%% *}
    done
  } 2>/dev/null
  return 1
}

# Whose is the session of that name? One of a process that lives and is not ours is somebody's who measures on this machine
# meanwhile. One whose journal is in our own /run/nopwatch is ours, and so is one whose process has ended if it names files of ours.
# A session's name is PID_NUMBER, and a script's shHASH_PID_NUMBER.
is_others() {
  local pid=${1#sh*_}
  pid=${pid%%_*}
  [ -d "/proc/$pid" ] && ! is_ours "$pid"
}
files_of() { # of a session
  { cat "/run/nopwatch/$1"; grep -F "nopwatch_$1/" "$TRACEFS/uprobe_events"; } 2>/dev/null
}
is_our_session() {
  local pid=${1#sh*_}
  { [ "$OWN_RUN" != yes ] || [ ! -e "/run/nopwatch/$1" ]; } || return 0
  pid=${pid%%_*}
  if [ -d "/proc/$pid" ]; then is_ours "$pid"; else files_of "$1" | grep -qF "$TEST_DIR/"; fi
}

# our_instances [FILE]: those of sessions of ours, or such a file (a pattern) of each that has it.
our_instances() {
  local dir
  for dir in "$TRACEFS"/instances/nopwatch_*; do
    [ ! -d "$dir" ] || ! is_our_session "${dir##*/nopwatch_}" || compgen -G "$dir${1:+/$1}"
  done
}
of_instances() { # FILE: what they say
  local file
  our_instances "$1" | while read -r file; do cat "$file" 2>/dev/null; done
}

# The journals of other tests, and of who else measures on this machine. (tried.sh has a /run of its own.)
others_journals() {
  local dir
  for dir in "$TEST_DIR.machine" "${TEST_DIR%/nopwatch-tests.*}"/nopwatch-tests.*/*/*/dir{.run,/run/nopwatch}; do
    [[ $dir == "$TEST_DIR.run" || $dir == "$TEST_DIR"/* ]] || names_in "$dir"
  done
}

# names_in DIRECTORY [NAME...]: of all that is there but these, a line each
names_in() {
  local file
  for file in "$1"/* "$1"/.[!.]*; do
    [ ! -e "$file" ] || [[ " ${*:2} " == *" ${file##*/} "* ]] || printf '%s\n' "${file##*/}"
  done
}

# What other tests have in tracefs: events that name files in their directories (tests/run), and instances that are named after
# their process (tests_..._PID). Lines of uprobe_events, and names.
tests_dir='/nopwatch-tests[.][^/ ]+/[^/ ]+/[^/ ]+/dir/'
others_things() {
  local name pid
  awk -v tests="$tests_dir" -v own="$TEST_DIR/" '$0 ~ tests && !index($0, own)' "$TRACEFS/uprobe_events"
  for name in "$TRACEFS"/instances/tests_*_*; do
    name=${name##*/} pid=${name##*_}
    [ "$pid" != $$ ] && [ -d "/proc/$pid" ] && printf '%s\n' "$name"
  done
}

# What sessions, and who adds events, have in tracefs and beside it.
what_is_made() {
  cat "$TRACEFS/uprobe_events" "$TRACEFS/synthetic_events" 2>/dev/null
  names_in "$TRACEFS/instances"
  names_in /run/nopwatch hit.cost kept.events # hit.cost is kept until the next boot
}

# What there is once, a line each.
what_is_set() {
  local file lines kept=no
  [ ! -e /run/nopwatch/kept.events ] || kept=yes
  echo "setting kept.events $kept"
  for file in events/enable tracing_on current_tracer trace_clock set_event_pid; do
    lines=()
    [ ! -e "$TRACEFS/$file" ] || mapfile -t lines <"$TRACEFS/$file"
    echo "setting $file ${lines[*]}"
  done
  [ ! -r /sys/kernel/rcu_expedited ] || echo "setting rcu_expedited $(</sys/kernel/rcu_expedited)"
}

# The sessions that are named.
session_names() { grep -oE '(sh[0-9]+_)?[0-9]+_[0-9a-f]{6}\b' | sort -u; }

# Whose is a session: ours, others', or nobody's, since its process has ended, nobody has its journal, and it names no file of a test?
owner() { # NAME JOURNALS
  if is_our_session "$1"; then
    echo ours
  elif is_others "$1" || [[ $'\n'$2$'\n' == *$'\n'$1$'\n'* ]] || [[ $sessions_before == *" $1 "* ]] || files_of "$1" | grep -qE "$tests_dir"; then
    echo others
  else
    echo nobodys
  fi
}

# What a session could leave behind, and what of others it could disturb. What other sessions and tests have is left out, and so are
# settings while they change them: whose events stay (add), and sessions without an instance. While there are others, what cannot be
# told to be ours is theirs: events of files elsewhere, instances, sessions that are nobody's. Else the last are told if they are there
# for ten looks: the next command of anybody takes them away.
tracefs_state() {
  local things names state journals i name line busy stuck='' nobodys alone=yes
  for i in {1..10}; do
    things=$(others_things)
    journals=$(others_journals)
    state=$(what_is_made; what_is_set)
    things+=$'\n'$(others_things)
    journals+=$'\n'$(others_journals)
    things=${things#$'\n'} things=${things%$'\n'}
    names='' nobodys='' busy=
    while IFS= read -r line; do
      case $line in [pr]:nopwatch_*) ;; [pr]:*) busy=yes ;; esac
    done <<<"$things"
    for name in $(session_names <<<"$state$journals"); do
      case $(owner "$name" "$journals") in
      ours) continue ;;
      nobodys) nobodys+=$name$'\n' ;;
      others)
        alone=
        # one that is at work changes settings, also if it was here before us; a dead one does not
        [ -d "$TRACEFS/instances/nopwatch_$name" ] || { [[ $sessions_before == *" $name "* ]] && ! is_others "$name"; } || busy=yes
        ;;
      esac
      names+=$name$'\n'
    done
    [ -z "$things" ] || alone=
    [ "$i" = 1 ] || [ -z "$nobodys" ] || nobodys=$(grep -xF "${stuck:-/none/}" <<<"$nobodys")
    stuck=${nobodys%$'\n'}
    { [ "$busy" ] && [ "$i" -lt 3 ]; } || [[ $state == *'rcu_expedited 28279' ]] || { [ "$alone" ] && [ "$stuck" ]; } || break
    sleep 0.2
  done
  [ -z "$busy" ] || state=$(grep -v '^setting ' <<<"$state")
  # sessions of others switch it on while they disarm (NW_EXPEDITED)
  [ "$alone" ] || state=${state/%rcu_expedited 28279/rcu_expedited 0}
  [ -z "$alone" ] || [ -z "$stuck" ] || names=$(grep -vxF "$stuck" <<<"$names")
  names=$things${names:+$'\n'${names%$'\n'}} names=${names#$'\n'}
  grep -vF -- "${names:-/none/}" <<<"$state" | awk -v alone="$alone" -v dir="$TEST_DIR/" -v own="_$$" '
    BEGIN { if (alone) print "alone" }
    /^setting / || /nopwatch_/ || /^(gate\.)?[0-9]+_/ || index($0, dir) || substr($0, length($0) - length(own) + 1) == own { print; next }
    alone && NF { print "other " $0 }'
}

# A setting that others had changed, then or now, is not compared, nor what is not ours unless we were alone both times.
comparable() { # STATE OTHER
  awk 'NR == FNR { there[/^setting / ? $2 : $1] = 1; next }
    /^alone$/ || /^setting / && !($2 in there) || /^other / && !("alone" in there) { next } { print }' <(echo "$2") <(echo "$1")
}

# state_since STATE: what it is now; if nothing differs that can be compared, that state.
state_since() {
  local now
  now=$(tracefs_state)
  [ "$(comparable "$now" "$1")" != "$(comparable "$1" "$now")" ] || now=$1
  printf '%s\n' "$now"
}

# the sessions that were there before we began, dead or alive
sessions_before=" $({ what_is_made; others_journals; } | session_names | xargs) "
state_before=$(tracefs_state)

unchanged() {
  is "${1:-tracefs and /run/nopwatch are as they were}" "$(state_since "$state_before")" "$state_before"
}

# pause SECONDS: without a program, as nobody writes into that pipe
never=$TEST_DIR.never
mkfifo "$never" || exit 1
pause() { read -rt "$1" <>"$never"; }

# Wait until a command succeeds, at most a minute (more on a busy machine). The first looks come soon.
wait_for() {
  local i
  for ((i = 0; i < 620; i++)); do
    "$@" >/dev/null 2>&1 && return 0
    if [ $i -lt 20 ]; then pause 0.03; else pause 0.1; fi
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
  local others events
  find_events
  awk -v group=":$1/" -v others="${others[*]}" "$not_theirs"'
    $0 ~ group && is_ours() { print; found = 1 } END { exit !found }' <<<"$events"
}
# The events that there are, into $events, and into $others the sessions of somebody else that they belong to. The names are those of the
# events: a session has some before it has an instance, and some when it has none any more.
find_events() {
  local line name last=/
  others=() events=$(<"$TRACEFS/uprobe_events")
  while IFS= read -r line; do
    [[ $line == *:nopwatch_* && $line != *":nopwatch_$last/"* ]] || continue
    name=${line#*:nopwatch_} name=${name%%/*} last=$name
    is_our_session "$name" || others+=("$name")
  done <<<"$events"
}
# shellcheck disable=SC2016 # awk's
not_theirs='BEGIN { count = split(others, other, " ") }
  function is_ours(i) {
    for (i = 1; i <= count; i++) if (index($0, other[i])) return 0
    return !/ \/proc\/[0-9]*\/exe:/
  }'

# armed [N]: is a session of ours armed, are N? Its instance records from its birth, and what the kernel tells of threads is
# enabled before the first probe is: so all events of its own have to be, unless it has none but the kernel's.
declare -A looks_without_probes
armed() {
  local dir group enabled on count=0
  for dir in "$TRACEFS"/instances/nopwatch_*/; do
    group=${dir%/} group=${group##*/}
    is_our_session "${group#nopwatch_}" || continue
    if [ -d "$dir/events/$group" ]; then
      enabled='' && read -r enabled <"$dir/events/$group/enable"
      { [ "$enabled" = 1 ] && session_probes "$group" >/dev/null; } || continue
    else
      # it may get its probes yet: so it is asked for more than a second
      enabled='' && read -r enabled <"$dir/set_event"
      { [ -n "$enabled" ] && [ $((looks_without_probes[$group]++)) -ge 25 ]; } || continue
    fi
    on='' && read -r on <"$dir/tracing_on"
    [ "$on" = 1 ] && count=$((count + 1))
  done 2>/dev/null
  [ "$count" -ge "${1:-1}" ]
}

# How often sessions of ours were hit so far, as the kernel counts it, in whatever process. A test that needs hits waits
# for them, and not for a time in which a busy machine may have none.
session_hits() {
  local others events
  find_events
  awk -v others="${others[*]}" "$not_theirs"'
    NR == FNR { if (/:nopwatch_[^ \/]*\// && is_ours()) { sub(/.*\//, "", $1); ours[$1] = 1 } next }
    $2 in ours { sum += $3 } END { print sum + 0 }' <(echo "$events") "$TRACEFS/uprobe_profile"
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
slept() { # PID: of a process, or PID/task/TID
  local lines line
  mapfile -t lines <"/proc/$1/status" # in one piece, whose numbers fit together
  for line in "${lines[@]}"; do
    [[ $line != voluntary_ctxt_switches:* ]] || echo "${line##*[!0-9]}"
  done
}
waits_again() { # PID SLEPT
  local where=
  [ "$(slept "$1")" -gt "$2" ] && { read -r where <"/proc/$1/wchan"; [[ $where == *poll* ]]; } # a line without an end
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
    echo "${task##*/} $(slept "${task#/proc/}" 2>/dev/null)"
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
has_threads() {
  local tasks=("/proc/$1/task"/*)
  [ ${#tasks[@]} -gt "$2" ]
}

# Background processes do not outlive the test, nor does a session of them whose journal goes with its directory, whatever happens.
kill_jobs() {
  local job
  for job in $(jobs -p); do kill -9 "$job" 2>/dev/null; done
  wait 2>/dev/null
  [ "$OWN_RUN" != yes ] || "$NOPWATCH" clean -q >/dev/null 2>&1
}
trap kill_jobs EXIT

# Has a perf that was started an event open?
perf_holds() {
  readlink /proc/"$1"/fd/* | grep -q perf_event
}

need() {
  command -v "$1" >/dev/null 2>&1
}

# no_32_bits: why no 32-bit program can be built and run here; nothing if one can
no_32_bits() {
  if ! need i686-linux-gnu-gcc; then
    echo "i686-linux-gnu-gcc is not installed"
  elif ! { i686-linux-gnu-gcc -static -x c -o "$TEST_DIR.32" - <<<'int main(void) { return 0; }' && "$TEST_DIR.32"; } 2>/dev/null; then
    echo "this kernel runs no 32-bit programs"
  fi
  rm -f "$TEST_DIR.32"
}

# The CPUs of this shell, one a line.
own_cpus() {
  taskset -cp $$ | sed 's/.*: //' | tr , '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done
}

# while_busy CPUS COMMAND...: run it while these CPUs (a list of words) have always something to do, which gives way to all others. Some kernels
# (6.18 on a virtual machine, with plain `cat trace`, too) do not record each switch from idle.
while_busy() {
  local cpu loops=() status
  for cpu in $1; do
    taskset -c "$cpu" nice -n 19 sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & loops+=($!)
  done
  shift
  "$@"
  status=$?
  kill "${loops[@]}"
  wait "${loops[@]}" 2>/dev/null
  return $status
}

# measured CONDITION COMMAND...: do it, and again, ten times at most, until the condition, a command, says that it can be judged: on a
# busy machine, and with kernels that leave switches out, too little may have been recorded. What is judged then has to be right.
measured() {
  local i condition=$1
  shift
  for i in {1..10}; do
    "$@"
    $condition && return
  done
  comment "ten times it was not so: $condition"
}

# Stay on CPUs of which this kernel tells nearly all switches: on some virtual machines it leaves those from an idle CPU out,
# on one of several CPUs and all the time, in a buffer that says of nothing lost. One that others keep busy is not idle
# meanwhile, and shows nothing: it is looked at until it was, ten times as long if need be.
on_telling_cpus() {
  local dir=$TRACEFS/instances/tests_switches_$$ all cpus cpu i
  mkdir "$dir" || return
  all=$(own_cpus)
  echo 'prev_pid==0 || next_pid==0' >"$dir/events/sched/sched_switch/filter"
  for i in {1..10}; do
    echo 1 >"$dir/events/sched/sched_switch/enable"
    for cpu in $all; do
      taskset -c "$cpu" bash -c 'for i in {1..20}; do read -rt 0.005 <> <(:); done'
    done
    echo 0 >"$dir/events/sched/sched_switch/enable"
    # CPU, and whether it is told of: 0 or 1; -: it was hardly ever idle
    cpus=$(sed -n 's/.*\[\([0-9]*\)\].* prev_pid=\([0-9]*\) .* next_pid=\([0-9]*\) .*/\1 \2 \3/p' "$dir/trace" |
      awk -v cpus="${all//$'\n'/ }" '{ cpu = $1 + 0 }
        cpu in now { idle[cpu] += now[cpu]; bad[cpu] += now[cpu] != ($2 == 0) }
        { all[cpu]++; now[cpu] = $3 == 0 }
        END { n = split(cpus, cpu_of, " "); for (i = 1; i <= n; i++) { cpu = cpu_of[i]
          print cpu, (bad[cpu] * 50 > all[cpu] ? 0 : idle[cpu] < 15 ? "-" : 1) } }')
    grep -q ' -' <<<"$cpus" || break
  done
  rmdir "$dir"
  grep -q ' 1$' <<<"$cpus" && cpus=$(grep ' 1$' <<<"$cpus")
  cpus=$(sed -n 's/ [-1]$//p' <<<"$cpus" | sort -n | paste -sd ,)
  comment "CPUs of which the switches are told: $cpus"
  [ -n "$cpus" ] && taskset -cp "$cpus" $$ >/dev/null
}
