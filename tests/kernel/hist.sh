# --hist ARG:MIN:MAX:STEP live and recorded: its rows beside bpftrace's lhist of the same run, signed values, groups and intervals.
. "$(dirname "$0")/../lib/kernel.sh"

# rows FILE: what a histogram consists of in text
rows() { grep -E '^(\(\.\.\.|\[-?[0-9])' "$1"; }
# linear FILE: below, above and the buckets of argument i, as JSON has them, of all lines
linear='(lambda l: (sum(x["below"] for x in l), sum(x["above"] for x in l), sorted(map(tuple, sum((x["buckets"] for x in l), [])))))([p["args"]["i"]["linear"] for p in of("probe") if "i" in p["args"]])'

spec="usdt:$PROGRAMS/counter:counter:step__end(i:s8, square)"
if need bpftrace && timeout 60 bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
  # its lhist() takes no negative MIN
  "$NOPWATCH" stat "usdt:$PROGRAMS/counter:counter:step__end(i:u8, square)" --hist i:20:220:20 -o ours -- \
    timeout 60 bpftrace -o theirs -e "usdt:$PROGRAMS/counter:counter:step__end { @ = lhist((uint8)arg0, 20, 220, 20); }" -c "$PROGRAMS/counter 1000" >/dev/null 2>err
  is "each row is bpftrace's" "$(rows ours)" "$(rows theirs)"
  is "below, between and above" "$(rows ours | wc -l)" 12
else
  skip "each row is bpftrace's" "bpftrace does not run here"
fi

# 0 to 999 as signed bytes: what they are is known
wanted=$(python3 -c '
import collections
values = [(i + 128) % 256 - 128 for i in range(1000)]
counts = collections.Counter((v + 100) // 20 for v in values if -100 <= v < 100)
print((sum(v < -100 for v in values), sum(v >= 100 for v in values), [(-100 + 20 * b, -81 + 20 * b, n) for b, n in sorted(counts.items())]))')
"$NOPWATCH" stat -j "$spec" --hist i:-100:100:20 -o out.json -- "$PROGRAMS/counter" 1000 >/dev/null
is "JSON has the counts of all values" "$(j out.json "$linear")" "$wanted"
holds "their sum is the number of hits" out.json "(lambda d: d['count'] == d['linear']['below'] + d['linear']['above'] + sum(b[2] for b in d['linear']['buckets']) == 1000)(of('probe')[0]['args']['i'])"
holds "other arguments have none" out.json "'linear' not in of('probe')[0]['args']['square']"
"$NOPWATCH" stat -j "$spec" --hist i:-100:100:20 --by tid -i 50ms -o by.json -- "$PROGRAMS/counter" 1000 300 >/dev/null
is "groups and intervals together, too" "$(j by.json "(lambda l: (sum(x['below'] for x in l), sum(x['above'] for x in l), sorted((low, high, sum(b[2] for x in l for b in x['buckets'] if b[0] == low)) for low, high in {tuple(b[:2]) for x in l for b in x['buckets']})))([p['args']['i']['linear'] for p in of('probe') if 'i' in p['args'] and 'interval' in p])")" "$wanted"
holds "there were several intervals" by.json "len({p['interval'] for p in of('probe') if 'interval' in p}) > 3"
"$NOPWATCH" stat -f csv "$spec" --hist i:-100:100:20 -o out.csv -- "$PROGRAMS/counter" 1000 >/dev/null
is "CSV has a line for each row" "$(grep -c '^bucket,' out.csv)" 12
is "with their counts" "$(awk -F, '/^bucket,/ { n += $5 } END { print n }' out.csv)" 1000
"$NOPWATCH" record -q -o rec.dat "$spec" -- "$PROGRAMS/counter" 1000 >/dev/null
"$NOPWATCH" report -j --hist i:-100:100:20 rec.dat >again.json
is "a recording says the same" "$(j again.json "$linear")" "$wanted"
"$NOPWATCH" report -f html --hist i:-100:100:20 -o page.html rec.dat
has "the page has it" "$(cat page.html)" '"linear":\{"min":-100,"max":100,"step":20,"below":'
NOPWATCH_FEATURES=-multi_site,-arrays,-set_event_pid "$NOPWATCH" stat -j "$spec" --hist i:-100:100:20 -o old.json -- "$PROGRAMS/counter" 1000 >/dev/null
is "an old kernel" "$(j old.json "$linear")" "$wanted"
"$NOPWATCH" stat "$spec" --hist square:0:1000000:250000 -o ours -- "$PROGRAMS/counter" 1000 >/dev/null
is "unsigned values" "$(rows ours | sed 's/ *|.*//; s/  */ /g')" "[0, 250000) 500
[250000, 500000) 208
[500000, 750000) 159
[750000, 1000000) 133"
# A kernel without hist triggers, as this one may be: tests/vm/guest_engine has those with them.
if ! grep -q 'buckets=size' "$TRACEFS/README"; then
  "$NOPWATCH" stat --engine=kernel "usdt:$PROGRAMS/counter:counter:step__*" -d 1 >out 2>err
  has "--engine=kernel: what the kernel lacks is told" "$? $(xargs <err)" "^1 nopwatch: --engine=kernel: this kernel.*(has no|know only).* nopwatch: --engine=stream reads each hit"
  "$NOPWATCH" add --engine=kernel --name night "usdt:$PROGRAMS/counter:counter:step__*" >out 2>err
  has "add --engine=kernel: the same" "$? $(xargs <err)" "^1 nopwatch: --engine=kernel: this kernel.*(has no|know only)"
  has "and nothing of it is there" "$("$NOPWATCH" report --kernel night 2>&1)" "no counts that stay are called 'night'"
  "$NOPWATCH" stat --engine=auto -v -j "usdt:$PROGRAMS/counter:counter:step__*" -o out.json -- "$PROGRAMS/counter" 10 >/dev/null 2>err
  has "--engine=auto reads each hit" "$(cat err)" "each hit is read \\(--engine=stream\\): --engine=kernel: this kernel"
  holds "and says so" out.json "of('attached')[0]['engine'] == 'stream' and probe('counter:step__end')['hits'] == 10"
fi
finish
