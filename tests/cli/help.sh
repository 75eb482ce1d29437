# Help: examples first, each option in one group, and three topics. Every example is a command line that is understood.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
cp "$SERVER" server
export NOPWATCH_TRACEFS=$PWD/none # so that nothing is armed

nopwatch() { timeout 60 "$NOPWATCH" "$@"; }

for command in $("$NOPWATCH" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  "$NOPWATCH" help "$command" >text
  is "$command: each option comes once" "$(grep -oE -- '^  .{4}--[a-z-]+' text | sort | uniq -d)" ""
  is "$command: -h comes last, in the last group" "$(tail -n 1 text)" "  -h, --help                 this text"
  is "$command: lines fit 90 columns" "$(awk 'length > 90' text)" ""
done
for command in list stat trace top why record report script add; do
  "$NOPWATCH" help "$command" >text
  is "$command: examples come first" "$(sed -n 5p text)" "examples:"
  sed -n '6,/^$/s/^  //p' text | grep . >examples
  is "$command: there are five" "$(wc -l <examples)" 5
  while read -r line; do
    said=$(eval "$line" 2>&1 >/dev/null </dev/null)
    [ $? != 2 ] && pass "$line" || fail "$line: $said"
    hasnt "$line: is understood" "$said" 'unknown option|has no option|not a probe spec|needs a value'
  done <examples
done
for topic in spec filter span; do
  has "help $topic" "$("$NOPWATCH" help $topic)" "^(A SPEC|--filter EXPR|A span) .*[.]"
  has "completion offers $topic" "$("$NOPWATCH" __complete help "${topic%?}")" "$topic"
done
has "a topic is found among the commands" "$("$NOPWATCH" help)" 'help spec'
finish
