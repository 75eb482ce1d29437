# Every command of docs/cookbook.md is understood: --dry-run, or a bundled recording in the place of the one it speaks of.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/documents.sh
. "$TESTS_LIB/documents.sh"

(cd "$TESTS_LIB/../.." && cat docs/cookbook.md) >cookbook.md
python3 - cookbook.md <<'PY' || fail "the cookbook can be taken apart"
import re, sys
recipes = re.findall(r"^## ([^\n]*)\n.*?```sh\n(.*?)```\n\n<!-- (\w+)[^\n]*-->\n```\n(.*?)```\n", open(sys.argv[1]).read(), re.S | re.M)
for number, (title, command, load, said) in enumerate(recipes):
    open(f"{number:02}.title", "w").write(title)
    open(f"{number:02}.load", "w").write(load)
    open(f"{number:02}.sh", "w").write(command)
    open(f"{number:02}.said", "w").write(said)
PY
cp "$TESTS_LIB/../demo/sample.dat" before.dat
cp before.dat after.dat
cp before.dat slow.dat

# A program for each that a recipe names, and which may not be installed; they are not run.
mkdir bin
cp "$SERVER" bin/thrower
cp "$SERVER" bin/postgres
cp "$SERVER" bin/server
"$SERVER" -t 2 >/dev/null 2>&1 & server=$!
java=$server
sample=$PWD/before.dat
export server java sample
# shellcheck disable=SC2016 # the program's own
nopwatch_shim 'case "$*" in
list\ *|report\ *|*--from*|why\ *) exec "$NOPWATCH" "$@" ;;
esac
sub=$1
shift
"$NOPWATCH" "$sub" --dry-run "$@" >"$sub.dry" 2>"$sub.err"
echo $? >>statuses
cat "$sub.err" >>errors'

is "there are at least 20 recipes" "$([ "$(ls ./*.sh | wc -l)" -ge 20 ] && echo yes)" yes
for recipe in ./*.sh; do
  title=$(cat "${recipe%.sh}.title")
  : >statuses
  : >errors
  sh "$recipe" >out 2>>errors
  case $(cat "${recipe%.sh}.load") in
  nothing|server) # what it probes is here
    hasnt "$title" "$(grep -vx 0 statuses; grep -i 'usage:\|unknown option\|has no option' errors)" . ;;
  *) # only what is typed
    hasnt "$title" "$(grep -x 2 statuses; grep -i 'usage:\|unknown option\|has no option' errors)" . ;;
  esac
  [ -s "${recipe%.sh}.said" ] && pass "$title: it has an output" || fail "$title: it has an output"
  hasnt "$title: which is no refusal" "$(cat "${recipe%.sh}.said")" 'unknown option|has no option|usage: nopwatch|has no value|nopwatch: cannot read'
done
kill $server
unchanged
finish
