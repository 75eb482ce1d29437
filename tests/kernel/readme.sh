# Every command that README shows is run for real, and answers with numbers: against PostgreSQL, a JVM, and a program with the probes
# of README's `app`. Only names of machines, processes and files are put in, and -d for what would run until Ctrl-C.
# shellcheck disable=SC2154 # set by the library
. "$(dirname "$0")/../lib/postgres.sh"
# shellcheck source=../lib/documents.sh
. "$TESTS_LIB/documents.sh"
for tool in jq perf java; do need $tool || skip_all "$tool is not installed"; done

ln -s "$TESTS_LIB/.." tests
shown_commands tests/../README.md >lines
# the block that installs: `make static` and copying have tests of their own
grep -v '^ssh root@board' lines >kept && mv kept lines
cp "$PROGRAMS/app" server
cp "$PROGRAMS/app" program
cp tests/demo/sample.dat trace.dat
cat >probes.d <<'D'
provider postgresql { probe query__start(const char *sql); probe query__done(const char *sql); };
D
echo 'public class Pause { public static void main(String[] a) throws Exception { for (;;) { System.gc(); Thread.sleep(100); } } }' >Pause.java

# ---- what they speak of ----

java -XX:+UseSerialGC -Xmx32m Pause.java >/dev/null 2>&1 & java=$!
./server 1000000 >/dev/null & app=$!
printf '%s\n' stat "-p $app" 'app:*' >request.conf
postgres_start
PATH=$PWD/own:$PATH # the server that runs is the one that is found by its name
pgbench -n -S -c 1 -R 500 -T 300 >/dev/null 2>&1 & load=$!
knows_backend() { postgres=$(psql -Atc "select pid from pg_stat_activity where application_name = 'pgbench' limit 1" | grep .); }
wait_for knows_backend
# the events that the pipe of the other machine shows; its top-level buffer is everybody's here
"$NOPWATCH" add --enable --instance "box_$$" --group "box_$$" 'usdt:./server:app:request__*' >/dev/null || fail "events for the other machine"

# shellcheck disable=SC2016 # the shim's own
nopwatch_shim 'case "$*" in
list\ *|report\ *|add\ *|enable\ *|remove\ *|why\ *|*\ --\ *|*--from*|*--until*) exec "$NOPWATCH" "$@" ;;
esac
sub=$1
shift
exec "$NOPWATCH" "$sub" -d 0.7 "$@"'
cat >bin/ssh <<S
#!/bin/sh
[ "\$2" = cat ] && exec timeout -s INT 1 cat "$TRACEFS/instances/box_$$/trace_pipe"
shift
exec "\$@"
S
chmod +x bin/ssh

# ---- each of them ----

fitted() { # LINE
  local line=$1 pid=$app
  case $line in
  *postgresql:*) pid=$postgres ;;
  *libjvm*) pid=$java ;;
  esac
  line=${line//4711/$pid}
  line=${line/-j .../-j -p $pid \'app:*\'}
  line=${line//\/var\/lib\/node_exporter/$PWD}
  line=${line//\/sys\/kernel\/tracing/$TRACEFS}
  line=${line/-t 5000/-t 300}
  line=${line/sleep 5/sleep 0.7}
  line=${line/instance pg/instance pg_$$}
  line=${line/instances\/pg/instances\/pg_$$}
  line=${line/remove \'\*\'/remove \'postgresql:*\'} # those of others stay
  [[ $line != cat\ * ]] || line="timeout -s INT 1 $line"
  printf '%s\n' "$line"
}

# What shows that the command of a line has found something, as an expression for grep -E; a file that it has written is added to what
# it said.
wanted() { # LINE
  case $1 in
  *"why --"*) echo "^Verdict: 'malloc' is only imported by" ;;
  *sample.dat*) echo '^myserver:request +913 ' ;;
  "ssh "*) echo '^request +[1-9]' ;;
  *"| jq"*) echo '"p99": [1-9]' ;;
  *"list "*) echo '^ *(usdt:)?.*app:request__done' ;;
  *-f\ html*) cat app.html >>said && echo 'myserver:request' ;;
  *perfetto*) strings app.pftrace >>said && echo 'app:request' ;;
  *openmetrics*) cat app.prom >>said && echo '^nopwatch_hits_total.*app:request__done.* [1-9]' ;;
  *"record --until"*) "$NOPWATCH" report "$(grep -oE -m 1 'trace[-0-9]*[.]dat' said)" >>said 2>&1 && echo '^app:request +[1-9]' ;;
  *"trace "*--slower*) echo ' app:request 6[0-9]' ;;
  *"trace "*sched_switch*) echo ' sched:sched_switch next_comm=' ;;
  *"trace "*) echo ' postgresql:query__start sql="SELECT ' ;;
  *"add --dry-run"*) echo 'p:sdt_postgresql/query__start ' ;;
  *"add "*) echo '^sdt_postgresql:query__start' ;;
  *perf\ record*) perf script 2>/dev/null >>said && echo 'sdt_postgresql:query__start' ;;
  *enable*) echo '^sdt_postgresql:query__start: enabled in instance pg_' ;;
  *"cat "*instances/pg*) echo ': query__start: ' ;;
  *remove*) echo '^sdt_postgresql:query__start: removed' ;;
  *"--slower"*) echo '^app:request 6[0-9]|app:request +[1-9]' ;;
  *libjvm*) echo '^hotspot:[a-z_]+ +[1-9]' ;;
  *libstdcxx*) echo '^libstdcxx:throw +40 ' ;;
  *func:*) echo '^(libc.so.6:)?malloc +[1-9]' ;;
  *sys_*_write*) echo '^syscalls:write +[1-9]' ;;
  *--filter*) echo '^app:done +40 ' ;;
  *--by*) echo '^app:done +404 +40 ' ;;
  *postgresql*) echo '^postgresql:query +[1-9]' ;;
  *myserver*) echo '^myserver:request +[1-9]' ;;
  *) echo '^app:request +[1-9]' ;;
  esac
}

is "README has commands" "$([ "$(wc -l <lines)" -ge 30 ] && echo many)" many
while read -r line; do
  timeout 30 bash -c "$(fitted "$line")" >said 2>&1 </dev/null
  pattern=$(wanted "$line")
  if [ -n "$pattern" ] && grep -aEq -- "$pattern" said; then
    pass "$line"
  else
    fail "$line"
    comment "$(fitted "$line")"
    comment "wanted: $pattern"
    comment "$(cut -c 1-300 said)"
  fi
done <lines

kill $load
"$NOPWATCH" remove "box_$$:*" >/dev/null 2>&1
kill $app $java
wait $app $java 2>/dev/null
postgres_end
unchanged
finish
