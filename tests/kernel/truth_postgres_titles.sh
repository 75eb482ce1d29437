# --by title beside PostgreSQL's own word: two users in two databases, whose statements pgbench counts, and whose titles
# pg_stat_activity confirms.
# shellcheck source=../lib/postgres.sh
. "$(dirname "$0")/../lib/postgres.sh"

need psql || skip_all "psql is not installed"
postgres_start
psql -q -c 'create role alice login superuser' -c 'create role bob login superuser' -c 'create database shop' -c 'create database stock' ||
  skip_all "the roles and databases cannot be made"
echo 'select pg_sleep(0.0005);' >one.sql
# a transaction is one statement; a client stays connected
load() { # SECONDS: two clients in shop, three in stock
  pgbench -n -M simple -f one.sql -U alice -c 2 -T "$1" shop >alice.txt 2>&1 &
  local alice=$!
  pgbench -n -M simple -f one.sql -U bob -c 3 -T "$1" stock >bob.txt 2>&1
  wait $alice
}
done_by() { sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$1"; }
export -f load
queries=("usdt:$postgres:postgresql:query__start(sql:string)" "usdt:$postgres:postgresql:query__done")
{
  for _ in $(seq 20); do
    psql -At -F ' ' -c "select pid, 'postgres: ' || usename || ' ' || datname || ' [local] ' from pg_stat_activity where usename in ('alice', 'bob')"
    sleep 0.1
  done >activity
} &
looks=$!
"$NOPWATCH" stat -j --by 'title(postgres: ([^ ]+ [^ ]+) ),pid' --filter 'sql ~ "select pg_sleep*"' -o out.json "${queries[@]}" -- bash -c 'load 3'
wait $looks
for who in "alice shop" "bob stock"; do
  is "$who: as many statements as pgbench counts" \
    "$(j out.json "sum(s['count'] for s in of('span') if '$who' in s['group'])")" "$(done_by "${who% *}.txt")"
done
holds "no title is unknown" out.json "all(not s['group'].startswith('?') for s in of('span') if s['count'])"
sort -u activity >backends
ok "pg_stat_activity has seen the backends" test "$(wc -l <backends)" -ge 5
is "each backend has the title that pg_stat_activity makes of it" \
  "$(j out.json "[line for line in open('backends').read().splitlines() if not any(s['by']['pid'] == line.split()[0] and line.split(' ', 1)[1] == 'postgres: ' + s['by']['title(postgres: ([^ ]+ [^ ]+) )'] + ' [local] ' for s in of('span'))]")" "[]"

# a statement that runs for long: its title has its state
"$NOPWATCH" record -q -o long.dat --by title "${queries[@]}" -- psql -q -U alice -d shop -c 'select pg_sleep(0.3)'
"$NOPWATCH" report -j --by title long.dat >out.json
holds "a recording has the whole title" out.json "[p['group'] for p in of('probe') if p['probe'].endswith('query__start') and p['hits']] in (['postgres: alice shop [local] SELECT'], ['postgres: alice shop [local] idle'])"

postgres_end
unchanged
finish
