# Completion: what `nopwatch __complete` knows, and what bash, zsh and fish make of it.
. "$(dirname "$0")/../lib/tap.sh"
top=$(cd "$TESTS_LIB/../.." && pwd)
cd "$TEST_DIR" || exit 1
cp "$SERVER" server
mkdir dir

complete() {
  "$NOPWATCH" __complete "$@"
}

# the first columns, in a line
words() {
  complete "$@" | cut -f1 | tr '\n' ' '
}

# ---- what can stand there --------------------------------------------------------------------

is "every command is offered, with what it does" "$(complete '' | sort)" \
  "$("$NOPWATCH" help | sed -n 's/^  \([a-z]*\)  *\([^ ].*\)/\1\t\2/p' | sort)"
for command in $(words ''); do
  is "every option of $command is offered" "$(words "$command" -)" \
    "$("$NOPWATCH" help "$command" | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' | sort | tr '\n' ' ')"
done
for command in stat trace report list why; do
  is "help $command names the formats that it has" \
    "$("$NOPWATCH" help "$command" | sed -n 's/.*--format FORM *//p' | sed 's/ or /, /; s/, /\n/g' | sort | tr '\n' ' ')" \
    "$(words "$command" -f '')"
done
is "no help is wider than a terminal is often" \
  "$(for command in $(words ''); do "$NOPWATCH" help "$command"; done | awk 'length($0) > 90')" ""
is "commands that begin so" "$(words st)" "stat status "
is "formats of a report" "$(words stat -f '')" "csv folded html json openmetrics otlp text "
is "formats of a list" "$(words trace --format=j)" "--format=json "
is "values behind a letter" "$(words stat -f j)" "json "
is "one of several values" "$(words stat --by tid,c)" "tid,comm tid,cpu "
is "files" "$(complete stat -x '')" "@file"
is "files of a report" "$(complete report x)" "@file"
is "a command of its own behind --" "$(complete stat x -- l)" "@command"
is "commands to be explained" "$(words help tr)" "trace "
has "processes" "$(complete stat -p $$)" "^$$	"
is "paths of specs" "$(words stat "usdt:$TEST_DIR/")" "usdt:$TEST_DIR/dir/ usdt:$TEST_DIR/server: "
is "probes of a file in a spec" "$(words stat "usdt:$TEST_DIR/server:myserver:parse")" \
  "usdt:$TEST_DIR/server:myserver:parse__done usdt:$TEST_DIR/server:myserver:parse__start "
is "events of the kernel, where a run takes them" "$(words stat tr)$(words add tr)" "tracepoint: "
is "they are those of list" "$(complete stat "usdt:$TEST_DIR/server:" | cut -f1)" \
  "$("$NOPWATCH" list -j "$TEST_DIR/server" | sed 's/.*"provider":"\([^"]*\)","name":"\([^"]*\)".*/\1:\2/' |
    grep : | sort -u | sed "s|^|usdt:$TEST_DIR/server:|")"
is "probes of -x's file" "$(words stat -x server myserver:parse__s)" "myserver:parse__start "
is "functions of a file" "$(words stat "func:$TEST_DIR/server:mai")" "func:$TEST_DIR/server:main "
sleep 1000 &
sleeping=$!
is "probes of a process that has none" "$(words stat -p $sleeping myserver:)" ""
kill $sleeping
is "nothing is known of what no option is" "$(complete stat --no-such-option '')" "$(complete stat '')"
is "nothing of what no command is" "$(complete no-such-command '')" ""
# shellcheck disable=SC2016
{
  touch 'a b' '$(true)' "it's"
  is "nothing that a shell would take apart" "$(words stat "usdt:./")" "usdt:./dir/ usdt:./server: "
}
rm -f 'a b' "it's" ./*true*

# ---- in the shells ----------------------------------------------------------------------------

mkdir bin
ln -s "$NOPWATCH" bin/nopwatch
PATH=$TEST_DIR/bin:$PATH
cp "$top/tests/demo/sample.dat" sample.dat

typed() {
  case $1 in
  bash) timeout 300 "$TESTS_LIB/typed" bash "$top/scripts/completion/nopwatch.bash" "$2" ;;
  zsh) timeout 300 "$TESTS_LIB/typed" zsh "$top/scripts/completion" "$2" ;;
  fish) timeout 300 fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
    "$top/scripts/completion/nopwatch.fish" "$2" ;;
  esac
}

# What stands in the line afterwards; fish tells only the last word.
typing() { # WHAT SHELL LINE WANTED
  local wanted=$4 seen
  seen=$(typed "$2" "$3" | sed 's/	.*//; s/ *$//')
  [ "$2" != fish ] || wanted=${4##* }
  is "$2: $1" "$seen" "$wanted"
}

for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    skip "$shell" "there is no $shell"
    continue
  fi
  typing "a command" $shell "nopwatch feat" "nopwatch features"
  typing "an option" $shell "nopwatch stat --string" "nopwatch stat --string-size"
  typing "a value" $shell "nopwatch stat -f j" "nopwatch stat -f json"
  typing "a value behind =" $shell "nopwatch stat --format=j" "nopwatch stat --format=json"
  typing "a second value" $shell "nopwatch stat --by tid,p" "nopwatch stat --by tid,pid"
  typing "a file" $shell "nopwatch report samp" "nopwatch report sample.dat"
  typing "a file behind =" $shell "nopwatch stat --from=samp" "nopwatch stat --from=sample.dat"
  typing "a path in a spec" $shell "nopwatch stat usdt:./serv" "nopwatch stat usdt:./server:"
  typing "a probe in a spec" $shell "nopwatch stat usdt:./server:myserver:cac" \
    "nopwatch stat usdt:./server:myserver:cache__evict"
  typing "a probe of -x" $shell "nopwatch trace -x server myserver:cac" \
    "nopwatch trace -x server myserver:cache__evict"
  typing "behind a word with a blank" $shell "nopwatch stat --filter 'tid == 1' usdt:./serv" \
    "nopwatch stat --filter 'tid == 1' usdt:./server:"
done
finish
