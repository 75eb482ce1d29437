# Strings of every length and place, and pointers to nowhere: whatever the target has, every hit is
# there, and its string is whole, or its beginning and marked. What is wrong about them would make
# some kernels warn or write over memory: that is for tests/vm.
# in turn: it uses the top-level buffer, and removes events that stay
. "$(dirname "$0")/../lib/kernel.sh"

edges=$PROGRAMS/edges
spec="usdt:$edges:edges:text(s:string,len,kind)"

for size in 256 8 64 1000 4096 16384; do
  "$NOPWATCH" trace -j --string-size $size "$spec" -o out.json -- "$edges" 2
  ok "--string-size $size: every string is right" "$TESTS_LIB/edges" out.json $size
  NOPWATCH_FEATURES=-arrays "$NOPWATCH" trace -j --string-size $size "$spec" -o out.json -- "$edges"
  ok "--string-size $size, without arrays" "$TESTS_LIB/edges" out.json $size whole
done
NOPWATCH_FEATURES=-arrays,-hex,-multi_site,-instances "$NOPWATCH" trace -j "$spec" -o out.json -- "$edges"
ok "as on a very old kernel" "$TESTS_LIB/edges" out.json 256 whole


# a length instead of a NUL
counted="usdt:$edges:edges:text(s:string[len],len,kind)"
for mask in '' -arrays; do
  for size in 256 16384; do
    NOPWATCH_FEATURES=$mask "$NOPWATCH" trace -j --string-size $size "$counted" -o out.json -- "$edges"
    ok "$mask --string-size $size: strings are as long as they are said to be" "$TESTS_LIB/edges" out.json $size counted
  done
done
"$NOPWATCH" record -o out.dat "usdt:$edges:edges:text(s:string[arg1])" -- "$edges" >/dev/null
"$NOPWATCH" trace -j --from out.dat >out.json
holds "also of a recording, if only the string was named" out.json \
  "all(len(e['args']['s']) == max(0, min(e['args']['arg1'], 256)) for e in of('event') if e['args']['s'] is not None) and 'kind' not in of('event')[0]['args'] and len(of('event')[0]['args']) == 2"
said=$("$NOPWATCH" trace "usdt:$edges:edges:text(s:string[length])" -- "$edges" 2>&1)
has "a length that there is not" "$? $said" '^2 nopwatch: string\[length\] of edges:text: its length is no argument'
has "a type that there is not" "$("$NOPWATCH" trace "usdt:$edges:edges:text(s:string[a b])" 2>&1)" 'unknown type'

# the same from a recording, and from text
"$NOPWATCH" record --string-size 4096 -o out.dat "$spec" -- "$edges" >/dev/null
"$NOPWATCH" trace -j --from out.dat >out.json
ok "a recording" "$TESTS_LIB/edges" out.json 4096
if need trace-cmd; then
  "$NOPWATCH" record -o out.dat "$spec" -- "$edges" >/dev/null
  trace-cmd report -i out.dat >text 2>/dev/null
  letters=abcdefghijklmnopqrstuvwxyz
  has "trace-cmd shows its strings as text" "$(cat text)" " text: .*len=23 .*s=\"${letters%xyz}\"\$"
  has "as much of them as there is" "$(cat text)" " text: .*len=10000 .*s=\"($letters){9}${letters%wxyz}\"\$"
  hasnt "and none as numbers" "$(cat text)" 's_str0|s_chr0|FAILED'
  "$NOPWATCH" trace -j --from text >out.json
  holds "its text is read with them" out.json "{'', 'a', 'abcdefg'} <= {e['args'].get('s') for e in of('event')}"
  NOPWATCH_FEATURES=-arrays "$NOPWATCH" record -o out.dat "$counted" -- "$edges" >/dev/null
  trace-cmd report -i out.dat >text 2>/dev/null
  has "also one with a length, of words one by one" "$(cat text)" " text: .*len=100 .*s=\"($letters){3}${letters%????}\"\$"
  is "that has no NUL" "$(grep -c 's=".*#' text)" 0
else
  skip "trace-cmd shows its strings as text" "trace-cmd is not installed"
fi
"$NOPWATCH" script --string-size 300 "$spec" >edges.sh
sh edges.sh >text 2>said & script=$!
wait_for grep -q '^nopwatch: armed' said
"$edges"
kill $script
wait $script
"$NOPWATCH" trace -j --from text >out.json
ok "the text of a script" "$TESTS_LIB/edges" out.json 300 whole
"$NOPWATCH" add -q --enable "$spec"
"$edges"
cat "$TRACEFS/trace" >text
hasnt "events that stay have no string without a bound" "$(cat "$TRACEFS/uprobe_events")" ':string'
"$NOPWATCH" remove -q sdt_edges
: >"$TRACEFS/trace"
"$NOPWATCH" trace -j --from text >out.json
ok "their text" "$TESTS_LIB/edges" out.json 256

# what they look like, and how they group and compare
"$NOPWATCH" trace "$spec" -o text -- "$edges"
has "NULL is no fault" "$(cat text)" 's=NULL len=-1'
has "a fault is one" "$(cat text)" 's=\(fault\) len=-1'
is "where nothing can be is a fault; of what is not mapped that cannot be told" \
  "$(sed -n 's/.* s=\(.*\) len=-1.*/\1/p' text | tr '\n' ' ')" 'NULL (fault) (fault) ""? ""? ""? (fault) (fault) '
has "an empty string is one" "$(cat text)" 's="" len=0'
has "a cut one has an ellipsis" "$(cat text)" 'uvwxyzabcdefghijklmnopqrstuv"\.\.\. len=257'
"$NOPWATCH" trace -j --string-size 16 "$spec" --filter 's == "abcdefghijklmnop"' -o out.json -- "$edges"
holds "a cut string compares by its beginning" out.json "min(e['args']['len'] for e in of('event')) == 16 and max(e['args']['len'] for e in of('event')) == 10000"
"$NOPWATCH" trace -j --stack --stack-size 64 --string-size 16 "$spec" -o out.json -- "$edges"
holds "a stack that is cut off does not take that key" out.json "any(e.get('cut') == ['s'] and 'stack_cut' in e for e in of('event'))"
"$NOPWATCH" stat -j --string-size 16 "$spec" --by s -o out.json -- "$edges"
holds "and groups by it, marked" out.json \
  "{'', 'NULL', '(fault)', 'a', 'abcdefg', 'abcdefghijklmnop...'} <= {r['group'] for r in of('probe')}"
unchanged
finish
