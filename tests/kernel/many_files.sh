# Many files in a run, none of which anybody runs: why their probes are silent is found out from lists that are read once, not once a file.
. "$(dirname "$0")/../lib/kernel.sh"
command -v strace >/dev/null || skip_all "there is no strace"

for i in $(seq 24); do cp "$PROGRAMS/upgrade" "lib$i" && echo "$i" >>"lib$i"; done
# reads FILES: how often the list of events, and that of their hits, is opened while a run of so many files ends
reads() {
  local specs=() i
  for ((i = 1; i <= $1; i++)); do specs+=("usdt:./lib$i:upgrade:*"); done
  "${STRACE[@]}" -f -qq -e trace=openat -o trace "$NOPWATCH" stat -j -o out.json -d 0.1 "${specs[@]}" 2>said || return
  echo "$(grep -c 'uprobe_profile' trace) $(grep -c 'uprobe_events.*O_RDONLY' trace) $(grep -c '"/proc", ' trace)"
}
read -r few few_lists few_looks <<<"$(reads 4)"
read -r many many_lists many_looks <<<"$(reads 24)"
comment "opened $few and $many times, the list of events $few_lists and $many_lists times, /proc $few_looks and $many_looks times"
ok "the list of hits is not read again for each file" test "$many" -le $((few + 4))
# A deletion needs to know how many sites an event has, which uprobe_events tells of all events at once.
ok "the list of events is not read again for each event that is deleted" test "$many_lists" -le $((few_lists + 6))
ok "processes are not looked at again for each file" test "$many_looks" -le $((few_looks + 4))
holds "and each probe has its reason" out.json "len(of('probe')) == 48 and all(p['state'] == 'not-mapped' for p in of('probe'))"
# an event of somebody else on one of the files is known all the same
"$NOPWATCH" add -q usdt:./lib3:upgrade:work__start >/dev/null
reads 4 >/dev/null
"$NOPWATCH" remove -q '*'
is "the run ends well beside an event of somebody else" "$(j out.json "len(of('probe'))")" 8
unchanged
finish
