# --states of PostgreSQL's queries while somebody holds the lock of the row that they want: who waits sleeps, as long
# as the server's own log says, where /proc says, and is woken by who held the lock.
# shellcheck source=../lib/postgres.sh
. "$(dirname "$0")/../lib/postgres.sh"

on_telling_cpus || skip_all "this kernel leaves out switches on every CPU"
postgres_start -c log_lock_waits=on -c deadlock_timeout=10ms -c log_line_prefix='pid=%p '
echo 'UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1;' >update.sql

# What nopwatch runs: a lock, held for 2.5 s, and three clients that want it.
cat >load.sh <<'LOAD'
psql -qAt -c 'SELECT pg_backend_pid()' -c BEGIN -c 'UPDATE pgbench_accounts SET abalance = 0 WHERE aid = 1' \
  -c "SELECT extract(epoch FROM clock_timestamp())" -c "SELECT pg_sleep(2.5)" \
  -c "SELECT extract(epoch FROM clock_timestamp())" -c COMMIT >holder &
until [ "$(wc -l <holder)" -ge 2 ]; do sleep 0.05; done
pgbench -n -c 3 -j 1 -t 20 -f update.sql >pgbench.out 2>&1 &
for i in 1 2 3 4 5 6 7 8 9 10; do # on a busy machine they come late
  sleep 0.2
  psql -qAt -F ' ' -c "SELECT pid, wait_event FROM pg_stat_activity WHERE wait_event_type = 'Lock'" >activity
  [ "$(wc -l <activity)" -lt 3 ] || break
done
while read -r pid event; do echo "$pid $event $(cat /proc/$pid/wchan)"; done <activity >asleep
wait
LOAD
"$NOPWATCH" stat -j --states --slower 300ms -o out.json "usdt:$postgres:postgresql:query__start(sql:string)" \
  "usdt:$postgres:postgresql:query__done" -- sh load.sh 2>err
is "three clients waited for a lock" "$(awk '$2 == "transactionid" || $2 == "tuple"' asleep | wc -l)" 3

# All that the server says of waits of a process: "acquired ... after 812.345 ms"
cat >locks.py <<'PY'
import json, re
rows = [json.loads(line) for line in open("out.json")]
holder, began, _, ended = open("holder").read().split("\n")[:4]
held = (float(ended) - float(began)) * 1e9
waited = {}
for pid, ms in re.findall(r"^pid=(\d+) LOG:  process \d+ acquired .* after ([0-9.]+) ms$", open("db/log").read(), re.M):
    waited.setdefault(int(pid), []).append(float(ms) * 1e6)
slow = [r for r in rows if r["type"] == "slow" and r["args"]["start"]["sql"].startswith("UPDATE")]
asleep = {int(l.split()[0]): l.split()[2] for l in open("asleep")}
assert {s["pid"] for s in slow} == set(asleep) and len(slow) == 3, (slow, asleep)
# a kernel that leaves out one of a thread's switches leaves its span unsplit: counted, and never more than one here
split = [s for s in slow if "states_ns" in s]
span = next(r for r in rows if r["type"] == "span")
assert len(split) >= 2 and span["unsplit"] >= len(slow) - len(split), (slow, span)
for s in split:
    states = s["states_ns"]
    assert sum(states.values()) == s["latency_ns"], s
    # a client may wait more than once for the row: for the one who held it, then for who came first of the others
    known = max(waited[s["pid"]])
    # the server's wait ends when it runs again, for which it may have to wait
    assert states["sleeping"] + states["runnable"] > 0.98 * known, (states, waited)
    assert states["sleeping"] <= 1.02 * sum(waited[s["pid"]]) + 5e6, (states, waited)
    assert states["disk"] < 0.02 * s["latency_ns"], states
    assert 0.1 * held < states["sleeping"] < 1.1 * held + 50e6, (states, held)
    longest = s["slept_in"][0]
    print(s["pid"], states, "known", waited[s["pid"]], s["slept_in"], s["woken_by"])
    if asleep[s["pid"]] != "0" and "function" in longest:
        assert longest["function"] == asleep[s["pid"]], (longest, asleep)
# who held the lock wakes who waits for its transaction; these wake each other
first = [s for s in split if s["woken_by"][0].get("tid") == int(holder)]
assert first or len(split) < len(slow), (holder, [s["woken_by"] for s in split])
assert all(s["woken_by"][0]["by"] == "thread" and s["woken_by"][0]["comm"] == "postgres" for s in split), split
parts = span["states_ns"]
assert parts["sleeping"]["count"] + span["unsplit"] == span["count"], span
if not span["unsplit"]:
    assert sum(part["sum"] for part in parts.values()) == span["latency_ns"]["sum"]
    # and in the summary: nearly all of the time of the queries is theirs and the holder's pg_sleep()
    assert parts["sleeping"]["sum"] > 0.9 * span["latency_ns"]["sum"], parts
PY
ok "they slept as long as the server's log says, where /proc says, until the holder woke them" python3 locks.py

postgres_end
unchanged
finish
