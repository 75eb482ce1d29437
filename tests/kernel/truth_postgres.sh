# PostgreSQL under pgbench: hits and spans equal the queries that the server says it executed, and
# p50 and p99 are bpftrace's, attached to the same probes in the same run.
# shellcheck source=../lib/postgres.sh
. "$(dirname "$0")/../lib/postgres.sh"

postgres_start -c log_statement=all

queries() { grep -c 'LOG:  statement: ' db/log; }
spec="usdt:$postgres:postgresql"

before=$(queries)
"$NOPWATCH" stat -j "$spec:query__start" "$spec:query__done" -o out.json -- \
  pgbench -n -S -c 4 -j 2 -t 2500 >/dev/null 2>&1
executed=$(($(queries) - before))
[ $executed -ge 10000 ] && pass "the server executed $executed queries" || fail "the server executed $executed queries"
holds "query__start was hit as often, exactly" out.json "probe('postgresql:query__start')['hits'] == $executed"
holds "so was query__done" out.json "probe('postgresql:query__done')['hits'] == $executed"
holds "and that is the count of the span; 0 lost" out.json \
  "span('postgresql:query')['count'] == $executed and loss() == 0 and span('postgresql:query')['unmatched_starts'] == 0"

before=$(queries)
"$NOPWATCH" trace -j "$spec:query__start(sql:string)" -o out.json -- \
  pgbench -n -S -c 2 -t 200 >/dev/null 2>&1
executed=$(($(queries) - before))
holds "every SQL text is read" out.json \
  "len(of('event')) == $executed and sum(e['args']['sql'].startswith('SELECT abalance FROM pgbench_accounts WHERE aid = ') for e in of('event')) == 400"
holds "by the backends" out.json "len({e['pid'] for e in of('event')}) >= 2 and {e['comm'] for e in of('event')} == {'postgres'}"

if need bpftrace; then
  bpftrace_start -e "$(latency_script "$postgres" postgresql:query__start postgresql:query__done)"
  before=$(queries)
  "$NOPWATCH" stat -j "$spec:query__start" "$spec:query__done" -o out.json -- \
    pgbench -n -S -c 2 -t 5000 >/dev/null 2>&1
  executed=$(($(queries) - before))
  bpftrace_end
  is "bpftrace counts the same" "$(bpftrace_count @starts) $(bpftrace_count @ends)" "$executed $executed"
  holds "as we do" out.json "probe('postgresql:query__start')['hits'] == $executed"
  agree_with_bpftrace "p50 and p99 are bpftrace's, to a bucket" out.json postgresql:query
else
  skip "compare with bpftrace" "bpftrace is not installed"
fi

postgres_end
unchanged
finish
