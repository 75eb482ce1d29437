# --from reads trace text: files and pipes, with and without our header, recordings out of a pipe.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

# line COMM-TID CPU TIME EVENT
line() { printf '%16s-%-7d [%03d] ..... %12s: %s\n' "$@"; }
{
  echo "# tracer: nop"
  line app 77 0 5.000001 'query__start: (0x401136) id=1 sql="SELECT 1"'
  line 'my app' 78 1 5.000002 'query__start: (0x401136) id=2 sql="SELECT
  2"'
  line app 77 0 5.000101 'query__done: (0x401146) id=1'
  line 'my app' 78 1 5.000302 'query__done: (0x401146) id=2'
  echo "nonsense"
  line app 77 0 5.000500 'sched_wakeup: comm=x y pid=3'
} >plain.txt

for from in plain.txt -; do
  "$NOPWATCH" stat -j --from $from <plain.txt >out.json
  holds "events are probes ($from)" out.json "[p['hits'] for p in of('probe')] == [2, 2, 1]"
  holds "names pair ($from)" out.json \
    "span('query')['count'] == 2 and span('query')['latency_ns']['sum'] == 400000"
  holds "it ends with the text ($from)" out.json "last['reason'] == 'end of text'"
done
cat plain.txt | "$NOPWATCH" trace -j --from - >out.json
holds "values have types" out.json \
  "of('event')[1]['args'] == {'id': 2, 'sql': 'SELECT\n  2'} and of('event')[1]['comm'] == 'my app'"
said=$("$NOPWATCH" trace -v --from plain.txt 2>&1 >/dev/null)
has "-v counts what is no trace line" "$said" '1 are no trace lines'
has "and says where the first is" "$said" 'line 7'
is "without it nothing is said" "$("$NOPWATCH" trace --from plain.txt 2>&1 >/dev/null)" ""
"$NOPWATCH" stat -j --by tid --hist id --from plain.txt >out.json
holds "it can be grouped" out.json "{p['group'] for p in of('probe') if p['probe'] == 'query__done'} == {'77', '78'}"
"$NOPWATCH" stat -j --span 'x=query__start..query__done,key=id' --from plain.txt >out.json
holds "spans may be keyed by an argument" out.json "span('x')['count'] == 2"

hasnt "every span has a length" "$("$NOPWATCH" stat --from plain.txt)" 'no length'
{
  cat plain.txt
  line app 77 0 6.000001 'query__start: (0x401136) id=3'
  line app 77 0 6.000001 'query__done: (0x401146) id=3'
} >still.txt
has "spans in which the clock stood still are counted" "$("$NOPWATCH" stat --from still.txt)" \
  '^1 of 3 spans have no length: the trace clock showed the same time at both of their ends'

{
  line app 77 0 1 'a__start: x=1'
  line app 77 0 1000 'a__end: x=1'
} >ticks.txt
said=$("$NOPWATCH" stat --from ticks.txt 2>&1 >/dev/null)
has "a clock that counts no nanoseconds is said" "$said" 'no nanoseconds'

# two coroutines of one thread
{
  line app 77 0 1.0 'job__start: id=1'
  line app 77 0 1.1 'job__start: id=2'
  line app 77 0 1.2 'job__done: id=1'
  line app 77 0 2.2 'job__done: id=2'
} >coroutines.txt
has "spans that one thread has at a time are told from those that nest by key=" "$("$NOPWATCH" stat --from coroutines.txt)" \
  '^job: 1 measured spans .*--span \.\.\.,nest=no, or key=ARG if a thread has several at a time$'
"$NOPWATCH" stat -j --span 'job__start..job__done,key=id' --from coroutines.txt >out.json
holds "which is right then" out.json "of('span')[0]['latency_ns']['min'] == 200000000 and of('span')[0]['nested'] == 0"

# losses
{
  line app 77 0 1.0 'a__start: x=1'
  echo 'CPU:0 [LOST 9 EVENTS]'
  line app 77 0 2.0 'a__end: x=1'
} >lossy.txt
"$NOPWATCH" stat -j --from lossy.txt >out.json
holds "a span that straddles a loss is discarded" out.json \
  "loss() == 9 and span('a')['discarded'] == 1 and span('a')['count'] == 0"
"$NOPWATCH" stat -q --strict --from lossy.txt >/dev/null
is "--strict fails then" $? 1

# before the first line of a CPU nothing is known: it is not the whole time since the machine was started
{
  echo 'CPU:0 [LOST 4 EVENTS]'
  line app 77 0 5000.0 'a__start: x=1'
  line app 77 0 5000.5 'a__end: x=1'
} >late.txt
"$NOPWATCH" stat -j --from late.txt >out.json
holds "a loss at the beginning begins there" out.json "loss() == 4 and last['elapsed_ns'] == 500000000"

# a recording out of a pipe
"$NOPWATCH" stat -j --from "$TESTS_LIB/../demo/sample.dat" >file.json
cat "$TESTS_LIB/../demo/sample.dat" | "$NOPWATCH" stat -j --from - >pipe.json
ok "a recording may come by a pipe" cmp file.json pipe.json

said=$(echo hello | "$NOPWATCH" stat --from - 2>&1)
is "text of another kind is refused" "$? $said" "1 nopwatch: standard input is neither a recording nor trace text"
said=$("$NOPWATCH" stat --from - </dev/null 2>&1)
is "and so is nothing" "$? $said" "1 nopwatch: standard input is neither a recording nor trace text"

# Prints the seconds of processor time that a command needs. It is killed after 120 of them.
cpu_time() {
  python3 -c 'import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
with open("cpu.out", "wb") as out:
    subprocess.run(sys.argv[1:], stdout=out, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)' "$@"
}

# Spans of 200,000 threads, all open at one time: a timeline looks each thread up, and a free row of their group. It takes
# twice the time of text. A search through all threads, or through all rows, takes more than 15 times as long as text.
awk 'BEGIN { for (i = 1; i <= 400000; i++) {
  tid = (i - 1) % 200000 + 1
  printf("%16s-%-7d [000] ..... 5.%06d: r_%s: (0x1)\n", "a", tid, i, i <= 200000 ? "start" : "done") } }' >threads.txt
text=$(cpu_time "$NOPWATCH" trace -f text --from threads.txt)
for by in '' '--by comm'; do
  # shellcheck disable=SC2086 # no option, or an option and its value
  timeline=$(cpu_time "$NOPWATCH" trace -f perfetto $by --from threads.txt)
  comment "seconds: timeline $timeline, text $text"
  is "a timeline${by:+ $by} of many threads takes its time once for each" \
    "$(awk -v a="${timeline:-999}" -v b="$text" 'BEGIN { print a < 5 * b + 0.5 }')" 1
done
rm threads.txt cpu.out

# ---- statements by their shape ----

# As many tables as are asked for, each with two statements that differ in their values.
statements() {
  python3 - "$1" <<'END'
import sys
time = 0
for i in range(int(sys.argv[1])):
    for values in ("1", "2,3"):
        time += 1
        print(f' app-10 [000] 1.{time:06}: q__start: (0x1234) sql="select {i} from t{i} /* {time} */ where a in ({values})"')
        time += 1
        print(f" app-10 [000] 1.{time:06}: q__done: (0x1238) status={i % 2}")
END
}
statements 2 >two.txt
statements 1300 >many.txt
shape='select \? from t1 where a in \(\?\)'
has "--by sql(ARG): text" "$("$NOPWATCH" stat --by 'sql(sql)' --from two.txt)" "^q +$shape +2 "
has "CSV" "$("$NOPWATCH" stat -f csv --by 'sql(sql)' --from two.txt)" "^span,q,$shape,,2,"
has "JSON, with another key" "$("$NOPWATCH" stat -j --by 'sql(sql),status' --from two.txt)" "\"span\":\"q\".*\"by\":\\{\"sql\\(sql\\)\":\"$shape\",\"status\":\"1\"\\},.*\"count\":2,"
has "OpenMetrics" "$("$NOPWATCH" stat -f openmetrics --by 'sql(sql)' --from two.txt)" "^nopwatch_hits_total\{probe=\"q__start\",sql_sql_=\"$shape\"\} 2\$"
has "the page" "$("$NOPWATCH" stat -f html --by 'sql(sql)' --from two.txt)" "$shape"
"$NOPWATCH" trace -f perfetto --by 'sql(sql)' -o two.pftrace --from two.txt
ok "a timeline" grep -aqE "sql\(sql\) $shape" two.pftrace
"$NOPWATCH" stat --by 'sql(sql)' --from many.txt >out.txt
# "?" is the group of the ends, which have no statement
has "the first 1000 shapes have groups of their own, and text says how many the others are" "$(cat out.txt)" \
  '^\(others\): 301 groups beyond the first 1000$'
is "and they count with the others" "$("$NOPWATCH" stat -j --by 'sql(sql)' --from many.txt |
  python3 -c 'import json, sys; rows = [r for r in map(json.loads, sys.stdin) if r["type"] == "span"]; print(len(rows), sum(r["latency_ns"]["count"] if "latency_ns" in r else r["count"] for r in rows), [r["count"] for r in rows if r["group"] == "(others)"])')" "1000 2600 [602]"
for by in 'sql(status)' 'sql(nosuch)' 'sql()'; do
  "$NOPWATCH" stat --by "$by" --from two.txt >out.txt 2>err
  is "--by '$by' is refused" "$?" 2
done

finish
