# A tiny buffer and a reader that is stopped: losses are counted, what straddles them is discarded,
# and no false latency appears.
. "$(dirname "$0")/../lib/kernel.sh"

# Each op lasts a few microseconds, the pause between two ops 100: a start that were paired with a
# later op's end would show as a latency of 100 us or more.
# A buffer of 1M has larger pages, where the kernel can.
lose() { # BUFFER HITS STOPS SECONDS
  "$NOPWATCH" stat -j -b "$1" 'spin:op*' spin:tick -o out.json -- "$PROGRAMS/spin" 2 "$2" >said &
  run=$!
  wait_for armed
  for ((i = 0; i < $3; i++)); do
    kill -STOP $run
    sleep "$4"
    kill -CONT $run
    sleep 0.1
  done
  wait $run
  longest=$(sed 's/.*longest \([0-9]*\).*/\1/' said)
  holds "$1: losses happened, and were counted" out.json "loss() > 1000"
  holds "$1: every hit was either seen or lost" out.json \
    "probe('spin:op__start')['hits'] + probe('spin:op__done')['hits'] + loss() >= 4 * $2 and probe('spin:op__start')['hits'] < 2 * $2"
  holds "$1: straddling spans were discarded" out.json "of('loss')[0]['discarded_spans'] >= 1"
  holds "$1: no latency is longer than the longest there was" out.json \
    "span('spin:op')['latency_ns']['max'] <= $longest"
  holds "$1: and none is shorter than an op can be" out.json "span('spin:op')['latency_ns']['min'] >= 2000"
  holds "$1: gaps do not stretch over a loss" out.json \
    "probe('spin:op__start')['gap_ns']['max'] < $4 * 0.8e9"
}
lose 4K 30000 6 0.3
lose 1M 150000 1 12

"$NOPWATCH" stat --strict -q -b 4K 'spin:op*' -o text -- "$PROGRAMS/spin" 2 3000 >/dev/null &
run=$!
wait_for armed
kill -STOP $run
sleep 0.8
kill -CONT $run
wait $run
is "--strict makes losses a failure" $? 1
has "text says so" "$(cat text)" '[1-9][0-9]* events lost: [0-9]+ spans discarded'

unchanged
finish
