# A tiny buffer and a reader that is stopped: losses are counted, what straddles them is discarded,
# and no false latency appears.
. "$(dirname "$0")/../lib/kernel.sh"

# Each op lasts a few microseconds, the pause between two ops ten times as long and more: a start that were paired with a
# later op's end would show as a latency of the pause or more.
# A buffer of 1M has larger pages, where the kernel can.
# A thread is in an op, or in a pause: whichever it is when the losses begin, it cannot be measured.
# stopped TIMES HITS: $run is stopped so often, each time for so many hits, which are more than all CPUs have room for
stopped() {
  local i
  for ((i = 0; i < $1; i++)); do
    more_hits 2000
    kill -STOP $run
    more_hits "$2"
    kill -CONT $run
  done
}
end_spin() {
  more_hits 1000
  kill "$(pgrep -P $run -x spin)"
  wait $run
}
lose() { # BUFFER STOPS HITS PAUSE: as often stopped, each time for so many hits; PAUSE: of the program, in us
  "$NOPWATCH" stat -j -b "$1" 'spin:op*' spin:tick --span op=spin:op__start..spin:op__done \
    --span pause=spin:op__done..spin:op__start -o out.json -- "$PROGRAMS/spin" 2 0 "$4" >said &
  run=$!
  wait_for armed
  stopped "$2" "$3"
  end_spin
  ops=$(sed 's/ops \([0-9]*\).*/\1/' said) longest=$(sed 's/.*longest \([0-9]*\).*/\1/' said) gap=$(sed 's/.* gap //' said)
  holds "$1: losses happened, and were counted" out.json "loss() > 1000"
  holds "$1: every hit was either seen or lost" out.json \
    "probe('spin:op__start')['hits'] + probe('spin:op__done')['hits'] + loss() >= 2 * $ops and probe('spin:op__start')['hits'] < $ops"
  holds "$1: straddling spans were discarded" out.json "of('loss')[0]['discarded_spans'] >= 1"
  holds "$1: no latency is longer than the longest there was" out.json \
    "span('op')['latency_ns']['max'] <= $longest and span('pause')['latency_ns']['max'] <= $gap"
  holds "$1: and none is shorter than an op can be" out.json "span('op')['latency_ns']['min'] >= 2000 and span('pause')['latency_ns']['min'] >= 1000 * $4"
  holds "$1: gaps do not stretch over a loss" out.json \
    "probe('spin:op__start')['gap_ns']['max'] <= $gap"
}
stops=${ALL:+6}
lose 4K "${stops:-3}" 5000 100
lose 1M 1 120000 20

"$NOPWATCH" stat --strict -q -b 4K 'spin:op*' -o text -- "$PROGRAMS/spin" 2 0 >/dev/null &
run=$!
wait_for armed
stopped 1 5000
end_spin
is "--strict makes losses a failure" $? 1
has "text says so" "$(cat text)" '[1-9][0-9]* events lost: [0-9]+ spans? discarded'

unchanged
finish
