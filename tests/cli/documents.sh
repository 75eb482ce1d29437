# The commands in README and in the documents for beginners are understood, and what they show of the sample is true.
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/documents.sh
. "$TESTS_LIB/documents.sh"
top=$(cd "$TESTS_LIB/../.." && pwd)
cd "$TEST_DIR" || exit 1
cp "$SERVER" server
export NOPWATCH_TRACEFS=$PWD/none # so that nothing is armed

nopwatch() { timeout 60 "$NOPWATCH" "$@"; }

# commands FILE: the lines of its blocks, and what stands in backquotes in its tables
commands() {
  shown_commands "$1" | grep '^nopwatch ' | grep -vE 'nopwatch (clean|remove)| \.\.\.'
  grep '^|' "$1" | grep -oE '`nopwatch [a-z]+ [^`]+`' | tr -d '`' | grep -vE '\.\.\.|SPEC|FILE'
}

for document in README.md docs/output.md docs/troubleshooting.md; do
  commands "$top/$document" >lines
  is "$document has commands" "$([ -s lines ] && echo yes)" yes
  while read -r line; do
    said=$(eval "${line//tests\/demo/$top\/tests\/demo}" 2>&1 >/dev/null </dev/null)
    case $? in
    2) fail "$document: $line: $said" ;;
    *) pass "$document: $line" ;;
    esac
  done <lines
done
# every line that README shows of the sample comes out of its command
sed -n '/^\$ nopwatch report .*sample\.dat/,/^```/p' "$top/README.md" | grep -v '^```' >shown
(cd "$top" && eval "$(sed -n '1s/^\$ //p' "$TEST_DIR/shown")") >out
is "README's lines of the sample are printed" "$(sed 1d shown | grep -vFx -e ... -f out)" ""
is "README shows its spans, the slowest ones and the last line" "$(grep -cE '^(SPAN |myserver:.*, the slowest:|.* hits in )' shown)" 5
# every line of a table that docs/output.md shows comes out of its command
"$NOPWATCH" report "$top/tests/demo/sample.dat" --top 1 >out
for word in '^SPAN ' '^myserver:request ' '^PROBE ' '^myserver:parse__start ' '^\(6 more\) .*4711 ' ' hits in '; do
  is "docs/output.md: $word" "$(grep -m1 -E "$word" "$top/docs/output.md")" "$(grep -m1 -E "$word" out)"
done
"$NOPWATCH" report --hist arg2 "$top/tests/demo/sample.dat" >out
for word in '^ARGUMENT ' '^myserver:request__done arg2 '; do
  is "docs/output.md: $word" "$(grep -m1 -E "$word" "$top/docs/output.md")" "$(grep -m1 -E "$word" out)"
done
finish
