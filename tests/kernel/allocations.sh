# Allocations of commands that arm probes fail, one in each run, and system calls with ALL=1: the command ends with an error that
# says why, or with the right answer, and leaves nothing behind (tests/lib/faults). A choice of callers that no command
# before has tried; ALL=1: each of them.
# in turn: it adds events that stay
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/faults.sh
. "$TESTS_LIB/faults.sh"
# shellcheck disable=SC2034 # faults.sh reads them; the ring buffer says EAGAIN when there is nothing in it
errors=(EMFILE ENFILE EIO ENOMEM EINTR) live=1

# a program of its own, which hits each probe 20 times and says nothing
cp "$PROGRAMS/rare" rare
printf '#!/bin/sh\nexec ./rare 20 1000 1 0 >/dev/null\n' >load
chmod +x load
# every tenth takes 20 ms
printf '#!/bin/sh\nexec ./rare 20 10 20 0 >/dev/null\n' >slow
chmod +x slow
rare=./rare load=./load slow=./slow

try() { # WHAT OPTION... COMMAND...
  local what=$1
  shift
  fails_well "$what" --tracefs --most 4 --copy rare --copy load --copy slow --seen "$PWD/seen" "$@"
}
# The journal cannot be written: that is the error, and no refusal of the kernel's.
room() {
  fails_with "stat with no room in /run" --call ENOSPC --most 0 --tracefs --copy rare --copy load --facts "$NOPWATCH" stat -q -j "usdt:$rare:*" -- "$load"
}
# The first sessions after a boot find out what the kernel can do, and measure what a hit costs (hit_cost.c) until five
# measurements are good, which a busy machine hardly ever lets them be. All this is kept, so the callers of that work are
# not met again: here it is known when the others begin.
calls='0 0' # where the kernel makes none of probes
! "$NOPWATCH" features | grep -q '^nop10 *yes' || calls='700 700'
cat >cost <<COST
nopwatch 2 $(cat /proc/sys/kernel/random/boot_id)
costs $("$NOPWATCH" --version | sed -n '1s/nopwatch //p') $TRACEFS
$(printf 'kind %s\n' 'nop 700 700' "call $calls" {long_nop,push,endbr,usual,return,return_alone,event}' 700 700')
word 40000
times 5
end
COST
know() { install -m 600 cost /run/nopwatch/hit.cost; }
know
"$NOPWATCH" stat -q "usdt:$rare:*" -- "$load" 2>/dev/null
is "what a hit costs is not measured again" "$(cat /run/nopwatch/hit.cost)" "$(cat cost)"
[ "${COMMANDS:-}" ] || room
try "stat" --facts "$NOPWATCH" stat -q -j "usdt:$rare:*" -- "$load"
# what the kernel can do, and what a hit costs, is tried once a boot
first="rm -f /run/nopwatch/tried.features /run/nopwatch/hit.cost"
try "stat, the first of a boot" --alone --before "$first" --facts "$NOPWATCH" stat -q -j "usdt:$rare:*" -- "$load"
know
try "stat of a function" --facts "$NOPWATCH" stat -q -j "func:$rare:request" -- "$load"
try "stat --by" --facts "$NOPWATCH" stat -q -j --by comm "usdt:$rare:*" -- "$load"
# the reason is in "unread" of the line "loss"
try "stat --stack" --told --facts "$NOPWATCH" stat -q -j --stack "usdt:$rare:*" -- "$load"
# its lines have no room for a reason: a note says it
try "stat -f folded" --fallback 'rare:[a-z]+;.*\[(rare|cut off|libc\.so\.6|ld-linux[^];]*)\].* [0-9]+$' "$NOPWATCH" stat -f folded --stack "usdt:$rare:*" -- "$load"
try "stat --states" --facts "$NOPWATCH" stat -q -j --states "usdt:$rare:*" -- "$load"
try "top" --terminal "$NOPWATCH" top -i 50ms "usdt:$rare:*" -- "$load"
try "trace" --facts "$NOPWATCH" trace -q -j "usdt:$rare:*" -- "$load"
try "trace of a tracepoint" --facts "$NOPWATCH" trace -q -j tracepoint:sched:sched_process_exec -- "$load"
try "record" --facts --then "'$NOPWATCH' report -j a.dat" "$NOPWATCH" record -q -o a.dat "usdt:$rare:*" -- "$load"
try "record --until" --hits --facts --then "'$NOPWATCH' report -j a.dat" "$NOPWATCH" record -q --until 'request > 15ms' -o a.dat "usdt:$rare:*" -- "$slow"
"$rare" 100000000 1 1 2000 >/dev/null &
try "stat -p" --hits --facts "$NOPWATCH" stat -q -j -d 100ms "usdt:$PWD/rare:*" -p $!
try "why" --told --facts "$NOPWATCH" why -j -d 100ms "usdt:$PWD/rare:rare:step" -p $!
kill_jobs
# the kernel's symbols are read by pages
truncate -s 8M calls
FAULT=call:0 FAULT_STATE=$PWD/calls LD_PRELOAD=$FAULTS_LIB "$NOPWATCH" why -j -d 10ms "usdt:$rare:rare:step" >out
calls=$(od -An -tu8 -N8 calls)
ok "the calls are counted" test "$calls" -gt 0
ok "no line is a call" test "$calls" -lt "$(($(wc -l </proc/kallsyms) / 4))"
try "features" --facts "$NOPWATCH" features -j
"$NOPWATCH" add -q --group allocations "usdt:$PWD/rare:*"
try "status" --facts "$NOPWATCH" status -j 'allocations:*'
"$NOPWATCH" remove -q 'allocations:*'
# a session whose process was killed is cleaned, or it is said why not
dead="'$NOPWATCH' stat -q 'usdt:$rare:*' -- sh -c 'kill -9 \$PPID'"
try "clean" --alone --before "$dead" --then "'$NOPWATCH' clean | grep -o '^[0-9]* dead'" "$NOPWATCH" clean -q
try "add --dry-run" "$NOPWATCH" add -q --dry-run "usdt:$PWD/rare:*"
# a recipe is a command of a file
mkdir -p recipes/nopwatch/recipes
printf '# how long requests take\nstat usdt:./rare:*\n' >recipes/nopwatch/recipes/requests
export XDG_CONFIG_HOME=$PWD/recipes
try "recipe" --facts "$NOPWATCH" recipe requests -q -j -- "$load"
# The answer is which events there are, and which are enabled. Then they are removed.
cat >events <<SH
#!/bin/sh
grep -o ":allocations/[^ ]*" "$TRACEFS/uprobe_events" | sort
cat "$TRACEFS"/events/allocations/*/enable 2>/dev/null
"$NOPWATCH" remove -q 'allocations:*' 2>&1
SH
chmod +x events
add="'$NOPWATCH' remove -q 'allocations:*'; '$NOPWATCH' add -q --group allocations 'usdt:$PWD/rare:*'"
try "add" --alone --then "$PWD/events" "$NOPWATCH" add -q --group allocations "usdt:$rare:*"
try "add --enable" --alone --then "$PWD/events" "$NOPWATCH" add -q --enable --group allocations "usdt:$rare:*"
try "enable" --alone --before "$add" --then "$PWD/events" "$NOPWATCH" enable -q 'allocations:*'
try "disable" --alone --before "$add; '$NOPWATCH' enable -q 'allocations:*'" --then "$PWD/events" "$NOPWATCH" disable -q 'allocations:*'
try "remove" --alone --before "$add" --then "$PWD/events" "$NOPWATCH" remove -q 'allocations:*'
./events >/dev/null
unchanged
finish
