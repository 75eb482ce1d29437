# stat and trace end with a line for each silent probe, from the same checks as why.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/why.sh
. "$TESTS_LIB/why.sh"
target=$PROGRAMS/target

start idle
"$NOPWATCH" stat -d 0.3 -p $pid "usdt:$target:target:tick" >text 2>&1
has "code that is not executed" "$(cat text)" '^target:tick: no hit: everything is in place; the code was not executed in the last [0-9.]+ s'
"$NOPWATCH" stat -j -d 0.3 -p $pid "usdt:$target:target:tick" -o out.json
holds "in one word" out.json "probe('target:tick')['state'] == 'not-hit'"
"$NOPWATCH" trace -d 0.3 -p $pid "usdt:$target:target:tick" >text 2>err
has "trace says so, too" "$(cat err)" 'target:tick: no hit: everything is in place'
"$NOPWATCH" record -d 0.3 -p $pid -o none.dat "usdt:$target:target:tick" 2>err
has "record, too" "$(cat err)" 'target:tick: no hit: everything is in place'
has "and report of what it has recorded" "$("$NOPWATCH" report none.dat)" \
  '^target:tick: no hit: everything is in place; the code was not executed in the last [0-9.]+ s$'
"$NOPWATCH" trace --from none.dat >text 2>err
has "and its trace" "$(cat err)" 'target:tick: no hit: everything is in place'
# recordings of earlier versions have no such lines in their table
sed 's/^not-hit 0 /xxx-hit 0 /' none.dat >older.dat
has "a recording that has no reason says so" "$("$NOPWATCH" report older.dat)" '^target:tick: the recording has no hit of it, and does not say why'
stop
cp "$target" mine
"$NOPWATCH" stat -d 0.3 "usdt:$PWD/mine:target:tick" >text 2>&1
has "a program that nobody runs" "$(cat text)" '^target:tick: no hit: no process has .*/mine loaded'
TARGET=$PWD/mine start plain
cp "$target" new
mv new mine
"$NOPWATCH" stat -d 0.3 "usdt:$PWD/mine:target:tick" >text 2>&1
has "a program that was replaced" "$(cat text)" '^target:tick: no hit: .*/mine was replaced: process [0-9]+ still runs the old file'
"$NOPWATCH" stat -j -d 0.3 "usdt:$PWD/mine:target:tick" -o out.json
holds "in one word, too" out.json "probe('target:tick')['state'] == 'not-mapped'"
stop
start copy
"$NOPWATCH" stat -d 0.3 -p $pid "uprobe:$target:work" >text 2>&1
has "code in anonymous memory" "$(cat text)" 'no hit: process [0-9]+ runs this code from anonymous memory'
stop
"$NOPWATCH" stat counter:never -- "$PROGRAMS/counter" 5 >text 2>&1
has "a command that is over" "$(cat text)" '^counter:never: no hit: the code was not reached before the end'
for format in csv html openmetrics json folded; do
  stack=$([ $format = folded ] && echo --stack)
  # shellcheck disable=SC2086 # no word, if empty
  "$NOPWATCH" stat -f $format $stack -o none.$format counter:never -- "$PROGRAMS/counter" 5 >/dev/null 2>err
  is "-f $format has a word for it at the end" "$(grep -c '^nopwatch: counter:never: no hit: the code was not reached before the end$' err)" 1
done
"$NOPWATCH" stat -q -f csv counter:never -- "$PROGRAMS/counter" 5 >/dev/null 2>err
is "but not with -q" "$(cat err)" ""
has "so has a report" "$("$NOPWATCH" report -f csv none.dat 2>&1 >/dev/null)" '^nopwatch: .*no hit: '
cp "$target" nobodys
"$NOPWATCH" stat "usdt:$PWD/nobodys:target:tick" -- true >text 2>&1
has "a command that is only a load: nobody runs the file" "$(cat text)" '^target:tick: no hit: no process has .*/nobodys loaded'
start plain
"$NOPWATCH" stat -d 1 -p $pid "usdt:$target:target:tick" >text 2>&1
hasnt "a probe that was hit has no such line" "$(cat text)" 'no hit'
stop

unchanged
finish
