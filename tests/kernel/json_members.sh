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
unchanged
finish
