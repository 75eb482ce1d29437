# Reports for people: order, groups, the terminal's width, the pager.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
# Run a command on a terminal of so many columns and rows; print what it shows, and its status.
on_terminal() { # COLUMNS ROWS COMMAND...
  python3 - "$@" <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", int(sys.argv[2]), int(sys.argv[1]), 0, 0))
    os.environ.setdefault("TERM", "xterm")
    os.execvp(sys.argv[3], sys.argv[3:])
text = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.write(text.decode().replace("\r\n", "\n"))
print("status", status)
PY
}
spans() { sed -n '/^SPAN/,/^$/s/^\([a-z:_]*\) .*/\1/p' | tr '\n' ' '; }

"$NOPWATCH" report "$sample" >out
is "spans are sorted by their total" "$(spans <out)" "myserver:request myserver:lookup myserver:parse "
is "or by what was asked for" "$("$NOPWATCH" report --sort name "$sample" | spans)" \
  "myserver:lookup myserver:parse myserver:request "
is "only the first" "$("$NOPWATCH" report --sort max --top 1 "$sample" | spans)" "myserver:request "
has "the others are one row" "$("$NOPWATCH" report --sort max --top 1 "$sample")" '^\(2 more\) +1826 '
# what is left out is in rows of their own, so that counts add up
sums() { # FILE: hits of all probes, counts of all spans, and the sum of an argument
  j "$1" "sum(p['hits'] for p in of('probe')), sum(s['count'] for s in of('span')), sum(p['args'].get('arg0', {'sum': 0})['sum'] for p in of('probe') if p['probe'] == 'myserver:request__done')"
}
"$NOPWATCH" report -j --by cpu,comm "$sample" >all.json
"$NOPWATCH" report -j --by cpu,comm --top 1 "$sample" >top.json
is "they add up in JSON" "$(sums top.json)" "$(sums all.json)"
has "which says how many are left out" "$(cat top.json)" '"probe":null,"more":6,'
hasnt "and does so only then" "$(cat all.json)" '"more"'
sum_csv() { awk -F, '{ sum[$1] += $5 } END { print sum["probe"], sum["span"] }' "$1"; }
"$NOPWATCH" report -f csv --by comm --sort hits "$sample" >all.csv
"$NOPWATCH" report -f csv --by comm --sort hits --top 2 "$sample" >top.csv
is "and in CSV" "$(sum_csv top.csv)" "$(sum_csv all.csv)"
is "in CSV, too" "$("$NOPWATCH" report -f csv --sort name --top 2 "$sample" | grep ^span | cut -d, -f2 | tr '\n' ' ')" \
  "myserver:lookup myserver:parse (1 more) "
has "a total" "$(grep ^SPAN out)" '^SPAN +COUNT +TOTAL +MIN'
"$NOPWATCH" report --sort size "$sample" >/dev/null 2>err
is "another order is a mistake" $? 2
has "that names the right ones" "$(cat err)" 'hits, rate, total, min, mean, .*unmatched, discarded, name'
for column in COUNT TOTAL MIN MEAN P50 P90 P99 P99.9 MAX UNMATCHED DISCARDED; do
  "$NOPWATCH" report --sort "$column" "$sample" >/dev/null 2>err
  is "--sort takes the column $column" "$?$(cat err)" 0
done
is "--sort min puts the largest minimum first" "$("$NOPWATCH" report -j --sort min "$sample" | python3 -c '
import json, sys
least = [row["latency_ns"]["min"] for row in map(json.loads, sys.stdin) if row["type"] == "span"]
print(len(least), least == sorted(least, reverse=True))')" "3 True"
"$NOPWATCH" report --spans-only -v --top 1 "$sample" >out
hasnt "--spans-only leaves out the probes" "$(cat out)" '^PROBE|between hits'
has "and keeps the spans" "$(cat out)" '^myserver:request +913 '
# for a screen reader: the same figures, a sentence a row
"$NOPWATCH" report --plain "$sample" >out
"$NOPWATCH" report "$sample" >table
is "--plain says the figures of the table" "$(sed -n 's/^Span \([^ ]*\): //p' out | grep -oE ' [0-9][^ ,]*' | tr -d ' .' | sort)" \
  "$(sed -n '/^SPAN/,/^$/p' table | grep '^myserver' | sed 's/^[^ ]* *//' | grep -oE '[^ ]+' | tr -d '.' | sort)"
has "each row is one sentence" "$(cat out)" '^Span myserver:request: count 913, total 73.0ms, .*, p99.9 2.13ms, max 2.13ms, unmatched 0/0, discarded 0[.]$'
has "also of probes" "$(cat out)" '^Probe myserver:parse__start: hits 913, rate 912/s, gap min 7.08us, '
has "histograms have no bars" "$(cat out)" '^1.05-2.10ms: 25$'
hasnt "nothing is drawn or aligned" "$(sed '/^ *[0-9.]* *[0-9]* server/d' out)" '@|[|]|  +|COUNT|0 +[|]'
"$NOPWATCH" report --plain --spans-only --slowest 1 "$sample" >out
has "a slow span is a sentence" "$(cat out)" \
  '^At 0[.]681921 seconds, thread server-4334 on CPU 0: span myserver:lookup took 2[.]13ms, at the start arg0=921, at the end arg0=921 arg1=1[.]$'
"$NOPWATCH" trace --plain --from "$sample" >out
"$NOPWATCH" trace --from "$sample" >table
is "trace --plain: each event is a sentence" "$(grep -cvE '^At [0-9.]+ seconds, thread server-[0-9]+ on CPU [01]: myserver:[a-z_]+(, arg[0-9]=[0-9]+)*[.]$' out)" 0
is "with the figures of its line" "$(grep -oE '[0-9]+([.][0-9]+)?' out | sort | sha256sum)" "$(grep -oE '[0-9]+([.][0-9]+)?' table | sort | sha256sum)"
"$NOPWATCH" trace -T --plain --slower 2ms --from "$sample" 2>/dev/null >out
has "also with the time of day, and of slow spans" "$(cat out)" '^At [0-9]{2}:[0-9]{2}:[0-9.]+, thread server-4334 on CPU 0: span myserver:request took 2[.]13ms, '
"$NOPWATCH" report --plain -j "$sample" >/dev/null 2>err
is "--plain goes with text" "$? $(head -n 1 err)" "2 nopwatch: --plain: -f json has no tables"
for format in json csv openmetrics; do
  "$NOPWATCH" report -f "$format" --spans-only "$sample" >out
  is "also in $format: no probe" "$(grep -c 'myserver:parse__start' out)" 0
  ok "also in $format: spans" grep -q 'myserver:parse' out
done
"$NOPWATCH" report --top 0 "$sample" 2>/dev/null
is "none are too few" $? 2

# two keys
"$NOPWATCH" report -j --by comm,cpu "$sample" >out.json
holds "groups of two keys" out.json "all(set(s['by']) == {'comm', 'cpu'} and s['group'] == s['by']['comm'] + ',' + s['by']['cpu'] for s in of('span'))"
"$NOPWATCH" report -j --by cpu "$sample" >cpu.json
is "add up to the same" "$(j out.json "sum(s['count'] for s in of('span'))")" "$(j cpu.json "sum(s['count'] for s in of('span'))")"
"$NOPWATCH" report --by cpu, "$sample" 2>err
is "an empty key is a mistake" $? 2
"$NOPWATCH" report --by cpu,cpu "$sample" 2>err
is "so is one that is there twice" $? 2
"$NOPWATCH" report --by cpu,colour "$sample" 2>err
has "and one that no probe has" "$(cat err)" "--by 'colour': no probe has an argument of that name"

# intervals
"$NOPWATCH" report -i 250ms "$sample" >out
has "intervals have their time" "$(head -n 1 out)" '^--- report 1, 20[0-9-]+ [0-9:]+ ---$'
"$NOPWATCH" report -i 400ms "$sample" >out
has "the last one says how short it is" "$(grep '^--- report 3' out)" '^--- report 3, .*, only 20[01]ms ---$'
"$NOPWATCH" report -j -i 400ms "$sample" >out.json
holds "in JSON, too" out.json "{(p['interval'], p.get('interval_ns', 0) // 1000000) for p in of('probe') if 'interval' in p} == {(1, 0), (2, 0), (3, 200)}"
"$NOPWATCH" report -j -i 250ms "$sample" >out.json
holds "in JSON as ISO 8601" out.json "of('span')[0]['time'][10] == 'T' and of('span')[0]['time'][-1] == 'Z'"
"$NOPWATCH" report --top 1 --hist arg1 "$sample" >out
has "--top keeps a probe that has the argument asked for" "$(cat out)" '^myserver:lookup__done, arg1:$'
is "and only one" "$(grep -c '^myserver:[a-z_]* arg1 ' out)" 1
has "the others are in the row of the rest" "$(cat out)" '^\(5 more\) '
has "arguments are in CSV" "$("$NOPWATCH" report -f csv --hist arg0 "$sample" | grep '^arg,')" \
  '^arg,myserver:request__start,,,913,[0-9.]+(,[0-9]+){8},,,,[a-z0-9]+,,,,,,,,,$'

# the terminal
export PAGER=cat
wide=$(on_terminal 300 50 "$NOPWATCH" report --color never "$sample")
has "a wide terminal shows every column" "$(grep ^SPAN <<<"$wide")" 'UNMATCHED  DISCARDED'
narrow=$(on_terminal 80 50 "$NOPWATCH" report --color never "$sample")
is "a narrow one gets lines that fit" "$(awk 'length > 80' <<<"$narrow")" ""
has "and is told what was left out" "$(tr '\n' ' ' <<<"$narrow")" 'left out, since the terminal is narrow .*: P99.9, P90, MIN, DISCARDED  5624 hits'
has "P50 stays, columns in which nothing was counted go" "$(grep ^SPAN <<<"$narrow")" ' P50 .* MAX  UNMATCHED$'
{
  echo '  application-77 [000] ..... 5.000001: a_long_name_of_a_query__start: (0x401136)'
  echo '  application-77 [000] ..... 5.000002: a_long_name_of_a_query__done: (0x401146)'
  echo '  application-77 [000] ..... 5.000003: a_long_name_of_a_query__done: (0x401146)'
} >unmatched.txt
narrow=$(on_terminal 80 50 "$NOPWATCH" stat --color never --from unmatched.txt)
has "a column in which something was counted stays" "$(grep ^SPAN <<<"$narrow")" ' P50 .* MAX  UNMATCHED$'
has "spans come before gaps" "$(grep -oE '^(SPAN|PROBE) ' <<<"$narrow" | tr -d '\n')" '^SPAN PROBE $'
has "-v shows all" "$(on_terminal 80 50 "$NOPWATCH" report -v "$sample")" 'UNMATCHED  DISCARDED'
is "a pipe has no width" "$("$NOPWATCH" report "$sample" | grep -c 'left out')" 0

export PAGER='echo paged; cat'
has "what is longer than the screen is paged" "$(on_terminal 200 10 "$NOPWATCH" report "$sample")" '^paged'
is "what is not, is not" "$(on_terminal 200 500 "$NOPWATCH" report "$sample" | grep -c ^paged)" 0
is "--no-pager" "$(on_terminal 200 10 "$NOPWATCH" report --no-pager "$sample" | grep -c ^paged)" 0
has "list has one, too" "$(on_terminal 200 2 "$NOPWATCH" list "$SERVER")" '^paged'
is "a pager that leaves early is no failure" \
  "$(PAGER='head -n 1 >/dev/null' on_terminal 200 5 "$NOPWATCH" report "$sample" | tail -n 1)" "status 0"
has "one that does not exist costs nothing" "$(PAGER=/nonexistent on_terminal 200 10 "$NOPWATCH" report "$sample")" 'hits in'
finish
