# shellcheck shell=bash
# For tests of the page of -f html.

has_browser() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }

# One browser for all of a script, which end_browser ends.
keep_browser() {
  has_browser || return 0
  mkfifo browser.end
  python3 "$TESTS_LIB/browser.py" "$PWD" <browser.end >browser.at 2>browser.err &
  browser=$!
  exec {browser_end}>browser.end
  until [ -s browser.at ] || ! kill -0 $browser 2>/dev/null; do sleep 0.05; done
  BROWSER=$(cat browser.at)
  if [ -n "$BROWSER" ]; then export BROWSER; else unset BROWSER; fi
}
end_browser() {
  [ -n "${BROWSER:-}" ] || return 0
  exec {browser_end}>&-
  wait "$browser"
}

# Count the lines of a program that prints TAP itself as ours.
tap_of() {
  local line
  while IFS= read -r line; do
    case $line in
    "ok "*) pass "${line#ok * - }" ;;
    "not ok "*) fail "${line#not ok * - }" ;;
    *) echo "$line" ;;
    esac
  done < <("$@" 2>&1 || echo "not ok 0 - ${1##*/} ends with status $?")
}

# The data of a page, as a JSON line of type page.
page_data() {
  python3 - "$1" <<'P'
import json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
print(json.dumps({"type": "page"} | json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])))
P
}
