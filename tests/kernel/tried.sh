# A kernel whose files do not tell what its probes can do (as before 4.4): it is tried once a boot, and never by what
# only looks. Here README is empty, set_event_pid is masked, and /run is another one.
# in turn: it tries what the top-level buffer can do
. "$(dirname "$0")/../lib/kernel.sh"

: >empty
mkdir run
: >err
spec="usdt:$SERVER:myserver:request__*"
found=$PWD/run/nopwatch/tried.features
old() { # COMMAND...: on such a kernel
  "$TESTS_LIB/own_mounts" "mount --bind '$PWD/run' /run && mount --bind '$PWD/empty' '$TRACEFS/README' &&
    NOPWATCH_FEATURES=-set_event_pid exec timeout -s KILL 60 $*"
}
counts() {
  rm -f got.json
  old "'$NOPWATCH' stat -j -o got.json '$spec' -- '$SERVER' -t 2 -n 50 -p 0" >/dev/null 2>err
  j got.json "probe('myserver:request__start')['hits'], span('myserver:request')['latency_ns']['count']"
}

said=$(old "'$NOPWATCH' stat --dry-run -d 1 '$spec'" 2>err)
has "--dry-run does not refuse" "$? $said" '^0 T='
has "and says what it does not know" "$(cat err)" "it was not tried since it was booted"
is "and tries nothing" "$(find run -name '*nopwatch*')" ""
unchanged

is "a run finds out" "$(counts)" "(100, 100)"
has "and keeps it" "$(cat "$found")" '^feature instance_events 1$'
unchanged
is "--dry-run knows it then" "$(old "'$NOPWATCH' stat --dry-run -d 1 '$spec'" 2>&1 >/dev/null)" ""
# what stands there is what counts: there is no second trial
sed -i 's/^feature memory 1$/feature memory 0/' "$found"
has "the next run goes by it" "$(old "'$NOPWATCH' trace -n 1 'counter:step__begin(i, text:string)' -- '$PROGRAMS/counter' 5" 2>&1)" \
  "text of counter:step__begin has no value: it is in memory"
is "features does not repeat what was refused, which old kernels log" "$(old "'$NOPWATCH' features -j" | j /dev/stdin "[r['tried'] for r in rows if r['name'] == 'memory'][0]")" "did not work"
rm "$found"
is "and tries what nothing is known of" "$(old "'$NOPWATCH' features -j" | j /dev/stdin "[r['tried'] for r in rows if r['name'] == 'memory'][0]")" works
has "and keeps what it found" "$(cat "$found")" '^feature memory 1$'

# of a trial that could not ask for more, since the top-level buffer was not free
sed -i 's/^feature instance_events 1$/feature instance_events 0/; s/^end$/more/' "$found"
is "what a part of a trial has found is gone by" "$(counts)" "(100, 100)"
has "and the rest is tried" "$(tr '\n' ' ' <"$found")" 'feature instance_events 0 .*end $'
unchanged
rm "$found"

# what is not this boot's, not whole, or no file
counts >/dev/null
wrong() { # WHAT
  is "$1: tried again" "$(counts)" "(100, 100)"
  ok "$1: and kept" timeout 20 grep -q '^feature memory 1$' "$found"
}
sed -i '1s/ [0-9a-f]*-/ 00000000-/; s/^feature memory 1$/feature memory 0/' "$found"
wrong "of another boot"
sed -i '1s/ [^ ]*$/ /; s/^feature memory 1$/feature memory 0/' "$found"
wrong "of no boot"
sed -i '/^end$/d; s/^feature instance_events 1$/feature instance_events 0/' "$found"
wrong "without its end"
sed -i 's/^feature hex.*/feature what 1/' "$found"
sed -i '$!s/^feature instance_events 1$/feature instance_events 0\nfeature what 1/' "$found"
wrong "of features that there are none of"
head -c 100000 /dev/urandom >"$found"
wrong "anything"
rm "$found"
mkfifo "$found"
wrong "a FIFO"
rm "$found"
ln -s /dev/zero "$found"
wrong "a link to a device"

# masked is masked, and nothing is kept that was not tried
rm "$found"
is "a masked trial is none" "$(old "env NOPWATCH_FEATURES=-set_event_pid,-memory '$NOPWATCH' stat -q -d 0.1 '$spec' -o got.json"; find run -name "*.features")" ""
unchanged "nothing is left"
finish
