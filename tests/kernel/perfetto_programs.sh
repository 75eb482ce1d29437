# shellcheck shell=bash
# trace -f perfetto of programs that none of us wrote: PostgreSQL with four clients, and a JVM's gc.
# shellcheck disable=SC2154 # set by the library
. "$(dirname "$0")/../lib/kernel.sh"
data=$(cd "$TESTS_LIB/../data" && pwd)
need protoc || skip_all "no protoc (protobuf-compiler)"

# A recording as timeline, events and report; every packet is known to the description.
drawn() { # RECORDING [OPTION...]
  local file=$1
  shift
  "$NOPWATCH" trace --from "$file" "$@" -f perfetto -o out.pftrace &&
    "$NOPWATCH" trace --from "$file" "$@" -j -o events.json &&
    "$NOPWATCH" report "$file" "$@" -j -o report.json &&
    protoc --decode=nopwatch.Trace --proto_path="$data" perfetto.proto <out.pftrace >decoded 2>said &&
    ! grep -qE '^ *[0-9]+[: {]' decoded && "$TESTS_LIB/perfetto" out.pftrace >out.json
}
agree() { "$TESTS_LIB/perfetto_agree" >agreed 2>&1 || { comment "$(cat agreed)"; return 1; }; }
say() { python3 -c "import json; d = json.load(open('out.json')); print($1)"; }

# ---- PostgreSQL ----
postgres() {
  local bin
  bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1)")
  [ -x "$bin/postgres" ] && need pgbench && id postgres >/dev/null 2>&1 || return 1
  "$NOPWATCH" list "$bin/postgres" query__start >/dev/null 2>&1 || return 1
  mkdir db
  chmod 711 "$TEST_DIR" "$(dirname "$TEST_DIR")"
  chown postgres db
  local as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups)
  "${as_postgres[@]}" "$bin/initdb" -D db/data -A trust --no-sync >/dev/null || return 1
  cp "$bin/postgres" own/postgres # other servers may run beside it
  "${as_postgres[@]}" own/postgres -D db/data -k "$PWD/db" -c listen_addresses= -c fsync=off >db/log 2>&1 &
  server=$!
  export PGHOST=$PWD/db PGUSER=postgres PGDATABASE=postgres
  wait_for "$bin/pg_isready" -q
  pgbench -i -q >/dev/null 2>&1
  "$NOPWATCH" record -q "usdt:$PWD/own/postgres:postgresql:query__*(sql:string)" "usdt:$PWD/own/postgres:postgresql:transaction__*" \
    -o pg.dat -- pgbench -n -c 4 -j 2 -t 40 >/dev/null 2>&1
  kill -INT $server
  wait $server 2>/dev/null
  return 0
}
if postgres; then
  ok "PostgreSQL, 4 clients: every packet is as the description says" drawn pg.dat
  ok "slices are the report's spans, with the arguments of their hits" agree
  has "queries in transactions" "$(cat agreed)" '^[0-9]{4,} [1-9]'
  is "on the tracks of the four backends, at least" "$(say "len({s['tid'] for s in d['slices']}) >= 4")" True
  is "with the text of the queries" \
    "$(say "sum(s['name'] == 'postgresql:query' and 'UPDATE pgbench_accounts' in s['args']['start']['sql'] for s in d['slices'])")" 160
  "$NOPWATCH" trace --from pg.dat --by pid -f perfetto -o by.pftrace && "$TESTS_LIB/perfetto" by.pftrace >out.json
  "$NOPWATCH" report pg.dat --by pid -j -o by.json
  is "--by pid: as many on the track of each backend as report counts" \
    "$(say "sorted((o, sum(s['on'] == o and s['name'] == 'postgresql:query' for s in d['slices'])) for o in {s['on'] for s in d['slices']} if any(s['on'] == o and s['name'] == 'postgresql:query' for s in d['slices']))")" \
    "$(j by.json "sorted(('pid ' + s['group'], s['count']) for s in of('span') if s['span'] == 'postgresql:query' and s['count'])")"
  ok "--filter: the same as in report" drawn pg.dat --filter 'sql ~ "UPDATE*"'
  is "slices of what it leaves" "$(say "sum(s['name'] == 'postgresql:query' for s in d['slices'])")" \
    "$(j report.json "span('postgresql:query')['count']")"
else
  skip "PostgreSQL" "there is none with probes, or no pgbench"
fi

# ---- a JVM ----
jvm() {
  need javac || return 1
  local home
  home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
  "$NOPWATCH" list "$home/lib/server/libjvm.so" gc__begin >/dev/null 2>&1 || return 1
  cat >Churn.java <<'J'
public class Churn {
    static Object kept;
    public static void main(String[] args) {
        for (int i = 0; i < 2000000; i++)
            kept = new byte[200 + i % 100];
        System.gc();
    }
}
J
  "$home/bin/javac" Churn.java || return 1
  "$NOPWATCH" record -q "usdt:$home/lib/server/libjvm.so:hotspot:gc__*" "usdt:$home/lib/server/libjvm.so:hotspot:vmops__*" \
    "usdt:$home/lib/server/libjvm.so:hotspot:mem__pool__gc__*" -o jvm.dat -- "$home/bin/java" -Xmx32m -XX:+UseSerialGC Churn >/dev/null
}
if jvm; then
  ok "a JVM's gc: every packet is as the description says" drawn jvm.dat
  ok "slices are the report's spans, with the arguments of their hits" agree
  is "each gc is one" "$(say "sum(s['name'] == 'hotspot:gc' for s in d['slices'])")" "$(j report.json "span('hotspot:gc')['count']")"
  is "several, at least" "$(say "sum(s['name'] == 'hotspot:gc' for s in d['slices']) > 2")" True
  is "in threads that have names" "$(say "all(s['on'] for s in d['slices'])")" True
else
  skip "a JVM" "there is no JDK with probes"
fi

unchanged
finish
