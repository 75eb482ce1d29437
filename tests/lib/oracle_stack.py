"""Stacks of the random programs: the words that the kernel would have copied at a hit, and who called, in words of nopwatch.

The program is a small ELF file without call frame information, with functions that have names and one place that has none,
and code that a runtime has generated, of which the recording knows the names. A Chain is a way to a hit. Frames follow
each other by their frame pointers, until the first function, which returns to 0; or something is wrong, by which the way ends.
"""
import os
import struct

BASE = 0x555555550000  # where the file is mapped; its segment begins at offset 0
PROBED = 24 * 4096  # code of probes comes first, a page each; then that of their callers
SIZE = 32 * 4096
GENERATED, GENERATED_SIZE = 0x7f0000000000, 0x10000
REGISTERS = ("ip", "sp", "bp", "bx", "r12", "r13", "r14", "r15")
FUNCTIONS = {"main": 0x18100, "serve": 0x18400, "a;b": 0x18800, "_ZN3app4loopEi": 0x18c00}
SHOWN = {"_ZN3app4loopEi": "app::loop(int)"}
GENERATED_CODE = {"LazyCompile:~run;x": 0x100, "stub with blanks": 0x900}
FUNCTION_SIZE = 0x200
APP = "/bin/app"  # as which the file is shown, wherever it is
NOWHERE = 0x1234  # nothing is mapped there


def frame(text, function):
    """As JSON shows it, and as folded lines do."""
    return text, function.replace(";", ":")


def caller(r):
    """(return address, frame)."""
    kind, at = r.random(), r.randint(1, FUNCTION_SIZE - 1)
    if kind < 0.6:
        name = r.choice(list(FUNCTIONS))
        shown = SHOWN.get(name, name)
        return BASE + FUNCTIONS[name] + at, frame(f"{shown}+0x{at:x} ({APP})", shown)
    if kind < 0.8:
        name = r.choice(list(GENERATED_CODE))
        return GENERATED + GENERATED_CODE[name] + at, frame(f"{name}+0x{at:x} (generated)", name)
    if kind < 0.9:
        return BASE + SIZE - at, frame(f"0x{SIZE - at:x} ({APP})", "[app]")
    return GENERATED + GENERATED_SIZE - at, frame(f"0x{GENERATED + GENERATED_SIZE - at:x}", "[unknown]")


class Chain:
    """The callers of a place, the innermost first, with the sizes of their frames, and what is above the last of them."""

    def __init__(self, r):
        self.callers = [(*caller(r), 16 * r.randint(1, 4)) for _ in range(r.randint(1, 6))]
        self.bound = r.choice(("first", "first", "first", "unmapped", "no frame"))

    def hit(self, pc, sp, leaf, entry, size):
        """(what was copied, frames, why there are no more) of a hit at pc. At a function's entry the return address is on
        top of the stack, and the frame pointer is still the caller's."""
        above = {"first": (0, None, 0), "unmapped": (NOWHERE, None, 0), "no frame": (0, None, 0)}[self.bound]
        memory, frames, ways = {}, [leaf], [*self.callers, above]
        if entry:
            address, who, _ = ways.pop(0)
            memory[sp] = address
            frames.append(who)
        pointer, end = sp + 16, "size"
        if self.bound == "no frame":
            return copy(pc, sp, 7, memory, size), frames, "unknown"
        for address, who, length in ways:
            if pointer + 16 > sp + size:
                break
            memory[pointer], memory[pointer + 8] = pointer + length, address
            if who is None:
                end = "unknown" if address else ""
                break
            frames.append(who)
            pointer += length
        return copy(pc, sp, sp + 16, memory, size), frames, end


def copy(pc, sp, bp, memory, size):
    words = [memory.get(sp + at, 0xdead0000 + at) for at in range(0, size, 8)]
    return struct.pack(f"<{8 + len(words)}Q", pc, sp, bp, *range(11, 16), *words)


def place_of(number):
    """Where the probe of that number is, in the file."""
    return 4096 * (1 + number) + 16


class Stacks:
    """Which probes of a program have stacks, and their chains."""

    def __init__(self, r, probes):
        own = [p for p in probes if p.startswith(("app:", "uprobe:"))]
        begin = [p for p in own if not p.endswith(("__done", "__end", "__commit"))]
        kind = r.random()
        self.random, self.size = r, 8 * r.choice((8, 16, 64))
        self.probes = [] if kind < 0.4 else begin if kind < 0.8 else r.sample(own, r.randint(1, len(own)))
        self.chains = [Chain(r) for _ in range(r.randint(1, 8))]
        self.number = {p: i for i, p in enumerate(probes)}

    def function(self, probe):
        """(name, where it begins): a function's own probe is at its begin, others are somewhere in theirs."""
        entry, at = probe.startswith("uprobe"), place_of(self.number[probe])
        return (probe.split(":")[1], at) if entry else ("in_" + probe.split(":")[1], at - 16)

    def of_hit(self, probe, sp):
        """(copied words, (frames, why there are no more)); of a probe without stacks: nothing."""
        if probe not in self.probes:
            return b"", None
        name, start = self.function(probe)
        place = place_of(self.number[probe])
        leaf = frame(f"{name}+0x{place - start:x} ({APP})", name)
        words, frames, end = self.random.choice(self.chains).hit(BASE + place, sp, leaf, place == start, self.size)
        return words, (tuple(frames), end)

    def write_program(self, path):
        if self.probes:
            write_program(path, dict(map(self.function, self.probes)))


def write_program(path, probed):
    """probed: function: its address in the file."""
    names, symbols = b"\0", [b"\0" * 24]
    for name, address in {**probed, **FUNCTIONS}.items():
        symbols.append(struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, address, FUNCTION_SIZE))
        names += name.encode() + b"\0"
    table, sections = b"".join(symbols), b"\0.text\0.symtab\0.strtab\0"
    at = SIZE
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at, 0, 64, 56, 1, 64, 4, 3)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, SIZE, SIZE, 4096)
    texts = at + 4 * 64
    strings = names + sections
    heads = bytes(64)
    heads += struct.pack("<IIQQQQIIQQ", 1, 1, 6, 4096, 4096, SIZE - 4096, 0, 0, 16, 0)
    heads += struct.pack("<IIQQQQIIQQ", 7, 2, 0, 0, texts, len(table), 3, 1, 8, 24)
    heads += struct.pack("<IIQQQQIIQQ", 15, 3, 0, 0, texts + len(table), len(strings), 0, 0, 1, 0)
    # the names of sections are behind those of symbols, in one table
    heads = bytes(64) + b"".join(
        struct.pack("<I", struct.unpack_from("<I", heads, 64 * i)[0] + len(names)) + heads[64 * i + 4:64 * (i + 1)]
        for i in range(1, 4))
    with open(path, "wb") as file:
        file.write((header + segment).ljust(SIZE, b"\0") + heads + table + strings)


def mapping_lines(path, pids):
    """The mappings and the names of generated code, as a recording has them."""
    file = os.stat(path)
    lines = ["module 3 0 0 -", f"module 0 {file.st_dev} {file.st_ino} {path}"]
    for pid in sorted(pids):
        lines += [f"region {pid} {BASE} {BASE + SIZE} 0 1",
                  f"region {pid} {GENERATED} {GENERATED + GENERATED_SIZE} 0 0"]
        lines += [f"jit {pid} {GENERATED + at} {FUNCTION_SIZE} {name.replace(' ', '%20')}"
                  for name, at in GENERATED_CODE.items()]
    return lines
