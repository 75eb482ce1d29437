# A running JVM: hotspot's own probes around Thread.sleep, attached to by -p.
. "$(dirname "$0")/../lib/truth.sh"

need javac || skip_all "no JDK is installed"
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
jvm=$home/lib/server/libjvm.so
"$NOPWATCH" list "$jvm" thread__sleep__begin >/dev/null 2>&1 || skip_all "this JVM has no USDT probes"

cat >Sleeper.java <<'J'
import java.nio.file.*;
public class Sleeper {
    public static void main(String[] args) throws Exception {
        Files.writeString(Path.of("ready"), "");
        while (!Files.exists(Path.of("go")))
            Thread.onSpinWait();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            threads[i] = new Thread(() -> {
                try {
                    for (int j = 0; j < 400; j++)
                        Thread.sleep(j % 2 == 0 ? 1 : 5);
                } catch (InterruptedException e) {
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
    }
}
J
"$home/bin/javac" Sleeper.java || skip_all "javac failed"
"$home/bin/java" -XX:TieredStopAtLevel=1 Sleeper & java=$!
wait_for test -f ready
# shellcheck source=../lib/why.sh
. "$TESTS_LIB/why.sh"
# before there is a list of its methods
wait_for grep -q 'rwxp 00000000 00:00 0' /proc/$java/maps
why -p $java "func:$home/bin/java:Sleeper.main"
named "a method of a JVM that lists none may be generated code" 3 False generated-code
says "which is said" "if it is one of the program that process $java runs, a JVM, its code is generated while it runs"
advises "with the JVM's own probe of each call" "usdt:.*libjvm\.so:hotspot:method__entry"
advises "and how to make it list its methods" "Compiler\.perfmap"
has "stat says so, too" "$("$NOPWATCH" stat -d 0.1 -p $java "func:$home/bin/java:Sleeper.main" 2>&1)" "process $java is a JVM: .*generated while it runs"
listed() { "$home/bin/jcmd" $java Compiler.perfmap >/dev/null 2>&1; grep -q 'Sleeper\.main' "/tmp/perf-$java.map" 2>/dev/null; }
if "$home/bin/jcmd" $java help Compiler.perfmap 2>/dev/null | grep -q '^Compiler.perfmap'; then
  wait_for listed
  why -p $java "func:$home/bin/java:Sleeper.main"
  named "a method that the JVM has compiled is in no file" 3 False generated-code
  advises "the JVM's own probe of each call" "usdt:.*libjvm\.so:hotspot:method__entry"
  remedied "which leads on" generated-code
  rm -f "/tmp/perf-$java.map"
else
  skip "a method that the JVM has compiled" "this JVM lists its methods on no request"
fi
need bpftrace && bpftrace_start -e "$(latency_script "$jvm" hotspot:thread__sleep__begin hotspot:thread__sleep__end)"
"$NOPWATCH" stat -j 'hotspot:thread__sleep__begin(ms)' 'hotspot:thread__sleep__end' -p $java -o out.json & run=$!
wait_for armed
touch go
wait $java
wait $run
holds "every sleep is counted" out.json \
  "probe('hotspot:thread__sleep__begin')['hits'] == 800 and probe('hotspot:thread__sleep__end')['hits'] == 800"
holds "and is a span, in the thread that slept" out.json \
  "span('hotspot:thread__sleep')['count'] == 800 and span('hotspot:thread__sleep')['unmatched_starts'] == 0 and loss() == 0"
holds "which lasts as long as it was to sleep, at least" out.json \
  "span('hotspot:thread__sleep')['latency_ns']['min'] >= 1000000 and span('hotspot:thread__sleep')['latency_ns']['p90'] >= 5000000"
holds "the argument is the time asked for" out.json \
  "(lambda a: (a['count'], a['min'], a['max'], a['sum']))(probe('hotspot:thread__sleep__begin')['args']['ms']) in ((800, 1, 5, 2400), (800, 1000000, 5000000, 2400000000))"
if need bpftrace; then
  bpftrace_end
  is "bpftrace counts the same" "$(bpftrace_count @starts) $(bpftrace_count @ends)" "800 800"
  agree_with_bpftrace "p50 and p99 are bpftrace's, to a bucket" out.json hotspot:thread__sleep
else
  skip "compare with bpftrace" "bpftrace is not installed"
fi

# hundreds of sites at once, and away again
"$NOPWATCH" stat -j -b 16M "usdt:$jvm:hotspot*:*" -o out.json -- "$home/bin/java" -Xlog:class+load:file=classes.log -version 2>/dev/null
loaded=$(grep -c ' source: ' classes.log)
holds "over 400 sites of libjvm.so are armed" out.json "first['sites'] > 400 and first['probes'] > 400"
holds "classes loaded are the JVM's own count" out.json "probe('hotspot:class__loaded')['hits'] == $loaded"

# names are a pointer and a length: never a byte more
cat >Names.java <<'J'
public class Names {
    static int twice(int n) { return 2 * n; }
    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> twice(21), "a-thread-of-our-own");
        thread.start();
        thread.join();
    }
}
J
if "$home/bin/javac" Names.java; then
  # room for all of it, also if the reader has to wait
  "$NOPWATCH" trace -j -b 16M "usdt:$jvm:hotspot:class__loaded" "usdt:$jvm:hotspot:thread__start" \
    "usdt:$jvm:hotspot:method__entry(thread,class:string,class_len,method,method_len,signature:string)" -o names.json -- \
    "$home/bin/java" -XX:+ExtendedDTraceProbes -Xint Names >/dev/null
  holds "names that are as long as they are said to be" names.json \
    "len(of('event')) > 1000 and all(len(e['args'][n].encode()) == e['args'][l] for e in of('event') for n, l in (('class', 'class_len'), ('method', 'method_len'), ('thread', 'thread_len')) if isinstance(e['args'].get(n), str) and n not in e.get('cut', []))"
  holds "of a class" names.json "'Names' in {e['args'].get('class') for e in of('event')}"
  holds "of a thread" names.json "'a-thread-of-our-own' in {e['args'].get('thread') for e in of('event')}"
  holds "of a method" names.json \
    "('Names', 'twice', '(I)I') in {(e['args']['class'], e['args']['method'], e['args']['signature']) for e in of('event') if 'method' in e['args']}"
fi

# Who called: names of what the JVM has compiled are in a list that it writes at its exit, when all hits have come.
list="-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"
cat >Calls.java <<'J'
public class Calls {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 600; i++)
            Thread.sleep(1);
    }
}
J
# shellcheck disable=SC2086 # words
if "$home/bin/javac" Calls.java && "$home/bin/java" $list -version >/dev/null 2>&1; then
  "$NOPWATCH" stat -j --stack -b 16M "usdt:$jvm:hotspot:thread__sleep__begin" -o calls.json -- "$home/bin/java" $list Calls
  holds "callers in compiled code have names, which the JVM lists when it exits" calls.json \
    "(lambda all, named: all >= 600 and named > 0.9 * all)(sum(row['count'] for row in of('stack')), \
    sum(row['count'] for row in of('stack') if any('java.lang.Thread.sleep' in f or f.startswith('Interpreter+') for f in row['stack'])))"
else
  skip "names that the JVM lists when it exits" "this one does not (before JDK 17)"
fi
unchanged
finish
