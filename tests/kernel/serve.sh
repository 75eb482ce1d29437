# serve: what it answers while it measures is what stat -j says of the same hits, whoever asks meanwhile; and nothing is left.
. "$(dirname "$0")/../lib/kernel.sh"

http() { timeout 60 "$TESTS_LIB/http" "$@" 2>&1; }
"$NOPWATCH" serve --listen 127.0.0.1:0 -x "$SERVER" 'nothing:*' >out 2>err
! grep -q 'built without libmicrohttpd\|needs libmicrohttpd' err || skip_all "libmicrohttpd is not installed"
wait_for() { # COMMAND...: until it succeeds
  for _ in $(seq 200); do
    ! "$@" >/dev/null 2>&1 || return 0
    sleep 0.05
  done
  return 1
}

# hits while others ask: hostile clients, and a good one without a pause
cat >load <<END
#!/bin/sh
while [ ! -e go ]; do sleep 0.05; done
"$SERVER" -t 2 -n 3000
: >hit
while [ ! -e end ]; do sleep 0.05; done
END
chmod +x load
"$NOPWATCH" serve --listen 127.0.0.1:0 -j -o out.json "usdt:$SERVER:myserver:*" -- ./load >/dev/null 2>err &
pid=$!
wait_for grep -q serving err
url=$(sed -n 's/^nopwatch: serving //p' err)
is "it serves before CMD has done anything" "$(http get "$url" | grep -c '^nopwatch_hits_total.* 0$')" 7
http hold "$url" 3 >asked &
holder=$!
: >go
wait_for test -e hit
wait $holder
http hostile "$url" >hostile
has "hostile clients are told off" "$(cat hostile)" '12 that read nothing: answered'
sleep 0.3 # the last hits are handed out
http get "$url" >text
http get "$url" openmetrics >om
http get "$url" protobuf >pb
: >end
wait $pid
is "it ends with CMD" $? 0
is "nothing was lost meanwhile" "$(j out.json 'loss(), span("myserver:request")["count"]')" "(0, 6000)"
compared=$("$TESTS_LIB/served_agrees" text out.json)
ok "text is what stat -j says of the same hits ($compared numbers)" test "$compared" -gt 300
is "so is OpenMetrics" "$("$TESTS_LIB/openmetrics" om) $("$TESTS_LIB/served_agrees" om out.json)" "fine $compared"
is "so is protobuf" \
  "$("$TESTS_LIB/native" pb '[[m["histogram"]["count"], int(m["histogram"]["sum"])] for m in families["nopwatch_latency_nanoseconds"]["metrics"]]')" \
  "$(j out.json '[[s["count"], s["latency_ns"]["sum"]] for s in sorted((s for s in of("span")), key=lambda s: ["myserver:parse", "myserver:lookup", "myserver:request"].index(s["span"]))]')"
has "the probe overhead is there" "$(cat text)" '^nopwatch_probe_cost_seconds_total\{span="myserver:parse"\} 0\.[0-9]+$'
ok "others asked often ($(cat asked) times)" test "$(cat asked)" -gt 20

# a service: it is stopped while somebody holds connections
"$SERVER" -t 1 -n 1000000 >/dev/null 2>&1 &
server=$!
for signal in TERM INT; do
  rm -f err
  "$NOPWATCH" serve --listen '[::1]:0' -p $server 'myserver:*' >out.txt 2>err &
  pid=$!
  wait_for grep -q serving err || { skip "[::1]" "no IPv6 here" && break; }
  url=$(sed -n 's/^nopwatch: serving //p' err)
  http hold "$url" 0.5 >/dev/null
  first=$(http get "$url" | sed -n 's/^nopwatch_hits_total{probe="myserver:request__done"} //p')
  sleep 0.3
  second=$(http get "$url" | sed -n 's/^nopwatch_hits_total{probe="myserver:request__done"} //p')
  ok "the numbers keep up ($first, $second)" test "$second" -gt "$first"
  kill -$signal $pid
  wait $pid
  is "SIG$signal ends it, with the report" "$? $(grep -cE '^myserver:request |hits in .* 0 events lost' out.txt)" "0 2"
  is "nothing is left" "$(our_instances | wc -l)" 0
done
kill $server
wait $server 2>/dev/null
finish
