# shellcheck shell=bash
# For tests of the page of -f html.

has_browser() { command -v chromium >/dev/null && command -v chromedriver >/dev/null; }

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
