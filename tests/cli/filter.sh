# --filter: on a recording and on text; what it takes out is in no row, and breaks no pair.
. "$(dirname "$0")/../lib/tap.sh"
sample=$TESTS_LIB/../demo/sample.dat
cd "$TEST_DIR" || exit 1

"$NOPWATCH" trace -j --from "$sample" >all.json
failed=$(j all.json "len([e for e in of('event') if e['probe'] == 'myserver:request__done' and e['args']['arg1'] == 404])")
others=$(j all.json "len([e for e in of('event') if e['probe'] == 'myserver:request__done' and e['args']['arg1'] != 404])")
ok "the sample has requests that failed and others" test "$failed" -gt 5 -a "$others" -gt 100

for command in "stat -j --from $sample" "report -j $sample"; do
  # shellcheck disable=SC2086 # words are wanted
  "$NOPWATCH" $command --filter 'arg1 == 404 && arg2 >= 0' >out.json
  holds "only those count (${command%% *})" out.json "probe('myserver:request__done')['hits'] == $failed"
  holds "and only they are measured" out.json \
    "(lambda s: (s['count'], s['unmatched_starts'], s['unmatched_ends'], s['discarded']))(span('myserver:request')) == ($failed, 0, 0, 0)"
  holds "other probes pass" out.json "probe('myserver:parse__done')['hits'] == $failed + $others"
  holds "it is told how many were taken out" out.json "last['filtered'] == $others"
done
"$NOPWATCH" stat -j --from "$sample" --filter '!(arg1 == 404 && arg2 >= 0)' >rest.json
holds "the opposite is the rest" rest.json "span('myserver:request')['count'] == $others"
holds "and both together are all" rest.json \
  "span('myserver:request')['latency_ns']['sum'] + $(j out.json "span('myserver:request')['latency_ns']['sum']") == $("$NOPWATCH" stat -j --from "$sample" >whole.json && j whole.json "span('myserver:request')['latency_ns']['sum']")"
holds "without --filter there is nothing to tell" whole.json "'filtered' not in last"

# a start
"$NOPWATCH" stat -j --from "$sample" --filter 'arg0 == 1000000' >out.json
holds "a filtered start silences its end" out.json \
  "(lambda s: (s['count'], s['unmatched_starts'], s['unmatched_ends']))(span('myserver:request')) == (1, 0, 0)"
holds "a probe whose hits were all taken out says so" out.json \
  "probe('myserver:lookup__start')['state'] == 'filtered' and probe('myserver:request__done')['state'] == 'hit'"
text=$("$NOPWATCH" stat --from "$sample" --filter 'arg0 == 1000000')
has "in text, too" "$text" '^myserver:lookup__start: hit, but --filter took out all of its hits$'
has "and the last line counts them" "$text" '^[0-9]+ hits? in .*, [0-9]+ filtered out, 0 events lost$'

# threads
tid=$(j all.json "of('event')[0]['tid']")
"$NOPWATCH" trace -j --from "$sample" --filter "tid == $tid" >one.json
holds "by thread" one.json "{e['tid'] for e in of('event')} == {$tid} and len(of('event')) == $(j all.json "len([e for e in of('event') if e['tid'] == $tid])")"
"$NOPWATCH" trace -j --from "$sample" --filter "comm ~ 'ser*' && pid == $(j all.json "of('event')[0]['pid']")" >out.json
holds "by process" out.json "len(of('event')) == $(j all.json "len(of('event'))")"
"$NOPWATCH" stat -j --from "$sample" --filter "cpu != 0 || comm == nobody" >out.json
holds "by CPU" out.json "sum(p['hits'] for p in of('probe')) == $(j all.json "len([e for e in of('event') if e['cpu'] != 0])")"
"$NOPWATCH" stat -j --from "$sample" --by tid --filter "tid == $tid" >out.json
holds "no group is made for what is taken out" out.json "{p['group'] for p in of('probe')} == {'$tid'}"
is "-n counts what is left" "$("$NOPWATCH" trace --from "$sample" -n 3 --filter "tid == $tid" | wc -l)" 3

# other forms
"$NOPWATCH" stat -f csv --from "$sample" --filter "tid == $tid" >csv
is "csv has as many fields in every row" "$(awk -F, '{ print NF }' csv | sort -u | wc -l)" 1
has "and a row for them" "$(cat csv)" '^filtered,,,,[1-9]'
"$NOPWATCH" stat -f openmetrics --from "$sample" --filter "tid == $tid" >metrics
ok "openmetrics stays well-formed" "$TESTS_LIB/openmetrics" metrics
has "and has a counter" "$(cat metrics)" '^nopwatch_filtered_hits_total [1-9]'
"$NOPWATCH" stat -j -i 100ms --from "$sample" --filter "tid == $tid" >out.json
holds "intervals add up" out.json \
  "sum(p['hits'] for p in of('probe') if 'interval' not in p) == $(j one.json "len(of('event'))")"

# text
line() { printf '%16s-%-7d [%03d] ..... %12s: %s\n' "$@"; }
{
  line app 77 0 5.000001 'query__start: (0x401136) id=1 sql="SELECT 1"'
  line 'my app' 78 1 5.000002 'query__start: (0x401136) id=2 sql="DELETE
  2"'
  line app 77 0 5.000101 'query__done: (0x401146) id=1 status=-5'
  line 'my app' 78 1 5.000302 'query__done: (0x401146) id=2 status=7'
  line app 77 0 5.000401 'query__start: (0x401136) id=3 sql=(fault)'
  line app 77 0 5.000501 'query__done: (0x401146) id=3 status=0'
} >plain.txt
# spans: EXPRESSION: count, sum in us, unmatched
spans() {
  "$NOPWATCH" stat -j --from "$1" --filter "$2" <plain.txt >out.json || return
  j out.json "(lambda s: (s['count'], s['latency_ns']['sum'] // 1000, s['unmatched_starts'] + s['unmatched_ends']))(span('query'))"
}
for from in plain.txt -; do
  is "strings by a glob ($from)" "$(spans $from "sql ~ 'SELECT*'")" "(1, 100, 0)"
  is "a fault is like nothing ($from)" "$(spans $from "sql != 'SELECT 1'")" "(1, 300, 0)"
  is "negative numbers ($from)" "$(spans $from 'status < 0 || status > 6')" "(2, 400, 0)"
  is "names with blanks ($from)" "$(spans $from "comm == 'my app'")" "(1, 300, 0)"
done
"$NOPWATCH" trace -j --from plain.txt --filter 'sql ~ "*\n*2"' >out.json
holds "a string over two lines" out.json "[e['args']['id'] for e in of('event') if 'sql' in e['args']] == [2]"

# mistakes
says() {
  local said
  said=$("$NOPWATCH" stat --from plain.txt --filter "$1" 2>&1 >/dev/null)
  is "refused: $1" "$? $(head -n 1 <<<"$said")" "2 nopwatch: $2"
}
says 'id = 1' "--filter: use '==' instead of '=' at column 4 of 'id = 1'"
says '(id == 1' "--filter: ')' is missing at column 9 of '(id == 1'"
says 'nobody == 1' "--filter: no probe has an argument 'nobody'"
says 'status == 1 && sql == x' "--filter: no probe has all the arguments 'status', 'sql'"
says 'sql > 5' "--filter: 'sql' of query__start is a string: only ==, != and ~ compare it"
says 'id == one' "--filter: 'id' of query__start is a number, but is compared with text"
says '' "--filter '': not an expression such as 'status >= 400'"
has "it is said what there is" "$("$NOPWATCH" stat --from plain.txt --filter 'a == 1' 2>&1)" \
  'there are query__start\(id, sql\), query__done\(id, status\), and tid, pid, comm, cpu'
said=$("$NOPWATCH" stat a:b --filter '(' 2>&1)
has "a mistake is found before anything else" "$? $said" 'a name is missing at column 2'
finish
