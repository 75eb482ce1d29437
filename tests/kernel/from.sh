# The commands that docs/from-bpftrace.md and docs/from-perf.md show work as they stand there; what would measure is only
# planned (--dry-run).
. "$(dirname "$0")/../lib/kernel.sh"
docs=$(cd "$TESTS_LIB/../../docs" && pwd)
cp "$SERVER" server
cp "$TESTS_LIB/../demo/sample.dat" slow.dat
./server -d 600 >/dev/null &
pid=$!
can_return=$("$NOPWATCH" features | sed -n 's/^return_args *\(yes\|no\).*/\1/p')

for page in "$docs"/from-*.md; do
  { grep '^|' "$page" | cut -d '|' -f 4- | grep -o '`nopwatch [^`]*`' | tr -d '`'; sed -n 's/^    nopwatch/nopwatch/p' "$page"; } |
    sed "s/4711/$pid/" >commands
  while IFS= read -r command; do
    eval "set -- $command"
    case $2 in
    stat | trace | record | add) case " $* " in *' --from '*) ;; *) set -- "$@" --dry-run ;; esac ;;
    esac
    shift
    said=$("$NOPWATCH" "$@" 2>&1 >out </dev/null)
    status=$?
    # a diagnosis ends with 3 if it finds a cause, there may be nothing to remove, and a kernel may lack what an argument needs
    case $1:$status:$can_return:$said in
    *:0:* | why:3:* | remove:1:* | trace:1:no:*'this kernel has no '*) pass "${page##*/}: $command" ;;
    *)
      fail "${page##*/}: $command"
      comment "status $status: $said"
      ;;
    esac
  done <commands
  ok "${page##*/}: there are some" test "$(wc -l <commands)" -ge 10
done
kill $pid
wait $pid 2>/dev/null
# of two builds that have one name it is said that they are two
for build in 1 2; do
  printf '#include <sys/sdt.h>\nint main(void) { int number = %d; DTRACE_PROBE1(builds, go, number); return 0; }\n' $build >built.c
  gcc -Wl,--build-id built.c -o built
  "$NOPWATCH" record -q -o built$build.dat usdt:./built:builds:go -- ./built
done
has "the report of two builds says so" "$("$NOPWATCH" report built1.dat built2.dat 2>&1 >/dev/null)" \
  "built is another program in 'built2.dat' \(build ID [0-9a-f]{16}\) than in 'built1.dat' \([0-9a-f]{16}\); their rows are added"
is "of one build it says nothing" "$("$NOPWATCH" report built1.dat built1.dat 2>&1 >/dev/null)" ""

# --at: each run begins in a second that had not begun when it was started
for i in 1 2 3; do
  before=$(date +%s)
  "$NOPWATCH" stat -q --at /1s -d 0.05 "usdt:$PWD/server:myserver:*" >/dev/null 2>err && [ "$(date +%s)" -gt "$before" ] && echo waited
done >waits
is "--at waits for the next multiple on the clock" "$(paste -sd " " waits)" "waited waited waited"
"$NOPWATCH" record --at /1h "usdt:$PWD/server:myserver:*" -o never.dat 2>said & run=$!
wait_for grep -q '^nopwatch: waiting until [0-9:]*$' said
is "nothing is armed meanwhile" "$(our_instances)" ""
kill $run
wait $run
is "and a signal ends it" "$? $(ls never.dat 2>/dev/null)" "143 "
unchanged
finish
