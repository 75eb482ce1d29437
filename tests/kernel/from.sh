# The commands that docs/from-bpftrace.md and docs/from-perf.md show work as they stand there; what would measure is only
# planned (--dry-run).
. "$(dirname "$0")/../lib/kernel.sh"
docs=$(cd "$TESTS_LIB/../../docs" && pwd)
cp "$SERVER" server
cp "$TESTS_LIB/../demo/sample.dat" slow.dat
./server -d 600 >/dev/null &
pid=$!

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
    # a diagnosis ends with 3 if it finds a cause, and there may be nothing to remove
    case $1:$status in
    *:0 | why:3 | remove:1) pass "${page##*/}: $command" ;;
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
unchanged
finish
