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
else
  skip "promtool has nothing to say" "promtool is not installed (Debian's package prometheus)"
fi

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
