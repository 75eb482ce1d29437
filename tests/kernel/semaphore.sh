# Without (REF_CTR) semaphores are raised process by process: in those that there are, in those
# that start later, in CMD before it runs; and lowered again, whatever happens.
. "$(dirname "$0")/../lib/kernel.sh"
export NOPWATCH_FEATURES=-ref_ctr

row=$("$NOPWATCH" list -j "$SERVER" 'request__start' | j /dev/stdin "first['semaphore_vaddr']")
beat=$("$NOPWATCH" list -j "$PROGRAMS/brood" beat | j /dev/stdin "first['semaphore_vaddr']")
semaphore() { # PID [ROW PROGRAM]: the value of request__start's semaphore in a server, or of that one
  python3 - "$1" "${2:-$row}" "$(basename "${3:-$SERVER}")" <<'PY'
import sys
pid, row, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
start = next(int(l.split("-")[0], 16) for l in open(f"/proc/{pid}/maps") if l.rstrip().endswith(name))
with open(f"/proc/{pid}/mem", "rb") as memory:
    memory.seek(start + row)
    print(int.from_bytes(memory.read(2), sys.byteorder))
PY
}
raised() { [ "$(semaphore "$1")" = 1 ]; }
raised_twice() { [ "$(semaphore "$1")" = 2 ]; }

"$SERVER" -p 200 >/dev/null & first=$!
begun $first "$SERVER"
wait_for semaphore $first
is "nobody has raised it" "$(semaphore $first)" 0
"$NOPWATCH" stat -j "usdt:$SERVER:myserver:*" -o out.json & run=$!
wait_for raised $first
is "it is raised in a process that was there" "$(semaphore $first)" 1
ok "the kernel has not been asked to" sh -c "! grep -q '$SERVER:0x[0-9a-f]*(' '$TRACEFS/uprobe_events'"
"$SERVER" -p 500 >/dev/null & second=$!
begun $second "$SERVER"
wait_for raised $second
is "and in one that started later" "$(semaphore $second)" 1
# the journal knows of each before it is done
is "the journal knows of both" "$(awk '/^undo 13 / { print $3 }' /run/nopwatch/* | sort -nu | xargs)" \
  "$(printf '%s\n' $first $second | sort -n | xargs)"
each_answers $first 500
kill $second
wait $second
kill $run
wait $run
is "it is lowered at the end" "$(semaphore $first)" 0
holds "probes behind a semaphore have hits" out.json "probe('myserver:request__start')['hits'] > 400"
holds "and both ends of it" out.json "span('myserver:request')['latency_ns']['count'] > 400"
unchanged "nothing is left"

# CMD: armed, and raised, before it runs
NOPWATCH_FEATURES='' "$NOPWATCH" stat -j 'myserver:*' -o with.json -- "$SERVER" -n 300 >/dev/null
"$NOPWATCH" stat -j 'myserver:*' -o without.json -- "$SERVER" -n 300 >/dev/null
hits="{r['probe']: r['hits'] for r in of('probe')}"
is "CMD has the same hits as with the kernel's semaphores" "$(j without.json "$hits")" "$(j with.json "$hits")"
holds "all of them" without.json "probe('myserver:request__start')['hits'] == 600"
cp "$SERVER" ./lone
"$NOPWATCH" stat -j "usdt:$PWD/lone:myserver:request__start" -o out.json -- \
  sh -c './lone -p 500 >/dev/null & until [ -e enough ]; do sleep 0.05; done; kill $!; exit 3' & run=$!
armed_and_hit 2000 # which it has only once its semaphore is raised
touch enough
wait $run
is "CMD's own exit status" $? 3
holds "what CMD starts is seen" out.json "probe('myserver:request__start')['hits'] > 1500"
"$NOPWATCH" stat -j "usdt:$SERVER:myserver:*" -o out.json -- /bin/true
is "a CMD that is something else" $? 0
said=$("$NOPWATCH" stat -q "usdt:$SERVER:myserver:*" -- /no/such 2>&1)
has "one that is not there" "$? $said" '^1 nopwatch: .*/no/such'
"$NOPWATCH" stat -q "usdt:$SERVER:myserver:*" -d 0.3 -o out.json -- "$SERVER" -p 200
is "-d ends CMD" $? 0

# without fanotify, /proc is looked through
NOPWATCH_FEATURES=-ref_ctr,-fanotify "$NOPWATCH" stat -j "usdt:$SERVER:myserver:*" -o out.json & run=$!
wait_for raised $first
"$SERVER" -p 500 >/dev/null & second=$!
begun $second "$SERVER"
wait_for raised $second
is "without fanotify, too, it is raised in a process that started later" "$(semaphore $second)" 1
kill $run
wait $run
is "and lowered in both" "$(semaphore $first)$(semaphore $second)" 00
kill $second

# two sessions: each its own one
"$NOPWATCH" stat -q 'myserver:request__start' -p $first -o out.json & run=$!
wait_for raised $first
"$NOPWATCH" stat -q 'myserver:request__start' -p $first -o two.json & two=$!
wait_for raised_twice $first
is "two sessions raise it twice" "$(semaphore $first)" 2
kill $two
wait $two
is "and the end of one lowers it once" "$(semaphore $first)" 1

# kill -9, while a fork has inherited it and another program was started in the meantime
kill -9 $run
wait $run 2>/dev/null
is "after kill -9 it is still raised" "$(semaphore $first)" 1
"$SERVER" -p 500 >/dev/null & second=$!
begun $second "$SERVER"
wait_for semaphore $second
"$NOPWATCH" clean -q
is "clean lowers it, and only where it was raised" "$(semaphore $first)$(semaphore $second)" 00
unchanged "nothing is left"
"$NOPWATCH" stat -q 'myserver:request__start' -p $first -o out.json & run=$!
wait_for raised $first
kill -9 $run
wait $run 2>/dev/null
NOPWATCH_FEATURES='' "$NOPWATCH" stat -q 'myserver:parse__start' -p $second -n 1 -o out.json
is "so does the next run" "$(semaphore $first)$(semaphore $second)" 00
kill $first $second

# forks inherit what was raised in their parents, and are lowered with them
"$PROGRAMS/brood" 3 >brood.out & brood=$!
begun $brood "$PROGRAMS/brood"
wait_for test -s brood.out
"$NOPWATCH" stat -j 'brood:beat' -p $brood --follow -o out.json & run=$!
wait_for armed
beats() { [ "$(semaphore "$1" "$beat" brood)" = 1 ]; }
wait_for beats $brood
kill -USR1 $brood # make the children
wait_for sh -c "[ \$(wc -l <brood.out) -ge 4 ]"
for child in $(pgrep -P $brood); do wait_for beats "$child"; done
more_hits 100
kill $run
wait $run
kill -USR2 -- $brood # all print their semaphore, and end
wait $brood
is "all have it lowered, also children of raised parents" "$(grep -c '^semaphore 0$' brood.out)" 4
holds "all were seen, once raised" out.json "probe('brood:beat')['hits'] > 10"

unchanged
finish
