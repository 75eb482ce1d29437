# expect live: counts beside what the program says, conditions, spans, why a probe was silent, the test's own end, losses, and the
# examples of docs/expect.md in CMake and Meson.
. "$(dirname "$0")/../lib/kernel.sh"
docs=$(cd "$TESTS_LIB/../../docs" && pwd)
cp "$SERVER" server

# judged FILE...: the numbers of the tests that fail, and the exit status
judged() {
  "$NOPWATCH" expect -q "$@" >tap 2>err
  local status=$?
  echo "$(sed -n 's/^not ok \([0-9]*\) .*/\1/p' tap | paste -sd ' ') = $status"
}

cat >good.expect <<'E'
# what the server says of itself is 100 requests
myserver:request__start(id, path:string) = 100
myserver:request__start(id, path:string) = 100 where path ~ "/*"
myserver:request__done(id, status, bytes) always status >= 200 && status < 600   # "#" begins a comment
myserver:request__done(id, status, bytes) >= 1 where status == 200 && comm == "server"
myserver:parse__* = 100
myserver:request__done(id, status, bytes) never where comm == "a#b \"#"
func:./server:main = 1
span request max < 10s
span myserver:request count = 100
span conn=myserver:request__start..myserver:request__done,key=id count = 100
span conn p50 > 1ns
span request unmatched = 0
E
is "all lines hold" "$(judged good.expect -- ./server -t 4 -n 25)" " = 0"
has "they are the program's own numbers" "$(cat err)" '^requests 100 '
is "nothing but TAP comes to standard output" "$(grep -vcE '^(TAP version 13|1\.\.13|ok [0-9]+ - .*)$' tap)" 0
is "none is left" "$(grep -c '^ok' tap)" 13
if need prove; then ok "prove takes it" prove --exec cat tap; else skip "prove takes it" "it is not installed"; fi

cat >bad.expect <<'E'
myserver:request__start > 100
myserver:request__done(id, status, bytes) always status < 100
myserver:request__done(id, status, bytes) = 1 where status < 1000
myserver:request__* never
span request max < 1ns
span request count < 100
span request unmatched > 0
span nothing < 5ms
myserver:gone never
usdt:./server:other:thing never
span r=myserver:gone..myserver:request__done < 1s
myserver:lookup__start there
E
is "none of these holds but the last" "$(judged bad.expect -- ./server -t 4 -n 25)" "1 2 3 4 5 6 7 8 9 10 11 = 1"
has "with its number" "$(cat tap)" '^  message: "myserver:request__start was hit 100 times"'
has "the hits that fail a condition" "$(cat tap)" 'was hit 100 times, 0 of them with status < 100"'
has "each probe of a pattern" "$(cat tap)" '"myserver:request__start was hit 100 times; myserver:request__done was hit 100 times"'
has "the number of a span" "$(cat tap)" '"max of myserver:request is [0-9.]+.?s \(100 spans\)"'
has "a probe that is not there" "$(cat tap)" "message: \"no probe 'myserver:gone' in any of the"
has "where it stands in the file" "$(cat tap)" '^  at: "bad.expect:9"'
has "which spans there are" "$(cat tap)" '"the spans are myserver:request'

printf 'myserver:cache__evict\nmyserver:request__start\n' >silent.expect
is "a test that reaches nothing" "$(judged silent.expect -x ./server -- sh -c 'echo said; exit 3')" "1 2 3 = 1"
has "why a probe was silent" "$(cat tap)" '^  reason: "myserver:cache__evict: no hit: .*"'
has "how the test ended" "$(cat tap)" '^  message: "its status is 3"'
is "what the test says goes to standard error" "$(cat err)" said
is "a test that is killed" "$(judged silent.expect -x ./server -- sh -c './server -t 1 -n 900; kill -9 $$')" "3 = 1"
has "by its signal" "$(cat tap)" '^  message: "signal 9 '
is "a test that is stopped" "$(judged silent.expect -d 200ms -x ./server -- sleep 5)" "1 2 3 = 1"
has "says so" "$(cat tap)" '"it had not ended when the run was over"'
printf 'a:b\n' >none.expect
is "none of the probes is there" "$(judged none.expect -x ./server -- touch ran)" "1 2 = 1"
is "then the test is not run" "$(ls ran 2>/dev/null; grep -c 'it was not run' tap)" 1
printf 'myserver:request__done(id, status) >= 1 where state == 5\n' >wrong.expect
is "a condition on what no probe has is a mistake in the file" "$(judged wrong.expect -x ./server -- touch ran)$(cat tap)" \
  " = 2Bail out! wrong.expect:1: no probe has an argument 'state'"
printf 'myserver:request__done(id, status)\nmyserver:parse__done where status == 5\n' >wrong.expect
has "also if another line has it" "$(judged wrong.expect -x ./server -- touch ran; cat tap)" \
  'Bail out! wrong.expect:2: myserver:parse__done has not all arguments of .status == 5'
is "nothing was run" "$(ls ran 2>/dev/null)" ""

# what was not recorded may have been a hit
printf 'myserver:request__start >= 10\nmyserver:request__start <= 1000000000\nmyserver:request__start never where tid == 1\n' >lost.expect
lost=$(judged lost.expect --max-rate 10 -- ./server -t 2 -n 3000 -p 1000)
is "a probe that was disabled: only >= is certain" "$lost" "2 3 = 1"
has "says why" "$(cat tap)" 'because of --max-rate, so this is not certain'

# a running process
./server -t 1 -p 1000 >/dev/null &
server=$!
printf 'myserver:request__done\nspan request < 5s\n' >live.expect
sed -i '$!b' live.expect && printf 'myserver:request__start\n' >>live.expect
is "a process that runs" "$(judged live.expect -p $server -d 500ms)" " = 0"
is "has no line for a test" "$(sed -n 2p tap)" "1..3"
kill $server
wait $server 2>/dev/null

# a recording says the same
"$NOPWATCH" record -q -o rec.dat 'myserver:request__start(id, path:string)' 'myserver:request__done(id, status, bytes)' 'myserver:parse__*' 'func:./server:main' \
  -- ./server -t 4 -n 25 >/dev/null
is "a recording" "$(judged good.expect --from rec.dat)" " = 0"
is "a probe that it lacks" "$(judged silent.expect --from rec.dat; grep -c 'rec.dat has no such probe' tap)" "1 = 1
1"

# python3, whose probes nobody here has written
if "$NOPWATCH" list /usr/bin/python3 python:import__find__load__start >/dev/null 2>&1; then
  cat >py.expect <<'E'
python:import__find__load__start(name:string) = 1 where name == "json"
python:import__find__load__start(name:string) never where name == "xml"
python:import__find__load__done(name:string, found) always found == 0 || found == 1
python:gc__start >= 1
span python:import__find__load max < 60s
E
  is "python3's own probes" "$(judged py.expect -- /usr/bin/python3 -c 'import json, gc; gc.collect()')" " = 0"
else
  skip "python3's own probes" "this python3 has none"
fi

# the examples of the documents
cp "$TESTS_LIB/../demo/server.c" .
sed -n '/^\$ cat probes.expect/,/^\$ sudo/p' "$docs/expect.md" | grep -v '^\$' | grep -v never >probes.expect
printf 'provider myserver {\n\tprobe request__start(int, char *);\n\tprobe request__done(int, int, int);\n};\n' >probes.d
export NOPWATCH
mkdir -p bin && ln -s "$NOPWATCH" bin/nopwatch
awk '/^```cmake/ { on = 1; next } /^```/ { on = 0 } on' "$docs/expect.md" >CMakeLists.txt
awk '/^```meson/ { on = 1; next } /^```/ { on = 0 } on' "$docs/expect.md" >meson.build
if need cmake && PATH=$PWD/bin:$PATH cmake -S . -B cmade >err 2>&1 && cmake --build cmade >>err 2>&1; then
  ok "CMake's example" ctest --test-dir cmade --output-on-failure
  sed -i '$amyserver:lookup__done never' probes.expect
  has "fails when a line does not hold" "$(ctest --test-dir cmade 2>&1)" '2 - probes \(Failed\)'
  sed -i '$d' probes.expect
else
  skip "CMake's example" "there is no cmake, or it cannot build: $(tail -n 1 err)"
fi
if need meson && need ninja && PATH=$PWD/bin:$PATH meson setup mesoned >err 2>&1 && ninja -C mesoned >>err 2>&1; then
  said=$(meson test -C mesoned 2>&1)
  has "Meson's example, test by test" "$said" 'Ok: +2'
  has "which counts the lines of TAP" "$said" '5 subtests passed'
  sed -i '$amyserver:lookup__done never' probes.expect
  has "fails when a line does not hold" "$(meson test -C mesoned 2>&1)" 'Fail: +1'
else
  skip "Meson's example" "there is no meson, or it cannot build: $(tail -n 1 err)"
fi
finish
