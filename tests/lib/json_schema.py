#!/usr/bin/env python3
"""Hold lines of JSON against docs/schema.json, and the schema against the keys that were promised.

	json_schema.py SCHEMA FILE...	every line has the shape of its type, and no key that the schema does not know
	json_schema.py SCHEMA --keys LIST	the schema has every key in LIST ("TYPE KEY" a line), and LIST every key of the schema

It knows what that schema uses of JSON Schema: $ref, type, properties, required, additionalProperties, items, minItems, maxItems,
enum, const, anyOf, pattern, oneOf. Keys that it does not know are an error, so that none is passed over.
"""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float), "integer": int}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
         "enum", "const", "anyOf", "pattern", "oneOf"}


class Wrong(Exception):
    pass


def check(value, schema, defs, where):
    unknown = set(schema) - KNOWN
    assert not unknown, f"the validator does not know {unknown}"
    if "$ref" in schema:
        return check(value, defs[schema["$ref"].removeprefix("#/$defs/")], defs, where)
    if "oneOf" in schema:  # lines: their type chooses
        kind = value.get("type") if isinstance(value, dict) else None
        if f"#/$defs/{kind}" not in [one["$ref"] for one in schema["oneOf"]]:
            raise Wrong(f"{where}: no line is of the type {kind!r}")
        return check(value, defs[kind], defs, kind)
    if "anyOf" in schema:
        reasons = []
        for one in schema["anyOf"]:
            try:
                return check(value, one, defs, where)
            except Wrong as wrong:
                reasons.append(str(wrong))
        raise Wrong(" and ".join(reasons))
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        raise Wrong(f"{where}: {json.dumps(value)[:100]} is no {kind}")
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        raise Wrong(f"{where}: {value!r} is not one of {schema.get('enum', schema.get('const'))}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise Wrong(f"{where}: {value!r} does not match {schema['pattern']}")
    if kind == "object":
        for key in schema.get("required", []):
            if key not in value:
                raise Wrong(f"{where} has no {key}")
        for key, inner in value.items():
            more = schema.get("additionalProperties")
            if key not in schema.get("properties", {}) and more is None:
                raise Wrong(f"{where} has {key}, which the schema does not know")
            check(inner, schema.get("properties", {}).get(key, more), defs, f"{where}.{key}")
    if kind == "array":
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            raise Wrong(f"{where} has {len(value)} elements")
        for i, inner in enumerate(value):
            check(inner, schema["items"], defs, f"{where}[{i}]")


def main(path, files):
    schema = json.load(open(path, encoding="utf-8"))
    defs = schema["$defs"]
    wrong, seen = set(), {}
    if files[0] == "--keys":
        promised = set(open(files[1], encoding="utf-8").read().splitlines())
        there = {f"{name} {key}" for name, one in defs.items() for key in one.get("properties", {})}
        names = {line.split()[0] for line in promised}
        wrong = {f"the schema lacks {key}, which was promised" for key in promised - there}
        wrong |= {f"{files[1]} lacks {key}" for key in there - promised if key.split()[0] in names or f"#/$defs/{key.split()[0]}" in str(schema["oneOf"])}
        files = []
    for file in files:
        for number, line in enumerate(open(file, encoding="utf-8"), 1):
            try:
                value = json.loads(line)
                check(value, schema, defs, "line")
                seen[value["type"]] = seen.get(value["type"], 0) + 1
            except (Wrong, ValueError) as reason:
                wrong.add(f"{file}:{number}: {reason}")
    for text in sorted(wrong)[:20]:
        print(text)
    print(" ".join(f"{kind}:{count}" for kind, count in sorted(seen.items())) or "no lines")
    return 1 if wrong else 0


class Lines:
    """The lines of a file: of each type the first ones are held against the schema, since a trace has many."""
    MOST = 20

    def __init__(self, path):
        self.schema = json.load(open(path, encoding="utf-8"))

    def check(self, rows):
        seen = {}
        for row in rows:
            kind = row.get("type")
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] <= self.MOST:
                check(row, self.schema, self.schema["$defs"], "line")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
