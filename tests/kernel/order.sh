# Threads that migrate between start and end: no latency is negative or wild; each lies between
# what the program itself measured inside and outside of the two probes.
. "$(dirname "$0")/../lib/kernel.sh"

[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"

# buffers that have room for all of it: the reader may have to wait, too
"$NOPWATCH" trace -j -b 8M 'migrate:hop__start(id)' 'migrate:hop__done(id)' -o events.json -- \
  "$PROGRAMS/migrate" 4 3000 measures
holds "every event arrives" events.json "len(of('event')) == 24000 and loss() == 0"
cat >check.py <<'P'
import json
measures = {int(i): (int(o), int(n)) for i, o, n in (line.split() for line in open("measures"))}
start, moved, bad = {}, 0, []
last = 0
for line in open("events.json"):
    e = json.loads(line)
    if e["type"] != "event":
        continue
    if e["time_ns"] < last:
        bad.append(("out of order", e))
    last = e["time_ns"]
    key = e["args"]["id"]
    if e["probe"] == "migrate:hop__start":
        start[key] = e
    else:
        took = e["time_ns"] - start[key]["time_ns"]
        moved += e["cpu"] != start[key]["cpu"]
        outer, inner = measures[key]
        # the trace clock may be coarser than ours by a little
        if not inner - 2000 <= took <= outer + 2000:
            bad.append((key, took, inner, outer))
assert not bad, bad[:5]
assert moved > 6000, moved
P
ok "latencies are between the program's own measures, and threads did move" python3 check.py

"$NOPWATCH" stat -j -b 8M 'migrate:*' -o stat.json -- "$PROGRAMS/migrate" 4 3000 measures
longest=$(sort -k2,2n measures | tail -n 1 | cut -d' ' -f2)
shortest=$(sort -k3,3n measures | head -n 1 | cut -d' ' -f3)
holds "the span has every hop" stat.json "span('migrate:hop')['count'] == 12000 and span('migrate:hop')['unmatched_starts'] == 0"
holds "its extremes are between the program's" stat.json \
  "$shortest - 2000 <= span('migrate:hop')['latency_ns']['min'] and span('migrate:hop')['latency_ns']['max'] <= $longest + 2000"

unchanged
finish
