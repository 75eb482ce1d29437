# A script under the shells there are: the same hits as stat on the same run, and every way out
# leaves tracefs as it was.
# in turn: it uses the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"

shells=()
for shell in dash "busybox sh" "bash --posix"; do
  if need "${shell%% *}"; then shells+=("$shell"); else skip "$shell" "it is not here"; fi
done
[ ${#shells[@]} -gt 0 ] || skip_all "no shell to run it"
first=${shells[0]}
# a background job ignores SIGINT, and a shell does not undo that
default="env --default-signal=INT,HUP,TERM,PIPE"
spec="usdt:$SERVER:myserver:*"
is_armed() { grep -q armed "$1"; } # the file is emptied before each start

"$NOPWATCH" script "$spec" >script.sh
"$NOPWATCH" script -d 1 "$spec" >short.sh
# Hits that must be there are waited for, and end the run, also on a machine that is busy otherwise.
some=2000

# beside stat on the same run
cat >same.py <<'P'
import json, sys
def rows(file):
    return [r for r in map(json.loads, open(file)) if "interval" not in r]
text, live = (rows(f) for f in sys.argv[1:])
bad = []
hits = [{r["probe"]: r["hits"] for r in side if r["type"] == "probe"} for side in (text, live)]
if hits[0] != hits[1]:
    bad.append(f"hits: {hits}")
spans = [{r["span"]: r["latency_ns"] for r in side if r["type"] == "span"} for side in (text, live)]
for name, ours in spans[0].items():
    theirs = spans[1][name]
    if ours["count"] != theirs["count"]:
        bad.append(f"{name}: {ours['count']} and {theirs['count']}")
    # The kernel stamps a hit once for each instance, and may be interrupted in between: the middle of
    # the distributions is what can be compared. Both ends of a span are cut to a microsecond.
    for key in ("min", "p50"):
        if abs(ours[key] - theirs[key]) > 2000 + 0.07 * theirs[key]:
            bad.append(f"{name} {key}: {ours[key]} and {theirs[key]}")
print("\n".join(bad))
sys.exit(bool(bad))
P
for shell in "${shells[@]}"; do
  "$NOPWATCH" stat -q -j "$spec" -o stat.json & stat=$!
  wait_for armed
  : >said
  $default $shell script.sh >text 2>said & script=$!
  wait_for is_armed said
  "$SERVER" -t 3 -n 400 -p 0 >/dev/null
  kill $script
  wait $script
  is "$shell: a signal ends it well" $? 0
  kill $stat
  wait $stat
  unchanged "$shell: nothing is left"
  "$NOPWATCH" stat -j --from text >text.json
  ok "$shell: the same hits and the same distributions, but for microseconds" python3 same.py text.json stat.json
  holds "$shell: nothing lost" text.json "loss() == 0 and span('myserver:request')['count'] == 1200"
  holds "$shell: the run has a beginning and an end" text.json \
    "last['elapsed_ns'] > 0 and last['reason'] == 'end of text'"
done

# the pipeline of the manual, with sh for ssh
"$SERVER" -t 2 -p 200 >/dev/null & server=$!
begun $server "$SERVER"
"$NOPWATCH" script -d 3 "$spec" | sh 2>said | "$NOPWATCH" stat -j --from - >out.json
is "script | sh | stat" "${PIPESTATUS[*]}" "0 0 0"
holds "measures" out.json "span('myserver:request')['count'] > 100 and loss() == 0"
unchanged "and leaves nothing"
"$NOPWATCH" script "$spec" | sh 2>said | "$NOPWATCH" stat -j -i 200ms -n 3 --from - >out.json
holds "reports come while the text does" out.json "max(p.get('interval', 0) for p in of('probe')) == 3 and last['reason'] == 'count'"
unchanged "a reader that goes away ends it"

# --by pid, -p
"$NOPWATCH" script -p $server "$spec" | sh 2>said | "$NOPWATCH" stat -j -n $some --by pid --from - >out.json
holds "-p and --by pid" out.json "{p['group'] for p in of('probe') if p['hits']} == {'$server'}"
"$SERVER" -p 1000 >/dev/null & short=$!
begun $short "$SERVER"
"$NOPWATCH" script -p $short "$spec" >ends.sh
: >said
$default $first ends.sh >text 2>said & script=$!
wait_for is_armed said
kill $short
wait $script
is "the end of the last -p ends it" $? 0
unchanged "nothing is left"

# every signal, in every shell; events of others survive
place=$("$NOPWATCH" list -j "$SERVER" parse__start | j /dev/stdin "hex(first['offset'])")
echo "p:foreign_$$/mine $SERVER:$place" >>"$TRACEFS/uprobe_events"
foreign=$(tracefs_state)
for signal in HUP INT TERM PIPE; do
  : >said
  $default $first script.sh >text 2>said & script=$!
  wait_for is_armed said
  kill -$signal $script
  wait $script
  is "SIG$signal ends it, and leaves what is not its own" "$? $(state_since "$foreign")" "0 $foreign"
done
# in the top-level buffer
: >said
NOPWATCH_TOP=1 $default $first script.sh >text 2>said & script=$!
wait_for is_armed said
more_hits 1000
kill $script
wait $script
is "the top-level buffer is as it was" "$? $(state_since "$foreign")" "0 $foreign"
"$NOPWATCH" stat -j --from text >out.json
holds "and has the hits" out.json "probe('myserver:request__start')['hits'] > 0"

# a living one is left alone
: >said
$first script.sh >text 2>said & script=$!
wait_for is_armed said
"$NOPWATCH" clean >said 2>&1
ok "clean leaves a living script alone" grep -q "nopwatch_sh.* $SERVER:" "$TRACEFS/uprobe_events"
more_hits 1000
kill $script
wait $script
"$NOPWATCH" stat -j --from text >out.json
holds "which counts on" out.json "probe('myserver:request__start')['hits'] > 0"

# what is hit while the script disarms is not counted
ok "its mark is in the text" grep -q 'tracing_mark_write: nopwatch stop' text
sed 's/^\( *server-.*\[00.\].* \)[0-9]*\.[0-9]*: \(request__done\)/\1999999.000000: \2/' text | grep 999999 | tail -n 1 >late
{ grep -v '^#nw \(stop\|lost\)' text; cat late; grep '^#nw \(stop\|lost\)' text; } >longer
"$NOPWATCH" stat -j --from longer >longer.json
is "and nothing behind it counts" "$(j longer.json "[{p['probe']: p['hits'] for p in of('probe')}, last['elapsed_ns']]")" \
  "$(j out.json "[{p['probe']: p['hits'] for p in of('probe')}, last['elapsed_ns']]")"
ok "where something is" test -s late

# a kernel that takes a filter and ignores it: the reader goes by what the script says
"$SERVER" -p 500 >/dev/null & other=$!
begun $other "$SERVER"
: >said
$default $first script.sh >all 2>said & script=$!
wait_for is_armed said
more_hits $some
kill $script
wait $script
{
  echo "#nw only $server"
  for task in /proc/$server/task/*; do echo "#nw task ${task##*/} $server ?"; done
  sed 's/^\(.*-[0-9]* *\)([ 0-9-]*) /\1/' all
} | awk '/^#nw (only|task)/ { extra = extra $0 "\n"; next } /^#nw start/ { printf "%s", extra } { print }' >ignored
"$NOPWATCH" stat -j --by pid --from ignored >out.json
holds "hits of others are not counted" out.json "{p['group'] for p in of('probe') if p['hits']} == {'$server'}"
kill $other
wait $other 2>/dev/null
echo "-:foreign_$$/mine" >>"$TRACEFS/uprobe_events"

# names and files
dir="a 'b' \"c\" \$d #e"
mkdir "$dir"
cp "$SERVER" "$dir/it's"
"$dir/it's" -t 2 -p 200 >/dev/null & odd=$!
for shell in "${shells[@]}"; do
  "$NOPWATCH" script -x "$dir/it's" 'myserver:*' >odd.sh
  $shell odd.sh 2>said | "$NOPWATCH" stat -j -n $some --from - >out.json
  holds "$shell: a path that needs quotes" out.json "probe('myserver:request__done')['hits'] > 100"
done
kill $odd
"$NOPWATCH" script --remote-path "$PWD/copy" -x "$SERVER" 'myserver:*' >copy.sh
said=$($first copy.sh 2>&1)
has "no file there" "$? $said" "^1 nopwatch: there is no file '.*/copy'"
cp "$SERVER" copy
printf x | dd of=copy bs=1 seek=20000 conv=notrunc status=none
printf '\n' >>copy
said=$($first copy.sh 2>&1)
has "another file there" "$? $said" '^1 nopwatch: .* is not the file that this script was made for: its size'
cp "$SERVER" copy
./copy -t 2 -p 200 >/dev/null & copy=$!
$first copy.sh 2>/dev/null | "$NOPWATCH" stat -j -n $some --from - >out.json
holds "--remote-path" out.json "probe('myserver:request__done')['hits'] > 100"
kill $copy

# two at once
: >said.one
: >said.two
$default $first script.sh >one 2>said.one & one=$!
$default $first script.sh >two 2>said.two & two=$!
wait_for is_armed said.one
wait_for is_armed said.two
more_hits $((2 * some))
kill $one $two
wait $one $two
"$NOPWATCH" stat -j --from one >one.json
"$NOPWATCH" stat -j --from two >two.json
holds "two at once both count" one.json "probe('myserver:request__done')['hits'] > 100"
holds "each of them" two.json "probe('myserver:request__done')['hits'] > 100"
kill $server
wait $server 2>/dev/null
"$NOPWATCH" script "usdt:$PROGRAMS/strings:strings:three(a:string,n,b:string,c:string)" >strings.sh
: >said
$default $first strings.sh 2>said >text & script=$!
wait_for is_armed said
"$PROGRAMS/strings" 2 10
kill $script
wait $script
"$NOPWATCH" trace -j --from text >trace.json
holds "several strings a hit are joined" trace.json \
  "sorted(e['args']['n'] for e in of('event')) == list(range(20)) and all(e['args'][k] == k + str(e['args']['n']) for e in of('event') for k in 'abc')"

# A kernel before 4.20 refuses arrays; every kernel one of 99 elements. Both ends of the span keep the frame that they pair by.
"$NOPWATCH" script "usdt:$SERVER:myserver:request__start(id, path:u8[4])" "usdt:$SERVER:myserver:request__done" |
  sed '/^  nw_event /s/u8\[4\]/u8[99]/' >refused.sh
is "both ends are to have a frame" "$(grep -c '^  nw_event .*frame=' refused.sh)" 2
: >said
$default $first refused.sh 2>said >text & script=$!
wait_for is_armed said
"$SERVER" -t 2 -n 120 -p 0 >/dev/null
kill $script
wait $script
has "what a kernel refuses is named" "$(cat said)" '^nopwatch: request__start is recorded without path: the kernel does not take that'
"$NOPWATCH" stat -j --from text >out.json
holds "and its span has all its lengths" out.json \
  "(lambda s: (s['latency_ns']['count'], s['unmatched_starts'], s['unmatched_ends']))(span('myserver:request')) == (240, 0, 0)"
"$NOPWATCH" trace -j --from text >trace.json
holds "the other arguments have their values" trace.json \
  "len({e['args']['id'] for e in of('event') if e['probe'] == 'myserver:request__start'}) > 100"

unchanged
finish
