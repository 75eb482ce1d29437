# SPDX-License-Identifier: MIT
"""Compares arguments by name with gdb, which reads them at the same stop of the same run. gdb runs this file:

    COUNT=300 SEED=1 SAID=FILE RUN='ARGS <INPUT' gdb -q -batch -x gdb_arguments.py PROGRAM

Functions of the program are chosen at random, and so are their arguments, fields and elements. In each run, four functions have a
hardware breakpoint, which stops before the first instruction, and a probe at the same address, whose first hit is the hit of that
stop. Where there are no hardware breakpoints, gdb writes one into the code, which the kernel would take for a probe's: so it is taken away
at its stop, and the probe is armed before the program goes on. SAID becomes one JSON object: how many values are equal, refused (with the reason), unread, and wrong.
"""
import collections, gdb, json, os, random, re, struct, subprocess, time

NOPWATCH, COUNT, RUN = os.environ["NOPWATCH"], int(os.environ["COUNT"]), os.environ.get("RUN", "")
choose = random.Random(int(os.environ["SEED"]))
PROGRAM = gdb.current_progspace().filename
AT_ONCE, MOST_TRIED, LONGEST = 4, 1500, 60
STRUCTURES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
REFERENCES = (gdb.TYPE_CODE_REF, getattr(gdb, "TYPE_CODE_RVALUE_REF", gdb.TYPE_CODE_REF))
STEP = re.compile(r"(->|\.)(\w+)|\[(\d+)\]")


class Named(int):
    """A value of an enumeration, and its name there, "" if it has none."""


def settle(value):
    while value.type.strip_typedefs().code in REFERENCES:
        value = value.referenced_value()
    return value


def is_char(kind):
    return kind.strip_typedefs().unqualified().name == "char"


def block_of(frame):
    """The block of the function that has code, not of one that is inlined at its first instruction."""
    block, found = gdb.block_for_pc(frame.pc()), None
    while block and not block.is_static:
        found = block if block.function else found
        block = block.superblock
    return found


def of_symbol(frame, expression):
    """The value of "name->field[2]" in the frame; raises gdb.error or gdb.MemoryError."""
    name = re.match(r"\w+", expression).group()
    value = settle(frame.read_var(name, block_of(frame)))
    for _, field, index in STEP.findall(expression[len(name):]):
        if field and value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            value = settle(value.dereference())
        value = settle(value[field] if field else value[int(index)])
    return value


def plain(value):
    """A value as Python has it; None: gdb has none."""
    kind = value.type.strip_typedefs()
    if value.is_optimized_out:
        return None
    if kind.code == gdb.TYPE_CODE_PTR and is_char(kind.target()):
        return text_at(value) if int(value) else None
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        if is_char(kind.target()):
            raw = bytes(int(value[i]) & 255 for i in range(low, min(high, 63) + 1))
            return raw.split(b"\0")[0]
        return [plain(value[i]) for i in range(low, min(high, 63) + 1)]
    if kind.code == gdb.TYPE_CODE_FLT:
        return float(value)
    if kind.code in STRUCTURES:
        return "a structure"
    if kind.code == gdb.TYPE_CODE_ENUM:
        named = Named(value)
        word = str(value).rsplit("::", 1)[-1]
        named.word = word if re.fullmatch(r"[A-Za-z_]\w*", word) else ""
        return named
    return int(value)


def text_at(pointer):
    raw, at = b"", int(pointer)
    while len(raw) < 300:
        byte = bytes(gdb.selected_inferior().read_memory(at + len(raw), 1))
        if byte == b"\0":
            break
        raw += byte
    return raw


def read(frame, expression):
    try:
        return plain(of_symbol(frame, expression))
    except (gdb.error, gdb.MemoryError, KeyError, OverflowError, ValueError):
        return None


# ---- which --------------------------------------------------------------------------------------


def functions():
    """Names of functions that occur once, with their addresses before the program is loaded."""
    seen = collections.Counter()
    found = {}
    for line in subprocess.run(["nm", "--defined-only", PROGRAM], capture_output=True, text=True).stdout.splitlines():
        address, kind, name = (line.split() + ["", ""])[:3]
        if kind in "tTW" and re.fullmatch(r"[\w.$]+", name) and ".cold" not in name:
            seen[name] += 1
            found[int(address, 16)] = name
    return {name: at for at, name in found.items() if seen[name] == 1 and name not in ("main", "_start", "_init", "_fini")}


def grow(value, text, depth, out):
    """Adds expressions below a value: fields and elements, a few of each at random."""
    value = settle(value)
    kind = value.type.strip_typedefs()
    structure, join = kind, "."
    out.append(text)
    if value.is_optimized_out or depth == 4:
        return
    if kind.code == gdb.TYPE_CODE_PTR:
        structure, join = kind.target().strip_typedefs(), "->"
        if structure.code not in STRUCTURES:
            if structure.sizeof > 1 and structure.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR) and int(value):
                out.append(text + "[%d]" % choose.randrange(2))
            return
        if not int(value):
            return
    elif kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        if high > low:
            index = choose.randint(low, high)
            grow(value[index], "%s[%d]" % (text, index), depth + 1, out)
        return
    if structure.code not in STRUCTURES:
        return
    fields = [f.name for f in structure.fields() if hasattr(f, "bitpos") and not f.is_base_class and re.fullmatch(r"[A-Za-z_]\w*", f.name or "")]
    for name in choose.sample(fields, min(3, len(fields))):
        try:
            next_value = (value.dereference() if join == "->" else value)[name]
            grow(next_value, text + join + name, depth + 1, out)
        except (gdb.error, gdb.MemoryError):
            continue


def expressions(frame):
    block, found = block_of(frame), []
    for symbol in block or []:
        if symbol.is_argument and re.fullmatch(r"[A-Za-z_]\w*", symbol.name):
            try:
                grow(frame.read_var(symbol, block), symbol.name, 0, found)
            except (gdb.error, gdb.MemoryError):
                found.append(symbol.name)
    return choose.sample(found, min(6, len(found)))


# ---- runs ---------------------------------------------------------------------------------------


def alive():
    return bool(gdb.selected_inferior().pid) and gdb.selected_thread() is not None


def start():
    """Runs the program to main(). Returns what its load adds to addresses."""
    gdb.execute("tbreak main", to_string=True)
    gdb.execute("run " + RUN, to_string=True)
    return int(gdb.parse_and_eval("(long)&main")) - MAIN


def go_on():
    try:
        gdb.execute("continue", to_string=True)
    except gdb.error:
        return False
    return alive()


def stop():
    for point in gdb.breakpoints():
        point.delete()
    if alive():
        gdb.execute("kill", to_string=True)


def look(names):
    """Runs the program once and returns the expressions of the functions that it calls."""
    bias, found = start(), {}
    points = {names[n] + bias: (n, gdb.Breakpoint("*%d" % (names[n] + bias), internal=True)) for n in names}
    while go_on() and len(found) * 3 < COUNT * 2:
        pc = gdb.newest_frame().pc()
        if pc in points:
            name, point = points.pop(pc)
            found[name] = expressions(gdb.newest_frame())
            point.delete()
    for _, point in points.values():
        point.delete()
    stop()
    return {n: e for n, e in found.items() if e}


def arm(specs, number=0):
    """Starts nopwatch and waits until it is armed. Returns it, its output and its errors, or None and the errors."""
    out, err = "gdb_arguments%d.json" % number, "gdb_arguments%d.err" % number
    if os.path.exists(out):
        os.remove(out)
    with open(err, "w") as errors:
        tracer = subprocess.Popen([NOPWATCH, "trace", "-j", "-p", str(gdb.selected_inferior().pid), "-o", out] + specs,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=os.setpgrp)
    until = time.monotonic() + 60
    while tracer.poll() is None and time.monotonic() < until:
        if os.path.exists(out) and b'"attached"' in open(out, "rb").read(4096):
            return tracer, out, err
        time.sleep(0.02)
    tracer.terminate()
    tracer.wait()
    return None, out, err


def is_listed(name):
    """Has DWARF a place at each address, so that gdb is right before the first instruction?"""
    try:
        return "multi-location" in gdb.execute("info address " + name, to_string=True)
    except gdb.error:  # gdb does not print an empty place
        return True


def has_hardware():
    """Does a hardware breakpoint stop the program? Some virtual machines refuse it, others never stop."""
    start()
    following = gdb.selected_frame().architecture().disassemble(gdb.newest_frame().pc(), count=2)[1]["addr"]
    gdb.Breakpoint("*%d" % following, type=gdb.BP_HARDWARE_BREAKPOINT, internal=True)
    stopped = go_on() and gdb.newest_frame().pc() == following
    stop()
    return stopped


def witness(batch, names, hardware):
    """Reads a few functions with both. Returns rows (function, expression, of gdb, of nopwatch), the latter None if there is no hit."""
    bias = start()
    entry, after, seen, pending, tracers = {}, {}, {}, True, []
    kind = gdb.BP_HARDWARE_BREAKPOINT if hardware else gdb.BP_BREAKPOINT
    specs = {n: "uprobe:%s:%s(%s)" % (PROGRAM, n, ", ".join(e)) for n, e in batch.items()}
    for name in batch:
        at = names[name] + bias
        point = gdb.Breakpoint("*%d" % at, type=kind, internal=True)
        entry[at] = (name, point)
    if hardware:
        tracers.append(arm(list(specs.values())))
    # The first instruction of the last function has to run, too: its probe fires behind the stop.
    while (entry or after or pending) and all(t[0] for t in tracers) and go_on():
        frame = gdb.newest_frame()
        pc = frame.pc()
        if pc in entry:
            name, point = entry.pop(pc)
            point.delete()
            seen[name] = {e: [read(frame, e)] for e in batch[name]}
            if not hardware:
                tracers.append(arm([specs[name]], len(tracers)))
            # A place for the whole function holds only behind the prologue.
            if not all(is_listed(re.match(r"\w+", e).group()) for e in batch[name]):
                skipped = gdb.find_pc_line(pc).last + 1
                after[skipped] = (name, gdb.Breakpoint("*%d" % skipped, internal=True, temporary=True))
            if not entry:
                gdb.Breakpoint("*%d" % frame.older().pc(), internal=True, temporary=True)
        elif pc in after:
            name, point = after.pop(pc)
            for e in batch[name]:
                seen[name][e].append(read(frame, e))
        elif not entry:
            pending = False
    time.sleep(0.1)
    for tracer in (t[0] for t in tracers if t[0]):
        tracer.terminate()
        tracer.wait()
    stop()
    errors = "".join(open(err).read() for _, _, err in tracers)
    if not all(t[0] for t in tracers):
        return None, errors
    hits = {}
    for _, out, _ in tracers:
        for line in open(out):
            row = json.loads(line)
            if row["type"] == "event":
                hits.setdefault(row["probe"].split(":", 1)[1], row)
    return [(n, e, seen[n][e], hits.get(n)) for n in seen for e in batch[n]], errors


# ---- judging ------------------------------------------------------------------------------------


def same(theirs, ours):
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(theirs) == len(ours) and all(map(same, theirs, ours))
    if isinstance(theirs, bytes):
        mine = ours.encode("utf-8", "surrogateescape") if isinstance(ours, str) else b""
        theirs = theirs.decode("utf-8", "replace").encode()
        return mine == theirs or (len(mine) >= LONGEST and theirs.startswith(mine.rstrip(b".\xe2\x80\xa6")))
    if isinstance(theirs, float):
        return isinstance(ours, (int, float)) and struct.pack("f", theirs) == struct.pack("f", ours)
    number = int(ours, 0) if isinstance(ours, str) and re.fullmatch(r"-?(0x)?[0-9a-f]+", ours) else ours
    return isinstance(number, (int, bool)) and int(number) % 2**64 == theirs % 2**64


def is_named(theirs, word):
    return not isinstance(theirs, Named) or theirs.word == word


def judge(rows, errors, result):
    for name, expression, theirs, hit in rows:
        why = re.search(r"%s of uprobe:%s has no value: (.*)" % (re.escape(expression), re.escape(name)), errors)
        values = [t for t in theirs if t is not None and t != "a structure"]
        ours = hit and hit["args"].get(expression)
        if hit is None:
            result["without a hit"] += 1
            result["shown"].append("without a hit: %s(%s)" % (name, expression))
            continue
        if why or expression not in hit["args"]:
            kind = "refused" if values else "neither"
            result["why"][why.group(1) if why else "without a reason"] += 1
        elif ours is None:
            kind = "unread" if values else "neither"
        elif not values and expression in hit.get("untrusted", ""):
            kind = "untrusted"  # it is behind pointers, and nopwatch marks it
        elif not values:
            kind = "only nopwatch"
        else:
            word = hit.get("names", {}).get(expression, "")
            kind = "equal" if any(same(t, ours) and is_named(t, word) for t in values) else "wrong"
            result["named"] += word != ""
        result[kind] += 1
        if kind in ("unread", "only nopwatch", "wrong"):
            result["shown"].append("%s: %s(%s): gdb %s, nopwatch %s" % (kind, name, expression, theirs, ours))


def main():
    global MAIN
    for line in ("confirm off", "pagination off", "breakpoint pending off", "print inferior-events off", "width 0", "language c"):
        gdb.execute("set " + line)
    MAIN = int(gdb.parse_and_eval("(long)&main"))
    hardware = has_hardware()
    everything = functions()
    tried = {n: everything[n] for n in choose.sample(sorted(everything), min(MOST_TRIED, len(everything)))}
    found = look(tried)
    order = sorted(found)
    choose.shuffle(order)
    result = collections.Counter()
    result = {k: 0 for k in ("equal", "refused", "neither", "unread", "untrusted", "only nopwatch", "wrong", "without a hit", "named")}
    result.update(why=collections.Counter(), shown=[], functions=len(found))
    total = 0
    while order and total < COUNT:
        batch = {n: found[n] for n in order[:AT_ONCE]}
        order = order[AT_ONCE:]
        rows, errors = witness(batch, tried, hardware)
        if rows is None:
            result["shown"].append("error: %s: %s" % (batch, errors))
            result["wrong"] += 1
            continue
        judge(rows, errors, result)
        total += len(rows)
    with open(os.environ["SAID"], "w") as said:
        json.dump(result, said)


main()
