# Names come from files and programs that others wrote: whatever a note, a file, a thread or a string
# is called, nothing that is shown makes a terminal do anything.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

# a title, a C1 control as a byte and as a character, writing from right to left, what is no UTF-8
hostile=$'\e]0;owned\a\x9b31m\xc2\x9b31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xff\r\x7fend'

# safe WHAT COMMAND...: both outputs are harmless, and it said something
safe() {
  local what=$1 found
  shift
  "$@" >out 2>err </dev/null
  found=$("$TESTS_LIB/harmless" out err)
  if [ -z "$found" ] && [ -n "$(cat out err)" ]; then
    pass "$what"
  else
    fail "$what"
    comment "$found"
  fi
}

# A program whose probes have such names, and which is called so itself.
cat >hostile.py <<'PYTHON'
import os, struct, sys
name = os.fsencode(sys.argv[2])
with open(sys.argv[1], "rb") as file:
    content = file.read()
# in the note, names may have any length: one of the same takes the place of the old
for old in (b"parse__start", b"parse__done"):
    part = name[:len(old)] if old.endswith(b"start") else name[-len(old):]
    content = content.replace(b"\0" + old + b"\0", b"\0" + part.ljust(len(old), b"x") + b"\0")
with open(os.path.join(b".", b"p" + name), "wb") as file:
    file.write(content)
PYTHON
python3 hostile.py "$SERVER" "$hostile"
# (a spec cannot hold a line break)
file=./p${hostile//$'\r'/}
mv "./p$hostile" "$file"
chmod 755 "$file"
for form in text json; do
  safe "list, $form" "$NOPWATCH" list -f $form "$file"
  safe "list -v, $form" "$NOPWATCH" list -v -f $form "$file"
  safe "why of a file, $form" "$NOPWATCH" why -f $form "usdt:$file:myserver:nothing"
  safe "why of a note, $form" "$NOPWATCH" why -f $form "usdt:$file:myserver:$(printf '\033')*"
  safe "why of a function, $form" "$NOPWATCH" why -f $form "uprobe:$file:main$hostile"
done
safe "a file that is not there" "$NOPWATCH" list "$hostile"
safe "a spec that is none" "$NOPWATCH" stat "$hostile"
safe "an option" "$NOPWATCH" stat "--$hostile" a:b
safe "a command" "$NOPWATCH" "$hostile"
for command in stat trace record script add enable disable remove; do
  safe "$command: no such probe" "$NOPWATCH" $command "usdt:$file:myserver:nothing"
  safe "$command: no such file" "$NOPWATCH" $command "usdt:/$hostile:a:b"
done
safe "script" "$NOPWATCH" script "usdt:$file:*:*"
ok "which is still a script" sh -n out
"$NOPWATCH" script "usdt:$file:myserver:cache__evict" >script.sh 2>/dev/null
is "that means this file" "$(sed -n "s/^  nw_file 0 \(.*\) [0-9]* [0-9]* .*/set -- \1/p" script.sh >word.sh
  sh -c '. ./word.sh; [ "$1" -ef "$0" ] && echo same' "$file")" same
safe "stat --dry-run" "$NOPWATCH" stat --dry-run "usdt:$file:*:*"
safe "add --dry-run" "$NOPWATCH" add --dry-run "usdt:$file:*:*"
safe "a provider file" "$NOPWATCH" list --types "$file" "$file"
printf 'provider %s {};\n' "$hostile" >"$hostile.d"
safe "one with an error" "$NOPWATCH" list --types "$hostile.d" "$file"

# text and recordings: threads, strings, probes
encoded=$(printf %s "$hostile" | od -An -v -tx1 | tr -d '\n' | tr ' ' '%')
{
  echo "#nw nopwatch-plan 1"
  echo "#nw image /x$encoded"
  echo "#nw probe 0 0 p$encoded ${encoded}_start p$encoded:${encoded}_start 0"
  echo "#nw arg sql string"
  echo "#nw point 0 0 0"
  echo "#nw planned 0 0 1 0"
  echo "#nw source 0 0 -1 string string 0 - 0 -"
  echo "#nw event e 0"
  echo "#nw field sql"
  echo "#nw place 0 0"
  echo "#nw end"
} >header
{
  cat header
  for i in 1 2 3; do
    printf '%16s-%-7d [%03d] ..... %12s: %s\n' $'\e[31m\xc2\x9b\x9b' 7 0 "$i.5" "e: (0x1) sql=\"$hostile\""
  done
} >text
for form in text json; do
  safe "trace of text, $form" "$NOPWATCH" trace -f $form --from text
done
for form in text json csv openmetrics html; do
  for by in comm sql comm,sql; do
    safe "stat by $by of text, $form" "$NOPWATCH" stat -v -f $form --by $by --from text
  done
  safe "stat -i of text, $form" "$NOPWATCH" stat -i 1 -f $form --by comm --hist sql --from text
done
sed 's,sql=",sql="</script><script>boo()</script><img src=x onerror=boo()><!--,' text >markup
"$NOPWATCH" stat -f html --by sql --from markup >out
hasnt "a string is no markup in a page" "$(cat out)" '</script><script>boo|<img src=x'
ok "but is in it" grep -q 'boo()' out
"$NOPWATCH" stat -f openmetrics --by sql --from text >out
is "OpenMetrics can be read" "$("$TESTS_LIB/openmetrics" out)" fine
# a spreadsheet runs a cell that begins like a formula, as the target wrote it
number=0
for begin in = + - @ '|' $'\xef\xbc\x8b'; do
  number=$((number + 1))
  printf '%16s-%-7d [%03d] ..... %12s: %s\n' "${begin}1+2" 7 0 "$number.5" "e: (0x1) sql=\"${begin}cmd()\""
done >formulas
# The groups of a CSV table that begin without a quote.
bare_groups() {
  python3 -c 'import csv, sys
print(*sorted(r["group"] for r in csv.DictReader(sys.stdin) if r["type"] == "probe" and r["group"] and r["group"][0] != "\x27"))'
}
for by in comm sql; do
  "$NOPWATCH" stat -f csv --by $by --from formulas >out
  is "a spreadsheet takes no $by for a formula" "$(bare_groups <out)" "$([ $by = comm ] && echo '|1+2' || echo '|cmd()')"
  "$NOPWATCH" stat -f csv --raw --by $by --from formulas >out
  is "--raw leaves each $by as it is" "$(bare_groups <out | wc -w)" 6
done
# ... also behind a semicolon, where that separates cells
echo '           app-7       [000] ..... 1.5: e: (0x1) sql="a;=cmd();b;-1;@x"' >cells
has "nor a part behind a semicolon" "$("$NOPWATCH" stat -f csv --by sql --from cells)" "a;'=cmd\(\);b;'-1;'@x"
"$NOPWATCH" trace -j --from text >out
holds "JSON keeps what is UTF-8" out "'\u202e\u2066' in of('event')[0]['args']['sql'] and '\x1b]0;' in of('event')[0]['args']['sql']"
sed 's/^#nw place 0 0$/#nw place 9 9/' text >damaged
safe "a damaged header" "$NOPWATCH" stat --from damaged
cp text "$hostile"
safe "a text of that name" "$NOPWATCH" stat -v --from "$hostile"
safe "a recording of that name" "$NOPWATCH" report "$hostile.dat"
safe "an output of that name" "$NOPWATCH" stat --from text -o "/$hostile/x"
finish
