# json(ARG, PATH) live and in a recording: strings that Python hands to puts(), whole, and cut by --string-size.
. "$(dirname "$0")/../lib/kernel.sh"

cat >replies.py <<'P'
import ctypes, json
libc = ctypes.CDLL(None)
for i in range(60):
    libc.puts(json.dumps({"ok": {"val": ["read", "write", "q\"\n"][i % 3], "n": i}, "pad": "x" * 150, "last": "L" * 40}).encode())
P
libc=$(python3 -c 'print(next(line.split()[-1] for line in open("/proc/self/maps") if "/libc" in line and "x" in line.split()[1]))')
spec="uprobe:$libc:puts(s:string)"
groups() { j "$1" "sorted((p['group'], p['hits']) for p in of('probe') if p['hits'])"; }
wanted="[('q\"\\n', 20), ('read', 20), ('write', 20)]"

"$NOPWATCH" stat -j --by 'json(s, ok.val)' -o out.json "$spec" -- python3 replies.py >/dev/null
is "live" "$(groups out.json)" "$wanted"
"$NOPWATCH" stat -j --by 'json(s, ok.val),tid' --filter 'json(s, ok.n) >= 30' -o out.json "$spec" -- python3 replies.py >/dev/null
holds "with a filter and another key" out.json "sorted(p['hits'] for p in of('probe') if p['hits']) == [10, 10, 10] and {len(p['by']) for p in of('probe')} == {2}"
"$NOPWATCH" record -q -o out.dat "$spec" -- python3 replies.py >/dev/null
"$NOPWATCH" report -j --by 'json(s, ok.val)' out.dat >out.json
is "a recording" "$(groups out.json)" "$wanted"
# 256 bytes hold 150 of pad, and a part of last
"$NOPWATCH" report -j --by 'json(s, last)' out.dat >out.json
is "whole" "$(groups out.json)" "[('$(printf 'L%.0s' {1..40})', 60)]"
"$NOPWATCH" stat -j --string-size 220 --by 'json(s, last)' -o out.json "$spec" -- python3 replies.py >/dev/null
holds "cut inside the member" out.json "all(p['group'].strip('L') == '...' and 3 < len(p['group']) < 43 for p in of('probe')) and sum(p['hits'] for p in of('probe')) == 60"
"$NOPWATCH" stat -j --string-size 64 --by 'json(s, last)' -o out.json "$spec" -- python3 replies.py >/dev/null
is "cut before it" "$(groups out.json)" "[('...', 60)]"
said=$("$NOPWATCH" stat --by 'json(n, a)' "uprobe:$libc:puts(n:u64)" -- true 2>&1)
has "an argument that is no string" "$said" "^nopwatch: --by 'json\(n, a\)': the argument is no string"
has "is refused by --filter, too" "$("$NOPWATCH" stat --filter 'json(n, a) == 1' "uprobe:$libc:puts(n:u64)" -- true 2>&1)" 'is no string, so it has no JSON'

# ---- as arguments: --hist, and trace --show ----

cat >sums.py <<'P'
import ctypes, json
libc = ctypes.CDLL(None)
for i in range(60):
    libc.puts(json.dumps({"ok": {"n": i - 10, "x": i / 4}, "word": "a\n", "pad": "x" * 190, "last": 1234567}).encode())
P
"$NOPWATCH" stat -j --hist 'json(s, ok.n)' --hist 'json(s,ok.x):0:15:5' --hist 'json(s, word)' -o out.json "$spec" -- python3 sums.py >/dev/null 2>err
distribution="next(p['args'] for p in of('probe'))"
holds "--hist: numbers, negative ones, too" out.json \
  "(lambda d: (d['count'], d['sum'], d['min'], d['max']) == (60, sum(range(-10, 50)), -10, 49))(${distribution}['json(s, ok.n)'])"
holds "in equal steps" out.json "[n for *_, n in ${distribution}['json(s,ok.x)']['linear']['buckets']] == [20, 20, 20]"
holds "text is no number" out.json "${distribution}.get('json(s, word)', {'count': 0})['count'] == 0"
is "whole values are not said to be cut, and an argument that is made is not said to be missing" "$(grep -c 'cut off\|no value' err)" 0
"$NOPWATCH" record -q -o out.dat "$spec" -- python3 sums.py >/dev/null
"$NOPWATCH" report -j --hist 'json(s, ok.n)' --by 'json(s, word)' --filter 'json(s, ok.n) >= 0' out.dat >out.json
holds "of a recording, with a group and a filter" out.json \
  "[(p['group'], p['args']['json(s, ok.n)']['sum']) for p in of('probe') if p['hits']] == [('a\n', sum(range(50)))]"
"$NOPWATCH" report -f csv --hist 'json(s, ok.n)' out.dat >out.csv
has "CSV" "$(cat out.csv)" 'json\(s, ok\.n\)'
"$NOPWATCH" trace -j --show 'json(s, ok.n)' --show 'json(s, word)' --show 'json(s, ok.none)' -o out.json "$spec" -- python3 sums.py >/dev/null
holds "trace --show: each hit's" out.json \
  "[(e['args']['json(s, ok.n)'], e['args']['json(s, word)'], e['args']['json(s, ok.none)']) for e in of('event') if e['args']['s'].startswith('{')] == \
    [(i - 10, 'a\n', None) for i in range(60)]"
"$NOPWATCH" trace --from out.dat --show 'json(s, ok.n)' >out.text
has "trace of a recording" "$(tail -n 1 out.text)" 'json\(s, ok\.n\)=49$'
"$NOPWATCH" trace -j --stack --show 'json(s, ok.n)' -n 5 -o out.json "$spec" -- python3 sums.py >/dev/null 2>&1
holds "beside stacks" out.json "[e['args']['json(s, ok.n)'] for e in of('event') if e['stack'] and e['args']['s'].startswith('{')] == list(range(-10, -5))"
# the number stands at the end, and 256 bytes end in it
"$NOPWATCH" stat -j --hist 'json(s, last)' --string-size 256 -o out.json "$spec" -- python3 sums.py 2>err >/dev/null
holds "a number that was cut is not counted" out.json "${distribution}.get('json(s, last)', {'count': 0})['count'] == 0"
has "and it is said how many are" "$(cat err)" 'json\(s, last\) was cut off, hits: 60'
"$NOPWATCH" stat -j --hist 'json(s, last)' --string-size 512 -o out.json "$spec" -- python3 sums.py 2>err >/dev/null
holds "with enough of it, it is" out.json "${distribution}['json(s, last)']['sum'] == 60 * 1234567"
has "no such argument" "$("$NOPWATCH" trace --show 'json(q, a)' --from out.dat 2>&1)" "'json\(q, a\)': no probe has an argument 'q'"
has "no member" "$("$NOPWATCH" trace --show 'q' --from out.dat 2>&1)" "'q': write json\(ARG, PATH\)"
has "no string" "$("$NOPWATCH" stat --hist 'json(n, a)' "uprobe:$libc:puts(n:u64)" -- true 2>&1)" "'json\(n, a\)': the argument is no string"
has "text is refused, with what works" "$(echo ' a-1 [000] 1.0: p: (0x1) s="{}"' | "$NOPWATCH" stat --hist 'json(s, a)' --from - 2>&1 | xargs)" 'not in text .*--by and --filter'
unchanged
finish
