# Losses are part of the result: how many events are missing, or that nobody knows how many, in every format.
. "$(dirname "$0")/../lib/tap.sh"
sample=$TESTS_LIB/../demo/sample.dat
cd "$TEST_DIR" || exit 1

# ---- text

line() { printf '             app-77      [000] .....   %s: %s: (0x401136) a=1\n' "$1" "$2"; }
text_with() { # LOSS...
  line 1.000001 work__start
  line 1.000101 work__done
  [ $# = 0 ] || printf '%s\n' "$@"
  line 2.000001 work__start
  line 2.000101 work__done
}
text_with >whole.txt
text_with 'CPU:0 [LOST 17 EVENTS]' >counted.txt
text_with 'CPU:0 [LOST EVENTS]' >unknown.txt
text_with 'CPU:0 [LOST 17 EVENTS]' 'CPU:0 [LOST EVENTS]' >both.txt

# loss_of FILE: the exit status of --strict, and what each format says
loss_of() {
  "$NOPWATCH" stat -q --strict --from "$1" >out.txt 2>&1
  printf '%s %s' $? "$(tail -n 1 out.txt | grep -Eo '(at least )?[0-9]+ events? lost')"
  "$NOPWATCH" stat -j --from "$1" >out.json
  j out.json "' %s %s' % (of('loss')[0]['events'], of('loss')[0].get('at_least', False))"
}
is "nothing lost" "$(loss_of whole.txt)" "0 0 events lost 0 False"
hasnt "and no row is marked" "$(cat out.json out.txt)" 'at_least|[0-9]\+ '
is "a loss of known size" "$(loss_of counted.txt)" "1 17 events lost 17 False"
is "a loss of unknown size is no loss of nothing" "$(loss_of unknown.txt)" "1 at least 1 event lost 1 True"
holds "its rows say that they are lower bounds" out.json \
  "all(r['at_least'] for r in of('probe') + of('span')) and span('work')['count'] == 2"
has "so do those in text" "$(cat out.txt)" '^work +2\+ '
has "and in CSV" "$("$NOPWATCH" report -f csv unknown.txt | head -n 2)" '^type,.*,nested,inner,invalid,at_least,symbol
probe,work__done,.*,1,$'
has "whose loss is marked, too" "$("$NOPWATCH" report -f csv unknown.txt | tail -n 1)" '^loss,,,,1,.*,1,$'
has "and in OpenMetrics" "$("$NOPWATCH" report -f openmetrics unknown.txt)" '^nopwatch_lost_events_at_least 1$'
has "trace says where it was" "$("$NOPWATCH" trace --from unknown.txt 2>&1)" '^\[CPU 0: events lost\]$'
has "and in all" "$("$NOPWATCH" trace --from unknown.txt 2>&1)" 'at least 1 event lost'
is "one of known and one of unknown size" "$(loss_of both.txt)" "1 at least 18 events lost 18 True"
has "trace says so, too" "$("$NOPWATCH" trace --from both.txt 2>&1)" '^\[CPU 0: at least 17 events lost\]$'

# ---- recordings

# damage FILE OUT: no event of some CPU's second page can be read
damage() {
  python3 - "$1" "$2" <<'EOF'
import struct, sys

data = bytearray(open(sys.argv[1], "rb").read())
table = data.index(b"flyrecord\0") + 10
page = struct.unpack_from("<I", data, 14)[0]
for cpu in range(1024):
    offset, size = struct.unpack_from("<QQ", data, table + 16 * cpu)
    if size >= 2 * page:
        struct.pack_into("<Q", data, offset + page + 8, 0x3fffffff)
        break
open(sys.argv[2], "wb").write(data)
EOF
}
damage "$sample" damaged.dat
is "a whole recording lacks nothing" "$(loss_of "$sample")" "0 0 events lost 0 False"
is "one of which a page cannot be read lacks some" "$(loss_of damaged.dat)" "1 at least 1 event lost 1 True"
holds "which its rows say" out.json "all(r['at_least'] for r in of('probe') + of('span'))"
"$NOPWATCH" stat -q --from damaged.dat >/dev/null
is "without --strict that is no failure" $? 0

finish
