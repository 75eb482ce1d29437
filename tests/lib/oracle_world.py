"""Random programs on a few CPUs, and what a kernel would have recorded of them: as a recording, and as text.

World(seed).trace() runs threads that nest, recurse, fork, exec, move to other CPUs, die, and whose numbers are given
again; that begin what they never end, and end what never began; that hand requests to each other; that run goroutines;
whose scheduler's events are recorded; and of whose events some CPUs lose a part.
"""
import os
import random
import struct
from dataclasses import dataclass, field

import oracle_stack
from oracle import Hit, Loss, Task

START = 5_000_000_000
SCHED = ("sched:sched_switch", "sched:sched_wakeup", "sched:sched_waking")

# probe: its arguments and their types. The first word is the provider; "uprobe" and "uretprobe" are functions'
PROBES = {
    "app:req__start": (("id", "u32"), ("what", "string")),
    "app:req__done": (("id", "u32"), ("status", "s32")),
    "app:job__begin": (("job", "u64"), ("id", "u32")),
    "app:job__end": (("job", "u64"), ("code", "u16")),
    "app:job__commit": (("job", "u64"), ("status", "s32")),
    "app:tick": (("n", "s64"),),
    "uprobe:work": (("arg0", "u64"),),
    "uretprobe:work": (("arg0", "u64"),),
    "uprobe:help": (("arg0", "u64"),),
    "uretprobe:help": (("arg0", "u64"),),
    "uprobe:gowork": (("arg0", "u64"),),
    "uretprobe:gowork": (("arg0", "u64"),),
    "uprobe:gohelp": (("arg0", "u64"),),
    "uretprobe:gohelp": (),
    "irq:softirq_entry": (("vec", "u32"),),
    "irq:softirq_exit": (("vec", "u32"),),
    "sched:sched_switch": (("prev_pid", "s32"), ("prev_state", "s64"), ("next_pid", "s32")),
    "sched:sched_wakeup": (("pid", "s32"),),
    "sched:sched_waking": (("pid", "s32"), ("common_flags", "u8")),
}
# fields of the kernel's own events: name, declaration, size
KERNEL_EVENTS = {
    "irq:softirq_entry": (("vec", "unsigned int vec", 4),),
    "irq:softirq_exit": (("vec", "unsigned int vec", 4),),
    "sched:sched_switch": (("prev_comm", "char prev_comm[16]", 16), ("prev_pid", "pid_t prev_pid", 4),
                           ("prev_prio", "int prev_prio", 4), ("prev_state", "long prev_state", 8),
                           ("next_comm", "char next_comm[16]", 16), ("next_pid", "pid_t next_pid", 4),
                           ("next_prio", "int next_prio", 4)),
    "sched:sched_wakeup": (("comm", "char comm[16]", 16), ("pid", "pid_t pid", 4), ("prio", "int prio", 4),
                           ("target_cpu", "int target_cpu", 4)),
    "sched:sched_waking": (("comm", "char comm[16]", 16), ("pid", "pid_t pid", 4), ("prio", "int prio", 4),
                           ("target_cpu", "int target_cpu", 4)),
    "task:task_newtask": (("pid", "pid_t pid", 4), ("comm", "char comm[16]", 16), ("", "", 4),
                          ("clone_flags", "u64 clone_flags", 8), ("oom", "short oom_score_adj", 2)),
    "task:task_rename": (("pid", "pid_t pid", 4), ("oldcomm", "char oldcomm[16]", 16),
                         ("newcomm", "char newcomm[16]", 16), ("oom", "short oom_score_adj", 2)),
    "sched:sched_process_exit": (("comm", "char comm[16]", 16), ("pid", "pid_t pid", 4), ("prio", "int prio", 4)),
    "sched:sched_process_exec": (("filename", "__data_loc char[] filename", 4), ("pid", "pid_t pid", 4),
                                 ("old_pid", "pid_t old_pid", 4)),
}
TASK_EVENTS = {"born": "task:task_newtask", "renamed": "task:task_rename", "exit": "sched:sched_process_exit",
               "exec": "sched:sched_process_exec"}
CLONE_THREAD = 0x00010000
MAIN_STACK = 0x7ffe00000000
GO_STACKS = 0xc000100000  # where stacks of goroutines are, and before them their structs g
GUARD = 0x80  # nearer to the end of its stack than this, a Go function finds it too small
GO_FIELDS = ("g", "g_hi", "g_guard")
WORDS = ("SELECT 1", "get", "put x", "a,b", 'say "no"', "", "tab\tb")


@dataclass
class Thread:
    tid: int
    pid: int
    comm: str
    state: str = "ready"  # running, ready, asleep
    open: list = field(default_factory=list)  # what it has begun and means to end: (what, number, which call)
    stack: int = MAIN_STACK
    coroutines: list = field(default_factory=list)  # (open, stack) of those that do not run now
    goroutine: object = None  # which it runs


@dataclass
class Goroutine:
    pid: int
    address: int
    hi: int
    size: int = 0x200
    deep: int = 0  # so much of the stack is in use
    open: list = field(default_factory=list)  # (function, how deep, which call)


@dataclass
class Trace:
    """Events as they were recorded; a Loss stands before the first event behind it, and its times are made from its neighbours."""

    events: list
    cpus: int
    pid_of: dict
    comm_of: dict
    probes: dict
    named: set  # probes whose arguments a spec has named
    costs: dict
    stop: int
    stacks: object = None  # oracle_stack.Stacks

    def judged(self):
        """The events as the judge takes them: each loss where it is told, with its two times."""
        out, last, lost = [], {}, {}
        for event in self.events:
            if isinstance(event, Loss):
                lost[event.cpu] = lost.get(event.cpu, 0) + event.count
                continue
            if event.cpu in lost:
                begun = last.get(event.cpu, 0)
                loss = Loss(begun, event.time, event.cpu, lost.pop(event.cpu))
                at = len(out)
                # of one moment, what is of the lower CPU is the first, as where buffers are merged
                while at and (out[at - 1].time, out[at - 1].cpu) > (loss.time, loss.cpu):
                    at -= 1
                out.insert(at, loss)
            last[event.cpu] = event.time
            out.append(event)
        return out


class World:
    def __init__(self, seed, steps=None):
        self.random = random.Random(seed)
        r = self.random
        self.steps = steps or r.choice((8, 20, 60, 150, 400))
        self.cpus = [None] * r.randint(1, 4)  # the thread that runs
        self.softirq = [0] * len(self.cpus)
        self.losing = [0] * len(self.cpus)  # so many more events of the CPU are lost
        self.lost = [[] for _ in self.cpus]
        self.threads, self.time, self.events, self.free = {}, START, [], []
        self.next_tid, self.requests, self.counter = 100, [], 0
        self.loses = r.random() < 0.4
        self.has_coroutines = r.random() < 0.3
        self.has_sched = r.random() < 0.6
        self.grain = r.choice((1, 1, 1000))
        self.stacks = oracle_stack.Stacks(random.Random(f"stacks {seed}"), PROBES)
        self.goroutines, self.next_stack = [], GO_STACKS
        self.go = random.Random(f"goroutines {seed}")
        self.has_goroutines = self.go.random() < 0.4
        for _ in range(r.randint(1, 5)):
            self.add_thread(None, r.choice(("app", "db worker", "web")))
        self.pid_of = {t.tid: t.pid for t in self.threads.values()}
        self.comm_of = {t.tid: t.comm for t in self.threads.values()}

    def add_thread(self, parent, comm):
        r = self.random
        if self.free and r.random() < 0.7:
            tid = self.free.pop()
        else:
            self.next_tid += r.randint(1, 3)
            tid = self.next_tid
        pids = [t.pid for t in self.threads.values()]
        pid = parent.pid if parent else r.choice(pids) if pids and r.random() < 0.4 else tid
        self.threads[tid] = Thread(tid, pid, comm)
        return self.threads[tid]

    # ---- recording

    def emit(self, cpu, event):
        if event is not None and isinstance(event, Hit) and event.probe in SCHED and not self.has_sched:
            return
        if self.losing[cpu]:
            self.losing[cpu] -= 1
            self.lost[cpu].append(event)
            return
        if self.lost[cpu]:
            self.events.append(Loss(event.time, event.time, cpu, len(self.lost[cpu])))
            self.lost[cpu] = []
        self.events.append(event)

    def hit(self, cpu, tid, probe, stack=0, call=0, go=(), **args):
        words, callers = self.stacks.of_hit(probe, stack or MAIN_STACK - 0x8000)
        self.emit(cpu, Hit(self.time, cpu, tid, probe, args, stack, go, call, callers, words))

    def task(self, cpu, tid, what, **more):
        self.emit(cpu, Task(self.time, cpu, tid, what, **more))

    # ---- the scheduler

    def switch(self, cpu, state, comes):
        gone = self.cpus[cpu]
        self.hit(cpu, gone.tid if gone else 0, "sched:sched_switch", prev_pid=gone.tid if gone else 0,
                 prev_state=state, next_pid=comes.tid if comes else 0)
        if gone and gone.tid in self.threads:
            gone.state = "asleep" if state else "ready"
        if comes:
            comes.state = "running"
        self.cpus[cpu] = comes

    def some(self, state):
        found = [t for t in self.threads.values() if t.state == state]
        return self.random.choice(found) if found else None

    def wake(self, cpu, tid):
        sleeper = self.some("asleep")
        if not sleeper:
            return
        self.hit(cpu, tid, "sched:sched_waking", pid=sleeper.tid, common_flags=self.random.choice((0, 8, 1)))
        if self.random.random() < 0.9:
            self.pass_time()
            self.hit(cpu, tid, "sched:sched_wakeup", pid=sleeper.tid)
        sleeper.state = "ready"

    # ---- what threads do

    def begin(self, cpu, t):
        r, self.counter = self.random, self.counter + 1
        what = r.choice(("req", "req", "job", "work", "help"))
        if what == "req":
            number = r.choice((self.counter, r.randint(1, 4)))
            self.hit(cpu, t.tid, "app:req__start", id=number, what=r.choice(WORDS))
            self.requests.append(number)
        elif what == "job":
            number = r.choice((self.counter, r.randint(1, 4), (1 << 60) + r.randint(1, 3)))
            self.hit(cpu, t.tid, "app:job__begin", job=number, id=r.randint(1, 4))
        else:
            number = t.stack - 16 * r.randint(1, 4)
            self.hit(cpu, t.tid, "uprobe:" + what, stack=number, call=self.counter, arg0=r.randint(0, 9))
            t.stack = number
        if r.random() < 0.9 or what in ("work", "help"):
            t.open.append((what, number, self.counter))

    def end(self, cpu, t):
        r = self.random
        what, number, call = t.open.pop()
        if what == "req":
            if self.requests and r.random() < 0.2:  # another thread's
                number = self.requests.pop(r.randrange(len(self.requests)))
            self.hit(cpu, t.tid, "app:req__done", id=number, status=r.choice((0, 0, 200, -5)))
        elif what == "job" and r.random() < 0.5:
            self.hit(cpu, t.tid, "app:job__end", job=number, code=r.randint(0, 3))
        elif what == "job":
            self.hit(cpu, t.tid, "app:job__commit", job=number, status=r.choice((0, 1, -1)))
        elif r.random() < 0.9:
            self.hit(cpu, t.tid, "uretprobe:" + what, stack=number, call=call, arg0=r.randint(0, 9))
        if what in ("work", "help"):
            t.stack = number + 16

    def jump(self, t):
        """longjmp(), or an exception: several calls are left without a return."""
        while len(t.open) > 1 and self.random.random() < 0.7:
            what, number, _ = t.open.pop()
            if what in ("work", "help"):
                t.stack = number + 16

    def change_stack(self, t):
        """Another coroutine of the thread goes on, or a new one begins, on a stack of its own or that of one that is over."""
        r = self.random
        parked = (t.open, t.stack)
        if t.coroutines and r.random() < 0.8:
            t.open, t.stack = t.coroutines.pop(r.randrange(len(t.coroutines)))
            if r.random() < 0.1:
                t.open = []  # it is over, and another one has its stack
        else:
            t.open, t.stack = [], MAIN_STACK + 0x10000 * r.choice((-1, 1)) * (1 + len(t.coroutines))
        t.coroutines.append(parked)

    # ---- goroutines

    def new_stack(self, g, size):
        g.size, self.next_stack = size, self.next_stack + size
        g.hi = self.next_stack

    def run_goroutine(self, t):
        """One that no other thread runs goes on, or a new one begins, maybe where an old one was."""
        r, own = self.go, [g for g in self.goroutines if g.pid == t.pid]
        idle = [g for g in own if not any(o.goroutine is g for o in self.threads.values())]
        if idle and (len(own) > 3 or r.random() < 0.7):
            t.goroutine = r.choice(idle)
        else:
            t.goroutine = Goroutine(t.pid, GO_STACKS - 0x1000 * (1 + len(own)), 0)
            self.new_stack(t.goroutine, 0x200)
            self.goroutines.append(t.goroutine)

    def go_hit(self, cpu, t, probe, deep, call, guard=None, **args):
        g = t.goroutine
        go = (g.address, g.hi, g.hi - g.size + GUARD if guard is None else guard)
        self.hit(cpu, t.tid, probe, stack=g.hi - deep, call=call, go=go, **args)

    def call_from_c(self, cpu, t):
        """The register of the goroutine holds anything: the call is on the thread's own stack."""
        r, self.counter = self.go, self.counter + 1
        stack = t.stack - 8 * r.randint(1, 40)
        for probe, args in (("uprobe:gowork", {"arg0": 1}), ("uretprobe:gowork", {"arg0": 2})):
            go = (r.choice((0, 1, GO_STACKS)), r.choice((0, stack, stack - 8, stack + (1 << 30) + 8)), r.choice((0, 1 << 63)))
            self.hit(cpu, t.tid, probe, stack=stack, call=self.counter, go=go, **args)
            self.pass_time()

    def go_begin(self, cpu, t):
        r, g, self.counter = self.go, t.goroutine, self.counter + 1
        name, g.deep = r.choice(("gowork", "gohelp")), g.deep + 16 * r.randint(1, 6)
        enter = lambda guard=None: self.go_hit(cpu, t, "uprobe:" + name, g.deep, self.counter, guard, arg0=r.randint(0, 9))
        small, preempted = g.deep >= g.size - GUARD, r.random() < 0.1
        enter(0xfffffffffffffade if preempted else None)
        g.open.append((name, g.deep, self.counter))
        if small or r.random() < 0.05:  # the frame may be too large for what is left, though the guard was not met
            self.new_stack(g, 2 * g.size if small else g.size)
            self.pass_time()
            enter()
        elif preempted:
            self.pass_time()
            enter()
        assert g.deep < g.size

    def go_end(self, cpu, t):
        g = t.goroutine
        name, deep, call = g.open.pop()
        args = {"arg0": self.go.randint(0, 9)} if name == "gowork" else {}
        self.go_hit(cpu, t, "uretprobe:" + name, deep, call, **args)
        g.deep = g.open[-1][1] if g.open else 0

    def go_act(self, cpu, t):
        r, g = self.go, t.goroutine
        chance = r.random()
        if not g or chance < 0.15:
            t.goroutine = None
            self.run_goroutine(t)
        elif chance < 0.2:
            while g.open and r.random() < 0.7:  # a panic
                g.open.pop()
            g.deep = g.open[-1][1] if g.open else 0
        elif chance < 0.23:  # it is over; the next one has its address
            g.open, g.deep = [], 0
            self.new_stack(g, 0x200)
        elif chance < 0.25:
            self.call_from_c(cpu, t)
        elif g.open and r.random() < 0.3 + 0.1 * len(g.open):
            self.go_end(cpu, t)
        else:
            self.go_begin(cpu, t)

    def orphan(self, cpu, t):
        self.random.choice((
            lambda: self.hit(cpu, t.tid, "app:req__done", id=self.random.randint(1, 4), status=0),
            lambda: self.hit(cpu, t.tid, "app:job__end", job=1, code=7),
            lambda: t.open and t.open[-1][0] in ("req", "job") and t.open.pop(),
            lambda: self.hit(cpu, t.tid, "app:tick", n=self.random.randint(-9, 9))))()

    def fork(self, cpu, t):
        thread = self.random.random() < 0.5
        child = self.add_thread(t if thread else None, t.comm)
        if not thread:
            child.pid = child.tid
        self.task(cpu, t.tid, "born", other=child.tid, comm=child.comm, thread=thread)

    def exit(self, cpu, t):
        self.task(cpu, t.tid, "exit")
        del self.threads[t.tid]
        self.pass_time()
        self.switch(cpu, 16, self.some("ready"))
        if not any(o.pid == t.tid for o in self.threads.values()):
            self.free.append(t.tid)

    def exec(self, cpu, t):
        """Another program: the process's other threads end, and this one has the process's number from then on."""
        others = [o for o in self.threads.values() if o.pid == t.pid and o is not t]
        if any(o.state == "running" for o in others) or self.losing[cpu]:
            return
        for other in others:
            self.task(cpu, other.tid, "exit")
            self.pass_time()
            del self.threads[other.tid]
        old = t.tid
        del self.threads[old]
        if t.pid in self.free:
            self.free.remove(t.pid)
        t.tid, t.open, t.comm, t.stack = t.pid, [], self.random.choice(("app", "new")), MAIN_STACK
        t.coroutines, t.goroutine = [], None
        self.goroutines = [g for g in self.goroutines if g.pid != t.pid]
        self.threads[t.tid] = t
        self.task(cpu, t.tid, "renamed", comm=t.comm)
        self.pass_time()
        self.task(cpu, t.tid, "exec", other=old)

    def rename(self, cpu, t):
        t.comm = self.random.choice(("app", "io thread", "z,z"))
        self.task(cpu, t.tid, "renamed", comm=t.comm)

    # ---- time

    def pass_time(self):
        r = self.random
        self.time += self.grain * r.choice((1, r.randint(1, 40), r.randint(50, 3000), r.randint(1000, 60000)))

    def step(self):
        r = self.random
        cpu = r.randrange(len(self.cpus))
        t = self.cpus[cpu]
        twice = self.events and isinstance(self.events[-1], Hit) and self.events[-1].cpu == cpu and r.random() < 0.05
        if not twice:
            self.pass_time()
        if self.loses and not self.losing[cpu] and r.random() < 0.02:
            self.losing[cpu] = r.randint(1, 6)
        tid = t.tid if t else 0
        if self.softirq[cpu]:
            if r.random() < 0.3:
                self.wake(cpu, tid)
                self.pass_time()
            self.hit(cpu, tid, "irq:softirq_exit", vec=self.softirq[cpu])
            self.softirq[cpu] = 0
        elif r.random() < 0.06:
            self.softirq[cpu] = r.randint(1, 9)
            self.hit(cpu, tid, "irq:softirq_entry", vec=self.softirq[cpu])
        elif not t:
            comes = self.some("ready")
            if comes:
                self.switch(cpu, 0, comes)
            elif r.random() < 0.5:
                self.wake(cpu, 0)
        else:
            self.act(cpu, t)

    def act(self, cpu, t):
        r = self.random
        chance = r.random()
        if self.has_goroutines and self.go.random() < 0.4:
            self.go_act(cpu, t)
        elif self.has_coroutines and r.random() < 0.15:
            self.change_stack(t)
        elif chance < 0.03:
            self.jump(t)
        elif chance < 0.62:
            may_end = t.open and r.random() < (0.3 + 0.1 * len(t.open))
            (self.end if may_end else self.begin)(cpu, t)
        elif chance < 0.70:
            self.orphan(cpu, t)
        elif chance < 0.85:
            self.switch(cpu, r.choice((0, 1, 1, 2)), self.some("ready"))
        elif chance < 0.92:
            self.wake(cpu, t.tid)
        else:
            r.choice((self.fork, self.fork, self.exit, self.exec, self.rename))(cpu, t)

    def trace(self):
        for _ in range(self.steps):
            self.step()
        self.pass_time()
        r = self.random
        probes = {p: a for p, a in PROBES.items() if self.has_sched or p not in SCHED}
        # what nothing comes behind would be lost without a word: it is there
        for event in sum(self.lost, []):  # of one moment, the event of the lower CPU is the first, as where buffers are merged
            at = len(self.events)
            while at and (self.events[at - 1].time, self.events[at - 1].cpu) > (event.time, event.cpu):
                at -= 1
            self.events.insert(at, event)
        return Trace(self.events, len(self.cpus), self.pid_of, self.comm_of, probes,
                     {p for p in probes if p.startswith("app:") and r.random() < 0.5},
                     {p: (r.randint(0, 400), r.randint(0, 300)) for p in probes} if r.random() < 0.5 else {},
                     self.time, self.stacks)


# ---- a recording ---------------------------------------------------------------------------------

COMMON = """format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""
PAGE = 4096
SIZES = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "string": 4}


def fields_of(name, args, stacks=None):
    """(field, declaration, offset, size) of an event, and where its fields end."""
    out, at = [], 8
    if name in KERNEL_EVENTS:
        for of, declared, size in KERNEL_EVENTS[name]:
            if size == 8:
                at = (at + 7) & ~7
            if of:
                out.append((of, declared, at, size))
            at += size
        return out, at
    at = 24 if is_return(name) else 16
    more = ("sp", *GO_FIELDS) if is_go(name) else ("sp",) if name.startswith("u") else ()
    for of, kind in (*args, *((of, "u64") for of in more)):
        declared = f"__data_loc char[] {of}" if kind == "string" else f"{kind} {of}"
        out.append((of, declared, at, SIZES[kind]))
        at += SIZES[kind]
    if stacks and name in stacks.probes:
        at = (at + 7) & ~7
        for i, register in enumerate(oracle_stack.REGISTERS):
            out.append(("at_" + register, "u64 at_" + register, at + 8 * i, 8))
        at += 8 * len(oracle_stack.REGISTERS)
        out.append(("stack0", "u64 stack0[]", at, stacks.size))
        at += stacks.size
    return out, at


def is_signed(declared):
    return declared[0] == "s" and declared[1].isdigit() or declared.split()[0] in ("pid_t", "int", "long", "short") \
        or declared.startswith("__data_loc")


def format_text(name, number, args, stacks):
    text = f"name: {event_name(name)}\nID: {number}\n{COMMON}"
    own = () if name in KERNEL_EVENTS else ("func", "ret_ip") if is_return(name) else ("ip",)
    for i, of in enumerate(own):
        text += f"\tfield:unsigned long __probe_{of};\toffset:{8 + 8 * i};\tsize:8;\tsigned:0;\n"
    for _, declared, offset, size in fields_of(name, args, stacks)[0]:
        text += f"\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:{int(is_signed(declared))};\n"
    return text + '\nprint fmt: "%d", REC->common_pid\n'


def is_go(probe):
    """A Go function: its returns are at its ret instructions."""
    return probe.startswith(("uprobe:go", "uretprobe:go"))


def is_return(probe):
    return probe.startswith("uretprobe:") and not is_go(probe)


def event_name(probe):
    kind, name = probe.split(":")
    return name + "_1" if kind == "uretprobe" else name


def callers_lines(field, size):
    """The registers, and then the words of the stack."""
    yield from (f"callers 0 {field} x86_64", "string 0 0")
    for i in range(len(oracle_stack.REGISTERS)):
        yield f"chunk 0 {field + i} {8 * i} 64 0"
    yield f"chunk 0 {field + i + 1} {8 * (i + 1)} 64 {size // 8}"


def plan_text(trace, program):
    probes = list(trace.probes.items())
    lines = ["nopwatch-plan 1", "group nopwatch_t", "image /bin/app", "image kernel"]
    for at, (probe, args) in enumerate(probes):
        provider, name = probe.split(":")
        kernel, function = probe in KERNEL_EVENTS, provider.startswith("u")
        # a function's entry and return are at one place
        place = 0 if kernel else oracle_stack.place_of(at - is_return(probe))
        lines.append(f"probe {int(kernel)} {4 if kernel else 3 if function else 0} {provider} {name} {probe} "
                     f"{int(probe in trace.named or provider == 'sched')}")
        lines += [f"arg {'-' if function else of} {'-' if kernel or function else kind}" for of, kind in args]
        lines.append(f"point {place} {place} {int(is_return(probe))}")
    for at, (probe, args) in enumerate(probes):
        lines.append(f"planned {at} 0 1 0")
        if probe.startswith("u"):
            lines.append(f"stack {len(args)} {8 if is_return(probe) else 0} 0")
        if is_go(probe):
            lines.append(f"goroutine {len(args) + 1}")
        for i, (_, kind) in enumerate(args):
            word = "-" if probe in KERNEL_EVENTS else kind
            lines.append(f"source 0 {i} -1 {word} {word} 0 - 0 -")
        if probe in trace.stacks.probes:
            lines += callers_lines(len(args) + probe.startswith("u") + len(GO_FIELDS) * is_go(probe), trace.stacks.size)
    for at, (probe, args) in enumerate(probes):
        lines.append(f"event {event_name(probe)} {int(is_return(probe))}")
        if probe in KERNEL_EVENTS:
            lines.append(f"system {probe.split(':')[0]}")
        lines += [f"field {of}" for of, _ in args] + ["field sp"] * probe.startswith("u")
        lines += [f"field {of}" for of in GO_FIELDS] * is_go(probe)
        if probe in trace.stacks.probes:
            lines += [f"field at_{register}" for register in oracle_stack.REGISTERS] + ["field stack0"]
        lines.append(f"place {at} 0")
    lines += [f"start {START}", f"stop {trace.stop}", "wall 1795446160148913586", f"armed {START}", "lost 0", "follow 1"]
    for at, (probe, _) in enumerate(probes):
        if trace.costs:
            lines.append("hit_cost %d %d %d" % (at, *trace.costs[probe]))
    for tid, pid in trace.pid_of.items():
        lines.append(f"task {tid} {pid} {trace.comm_of[tid].replace(' ', '%20')}")
    if trace.stacks.probes:
        lines += oracle_stack.mapping_lines(program, {e.tid for e in trace.events if not isinstance(e, Loss)} | set(trace.pid_of.values()))
    return "\n".join(lines) + "\n"


def values_of(event):
    if isinstance(event, Hit):
        stack = event.stack + 8 if is_return(event.probe) else event.stack
        return {**event.args, "sp": stack, **dict(zip(GO_FIELDS, event.go))}
    return {"pid": event.other if event.what == "born" else event.tid, "comm": event.comm, "newcomm": event.comm,
            "clone_flags": CLONE_THREAD if event.thread else 17, "old_pid": event.other, "filename": "/bin/new"}


def event_bytes(event, number, fields, end, place):
    values = values_of(event)
    first_word = next((offset for of, _, offset, _ in fields if of == "at_ip"), 0)
    out = bytearray(end)
    struct.pack_into("<HBBi", out, 0, number, values.get("common_flags", 0), 0, event.tid)
    if isinstance(event, Hit) and event.probe not in KERNEL_EVENTS:
        struct.pack_into("<Q", out, 8, place)
    for of, declared, offset, size in fields:
        value = values.get(of, 0)
        if declared.startswith("__data_loc"):
            text = value.encode() + b"\0"
            struct.pack_into("<I", out, offset, len(text) << 16 | len(out))
            out += text
        elif of.startswith(("at_", "stack0")):
            at = offset - first_word
            out[offset:offset + size] = event.words[at:at + size]
        elif "[16]" in declared:
            out[offset:offset + 16] = (value or "x").encode()[:15].ljust(16, b"\0")
        else:
            out[offset:offset + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(out) + b"\0" * (-len(out) % 4)


class Pages:
    """Of one CPU: a page begins with its first event's time, and with each loss."""

    def __init__(self):
        self.whole, self.data, self.first, self.last, self.lost = b"", b"", 0, 0, None

    def flush(self):
        if not self.data:
            return
        commit, behind = len(self.data), b""
        if self.lost is not None:
            commit |= 0x80000000 | (0x40000000 if self.lost else 0)
            behind = struct.pack("<Q", self.lost) if self.lost else b""
        page = struct.pack("<QQ", self.first, commit) + self.data + behind
        self.whole += page.ljust(PAGE, b"\0")
        self.data, self.lost = b"", None

    def lose(self, count):
        self.flush()
        self.lost = (self.lost or 0) + count

    def add(self, time, data):
        if len(self.data) + len(data) + 24 > PAGE - 16 - 8:
            self.flush()
        if not self.data:
            self.first = self.last = time
        delta, self.last = time - self.last, time
        if delta >> 27:
            self.data += struct.pack("<II", (delta & 0x7ffffff) << 5 | 30, delta >> 27)
            delta = 0
        if len(data) <= 112:
            self.data += struct.pack("<I", delta << 5 | len(data) // 4) + data
        else:
            self.data += struct.pack("<II", delta << 5, len(data) + 4) + data


def write_recording(trace, path):
    """As docs of trace-cmd's format, version 6, have it."""
    numbers = {name: 1500 + i for i, name in enumerate([*trace.probes, *TASK_EVENTS.values()])}
    shapes = {name: fields_of(name, trace.probes.get(name, ()), trace.stacks) for name in numbers}
    place = {name: oracle_stack.BASE + oracle_stack.place_of(i) for i, name in enumerate(trace.probes)}
    program = os.path.join(os.path.dirname(os.path.abspath(path)), "app")
    trace.stacks.write_program(program)
    pages = [Pages() for _ in range(trace.cpus)]
    for event in trace.events:
        if isinstance(event, Loss):
            pages[event.cpu].lose(event.count)
            continue
        name = event.probe if isinstance(event, Hit) else TASK_EVENTS[event.what]
        at = place.get(name.replace("uretprobe", "uprobe") if is_return(name) else name, 0)
        pages[event.cpu].add(event.time, event_bytes(event, numbers[name], *shapes[name], at))
    sized = lambda size, text: struct.pack("<" + size, len(text)) + text
    out = b"\x17\x08\x44tracing6\0\0\x08" + struct.pack("<I", PAGE)
    out += b"header_page\0" + sized("Q", (
        b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"))
    out += b"header_event\0" + sized("Q", b"# compressed entry header\n") + struct.pack("<I", 0)
    systems = {}
    for name in numbers:
        own = name not in KERNEL_EVENTS
        systems.setdefault("nopwatch_t" if own else name.split(":")[0], []).append(name)
    out += struct.pack("<I", len(systems))
    for system, names in systems.items():
        out += system.encode() + b"\0" + struct.pack("<I", len(names))
        for name in names:
            out += sized("Q", format_text(name, numbers[name], trace.probes.get(name, ()), trace.stacks).encode())
    out += struct.pack("<IIQ", 0, 0, 0) + struct.pack("<I", trace.cpus) + b"options  \0"
    out += struct.pack("<H", 4) + sized("I", b"[mono]\0")
    out += struct.pack("<H", 9) + sized("I", b"nopwatch\0" + plan_text(trace, program).encode()) + struct.pack("<H", 0)
    out += b"flyrecord\0"
    at = len(out) + 16 * trace.cpus
    at = data = (at + PAGE - 1) // PAGE * PAGE
    for cpu in pages:
        cpu.flush()
        out += struct.pack("<QQ", at, len(cpu.whole))
        at += len(cpu.whole)
    with open(path, "wb") as file:
        file.write(out.ljust(data, b"\0") + b"".join(cpu.whole for cpu in pages))


# ---- text ----------------------------------------------------------------------------------------

def write_text(trace, path, with_process):
    """As trace_pipe prints hits, without a header of ours: probes have their bare names, times are microseconds."""
    comm_of = {0: "<idle>"}
    pid_of = {0: 0}
    with open(path, "w") as file:
        file.write("# tracer: nop\n#\n")
        for event in trace.events:
            if isinstance(event, Loss):
                file.write(f"CPU:{event.cpu} [LOST {event.count} EVENTS]\n")
                continue
            comm = comm_of.get(event.tid) or trace.comm_of.get(event.tid, "app")
            pid = pid_of.get(event.tid) or trace.pid_of.get(event.tid, event.tid)
            group = f" ({pid if event.tid else 0:>7})" if with_process else ""
            words = " ".join(f"{of}={text_value(value)}" for of, value in event.args.items())
            ip = "" if event.probe in KERNEL_EVENTS else "(0x401136) "
            micro = event.time // 1000
            file.write(f"{comm:>16}-{event.tid:<7}{group} [{event.cpu:03}] ..... {micro // 1000000:5}.{micro % 1000000:06}: "
                       f"{event.probe.split(':')[1]}: {ip}{words}\n")


def text_value(value):
    return f'"{value}"' if isinstance(value, str) else value
