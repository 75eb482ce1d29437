# --hist ARG:MIN:MAX:STEP of trace_pipe text: edges of the steps, the largest numbers, real numbers, and what is wrong.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/page.sh"
cd "$TEST_DIR" || exit 1

lines() { # VALUE...
  local at=1
  for value; do
    printf '           app-7     [000] .... 1.%06d: probe: (0x401000) v=%s\n' "$((at++))" "$value"
  done
}
# of HIST: the histogram's rows
of() { "$NOPWATCH" stat --from text --hist "$1" 2>err | grep -E '^(\(\.\.\.|\[)' | sed 's/ *|.*//; s/  */ /g'; }

lines -9223372036854775808 -11 -10 -1 0 9 10 19 20 9223372036854775807 >text
is "each edge belongs to the step that it begins" "$(of v:-10:20:10)" "(..., -10) 2
[-10, 0) 2
[0, 10) 2
[10, 20) 2
[20, ...) 2"
is "the whole range" "$(of v:-9223372036854775808:9223372036854775807:18446744073709551615)" ""
has "a STEP that is too large" "$(cat err)" "'18446744073709551615' is no whole number"
is "half of it" "$(of v:-9223372036854775808:0:9223372036854775807)" ""
has "no multiple" "$(cat err)" 'MAX - MIN is no multiple of STEP: use a MAX of -1'
is "up to -1" "$(of v:-9223372036854775808:-1:9223372036854775807)" "[-9223372036854775808, -1) 3
[-1, ...) 7"
lines 18446744073709551615 9223372036854775808 5 >text
is "the largest unsigned numbers are above" "$(of v:0:10:10)" "[0, 10) 1
[10, ...) 2"
"$NOPWATCH" stat -j --from text --hist v:0:1000:1 | grep -o '"linear".*]]}' >out
is "a thousand rows" "$(cat out)" '"linear":{"min":0,"max":1000,"step":1,"below":0,"above":2,"buckets":[[5,5,1]]}'

lines -3 5 6 15 99 >text
"$NOPWATCH" stat -f html --from text --hist v:0:20:10 -o page.html
if has_browser; then
  is "the page shows them" "$(PYTHONPATH=$TESTS_LIB python3 -c '
import os
from browser import Browser
with Browser(os.getcwd(), width=1200, height=900) as browser:
    browser.open("page.html")
    rows = browser.run("return [...document.querySelectorAll(\"#arguments table:nth-of-type(2) tbody tr\")].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent))")
    print(rows)')" "[['below 0', '1'], ['0 to 9', '2'], ['10 to 19', '1'], ['from 20 on', '1']]"
else
  skip "the page shows them" "chromium and chromedriver are not installed"
fi

# merging adds them, where all parts have the same steps
"$NOPWATCH" stat -j --from text --hist v:0:20:10 >one.json
"$NOPWATCH" stat -j --from text --hist v:0:20:5 >other.json
merged() { "$NOPWATCH" report -j "$@" 2>err | grep -o '"linear".*]]}'; }
is "two results together" "$(merged one.json one.json)" '"linear":{"min":0,"max":20,"step":10,"below":2,"above":2,"buckets":[[0,9,4],[10,19,2]]}'
is "other steps: none" "$(merged one.json other.json)" ""
sed 's/"linear":{\("min":0,"max":20,"step":10,"below":\)1/"linear":{\17/' one.json >changed.json
merged changed.json one.json >out
has "counts that contradict the distribution" "$(cat out err)" '^nopwatch: .*changed.json'

wrong() { # HIST MESSAGE
  "$NOPWATCH" stat --from text --hist "$1" >out 2>err
  has "--hist $1" "$? $(head -n 1 err)" "^2 nopwatch: --hist '$1': $2"
}
wrong v:0:10 'MIN, MAX and STEP belong together'
wrong v:0:0:1 'MIN has to be below MAX'
wrong v:9:0:1 'MIN has to be below MAX'
wrong v:0:10:0 'STEP has to be above 0'
wrong v:0:10:-1 'STEP has to be above 0'
wrong v:0:10:3 'MAX - MIN is no multiple of STEP: use a MAX of 9$'
wrong v:0:10:11 'STEP is more than MAX - MIN'
wrong v:0:1001:1 'it has 1001 rows, more than 1000: use a STEP of 2 or more'
wrong v:0:9223372036854775807:1 'it has 9223372036854775807 rows, more than 1000: use a STEP of 9223372036854776 or more'
wrong v:a:10:1 "'a' is no whole number"
wrong v::10:1 "'' is no whole number"
wrong v:0:99999999999999999999:1 "'99999999999999999999' is no whole number"
wrong v:0:1.5:1 "'1.5' is no whole number"
wrong :0:10:1 'the argument is missing'
"$NOPWATCH" stat --from text --hist w:0:10:1 >out 2>err
has "an argument that no probe has" "$? $(cat err)" "^2 nopwatch: --hist 'w': no probe has an argument of that name"
finish
