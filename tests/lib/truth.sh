# shellcheck shell=bash
# For tests against programs none of us wrote, with bpftrace as the second witness.
. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"

# bpftrace beside us on the same probes: start it with its program, wait until it is attached.
bpftrace_start() {
  ulimit -l unlimited 2>/dev/null
  bpftrace -f json "$@" >bpftrace.out 2>bpftrace.err &
  bpftrace_pid=$!
  wait_for grep -q attached_probes bpftrace.out
}

# Now and then again: a signal that comes too early is lost, and then nothing would end it.
bpftrace_end() {
  local tries=0
  while kill -0 $bpftrace_pid 2>/dev/null && [ $tries -lt 300 ]; do
    [ $((tries++ % 20)) = 0 ] && kill -INT $bpftrace_pid
    sleep 0.1
  done
  kill -9 $bpftrace_pid 2>/dev/null
  wait $bpftrace_pid
}

# What bpftrace counted in a map.
bpftrace_count() {
  sed -n 's/.*"map".*"'"$1"'": \([0-9]*\).*/\1/p' bpftrace.out
}

# The same latency, with its histogram in @h: FILE START END.
latency_script() {
  echo "usdt:$1:$2 { @t[tid] = nsecs; @starts = count(); }
    usdt:$1:$3 { @ends = count(); if (@t[tid]) { @h = hist(nsecs - @t[tid]); delete(@t[tid]); } }"
}

agree_with_bpftrace() { # WHAT STAT.json SPAN
  ok "$1" "$TESTS_LIB/compare" "$2" "$3" bpftrace.out @h
}
