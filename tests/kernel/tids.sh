# --tid: only the named threads are recorded, by the kernel's filter or without it, and the run ends with the last of them.
. "$(dirname "$0")/../lib/kernel.sh"

# Two threads call all the time, until the file "stop" is there; others make so many calls once they are told to.
cat >threads.py <<'P'
import os, threading, time
counted = 500
def busy():
    while not os.path.exists("stop"):
        os.getppid()
        time.sleep(0.001)
def once(name):
    open(name + ".tid", "w").write(str(threading.get_native_id()))
    while not os.path.exists(name + ".go"):
        time.sleep(0.01)
    for _ in range(counted):
        os.getppid()
threads = [threading.Thread(target=busy) for _ in range(2)]
threads += [threading.Thread(target=once, args=(name,)) for name in ("a", "b", "c")]
for t in threads:
    t.start()
open("busy.tids", "w").write(" ".join(str(t.native_id) for t in threads[:2]))
busy()
P
python3 threads.py & process=$!
wait_for test -s busy.tids
wait_for test -s c.tid
read -r one two <busy.tids
spec=func:libc.so.6:getppid
of_threads() { j "$1" "sorted({int(s['group']) for s in of('span') if s['count']})"; }

"$NOPWATCH" stat -j --by tid -d 0.5 --tid "$one" "$spec" >out.json 2>err
is "only that thread is counted" "$(of_threads out.json)" "[$one]"
is "and nothing is said" "$(cat err)" ""
"$NOPWATCH" stat -j --by tid -d 0.5 --tid "$two,$one" "$spec" >out.json
is "two threads" "$(of_threads out.json)" "$(printf '%s\n' "$one" "$two" | sort -n | paste -sd, | sed 's/,/, /; s/.*/[&]/')"
"$NOPWATCH" stat -j --by tid -d 0.5 --tid "$process" "$spec" >out.json
is "the number of a process is its first thread" "$(of_threads out.json)" "[$process]"

# a thread ends, and the run with it; it has made 500 calls
for mask in '' -set_event_pid; do
  [ -z "$mask" ] && name=a || name=b
  NOPWATCH_FEATURES=$mask timeout 60 "$NOPWATCH" stat -j --by tid --tid "$(cat $name.tid)" "$spec" -o out.json 2>err & run=$!
  wait_for armed
  touch $name.go
  wait $run
  is "$mask: the run ends with its thread" "$?" 0
  holds "$mask: it has counted every call of it, and no other" out.json \
    "(of('span')[0]['group'], of('span')[0]['count'], len([s for s in of('span') if s['count']]), last['reason']) == ('$(cat $name.tid)', 500, 1, 'process')"
done
has "without set_event_pid it is said who filters" "$(cat err)" 'no set_event_pid here: hits of other threads are filtered by their common_pid|cannot keep other threads out'

# recordings
for mask in '' -set_event_pid; do
  NOPWATCH_FEATURES=$mask "$NOPWATCH" record -q -d 0.5 -o out.dat --tid "$one" "$spec" 2>err
  "$NOPWATCH" report -j --by tid out.dat >out.json
  is "$mask: a recording has only that thread" "$(of_threads out.json)" "[$one]"
done
"$NOPWATCH" trace -j -n 6 --tid "$two" "$spec" >out.json
holds "trace" out.json "{e['tid'] for e in of('event')} == {$two} and len(of('event')) == 6"
"$NOPWATCH" stat -j --states -d 0.5 --tid "$one" "$spec" >out.json
# this kernel may leave out a switch: a span that it is in cannot be split, and says so
holds "with --states" out.json "(lambda s: s['states_ns']['running']['count'] > 0 and s['states_ns']['running']['count'] + s.get('unsplit', 0) == s['count'])(of('span')[0])"
"$NOPWATCH" stat -j --stack --slowest 1 -d 0.5 --tid "$one" "$spec" >out.json
holds "with --stack and --slowest" out.json "of('stack')[0]['count'] > 0 and of('slow')[0]['tid'] == $one"
has "--dry-run shows the filter" "$("$NOPWATCH" stat --dry-run --tid "$one" "$spec")" "echo '?$one'? ?>>.*set_event_pid"
if need tmux; then
  # shellcheck source=../lib/tmux.sh
  . "$TESTS_LIB/tmux.sh"
  terminal 120 30
  enter "$NOPWATCH top --by tid --tid $one $spec"
  sees "top" "^getppid +$one "
  press q
  end_terminal
else
  skip "top" "there is no tmux"
fi

# what is refused
touch c.go
wait_for sh -c "! test -d /proc/$process/task/$(cat c.tid)"
said=$("$NOPWATCH" stat --tid "$(cat c.tid)" "$spec" 2>&1)
has "a thread that there is not" "$? $said" "^1 nopwatch: there is no thread $(cat c.tid)"
for words in "--tid x" "--tid 0" "--tid $one -p $process" "--tid $one -a" "--tid $one --follow"; do
  # shellcheck disable=SC2086 # words are what is wanted
  "$NOPWATCH" stat $words "$spec" >/dev/null 2>err
  is "$words is refused" "$?" 2
done

touch stop
wait $process

# Each write of set_event_pid waits for all CPUs, and no signal ends that: a process of many threads takes few of them.
if need strace; then
  python3 -c 'import threading, time
for i in range(60): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("ready", flush=True); time.sleep(60)' >many &
  process=$!
  wait_for grep -q ready many
  "${STRACE[@]}" -o writes -e trace=openat "$NOPWATCH" stat -q -d 10ms uprobe:libc.so.6:a64l -p $process >out 2>err
  ok "the threads of a process are written at once" test "$(grep -c 'set_event_pid.*O_WRONLY' writes)" -lt 10
  kill $process
  wait $process 2>/dev/null
else
  skip "the threads of a process are written at once" "strace is not installed"
fi
unchanged
finish
