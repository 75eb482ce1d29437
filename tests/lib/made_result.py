#!/usr/bin/env python3
"""made_result.py FILE [KEY=VALUE...]: writes what `nopwatch stat -j` would print of a made run, for tests of comparisons.

seed: of the generator; spans: how many; scale: the median latency in nanoseconds; noise: how much the scale differs from run to run (the
deviation of its logarithm); seconds: the length of the run; intervals: of -i; host, net, group, key, name: as in the output.
"""
import json
import math
import random
import sys


def bucket(value):
    """The bounds of the bucket of a value: 32 for each power of two."""
    width = 1 << max(0, value.bit_length() - 6)
    low = value - value % width
    return low, low + width - 1


def dist(values):
    counts = {}
    for value in values:
        counts[bucket(value)] = counts.get(bucket(value), 0) + 1
    out = {"count": len(values), "sum": sum(values)}
    if values:
        mean = sum(values) / len(values)
        out.update(min=min(values), max=max(values), mean=mean)
        out["stddev"] = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return {**out, "buckets": [[low, high, n] for (low, high), n in sorted(counts.items())]}


def main():
    options = {"seed": "1", "spans": "2000", "scale": "1e6", "noise": "0.03", "seconds": "10", "intervals": "0", "name": "app:request", "key": "tid"}
    options.update(word.split("=", 1) for word in sys.argv[2:])
    draw = random.Random(int(options["seed"]))
    scale = float(options["scale"]) * math.exp(draw.gauss(0, float(options["noise"])))
    values = [int(scale * math.exp(draw.gauss(0, 0.5))) for _ in range(int(options["spans"]))]
    first = {"type": "attached", "probes": 2, "sites": 2}
    for key in ("host", "group_by"):
        if key in options:
            first[key] = options[key]
    if "net" in options:
        first["net"] = True
    lines = [first]

    def rows(of, **keys):
        if "group" in options:
            keys["group"] = options["group"]
        for end in ("start", "done"):
            lines.append({"type": "probe", "probe": f"{options['name']}__{end}", **keys, "hits": len(of), "gap_ns": dist([]), "state": "hit"})
        lines.append({"type": "span", "span": options["name"], "key": options["key"], **keys, "count": len(of), "latency_ns": dist(of)})

    count = int(options["intervals"])
    for i in range(count):
        rows(values[i * len(values) // count : (i + 1) * len(values) // count], interval=i + 1)
    rows(values)
    lines.append({"type": "loss", "events": int(options.get("lost", 0)), "discarded_spans": 0})
    lines.append({"type": "end", "reason": "duration", "elapsed_ns": int(float(options["seconds"]) * 1e9)})
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(line) + "\n")


main()
