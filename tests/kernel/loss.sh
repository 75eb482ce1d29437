# A tiny buffer and a reader that is stopped: losses are counted, what straddles them is discarded,
# and no false latency appears.
. "$(dirname "$0")/../lib/kernel.sh"

# Each op lasts a few microseconds, the pause between two ops 100: a start that were paired with a
# later op's end would show as a latency of 100 us or more.
# A buffer of 1M has larger pages, where the kernel can.
# A thread is in an op, or in a pause: whichever it is when the losses begin, it cannot be measured.
lose() { # BUFFER OPS STOPS HITS: as often stopped, each time for so many hits, which are more than all CPUs have room for
  "$NOPWATCH" stat -j -b "$1" 'spin:op*' spin:tick --span op=spin:op__start..spin:op__done \
    --span pause=spin:op__done..spin:op__start -o out.json -- "$PROGRAMS/spin" 2 "$2" >said &
  run=$!
  wait_for armed
  for ((i = 0; i < $3; i++)); do
    wait_for hit 2000 "$(session_hits)"
    kill -STOP $run
    wait_for hit "$4" "$(session_hits)"
    kill -CONT $run
  done
  wait $run
  longest=$(sed 's/.*longest \([0-9]*\).*/\1/' said) gap=$(sed 's/.* gap //' said)
  holds "$1: losses happened, and were counted" out.json "loss() > 1000"
  holds "$1: every hit was either seen or lost" out.json \
    "probe('spin:op__start')['hits'] + probe('spin:op__done')['hits'] + loss() >= 4 * $2 and probe('spin:op__start')['hits'] < 2 * $2"
  holds "$1: straddling spans were discarded" out.json "of('loss')[0]['discarded_spans'] >= 1"
  holds "$1: no latency is longer than the longest there was" out.json \
    "span('op')['latency_ns']['max'] <= $longest and span('pause')['latency_ns']['max'] <= $gap"
  holds "$1: and none is shorter than an op can be" out.json "span('op')['latency_ns']['min'] >= 2000 and span('pause')['latency_ns']['min'] >= 100000"
  holds "$1: gaps do not stretch over a loss" out.json \
    "probe('spin:op__start')['gap_ns']['max'] <= $gap"
}
lose 4K 60000 6 5000
lose 1M 60000 1 120000

"$NOPWATCH" stat --strict -q -b 4K 'spin:op*' -o text -- "$PROGRAMS/spin" 2 10000 >/dev/null &
run=$!
wait_for armed
kill -STOP $run
wait_for hit 5000 "$(session_hits)"
kill -CONT $run
wait $run
is "--strict makes losses a failure" $? 1
has "text says so" "$(cat text)" '[1-9][0-9]* events lost: [0-9]+ spans? discarded'

unchanged
finish
