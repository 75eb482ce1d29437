# Capabilities: which suffice for what, as docs/security.md says; and that those that are missing are named.
. "$(dirname "$0")/../lib/kernel.sh"

user=65534
RARE=$PWD/own/programs/rare
"$RARE" 100000000 1000 1 500 >/dev/null & target=$!
begun $target "$RARE"

# with CAPABILITIES COMMAND...: as a user who has these and no others
number() { # NAME
  case $1 in
  CAP_DAC_OVERRIDE) echo 1 ;; CAP_SYS_PTRACE) echo 19 ;; CAP_SYSLOG) echo 34 ;; CAP_PERFMON) echo 38 ;; CAP_CHECKPOINT_RESTORE) echo 40 ;;
  esac
}
with() {
  local names=$1 numbers='' name
  shift
  for name in $names; do numbers+=,$(number "$name"); done
  "$PROGRAMS/as_user" $user "${numbers#,}" "$@"
}
grep -q CapAmb /proc/self/status || skip_all "before Linux 4.3 capabilities cannot be handed over"

# Each row: the capabilities, which of them is named if it is missing, and a command that counts hits.
hits() { j out.json "sum(r['hits'] for r in of('probe'))"; }
counts() { # WHAT CAPABILITIES COMMAND...
  local what=$1 names=$2
  shift 2
  with "$names" "$NOPWATCH" "$@" >out.json 2>err
  is "$what: works with ${names:-none}" "$? $([ "$(hits)" -gt 0 ] && echo hits)" "0 hits"
}
named() { # WHAT CAPABILITIES MISSING COMMAND...
  local what=$1 names=$2 missing=$3
  shift 3
  has "$what: without $missing it is named" "$(with "$names" "$NOPWATCH" "$@" 2>&1; echo "status $?")" "$missing.*|^status 0$"
}
spec="usdt:$RARE:*:*"
ok "list needs none" eval "with '' '$NOPWATCH' list '$RARE' | grep -q rare"
counts "stat of everybody" CAP_DAC_OVERRIDE stat -j -d 0.5 "$spec"
printf '#!/bin/sh\nexec "%s" 20 1000 1 0 >/dev/null\n' "$RARE" >load && chmod 755 load
counts "stat of a command" CAP_DAC_OVERRIDE stat -j "$spec" -- ./load
counts "a tracepoint" CAP_DAC_OVERRIDE stat -j -d 0.5 tracepoint:sched:sched_switch
counts "stat -p of another user" 'CAP_DAC_OVERRIDE CAP_SYS_PTRACE' stat -j -d 0.5 -p $target "$spec"
counts "--stack" 'CAP_DAC_OVERRIDE CAP_SYS_PTRACE' stat -j --stack -d 0.5 -p $target "$spec"
holds "... has stacks" out.json "of('stack') and all(any(f.startswith('main') for f in s['frames']) for s in of('stack') if 'frames' in s)"
counts "--states" 'CAP_DAC_OVERRIDE CAP_SYS_PTRACE CAP_SYSLOG' stat -j --states -d 0.5 -p $target "$spec"
hasnt "... which knows the kernel's functions" "$(cat err)" "where threads sleep is not told"
with 'CAP_DAC_OVERRIDE CAP_SYS_PTRACE' "$NOPWATCH" stat -j --states -d 0.5 -p $target "$spec" >out.json 2>err
has "... and says without CAP_SYSLOG that it is not told" "$(cat err)" "where threads sleep is not told: /proc/kallsyms"
named "tracefs" CAP_SYS_PTRACE CAP_DAC_OVERRIDE stat -d 0.1 "$spec"
named "a process" CAP_DAC_OVERRIDE CAP_SYS_PTRACE stat -d 0.1 -p $target "$spec"

# kill -9, and the next command of the same user takes everything away
"$PROGRAMS/as_user" $user 1 "$NOPWATCH" stat "$spec" >/dev/null 2>&1 & victim=$!
wait_for armed
kill -9 $victim
wait $victim 2>/dev/null
with CAP_DAC_OVERRIDE "$NOPWATCH" clean >said 2>&1
is "clean takes away what a killed one has left" "$? $(session_probes 'nopwatch_[^ /]*' | wc -l)" "0 0"

# features names those that are missing, and for what
with CAP_DAC_OVERRIDE "$NOPWATCH" features >said
for name in CAP_SYS_PTRACE CAP_PERFMON CAP_CHECKPOINT_RESTORE CAP_SYSLOG; do
  has "features: $name is missing" "$(cat said)" "^$name is missing here \(.*\)\. Without it: "
done
hasnt "and those that are there are not" "$(cat said)" "^CAP_DAC_OVERRIDE is missing"
with CAP_DAC_OVERRIDE "$NOPWATCH" features -j >out.json
holds "features -j has them all" out.json "[r['name'] for r in of('right') if r['present']] == ['CAP_DAC_OVERRIDE'] and len(of('right')) == 5"
"$NOPWATCH" features >said
hasnt "root lacks none" "$(cat said)" "CAP_.* is missing"

# A result goes where the user may write, not where the capability lets it
touch own/root && chmod 600 own/root
with CAP_DAC_OVERRIDE "$NOPWATCH" stat -d 0.1 -o "$PWD/own/root" "$spec" >said 2>&1
has "a file of root's is not written" "$? $(cat said)" "^1 .*Permission denied"
with CAP_DAC_OVERRIDE "$NOPWATCH" stat -d 0.1 -o "$PWD/own/new" "$spec" >said 2>&1
has "nor is one made in a directory of root's" "$? $(cat said) $(ls own/new 2>&1)" "^1 .*Permission denied.*No such file"
# Two users at a time, each with a directory of its own in /tmp
for user in 65533 65534; do
  with CAP_DAC_OVERRIDE "$NOPWATCH" stat -j -d 2 "$spec" >$user.json 2>$user.err &
  runs+=($!)
done
two_journals() { [ "$(compgen -G '/tmp/nopwatch-6553[34]/[0-9]*_*' | wc -l)" = 2 ]; }
ok "two users have a journal each" wait_for two_journals
is "in directories of theirs alone" "$(stat -c '%n %u %a' /tmp/nopwatch-6553[34] | paste -sd ' ')" \
  "/tmp/nopwatch-65533 65533 700 /tmp/nopwatch-65534 65534 700"
for run in "${runs[@]}"; do wait "$run" || echo "$run ended with $?"; done >ended
is "both end well" "$(cat ended 65533.err 65534.err)" ""
for user in 65533 65534; do
  with CAP_DAC_OVERRIDE "$NOPWATCH" add -q "$spec" >said 2>&1
  is "add of user $user" "$? $(cat said)" "0 "
  has "whose events its status knows" "$(with CAP_DAC_OVERRIDE "$NOPWATCH" status -j)" '"owner":"nopwatch","home":"","enabled_in"'
  with CAP_DAC_OVERRIDE "$NOPWATCH" remove -q '*' >said 2>&1
  is "remove" "$? $(cat said)" "0 "
done
ok "nothing is left in /tmp" test ! -e /tmp/nopwatch-65533 -a ! -e /tmp/nopwatch-65534
unchanged
finish
