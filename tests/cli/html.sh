# The page of report -f html, in a real browser: docs/html.md.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
browser() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }
# Count the lines of a program that prints TAP itself as ours.
tap_of() {
  local line
  while IFS= read -r line; do
    case $line in
    "ok "*) pass "${line#ok * - }" ;;
    "not ok "*) fail "${line#not ok * - }" ;;
    *) echo "$line" ;;
    esac
  done < <("$@" 2>&1 || echo "not ok 0 - $1 ends with status $?")
}

"$NOPWATCH" report -f html -o page.html "$sample"
is "a page is written" $? 0
"$NOPWATCH" report -j "$sample" >report.json
"$NOPWATCH" trace -j --from "$sample" >events.json
if browser; then
  tap_of "$TESTS_LIB/html_agrees" page.html report.json events.json myserver:request
else
  skip "the page in a browser" "chromium and chromedriver are not installed"
fi
finish
