# After kill -9 at any moment, the next run or `clean` leaves tracefs exactly as before, and what
# belongs to others is untouched and still enabled. 8 moments, with ALL=1 20; kill.sh tries moments of all commands.
# in turn: it has an instance and an event of add's
. "$(dirname "$0")/../lib/kernel.sh"

"$SERVER" -t 2 -p 100 >/dev/null & server=$!
begun $server "$SERVER"
offset=$("$NOPWATCH" list -j "$SERVER" 'myserver:parse__start' | j /dev/stdin "first['offset']")

# somebody else's probe, on the same place, enabled
echo "p:foreign_$$/parse $SERVER:$offset" >>"$TRACEFS/uprobe_events"
echo 1 >"$TRACEFS/events/foreign_$$/parse/enable"
foreign_lives() {
  grep -q "^p:foreign_$$/parse " "$TRACEFS/uprobe_events" &&
    [ "$(cat "$TRACEFS/events/foreign_$$/parse/enable")" = 1 ]
}
with_foreign=$(tracefs_state)

left=0 kills=${ALL:+20} kills=${kills:-8}
for ((i = 1; i <= kills; i++)); do
  "$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
  # from before its first step to well after it is armed, which one of them is for sure
  if [ "$i" = 1 ]; then wait_for armed; else sleep "0.$(printf '%03d' $((RANDOM % 60 * (i % 4))))"; fi
  kill -9 $run
  wait $run 2>/dev/null
  [ "$(state_since "$with_foreign")" = "$with_foreign" ] || left=$((left + 1))
  if [ $((i % 2)) = 0 ]; then
    "$NOPWATCH" clean -q
  else
    "$NOPWATCH" stat -q -n 1 'myserver:parse__start' -p $server >/dev/null
  fi
  [ "$(state_since "$with_foreign")" = "$with_foreign" ] || break
done
is "tracefs is as before after each of $kills kills" "$(state_since "$with_foreign")" "$with_foreign"
[ $left -gt 0 ] && pass "some of the kills did leave something to clean ($left)" ||
  fail "some of the kills did leave something to clean"
ok "the foreign event is there and enabled" foreign_lives
ok "the server is alive" kill -0 $server

# a living session is left alone
"$NOPWATCH" stat -j 'myserver:parse__done' -p $server -o out.json & run=$!
wait_for armed
session=$(our_instances)
has "clean says that it leaves a living session alone" "$("$NOPWATCH" clean)" '0 dead sessions removed, 1 living left alone'
is "and does" "$(our_instances)" "$session"
wait_for hit 1000
kill -INT $run
wait $run
holds "and that session counted on" out.json "probe('myserver:parse__done')['hits'] > 100"

# without a descriptor for the directory or for the journal, the session stays, and that is said
"$NOPWATCH" stat -q 'myserver:parse__done' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
kill -9 $run
wait $run 2>/dev/null
descriptors=3 status=1
while [ $status != 0 ] && [ $descriptors -lt 20 ]; do # the program itself cannot be started with less than 4
  descriptors=$((descriptors + 1))
  (ulimit -n $descriptors && "$NOPWATCH" clean -q) >answer 2>&1
  status=$?
  said=$(grep -v 'has no journal: perhaps it belongs to a session in a container' answer) # others who measure meanwhile
  [ $status = 0 ] || printf '%s %s\n' $status "$said"
done >refused
is "clean with few descriptors says what stays, and why" "$(grep -v '^1 nopwatch: .*: Too many open files$' refused)" ''
ok "which is the journal with one number of them" grep -q 'the journal of session .* cannot be read: Too many open files' refused
is "with enough of them, nothing is left" "$(state_since "$with_foreign")" "$with_foreign"

# somebody enabled our events elsewhere, reads our instance: what cannot go is named, and goes later
mkdir "$TRACEFS/instances/tests_clean_$$"
"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
session=$(basename "$(our_instances)")
echo 1 >"$TRACEFS/instances/tests_clean_$$/events/$session/enable"
kill -9 $run
wait $run 2>/dev/null
ok "events that another instance has enabled are disabled there, and removed" "$NOPWATCH" clean -q
rmdir "$TRACEFS/instances/tests_clean_$$"
is "nothing is left of them" "$(state_since "$with_foreign")" "$with_foreign"

"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
exec 9<"$(our_instances)/trace_pipe"
kill -9 $run
wait $run 2>/dev/null
said=$("$NOPWATCH" clean 2>&1)
has "an instance that somebody reads is named" "$said" 'cannot be removed: Device or resource busy \(somebody reads from it\)'
exec 9<&-
ok "and goes once nobody does" "$NOPWATCH" clean -q
is "tracefs is as before" "$(state_since "$with_foreign")" "$with_foreign"

# who has an instance's `trace` open keeps its buffer as it is for that moment
while :; do of_instances trace >/dev/null; done & reader=$!
for i in {1..6}; do
  "$NOPWATCH" stat -q -d 0.05 'myserver:*' -p $server >/dev/null 2>err || echo "$i: $?"
  cat err
done >refused
{ kill $reader; wait $reader; } 2>/dev/null
is "runs beside somebody who looks into their instances all the time" "$(cat refused)" ""

# somebody looks for a moment: taking away is tried again; for longer: it is said, and status 1
"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
instance=$(our_instances)
exec 9<"$instance/trace_pipe"
kill -INT $run
sleep 0.4
exec 9<&-
wait $run
is "a run whose instance somebody reads for a moment" "$? $(state_since "$with_foreign")" "0 $with_foreign"
"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>err & run=$!
wait_for armed
exec 9<"$(our_instances)/trace_pipe"
kill -INT $run
wait $run
has "one whose instance somebody goes on reading" "$? $(cat err)" \
  '^1 nopwatch: not everything of session [0-9]+_[0-9a-f]{6} could be taken away: .* cannot be removed: Device or resource busy'
"$NOPWATCH" why -d 60s myserver:request__start -p $server >out 2>err & run=$!
wait_for armed
exec 9<"$(our_instances | tail -n 1)/trace_pipe"
kill -INT $run
wait $run
has "so has a diagnosis" "$? $(cat err)" \
  '^1 nopwatch: not everything of session [0-9]+_[0-9a-f]{6} could be taken away: .* cannot be removed: Device or resource busy'
has "which gives its answer, too" "$(cat out)" '^Verdict: the probe fires'
ok "its journal stays" sh -c 'ls /run/nopwatch/*_*'
exec 9<&-
ok "and the next takes it away" "$NOPWATCH" clean -q
is "tracefs is as before, again" "$(state_since "$with_foreign")" "$with_foreign"

# a listing that fails is not an empty one
cat >listing.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
DIR *fdopendir(int fd)
{
	DIR *(*real)(int) = dlsym(RTLD_NEXT, "fdopendir");
	char path[64], link[512] = "";
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (readlink(path, link, sizeof link - 1) > 0 && strstr(link, getenv("NO_LISTING_OF"))) {
		errno = ENOMEM;
		return NULL;
	}
	return real(fd);
}
C
if gcc -shared -fPIC -o listing.so listing.c -ldl 2>err; then
  for of in /events/nopwatch_ /instances /run/nopwatch; do
    "$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
    wait_for armed
    kill -9 $run
    wait $run 2>/dev/null
    said=$(ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/listing.so NO_LISTING_OF=$of "$NOPWATCH" clean 2>&1)
    has "a listing of $of that fails is said" "$? ${said//$'\n'/ }" '^1 .*Cannot allocate memory'
    ok "and the journal stays" sh -c 'ls /run/nopwatch/*_*'
    ok "for the next" "$NOPWATCH" clean -q
    is "which leaves nothing" "$(state_since "$with_foreign")" "$with_foreign"
  done
else
  skip "listings that fail" "no shared library can be made here"
fi

# the first add ever, killed: the journal has no header, perhaps half a line; and an instance that
# somebody reads is not forgotten
mkdir "$TRACEFS/instances/nwtest"
echo "p:sdt_half/done $SERVER:$offset" >>"$TRACEFS/uprobe_events"
mkdir -p /run/nopwatch
printf 'undo 4 instances/nwtest -\nundo 2 uprobe_events -:sdt_half/done\nundo 2 uprobe_ev' >/run/nopwatch/kept.events
exec 9<"$TRACEFS/instances/nwtest/trace_pipe"
said=$("$NOPWATCH" clean 2>&1)
has "an instance of a killed add that somebody reads is named" "$? ${said//$'\n'/ }" '^1 .*instances/nwtest: Device or resource busy'
is "its event is gone" "$(grep -c sdt_half "$TRACEFS/uprobe_events")" 0
exec 9<&-
ok "the instance is remembered" "$NOPWATCH" clean -q
is "and nothing is left of it" "$(state_since "$with_foreign")" "$with_foreign"

if need perf; then
  "$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
  wait_for armed
  session=$(basename "$(our_instances)")
  kill -STOP $run
  echo 0 >"$TRACEFS/instances/$session/events/$session/enable"
  event=$(basename "$(find "$TRACEFS/events/$session" -mindepth 1 -maxdepth 1 -type d | head -n 1)")
  # nobody gets through a shut gate; this one is opened by hand
  gate=/run/nopwatch/gate.${session#nopwatch_}
  is "the gate is shut" "$(stat -c %s "$gate")" 0
  ok "and keeps perf out" sh -c "! perf record -q -o perf.data -e '$session:$event' -a true 2>/dev/null"
  echo 1 2>/dev/null >"$TRACEFS/events/$session/$event/enable"
  is "and other tracers" "$(cat "$TRACEFS/events/$session/$event/enable")" 0
  truncate -s 8192 "$gate"
  perf record -q -o perf.data -e "$session:$event" -a sleep 300 2>/dev/null & perf=$!
  wait_for perf_holds $perf
  kill -9 $run
  wait $run 2>/dev/null
  said=$("$NOPWATCH" clean 2>&1)
  has "an event that perf holds stays, and is named" "$said" "event $session/$event (is in use by perf|cannot be deleted)"
  kill -INT $perf
  wait $perf
  ok "and goes once perf is gone" "$NOPWATCH" clean -q
  is "tracefs is as before, too" "$(state_since "$with_foreign")" "$with_foreign"
else
  skip "an event that perf holds" "perf is not installed"
fi

echo 0 >"$TRACEFS/events/foreign_$$/parse/enable"
echo "-:foreign_$$/parse" >>"$TRACEFS/uprobe_events"
kill $server
unchanged
finish
