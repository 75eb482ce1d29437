# A program of 60 lines that measures with the library, as the documentation shows it: what it counts is
# what the traced program itself knows, and it leaves nothing behind.
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/leaves" leaves
"$EXAMPLES/span" "func:$PWD/leaves:step" ./leaves longjmp 20 >out 2>notes
returned=$(sed -n 's/.*returned \([0-9]*\).*/\1/p' out) abandoned=$(sed -n 's/.*abandoned \([0-9]*\).*/\1/p' out)
has "it counts what returned and what did not" "$(cat out)" \
  "^step: $returned times, from [0-9]+ to [0-9]+ ns, half of them in [0-9]+ ns; $abandoned did not end$"
has "and says what was lost" "$(cat out)" '^[0-9]+ hits, 0 events lost$'
ok "the half is between the least and the most" \
  sh -c "sed -n 's/.*from \([0-9]*\) to \([0-9]*\) ns, half of them in \([0-9]*\).*/[ \1 -le \3 ] \&\& [ \3 -le \2 ]/p' out | sh"
is "there is nothing to note" "$(cat notes)" ""

"$EXAMPLES/span" "func:$PWD/leaves:nosuch" ./leaves return 1 >out 2>notes
is "an error ends it" $? 1
has "which is one line" "$(cat notes)" 'span: .*nosuch'
"$EXAMPLES/span" "func:$PWD/leaves:step" ./missing >out 2>notes
is "so does a command that is not there" $? 1
has "which is told, too" "$(cat notes)" 'missing'
"$EXAMPLES/span" >out 2>notes
is "without arguments it tells how to use it" $? 2
unchanged
finish
