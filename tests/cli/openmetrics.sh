# -f openmetrics: what Prometheus reads.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
read_it() { "$TESTS_LIB/openmetrics" "$@"; }

"$NOPWATCH" report -f openmetrics "$sample" >out
"$NOPWATCH" report -j "$sample" >out.json
is "it is OpenMetrics" "$(read_it out)" fine
count=$(j out.json "span('myserver:parse')['count']")
is "with the same counts" "$(read_it out 'nopwatch_latency_seconds_count{span="myserver:parse"}')" "$count"
below=$(j out.json "sum(n for low, high, n in span('myserver:parse')['latency_ns']['buckets'] if high < 1024)")
is "and the same buckets" \
  "$(read_it out 'nopwatch_latency_seconds_bucket{span="myserver:parse",le="0.000001023"}')" "$below"
"$NOPWATCH" report -f openmetrics --by tid "$sample" >out
is "groups are labels" "$(read_it out)" fine
"$NOPWATCH" report -f openmetrics -i 250ms "$sample" -o file
is "a file holds one report, the last one" \
  "$(read_it file 'nopwatch_latency_seconds_count{span="myserver:parse"}')" "$count"
is "and nothing is left beside it" "$(ls file*)" file

# what node_exporter's textfile collector takes: Prometheus's own text format
"$NOPWATCH" report -f openmetrics "$sample" -o file.prom
is "a file of that name is in Prometheus's format" "$(read_it --prometheus file.prom)" fine
is "with the same counts" \
  "$(read_it --prometheus file.prom 'nopwatch_latency_seconds_count{span="myserver:parse"}')" "$count"
is "and the types" "$(grep -c '^# TYPE nopwatch_[a-z_]*_total counter$' file.prom)" 11
if command -v promtool >/dev/null; then
  is "promtool has nothing to say" "$(promtool check metrics <file.prom 2>&1)" ""
  "$NOPWATCH" report -f openmetrics --buckets 1us..1s/4 --by tid "$sample" -o tid.prom
  is "promtool has nothing to say of groups and --buckets" "$(promtool check metrics <tid.prom 2>&1)" ""
else
  skip "promtool has nothing to say" "promtool is not installed (Debian's package prometheus)"
fi

# --buckets: how many there are, and that each count is that of our own histogram
les() { sed -n 's/^nopwatch_latency_seconds_bucket{span="myserver:parse",le="\(.*\)"}.*/\1/p' "$1" | tr '\n' ' '; }
agree() { # FILE: each bucket of each span has as many values as our histogram up to there
  python3 - "$1" out.json <<'END'
import json, re, sys
spans = {o["span"]: o["latency_ns"]["buckets"] for o in map(json.loads, open(sys.argv[2])) if o["type"] == "span"}
seen = 0
for line in open(sys.argv[1]):
    found = re.fullmatch(r'nopwatch_latency_seconds_bucket\{span="(.*)",le="([0-9.]+)"\} (\d+)\n', line)
    if found:
        ns = round(float(found[2]) * 1e9)
        inside = [b for b in spans[found[1]] if b[0] <= ns < b[1]]
        assert not inside, f"{ns} is no boundary of ours: {inside}"
        assert int(found[3]) == sum(n for _, high, n in spans[found[1]] if high <= ns), line
        seen += 1
print(seen)
END
}
"$NOPWATCH" report -f openmetrics "$sample" >out
is "the usual buckets are powers of two" "$(les out | wc -w) $(agree out)" "29 84"
"$NOPWATCH" report -f openmetrics --buckets 1us,2ms,5ms,0.1 "$sample" >list
is "a list: the nearest boundaries of ours" "$(les list)" "0.000001007 0.001998847 0.004980735 0.100663295 +Inf "
is "whose counts are exact" "$(read_it list) $(agree list)" "fine 12"
"$NOPWATCH" stat -f openmetrics --buckets 1us..1ms/8 --from "$sample" -o range.prom
is "a range" "$(les range.prom | wc -w) $(read_it --prometheus range.prom) $(agree range.prom)" "81 fine 240"
"$NOPWATCH" report -f openmetrics --buckets none "$sample" >none
is "none: only counts and sums" "$(les none)$(read_it none)" "+Inf fine"
"$NOPWATCH" report -f openmetrics --buckets 1us..10s "$sample" "$sample" >both
is "of two recordings" "$(read_it both 'nopwatch_latency_seconds_bucket{span="myserver:parse",le="0.000001023"}')" $((2 * below))
"$NOPWATCH" report --buckets 1ms "$sample" >said 2>&1
is "--buckets needs metrics" "$? $(head -n 1 said)" "2 nopwatch: --buckets goes with -f openmetrics, and with serve"
"$NOPWATCH" report -f openmetrics --buckets 5ms,1ms "$sample" >said 2>&1
is "a wrong list" "$? $(head -n 1 said)" "2 nopwatch: --buckets '5ms,1ms': the boundaries are not in ascending order"

# arguments: the buckets are the same whatever the values are, or those of --hist
printf '%16s-%-7d [%03d] ..... %12s: %s\n' a 7 0 5.0 'x: (0x1) v=-3 u=5 s=404' a 7 0 6.0 'x: (0x1) v=4 u=70 s=200' >args
"$NOPWATCH" stat -f openmetrics --hist s:100:600:100 --from args >out
is "powers of two" "$(read_it out) $(grep -c 'nopwatch_arg_bucket.*"u",le=' out) $(grep -c 'nopwatch_arg_bucket.*"v",le=' out)" "fine 34 67"
is "their counts" "$(for le in -4 -2 3 7; do read_it out "nopwatch_arg_bucket{probe=\"x\",arg=\"v\",le=\"$le.0\"}"; done | tr '\n' ' ')" "0 1 1 2 "
is "the steps of --hist" "$(sed -n 's/.*arg="s",le="\(.*\)"} /\1=/p' out | tr '\n' ' ')" \
  "99.0=0 199.0=0 299.0=1 399.0=1 499.0=2 599.0=2 +Inf=2 "
"$NOPWATCH" stat -f openmetrics --buckets none --hist s:100:600:100 --from args >out
is "none of these, too" "$(read_it out) $(grep -c '_bucket.*le="[-0-9]' out)" "fine 0"

# names from elsewhere
printf '%16s-%-7d [%03d] ..... %12s: %s\n' 'a"b\c' 7 0 5.0 'x: (0x1) v=-3' 'a"b\c' 7 0 6.0 'x: (0x1) v=4' >text
"$NOPWATCH" stat -f openmetrics --by comm --hist v --from text >out
is "labels are escaped" "$(read_it out 'nopwatch_hits_total{probe="x",comm="a\"b\\c"}')" 2
is "a histogram with negative values has no sum" "$(grep -c 'nopwatch_arg_sum' out)" 0
is "and no count without it" "$(grep -c 'nopwatch_arg_count' out)" 0
is "but buckets" "$(read_it out 'nopwatch_arg_bucket{probe="x",arg="v",comm="a\"b\\c",le="+Inf"}')" 2
"$NOPWATCH" stat -f openmetrics --by comm --hist v --from text -o signed.prom
is "Prometheus has its sum" "$(read_it --prometheus signed.prom 'nopwatch_arg_sum{probe="x",arg="v",comm="a\"b\\c"}')" 1

# Values that differ, but would look the same: a sample that is there twice costs the whole scrape.
for value in $'a\x1b' 'a\x1b' 'a\x5cx1b' $'a\\\x1b' 'a\\x1b' 'a\t' $'a\t' 'a\' $'a\x01\\'; do
  printf '%16s-%-7d [%03d] ..... %12s: %s\n' a 7 0 5.0 "x: (0x1) v=\"$value\""
done >text
"$NOPWATCH" stat -f openmetrics --by v --from text >out
is "values that look alike are told apart" "$(read_it out)" fine
is "each is there" "$(grep -c '^nopwatch_hits_total{.*} 1$' out)" 9
is "a control character is seen" "$(read_it out 'nopwatch_hits_total{probe="x",v="a\\x1b"}')" 1
printf '%16s-%-7d [%03d] ..... %12s: %s\n' a 7 0 5.0 'x: (0x1) __name__=3 __x=4' >text
for by in __name__ __x __name__,__x; do
  "$NOPWATCH" stat -f openmetrics --by $by --from text >out
  is "--by $by: a label that is Prometheus's own has another name" "$(read_it out) $(grep -c '[{,]__' out)" "fine 0"
done

# keys that are called as our own labels
printf '%16s-%-7d [%03d] ..... %12s: %s\n' a 7 0 5.0 'x_start: (0x1) probe=1 span=2 arg=3 state=4 le=5 by_le=6' \
  a 7 0 6.0 'x_done: (0x1) probe=1 span=2 arg=3 state=4 le=5 by_le=6' >keys
for by in probe span arg state le le,by_le probe,span,arg,state,le; do
  "$NOPWATCH" stat -f openmetrics --by "$by" --hist state --from keys >out
  is "--by $by: each label once" "$(read_it out)" fine
  "$NOPWATCH" stat -f openmetrics --by "$by" --hist state --from keys -o keys.prom
  is "--by $by: in Prometheus's format, too" "$(read_it --prometheus keys.prom)" fine
  command -v promtool >/dev/null && is "promtool has nothing to say of $by" "$(promtool check metrics <keys.prom 2>&1)" ""
done
"$NOPWATCH" stat -f openmetrics --by le,by_le --from keys >out
is "such a key is by_KEY" "$(read_it out 'nopwatch_hits_total{probe="x_start",by_by_le="5",by_le="6"}')" 1
finish
