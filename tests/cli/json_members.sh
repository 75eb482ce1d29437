# json(ARG, PATH) in --by and --filter: members of arguments that are JSON, whole, cut, and of anything that is none.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

python3 - <<'PY' >replies.txt
texts = ['{"ok":{"val":"read"},"n":1}', '{"ok":{"val":"read"},"n":20}', '{"ok":{"val":"wr\\u00efte \\"x\\""},"n":-3}', '{"n":2.5,"rows":[{"id":7}]}',
         'no JSON', '{"ok":{"val":true}}', '']
for i, text in enumerate(texts):
    print(f' app-10 [000] 1.{2 * i:06}: q__start: (0x1) s="{text}" kind={i % 2}')
    print(f" app-10 [000] 1.{2 * i + 1:06}: q__done: (0x2) status=0")
PY
by() { "$NOPWATCH" stat -j --by "$1" --from replies.txt "${@:2}" >out.json; }
groups() { j out.json "sorted((s['group'], s['count']) for s in of('span') if s['count'])"; }
by 'json(s, ok.val)'
is "strings are decoded, other values are as they are written" "$(groups)" \
  "$(python3 -c 'print(sorted([("read", 2), ("wr\u00efte \"x\"", 1), ("true", 1), ("?", 3)]))')"
by 'json(s, n)'
is "numbers" "$(groups)" "[('-3', 1), ('1', 1), ('2.5', 1), ('20', 1), ('?', 3)]"
by 'json(s,rows[0].id),kind,tid'
is "elements, beside other keys" "$(groups)" "[('7,1,10', 1), ('?,0,10', 4), ('?,1,10', 2)]"
by 'kind' --filter 'json(s, n) > 1'
is "a filter compares numbers" "$(j out.json "probe('q__start')['hits'] if False else sum(p['hits'] for p in of('probe') if p['probe'] == 'q__start')")" 2
by 'json(s, n)' --filter 'json(s, ok.val) == read || json(s, ok.val) ~ "wr*"'
is "and text" "$(j out.json "sorted(p['group'] for p in of('probe') if p['probe'] == 'q__start' and p['hits'])")" "['-3', '1', '20']"
by 'json(s, n)' --filter '!(json(s, n) < 100)'
is "what is not there is not less" "$(j out.json "sum(p['hits'] for p in of('probe') if p['probe'] == 'q__start')")" 3
for format in text csv html openmetrics; do
  has "$format" "$("$NOPWATCH" stat -f $format --by 'json(s, ok.val)' --from replies.txt)" 'wrïte'
done
for bad in 'json(s)' 'json(s, )' 'json(s, a..b)' 'json(s, a[x])' 'json(, a)' 'json(s, a'; do
  "$NOPWATCH" stat --by "$bad" --from replies.txt >said 2>&1
  is "--by '$bad' is refused" "$?" 2
  "$NOPWATCH" stat --filter "$bad == 1" --from replies.txt >said 2>&1
  is "--filter '$bad == 1' is refused" "$?" 2
done
"$NOPWATCH" stat --by 'json(nosuch, a)' --from replies.txt >said 2>&1
has "an argument that there is not" "$? $(cat said)" "^2 .*no probe has an argument of that name"
has "how it is named" "$(cat said)" 'nosuch:string'
"$NOPWATCH" stat --hist 'json(s, n)' --from replies.txt >said 2>&1
has "--hist finds none in text, and says what does" "$? $(xargs -d "\n" <said)" "^2 .*json\\(s, n\\).*not in text.*--by and --filter"
finish
