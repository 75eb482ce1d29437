"""A second, slow and simple summariser: what stat and report should say of single events.

It shares nothing with src/. Its rules are those of the manual page, docs/json.md and docs/dev/architecture.md. Hits are
walked through once, in the order of their times, and every value is kept, so that a distribution can be compared with
the values themselves.

An event is a Hit, a Task (a thread is born, gets another name, begins another program, dies) or a Loss (events of a CPU
are missing between two times). summarise() returns a Result.
"""
import fnmatch
import math
from collections import defaultdict
import dataclasses
from dataclasses import dataclass, field


@dataclass
class Hit:
    time: int
    cpu: int
    tid: int
    probe: str
    args: dict = field(default_factory=dict)
    stack: int = 0  # the stack pointer, of functions' entries and returns
    go: tuple = ()  # of Go functions: what the registers say of the goroutine: its address, stack.hi and stackguard0
    call: int = 0  # which call it is of: nobody may know, but what is measured must be one call
    callers: object = None  # (frames as texts, why there are no more), where its probe has stacks
    words: bytes = field(default=b"", repr=False)  # what was copied for them


@dataclass
class Task:
    time: int
    cpu: int
    tid: int  # whose event it is
    what: str  # born, renamed, exec, exit
    other: int = 0  # born: the new thread; exec: the number that the thread had before
    comm: str = ""  # born, renamed: the name from now on
    thread: bool = False  # born: a thread of the same process


@dataclass
class Loss:
    time: int  # behind this one, events of the CPU are missing
    until: int  # up to this one
    cpu: int
    count: int


@dataclass
class SpanDef:
    """start and end are sets of probes; key is the pair of what tells spans apart at the start and at the end."""

    name: str
    starts: tuple
    ends: tuple
    key: tuple = ("tid", "tid")
    flat: bool = False  # nest=no
    call: bool = False  # a function: paired by its stack pointer
    go: bool = False  # a Go function: whose stacks are those of goroutines
    duration: tuple = ()  # (argument, nanoseconds of its unit): each hit is a span, and says how long it took


@dataclass
class Options:
    spans: list
    start: int = 0  # of the run
    stop: int = 0
    by: tuple = ()
    keep: object = None  # of --filter: a function of (args, tid, pid, comm, cpu), and which arguments it needs
    keep_needs: tuple = ()
    hist: bool = False
    interval: int = 0
    most: float = math.inf  # -n: so many hits, and no more
    hidden: tuple = ()  # probes that have no rows: the scheduler's, with --states
    states: bool = False
    probes: dict = field(default_factory=dict)  # probe: names of its arguments
    pid_of: dict = field(default_factory=dict)  # thread: process, of those older than the trace
    comm_of: dict = field(default_factory=dict)
    costs: dict = field(default_factory=dict)  # probe: (before, after), what a hit costs around its time
    net: bool = False
    stacks: bool = False  # some probe has stacks
    slower: object = None  # --slower: stacks are those of slow spans, and nothing else's
    asks_open: bool = False  # --open


@dataclass
class Measured:
    span: str
    start: Hit
    end: Hit
    latency: int
    group: object
    cost: int = 0
    states: dict = None


@dataclass
class Open:
    """A span that has not ended at the time of a report."""

    span: str
    start: Hit
    pid: int  # of its thread, and the thread's name, at the start
    comm: str
    may_have_ended: bool  # events were lost since it began
    states: dict = None  # up to the report


class Row:
    """Of a probe or a span in a group: every value, and counts."""

    def __init__(self):
        self.counts = defaultdict(int)
        self.values = defaultdict(list)  # gap, latency, cost, args, states

    def is_empty(self):
        return not any(self.counts.values()) and not any(self.values.values())


class Result:
    def __init__(self):
        self.rows = defaultdict(Row)  # by (kind, name, group, interval); interval 0: the total
        self.measured = []
        self.stacks = defaultdict(lambda: [0, 0])  # by (kind, name, callers): how many, and their time
        self.filtered = self.lost = self.discarded = self.taken = 0
        self.intervals = 0
        self.open = []  # (time of a report, what is open then), for each interval and for the whole


class Calls:
    """The calls of a thread that have not returned. Those whose frame something has run over are gone, unless the thread
    runs on several stacks: then they may return yet, and once one has, nothing is gone for another's sake any more."""

    def __init__(self):
        self.open, self.gone = [], []
        self.switches = False
        self.returned = -math.inf  # the stack pointer of the last event, if that was a return
        self.hi = None  # a goroutine's: where its stack ended when the last call began,
        self.again = False  # and whether that call found it too small, so that it begins again

    def leave(self, left):
        """Left without a return, as far as one can tell on one stack: the innermost ones for which left() holds."""
        while self.open and not self.switches and left(self.open[-1]):
            self.gone.append(self.open.pop())

    def everything(self):
        return self.open + self.gone


UNKNOWN = "?"
NO_STACK = ((), "none")
HIDDEN = object()  # the group of a start that a filter has taken out


class Threads:
    """Which process a thread is of, and its name."""

    def __init__(self, options):
        self.options = options
        self.known = {}

    def get(self, tid):
        if tid == 0:
            return 0, "<idle>"
        if tid not in self.known:
            self.known[tid] = (self.options.pid_of.get(tid, tid), self.options.comm_of.get(tid, "?"))
        return self.known[tid]

    def take(self, task):
        if task.what == "born":
            pid = self.get(task.tid)[0] if task.thread else task.other
            self.known[task.other] = (pid, task.comm)
        elif task.what == "renamed":
            self.known[task.tid] = (self.get(task.tid)[0], task.comm)
        elif task.what == "exit":
            self.known.pop(task.tid, None)
        elif task.what == "exec" and task.other != task.tid:
            self.known.pop(task.other, None)


class States:
    """What each thread did, as a list of (time, state) from the scheduler's events."""

    NAMES = ("running", "runnable", "sleeping", "disk", "others")

    def __init__(self):
        self.course = defaultdict(list)
        self.waking = {}

    def enter(self, tid, time, state):
        self.course[tid].append((time, state))

    def now(self, tid):
        return self.course[tid][-1][1] if self.course[tid] else None

    def take(self, hit):
        name = hit.probe.split(":")[-1]
        if name == "sched_switch":
            gone, state, comes = hit.args["prev_pid"], hit.args["prev_state"] & 0xff, hit.args["next_pid"]
            if self.now(comes) in ("sleeping", "disk") and comes in self.waking:
                self.enter(comes, self.waking[comes], "runnable")  # its sched_wakeup was not recorded
            for tid in (gone, comes):  # what woke gone up was before this sleep, though its switch was lost
                self.waking.pop(tid, None)
            gone, comes = gone or ("idle", hit.cpu), comes or ("idle", hit.cpu)
            self.enter(gone, hit.time, "runnable" if not state else "disk" if state & 3 == 2 else "sleeping")
            self.enter(comes, hit.time, "running")
        elif name == "sched_waking" and self.now(hit.args["pid"]) in ("sleeping", "disk"):
            self.waking.setdefault(hit.args["pid"], hit.time)
        elif name == "sched_wakeup" and self.now(hit.args["pid"]) in ("sleeping", "disk"):
            self.enter(hit.args["pid"], hit.time, "runnable")

    def split(self, tid, at, start, end):
        """Parts of the time from start, when the thread was running and so much of its course was known, to end."""
        parts = dict.fromkeys(self.NAMES, 0)
        course = [(start, "running"), *self.course[tid][at:]]
        for (time, state), (following, _) in zip(course, course[1:] + [(end, "")]):
            parts[state] += following - time
        return parts


    def split_so_far(self, tid, at, start, now):
        """The same of a span that goes on. Who has been woken up is runnable, though no sched_wakeup has come yet."""
        known = list(self.course[tid])
        if self.now(tid) in ("sleeping", "disk") and tid in self.waking:
            self.enter(tid, self.waking[tid], "runnable")
        parts = self.split(tid, at, start, now)
        self.course[tid] = known
        return parts


class Judge:
    def __init__(self, options):
        self.options = options
        self.result = Result()
        self.threads = Threads(options)
        self.states = States()
        self.turns = {}  # by span and thread: the last key, and how many there were before
        self.open = defaultdict(list)  # (span, key): starts, the innermost last
        self.calls = defaultdict(Calls)  # by thread, of any function
        self.last = {}  # (probe, group): the time of the last hit
        self.loss_until = -1
        self.now = options.start
        self.lives = defaultdict(int)  # thread: how often its number was given
        self.spent = defaultdict(int)  # thread: what its hits have cost so far; goroutine: what those of Go functions have

    def thread_of(self, hit):
        """Numbers are given again; and an idle thread is one a CPU, though all of them have the number 0."""
        return (hit.tid, self.lives[hit.tid]) if hit.tid else ("idle", hit.cpu)

    # ---- rows

    def rows(self, kind, name, group):
        """The row of the total, and that of the interval."""
        yield self.result.rows[kind, name, group, 0]
        if self.options.interval:
            yield self.result.rows[kind, name, group, self.interval()]

    def interval(self):
        """The end belongs to the last one, whole or not."""
        now = min(self.now, self.options.stop - 1)
        return max(now - self.options.start, 0) // self.options.interval + 1

    def count(self, span, group, what, by=1):
        if group is HIDDEN:
            return
        self.result.discarded += by if what == "discarded" else 0
        for row in self.rows("span", span.name, self.shown(group)):
            row.counts[what] += by

    def group_of(self, hit):
        """One value a key; None where the hit cannot say."""
        pid, comm = self.threads.get(hit.tid)
        known = {"tid": hit.tid, "pid": pid, "comm": comm, "cpu": hit.cpu}
        if comm == UNKNOWN and len(self.options.by) > 1:
            known["comm"] = None  # the end may know it
        known = {**{key: hit.args.get(key) for key in self.options.by}, **known}
        return tuple(None if known[key] is None else str(known[key]) for key in self.options.by)

    @staticmethod
    def shown(group):
        return tuple(UNKNOWN if part is None else part for part in group)

    # ---- spans

    def key_of(self, key, hit):
        """What tells spans apart; None where the hit does not say. An idle thread is one a CPU."""
        if "+" in key:
            parts = tuple(self.key_of(part, hit) for part in key.split("+"))
            return None if None in parts else parts
        if key in ("tid", "pid") and hit.tid == 0:
            return ("idle", hit.cpu)
        known = {"tid": hit.tid, "pid": self.threads.get(hit.tid)[0], "cpu": hit.cpu}
        return known[key] if key in known else hit.args.get(key)

    def give_up(self, span, starts, what):
        for start in starts:
            stale = start["hit"].time < self.loss_until
            self.count(span, start["group"], "discarded" if stale else what)
        starts.clear()

    def drop_stale(self, span, starts):
        """Events were lost while the innermost was open: its end may be among them, and so may those of the others."""
        if not starts or starts[-1]["hit"].time >= self.loss_until:
            return False
        self.give_up(span, starts, "discarded")
        return True

    def begin(self, span, hit, group):
        key = self.key_of(span.key[0], hit)
        if key is None:
            self.count(span, group, "unmatched_starts")
            return
        starts = self.open[span.name, key]
        if not self.drop_stale(span, starts) and span.flat:
            self.give_up(span, starts, "abandoned")
        starts.append({"hit": hit, "group": group, "inside": False, "spent": self.spent[self.thread_of(hit)],
                       "who": self.threads.get(hit.tid), "course": len(self.states.course[hit.tid or ("idle", hit.cpu)]),
                       "thread": self.thread_of(hit), "turn": self.turn(span, key, hit)})

    def turn(self, span, key, hit):
        """Which turn of the thread it is: one of another key is another, since what it does then is for that."""
        if span.key[0] == "tid":
            return None
        last = self.turns.setdefault((span.name, self.thread_of(hit)), [key, 0])
        if last[0] != key:
            last[:] = [key, last[1] + 1]
        return last[1]

    def end(self, span, hit, group):
        key = self.key_of(span.key[1], hit)
        if key is None:
            self.count(span, group, "unmatched_ends")
            return
        starts = self.open[span.name, key]
        if self.drop_stale(span, starts):
            return
        if not starts:
            self.count(span, group, "unmatched_ends")
            return
        start, turn = starts.pop(), self.turn(span, key, hit)
        for outer in starts:
            outer["inside"] = True
        if start["group"] is HIDDEN or group is HIDDEN:
            return
        self.measure(span, start, hit, group, start["turn"] != turn)

    def handed(self, span, hit, group):
        if group is HIDDEN:
            return
        name, unit = span.duration
        took = hit.args.get(name)
        if took is None or not 0 <= took * unit <= hit.time:
            self.count(span, group, "invalid")
            return
        before = dataclasses.replace(hit, time=hit.time - took * unit, args={})
        self.measure(span, {"hit": before, "group": group, "inside": False}, hit, group)

    def measure(self, span, start, hit, group, served_others=False):
        of = tuple(a if a is not None else b for a, b in zip(start["group"], group))
        if hit.time < start["hit"].time:
            self.count(span, of, "discarded")
            return
        latency, cost = hit.time - start["hit"].time, self.cost_of(span, start, hit)
        clamped = self.options.net and cost > latency
        if self.options.net:
            latency = max(latency - cost, 0)
        measured = Measured(span.name, start["hit"], hit, latency, self.shown(of), cost)
        if self.options.states and not span.go and not span.duration:
            measured.states = self.split(measured, start, served_others)
        self.result.measured.append(measured)
        if self.options.stacks and latency >= (self.options.slower or 0):
            self.count_stack("span", span.name, start["hit"].callers or hit.callers or NO_STACK, latency)
        for row in self.rows("span", span.name, self.shown(of)):
            row.counts["nested"] += start["inside"] and not span.call
            row.counts["clamped"] += clamped
            row.values["latency"].append(latency)
            if self.options.costs:
                row.values["cost"].append(cost)
            for state, part in (measured.states or {}).items():
                row.values[state].append(part)

    def owner_of(self, hit):
        """(whose stack the hit was on, where in it): a thread's, or a goroutine's, which it may take along to another place
        and on which any thread of its process may run. In C code the registers say nothing of a goroutine."""
        if not hit.go or not 0 < hit.go[1] - hit.stack <= 1 << 30:
            return hit.tid, hit.stack
        return ("go", self.threads.get(hit.tid)[0], hit.go[0]), hit.stack - hit.go[1]

    def cost_of(self, span, start, hit):
        """What follows the start's time, what comes before the end's, and both of every hit in between, if the span is its
        thread's own: one by something else may wait meanwhile."""
        if not self.options.costs or span.duration:
            return 0
        cost = self.options.costs[start["hit"].probe][1] + self.options.costs[hit.probe][0]
        if "owner" in start and start["owner"] != start["hit"].tid:
            return cost + self.spent[start["owner"]] - start["spent"] - sum(self.options.costs[hit.probe])
        if span.key[0] == "tid" and start["thread"] == self.thread_of(hit):
            cost += self.spent[self.thread_of(hit)] - start["spent"] - sum(self.options.costs[hit.probe])
        return cost

    def split(self, measured, start, another):
        took, end = measured.end.time - measured.start.time, measured.end
        if another or start["thread"] != self.thread_of(end):
            return {**dict.fromkeys(States.NAMES, 0), "others": measured.latency}
        parts = self.states.split(end.tid or ("idle", end.cpu), start["course"], measured.start.time, end.time)
        left = took - measured.latency
        for state in States.NAMES:
            taken = min(left, parts[state])
            parts[state] -= taken
            left -= taken
        return parts

    # ---- calls

    def call_over(self, call, what):
        stale = call["hit"].time < self.loss_until and what != "abandoned"
        self.count(call["span"], call["group"], "discarded" if stale else what)

    def drop_stale_calls(self, owner):
        """Events were lost while the outermost was open: their ends may be among them, and so may a change of stacks."""
        calls = self.calls[owner]
        if not calls.open or calls.open[0]["hit"].time >= self.loss_until:
            return False
        self.calls_over(owner, "unmatched_starts")
        return True

    def calls_over(self, owner, what):
        for call in self.calls.pop(owner, Calls()).everything():
            self.call_over(call, what)

    def begins_again(self, calls, call):
        """A Go function that finds its stack too small, or is to be preempted, is entered once more: the innermost call, of
        which nothing has been seen since. If it did not seem too small, but the stack was moved, the call may as well be
        another one, and the time from its first entry is not known to be its own."""
        top = calls.open[-1] if calls.open else None
        if call["owner"] == call["hit"].tid or not top or calls.returned != -math.inf or \
                (top["span"], top["stack"]) != (call["span"], call["stack"]) or \
                not (calls.again or calls.hi != call["hit"].go[1]):
            return False
        self.count(top["span"], top["group"], "repeated")
        if not calls.again:
            calls.open[-1] = call
        return True

    def call(self, span, hit, group):
        owner, stack = self.owner_of(hit)
        self.drop_stale_calls(owner)
        calls = self.calls[owner]
        call = {"hit": hit, "group": group, "span": span, "inside": False, "owner": owner, "stack": stack,
                "who": self.threads.get(hit.tid), "spent": self.spent[owner if hit.tid != owner else self.thread_of(hit)],
                "course": len(self.states.course[hit.tid or ("idle", hit.cpu)]), "thread": self.thread_of(hit)}
        if not self.begins_again(calls, call):
            for gone in [c for c in calls.gone if c["stack"] == stack]:
                calls.gone.remove(gone)
                self.call_over(gone, "abandoned")
            calls.leave(lambda c: c["stack"] < stack or c["stack"] <= calls.returned)
            calls.open.append(call)
        calls.returned = -math.inf
        if owner != hit.tid:
            calls.hi, calls.again = hit.go[1], hit.stack <= hit.go[2]

    def returns(self, span, hit, group):
        """Of the newest call of the function at that stack pointer, whatever has begun or returned since."""
        owner, stack = self.owner_of(hit)
        if self.drop_stale_calls(owner):
            return
        calls = self.calls[owner]
        fits = lambda c: c["span"] is span and c["stack"] == stack
        of = calls.open if any(map(fits, calls.open)) else calls.gone
        found = [c for c in of if fits(c)]
        if not found:
            self.count(span, group, "unmatched_ends")
            return
        call = max(found, key=lambda c: c["hit"].time)
        if of is calls.open:
            calls.leave(lambda c: c is not call)
            calls.returned = stack
        of.remove(call)
        if call["hit"].time < self.loss_until:
            self.call_over(call, "unmatched_starts")
            return
        calls.switches |= of is calls.gone
        if call["group"] is not HIDDEN and group is not HIDDEN:
            self.measure(span, call, hit, group)

    # ---- events

    def spend(self, hit):
        if self.options.costs:
            for owner in {self.thread_of(hit), self.owner_of(hit)[0]} - {hit.tid}:
                self.spent[owner] += sum(self.options.costs.get(hit.probe, (0, 0)))

    def passes(self, hit):
        pid, comm = self.threads.get(hit.tid)
        if any(name not in self.options.probes[hit.probe] for name in self.options.keep_needs):
            return True
        return self.options.keep(hit.args, {"tid": hit.tid, "pid": pid, "comm": comm, "cpu": hit.cpu})

    def take_hit(self, hit):
        self.spend(hit)
        if self.options.states:
            self.states.take(hit)
        if hit.probe in self.options.hidden:
            return
        group = self.group_of(hit)
        if self.options.keep and not self.passes(hit):
            self.result.filtered += 1
            group = HIDDEN
        else:
            self.take_row(hit, group)
            self.result.taken += 1
        for span in self.options.spans:
            if span.duration:
                if hit.probe in span.ends:
                    self.handed(span, hit, group)
                continue
            if hit.probe in span.ends:
                (self.returns if span.call else self.end)(span, hit, group)
            if hit.probe in span.starts:
                (self.call if span.call else self.begin)(span, hit, group)

    def count_stack(self, kind, name, callers, time):
        row = self.result.stacks[kind, name, callers]
        row[0] += 1
        row[1] += time

    def take_row(self, hit, group):
        if hit.callers and self.options.slower is None and not any(hit.probe in s.starts for s in self.options.spans):
            self.count_stack("probe", hit.probe, hit.callers, 0)
        last = self.last.get((hit.probe, group))
        for row in self.rows("probe", hit.probe, self.shown(group)):
            row.counts["hits"] += 1
            if last is not None and last >= self.loss_until and hit.time >= last:
                row.values["gap"].append(hit.time - last)
            for name, value in hit.args.items():
                if isinstance(value, int):
                    row.values["arg " + name].append(value)
        self.last[hit.probe, group] = max(hit.time, last or 0)

    def take_task(self, task):
        if task.what == "exit":
            self.lives[task.tid] += 1
            self.states.waking.pop(task.tid, None)
            self.thread_over(task.tid, "tid", False)
        elif task.what == "exec":
            for tid in {task.tid, task.other}:
                self.thread_over(tid, "tid", True)
            self.thread_over(task.tid, "pid", True)
        self.threads.take(task)

    def thread_over(self, tid, key, of_code):
        """What the thread, or the process, has begun will never end."""
        for (name, of), starts in self.open.items():
            span = next(s for s in self.options.spans if s.name == name)
            if of_code and span.starts[0].split(":")[0] in ("irq", "sched"):
                continue  # what the kernel's own events begin goes on
            if span.key[0] == key and of == tid:
                self.give_up(span, starts, "unmatched_starts")
        if key == "tid":  # a process has the number of its first thread
            for owner in [o for o in self.calls if o == tid or (isinstance(o, tuple) and o[1] == tid)]:
                self.calls_over(owner, "abandoned")

    def take_loss(self, loss):
        self.result.lost += loss.count
        self.loss_until = max(self.loss_until, loss.until)

    # ---- what is open

    def note_open(self, now):
        """What a report of this moment calls open, but not calls whose frames are gone."""
        out = []
        for (name, _), starts in self.open.items():
            span = next(s for s in self.options.spans if s.name == name)
            out += [self.still_open(span, start, now) for start in starts]
        for calls in self.calls.values():
            left = [c for c in calls.open if calls.switches or c["stack"] > calls.returned]
            out += [self.still_open(c["span"], c, now) for c in left + calls.gone * calls.switches]
        self.result.open.append((now, [o for o in out if o]))

    def note_intervals(self, until):
        """Of those that end then, or have ended before."""
        ends = lambda: self.options.start + self.options.interval * (len(self.result.open) + 1)
        while self.options.asks_open and self.options.interval and ends() <= until:
            self.note_open(ends())

    def still_open(self, span, start, now):
        hit = start["hit"]
        if start["group"] is HIDDEN:
            return None
        states, lost = None, hit.time < self.loss_until
        if not lost and self.options.states and span.key[0] == "tid" and not span.go:
            states = self.states.split_so_far(hit.tid or ("idle", hit.cpu), start["course"], hit.time, now)
        return Open(span.name, hit, *start["who"], lost, states)

    def finish(self):
        for _ in range(self.options.asks_open + bool(self.options.asks_open and self.options.interval)):
            self.note_open(self.options.stop)  # the last interval's, and that of the whole
        for (name, _), starts in self.open.items():
            self.give_up(next(s for s in self.options.spans if s.name == name), starts, "unmatched_starts")
        for owner in list(self.calls):
            self.calls_over(owner, "unmatched_starts")
        return self.result


def summarise(events, options):
    judge = Judge(options)
    for event in events:
        if judge.result.taken >= options.most:
            break
        judge.note_intervals(event.time)
        judge.now = max(judge.now, event.time)
        {Hit: judge.take_hit, Task: judge.take_task, Loss: judge.take_loss}[type(event)](event)
    judge.note_intervals(options.stop - 1)
    judge.now = max(judge.now, options.stop)
    return judge.finish()


def percentile(values, p):
    """The value of rank ceil(p * count)."""
    return sorted(values)[max(1, math.ceil(p * len(values))) - 1]


def fits(pattern, text):
    """A glob of --filter, whose only special signs here are * and ?."""
    return fnmatch.fnmatchcase(text, pattern)
