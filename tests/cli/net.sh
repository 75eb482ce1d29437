# --net where what the probes cost is not known, and where there are no latencies.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
said() {
  { "$NOPWATCH" "$@" >/dev/null; } 2>&1
  echo "$?"
}

has "an older recording does not tell" "$(said report --net "$sample")" \
  "nopwatch: --net: .*sample.dat does not tell what a hit cost where it was recorded"
has "what to do is said" "$(said report --net "$sample")" 'record it again'
has "it is an error" "$(said report --net "$sample" | tail -1)" '^1$'
"$NOPWATCH" report -j "$sample" >out.json
is "without it nothing is told of costs" "$(grep -c probe_cost_ns out.json)" 0

cat >text <<'END'
          app-7     [000] .....     1.000000: app:work__start: (0x1234)
          app-7     [000] .....     1.000100: app:work__done: (0x1244)
END
has "text does not tell" "$(said stat --net --from text)" 'nopwatch: --net: text does not tell what a hit cost where text is from'
has "nor through a pipe" "$("$NOPWATCH" stat --net --from - <text 2>&1)" 'nopwatch: --net: text does not tell'
has "what to do is said, too" "$(said stat --net --from text)" 'nopwatch record'

has "hits have no latencies" "$(said trace --net --from "$sample")" "^nopwatch: --net: -f text shows hits, not spans$"
has "which is a mistake in what was typed" "$(said trace --net --from "$sample" | tail -1)" '^2$'
has "folded stacks have none" "$(said report --net -f folded "$sample")" "^nopwatch: --net: -f folded has no latencies$"
has "record has nothing to take off: report does" "$(said record --net -o x 'app:*')" "^nopwatch: 'record' has no option '--net'$"
has "help tells of it" "$("$NOPWATCH" help stat)" '--net +latencies without the probe overhead'
finish
