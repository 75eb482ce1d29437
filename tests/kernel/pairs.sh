# Sites with a nop of ten bytes behind their nop: armed at the second one where the kernel turns that into a call, at the first elsewhere.
# How a place is armed is read from memory. tests/vm/guest_pairs has the same for Linux 7.
. "$(dirname "$0")/../lib/kernel.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "written for x86_64"
"$NOPWATCH" features >features
form=emulated distance=0
if grep -q '^nop10 *yes' features; then form=optimised distance=1; fi

"$PROGRAMS/pairs" 1 1 again >said &
pid=$!
until [ -s said ]; do sleep 0.05; done
is "the nops are named" "$("$NOPWATCH" list -v "$PROGRAMS/pairs" | grep -o 'nop.*  in leaf_[a-z]*' | sort | tr '\n' ';')" \
  "nop  in leaf_five;nop,nop10  in leaf_ten;"
hasnt "nothing is armed" "$("$NOPWATCH" list -v -p $pid)" "armed:"

rm -f out.json
"$NOPWATCH" trace -j -p $pid -o out.json 'pairs:ten(round,deepest,global)' 2>err &
tracer=$!
until [ -s out.json ]; do sleep 0.05; done
kill -USR1 $pid
until [ "$(wc -l <said)" = 2 ]; do sleep 0.05; done
"$NOPWATCH" status -j >status.json
"$NOPWATCH" status -v >status
"$NOPWATCH" list -v -p $pid >list
"$NOPWATCH" list -j -v -p $pid >list.json
kill -INT $tracer
wait $tracer
kill -USR1 $pid
until [ "$(wc -l <said)" = 3 ]; do sleep 0.05; done

holds "its arguments are those of the program" out.json "[e['args'] for e in of('event')] == [{'round': 1, 'deepest': -15, 'global': -7}]"
has "list -v: how it is armed" "$(cat list)" "nop,nop10  in leaf_ten.*  armed: 1 $form\$"
holds "and in JSON" list.json "[s['armed_as'] for s in of('site') if s['name'] == 'ten'] == [{'trapped': 0, 'emulated': 0, 'optimised': 0} | {'$form': 1}]"
holds "a site that is not armed has nothing of it" list.json "['armed_as' in s for s in of('site') if s['name'] == 'five'] == [False]"
has "status -v, too" "$(cat status)" "^  armed: 1 $form\$"
holds "and status -j" status.json \
  "[(s['armed_as']['$form'], p['offset']) for s in of('status') for p in s['places'] if p['path'].endswith('/pairs')] == \
    [(1, $(j list.json "[s['offset'] for s in of('site') if s['name'] == 'ten'][0] + $distance"))]"
is "nothing of the program has changed, before, meanwhile and afterwards" "$(grep -c ' bad 0 .* child 0 ' said)" 3
is "the nop is back" "$(tail -n 1 said | grep -o '90662e0f1f84..........$' | cut -c 1-12)" 90662e0f1f84

# of a function: its first instruction is no nop
rm -f out.json
"$NOPWATCH" stat -j -p $pid "uprobe:$PROGRAMS/pairs:leaf_ten" -o out.json 2>err &
tracer=$!
until grep -qs attached out.json; do sleep 0.05; done
"$NOPWATCH" status -v >status
has "another instruction is trapped" "$(cat status)" "^  armed: 1 trapped\$"
kill -INT $tracer
wait $tracer
while kill -USR1 $pid 2>/dev/null; do sleep 0.1; done &
"$NOPWATCH" why -j -d 1 -p $pid pairs:ten >why.json
holds "why: how it is armed" why.json "[c['saw'] for c in of('check') if c['name'] == 'armed'] == ['the breakpoint is in memory at 1 of 1 places: 1 $form']"
kill $pid
wait $pid 2>/dev/null
NOPWATCH_FEATURES=-nop10 "$NOPWATCH" stat --dry-run -d 1 "usdt:$PROGRAMS/pairs:pairs:ten" >dry
has "without the feature it is the first nop" "$(cat dry)" "pairs:0x$(printf '%x' "$(j list.json "[s['offset'] for s in of('site') if s['name'] == 'ten'][0]")")[^0-9a-f]"
finish
