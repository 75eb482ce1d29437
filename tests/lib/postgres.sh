# shellcheck shell=bash
# For tests against PostgreSQL: postgres_start [OPTION...] starts a server of its own in ./db, whose log is db/log,
# with pgbench's tables; postgres_end stops it. $postgres is its program, a file of its own, since other servers may run beside it, and
# $bin where the others are. Without them everything is skipped.
# shellcheck source=truth.sh
. "$(dirname "${BASH_SOURCE[0]}")/truth.sh"

bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1)")
[ -x "$bin/postgres" ] || skip_all "PostgreSQL is not installed"
need pgbench || skip_all "pgbench is not installed"
"$NOPWATCH" list "$bin/postgres" query__start >/dev/null 2>&1 || skip_all "this PostgreSQL has no USDT probes"
id postgres >/dev/null 2>&1 || skip_all "there is no user postgres to run the server as"
postgres=$PWD/own/postgres
cp "$bin/postgres" "$postgres" || exit 1

postgres_start() {
  local as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups)
  mkdir db
  chmod 711 "$TEST_DIR" "$(dirname "$TEST_DIR")"
  chown postgres db
  # Empty databases are alike: of the scripts of a run (tests/run) the first makes it, and the others copy it.
  local made=${TEST_DIR%/*/*/*}/postgres.made
  (
    flock 9
    [ ! -d "$made" ] || exec cp -a "$made" db/data
    "${as_postgres[@]}" "$bin/initdb" -D db/data -A trust --no-sync >/dev/null 9>&- && cp -a db/data "$made.part" && mv "$made.part" "$made"
  ) 9>"$made.lock" || skip_all "initdb failed"
  "${as_postgres[@]}" "$postgres" -D db/data -k "$PWD/db" -c listen_addresses= -c fsync=off "$@" >db/log 2>&1 &
  postgres_pid=$!
  export PGHOST=$PWD/db PGUSER=postgres PGDATABASE=postgres
  wait_for "$bin/pg_isready" -q
  pgbench -i -q >/dev/null 2>&1
}

postgres_end() {
  kill -INT $postgres_pid
  wait $postgres_pid 2>/dev/null
}
