# --states beside others: bpftrace splits the same spans of the same run.
# shellcheck source=../lib/truth.sh
. "$(dirname "$0")/../lib/truth.sh"

STATES=$PROGRAMS/states
head -c 1M /dev/zero >block && sync block

# Of a thread that is between the two probes: when it left the CPU, when it was put on a run queue, when it was back.
cat >states.bt <<B
usdt:$STATES:states:begin { @me = (int64)tid; @start = nsecs; @off = (uint64)0; @wait = (uint64)0; @left = (uint64)0; @in = 1; }
tracepoint:sched:sched_switch /@in == 1 && (int64)args->prev_pid == @me/ {
  \$now = nsecs;
  @left = \$now;
  @woke = (args->prev_state == 0 || args->prev_state >= 256) ? \$now : (uint64)0;
}
tracepoint:sched:sched_wakeup /@in == 1 && (int64)args->pid == @me && @left && @woke == 0/ { @woke = nsecs; }
tracepoint:sched:sched_switch /@in == 1 && (int64)args->next_pid == @me && @left/ {
  \$now = nsecs;
  @off += \$now - @left;
  @wait += \$now - @woke;
  @left = (uint64)0;
}
usdt:$STATES:states:end /@in == 1/ { printf("%llu %llu %llu\\n", nsecs - @start, @off, @wait); @in = 0; }
B
cat >peers.py <<'PY'
import json, sys
theirs = [list(map(int, row["data"].split())) for row in map(json.loads, filter(str.strip, open("bpftrace.out"))) if row["type"] == "printf"]
ours = [s for s in map(json.loads, open("slow.json")) if s["type"] == "slow"]
assert len(theirs) == len(ours) == 120, (len(theirs), len(ours))
bad, judged, worst = [], 0, 0
for span, (latency, off, waited) in zip(ours, theirs):
    if "states_ns" not in span:
        continue
    states, tolerance = span["states_ns"], max(20000, span["latency_ns"] // 50)
    asleep = states["sleeping"] + states["disk"]
    differs = [span["latency_ns"] - latency, asleep + states["runnable"] - off, states["runnable"] - waited, asleep - (off - waited)]
    judged += 1
    worst = max(worst, *map(abs, differs[1:]))
    if max(map(abs, differs)) > tolerance:
        bad.append((span["args"]["start"], states, latency, off, waited))
if sys.argv[1:]:
    sys.exit(judged < 90)
print(f"{judged} spans, at most {worst} ns of a state apart")
if judged < 90 or len(bad) > judged / 20:
    sys.exit(f"{len(bad)} of {judged} differ: {bad[:4]}")
PY
if need bpftrace; then
  both() {
    bpftrace_start states.bt
    while_busy 0 "$NOPWATCH" trace -j --slower 1ns --states -o slow.json "usdt:$STATES:states:*(kind:string)" \
      --span 'act=states:begin..states:end' -- "$STATES" 20 block >told
    bpftrace_end
  }
  measured 'python3 peers.py enough' both
  ok "time off the CPU, asleep and waiting for one are bpftrace's, span by span" python3 peers.py
else
  skip "time off the CPU beside bpftrace" "bpftrace is not installed"
fi

unchanged
finish
