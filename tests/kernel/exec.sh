# A span that is open when its thread begins another program has no end; what idle threads do goes by their CPUs.
. "$(dirname "$0")/../lib/kernel.sh"

renew=$PROGRAMS/renew

# says WHAT: one span is whole, and what the program before it has begun is not ended by it
says() {
  holds "$1" out.json "[(s['count'], s['unmatched_starts'], s['unmatched_ends']) for s in of('span')] == [(1, 1, 1)]"
}

for how in main thread; do
  "$NOPWATCH" stat -j "usdt:$renew:renew:*" -o out.json -- "$renew" $how
  says "another program ends nothing of the one before ($how)"
  "$NOPWATCH" stat -j "usdt:$renew:renew:*" --span 'renew=renew:work__start..renew:work__done,key=pid' -o out.json -- "$renew" $how
  says "nor where spans go by process ($how)"
  "$NOPWATCH" record -q "usdt:$renew:renew:*" -o renew.dat -- "$renew" $how
  "$NOPWATCH" report -j -o out.json renew.dat
  says "a recording tells the same ($how)"
done
unchanged "nothing is left"

# a span of the kernel's own events goes on: that of an execve is one
"$NOPWATCH" stat -j 'tracepoint:syscalls:sys_*_execve' -o out.json -- "$renew" main
holds "execves have lengths" out.json "[s['count'] for s in of('span')] == [2]" # CMD's own, and its next program's

# softirqs of all CPUs, most of them in idle threads: alone are at most the first end of a CPU, its last start, and a start from before the
# event of the ends was enabled
cpus=$(getconf _NPROCESSORS_CONF)
"$NOPWATCH" stat -j -a -b 8M 'tracepoint:irq:softirq_*y' 'tracepoint:irq:softirq_exit' -d 1 -o out.json
holds "softirqs pair by CPU" out.json "span('irq:softirq')['key'] == 'cpu' and span('irq:softirq')['count'] > 0"
holds "and nothing else does" out.json \
  "loss() > 0 or (span('irq:softirq')['unmatched_starts'] <= 2 * $cpus and span('irq:softirq')['unmatched_ends'] <= $cpus)"
unchanged "nothing is left of that either"
finish
