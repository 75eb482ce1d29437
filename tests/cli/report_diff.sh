# report --diff: what has changed between two sides, and what is noise.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/page.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
report() { "$NOPWATCH" report "$@"; }
made() { "$TESTS_LIB/made_result.py" "$@"; }
# Print the lines of a type as Python sees them: line(FILE, TYPE) -> an expression over `rows`.
for i in 1 2 3 4 5; do
  made "old$i.json" seed="$i"
  made "new$i.json" seed="1$i"
  made "slow$i.json" seed="2$i" scale=1.2e6
done

# ---- runs ------------------------------------------------------------------------------------

out=$(report --diff old?.json -- new?.json --fail-if 'app:request.p99 > +10%')
is "runs of one program: status" $? 0
has "and the condition has passed" "$out" '^passed app:request.p99 > \+10%: [+-][0-9.]+ % \('
has "the samples are runs" "$out" 'The samples are runs: 5 before, 5 after\.'
has "each side is told" "$out" '^before: 5 runs, 50\.0s, 0 events lost$'
has "noise has its word" "$out" '~ is noise: the interval includes no change'
has "and its sign" "$out" ' p99 .* ~ '
out=$(report --diff old?.json -- slow?.json --fail-if 'app:request.p99 > +10%')
is "a fifth slower: status" $? 1
has "and the reason" "$out" '^failed app:request.p99 > \+10%: \+[0-9.]+ % \(\+[0-9.]+ to \+[0-9.]+ %\)$'
hasnt "the change is no noise" "$out" ' p99 .* ~ '
report --diff old?.json -- slow?.json >/dev/null
is "without a condition a change is no failure" $? 0
report -q --diff slow?.json --fail-if 'app:request.p99 < -10%' -- old?.json --fail-if 'app:request.max > 500%' >out
is "a decrease, and options on both sides of --: status" $? 1
has "the decrease is told" "$(cat out)" '^failed app:request.p99 < -10%: -'
has "and the other condition" "$(cat out)" '^passed app:request.max > 500%: '
report -j --diff old?.json -- slow?.json --fail-if 'app:request.p50>10%' >diff.json 2>err
is "JSON: status" $? 1
has "where the result is not for people, stderr has the reason" "$(cat err)" '^nopwatch: failed app:request.p50>10%: \+'
is "the first line describes the sides" "$(j diff.json "(rows[0]['type'], rows[0]['before']['runs'], rows[0]['sample'])")" "('compared', 5, 'run')"
is "a line for each number of a row" "$(j diff.json "[d['metric'] for d in of('diff') if 'span' in d]")" \
  "['rate', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max']"
is "with the interval around the shift of 20 %" \
  "$(j diff.json "[(d['low_percent'] < 20 < d['high_percent'], d['noise'], d['samples']) for d in of('diff') if d['metric'] in ('mean', 'p50', 'p99')]")" \
  "[$(printf "(True, False, [5, 5]), %.0s" 1 2)(True, False, [5, 5])]"
is "and the condition" "$(j diff.json "[(c['condition'], c['result']) for c in of('condition')]")" "[('app:request.p50>10%', 'failed')]"
is "values are those of the merged report" "$(j diff.json "[d['before'] for d in of('diff') if d.get('span') and d['metric'] == 'p99']")" \
  "$(report -j old?.json >merged.json; j merged.json "[float(s['latency_ns']['p99']) for s in of('span')]" | sed 's/\.0//')"
report -f csv --diff old?.json -- slow?.json >diff.csv
is "CSV has the same rows" "$(($(wc -l <diff.csv) - 1))" "$(grep -c '"type":"diff"' diff.json)"
is "and as many columns in each" "$(tr -cd ',\n' <diff.csv | sort -u | wc -l)" 1
has "text as sentences" "$(report --plain --diff old?.json -- slow?.json)" '^Span app:request: metric p99, before 3\.[0-9]+ms, after .*95 % interval'
is "lines of at most 80 characters" "$(COLUMNS=80 report --diff old?.json -- new?.json | awk 'length > 80 && !/^The samples|^~ is/' | wc -l)" 0
report --diff old[1-4].json -- new[1-3].json >out
has "3 and 4 runs are too few" "$(cat out)" "no intervals: 4 and 3 runs are too few \(4 and 4 would do\), and 'old1\.json' has no intervals of time"
hasnt "and then there is no sign" "$(cat out)" ' ~ |INTERVAL'
report --diff old[1-4].json -- new[1-3].json --fail-if 'app:request.p99 > +10%' >out
is "a condition on too few: status" $? 1
has "and reason" "$(cat out)" '^unknown app:request.p99 > \+10%: it cannot be told, since 0 samples before and 0 after are too few'
report --diff old?.json -- new[1-3].json | grep -q 'The samples are runs: 5 before, 3 after'
is "3 and 5 are enough" $? 0

# ---- noise ---------------------------------------------------------------------------------

# One run of four is ten times slower: the whole has changed by far, the runs have not.
made outlier.json seed=41 scale=1e7
report --diff old[1-4].json -- new[1-3].json outlier.json --fail-if 'app:request.mean > +10%' >out
is "one odd run is noise: status" $? 0
has "and told" "$(cat out)" '^noise app:request.mean > \+10%: \+[0-9.]+ %, which is noise \('

# ---- slices of one run -----------------------------------------------------------------------

made iv1.json seed=51 intervals=40
made iv2.json seed=52 intervals=40 scale=1.3e6
out=$(report --diff iv1.json -- iv2.json --fail-if 'app:request.p50 > 10%')
is "intervals of one run a side: status" $? 1
has "are told to be weaker" "$out" 'The samples are slices of time \(13 before, 13 after, of about 833ms\), each taken for a run: .* weaker evidence than runs'
has "a pipe is read twice, too" "$(report --diff <(cat iv1.json) -- <(cat iv2.json) --fail-if 'app:request.p50 > 10%')" '^failed app:request.p50'
made iv3.json seed=53 intervals=15
has "slices that cannot be as long are told" "$(report --diff iv1.json -- iv3.json 2>&1)" "slices of 'iv3\.json' are of 667ms, not of 833ms, because its intervals are"
made few1.json seed=54 intervals=3
has "three intervals are too few" "$(report --diff few1.json -- old1.json iv1.json)" "'old1\.json' has no intervals of time"
has "and so are three against three" "$(report --diff few1.json -- <(cat few1.json))" 'and so are their 3 and 3 intervals of time'
report -j --diff "$sample" -- "$sample" >self.json 2>err
has "one file on both sides is told" "$(cat err)" 'sample\.dat. is on both sides of --$'
is "a recording has 12 slices" "$(j self.json "(rows[0]['sample'], rows[0]['before']['samples'], rows[0]['slice_ns'] * 12 // 10**9)")" "('slice', 12, 1)"
is "and nothing has changed" "$(j self.json "set((d['change_percent'], d['noise']) for d in of('diff'))")" "{(0, True)}"
slice=$(j self.json "rows[0]['slice_ns']")
report -j -i "${slice}ns" "$sample" >intervals.json 2>/dev/null || report -j -i 100081946ns "$sample" >intervals.json
report -j --diff "$sample" -- intervals.json >same.json
# Of two samples that are the same, the interval is the same on both sides of no change.
is "slices of a recording are the intervals of its report" \
  "$(j same.json "[d for d in of('diff') if d['samples'][0] != d['samples'][1] or abs((1 + d['low_percent'] / 100) * (1 + d['high_percent'] / 100) - 1) > 1e-6 or abs(d['estimate_percent']) > 1e-6]")" "[]"
is "in all rows" "$(j same.json "len(of('diff')) == 10 * 7")" True

# ---- rows ------------------------------------------------------------------------------------

report -j --by tid "$sample" >by.json
tid=$(j by.json "of('span')[0]['group']")
report -j --by tid --diff "$sample" -- "$sample" -q --fail-if "myserver:parse[$tid].p99 > +10%" >groups.json
is "groups: status" $? 0
is "each has its rows" "$(j groups.json "sorted(set(d['group'] for d in of('diff') if d.get('span') == 'myserver:parse'))")" \
  "$(j by.json "sorted(set(s['group'] for s in of('span') if s['span'] == 'myserver:parse'))")"
has "text has a column for them" "$(report -q --by tid --diff "$sample" -- "$sample")" '^SPAN +BY tid +METRIC'
report -q --by tid --diff "$sample" -- "$sample" --fail-if 'myserver:parse.p99 > +10%' >out
is "a condition without a group: status" $? 1
has "says how to write it" "$(cat out)" "rows are grouped, so write 'NAME\[GROUP\]\.p99'"
report -q -j --by comm,tid --diff "$sample" -- "$sample" >two.json
group=$(j two.json "[d['group'] for d in of('diff') if d.get('span') == 'myserver:parse'][0]")
report -q --by comm,tid --diff "$sample" -- "$sample" --fail-if "myserver:parse[$group].p99 > +10%" >/dev/null
is "values of several keys are joined by commas" $? 0
is "and JSON has them by key" "$(j two.json "sorted(set(tuple(d['by']) for d in of('diff')))")" "[('comm', 'tid')]"
for i in 1 2 3 4; do made "g$i.json" seed="$i" group_by=method group=GET; done
has "JSON lines bring their groups" "$(report --diff g[12].json -- g[34].json)" '^SPAN +BY method +METRIC'
for i in 1 2; do made "host$i.json" seed="$i" host=web1; done
has "and hosts are groups" "$(report --by host --diff host1.json -- host2.json)" '^app:request +web1 +rate'
made other.json seed=61 name=app:reply
out=$(report --diff old1.json -- old2.json other.json)
has "rows of one side are named" "$out" '^only after: app:reply__start, app:reply__done, app:reply$'
report --diff old1.json -- other.json --fail-if 'app:request.rate < -5%' >out
is "and a condition on one: status" $? 1
has "says so" "$(cat out)" 'it cannot be told, since it was not measured after$'
for i in 1 2 3 4; do made "none$i.json" seed="$i" spans=0; done
out=$(report --diff none?.json -- old[1-4].json --fail-if 'app:request.rate > 10%' --fail-if 'app:request.p99 > 10%')
has "from nothing to something there is no percentage" "$out" ' rate +0/s +200/s +- +-$'
has "which a condition says" "$out" '^unknown app:request.rate > 10%: it cannot be told, since it was 0 before, so there is no percentage$'
has "and of a percentile, that nothing was counted" "$out" '^unknown app:request.p99 > 10%: it cannot be told, since nothing was counted before$'
has "from something to nothing is all" "$(report --diff old[1-4].json -- none?.json)" ' rate +200/s +0/s +-100\.0 % +-100\.0 to -100\.0 %$'
hasnt "no infinite number is printed" "$(report -j --diff none?.json -- old[1-4].json; report --diff none?.json -- old[1-4].json)" '[^a-z](inf|nan)'
is "names that are nearly right are offered" "$(report --diff old1.json -- old2.json --fail-if 'app:reqest.p99 > 1%' | grep -o "did you mean.*")" "did you mean 'app:request'?"

# ---- the page ----------------------------------------------------------------------------------

# Print the tables of text or of a page, without spaces and as one line for each number; µs is us.
lines_of() {
  python3 - "$1" <<'P'
import html, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
if text.startswith("<!doctype"):
    text = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    tables = re.search(r'<section id="diff".*?</section>', text, re.S)[0]
    cells = lambda row: [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
    found = []
    for body in re.findall(r"<tbody.*?</tbody>", tables, re.S):
        name, *rows = [cells(row) for row in body.split("</tr>") if "<t" in row and cells(row)]
        found += [("".join(name) if i == 0 else "") + "".join(row) for i, row in enumerate(rows)]
else:
    text = text.split("\nbefore: ")[0]
    found = [line for line in text.splitlines() if re.search(r" (rate|mean|p[0-9.]+|max) +[0-9]", line)]
for line in found:
    print(re.sub(r"\s", "", line).replace("µs", "us"))
P
}
# Compare the rows of a page with those of text for the same arguments.
page_agrees() { # WHAT NAME ARGUMENT...
  local what=$1 name=$2
  shift 2
  report -q "$@" >"$name.txt"
  report -q -f html -o "$name.html" "$@" 2>/dev/null
  lines_of "$name.txt" >"$name.rows"
  lines_of "$name.html" | diff - "$name.rows" >"$name.differs"
  is "$what: the page has the rows of text" "$(cat "$name.differs"; [ -s "$name.rows" ] || echo none)" ""
  page_data "$name.html" >"$name.json"
}
page_agrees runs runs --diff old?.json -- slow?.json
page_agrees "slices, with gaps" slices -v --diff "$sample" -- intervals.json
page_agrees groups grouped --by comm,tid --diff "$sample" -- "$sample"
page_agrees "no intervals" none --diff old[1-4].json -- new[1-3].json
page_agrees "from nothing to something" something --diff none?.json -- old[1-4].json
holds "a column is a run" runs.json \
  "first['compared']['units'] == 'run' and first['compared']['before'] == {'first': 0, 'count': 5} and first['compared']['after'] == {'first': 5, 'count': 5}"
holds "and the columns have all spans" runs.json "[sum(sum(c[5::2]) for c in first['rows'][0][side]['columns']) for side in ('before', 'after')] == [10000, 10000]"
holds "each in its own" runs.json "[[c[0] for c in first['rows'][0][side]['columns']] for side in ('before', 'after')] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]"
holds "a recording has slices" slices.json "first['compared']['units'] == 'slice' and first['compared']['slice_ns'] == $slice"
holds "gaps have a picture behind spans" slices.json "[r['type'] for r in first['rows']] == ['span'] * 3 + ['probe'] * 7"
holds "each group has its picture" grouped.json "len(first['rows']) >= 6 and not first['left_out'] and all(',' in r['group'] for r in first['rows'])"
holds "runs that are too few are drawn, too" none.json "first['compared']['units'] == 'run' and len(first['rows'][0]['after']['columns']) == 3"
holds "what only one side has, has no picture" something.json "not first['rows']"
report -f html -o failed.html --diff old?.json -- slow?.json --fail-if 'app:request.p99 > +10%' 2>/dev/null
is "a condition: status" $? 1
has "a condition is in the page" "$(cat failed.html)" '^<p>failed app:request\.p99 &#62; \+10%: \+[0-9.]+ % \('
has "and so are the samples" "$(cat failed.html)" '^<p>The samples are runs: 5 before, 5 after\.</p>$'
has "a page is not for a terminal" "$(script -qec "'$NOPWATCH' report -f html --diff old1.json -- old2.json" /dev/null 2>&1)" 'html is not readable on a terminal'
evil='</script><img src=x onerror=HACKED>'
for i in 1 2; do made "evil$i.json" seed="$i" name="$evil" group_by=sql group="<!--<script>$evil&amp;"; done
page_agrees "hostile names" evil --diff evil1.json -- evil2.json
is "they are no elements of the page" "$(grep -c '<img\|<!--' evil.html)" 0
holds "they are in its data" evil.json "[(r['span'], r['group']) for r in first['rows']] == [('$evil', '<!--<script>$evil&amp;')]"
for i in 1 2; do
  python3 - "old$i.json" >"many$i.json" <<'P'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    for i in range(1500 if row["type"] == "span" else 1):
        print(json.dumps(row | {"span": f"app:request{i}"} if row["type"] == "span" else row))
P
done
report -q -f html -o many.html --diff many1.json -- many2.json
is "very many rows: status" $? 0
ok "no more than a mebibyte" [ "$(stat -c %s many.html)" -le 1048576 ]
has "the table says that there are more" "$(cat many.html)" '[0-9]+ more rows are left out: -f json has all'
page_data many.html >many.json
holds "and so do the pictures" many.json "first['left_out'] and 50 < len(first['rows']) < 1500"
if has_browser; then
  keep_browser
  tap_of "$TESTS_LIB/html_diff" runs.html app:request differs
  tap_of "$TESTS_LIB/html_diff" slices.html myserver:lookup slices
  tap_of "$TESTS_LIB/html_diff" evil.html "$evil" evil
  end_browser
else
  skip "the page in a browser" "chromium and chromedriver are not installed"
fi

# ---- what differs ----------------------------------------------------------------------------

made lossy.json seed=71 lost=7
has "losses on one side" "$(report --diff old1.json -- lossy.json 2>&1)" 'events were lost after only: counts there are too low'
made long.json seed=72 seconds=100
for i in 1 2 3; do made "long$i.json" seed="8$i" seconds=100; done
has "longer runs" "$(report --diff old[1-4].json -- long*.json 2>&1)" 'runs after are 10 times as long as those before: a longer run has a larger maximum'
made web1.json seed=73 host=web1
made web2.json seed=74 host=web2
has "other machines" "$(report --diff web1.json -- web2.json 2>&1)" "'web1\.json' was made on another machine \(web1\) than 'web2\.json' \(web2\)"
hasnt "-q tells nothing of these" "$(report -q --diff web1.json -- web2.json 2>&1)" 'another machine'

# ---- what cannot be --------------------------------------------------------------------------

refused() { # WHAT STATUS PATTERN ARGUMENT...
  local what=$1 status=$2 pattern=$3 out
  shift 3
  out=$(report "$@" 2>&1 >/dev/null)
  is "$what: status" $? "$status"
  has "$what: reason" "$out" "$pattern"
}
refused "no --" 2 'a -- between the files before and those after is missing' --diff old1.json new1.json
refused "-- twice" 2 '-- is there twice' --diff old1.json -- new1.json -- new2.json
refused "nothing before" 2 'there is no file in front of --' --diff -- new1.json
refused "nothing after" 2 'there is no file behind --' --diff old1.json --
refused "-- without --diff" 2 'report --diff BEFORE\.\.\. -- AFTER' old1.json -- new1.json
refused "--fail-if without --diff" 2 '--fail-if goes with --diff' --fail-if 'a.p99 > 1%' old1.json
refused "a file twice" 2 "'\./old1\.json' is on one side of -- twice" --diff old1.json ./old1.json -- new1.json
refused "a missing file" 1 "cannot read 'nowhere\.json'" --diff old1.json -- nowhere.json
refused "stacks of JSON lines" 1 "'old1\.json' has no stacks: -f folded needs recordings" -f folded --diff old1.json -- new1.json
refused "stacks of a recording without" 1 'nopwatch record --stack. keeps them' -f folded --diff "$sample" -- "$sample"
refused "stacks in a table" 2 '--stack does not go with --diff' --stack --diff "$sample" -- "$sample"
refused "-f openmetrics" 2 '-f openmetrics cannot show a difference: --diff has text, -f json, -f csv, -f html and -f folded' -f openmetrics --diff old1.json -- new1.json
refused "-i" 2 '-i does not go with --diff' -i 1 --diff old1.json -- new1.json
refused "--top" 2 '--top does not go with --diff' --top 3 --diff old1.json -- new1.json
refused "--slower" 2 '--slower does not go with --diff' --slower 1ms --diff old1.json -- new1.json
refused "other groups" 2 "'old1\.json' has rows without groups" --diff g1.json -- old1.json
made net.json seed=75 net=1
refused "--net on one side" 2 "'net\.json' has rows that were measured with --net" --diff old1.json -- net.json
condition() { # WHAT PATTERN EXPRESSION
  refused "$1" 2 "--fail-if '.*': $2" --diff old1.json -- new1.json --fail-if "$3"
}
condition "no operator" 'there is no < or >' 'app:request.p99'
condition "no metric" 'there is no metric in front of < or >' 'app:request > 10%'
condition "an unknown metric" 'there is no metric' 'app:request.p95 > 10%'
condition "no name" 'there is no metric' '.p99 > 10%'
condition "no percentage" 'there is no percentage' 'app:request.p99 > '
condition "a bare number" 'a change is in percent, such as \+10%' 'app:request.p99 > 10'
condition "a time" 'a change is in percent' 'app:request.p99 > 10ms'
condition "a wrong direction" '> takes an increase such as \+10%' 'app:request.p99 > -10%'
condition "another wrong direction" '.*< a decrease such as -10%' 'app:request.p99 < +10%'
condition "no number" 'there is no percentage' 'app:request.p99 > nan%'
condition "too much" 'the percentage is too large' 'app:request.p99 > 99999999999%'
condition "less than nothing" 'nothing becomes less by more than 100 %' 'app:request.p99 < -101%'
refused "and what to type" 2 "write --fail-if 'NAME\.METRIC > \+10%'" --diff old1.json -- new1.json --fail-if x

# ---- hostile results -------------------------------------------------------------------------

bad() { # WHAT PATTERN SED: the second side has a line that was changed
  sed "$3" iv1.json >bad.json
  if cmp -s iv1.json bad.json; then fail "$1: the edit changes nothing"; fi
  out=$(timeout 20 "$NOPWATCH" report -j --diff iv2.json -- bad.json 2>&1)
  ok "$1: it ends" [ $? -lt 3 ]
  has "$1" "$out" "$2"
  hasnt "$1: no number that is none" "$out" ':-?(nan|inf)'
}
bad "NaN for a mean" '"type":"compared"|contradict|not JSON' '/"interval"/!s/"mean": [0-9.]*/"mean": NaN/'
bad "a huge mean" '"type":"compared"|contradict' '/"interval"/!s/"mean": [0-9.]*/"mean": 1e308/'
bad "huge counts" 'contradict' 's/"latency_ns": {"count": [0-9]*/"latency_ns": {"count": "9223372036854775807"/'
bad "the highest interval" 'has no intervals of time' 's/"interval": 40,/"interval": "18446744073709551615",/'
bad "an interval below 0" '"sample":"slice"' 's/"interval": 7,/"interval": -7,/'
bad "hits beyond everything" '"type":"compared"' 's/"hits": 50,/"hits": "18446744073709551615",/'
bad "no time at all" 'has no intervals of time' 's/"elapsed_ns": [0-9]*/"elapsed_ns": 0/'
bad "all time" '"type":"compared"' 's/"elapsed_ns": [0-9]*/"elapsed_ns": "18446744073709551615"/'
bad "an interval longer than the run" '"type":"compared"' 's/"interval": 40,/"interval": 40, "interval_ns": "18446744073709551615",/'
bad "a long silence" '"type":"compared"|has no intervals' '2s/^/{"type":"quiet","interval":1,"last":9007199254740000}\n/'
bad "contradicting intervals" 'contradict' '/"interval": 9,/s/"buckets": \[\[[0-9]*,/"buckets": [[7,/'
sed 's/app:request/\\u001b[31m\\u202eapp/' old1.json >bad.json
hasnt "escape sequences in names do not reach the terminal" "$(report --diff bad.json -- old2.json 2>&1)" "$(printf '\033')"

finish
