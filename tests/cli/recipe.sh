# recipe: ready questions from files, without root (--dry-run).
. "$(dirname "$0")/../lib/tap.sh"
recipes=$(cd "$TESTS_LIB/../../scripts/recipes" && pwd)
cd "$TEST_DIR" || exit 1
export HOME=$PWD/home XDG_CONFIG_HOME=
unset NOPWATCH_RECIPES
own=home/.config/nopwatch/recipes
mkdir -p bin share/nopwatch $own
cp "$NOPWATCH" bin/nopwatch
cp -r "$recipes" share/nopwatch/
nopwatch=$PWD/bin/nopwatch

is "each recipe is listed" "$("$nopwatch" recipe | sed 's/ .*//')" "$(ls "$recipes")"
is "and says what it is for" "$("$nopwatch" recipe | grep -c '^[a-z-]* *[A-Za-z]')" "$(ls "$recipes" | wc -l)"
for file in "$recipes"/*; do
  name=${file##*/}
  said=$("$nopwatch" recipe "$name" --dry-run -p $$ 2>&1 >out)
  status=$?
  has "$name: prints its command" "$said" '^nopwatch: nopwatch (stat|trace) .* --dry-run -p [0-9]+'
  hasnt "$name: which is understood" "$said" 'usage:|unknown option|has no option|not a probe spec|unknown type'
  hasnt "$name: with a status of its own" "$status" 2
  has "$name: and a hint if it cannot work" "$(cat "$file")" '^hint: '
done
said=$("$nopwatch" recipe malloc --dry-run 2>&1 >out)
is "malloc finds its file" "$? $(head -n 1 <<<"$said")" "0 nopwatch: nopwatch stat --hist size 'func:libc.so.6:malloc(size)' --dry-run"
has "and defines its probes" "$(cat out)" '^echo .*uprobe_events'

cat >$own/mine <<'END'
# a question of mine
list -q

'usdt:./no such:*:*' a'b'c
hint: there is no such file
END
cp "$recipes/malloc" $own/malloc.kept
printf '# mine\nlist -q usdt:./none:*:*\n' >$own/malloc
printf '# nothing\n' >$own/empty
printf 'recipe malloc\n' >$own/again
printf "list 'usdt" >$own/open
head -c 100000 /dev/zero | tr '\0' a >$own/long
mkfifo $own/pipe
has "the user's own are listed, too" "$("$nopwatch" recipe)" '^mine +a question of mine$'
said=$("$nopwatch" recipe mine -v 2>&1)
is "quotes and lines are read" "$? $(echo "$said" | head -n 1)" "1 nopwatch: nopwatch list -q 'usdt:./no such:*:*' abc -v"
has "the hint follows the error" "$(echo "$said" | tail -n 1)" '^nopwatch: mine: there is no such file$'
has "the user's own comes first" "$("$nopwatch" recipe malloc 2>&1)" '^nopwatch: nopwatch list -q'
refused() { # NAME PATTERN
  said=$("$nopwatch" recipe "$1" 2>&1 </dev/null)
  has "$1: refused" "$? $said" "$2"
}
refused none "^2 nopwatch: there is no recipe 'none'"
refused ../recipes/mine "^2 nopwatch: there is no recipe"
refused empty "^1 nopwatch: the recipe 'empty' names no command"
refused again "^1 nopwatch: the recipe 'again' names no command"
refused long "^2 "
refused pipe "^1 nopwatch: cannot read the recipe 'pipe'"
refused open "^1 nopwatch: cannot read the recipe 'open': a quote \('\) in it has no end"
is "NOPWATCH_RECIPES is the only place" "$(NOPWATCH_RECIPES=$own "$nopwatch" recipe | grep -c '^jvm')" 0
if [ "$(id -u)" = 0 ]; then
  printf '# not ours\nlist -q usdt:./none:*:*\n' >$own/theirs
  chown 4711 $own/theirs
  refused theirs "^1 nopwatch: cannot read the recipe 'theirs': Operation not permitted"
else
  skip "a recipe of another user is refused" "needs root"
fi
has "a place without recipes is told" "$(NOPWATCH_RECIPES=$PWD/share/none "$nopwatch" recipe 2>&1 || echo "status $?")" \
  "^status 1$"
has "with its name" "$(NOPWATCH_RECIPES=$PWD/share/none "$nopwatch" recipe 2>&1)" "^nopwatch: there are no recipes in '$PWD/share/none'$"
finish
