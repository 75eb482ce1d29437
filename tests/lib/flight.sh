# shellcheck shell=bash
# For tests of the flight recorder: a server that is hardly ever slow ($RARE), and what its recordings must hold.
cp "$PROGRAMS/rare" own/rare && RARE=$PWD/own/rare
# shellcheck disable=SC2034 # for the tests
ALL="usdt:$RARE:rare:*"

# whole FILE KEEP ID...: it holds these slow requests, which the program told of in the file `told`, and every other one
# since KEEP seconds before the first of them (0: nobody asks how far back it goes)
whole() {
  local file=$1 keep=$2 slow=() id
  shift 2
  for id; do slow+=("$(awk -v id="$id" '$1 == "slow" && $2 == id { print $2 "," $3 "," $4 "," $5 }' told)"); done
  "$NOPWATCH" trace -q -j --from "$file" >whole.json && "$TESTS_LIB/whole" whole.json "$keep" "${slow[@]}"
}

# readable FILE ID: by all that reads recordings
readable() {
  has "report reads $1" "$("$NOPWATCH" report "$1")" '^rare:request +[0-9]'
  has "so does trace" "$("$NOPWATCH" trace --from "$1" --slower 50ms)" "rare:request [0-9.]+m?s +from arg0=$2"
  ok "so does the page" "$NOPWATCH" report -f html -o page.html "$1"
  if need trace-cmd; then
    is "so does trace-cmd" "$(trace-cmd report "$1" 2>/dev/null | grep -c "request__done.*arg0=\($2\|0x$(printf %x "$2")\)\b")" 1
  else
    skip "so does trace-cmd" "it is not installed"
  fi
}
