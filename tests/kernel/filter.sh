# --filter while it happens: arguments that nobody named are fetched, pairs stay pairs.
. "$(dirname "$0")/../lib/kernel.sh"

spec="usdt:$SERVER:myserver:request*"
"$NOPWATCH" trace -j "$spec" -o all.json -- "$SERVER" -t 2 -n 1000 -p 0 >/dev/null
failed=$(j all.json "len([e for e in of('event') if e['args'].get('arg1') == 404])")
ok "the server has requests that fail" test "$failed" -gt 0

# the server makes up the same requests every time
"$NOPWATCH" stat -j "$spec" --filter 'arg1 == 404 && arg2 == 0' -o out.json -- "$SERVER" -t 2 -n 1000 -p 0 >/dev/null
holds "arguments that no spec names are fetched" out.json "probe('myserver:request__done')['hits'] == $failed"
holds "only failed requests are measured" out.json \
  "(lambda s: (s['count'], s['unmatched_starts'], s['unmatched_ends']))(span('myserver:request')) == ($failed, 0, 0)"
holds "the others are told" out.json "last['filtered'] == 2000 - $failed"
holds "no row is made of arguments that only the filter names" out.json "all(p['args'] == {} for p in of('probe'))"

"$NOPWATCH" stat -j 'counter:step__begin(i, text:string)' counter:step__end \
  --filter 'text ~ "step*9\"*" && i > 50' -o out.json -- "$PROGRAMS/counter" 100 >/dev/null
holds "strings and numbers of the program" out.json \
  "probe('counter:step__begin')['hits'] == 5 and probe('counter:step__end')['hits'] == 100"
holds "a filtered start silences its end" out.json \
  "(lambda s: (s['count'], s['unmatched_starts'], s['unmatched_ends']))(span('counter:step')) == (5, 0, 0)"

"$NOPWATCH" stat -j 'counter:inner__entry(depth)' 'counter:inner__return(depth)' --filter 'depth == 2' -o out.json -- \
  "$PROGRAMS/counter" 100 >/dev/null
holds "recursive calls, one depth of them" out.json \
  "(lambda s: (s['count'], s['unmatched_starts'], s['unmatched_ends']))(span('counter:inner')) == (100, 0, 0)"

"$NOPWATCH" stat -j 'counter:inner__entry' --filter 'comm == counter && pid > 1 && cpu >= 0' -o out.json -- \
  "$PROGRAMS/counter" 10 >/dev/null
holds "thread, process and CPU" out.json "probe('counter:inner__entry')['hits'] == 30 and last['filtered'] == 0"
"$NOPWATCH" stat -j 'counter:inner__entry' --filter 'comm == nobody' -o out.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "hit but filtered" out.json "(lambda p: (p['hits'], p['state']))(probe('counter:inner__entry')) == (0, 'filtered') and last['filtered'] == 30"
"$NOPWATCH" trace -j 'strings:bad(s:string, n)' --filter 's ~ * || n != 7' -o out.json -- "$PROGRAMS/strings" 1 1 >/dev/null
holds "what cannot be read fits nothing" out.json "of('event') == [] and last['filtered'] == 1"
said=$("$NOPWATCH" trace 'strings:bad(s:string, n)' --filter 's ~ * || n != 7' -- "$PROGRAMS/strings" 1 1 2>&1 >/dev/null)
has "and trace says so" "$said" 'strings:bad: hit, but --filter took out all of its hits'
"$NOPWATCH" stat -q 'counter:step__end(i)' --filter 'square == 4' -- "$PROGRAMS/counter" 10 >/dev/null 2>said
is "an argument that nobody has" "$? $(head -n 1 said)" "2 nopwatch: --filter: no probe has an argument 'square'"

unchanged
finish
