# The dashboard and the rules for Prometheus: every metric in them is one that nopwatch writes, alerts fire when they should, and
# a real Prometheus has nopwatch's own answers (scripts/fleet-demo).
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

top=$(cd "$TESTS_LIB/../.." && pwd)
shared=$top/scripts/prometheus
# names with a colon are those of recording rules
names() { grep -ohE '[a-z0-9_:]*nopwatch_[a-z0-9_:]+' "$@" | grep -v : | sort -u; }
# histograms are one family in documents, and three names in queries
families() { sed 's/_\(bucket\|count\|sum\)$//' | sort -u; }

sed -n '/^| metric | type/,/^$/p' "$top/docs/prometheus.md" | cut -d '|' -f 2 | grep -oE '[a-z_]+' | grep -vx metric | sed 's/^/nopwatch_/' | sort -u >documented
is "every metric of dashboard and rules is described" "$(names "$shared"/* | families | comm -23 - documented)" ""
ok "there are some" test "$(names "$shared"/* | wc -l)" -gt 10
is "every metric that is described is written" \
  "$(while read -r name; do
    name=${name#nopwatch_}
    grep -qE "\"${name%_total}\"" "$top/src/measure/numbers.c" "$top/src/show/rows/metrics.c" || echo "$name"
  done <documented)" ""
"$NOPWATCH" report -f openmetrics --open "$TESTS_LIB/../demo/sample.dat" -o all.prom
is "every metric that is written is described" "$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' all.prom | sort -u | comm -23 - documented)" ""
is "and of those that this recording has, queries use these names" \
  "$(names "$shared"/* | while read -r name; do
    [[ $name =~ probe_cost ]] || grep -qE "^${name}[{ ]" all.prom || echo "$name"
  done)" ""
ok "the dashboard is JSON" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$shared/grafana-dashboard.json"
is "each alert is explained" "$(sed -n 's/.*alert: //p' "$shared/nopwatch.rules.yml" | while read -r alert; do grep -q "^| .$alert. |" "$top/docs/prometheus.md" || echo "$alert"; done)" ""

if command -v promtool >/dev/null; then
  cp "$shared/nopwatch.rules.yml" "$TESTS_LIB/../data/nopwatch.rules_test.yml" .
  promtool check rules nopwatch.rules.yml >said 2>&1
  is "promtool has nothing to say of the rules" "$? $(grep -c SUCCESS said)" "0 1"
  promtool test rules nopwatch.rules_test.yml >said 2>&1
  is "each alert fires when it should: $(cat said)" $? 0
else
  skip "the rules" "promtool is not installed (Debian's package prometheus)"
fi
if ! command -v prometheus >/dev/null || ! command -v prometheus-node-exporter >/dev/null; then
  skip "a real Prometheus" "Debian's packages prometheus and prometheus-node-exporter are not installed"
elif ! pkg-config --exists libmicrohttpd 2>/dev/null; then
  skip "a real Prometheus" "libmicrohttpd is not installed"
else
  timeout 100 "$top/scripts/fleet-demo" "$TEST_DIR/demo" >said 2>&1
  is "histogram_quantile over three hosts is within a bucket of ours" "$? $(grep -c 'us$' said) $(grep -c WRONG said)" "0 9 0"
  has "Prometheus takes every expression" "$(cat said)" '^10 expressions of the dashboard and 8 rules, 0 of them bad; not served here: '
  [ "$failures" = 0 ] || comment "$(cat said)"
fi
finish
