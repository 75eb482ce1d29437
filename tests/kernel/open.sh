# --open: what hangs now. Threads that wait for a pipe inside nested spans, and the program's own word for what they are.
. "$(dirname "$0")/../lib/kernel.sh"

HANGS=$PROGRAMS/hangs
mkfifo orders
"$HANGS" 5 <orders & target=$!
exec 7>orders


"$NOPWATCH" stat -j --open --states --stack "usdt:$HANGS:hangs:*" -p $target >open.json 2>open.err & tracer=$!
wait_for armed
all_sleep() {
  hit 15 && has_threads $target 4 && ! grep -L '^State:.S' /proc/$target/task/*/status | grep -q .
}
hang() {
  echo begin >&7
  wait_for all_sleep
}
while_busy "$(own_cpus)" hang

# The scheduler's events come a moment later than the hits: SIGUSR1 asks until the report has all of them.
cat >judge.py <<'PY'
"""judge.py PID: the newest report of open spans. All 15 are open, of five threads; ten are shown, the oldest first."""
import json, os, sys
pid = int(sys.argv[1])
rows, report = [], []
for row in map(json.loads, open("open.json")):
    if row["type"] == "open":
        report = [] if row["rank"] == 1 else report
        report.append(row)
assert len(report) == 10 and all(row["open"] == 15 for row in report), len(report)
assert [row["rank"] for row in report] == list(range(1, 11))
assert report == sorted(report, key=lambda row: row["start_ns"])
threads = {int(tid) for tid in os.listdir(f"/proc/{pid}/task")} - {pid}
assert len(threads) == 5 and {row["tid"] for row in report} <= threads, (threads, report)
assert all(row["pid"] == pid and row["comm"] == "hangs" and row["span"] == "hangs:job" for row in report)
seen = {(row["args"]["start"]["arg0"], row["args"]["start"]["arg1"]) for row in report}
assert len(seen) == 10 and all(0 <= index < 5 and 0 <= depth < 3 for index, depth in seen), seen
for row in report:
    depth = row["args"]["start"]["arg1"]
    assert sum(frame.startswith("job+") for frame in row["stack"]) == depth + 1, row["stack"]
    assert any(frame.startswith("work+") for frame in row["stack"]), row["stack"]
split = [row for row in report if "states_ns" in row]
assert split, "the states of none are known"
for row in split:
    assert sum(row["states_ns"].values()) == row["open_ns"], row
    assert 2 * row["states_ns"]["sleeping"] > row["open_ns"], row
where = {sleep.get("function") for row in split for sleep in row["slept_in"]}
PY
asked() {
  kill -USR1 $tracer
  python3 judge.py $target >judged 2>&1
}
ok "SIGUSR1 shows the oldest spans, with thread, arguments, stack, and that they sleep" wait_for asked
[ ! -s judged ] || comment "$(tail -n 1 judged)"

echo end >&7
wait_for hit 30
all_read $tracer
before=$(grep -c '"type":"open"' open.json)
kill -INT $tracer
wait $tracer
is "the tracer ends well" $? 0
holds "all spans have ended, and each is counted" open.json "of('span')[-1]['count'] == 15"
is "so the last report has no open ones" "$(grep -c '"type":"open"' open.json)" "$before"
echo over >&7
wait $target
is "the program has ended, too" $? 0

# The end of a thread ends what it has open: nothing hangs there any more.
exec 7>&-
"$HANGS" 3 <orders & target=$!
exec 7>orders
"$NOPWATCH" stat --open --spans-only "func:$HANGS:job" -p $target >text 2>text.err & tracer=$!
wait_for armed
echo begin >&7
wait_for hit 9
all_read $tracer
kill -USR1 $tracer
wait_for grep -q ' open:$' text
has "calls of a function are open as well" "$(cat text)" 'job, 9 open:$'
is "each has its line" "$(grep -Ec '^ +[0-9.]+ +[0-9]+ hangs-[0-9]+ +.*job open for [0-9.]+' text)" 9
kill -9 $target
wait $tracer
has "when the program has been killed, nothing is open" "$(tail -n 20 text)" '^No span is open[.]$'
unchanged "tracefs is as it was"
