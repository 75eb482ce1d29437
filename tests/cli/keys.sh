# --span START..END,key=A+B: a key of several arguments, of threads, processes and CPUs.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

# two disks, the same sectors: by sector alone, requests of both are mixed up
cat >disks.txt <<'T'
 app-10 [000] d... 100.001: issue: (0x55) dev=8 sector=100 op="r"
 app-10 [000] d... 100.002: issue: (0x55) dev=9 sector=100 op="w"
 app-11 [001] d... 100.004: done: (0x55) dev=8 sector=100
 app-11 [001] d... 100.009: done: (0x55) dev=9 sector=100
 app-11 [001] d... 100.010: done: (0x55) dev=9 sector=200
 app-11 [001] d... 100.011: issue: (0x55) dev=9 op="odd"
T
stat() { "$NOPWATCH" stat -j --from disks.txt --span "$1" >out.json; }
stat 'io=issue..done,key=dev+sector'
holds "by both" out.json "(lambda s: (s['key'], s['count'], s['latency_ns']['min'], s['latency_ns']['max']))(of('span')[0]) == ('dev+sector', 2, 3000000, 7000000)"
holds "a hit that lacks a part of the key, and one that none has begun, are unmatched" out.json "(of('span')[0]['unmatched_starts'], of('span')[0]['unmatched_ends']) == (1, 1)"
stat 'io=issue..done,key=sector'
holds "by sector alone they are mixed up" out.json "(of('span')[0]['latency_ns']['min'], of('span')[0]['latency_ns']['max']) == (2000000, 8000000)"
stat 'io=issue..done,key=sector+dev:dev+sector'
holds "the order counts: 100 and 8 are not 8 and 100" out.json "of('span')[0]['count'] == 0"
stat 'io=issue..done,key=dev+sector+tid'
holds "with the thread" out.json "of('span')[0]['count'] == 0 and of('span')[0]['unmatched_starts'] == 3"
stat 'io=issue..done,key=dev+sector:dev+sector'
holds "the same key twice is one" out.json "(of('span')[0]['key'], of('span')[0]['count']) == ('dev+sector', 2)"
has "an argument that is none" "$("$NOPWATCH" stat --from disks.txt --span 'io=issue..done,key=dev+setcor' 2>&1)" \
  "span 'io' has the key 'setcor', but done has no argument of that name"
has "five parts" "$("$NOPWATCH" stat --from disks.txt --span 'io=issue..done,key=dev+sector+tid+pid+cpu' 2>&1)" "the key is not a name"

# the sample: a request and its thread are one as the request alone is, since none changes its thread
sample=$TESTS_LIB/../demo/sample.dat
report() { "$NOPWATCH" report -j --span "r=myserver:request__start..myserver:request__done,key=$1" "$sample" | grep '"span":"r"' | sed 's/"key":"[^"]*"//'; }
is "a recording" "$(report arg0+tid+pid)" "$(report arg0)"
finish
