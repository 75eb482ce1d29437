# PostgreSQL with statements that fail, and with PL/pgSQL that catches errors: what is left by
# longjmp() is counted as such, and does not take the return of another call.
# shellcheck source=../lib/postgres.sh
. "$(dirname "$0")/../lib/postgres.sh"

need psql || skip_all "psql is not installed"
postgres_start
psql -q <<'S' || skip_all "the database cannot be made"
create table t (i int);
insert into t values (0), (1);
create function fails(n int) returns int language plpgsql as $$
begin
  return 1 / i from t where i = n;
end $$;
create function catches() returns int language plpgsql as $$
begin
  perform pg_sleep(0.02);
  begin
    perform 1 / i from t where i = 0;
  exception when division_by_zero then
    null;
  end;
  return 1;
end $$;
S

# 20 statements sleep 20 ms, and call one that fails and is caught; 30 fail; 40 are plain. Each runs
# the executor once, and what PL/pgSQL performs is another call of it, in the first one.
: >load.sql
for ((i = 0; i < 40; i++)); do
  echo "select i from t;"
  [ $i -lt 30 ] && echo "select 1 / i from t;"
  [ $i -lt 20 ] && echo "select catches();"
done >>load.sql
backend='func:'$postgres':standard_ExecutorRun'
"$NOPWATCH" stat -j "$backend" -o out.json -- psql -q -f load.sql >said 2>&1
is "30 statements failed" "$(grep -c 'division by zero' said)" 30
# 40 plain, 20 that catch, 20 times pg_sleep's, which returned
holds "calls that returned are measured" out.json "span('standard_ExecutorRun')['count'] == 80"
holds "those that an error left are counted: 30, and 20 that were caught" out.json \
  "(lambda s: (s['abandoned'], s['unmatched_starts'], s['unmatched_ends'], 'failed_statements' in s))(span('standard_ExecutorRun')) == (50, 0, 0, False)"
holds "who catches is measured with what it did: both it and pg_sleep took 20 ms, 20 times" out.json \
  "sum(b[2] for b in span('standard_ExecutorRun')['latency_ns']['buckets'] if b[1] >= 20000000) >= 40"

# the server's own probes: a statement that fails has a start and no end
queries='usdt:'$postgres':postgresql:query__*'
"$NOPWATCH" stat -j "$queries" -o out.json -- psql -q -f load.sql >said 2>&1
for span in query query__execute; do
  holds "$span: what ended is measured, and what failed is counted" out.json \
    "(lambda s: (s['count'], s['abandoned'], s['failed_statements'], s['unmatched_starts'], s['unmatched_ends']))(span('postgresql:$span')) == (60, 30, 30, 0, 0)"
done
holds "who catches an error took what it took" out.json \
  "sum(b[2] for b in span('postgresql:query')['latency_ns']['buckets'] if b[1] >= 20000000) >= 20"

# statements by their shapes, whose values differ in each
for ((i = 0; i < 60; i++)); do
  echo "select $i from t where i in ($i, $((i + 1))$(printf ', 7%.0s' $(seq $((i % 5))))) -- number $i"
  echo "  and i <> -$i;"
  [ $i -lt 30 ] && echo "select $i / i from t;"
done >shapes.sql
statements=("usdt:$postgres:postgresql:query__start(sql:string)" "usdt:$postgres:postgresql:query__done")
"$NOPWATCH" record -q -o shapes.dat "${statements[@]}" -- psql -q -f shapes.sql >said 2>&1
"$NOPWATCH" report -j --by 'sql(sql)' shapes.dat >out.json
holds "--by 'sql(sql)': statements that differ in their values are one" out.json \
  "{s['group']: (s['count'], s['failed_statements']) for s in of('span')} == {'select ? from t where i in (?) and i <> ?': (60, 0), 'select ? / i from t': (0, 30)}"
"$NOPWATCH" report --by 'sql(sql)' shapes.dat >out.txt
has "text says in words which failed" "$(cat out.txt)" '^postgresql:query: 30 statements failed or were cancelled'
"$NOPWATCH" report -f openmetrics --by 'sql(sql)' shapes.dat >out.om
has "metrics have it as a label" "$(cat out.om)" 'nopwatch_hits_total\{probe="postgresql:query__start",sql_sql_="select \? / i from t"\} 30'
if need tmux; then
  . "$TESTS_LIB/tmux.sh"
  terminal 160 40
  enter "$NOPWATCH top --from shapes.dat --by 'sql(sql)'"
  sees "top shows them by their shapes" '^postgresql:query__start select \? / i from t +30 '
  end_terminal
else
  skip "top shows them by their shapes" "there is no tmux"
fi
"$NOPWATCH" stat -q --by 'sql(sql)' "usdt:$postgres:postgresql:query__start(sql)" -- psql -q -f shapes.sql >out.txt 2>err
has "an argument that is no string is refused" "$? $(cat err)" "^2 .*the argument is no string"

if need bpftrace; then
  bpftrace_start -e "usdt:$postgres:postgresql:query__start { @starts = count(); } usdt:$postgres:postgresql:query__done { @ends = count(); }"
  "$NOPWATCH" stat -j "$queries" -o out.json -- psql -q -f load.sql >said 2>&1
  bpftrace_end
  is "bpftrace counts the statements" "$(bpftrace_count @starts) $(bpftrace_count @ends)" "90 60"
  holds "as we do" out.json "probe('postgresql:query__start')['hits'] == 90 and probe('postgresql:query__done')['hits'] == 60"
else
  skip "compare queries with bpftrace" "bpftrace is not installed"
fi

if need bpftrace; then
  # A BPF program of somebody else that runs on a CPU makes bpftrace's miss a hit there (trace_call_bpf() in kernel/trace/bpf_trace.c).
  both_count() {
    bpftrace_start -e "uprobe:$postgres:standard_ExecutorRun { @starts = count(); } uretprobe:$postgres:standard_ExecutorRun { @ends = count(); }"
    "$NOPWATCH" stat -j "$backend" -o out.json -- psql -q -f load.sql >said 2>&1
    bpftrace_end
  }
  missed_none() { [ "$(bpftrace_count @starts) $(bpftrace_count @ends)" = "130 80" ]; }
  measured missed_none both_count
  is "bpftrace counts the same" "$(bpftrace_count @starts) $(bpftrace_count @ends)" "130 80"
  holds "as we do" out.json "probe('uprobe:standard_ExecutorRun')['hits'] == 130 and probe('uretprobe:standard_ExecutorRun')['hits'] == 80"
else
  skip "compare with bpftrace" "bpftrace is not installed"
fi

postgres_end
unchanged
finish
