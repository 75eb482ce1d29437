# A tracer that is killed while it arms or disarms leaves breakpoints and raised semaphores in living
# programs ("leaking uprobe"), though nothing is enabled any more: the next run, or clean, takes them
# away, and says so only when they are gone. 12 kills while it arms or disarms, with ALL=1 48.
# in turn: it adds events that stay
. "$(dirname "$0")/../lib/kernel.sh"

"$NOPWATCH" list -j "$SERVER" 'myserver:*' >sites
# What of the sites is not as in the file, in all servers
cat >left.py <<'PY'
import json, sys
sites = [json.loads(line) for line in open("sites")]
sites = [s for s in sites if s["type"] == "site"]
server = sys.argv[1]
left = 0
for pid in sys.argv[2:]:
    maps = [line.split() for line in open(f"/proc/{pid}/maps")]
    base = next(int(m[0].split("-")[0], 16) for m in maps if m[-1] == server)
    with open(server, "rb") as file, open(f"/proc/{pid}/mem", "rb") as memory:
        for site in sites:
            file.seek(site["offset"])
            memory.seek(base + site["vaddr"])
            left += file.read(1) != memory.read(1)
            memory.seek(base + site["semaphore_vaddr"])
            left += memory.read(2) != b"\0\0"
print(left)
PY
left() { python3 left.py "$SERVER" "${servers[@]}"; }

servers=()
for _ in $(seq 6); do
  "$SERVER" -t 1 -p 2000 >/dev/null & servers+=($!)
done
for pid in "${servers[@]}"; do begun "$pid" "$SERVER"; done
is "nothing is armed to begin with" "$(left)" 0

leaking=0 wrong=0 unsaid=0
# round MASK SECONDS: kill it so long after it was told to stop (+) or after its start (-)
round() {
  NOPWATCH_FEATURES=$1 "$NOPWATCH" stat -q "usdt:$SERVER:myserver:*" >/dev/null 2>&1 & run=$!
  case $2 in
  +*) wait_for armed
    kill -INT $run
    sleep "${2#+}" ;;
  -*) sleep "${2#-}" ;;
  esac
  { kill -9 $run; wait $run; } 2>/dev/null
  grep -qs 1 "$TRACEFS"/events/nopwatch_${run}_*/enable || [ "$(left)" = 0 ] || leaking=$((leaking + 1))
  said=$("$NOPWATCH" clean -q 2>&1)
  status=$?
  now=$(left)
  [ "$now" = 0 ] || { wrong=$((wrong + 1)) && comment "$* leaves $now: $status $said"; }
  [ "$now" = 0 ] || [ $status = 1 ] || unsaid=$((unsaid + 1))
}
times=${ALL:+16} times=${times:-4}
for _ in $(seq $times); do
  round '' "+0.0$(printf '%02d' $((RANDOM % 60)))"
  round -multi_site "+0.$(printf '%03d' $((RANDOM % 300)))"
  round '' "-0.0$(printf '%02d' $((20 + RANDOM % 60)))"
done
comment "$leaking of $((3 * times)) kills left something armed that nobody had enabled any more"
is "after clean no site is armed and no semaphore raised" "$wrong" 0
is "what is left is no success" "$unsaid" 0
unchanged "nothing is left in tracefs"

# disarmed for its rate, and killed meanwhile
for _ in $(seq $((times / 4 + 2))); do
  "$NOPWATCH" stat -q --max-rate 100 "usdt:$SERVER:myserver:*" >/dev/null 2>&1 & run=$!
  wait_for sh -c "ls -d '$TRACEFS'/events/nopwatch_${run}_*" # armed it may be for a moment only
  sleep "0.$((RANDOM % 9))"
  { kill -9 $run; wait $run; } 2>/dev/null
  "$NOPWATCH" clean -q
done
is "killed while --max-rate disarms" "$(left)" 0

# Of add's events it is read back, too: a breakpoint that no event tells of is named. (Here it is perf's own.)
where=$(j sites "next('{offset} {semaphore_offset}'.format(**s) for s in of('site') if s['name'] == 'parse__start')")
"$NOPWATCH" add -q "usdt:$SERVER:myserver:parse__start"
for ((at = 1; at < 200; at++)); do
  "$PROGRAMS/killer" $at "$NOPWATCH" enable -q sdt_myserver >/dev/null
  grep -q '^undo' /run/nopwatch/kept.events && break
  "$NOPWATCH" clean -q # or the next one is killed while it does that
done
ok "enable is killed in between" test $at -lt 200
# shellcheck disable=SC2086 # two numbers
"$PROGRAMS/opener" site "$SERVER" $where >open 2>&1 & opener=$!
wait_for test -s open
if grep -qx open open; then
  said=$("$NOPWATCH" clean -q 2>&1)
  has "a breakpoint that stays after a killed enable is named, and is no success" "$? ${said//$'\n'/ }" \
    "^1 .*nopwatch: a breakpoint stays at $SERVER\+0x[0-9a-f]+ in 6 processes: another"
  said=$("$NOPWATCH" clean -q 2>&1)
  has "again as long as it is there" "$? ${said//$'\n'/ }" "^1 .*nopwatch: a breakpoint stays at $SERVER\+0x[0-9a-f]+ in 6 processes: another"
  said=$("$NOPWATCH" remove sdt_myserver 2>&1)
  has "by whoever looks, when its event is gone, too" "$said" "a breakpoint stays at"
  said=$("$NOPWATCH" clean -q 2>&1)
  has "until it is gone" "$? ${said//$'\n'/ }" "^1 .*nopwatch: a breakpoint stays at"
  { kill $opener; wait $opener; } 2>/dev/null
else
  skip "a breakpoint that stays after a killed enable is named" "$(cat open)"
fi
"$NOPWATCH" remove -q '*'
ok "clean has nothing to say afterwards" "$NOPWATCH" clean -q
is "nothing is armed" "$(left)" 0

for pid in "${servers[@]}"; do
  kill -0 "$pid" 2>/dev/null || fail "server $pid is alive"
done
kill "${servers[@]}"
unchanged
finish
