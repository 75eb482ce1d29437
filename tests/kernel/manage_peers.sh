# perf, trace-cmd and the shell use what add has made; sessions of our own and bpftrace stand on the
# same probes at the same time; all count the same. (bpftrace cannot use the events themselves: the
# kernel lets no BPF program of its tracepoint type onto a uprobe event.)
# alone: it counts all events, and so do perf and trace-cmd
. "$(dirname "$0")/../lib/truth.sh"

counter=$PROGRAMS/counter
"$NOPWATCH" add -q "usdt:$counter:counter:step__begin(i, text:string)" "usdt:$counter:counter:step__end" \
  "usdt:$counter:counter:inner__entry"

if need perf; then
  perf record -q -o perf.data -e sdt_counter:step__begin -e sdt_counter:inner__entry "$counter" 500 >/dev/null 2>&1
  perf script -i perf.data >text 2>/dev/null
  is "perf record counts" "$(grep -c 'sdt_counter:step__begin: ' text) $(grep -c 'sdt_counter:inner__entry: ' text)" "500 1500"
  has "and reads the arguments" "$(cat text)" 'sdt_counter:step__begin: .*i=499 text=0x[0-9a-f]* text_'
  is "perf stat counts" "$(perf stat -x , -e sdt_counter:step__end "$counter" 300 2>&1 >/dev/null | cut -d , -f 1)" 300

  # while perf has it, nobody else can enable it, and it cannot be removed
  perf record -q -o perf.data -e sdt_counter:step__begin -a sleep 300 2>/dev/null & perf=$!
  wait_for perf_holds $perf
  said=$("$NOPWATCH" enable sdt_counter:step__end sdt_counter:step__begin 2>&1)
  has "enable what perf has" "$? $said" '^1 nopwatch: cannot enable sdt_counter:step__begin: Interrupted system call \(perf may be using the event\)$'
  is "the other is not enabled either" "$(cat "$TRACEFS/set_event")" ""
  before=$(sort "$TRACEFS/uprobe_events")
  said=$("$NOPWATCH" remove sdt_counter 2>&1)
  has "remove what perf has" "$? $said" '^1 nopwatch: cannot remove sdt_counter:step__begin: perf or another tracer is using it$'
  is "the others are still there" "$(sort "$TRACEFS/uprobe_events")" "$before"
  kill -INT $perf
  wait $perf
else
  skip "perf consumes our events" "perf is not installed"
fi

if need trace-cmd; then
  is "trace-cmd lists them" "$(trace-cmd list -e sdt_counter | sort | tr '\n' ' ')" \
    "sdt_counter:inner__entry sdt_counter:step__begin sdt_counter:step__end "
else
  skip "trace-cmd lists them" "trace-cmd is not installed"
fi
# extracted FILE N: trace-cmd takes what N steps of the program left in an instance, and reads it. (Its "record" and "start" insist on
# switching the function tracer's own switch, which not every machine lets them do; "extract" switches recording off everywhere.)
extracted() {
  local where was
  was=$(cat "$TRACEFS/tracing_on")
  "$NOPWATCH" enable -q --instance nwtest 'sdt_counter:step__*' && "$counter" "$2" >/dev/null &&
    trace-cmd extract -B nwtest -o "$1" >/dev/null 2>&1
  for where in "$TRACEFS" "$TRACEFS/instances/nwtest"; do
    echo "$was" >"$where/tracing_on"
  done
  "$NOPWATCH" disable -q --instance nwtest 'sdt_counter:step__*'
  trace-cmd report -i "$1" 2>/dev/null
}
if need trace-cmd; then
  extracted trace.dat 400 >text
  is "trace-cmd counts" "$(grep -c ' step__begin: ' text) $(grep -c ' step__end: ' text)" "400 400"
else
  skip "trace-cmd counts" "trace-cmd is not installed"
fi

# all at once: the shell in an instance, two sessions, bpftrace on the events and on the probes
"$NOPWATCH" enable -q --instance nwtest 'sdt_counter:step__*'
if need bpftrace; then
  bpftrace_start -e "usdt:$counter:counter:step__begin { @usdt = count(); }
    usdt:$counter:counter:inner__entry { @inner = count(); }"
fi
"$NOPWATCH" stat -j "usdt:$counter:counter:*" -o one.json & one=$!
wait_for armed
"$NOPWATCH" trace -j "usdt:$counter:counter:step__begin" -o two.json & two=$!
wait_for armed 2
"$counter" 1000 >/dev/null
kill -INT $one $two
wait $one $two
is "the instance" "$(grep -c ' step__begin: ' "$TRACEFS/instances/nwtest/trace") $(grep -c ' step__end: ' "$TRACEFS/instances/nwtest/trace")" "1000 1000"
holds "a session that sums up" one.json \
  "[probe('counter:' + n)['hits'] for n in ('step__begin', 'step__end', 'inner__entry')] == [1000, 1000, 3000]"
holds "a session that lists" two.json "len(of('event')) == 1000 and of('loss')[0]['events'] == 0"
if need bpftrace; then
  bpftrace_end
  is "bpftrace, on the same probes" "$(bpftrace_count @usdt) $(bpftrace_count @inner)" "1000 3000"
else
  skip "bpftrace beside them" "bpftrace is not installed"
fi
is "what stays is still there" "$(grep -c sdt_counter "$TRACEFS/uprobe_events")" 3
has "clean leaves it alone, and says so" "$("$NOPWATCH" clean)" '^3 events made by `nopwatch add` stay'
is "and does" "$(grep -c sdt_counter "$TRACEFS/uprobe_events")" 3

"$NOPWATCH" remove -q '*'

# others show strings of the kernel's own type as text; the program's are of some ten bytes
said=$("$NOPWATCH" add -q --kernel-strings --string-size 64 "usdt:$counter:counter:*" 2>&1)
has "strings of the kernel's have no size" "$? $said" '^2 nopwatch: --kernel-strings have no size'
has "the risk is said" "$("$NOPWATCH" add --kernel-strings "usdt:$counter:counter:step__begin(i, text:string)" 2>&1)" \
  '^nopwatch: a string of some 4 KiB .* is lost'
if need perf; then
  perf record -q -o perf.data -e sdt_counter:step__begin "$counter" 500 >/dev/null 2>&1
  has "perf shows text" "$(perf script -i perf.data 2>/dev/null)" 'sdt_counter:step__begin: .*i=499 text="step "499"'
else
  skip "perf shows text" "perf is not installed"
fi
if need trace-cmd; then
  has "trace-cmd shows text" "$(extracted trace.dat 400)" ' step__begin: .*i=399 text="step "399"'
else
  skip "trace-cmd shows text" "trace-cmd is not installed"
fi
"$NOPWATCH" enable -q sdt_counter:step__begin
"$counter" 10 >/dev/null
cat "$TRACEFS/trace" >text
has "and so does a shell" "$(cat text)" ' step__begin: .*i=9 text="step "9"'
"$NOPWATCH" remove -q '*'
: >"$TRACEFS/trace"
"$NOPWATCH" trace -j --from text >out.json
holds "and nopwatch reads the kernel's text of them" out.json "of('event')[9]['args'] == {'i': 9, 'text': 'step \"9\"\\t\\\\'}"
unchanged
finish
