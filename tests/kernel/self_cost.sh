# stat -v: what of the spans is the probes' own time.
. "$(dirname "$0")/../lib/kernel.sh"

"$NOPWATCH" stat -v -j -o out.json 'myserver:*' -- "$SERVER" -t 2 -n 300 >/dev/null 2>err
has "what a hit costs is told" "$(cat err)" 'a hit adds [0-9.]+[nu]s on this machine, that of a return probe [0-9.]+[nu]s'
has "and what that is of each span" "$(cat err)" 'myserver:request: [0-9.]+[num]s of each, [0-9.]+ % of its time, are the probes. own'
holds "each measured span has a cost" out.json \
  "all(s['probe_cost_ns']['count'] == s['count'] for s in of('span') if s['count'])"
# parse has no probes inside, so all of its spans have one hit; requests have parse's and lookup's inside
holds "a span with nothing inside has the cost of one hit" out.json \
  "span('myserver:parse')['probe_cost_ns']['min'] == span('myserver:parse')['probe_cost_ns']['max'] > 0"
holds "one around others has theirs, too, exactly" out.json \
  "(lambda one, r: r['min'] >= 3 * one and r['sum'] % one == 0)(span('myserver:parse')['probe_cost_ns']['min'], span('myserver:request')['probe_cost_ns'])"
"$NOPWATCH" stat -j -o out.json 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
holds "nobody pays for it who does not ask" out.json "not any('probe_cost_ns' in s for s in of('span'))"
NOPWATCH_FEATURES=-instances "$NOPWATCH" stat -v 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "where it cannot be measured that is said" "$(cat err)" 'what the probes add to spans is not known'
unchanged
finish
