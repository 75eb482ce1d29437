# Work that fails and never comes to its end: pairs of USDT probes in one function are told apart by
# the frame they are hit in, live, from recordings and from a script's text.
# in turn: it uses the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/fails" fails
truth() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" said; }

if ! "$NOPWATCH" stat --dry-run "usdt:$PWD/fails:fails:work__*" | grep -q 'frame='; then
  skip "frames" "call frame information cannot be read here (libdw)"
  unchanged
  finish
  exit
fi

# NAME WAY SPAN KNOWN ENDS FILE: what ended and what did not, exactly
exact() {
  holds "$1: $2: what ended is measured, $(truth ended)" "$6" \
    "(lambda l: l['count'] == $(truth ended) and $4)(span('$3')['latency_ns'])"
  holds "$1: $2: what did not is counted, $(truth abandoned)" "$6" \
    "(lambda s: (s['abandoned'], s['unmatched_starts'], s['unmatched_ends'], s['discarded']))(span('$3')) == ($(truth abandoned), 0, $5, 0)"
}
ways=("nested work True 0" "caught work l['min']>=1000000 0" "statements work True 0" "startless tidy True 20"
  "thread work l['count']==0 0" "coroutines work True 0" "overlapping work True 0" "inlined work l['max']>=1000000 0")

for row in "${ways[@]}"; do
  read -r way span known ends <<<"$row"
  "$NOPWATCH" stat -j "usdt:$PWD/fails:fails:*" -o out.json -- ./fails "$way" 20 >said
  exact live "$way" "fails:$span" "$known" "$ends" out.json
  "$NOPWATCH" record -o out.dat "usdt:$PWD/fails:fails:*" -- ./fails "$way" 20 >said 2>/dev/null
  "$NOPWATCH" report -j out.dat >out.json
  exact recorded "$way" "fails:$span" "$known" "$ends" out.json
done
"$NOPWATCH" stat -j "usdt:$PWD/fails:fails:*" -o out.json -- ./fails overlapping 20 >said
holds "both of those that overlap are measured" out.json "span('fails:one')['count'] == 20 and span('fails:work')['count'] == 20"

# where frames do not fit, two ends are lost to finding that out, and nothing else
for way in interpreter crossing; do
  "$NOPWATCH" stat -j "usdt:$PWD/fails:fails:work__*" -o out.json -- ./fails $way 50 >said
  holds "$way: frames do not fit, so the order counts" out.json \
    "(lambda s: $(truth ended) - 4 <= s['count'] and s['unmatched_ends'] <= 2 and s['abandoned'] <= 4)(span('fails:work'))"
done

# In functions of their own: that an end has no start cannot be told from nesting, which is said. Who knows
# that they do not nest says so. 20 times: one is left, two are measured, and an end has no start.
spec="usdt:$PWD/fails:fails:help__*"
flat="flat=usdt:$PWD/fails:fails:help__start..usdt:$PWD/fails:fails:help__done,nest=no"
"$NOPWATCH" record -o out.dat "$spec" -- ./fails helped 20 >said 2>/dev/null
for from in live recorded; do
  run() { if [ $from = live ]; then "$NOPWATCH" stat "$@" -- ./fails helped 20 >said; else "$NOPWATCH" report "$@" out.dat; fi; }
  live=("$spec")
  [ $from = live ] || live=()
  run -j "${live[@]}" -o out.json
  holds "$from: by order they are measured, and those that had others inside are counted" out.json \
    "(lambda s: (s['count'], s['nested'], s['abandoned'], s['unmatched_ends']))(span('fails:help')) == (60, 20, 0, 0)"
  run "${live[@]}" -o out.txt
  has "$from: which is said, and what to do" "$(cat out.txt)" '^fails:help: 20 measured spans had others .*--span \.\.\.,nest=no'
  run -j --span "$flat" -o out.json
  holds "$from: nest=no: what is left is given up, and takes no end" out.json \
    "(lambda s: (s['count'], s['nested'], s['abandoned'], s['unmatched_ends']))(span('flat')) == (40, 0, 20, 20)"
done

"$NOPWATCH" script "usdt:$PWD/fails:fails:*" >script.sh
is_armed() { grep -q armed told; }
for way in caught statements coroutines; do
  : >told
  sh script.sh >text 2>told & script=$!
  wait_for is_armed
  ./fails $way 20 >said
  kill $script
  wait $script
  "$NOPWATCH" stat -j --from text >out.json
  exact "script's text" $way fails:work True 0 out.json
done
for mask in -instances -multi_site -instances,-multi_site,-ref_ctr,-set_event_pid; do
  NOPWATCH_FEATURES=$mask "$NOPWATCH" stat -j "usdt:$PWD/fails:fails:*" -o out.json -- ./fails caught 20 >said
  exact "NOPWATCH_FEATURES=$mask" caught fails:work "l['min'] >= 1000000" 0 out.json
done

# beside arguments and groups, and as a span of one's own
"$NOPWATCH" stat -j "usdt:$PWD/fails:fails:work__*(level)" --by level -o out.json -- ./fails caught 20 >said
holds "by an argument, of the start" out.json \
  "sorted((r['group'], r['count'], r['abandoned']) for r in of('span')) == [('1', 20, 0), ('2', 20, 0), ('3', 20, 0), ('4', 0, 20), ('5', 0, 20)]"
holds "which has no frame in it" out.json "not any('frame' in r['args'] for r in of('probe'))"
"$NOPWATCH" stat -j --span "mine=usdt:$PWD/fails:fails:work__start..usdt:$PWD/fails:fails:work__done" -o out.json -- ./fails caught 20 >said
exact "a span of one's own" caught mine "l['min'] >= 1000000" 0 out.json
"$NOPWATCH" stat -j --span "between=usdt:$PWD/fails:fails:work__done..usdt:$PWD/fails:fails:work__start" -o out.json -- ./fails nested 20 >said
holds "what lies between two is paired by order" out.json "span('between')['count'] == 57"
"$NOPWATCH" stat "usdt:$PWD/fails:fails:*" -- ./fails caught 5 >text
has "text has the column" "$(cat text)" '^SPAN .* ABANDONED +UNMATCHED +DISCARDED$'
"$NOPWATCH" trace -j "usdt:$PWD/fails:fails:work__*" -o out.json -- ./fails nested 1 >said
holds "trace shows no frame" out.json "len(of('event')) == 6 and not any('frame' in e['args'] for e in of('event'))"

# the header is the same for all, but lies where this machine's own are
mkdir -p include/sys
for header in sdt.h sdt-config.h; do
  cp "$(echo "#include <sys/$header>" | gcc -M -x c - | tr ' ' '\n' | grep "/sys/$header")" include/sys/
done
no_32_bits=$(no_32_bits)
if [ -z "$no_32_bits" ]; then
  i686-linux-gnu-gcc -static -std=gnu11 -D_GNU_SOURCE -O2 -pthread -Iinclude "$(dirname "$TESTS_LIB")/programs/fails.c" -o fails32
  for row in "${ways[@]}"; do
    read -r way span known ends <<<"$row"
    "$NOPWATCH" stat -j "usdt:$PWD/fails32:fails:*" -o out.json -- ./fails32 "$way" 20 >said
    exact "32 bits" "$way" "fails:$span" "$known" "$ends" out.json
  done
else
  skip "32-bit programs" "$no_32_bits"
fi

unchanged
finish
