# PostgreSQL under pgbench: hits and spans equal the queries that the server says it executed, and
# p50 and p99 are bpftrace's, attached to the same probes in the same run.
. "$(dirname "$0")/../lib/truth.sh"

bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1)")
[ -x "$bin/postgres" ] || skip_all "PostgreSQL is not installed"
need pgbench || skip_all "pgbench is not installed"
"$NOPWATCH" list "$bin/postgres" query__start >/dev/null 2>&1 || skip_all "this PostgreSQL has no USDT probes"
id postgres >/dev/null 2>&1 || skip_all "there is no user postgres to run the server as"

mkdir db
chmod 711 "$TEST_DIR" "$(dirname "$TEST_DIR")"
chown postgres db
as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups)
"${as_postgres[@]}" "$bin/initdb" -D db/data -A trust --no-sync >/dev/null || skip_all "initdb failed"
"${as_postgres[@]}" "$bin/postgres" -D db/data -k "$PWD/db" -c listen_addresses= -c fsync=off \
  -c log_statement=all >db/log 2>&1 &
server=$!
export PGHOST=$PWD/db PGUSER=postgres PGDATABASE=postgres
wait_for "$bin/pg_isready" -q
pgbench -i -q >/dev/null 2>&1

queries() { grep -c 'LOG:  statement: ' db/log; }
spec="usdt:$bin/postgres:postgresql"

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
  bpftrace_start -e "$(latency_script "$bin/postgres" postgresql:query__start postgresql:query__done)"
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

kill -INT $server
wait $server 2>/dev/null
unchanged
finish
