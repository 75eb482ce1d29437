# What the kernel's side can refuse, and what is said then.
. "$(dirname "$0")/../lib/kernel.sh"

spec="usdt:$SERVER:myserver:*"

# every mount of it goes: a machine may have several, one on another or one under debugfs
nowhere='while at=$(awk "\$3 ~ /^(tracefs|debugfs)\$/ { at = \$2 } END { print at }" /proc/self/mounts) &&
  [ -n "$at" ]; do umount "$at"; done'
said=$("$TESTS_LIB/own_mounts" "$nowhere; exec '$NOPWATCH' stat -d 1 '$spec'" 2>&1)
has "tracefs not mounted" "$? $said" '^1 nopwatch: tracefs is not mounted$'
has "and the remedy" "$said" '^nopwatch: mount -t tracefs nodev /sys/kernel/tracing$'
# where it is mounted may be odd, and a debugfs that has none below it is no tracefs
mkdir "a b" debug
said=$("$TESTS_LIB/own_mounts" "$nowhere; mount -t tracefs nodev 'a b' && exec '$NOPWATCH' stat -q --dry-run '$spec' -- true" 2>&1)
has "tracefs is found below a name with a blank" "$? $said" "^0 .*T='?[^']*/a b'?"
said=$("$TESTS_LIB/own_mounts" "$nowhere; mount -t debugfs nodev debug && mount -t tmpfs none debug && exec '$NOPWATCH' stat -d 1 '$spec'" 2>&1)
has "and nothing is mounted where there is none" "$? $said" '^1 nopwatch: tracefs is not mounted$'
# RHEL 7 lets nobody else look into debugfs, where tracefs is then
user="setpriv --reuid=65534 --regid=65534 --clear-groups"
if $user "$NOPWATCH" --version >/dev/null 2>&1; then
  said=$("$TESTS_LIB/own_mounts" "$nowhere; mount -t debugfs nodev debug && mount -t tmpfs -o mode=700 none debug && exec $user '$NOPWATCH' stat -d 1 '$spec'" 2>&1)
  has "what a user may not look into is not called unmounted" "$? $said" '^1 nopwatch: may not use tracefs at .*/debug/tracing: Permission denied$'
  has "... and root may" "$said" '^nopwatch: run as root'
else
  skip "what a user may not look into is not called unmounted" "no other user may run $NOPWATCH"
fi
mkdir fake && touch fake/trace_clock
said=$(NOPWATCH_TRACEFS=$PWD/fake "$NOPWATCH" stat -d 1 "$spec" 2>&1)
has "a kernel without uprobe_events" "$? $said" '^1 nopwatch: this kernel has no uprobe_events \(built without CONFIG_UPROBE_EVENTS\)$'
said=$(NOPWATCH_FEATURES=-nothing "$NOPWATCH" stat -d 1 "$spec" 2>&1)
has "an unknown feature to mask" "$? $said" "^2 nopwatch: NOPWATCH_FEATURES: '-nothing' is not -FEATURE$"

# a debugger's breakpoint is in the file: the kernel would refuse it with its own 524
cp "$PROGRAMS/counter" trapped
offset=$("$NOPWATCH" list -j trapped never | j /dev/stdin "first['offset']")
printf '\xcc' | dd of=trapped bs=1 seek="$offset" conv=notrunc status=none
./trapped 100000000 1000 >/dev/null & pid=$!
begun $pid trapped
said=$("$NOPWATCH" stat -d 0.2 'counter:never' -p $pid 2>&1)
has "a site that holds a breakpoint" "$? $said" '^1 nopwatch: the note of counter:never in .* cannot be used: there is a breakpoint at'
said=$("$NOPWATCH" stat --force -d 0.2 'counter:never' -p $pid 2>&1)
has "forced, the kernel refuses it, and its reason is given" "$? $said" \
  'the kernel would not arm it: the instruction there cannot be probed, or holds a breakpoint already'
# one refused site does not cost the others
"$NOPWATCH" stat --force -j 'counter:*' -p $pid -o out.json 2>err & run=$!
wait_for hit 1000
kill -INT $run
wait $run
holds "the others are armed" out.json "probe('counter:step__begin')['hits'] > 50"
has "and the one that is not is named" "$(cat err)" '^nopwatch: counter:never at .*/trapped\+0x[0-9a-f]+ is left out: the kernel would not arm it'
kill $pid
wait $pid 2>/dev/null
unchanged "nothing is left"

# somebody else has the same place with another semaphore
"$SERVER" -p 200 >/dev/null & pid=$!
begun $pid "$SERVER"
offset=$("$NOPWATCH" list -j "$SERVER" parse__start | j /dev/stdin "hex(first['offset'])")
other=$("$NOPWATCH" list -j "$SERVER" parse__done | j /dev/stdin "hex(first['semaphore_offset'])")
echo "p:foreign/clash $SERVER:$offset($other)" >>"$TRACEFS/uprobe_events"
said=$("$NOPWATCH" stat -d 0.2 'myserver:parse__start' -p $pid 2>&1)
has "a clash of semaphores" "$? $said" '^1 nopwatch: myserver:parse__start at .* is left out: the kernel (refused|would not)'
echo "-:foreign/clash" >>"$TRACEFS/uprobe_events"
kill $pid

# options that tell of spans, for probes that form none
for option in --states --net '--slower 1ms'; do
  # shellcheck disable=SC2086
  said=$("$NOPWATCH" stat $option -d 0.2 "usdt:$SERVER:myserver:parse__start" 2>&1)
  is "${option% *} without spans is an error" "$? $(head -n 1 <<<"$said")" "2 nopwatch: ${option% *} tells of spans, and these probes form none"
done

# the journal's directory is not ours alone
chmod 777 /run/nopwatch
said=$("$NOPWATCH" stat -d 1 "$spec" 2>&1)
has "a journal directory that others can write to" "$? $said" '^1 nopwatch: /run/nopwatch does not belong to us alone: not used$'
chmod 755 /run/nopwatch

unchanged
finish
