# Names and types from files, in what is recorded.
. "$(dirname "$0")/../lib/kernel.sh"
export SYSTEMTAP_TAPSET=

cat >counter.d <<'D'
provider counter {
	probe step__begin(long count, char *text);
	probe step__end(long count, long square);
};
D
"$NOPWATCH" trace -j 'counter:step__*' --types counter.d -o out.json -- "$PROGRAMS/counter" 50 >/dev/null
holds "trace: strings and names from the provider file" out.json \
  "[e['args'] for e in of('event') if 'begin' in e['probe']] == [{'count': i, 'text': 'step \"%d\"\t\\\\' % i} for i in range(50)]"
holds "trace: numbers, too" out.json \
  "[e['args'] for e in of('event') if 'end' in e['probe']] == [{'count': i, 'square': i * i} for i in range(50)]"
"$NOPWATCH" trace -j 'counter:step__end(n:u8, square)' --types counter.d -o out.json -- "$PROGRAMS/counter" 300 >/dev/null
holds "a spec comes first, the file fills the gaps" out.json \
  "[e['args'] for e in of('event')] == [{'n': i % 256, 'square': i * i} for i in range(300)]"
"$NOPWATCH" stat -j 'counter:step__end' --by count --types counter.d -o out.json -- "$PROGRAMS/counter" 5 >/dev/null
holds "stat --by knows the names" out.json \
  "sorted(p['group'] for p in of('probe')) == [str(i) for i in range(5)]"
mkdir tapset
echo 'probe process("counter").mark("step__begin") { what = user_string($arg2) }' >tapset/counter.stp
SYSTEMTAP_TAPSET=$PWD/tapset "$NOPWATCH" record 'counter:step__begin' -o out.dat -- "$PROGRAMS/counter" 3 >/dev/null
"$NOPWATCH" trace -j --from out.dat >out.json
holds "record keeps what an installed tapset knows" out.json \
  "[e['args']['what'] for e in of('event')] == ['step \"%d\"\t\\\\' % i for i in range(3)]"

unchanged
finish
