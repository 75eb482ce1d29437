# recipe: each ready question on the program that it is for, counted by what that program itself was told to do. With ALL=1
# also those of servers and languages that the tests install only then; without them these fail.
. "$(dirname "$0")/../lib/truth.sh"
NOPWATCH_RECIPES=$(cd "$TESTS_LIB/../../scripts/recipes" && pwd)
export NOPWATCH_RECIPES
python=/usr/bin/python3 # Debian's: one from pyenv has no probes

recipe() { # NAME [OPTION...] -- CMD: the rows are in out.json, what it said in err
  rm -f out.json
  timeout 60 "$NOPWATCH" recipe "$1" -j -o out.json "${@:2}" >said 2>err || comment "$(cat err)"
}

# The groups of spans or probes by that name, as KEY=COUNT, in order.
groups='" ".join(sorted("%s=%d" % (r["group"], r["count" if "count" in r else "hits"]) for r in rows if r["type"] == kind and r.get(kind) == name and pattern in r.get("group", "")))'
counted() { # WHAT span|probe NAME PATTERN WANTED
  is "$1" "$(j out.json "(lambda kind, name, pattern: $groups)('$2', '$3', '$4')" 2>&1)" "$5"
}

cat >calls.c <<'C'
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char buf[4711];
	for (int i = 0; i < 300; i++) {
		void *volatile got = malloc(4711);
		free(got);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	int zero = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 30; i++)
		if (read(zero, buf, sizeof(buf)) != sizeof(buf))
			return 1;
	for (int i = 0; i < 3; i++) {
		struct addrinfo *found = NULL;
		if (getaddrinfo("127.0.0.77", NULL, NULL, &found) == 0)
			freeaddrinfo(found);
	}
	openat(AT_FDCWD, "wanted-openat", O_RDONLY);
	if (fopen("wanted-fopen", "r") || opendir("wanted-opendir") || open("wanted-open", O_RDONLY) >= 0)
		return 1;
	return 0;
}
C
gcc -O1 -fno-builtin -D_FILE_OFFSET_BITS=64 -o calls calls.c -pthread
recipe malloc --filter 'size == 4711' -- ./calls
holds "malloc: every call of that size" out.json "span('malloc')['count'] == 300 and probe('uprobe:malloc')['args']['size']['sum'] == 300 * 4711"
recipe locks -- ./calls
holds "locks: every pthread_mutex_lock(), and the few of libc's own" out.json "300 <= sum(r['count'] for r in of('span') if r.get('group') == 'calls') <= 310"
recipe dns -- ./calls
counted "dns: every name" span getaddrinfo 127.0.0.77 127.0.0.77=3
recipe reads --filter 'count == 4711' -- ./calls
holds "reads: every read of that size" out.json "probe('syscalls:sys_enter_read')['hits'] == 30"
recipe files -- ./calls
is "files: each function that opens one" "$(j out.json "' '.join(sorted(r['args'].get('file') or r['args']['name'] for r in rows if 'wanted' in str(r.get('args'))))")" \
  "wanted-fopen wanted-open wanted-openat wanted-opendir"

cat >throw.cc <<'C'
#include <stdexcept>
int main()
{
	for (int i = 0; i < 77; i++)
		try {
			throw std::runtime_error("no");
		} catch (std::exception &) {
		}
}
C
g++ -o throw throw.cc
recipe exceptions -- ./throw
holds "exceptions: every one that is thrown" out.json "probe('libstdcxx:throw')['hits'] == 77"

cat >calls.py <<'P'
import ctypes, socket, ssl, sys, threading
def leaf(number): return number
for i in range(100): leaf(i)
list(map(leaf, range(20)))
if sys.argv[1:] != ["sqlite"]: sys.exit()
sqlite = ctypes.CDLL("libsqlite3.so.0")
db, statement = ctypes.c_void_p(), ctypes.c_void_p()
sqlite.sqlite3_open(b":memory:", ctypes.byref(db))
for i in range(7):
    sqlite.sqlite3_prepare_v2(db, b"SELECT 1 UNION SELECT 2", -1, ctypes.byref(statement), None)
    for j in range(3): sqlite.sqlite3_step(statement)
    sqlite.sqlite3_finalize(statement)
P
cat >tls.py <<'P'
import ssl
def context(protocol):
    made = ssl.SSLContext(protocol)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers("aNULL:@SECLEVEL=0") # needs no certificate
    return made
a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
ends = [context(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(a, b), context(ssl.PROTOCOL_TLS_SERVER).wrap_bio(b, a, True)]
done = set()
calls = 0
while len(done) < 2:
    for end in ends:
        if end not in done:
            calls += 1
            try:
                end.do_handshake()
                done.add(end)
            except ssl.SSLWantReadError:
                pass
for i in range(25):
    ends[0].write(b"hello")
    assert ends[1].read(5) == b"hello"
open("handshakes", "w").write(str(calls))
P
if [ -x $python ] && "$NOPWATCH" list $python python:line >/dev/null 2>&1; then
  PATH=/usr/bin:$PATH recipe python --top 1000 -- $python calls.py
  counted "python: functions that Python and C call" span python:function leaf leaf=120
  hasnt "and no note of calls that are missing" "$(cat err)" 'CPython'
  "$NOPWATCH" stat usdt:$python:python:function__entry -o text -- $python calls.py 2>err
  if [[ $(readlink -f $python) == *3.11 ]]; then
    has "without python:line CPython 3.11 passes few calls, which is told" "$(cat err)" 'CPython 3.11 passes .* only while its line probe is armed'
  else
    hasnt "only CPython 3.11 needs python:line" "$(cat err)" 'CPython'
  fi
else
  skip "python: functions that Python and C call" "this Python has no probes"
  skip "and no note of calls that are missing" "this Python has no probes"
  skip "without python:line CPython 3.11 passes few calls, which is told" "this Python has no probes"
fi
recipe sqlite -- $python calls.py sqlite
holds "sqlite: every step and statement" out.json "(span('sqlite3_step')['count'], span('sqlite3_prepare_v2')['count']) == (21, 7)"
recipe tls -- $python tls.py
holds "tls: every handshake, read and write" out.json \
  "span('SSL_do_handshake')['count'] == int(open('handshakes').read()) and (span('SSL_read_ex')['count'] + span('SSL_read')['count'], span('SSL_write_ex')['count'] + span('SSL_write')['count']) == (25, 25)"
if need go; then
  cat >calls.go <<'G'
package main

import (
	"os"
	"runtime"
	"strconv"
)

func main() {
	for i := 0; i < 20; i++ {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	os.WriteFile("collections", []byte(strconv.Itoa(int(stats.NumGC))), 0600)
}
G
  mkdir gone
  HOME=$PWD GOCACHE=$PWD/cache go build -o gone/collect calls.go
  recipe go -- gone/collect
  holds "go: every collection" out.json "probe('uprobe:runtime.gcMarkTermination')['hits'] == int(open('collections').read()) >= 20"
else
  skip "go: every collection" "go is not installed"
fi

# A result without hits has the recipe's hint.
recipe exceptions -- true
has "no hit at all: the recipe says when it cannot work" "$(cat err)" '^nopwatch: exceptions: programs with libc\+\+'
recipe exceptions -q -- true
hasnt "but not with -q" "$(cat err)" 'programs with'

if [ -z "${ALL:-}" ]; then
  unchanged
  finish
  exit
fi

# ---- what only `scripts/check all` installs ------------------------------------------------
without() { fail "$1: $2 is missing, which scripts/check all installs"; }
as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
chmod 711 "$TEST_DIR" "$(dirname "$TEST_DIR")"

# NAME LOAD...: measures a server until its load is over, however long a busy machine takes for it.
served() {
  rm -f out.json
  timeout 60 "$NOPWATCH" recipe "$1" -j -o out.json >said 2>err & run=$!
  wait_for armed
  "${@:2}" >load.out 2>&1
  kill $run
  wait $run
}

if need redis-server; then
  redis-server --unixsocket "$PWD/redis" --port 0 --save '' >redis.log 2>&1 & redis=$!
  wait_for redis-cli -s redis ping
  load() {
    redis-cli -s redis config resetstat
    for i in {1..50}; do echo "set key $i"; done | redis-cli -s redis
  }
  served redis load
  redis-cli -s redis info commandstats >commands
  is "redis: every command, as the server counts them" "$(j out.json "span('call')['count']")" \
    "$(awk -F '[=,]' '/^cmdstat/ && !/_info/ { sum += $2 } END { print sum }' commands)"
  has "which are those of the load" "$(cat commands)" '^cmdstat_set:calls=50,'
  kill $redis
else
  without redis redis-server
fi

if need nginx && need curl; then
  mkdir www
  echo hello >www/index.html
  chmod 755 www
  cat >nginx.conf <<N
daemon off; pid $PWD/nginx.pid; error_log $PWD/nginx.err; events { }
http { access_log $PWD/nginx.log; server { listen unix:$PWD/nginx.sock; root $PWD/www; } }
N
  nginx -e "$PWD/nginx.err" -c "$PWD/nginx.conf" & nginx=$!
  answers() { curl -sf --unix-socket nginx.sock http://localhost/index.html; }
  wait_for answers
  before=$(wc -l <nginx.log)
  load() { for i in {1..20}; do answers; done; }
  served nginx load
  is "nginx: every request, as its log has them" "$(j out.json "span('ngx_http_core_run_phases')['count']")" $(($(wc -l <nginx.log) - before))
  kill $nginx
else
  without nginx "nginx or curl"
fi

if need mariadbd && need mariadb; then
  mkdir my
  chown mysql my
  mysql_install_db --no-defaults --tmpdir="$PWD/my" --user=mysql --datadir="$PWD/my" --skip-test-db >my.log 2>&1
  mariadbd --no-defaults --tmpdir="$PWD/my" --user=mysql --datadir="$PWD/my" --socket="$PWD/my/s" --skip-networking >>my.log 2>&1 & my=$!
  sql() { mariadb --no-defaults -S my/s -N; }
  answers() { echo 'SELECT 1;' | sql; }
  wait_for answers
  load() { for i in {1..40}; do echo "SELECT $i;"; done | sql; }
  served mysql load
  holds "mysql: every statement, and the end of the connection" out.json "40 <= span('dispatch_command')['count'] <= 43"
  kill $my
  wait $my
else
  without mysql mariadb-server
fi

server=$(ls /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1)
if [ -n "$server" ]; then
  mkdir pg
  chown postgres pg
  "${as_postgres[@]}" "${server%/*}/initdb" -D "$PWD/pg/data" -A trust --no-sync >pg.log 2>&1
  "${as_postgres[@]}" "$server" -D "$PWD/pg/data" -k "$PWD/pg" -c listen_addresses= >>pg.log 2>&1 & pg=$!
  export PGHOST=$PWD/pg PGUSER=postgres PGDATABASE=postgres
  wait_for psql -qAtc 'SELECT 1'
  # A server of another session may run at the same time: the name tells our statements from its.
  load() { for i in {1..60}; do echo "SELECT $i AS ours;"; done | psql -qAt; }
  served postgres load
  counted "postgres: every statement, by its shape" span postgresql:query ' AS ours' 'SELECT ? AS ours=60'
  kill -INT $pg
  wait $pg
else
  without postgres postgresql
fi

if need javac; then
  cat >Load.java <<'J'
import java.lang.management.*;
import java.nio.file.*;
public class Load {
    static final Object lock = new Object();
    static final byte[][] kept = new byte[64][];
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 200000; i++)
            kept[i & 63] = new byte[4096];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 4; i++) {
            threads[i] = new Thread(() -> {
                for (int j = 0; j < 25; j++)
                    synchronized (lock) {
                        try {
                            Thread.sleep(1);
                        } catch (InterruptedException e) {
                        }
                    }
            });
            threads[i].start();
        }
        long blocked = 0, collections = 0;
        for (Thread thread : threads)
            thread.join();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans())
            collections += bean.getCollectionCount();
        Files.writeString(Path.of("collections"), Long.toString(collections));
    }
}
J
  javac Load.java
  for gc in Serial G1 Parallel; do
    recipe jvm-gc --follow -- java -Xmx64m -XX:+Use${gc}GC -cp . Load
    holds "jvm-gc: every collection ($gc), as the JVM counts them" out.json "span('hotspot:gc')['count'] == int(open('collections').read()) > 0"
  done
  recipe jvm-locks --follow -- java -XX:+DTraceMonitorProbes -cp . Load
  holds "jvm-locks: waits of the lock's class" out.json "0 < sum(r['count'] for r in of('span') if r.get('group') == 'java/lang/Object') <= 100"
  "$NOPWATCH" recipe jvm-locks -- java -cp . Load >said 2>&1
  has "and without the option it is said" "$(cat said)" 'fires its monitor probes only with'
else
  without jvm openjdk-17-jdk-headless
fi

if need ruby; then
  cat >calls.rb <<'R'
TracePoint.new(:call, :return) { }.enable
class Foo
  def bar(number) = number
  def self.baz = 1
end
foo = Foo.new
300.times { |i| foo.bar(i) }
200.times { Foo.baz }
R
  recipe ruby --top 1000 -- ruby calls.rb
  counted "ruby: methods written in Ruby" span ruby:method Foo 'Foo,bar=300 Foo,baz=200'
  "$NOPWATCH" recipe ruby -- ruby -e 1 >said 2>&1
  has "and without a TracePoint it is said" "$(cat said)" 'Ruby passes its method probes only while it traces calls itself'
else
  without ruby ruby
fi

if need php; then
  cat >calls.php <<'P'
<?php
class A { static function s() { return 1; } }
function wanted($n) { return $n; }
for ($i = 0; $i < 300; $i++) wanted($i);
for ($i = 0; $i < 100; $i++) A::s();
P
  USE_ZEND_DTRACE=1 recipe php -- php calls.php
  counted "php: functions" span php:function wanted wanted=300
  "$NOPWATCH" recipe php -- php calls.php >said 2>&1
  has "and without the variable it is said" "$(cat said)" 'PHP fires its probes only with USE_ZEND_DTRACE=1'
else
  without php php-cli
fi

if need node; then
  recipe node -- node --expose-gc -e 'for (let i = 0; i < 40; i++) global.gc()'
  if grep -q libnode err; then
    "$NOPWATCH" stat -j -o out.json func:libnode.so:v8::internal::Heap::PerformGarbageCollection -- node --expose-gc -e 'for (let i = 0; i < 40; i++) global.gc()'
  fi
  holds "node: every collection" out.json "span('v8::internal::Heap::PerformGarbageCollection')['count'] >= 40"
else
  without node nodejs
fi

unchanged
finish
