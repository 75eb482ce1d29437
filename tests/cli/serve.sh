# serve --from: what it answers, to good and to hostile clients.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
http() { timeout 60 "$TESTS_LIB/http" "$@" 2>&1; }
"$NOPWATCH" serve --listen 127.0.0.1:0 nothing -- false >out 2>err
! grep -q 'built without libmicrohttpd\|needs libmicrohttpd' err || skip_all "libmicrohttpd is not installed"

serve() { # ARG...: in the background; $url is where
  rm -f out err
  "$NOPWATCH" serve --listen 127.0.0.1:0 "$@" >out 2>err &
  pid=$!
  for _ in $(seq 200); do
    url=$(sed -n 's/^nopwatch: serving //p' err)
    [ -z "$url" ] || break
    sleep 0.05
  done
}
stop() { # its status
  kill -"${1:-TERM}" $pid
  wait $pid
}

serve --from "$sample" --by tid
"$NOPWATCH" report -j --by tid "$sample" >report.json
http get "$url" >text
is "text is that of Prometheus" "$("$TESTS_LIB/openmetrics" --prometheus text)" fine
is "with the numbers of stat -j" "$("$TESTS_LIB/served_agrees" text report.json tid)" 665
http get "$url" openmetrics >om
is "OpenMetrics is" "$("$TESTS_LIB/openmetrics" om) $("$TESTS_LIB/served_agrees" om report.json tid)" "fine 665"
http get "$url" protobuf >pb
is "protobuf is" "$("$TESTS_LIB/native" pb)" fine
is "its native histograms have all spans" \
  "$("$TESTS_LIB/native" pb '[[m["labels"]["span"], m["labels"]["tid"], m["histogram"]["count"], int(m["histogram"]["sum"])] for m in families["nopwatch_latency_nanoseconds"]["metrics"]]')" \
  "$(j report.json '[[s["span"], s["group"], s["count"], s["latency_ns"]["sum"]] for s in sorted((s for s in of("span")), key=lambda s: ["myserver:parse", "myserver:lookup", "myserver:request"].index(s["span"]))]')"
cat >exact.py <<'END'
import json, sys
ours = {(s["span"], s["group"]): s["latency_ns"]["buckets"] for s in map(json.loads, open("report.json")) if s["type"] == "span"}
for m in eval(sys.stdin.read()):
    buckets = ours[m["labels"]["span"], m["labels"]["tid"]]
    for power in range(40):
        theirs = sum(n for i, n in m["histogram"]["buckets"].items() if i <= 32 * power)
        assert theirs == sum(n for low, high, n in buckets if high <= 2 ** power), (power, theirs)
print("exact")
END
is "and are exact at powers of two" "$("$TESTS_LIB/native" pb 'families["nopwatch_latency_nanoseconds"]["metrics"]' | sed 's/inf/1e999/g' | python3 exact.py)" exact
is "classic ones are beside them" \
  "$("$TESTS_LIB/native" pb 'sum(len(m["histogram"]["classic"]) == 29 and "schema" not in m["histogram"] for m in families["nopwatch_latency_seconds"]["metrics"])')" 6
if command -v promtool >/dev/null; then
  is "promtool has nothing to say" "$(promtool check metrics <text 2>&1)" ""
fi
hasnt "no command line and no path is told" "$(cat text om)" 'server |/|--'

# ---- hostile clients ----
is "what they get" "$(http hostile "$url")" "another path: 404
a path upwards: 404
the root: 200
only the head: 200
a body: 405
a body that never comes: 405
no HTTP: closed
old HTTP: 200
a header without end: 431
many headers: 431
a long path: 414
60 that say nothing: answered
12 that read nothing: answered"
# ---- names (DNS rebinding) ----
port=${url##*:} port=${port%/metrics}
for name in localhost localhost: "LocalHost:$port" localhost. "127.0.0.1:$port" 10.1.2.3 '[::1]:9876' '[fe80::1]' -; do
  is "asked by '$name'" "$(http by "$url" "$name")" 200
done
for name in evil.example "evil.example:$port" localhost.evil.example 127.0.0.1.evil.example '[evil]' '[::1' 1.2.3 '@localhost' "$(hostname)"; do
  is "asked by '$name'" "$(http by "$url" "$name")" 403
done
http get "$url" >again
ok "the numbers are the same then" cmp text again
stop
is "its report is that of stat, and SIGTERM ends it" "$? $(tail -n 1 out)" "0 5624 hits in 1.00s, 0 events lost"
ok "nobody listens then" test "$(http get "$url" | grep -c refused)" = 1

# ---- options ----
printf '%16s-%-7d [%03d] ..... %12s: %s\n' a 7 0 5.0 'x_start: (0x1) v=-3 s="secret"' a 7 0 6.0 'x_start: (0x1) v=4' a 7 0 6.5 'x_done: (0x1) v=4' >text.txt
serve --from text.txt --buckets none --open -j --hist v
http get "$url" openmetrics >om
is "--buckets none" "$("$TESTS_LIB/openmetrics" om) $(grep -c 'le="[0-9]' om)" "fine 0"
is "--open: gauges" "$("$TESTS_LIB/openmetrics" om 'nopwatch_open_spans{span="x"}') $("$TESTS_LIB/openmetrics" om 'nopwatch_oldest_open_span_seconds{span="x"}')" "1 1.5"
hasnt "strings of arguments are not told" "$(cat om)" secret
http get "$url" protobuf >pb
is "arguments: one histogram, native" "$("$TESTS_LIB/native" pb '[of("nopwatch_arg", probe="x_start", arg="v")["histogram"][k] for k in ("negative", "buckets", "sum", "count")]')" \
  "[{51: 1}, {64: 1}, 1.0, 2]"
stop INT
is "SIGINT ends it, too" "$? $(j out '[len(of("open")), last["type"]]')" "0 [1, 'end']"
serve --from text.txt --by s
has "strings are groups if you ask for it" "$(http get "$url")" 's="secret"'
stop
# a script's text that comes while it serves, and somebody asks all the time
mkfifo pipe
exec 9<>pipe
"$NOPWATCH" serve --listen 127.0.0.1:0 --from - <pipe >out 2>err &
pid=$!
printf '#nw %s\n' 'nopwatch-plan 1' 'group nopwatch_t' 'image /bin/app' 'probe 0 0 app two app:two 0' 'point 8224 8224 0' \
  'planned 0 0 1 0' 'event two 0' 'place 0 0' 'start 10.5' end >&9
for at in 1 2 3 4; do printf '%16s-%-7d [%03d] ..... %12s: %s\n' app 7 0 1$at.0 'two: (0x402020)' >&9; done
for _ in $(seq 100); do ! grep -q serving err || break; sleep 0.05; done
url=$(sed -n 's/^nopwatch: serving //p' err)
for _ in $(seq 30); do
  hits=$(http get "$url" | sed -n 's/^nopwatch_hits_total{probe="app:two"} //p')
  [ "$hits" != 4 ] || break
done
is "text is served as it comes" "$hits" 4
kill $pid
exec 9>&-
wait $pid
is "and SIGTERM ends that" "$? $(tail -n 1 out | cut -d ' ' -f 1-2)" "0 4 hits"

# ---- what is wrong ----
refused() { # WHAT STATUS LINE ARG...
  local what=$1 status=$2 line=$3
  shift 3
  timeout 10 "$NOPWATCH" serve "$@" >said 2>&1
  is "$what" "$? $(head -n 1 said)" "$status nopwatch: $line"
}
for wrong in 9876 localhost:80 127.0.0.1 127.0.0.1:65536 127.0.0.1: ::1:80 '[::1]' 1.2.3:80 '[::1:80'; do
  refused "--listen $wrong" 2 "--listen '$wrong': not an address and a port" --listen "$wrong" --from "$sample"
done
serve --from "$sample"
refused "a port that is taken" 1 "cannot listen on ${url:7:-8}: Address already in use" --listen "${url:7:-8}" --from "$sample"
stop
refused "no such file" 1 "cannot read 'missing.dat': No such file or directory" --listen 127.0.0.1:0 --from missing.dat
serve --from "$sample" --host db1.example.com --host other
is "a name that was given" "$(http by "$url" DB1.example.com:9876) $(http by "$url" other) $(http by "$url" db2.example.com)" "200 200 403"
stop
refused "an empty name" 2 "--host '': not a name, as in metrics.example.com" --host= --from "$sample"
timeout 10 "$NOPWATCH" serve --listen 0.0.0.0:0 --from text.txt >out 2>err &
pid=$!
for _ in $(seq 100); do ! grep -q 'everybody who reaches' err || break; sleep 0.05; done
has "an address that others reach is warned of" "$(cat err)" 'everybody who reaches this address can read the metrics'
stop
"$NOPWATCH" stat --listen 127.0.0.1:0 --from "$sample" >said 2>&1
has "only serve listens" "$(cat said)" "these commands have it: serve"
finish
