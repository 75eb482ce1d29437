# JSON lines: the keys that were promised are there, and docs/json.md names each one that is.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
(cd "$TESTS_LIB/../.." && cat docs/json.md) >page
cat >kinds.c <<'C'
#include <sys/sdt.h>
struct { int left, right; } in_memory = {1, 2};
int main(int argc, char **argv)
{
	int on_stack[4] = {argc};
	__asm__ volatile("" : : "r"(on_stack) : "memory");
	STAP_PROBE4(kinds, all, 7, in_memory.right, on_stack[0], argv);
	return 0;
}
C
gcc -O2 -o kinds kinds.c
{
  "$NOPWATCH" list -j ./kinds "$SERVER"
  "$NOPWATCH" trace -j --from "$sample"
  "$NOPWATCH" report -j --by tid --slower 1ms "$sample"
  "$NOPWATCH" report -q -j --by comm,tid --diff "$sample" -- "$sample" --fail-if "x.p99 > 1%"
  "$NOPWATCH" why -j "usdt:$SERVER:myserver:request__start"
} >all.json

# As the table in docs/json.md had them when they were fixed: type, and what each value is.
cat >keys.py <<'PY'
import json, re, sys
number, text, truth, real = int, str, bool, (int, float)
dist = {"count": number, "sum": number}
full_dist = {**dist, "min": number, "mean": real, "stddev": real, "p50": number, "p90": number, "p99": number,
             "p999": number, "max": number, "buckets": [list]}
arg = {"index": number, "text": text, "size": number, "signed": truth, "float": truth, "kind": text}
args_by_kind = {"register": {"register": text, "fetch": text}, "memory": {"register": text, "offset": number, "fetch": text},
                "global": {"symbol": text, "fetch": text}, "constant": {"value": number, "fetch": type(None)}}
span = {"span": text, "key": text, "group": text, "count": number, "latency_ns": full_dist, "unmatched_starts": number,
        "unmatched_ends": number, "discarded": number, "abandoned": number}
promised = {
    "site": {"provider": text, "name": text, "path": text, "build_id": text, "arch": text, "vaddr": number,
             "offset": number, "nop": text, "args": [arg]},
    "attached": {"probes": number, "sites": number},
    "event": {"time_ns": number, "cpu": number, "pid": number, "tid": number, "comm": text, "probe": text, "args": dict},
    "probe": {"probe": text, "hits": number, "rate_hz": real, "gap_ns": dist, "args": dict, "state": text},
    "span": span,
    "slow": {"span": text, "time_ns": number, "latency_ns": number, "cpu": number, "pid": number, "tid": number,
             "comm": text, "args": {"start": dict, "end": dict}},
    "check": {"name": text, "result": text, "saw": text},
    "verdict": {"fires": (truth, type(None)), "causes": [text], "text": text, "remedy": [text]},
    "loss": {"events": number, "discarded_spans": number},
    "end": {"reason": text, "elapsed_ns": number},
    "compared": {side: {"runs": number, "elapsed_ns": number, "lost": number, "samples": number} for side in ("before", "after")},
    "diff": {"group": text, "by": dict, "metric": text, "unit": text, "before": real, "after": real, "change_percent": real},
    "condition": {"condition": text, "result": text, "text": text},
}

def fits(value, shape, where):
    if isinstance(shape, dict):
        assert isinstance(value, dict), (where, value)
        for key, inner in shape.items():
            assert key in value, (where, key, value)
            fits(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), (where, value)
        for item in value:
            fits(item, shape[0], where)
    else:
        assert isinstance(value, shape), (where, value)

rows = [json.loads(line) for line in open("all.json")]
assert {row["type"] for row in rows} == set(promised), {row["type"] for row in rows} ^ set(promised)
kinds = set()
for row in rows:
    fits(row, promised[row["type"]], row["type"])
    assert row["type"] != "check" or row["result"] in ("pass", "fail", "unknown"), row
    for one in row["args"] if row["type"] == "site" else []:
        kinds.add(one["kind"])
        fits(one, args_by_kind[one["kind"]], one["kind"])
assert {"register", "memory", "global", "constant"} <= kinds, kinds

page = open(sys.argv[1]).read()
described = {part.split("\n")[0]: part for part in page.split("\n## ")[1:]}
described["compared"] = described["condition"] = described["diff"]
described["check"] = described["verdict"] = described["check and verdict"]
unsaid = {(row["type"], key) for row in rows for key in row if key != "type" and not re.search(rf"[`\"]{key}[`\"]", described[row["type"]])}
unsaid |= {("site", key) for row in rows if row["type"] == "site" for one in row["args"] for key in one
           if f"`{key}`" not in described["site"]}
assert not unsaid, unsaid
PY
ok "each has its keys, and the page names them" python3 keys.py page

# the schema: it has every key that was promised, and fits what is printed
schema=$TESTS_LIB/../../docs/schema.json
keys=$TESTS_LIB/../data/json_keys.txt
holds_it() { "$TESTS_LIB/json_schema.py" "$schema" "$@" 2>&1; }
ok "docs/schema.json has the keys that were promised, and no others" "$TESTS_LIB/json_schema.py" "$schema" --keys "$keys"
ok "each line fits it" "$TESTS_LIB/json_schema.py" "$schema" all.json
has "the first line has its number" "$(grep -h '"attached"' all.json | head -1)" '"schema":1[,}]'
# the judge sees what is wrong
grep -v '^span latency_ns$' "$keys" >fewer
has "a new key is added to the promised ones" "$(holds_it --keys fewer)" "fewer lacks span latency_ns"
{ cat "$keys"; echo "span removed"; } >"more"
has "a key that was removed is an error" "$(holds_it --keys more)" "the schema lacks span removed, which was promised"
while IFS='|' read -r line wrong; do
  echo "$line" >wrong.json
  has "$wrong" "$(holds_it wrong.json)" "$wrong"
done <<'X'
{"type":"end","reason":"signal"}|end has no elapsed_ns
{"type":"end","reason":"signal","elapsed_ns":true}|end.elapsed_ns: true is no
{"type":"end","reason":"signal","elapsed_ns":1.5}|end.elapsed_ns: 1.5 is no integer
{"type":"end","reason":"signal","elapsed_ns":"1x"}|end.elapsed_ns: '1x' does not match
{"type":"end","reason":"signal","elapsed_ns":1,"more":2}|end has more, which the schema does not know
{"type":"ends","reason":"signal","elapsed_ns":1}|no line is of the type 'ends'
{"type":"check","name":"a","result":"failed","saw":"b"}|check.result: 'failed' is not one of
{"type":"verdict","fires":1,"causes":[],"text":"","remedy":[]}|verdict.fires: 1 is no boolean
{"type":"stack","count":1,"percent":1,"stack":"main"}|stack.stack: "main" is no array
{"type":"quiet","interval":1,"last":2|Expecting
X

finish
