# The page of report -f html, in a real browser (docs/html.md): of a recording, and of made-up text.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/page.sh"
cd "$TEST_DIR" || exit 1

keep_browser
sample=$TESTS_LIB/../demo/sample.dat
# line COMM-TID CPU TIME EVENT
line() { printf '%16s-%-7d [%03d] ..... %12s: %s\n' "$@"; }
page() { page_data "$1" >"${1%.html}.json"; }

"$NOPWATCH" report -f html -o page.html "$sample"
is "a page is written" $? 0
"$NOPWATCH" report -j "$sample" >report.json
"$NOPWATCH" trace -j --from "$sample" >events.json
page page.html
holds "with its rows" page.json "len(first['rows']) == 10 and not first['left_out']"
if has_browser; then
  tap_of "$TESTS_LIB/html_agrees" page.html report.json events.json myserver:request
else
  skip "the page in a browser" "chromium and chromedriver are not installed"
fi

# ---- the slowest spans, without a script ----

python3 - page.html events.json >slow.out <<'P'
import html, json, re, sys
page = re.sub(r"<script.*?</script>", "", open(sys.argv[1], encoding="utf-8").read(), flags=re.S)
table = re.search(r'<div id="slowest"><h3>(.*?)</h3>.*?<tbody>(.*?)</tbody>', page, re.S)
rows = [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in table[2].split("</tr>") if "<td" in row]
print(table[1], len(rows), sep="|")
print(*rows[0], sep="|")
P
has "the page itself has the ten slowest spans, the longest first, with their arguments" "$(cat slow.out)" \
  '^2[.]13 ms[|]myserver:request[|]0[.]68192[0-9] s[|]server-4334[|]arg0=2000312 arg1=140265341869664[|]arg0=2000312 arg1=200 arg2=2863$'
has "and how many they are" "$(cat slow.out)" '^The 10 slowest spans[|]10$'

# ---- stacks, as --stack hands them out ----

with_flames() { # PAGE ROW FRAME: the same page, with data of our own
  python3 - "$@" <<'P'
import json, sys
page, row, frame = sys.argv[1:]
flames = [{"of": row, "total": 105, "stacks": [["main;work;parse", 60], ["main;work;" + frame, 30], ["main;wait", 10]]},
          {"of": "elsewhere", "total": 3, "stacks": [["a;b", 3]]}]
made = json.dumps({"flame": flames})[1:-1]
for c in "<>&":
    made = made.replace(c, f"\\u{ord(c):04x}")
print(open(page, encoding="utf-8").read().replace('{"version":1,', '{"version":1,' + made + ",", 1), end="")
P
}
with_flames page.html myserver:request '</script><img src=x onerror=HACKED>' >flame.html
if has_browser; then
  tap_of "$TESTS_LIB/html_flame" flame.html myserver:request elsewhere
  tap_of "$TESTS_LIB/html_access" flame.html myserver:request myserver:request__start
else
  skip "flame graphs, screen readers and paper in a browser" "chromium and chromedriver are not installed"
fi

# ---- what is hostile stays text ----

evil='</script><img src=x onerror="document.title=`HACKED`">'
{
  line 'x</script><b>' 77 0 5.000001 'q__start: (0x401136) id=1 sql="<!--<script>"'
  line 'x</script><b>' 77 1 5.000101 'q__done: (0x401146) id=1'
  line 'my app' 78 1 5.000102 "q__start: (0x401136) id=2 sql=\"$evil\""
  line 'my app' 78 1 5.300302 'q__done: (0x401146) id=2'
} >'<script>HACKED<!--&amp;.txt'
"$NOPWATCH" report -f html --by comm -o evil.html '<script>HACKED<!--&amp;.txt'
is "nothing of it is in the page but in its data" "$(grep -c '<img' evil.html)" 0
is "the table of the slowest has it as text" "$(sed -n '/id="slowest"/,/<\/div>/p' evil.html | grep -c '&#60;/script&#62;&#60;img src=x onerror=')" 1
page evil.html
"$NOPWATCH" report -f html -o plain.html '<script>HACKED<!--&amp;.txt'
page plain.html
holds "threads of text have names" plain.json "first['rows'][0]['slowest'][0]['end']['comm'] == 'my app'"
holds "which hold it" evil.json "first['rows'][0]['slowest'][0]['start']['args']['sql'] == '$evil'"
if has_browser; then
  tap_of "$TESTS_LIB/html_hostile" evil.html q "${evil%%\"*}" 'x</script><b>' '<script>HACKED<!--&amp;.txt'
else
  skip "hostile strings in a browser" "chromium and chromedriver are not installed"
fi

# ---- nothing, one event, losses, ten hours ----

line app 7 0 5.0 'a__start: x=1' >one.txt
"$NOPWATCH" report -f html -o one.html one.txt
is "one event is a page" $? 0
python3 - >hours.txt <<'P'
import random
random.seed(1)
for i in range(20000):
    start, took = i * 1.8, random.lognormvariate(-6, 1)
    print(f"{'app':>16}-7       [000] ..... {start:.6f}: a__start: x={i}")
    if i == 4000:
        print("CPU:0 [LOST 77 EVENTS]")
    print(f"{'app':>16}-7       [000] ..... {start + took:.6f}: a__end: x={i}")
P
"$NOPWATCH" report -f html -o hours.html hours.txt
page hours.html
"$NOPWATCH" report -j hours.txt >hours.report
holds "ten hours are 300 to 600 columns" hours.json "300 <= first['bins']['count'] <= 600 and 35990e9 < first['about']['elapsed_ns'] < 36000e9"
holds "their cells hold every span" hours.json "sum(sum(c[5::2]) for c in first['rows'][0]['columns']) == first['rows'][0]['count'] == 19999"
holds "the loss is where it was" hours.json \
  "sum(n for _, n in first['bins']['losses']) == 77 and all(abs(b * first['bins']['width_ns'] - 7200e9) < 2 * first['bins']['width_ns'] for b, _ in first['bins']['losses'])"
if has_browser; then
  cat >look.py <<'P'
import os, sys
sys.path.insert(0, os.environ["TESTS_LIB"])
from browser import Browser
with Browser(os.getcwd()) as browser:
    for name in ("one", "hours", "none"):
        browser.open(name + ".html")
        text = browser.run("return document.body.innerText")
        browser.picture(name + ".png", whole=True)
        print(name, browser.console(), [word for word in ("9:59:58", "1 hit of 1 probe", "77 events", "nothing was measured", "NaN", "Infinity", "undefined") if word in text],
              browser.run("return document.querySelector('.plot').getAttribute('aria-label')"))
P
  "$NOPWATCH" report -f html --filter 'x == 99999' -o none.html hours.txt
  TESTS_LIB=$TESTS_LIB python3 look.py >looked 2>&1
  has "one event is drawn" "$(cat looked)" "^one \[\] \['1 hit of 1 probe'\] a__start: nothing was measured"
  has "ten hours are" "$(cat looked)" "^hours \[\] \['9:59:58', '77 events'\] a: latency over time, 19,999 in 9:59:58"
  tap_of "$TESTS_LIB/html_grey" hours.html a
  has "so is nothing at all" "$(cat looked)" "^none \[\] \[.*\] a: nothing was measured"
else
  skip "one event, ten hours and nothing in a browser" "chromium and chromedriver are not installed"
fi

# ---- what bad input gets: a sentence, a status, and nothing left ----

refused() { # WHAT STATUS PATTERN ARGS...
  local what=$1 status=$2 pattern=$3 said
  shift 3
  said=$("$NOPWATCH" "$@" 2>&1 >out)
  is "$what: status" $? "$status"
  has "$what: said" "$said" "$pattern"
  is "$what: nothing is written" "$(cat out)" ""
}
refused "no events to draw for trace" 2 'trace writes text, json, .* only' trace -f html --from one.txt
refused "nor for list" 2 'list writes text or json only' list -f html
refused "a directory that is not there" 1 "cannot write '/not/there.html'" report -f html -o /not/there.html one.txt
: >empty.txt
refused "an empty file" 1 'neither a recording nor trace text' report -f html -o never.html empty.txt
ok "leaves no page" [ ! -e never.html ]
refused "single spans as they end" 2 'cannot show single spans' report -f html --slower 1ms one.txt
said=$(script -qec "'$NOPWATCH' report -f html one.txt" /dev/null 2>&1)
is "a terminal: status" $? 2
has "a terminal: said" "$said" 'html is not readable on a terminal.*'
has "and what to do" "$said" 'o FILE'
said=$(script -qec "'$NOPWATCH' report -f html -o /dev/tty one.txt" /dev/null 2>&1)
has "a terminal as a file" "$said" 'not readable on a terminal, and /dev/tty is a terminal'
is "intervals that go to a pipe are one page" "$("$NOPWATCH" report -f html -i 600 hours.txt | grep -c '^<!doctype html>')" 1
"$NOPWATCH" report -f html -i 600 -o same.html hours.txt
page same.html
holds "in a file, the last one stays" same.json "first['rows'][0]['count'] == 19999 and sum(sum(c[5::2]) for c in first['rows'][0]['columns']) == 19999"

# ---- much of everything ----

python3 - >many.txt <<'P'
import random
random.seed(2)
for i in range(60000):
    t = i * 0.0001
    print(f"{'app':>16}-{i % 50 + 1:<7} [000] ..... {t:.6f}: p{i % 40}__start: id={i % 3000}")
    print(f"{'app':>16}-{i % 50 + 1:<7} [000] ..... {t + random.random() * 0.00009:.6f}: p{i % 40}__end: id={i % 3000}")
P
"$NOPWATCH" report -f html --by id -o many.html many.txt
ok "3000 groups of 40 spans: no more than a mebibyte" [ "$(stat -c %s many.html)" -le 1048576 ]
page many.html
holds "and it says that there is more" many.json "first['left_out'] and len(first['rows']) > 500"
"$NOPWATCH" report -f html -o spans.html many.txt
page spans.html
end_browser
holds "40 spans without groups are all there" spans.json \
  "not first['left_out'] and len([r for r in first['rows'] if r['type'] == 'span' and r['columns']]) == 40"
finish
