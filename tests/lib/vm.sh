# shellcheck shell=bash source-path=SCRIPTDIR
# Tests on other kernels: boot one, look at what came back. The kernels are fetched by `make
# vm-kernels` (scripts/check does that), never by the tests.
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
. "$(dirname "${BASH_SOURCE[0]}")/static.sh"

VM=$(cd "$TESTS_LIB/../vm" && pwd)

# The events of a trace are what the program said, in the same order.
same_as_said() { # WHAT TRACE SAID [TYPES]
  ok "$1" "$VM/same" "$2" "$3" "${4:-}"
}

# For tests/vm/table: what features says; of what --states tries, what it has found.
vm_said() {
  local lacks=none
  cat uname
  if grep -q 'feature stack_trigger' states.err; then lacks=stack_trigger; fi
  if [ "$(cat states.shifted)" = 1 ]; then lacks="$lacks\\|switch_state"; fi
  sed "s/^\\(\\($lacks\\) *\\)yes/\\1no /" features
}

# Parts of tests/vm/guest that a kernel is spared in every check, and not with ALL=1. Each kernel does what nothing else in a check proves:
# the oldest one what follows from all that it lacks, the newest one what this machine's own may not have (kprobes, event probes, hist
# triggers, calls in place of nops), the other architecture what depends on registers, code and addresses. docs/dev/tests.md says what
# each part is, and where else it is proved.
vm_without() { # KERNEL
  [ -z "${ALL:-}${VM_PART:-}" ] || return 0
  local all=masks,summaries,named,states_recorded,moved_top,small_again,strings_all,replaced,script_top,beside,below
  case $1 in
  amd64-3.13) echo $all,paths_function,paths_recorded,kernel_many,pairs ;;
  amd64-*) echo $all,shared,jump,types,script,places,flight_read,flight_asked,net_again,refused_all,kernel_few,kernel_why ;;
  *) echo $all,shared,types,script,places,flight,net_again,refused_all,kernel_few,kernel_many,kernel_why,paths_function,paths_recorded,killed,many,pairs ;;
  esac
}
wants() { [[ ,$without, != *,$1,* ]]; }

vm_boot() { # KERNEL
  local kernel=$1 arch=${1%%-*} whole='' why
  why=$(paste -sd ' ' "$VM/../../build/vm/$kernel.why" 2>/dev/null)
  [ -f "$VM/../../build/vm/$kernel/vmlinuz" ] || skip_all "it has not been fetched: ${why:-make vm-kernels does that}"
  why=$(flock "$VM/../../build/vm" "$VM/build" "$arch" 2>&1)
  case $? in
  0) ;;
  1) skip_all "cannot build for $arch: $(paste -sd ' ' <<<"$why")" ;;
  *)
    comment "$why"
    fail "builds for $arch"
    finish # ends it
    ;;
  esac
  # what takes long, on the oldest kernel only: a new one is the machine's own, where the kernel tests kill commands at many more
  # moments, and record flat out
  if [ "$kernel" = amd64-3.13 ] || [ -n "${ALL:-}" ]; then whole='nw_whole nw_long'; fi
  [ -z "${ALL:-}" ] || whole="$whole nw_all"
  # ten sessions at once: emulated, they are more than most guests can do in time, and Linux 4.4 itself may oops
  case $kernel in amd64-4.15 | amd64-6.1) whole="$whole nw_ten" ;; esac
  without=$(vm_without "$kernel")
  VM_ARGS="${VM_ARGS:-} $whole ${VM_PART:+part=$VM_PART}${without:+without=$without}" "$VM/boot" "$arch" "$kernel" "$TEST_DIR" 2>"$TEST_DIR/why"
  case $? in
  0) pass "boots, and runs everything" ;;
  2) skip_all "$(cat "$TEST_DIR/why")" ;;
  *)
    fail "boots, and runs everything"
    comment "$(cat "$TEST_DIR/why")"
    finish
    ;;
  esac
  cd "$TEST_DIR" || exit 1
  # A part has not tried all that the table tells.
  [ ! -s features ] || [ -n "${VM_PART:-}" ] || ! wants states_recorded || vm_said >"$VM/../../build/vm/$kernel/said"
}

vm_check_summaries() {
  local number numbers='1 2 3 4'
  wants masks || numbers=
  for number in $numbers; do
    holds "as older kernels would have to ($number)" masked$number.json \
      "[probe('myserver:' + name)['hits'] for name in ('request__start', 'request__done', 'parse__start')] == [100] * 3 and span('myserver:request')['count'] == 100 and loss() == 0"
  done
  ! wants summaries || vm_check_by
  ! wants shared || holds "a tracepoint beside" kernel_event.json \
    "probe('sched:sched_process_fork')['hits'] >= 3 and probe('myserver:request__done')['hits'] == 60"
  if [ -f used.status ]; then
    has "others' records are not taken away" "$(cat used.status used2.status used2.err | tr '\n' ' ')" "^1 1 .*in use: it holds [23] records"
    is "nothing is tried again among them" "$(grep -o 'holds [0-9]* records' used2.err)" "$(grep -o 'holds [0-9]* records' used.err)"
    ok "and are there" grep -q mine used.trace
  fi
  ! wants replaced || holds "a program whose file was replaced" replaced "last['causes'] == ['file-replaced']"
}

vm_check_by() {
  holds "--by and --hist" by.json \
    "sum(r['hits'] for r in of('probe')) == 200 and len(of('probe')) > 1 and sum(r['args']['bytes']['count'] for r in of('probe')) == 200"
  holds "--filter" filtered.json \
    "probe('myserver:request__done')['hits'] == $(j by.json "sum(r['hits'] for r in of('probe') if r['group'] == '404')")"
}

# --stack: /tower's calls are known. Where nothing of a stack can be fetched, that is said.
# On ppc64 _start() jumps to what is called __libc_start_main there.
vm_check_stacks() {
  local first=_start
  if [[ $(cut -d ' ' -f 1 uname) = 3.1[0-3].* ]]; then
    has "--stack is refused" "$(cat stack.status) $(cat stack.err)" "^1 nopwatch: --stack: this kernel's probes only read registers"
    return
  fi
  [ "$(cut -d ' ' -f 2 uname)" != ppc64le ] || first=__libc_start_main
  holds "--stack: who called, of each hit" stack.json "[[t.split('+0x')[0] for t in row['stack'] if '(/tower' in t and 'start' not in t] \
    for row in of('event')[:2]] == [['leaf'] + ['down'] * 12 + ['begin', 'main']] * 2"
  holds "through the C library, too" stack.json "[(t[0], t[1], 'main' in t) for row in of('event')[2:] \
    for t in [[t.split('+0x')[0] for t in row['stack']]]] == [('leaf', 'compare', True)]"
  holds "up to the first one" stack.json \
    "all(row['stack'][-1].startswith('$first+') and 'stack_cut' not in row for row in of('event'))"
  holds "of calls that return probes stand between" stack_func.json "sorted((row['count'], \
    len([t for t in row['stack'] if t.startswith('down')]), row.get('stack_cut')) for row in of('stack')) == \
    [(5, i, None) for i in range(1, 7)]"
}

vm_check_rights() {
  if [ "$(cat rights.status)" = 125 ]; then
    ok "before Linux 4.3 no capability can be handed over" test "$(cut -d ' ' -f 1 uname | cut -d . -f 1)" -lt 5
    return
  fi
  holds "CAP_DAC_OVERRIDE suffices" rights "probe('values:ints')['hits'] == 20"
  has "and is named where it is missing" "$(cat rights_none.status rights_none.err | xargs)" "^1 .*may not use tracefs at .*CAP_DAC_OVERRIDE"
  is "nothing is left of it" "$(cat rights.left)" ""
}

# More calls at once than some kernels follow, and why.
vm_check_kernel_many() {
  if wants kernel_many && grep -q '^maxactive *yes' features; then
    holds "twenty calls at once are timed" kernel_many.json "span('hrtimer_nanosleep')['count'] == 20"
  fi
  wants kernel_few || return 0
  # whose missed returns kprobe_profile has (seen on 6.1 and later, not up to 5.4)
  [[ $(cat uname) = [345].* ]] ||
    has "where the kernel follows fewer, it is told how many are not" "$(cat kernel_few.err)" "[0-9]* calls of kernel functions are not timed"
  holds "and the others have no end" kernel_few.json \
    "0 < span('hrtimer_nanosleep')['count'] < 20 == probe('kprobe:hrtimer_nanosleep')['hits'] and probe('kretprobe:hrtimer_nanosleep')['hits'] < 20"
}

vm_check_kernel_why() {
  holds "why: it is called" kernel_why_called "last['fires'] is True and [c['name'] for c in of('check')][-2:] == ['symbol', 'hit']"
  holds "why: not by this process" kernel_why "last['causes'] == ['not-executed']"
  holds "why: what must not be probed" kernel_why_refused_do_int3 "last['fires'] is False and last['causes'][0] in ('function-forbidden', 'refused', 'symbol-missing')"
  holds "why: what is not there" kernel_why_missing "last['causes'] == ['symbol-missing']"
  holds "why: of what only copies are there" kernel_why_copy "last['causes'] == ['symbol-missing'] and any(c.startswith('nopwatch stat kprobe:') for c in last['remedy'])"
  holds "why: kprobes that are switched off" kernel_why_off.json "last['fires'] is False and last['causes'][0] == 'kprobes-off'"
  is "why: and what it offers switches them on" "$(cat kernel_on)" 1
}

vm_check_kernel_recorded() {
  holds "functions by a pattern" kernel_glob.json "probe('kprobe:vfs_write')['hits'] >= 7"
  is "record and report end well" "$(cat kernel_record.status) $(cat kernel_report.status)" "0 0"
  holds "a recording has the calls" kernel_report "span('vfs_read')['count'] >= 20"
  base64 -d <kernel_rec.base64 >rec.dat
  if grep -q s390x uname; then
    has "of the other byte order it is refused" "$("$NOPWATCH" report rec.dat 2>&1)" "machine of the other byte order"
  else
    "$NOPWATCH" report -j rec.dat >here.json
    ok "and says the same on another machine" "$VM/alike" here.json kernel_report
  fi
  has "what their hits cost is not known" "$(cat kernel_net.status kernel_net.err | xargs)" "^1 nopwatch: --net: what a hit of kprobe:vfs_read costs is not known"
}

# Functions of the kernel. dd has read and written some hundred times, which the kernel's events of these calls count, too.
vm_check_kernel() {
  local name many reads="probe('syscalls:sys_enter_read')['hits']"
  # Linux 6.12 has no KPROBES_ON_FTRACE there, and ftrace has the start of each function: nobody can probe one.
  if grep -q riscv64 uname && [ -f kernel_refused_start.status ]; then
    has "functions whose starts the kernel lets nobody probe are refused" "$(cat kernel_refused_start.status kernel_refused_start.err | xargs)" \
      "^1 .*vfs_read is left out: the kernel refused the definition: Invalid argument .Failed to register"
    holds "why says so" kernel_refused_why "last['causes'] == ['refused'] and 'Failed to register' in last['text']"
    is "nothing is left" "$(cat kernel.before kernel.after)" ""
    vm_check_paths
    return
  fi
  many=$(cat kernel.many)
  is "a function of the kernel is timed" "$(cat kernel.status)" 0
  holds "each call of it" kernel.json "span('vfs_read')['count'] >= $reads >= $many and probe('kprobe:vfs_read')['hits'] - span('vfs_read')['count'] in (0, 1)"
  holds "with its arguments" kernel.json \
    "sum(n for low, high, n in probe('kprobe:vfs_read')['args']['count']['buckets'] if low <= 300 < high) >= $many"
  holds "and results" kernel.json "probe('kretprobe:vfs_write')['hits'] >= $many and loss() == 0"
  holds "arguments in the order of the call" kernel_trace.json \
    "[(e['args']['count'], r['args']['got']) for e, r in zip(of('event'), of('event')[1:]) if e['probe'] == 'kprobe:vfs_read' \
      and r['probe'] == 'kretprobe:vfs_read' and e['args']['count'] == 300] == [(300, 300)] * 5"
  ! wants shared || vm_check_kernel_recorded
  for name in do_int3 exc_int3; do
    [ ! -f kernel_refused_$name.status ] || has "what must not be probed is refused ($name)" \
      "$(cat kernel_refused_$name.status kernel_refused_$name.err | xargs)" "^1 .*kprobe:$name is left out: the kernel refused the definition"
  done
  ! wants refused_all || has "what is not there is told" "$(cat kernel_refused_no_such_function.status kernel_refused_no_such_function.err | xargs)" \
    "^1 .*the kernel has no function no_such_function"
  vm_check_kernel_many
  ! wants kernel_why || vm_check_kernel_why
  vm_check_paths
  wants killed || return 0
  is "killed, a session leaves its events" "$(cat kernel.orphans kernel.clean_dry | xargs)" "2 2"
  is "clean takes them away, and nothing of others" "$(cat kernel_clean.status kernel.after)" "0
$(cat kernel.before)"
}

# Fifty rounds of tests/programs/user_events.c.
vm_check_user_events() {
  local name
  if [ ! -f user_trace.status ]; then
    has "without user_events in the kernel, the spec is refused with the reason" "$(cat user_refused.status user_refused.err | xargs)" \
      "^1 .*this kernel has no user_events: it is older than Linux 6.4, or was built without CONFIG_USER_EVENTS"
    has "list says so, too" "$(cat user_list.status user_list.err | xargs)" "^1 .*CONFIG_USER_EVENTS"
    holds "and why" user_why "last['fires'] is False and last['causes'][0] in ('no-user-events', 'no-uprobes')"
    return
  fi
  has "an event that no program has registered is told" "$(cat user_none.status user_none.err | xargs)" \
    "^1 .*no program has registered an event user_events:nwtest_start"
  for name in trace text named stat span filter json record; do
    is "user_events: $name ends well" "$(cat user_$name.status)" 0
  done
  holds "every event is there, in the order in which it was written" user_trace \
    "[e['probe'].split(':')[1] for e in of('event')] == ['nwtest_start', 'nwtest_done', 'NwTest_L4K1', 'NwTest_L4K1'] * 50"
  holds "plain events have their fields" user_trace \
    "[(s['args']['id'], s['args']['path'], d['args']['id'], d['args']['status'], d['args']['by']) for s, d in zip(of('event')[::4], of('event')[1::4])] \
      == [(i, f'/request/{i}', i, -(i % 3), 'a worker') for i in range(50)]"
  holds "EventHeader events name their own" user_trace \
    "[e['args'] for e in of('event')[2::4]] == [{'event': 'Request', 'fields': {'id': i, 'path': '/a\n\"b\"', 'wide': 'gr\u00fcn\U0001f600', 'took': i / 4, \
        'flags': 0xbeef, 'ok': i % 2 == 1, 'from': '192.0.2.7', 'port': 8080, 'uuid': '00010203-0405-0607-0809-0a0b0c0d0e0f', 'least': str(-2**63), \
        'counts': [7, 8, i], 'who': {'uid': -5, 'group': 'wheel'}, 'none': [], 'last': 'z'}} for i in range(50)] and \
      [e['args'] for e in of('event')[3::4]] == [{'event': 'Reply', 'fields': {'id': i, 'status': -(i % 3)}} for i in range(50)]"
  has "text shows them, too" "$(cat user_text)" 'NwTest_L4K1 +event="Reply" fields=\{"id":49,"status":-1\}'
  holds "a field is read by its name, with its own type or the one that is asked for" user_named \
    "[e['args'] for e in of('event')[2::4]] == [{'event': 'Request', 'id': i, 'path': '/a\n\"b\"', 'wide': 'gr\u00fcn\U0001f600', 'took': i / 4, \
        'flags': 0xbeef, 'ok': i % 2, 'from': '192.0.2.7', 'port': 8080, 'uuid': '00010203-0405-0607-0809-0a0b0c0d0e0f', 'least': str(-2**63), \
        'counts': [7, 8, i], 'who.uid': -5, 'who.group': 'wheel', 'who': {'uid': -5, 'group': 'wheel'}, 'last': 'z', 'status': None, \
        'activity': e['args']['activity'], 'eventheader_id': 7, 'eventheader_level': 4, 'took2': None} for i, e in enumerate(of('event')[2::4])]"
  holds "and so are those of its other events" user_named \
    "[(e['args']['event'], e['args']['id'], e['args']['status'], e['args']['eventheader_id']) for e in of('event')[3::4]] == [('Reply', i, -(i % 3), 8) for i in range(50)]"
  holds "spans, groups and histograms of them" user_stat \
    "sum(s['count'] for s in of('span') if s['span'] == 'request') == 50 and {r['group']: r['hits'] for r in of('probe') if r['probe'] == 'user_events:NwTest_L4K1'} \
      == {'0': 17, '-1': 17, '-2': 16, '(none)': 50} and all(r['args']['id']['sum'] == 1225 for r in of('probe') if r['hits'] == 50)"
  holds "groups by an event's name" user_span "{r['group']: r['hits'] for r in of('probe') if r['probe'].endswith('NwTest_L4K1') and r['hits']} == {'Request': 50, 'Reply': 50}"
  holds "filters" user_filter "probe('user_events:NwTest_L4K1')['hits'] == 33"
  holds "and members of all fields" user_json "{r['group']: r['hits'] for r in of('probe') if r['probe'].endswith('NwTest_L4K1') and r['hits'] and 'wheel' in r['group']} == {'wheel': 50}"
  holds "a recording has them" user_report "[probe('user_events:' + name)['hits'] for name in ('nwtest_start', 'nwtest_done', 'NwTest_L4K1')] == [50, 50, 100]"
  base64 -d <user.base64 >user.dat
  "$NOPWATCH" report -j user.dat >here.json
  ok "and says the same on another machine" "$VM/alike" here.json user_report
  is "list shows the events and their fields" "$(cat user_list.status user_list)" "0
user_events:NwTest_L4K1(event:string, fields:string)  each record names its fields
user_events:nwtest_done(id:u32, status:s32, by:string)
user_events:nwtest_start(id:u32, path:string)"
  holds "in JSON, too" user_list_json "[(e['event'], e['names_fields'], e['used_by']) for e in of('user_event')] == \
    [('user_events:NwTest_L4K1', True, []), ('user_events:nwtest_done', False, []), ('user_events:nwtest_start', False, [])]"
  has "status says who uses them" "$(cat user_status)" "^user_events:nwtest_done.*  used by ftrace\$"
  holds "why: it is written" user_why "last['fires'] is True"
  holds "why: not by this process" user_why_pid "last['causes'] == ['other-process']"
  holds "why: no program has registered it" user_why_none "last['causes'] == ['not-registered']"
  holds "so is a wrong name" user_why_other "last['causes'] == ['not-registered']"
  has "and what it offers lists those that there are" "$(cat user_offered)" '^user_events:nwtest_start'
  holds "of one process" user_pid "probe('user_events:nwtest_start')['hits'] > 0"
}

# Sites with a nop of ten bytes behind their nop: where the kernel turns that into a call, it is there, and nowhere else.
vm_check_pairs() {
  local name form=emulated code=cc distance=0 rounds
  [ -f pairs_ten ] || return 0 # another architecture
  if grep -q '^nop10 *yes' features; then
    form=optimised code=90488d642480e8 distance=1
  elif ! grep -q '^memory *yes' features; then
    return 0
  fi
  rounds=$(awk 'NR == 2 { print $2 / 2 * 3 }' pairs_ten)
  for name in pairs_*.json; do
    name=${name%.json}
    [ -f "$name" ] || continue
    holds "$name: every hit is counted, also those of a child of fork()" "$name.json" \
      "all(r['hits'] == $rounds for r in of('probe')) and len(of('probe')) > 0 and loss() == 0"
    is "$name: red zone, registers and flags are as they were, before, meanwhile and afterwards" \
      "$(grep -c ' bad 0 .* child 0 ' "$name") $(wc -l <"$name")" '3 3'
    has "$name: and the nops are back" "$(tail -n 1 "$name")" ' 90662e0f1f84[0-9a-f]{10}$'
  done
  has "how it is armed is seen in memory" "$(sed -n 2p pairs_ten)" " ${code}[0-9a-f]*\$"
  holds "list -v says so" pairs_list "[r['nop'] for r in of('site')] == ['nop,nop10'] and of('site')[0]['armed_as']['$form'] == 1"
  has "also in text" "$(cat pairs_list.text)" "nop,nop10 .*  armed: 1 $form\$"
  holds "and status" pairs_status "[r['armed_as'] for r in of('status')] == [{'trapped': 0, 'emulated': 0, 'optimised': 0} | {'$form': 1}] \
    and of('status')[0]['places'][0]['offset'] == $(j pairs_list "of('site')[0]['offset'] + $distance")"
  has "also in text" "$(cat pairs_status.text)" "^  armed: 1 $form\$"
  holds "arguments are right" pairs_ten.json "[(a['min'], a['sum']) for name in ('round', 'deepest', 'global') for a in [probe('pairs:ten')['args'][name]]] \
    == [(1, 3 * sum(range($rounds // 3 + 1))), (-15, 3 * (sum(range($rounds // 3 + 1)) - 16 * ($rounds // 3))), (-7, -7 * $rounds)]"
  [ -f pairs_why ] || return 0
  has "as an older kernel would have to: the first nop" "$(sed -n 2p pairs_masked)" ' cc66'
  hasnt "the five-byte nop is left alone" "$(sed -n 2p pairs_five)" ' (cc|9048)'
  holds "callers are found from there" pairs_trace "[(e['args']['round'], e['stack'][0].split('+')[0]) for e in of('event')][:20] == [(i, 'leaf_ten') for i in range(1, 21)]"
  holds "recordings know the place" pairs_report "probe('pairs:ten')['hits'] == 40"
  [ "$(cat pairs_engine.status)" != 0 ] || holds "so does the kernel's counting" pairs_engine.said "probe('pairs:ten')['hits'] == 40"
  holds "why says how it is armed" pairs_why "[c['saw'] for c in of('check') if c['name'] == 'armed'][0].endswith(': 1 $form') and last['fires'] is True"
  [ $form = emulated ] || has "a trial has shown that it works" "$(cat pairs_features)" 'nop10 +yes .*tried: works'
}

# Arguments that are read at the return: /fills and what others wrote.
# shellcheck disable=SC2120 # vm_test() calls it by its name
vm_check_returns() { # [KERNEL: the part by itself]
  local rounds=5000 some=500
  if ! grep -q '^return_args *yes' returns_features; then
    is "refused" "$(cat returns_refused.status)" 1
    has "with the reason" "$(cat returns_refused.err)" "@return: arguments cannot be read at the return: this kernel has no "
    has "also by --dry-run" "$(cat returns_refused_dry.err)" "@return: arguments cannot be read at the return: this kernel has no "
    return
  fi
  cat >judge.py <<'PY'
"""judge.py FILE ROUNDS THREADS: what /fills has its functions return, in that order for each thread."""
import collections
import json
import sys

name, rounds, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lines = [json.loads(line) for line in open(name, encoding="utf-8")]
calls = collections.defaultdict(list)
for line in lines:
    if line["type"] == "event" and line["probe"].startswith("uretprobe:"):
        calls[line["tid"], line["probe"][10:]].append(line)
assert sum(line.get("events", 0) for line in lines if line["type"] == "loss") == 0, "lost events"


def filled(i):
    text = f"line {i} " + chr(ord("a") + i % 26) * (i % 150)
    return {"ret": len(text), "buffer": text, "used[0]": len(text)}


fills = [c for (_, function), c in calls.items() if function == "fill"]
assert len(fills) == threads, len(fills)
for of_thread in fills:
    got = [c["args"] for c in of_thread]
    wrong = [(i, args) for i, args in enumerate(got[:rounds]) if args != filled(i)]
    assert len(got) >= rounds and not wrong, (len(got), len(wrong), wrong[:2])
first = max(fills, key=len)
assert [c["args"]["buffer"] for c in first[rounds:]] == [None, None, "line 0 "], first[rounds:]
assert [c.get("fault") for c in first[rounds:]] == [["buffer"], ["buffer"], None], first[rounds:]
for (_, function), c in calls.items():
    got = [e["args"] for e in c]
    if function == "stacked":
        assert got == [{"ret": len(t), "round": i, "buffer": t} for i in range(rounds) for t in [f"stacked {i}"]], got[:3]
    if function == "nest":
        assert got == [{"ret": 1, "buffer": "nest 0", "depth": 0}, {"ret": 2, "buffer": None, "depth": None}, {"ret": 3, "buffer": None, "depth": None}], got
    if function == "jump":
        assert got == [{"ret": 1, "buffer": None, "depth": None}], got
PY
  ok "all values of $rounds calls are right, and those of nested and left calls are unknown" python3 judge.py returns_all.said $rounds 1
  ok "also with return probes of the kernel" python3 judge.py returns_shared.said $rounds 1
  ok "and of four threads at once" python3 judge.py returns_threads.said $some 4
  if [ -f returns_read.said ]; then
    # of a buffer without a NUL the beginning
    holds "what cat has read is what the file says" returns_read.said \
      "[(e['args']['ret'], e['args']['buf'], 'buf' in e.get('cut', []), 'buf' in e.get('untrusted', [])) for e in of('event') \
        if e['probe'] == 'uretprobe:read' and e['args']['fd'] == 3] == [(8893, ''.join('%d\n' % i for i in range(1, 200))[:256], True, True), (0, '', False, True)]"
    holds "readlink() has no NUL: the result is the length" returns_readlink.said \
      "[(e['args']['path'], e['args']['buf']) for e in of('event') if e['probe'].startswith('uretprobe:')][-1] == ('/out/link', '/no/such/file')"
  fi
  has "text says it, too" "$(cat returns_text.said)" 'uretprobe:fill .*ret=8 buffer="line 1 b" used\[0\]=8\?'
  has "and what is not known" "$(cat returns_text.said)" 'uretprobe:nest ret=3 buffer=\(unknown\)'
  holds "groups are by what was read at the return" returns_by.said \
    "{s['group']: s['count'] for s in of('span') if s['count'] and s['group'][:6] in ('line 0', 'line 1')} == \
      {'line 0 ': 2} | {f'line {i} ' + chr(97 + i) * i: 1 for i in [1, *range(10, 20)]}"
  holds "a recording has it" returns_report \
    "[e['args']['buffer'] for e in of('event') if e['probe'] == 'uretprobe:fill'][:2] == ['line 0 ', 'line 1 b'] and [e['args']['buffer'] for e in of('event') if e['probe'] == 'uretprobe:nest'] == ['nest 0', None, None]"
  is "a flight recorder records it" "$(cat returns_until.status)" 0
  is "--max-rate refuses it" "$(cat returns_rate.status)" 1
  has "with the reason" "$(cat returns_rate.err)" "@return: .*--max-rate could not stop them"
  is "so does --engine=kernel" "$(cat returns_engine.status)" 1
  has "the printed commands do the same" "$(cat returns_shell)" '"line 2 cc" kept_sp=[08]'
  is "and leave nothing" "$(cat returns_shell.out)" ""
  is "after a kill at any moment everything is taken away" "$(grep -v '^triggers' returns_killed)" ""
  # When the kills come is the machine's affair: arm64's all met both triggers, and with ALL=1 nobody else is asked, either.
  [[ ${1:-} != amd64-* ]] || is "before the triggers, and with both" "$(sort -u returns_killed | grep '[02]$')" "$(printf 'triggers %d\n' 0 2)"
  [ ! -f returns_cost ] || comment "$(cat returns_cost)"
}

# Elements of arrays: /elements, whose tables are known.
vm_check_elements() {
  local rounds=5000 some=500 before=True
  [[ $(cut -d ' ' -f 2 uname) = *86* || $(cut -d ' ' -f 2 uname) = i686 ]] || before=False
  if ! grep -q '^elements *yes' elements_features; then
    holds "elements of the window are right, and the others are unknown" elements_window \
      "[e['args']['element'] for e in of('event')][:200:2] == [i * 64 - 100000 if i < 64 else None for i in range(100)]"
    holds "a string behind an element is unknown" elements_string "[e['args']['element'] for e in of('event')] == [None] * 2"
    has "with the reason" "$(cat elements_string.err)" "a fetch argument cannot add two registers"
    return
  fi
  cat >judge.py <<PY
"""judge.py FILE ROUNDS THREADS: what /elements has in its tables, in that order for each thread."""
import collections
import json
import struct
import sys

name, rounds, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lines = [json.loads(line) for line in open(name, encoding="utf-8")]
assert sum(line.get("events", 0) for line in lines if line["type"] == "loss") == 0, "lost events"
hits = collections.defaultdict(list)
for line in lines:
    if line["type"] == "event":
        hits[line["tid"], line["probe"].split(":")[1]].append(line)
tids = sorted({tid for tid, _ in hits})
assert len(tids) == threads, tids


def number(i, form):
    value = i * -2654435761
    size = struct.calcsize(form)
    value = struct.unpack("<" + form, (value % (1 << 8 * size)).to_bytes(size, "little"))[0]
    return value if abs(value) <= 1 << 53 else str(value)


def equal(what, got, wanted):
    wrong = [(i, g, w) for i, (g, w) in enumerate(zip(got, wanted)) if g != w]
    assert len(got) == len(wanted) and not wrong, (what, len(got), len(wanted), len(wrong), wrong[:2])


of_threads = set()
fifths = range(0, rounds, 5)
for tid in tids:
    at = hits[tid, "at"]
    t = at[0]["args"]["thread"]
    of_threads.add(t)
    rest = at[2 * rounds:]
    equal("at", [e["args"] for e in at[:2 * rounds]], [{"element": i * 64 + t - 100000, "index": i, "thread": t} for i in range(rounds) for _ in (1, 2)])
    assert all(e.get("untrusted") == ["element"] for e in at), "marks"
    equal("sizes", [e["args"] for e in hits[tid, "sizes"]],
          [{**{("s" if c.islower() else "u") + str(8 * struct.calcsize(c)): number(i, c) for c in "bBhHiI"}, "index": i} for i in fifths])
    equal("sizes8", [e["args"] for e in hits[tid, "sizes8"]],
          [{"s64": number(i, "q"), "u64": number(i, "Q"), "f32": i * 0.5, "f64": i * 0.5, "index": i} for i in fifths])
    equal("text", [(e["args"], e.get("untrusted")) for e in hits[tid, "text"]],
          [({"element": f"text {i} of {t}", "index": i, "thread": t, "plain": "plain"}, None) for i in fifths])
    equal("back", [e["args"] for e in hits[tid, "back"]], [{"element": (4999 - i) * 64 + t - 100000, "index": -1 - i} for i in fifths])
    if $before:
        equal("before", [e["args"] for e in hits[tid, "before"]], [{"element": i * 64 + t - 100000, "index": i + 1, "thread": t} for i in fifths])
    if t == 0:
        assert [e["args"]["element"] for e in rest] == [-99936], rest
        wild = hits[tid, "wild"]
        assert [e["args"]["text"] for e in wild] == [None] * 4 and [e.get("fault") for e in wild] == [["text"]] * 4, wild
        assert all(e["untrusted"] == ["element"] for e in wild), wild
        assert wild[3]["args"]["element"] == 0, wild[3]
assert of_threads == set(range(threads)), of_threads
PY
  ok "all elements of $rounds rounds are right, and those that cannot be read are marked" python3 judge.py elements_all.said $rounds 1
  ok "also of four threads on two CPUs" python3 judge.py elements_threads.said $some 4
  holds "beside strings in several events" elements_long.said \
    "[e['args'] for e in of('event')] == [{'element': f'text {i} of 0', 'index': i, 'thread': 0, 'plain': 'plain'} for i in range(0, 100, 5)]"
  has "text says it, too" "$(cat elements_text.said)" 'elements:text element="text 5 of 0" index=5 thread=0 plain="plain"'
  has "with a mark at numbers" "$(cat elements_text.said)" 'elements:at element=-99872[?] index=2'
  holds "--filter knows the elements" elements_filter "[e['args']['index'] for e in of('event')] == [3, 3]"
  holds "groups are by the text behind an element" elements_by.said "{s['group']: s['hits'] for s in of('probe')} == {f'text {i} of 0': 1 for i in range(0, 20, 5)}"
  holds "stat sums them up" elements_stat.said \
    "[of('probe')[0]['args']['element'][k] for k in ('count', 'min', 'max')] == [20, 4904 * 64 - 100000, 4999 * 64 - 100000]"
  holds "a recording has them" elements_report \
    "[e['args']['element'] for e in of('event') if e['probe'] == 'elements:text'] == [f'text {i} of 0' for i in range(0, 100, 5)] and \
      [e['args']['arg0'] for e in of('event') if e['probe'] == 'elements:at'] == [i * 64 - 100000 for i in range(100) for _ in (1, 2)] + [-99936]"
  is "a flight recorder records them" "$(cat elements_until.status) $(cat elements_until.err)" "0 "
  holds "--max-rate keeps the window" elements_rate "of('probe')[0]['hits'] == 21"
  has "--engine=kernel says why not" "$(cat elements_engine.status elements_engine.err | tr '\n' ' ')" "^1 nopwatch: --engine=kernel: the kernel does not have 'element'"
  holds "a masked kernel has the window" elements_masked \
    "[e['args']['element'] for e in of('event')][:200:2] == [i * 64 - 100000 if i < 64 else None for i in range(100)]"
  holds "and no strings behind its elements" elements_masked_string "[e['args']['element'] for e in of('event')] == [None] * 2"
  has "with the reason" "$(cat elements_masked_string.err)" "a fetch argument cannot add two registers"
  holds "elements of a process that runs already" elements_attached \
    "len(of('event')) == 100 and all(e['args']['element'] == e['args']['index'] * 64 - 100000 for e in of('event'))"
  has "the printed commands do the same" "$(cat elements_shell)" '"text 5 of 0"'
  is "and leave nothing" "$(cat elements_shell.out)" ""
  is "after a kill at any moment everything is taken away" "$(grep -v '^triggers' elements_killed)" ""
  has "before the triggers, and with all" "$(sort -u elements_killed | tr '\n' ' ')" "^triggers 0 .*triggers 4"
  [ ! -f elements_cost ] || comment "$(cat elements_cost)"
}

# Strings of system calls: /paths has said which files it opened, and then opens an address that is none of a path, and its own output.
vm_check_paths() {
  local name functions=1 marked=
  # in place of a path may be: nothing, where its page was not in memory; never the path of an earlier hit
  cat >judge.py <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
events = [e for e in events if e["type"] == "event"]
said = [line.rstrip("\n").split(" ", 1) for line in open("paths.said")]
marks = ("fault", "cut", "untrusted")
got = [(e["args"]["filename"], *["filename" in e.get(mark, []) for mark in marks]) for e in events]
once = len(said) + 3
assert len(got) == int(sys.argv[3]) * once, (len(got), len(said))
assert all(e["args"]["dfd"] == -100 for e in events), "dfd"
faults = 0
for i, found in enumerate(got):
    kind, path = (said + [["null", None], ["wild", None], ["last", "/out/said"]])[i % once]
    if kind in ("absent", "half", "null", "wild") and found == (None, True, False, False):
        faults += kind in ("absent", "half")
    elif sys.argv[4:]:  # old kernels say nothing of a page that was not in memory, so all is marked
        assert found[3] and (kind in ("absent", "half", "wild") or found == (path, False, False, True)) or kind == "null" and found[0] is None, (kind, path, found)
    else:
        assert kind != "wild" and found == (path, False, False, False), (kind, path, found)
assert faults == 0 or sys.argv[2] == "some", faults
PY
  grep -q 'x86_64$\|i.86$\|aarch64$' uname || functions=
  if [ -z "$functions" ] && ! grep -q '^event_probes *yes' features; then
    has "strings of system calls are refused" "$(cat paths.status paths.err | xargs)" "^1 .*the strings of system calls cannot be fetched here"
    return
  fi
  name=some
  [ -z "$functions" ] || ! grep -q '^event_probes *yes' features || name=none
  grep -q '^arrays *yes' features || marked=marked
  ok "strings of system calls are the paths that were opened ($name are missing)" python3 judge.py paths.json $name 6 ${marked:+"$marked"}
  if [ $name = none ] && wants paths_function; then
    ok "by kprobes, too, but for what is not in memory" python3 judge.py paths_function.json some 6
    hasnt "and no call is missing" "$(cat paths_function.err)" "are not timed"
  fi
  if [ -f paths_numbers.status ]; then
    comment "opened and read by a kprobe, where they differ: $(j paths_numbers.json "sorted({(p, e['args']['filename']) for p, e in
      zip(([line.rstrip().split(' ', 1)[1][:16] for line in open('paths.said')] + ['null', 'wild', '/out/said']) * 30, of('event')) if p != e['args']['filename']})")"
    holds "numbers behind a pointer of a kernel function are marked" paths_numbers.json \
      "len(of('event')) == 30 * $(($(wc -l <paths.said) + 3)) and all(e['untrusted'] == ['filename'] for e in of('event'))"
  fi
  if wants paths_recorded; then
    ok "and in a recording" python3 judge.py paths_report $name 1 ${marked:+"$marked"}
    holds "two strings of one call" paths_two.json \
      "[(e['args']['oldname'], e['args']['newname']) for e in of('event')][1:] == [('/none/a', '/none/b')] * 2"
  fi
  if wants summaries; then
    holds "--by a string of a system call" paths_by.json \
      "[(r['hits']) for r in of('probe') if r.get('group') == '/dev/null${marked:+?}'] == [1] and sum(r['count'] for r in of('span')) == $(($(wc -l <paths.said) + 3))"
    holds "--filter by it" paths_filter.json "[e['args']['filename'] for e in of('event')] == ['/dev/null']"
  fi
  hasnt "and no call is missing" "$(cat paths.err)" "are not timed"
  ! wants killed || is "killed, it leaves its event, which clean takes away" \
    "$(wc -l <paths.left) $(cat paths_clean.status) $(wc -l <paths.cleaned)" "1 0 0"
}

vm_check_script() {
  local top
  is "a script ends well" "$(cat script.status)" 0
  holds "with -p it is of that process only" script_p "{r['group'] for r in of('probe') if r['hits']} == {'$(cat script_p.pid)'}"
  for top in '' 1; do
    [ -z "$top" ] || wants script_top || continue
    is "one that is killed leaves nothing behind${top:+, in the top-level buffer, too}" "$(cat script_clean$top.status script_left$top)" 0
  done
}

vm_check_whole() {
  holds "-p is that process, not what it forks" forked.json "{r['group'] for r in of('probe') if r['hits']} == {'$(cat forked.pid)'}"
  holds "a script's, too" forked_script "{r['group'] for r in of('probe') if r['hits']} == {'$(cat forked_script.pid)'}"
}

# Nothing says how much is lost when it is too much; only that it is said.
vm_check_long() {
  local file
  for file in flat.json flat_report; do
    holds "flat out: all is counted, or said to be lost ($file)" $file \
      "loss() > 0 or probe('myserver:request__done')['hits'] == probe('myserver:request__start')['hits'] > 0"
  done
  holds "and as many as the server counted" flat.json \
    "loss() > 0 or probe('myserver:request__done')['hits'] == $(awk '$1 == "requests" { print $2 }' flat)"
  comment "flat out: $(j flat.json "sum(r['hits'] for r in of('probe')), loss()") by stat, $(j flat_report "sum(r['hits'] for r in of('probe')), loss()") by record"
  is "killed commands leave nothing behind" "$(cat kills)" ""
  is "and closed semaphores" "$(cat kills.quiet)" "quiet, something said"
}

# flight_whole WHAT TRACE KEEP [ID [TOLD]]: by tests/lib/whole. Where the clocks agree, the request took place when the program
# says, and between FIRST and LAST of all times elsewhere.
flight_whole() {
  local span=
  if [ -n "${4:-}" ]; then
    grep -q '^mono *yes' features && span=$(awk -v id="$4" '$1 == "slow" && $2 == id { print "," $3 "," $4 "," $5 }' "${5:-flight}")
    span=$4${span:-,0,9999999999999999999}
  fi
  # shellcheck disable=SC2086 # none, or one
  ok "$1" "$TESTS_LIB/whole" "$2" "$3" $span
}

# What both engines say of one run: counts and values exactly, latencies as far as two events at one place can agree.
vm_engine_agrees() { # NAME [GROUPED]
  "$TESTS_LIB/engines_agree" "$1.stream.json" "$1.kernel.json"
}

vm_check_engine() {
  has "what looks at each hit is refused" "$(cat engine_refused_filter.status engine_refused_filter.err | tr "\n" " ")" \
    "^1 nopwatch: --engine=kernel: (--filter looks at each hit|this kernel.*) nopwatch: --engine=stream reads each hit"
  local least off='MIN and MAX are off by up to 3.2 %'
  grep -q buckets engine_can || off='percentiles, MIN and MAX are off by up to 12.5 %'
  if [ ! -s engine_can ]; then
    has "what the kernel lacks is told" "$(cat engine_refused_kernel.status engine_refused_kernel.err | tr "\n" " ")" \
      "^1 nopwatch: --engine=kernel: this kernel.*(no hist triggers|no synthetic events|no ring buffers)"
    has "also by a script, at its beginning" "$(cat engine_script_refused.status engine_script_refused.err | tr "\n" " ")" \
      "^1 nopwatch: this kernel cannot count by itself \(--engine=kernel\): it has no (hist triggers|synthetic events|ring buffers)"
    is "which prints nothing" "$(cat engine_script_refused)" ""
    has "and auto reads each hit" "$(cat engine_auto.status engine_auto.err | tr "\n" " ")" "^0 .*each hit is read \(--engine=stream\): .*this kernel"
    return
  fi
  has "auto lets the kernel count" "$(cat engine_auto.status engine_auto.err | tr "\n" " ")" "^0 .*the kernel counts"
  has "and the text says what is not exact" "$(cat engine_auto)" "^40 hits in .*counted by the kernel: $off"
  for name in engine_both engine_by engine_key; do
    is "both engines end well ($name)" "$(xargs <$name.status)" "0 0"
    ok "and agree" vm_engine_agrees $name
  done
  holds "each hit is counted, or told to be dropped" engine_both.kernel.json "loss() <= 3 and \
    450 - loss() <= min(probe('myserver:request__done')['hits'], span('myserver:lookup')['count']) and \
    450 >= max(probe('myserver:request__done')['hits'], span('myserver:lookup')['count'])"
  # Before 4.20 nopwatch raises semaphores after the program has begun, so that its first starts may not be there.
  if [ -f engine_stays_refused.status ]; then least=301; else least=450; fi
  holds "by argument" engine_key.kernel.json "span('q')['key'] == 'id' and $least <= span('q')['count'] <= 450 and \
    span('q')['count'] + span('q')['unmatched_ends'] == probe('myserver:request__done')['hits']"
  is "by thread" "$(cat engine_cmd.status)" 0
  holds "each has its spans" engine_cmd.json "[r['count'] for r in of('span')] == [100] * 3 and of('attached')[0]['engine'] == 'kernel'"
  holds "intervals add up to what was done" engine_interval.json \
    "sum(r['hits'] for r in of('probe') if 'interval' not in r) == sum(r['hits'] for r in of('probe') if 'interval' in r) == $(sed -n 's/requests \([0-9]*\).*/\1/p' engine_interval.said)"
  holds "calls are timed" engine_call.json "span('one_round')['count'] == 200 == probe('uprobe:one_round')['hits'] and span('one_round')['unmatched_ends'] == 0"
  # before 5.4 each of its sites is an event
  has "nested calls are not, by thread, nor anything without rows of a size in 32 bits" \
    "$(cat engine_refused_nested.status engine_refused_nested.err | tr "\n" " ")" \
    "^1 nopwatch: --engine=kernel.* (this 32-bit kernel's hist triggers have no .buckets=size|the span fails:work(: it begins at several sites| began again before it had ended, in one thread, [0-9]+ times)).* nopwatch: --engine=stream (times nested|reads each hit)"
  vm_check_engine_frames
  has "a full map is told" "$(cat engine_full.status engine_full.err | tr "\n" " ")" "^0 .*[0-9]+ hits are not counted in the rows: the kernel's maps are full"
  holds "with all that it lacks" engine_full.json "sum(r['hits'] for r in of('probe')) + loss() == 9000 and loss() > 0"
  holds "with -p, ended threads of others are not counted" engine_others.json \
    "{r['group'] for r in of('probe')} == {'$(cat engine_others.pid)'} and of('probe')[0]['hits'] > 0"
  # Where set_event_pid keeps their hits out of the maps (docs/dev/kernel.md), there is nothing to refuse, and nothing to count.
  if [ "$(cat engine_mixed.status)" = 0 ]; then
    holds "keys of other processes are not in the maps" engine_mixed.json \
      "sum(r['hits'] for r in of('probe')) == sum(r['count'] + r['unmatched_starts'] + r['unmatched_ends'] for r in of('span')) == 0"
  else
    has "keys of other processes are refused" "$(cat engine_mixed.status engine_mixed.err | tr "\n" " ")" \
      "^1 .*other processes hit the probes of the span q, too"
  fi
  [ ! -f engine_again.json ] || holds "a thread with the number of an ended one has its own name" engine_again.json \
    "{r['group']: r['hits'] for r in of('probe')} == {'other': 20}"
  has "killed, it leaves triggers: all that the dry run tells" "$(xargs <engine_left)" "^4 ([1-9][0-9]) \\1$"
  is "clean takes them away" "$(cat engine_clean.status) $(cut -d: -f2 <engine_cleaned | xargs)" "0 0 0"
  vm_check_engine_top
  vm_check_engine_script
  vm_check_engine_stays
}

vm_check_engine_top() {
  is "top ends as its command does" "$(cat engine_top.status engine_top_lines.status | xargs)" "0 0"
  has "top shows rates and groups" "$(tr -d ' ' <engine_top.screen)" "myserver:lookup.*[0-9]/s"
  has "and says by which keys it can not group" "$(tr -d ' ' <engine_top.screen)" "thekernelcounts,bythekeysof--byonly"
  has "and that a page has no counts by time" "$(tr -d ' ' <engine_top.screen)" "psnocountsbytime,which.nopwatch.html.wouldshow"
  holds "and reports what was done" engine_top.json "of('attached')[0]['engine'] == 'kernel' and \
    sum(r['hits'] for r in of('probe') if r['probe'] == 'myserver:request__done') == $(sed -n 's/.*requests \([0-9]*\).*/\1/p' engine_top.screen | tail -n 1) > 100"
  holds "as lines, each interval has its own" engine_top_lines.json "of('attached')[0]['engine'] == 'kernel' and \
    sum(r['hits'] for r in of('probe') if 'interval' in r) == sum(r['hits'] for r in of('probe') if 'interval' not in r) == \
    $(sed -n 's/requests \([0-9]*\).*/\1/p' engine_top_lines.said) and len([r for r in of('probe') if 'interval' in r]) > 2"
}

vm_check_engine_script() {
  local scripts='engine_script engine_script_plain engine_script_key'
  if ! grep -q '^hist_buckets *yes' features; then
    scripts='engine_script engine_script_flat engine_script_key'
    has "a kernel whose keys are no sums refuses pairs in one function, and what to type is told" "$(xargs <engine_script_plain.status) $(xargs <engine_script_plain.err)" \
      "^0 1 1 nopwatch: calls are paired by their frames, which needs Linux 5.14: pair them by thread .script --span NAME=START..END,nest=no"
  fi
  for name in $scripts; do
    # up to 5.8 the stream's instance stays for the next run, since the script reads its own
    has "a script counts well, and its report ends so ($name)" "$(xargs <$name.status) $(grep -v 'armed; Ctrl-C ends\|cannot raise semaphores' $name.err)" "^[01] 0 0 $"
    ok "and agrees with the stream" vm_engine_agrees $name
  done
  holds "each hit is counted, or told to be dropped" engine_script.kernel.json \
    "loss() <= 3 and 450 - loss() <= sum(r['hits'] for r in of('probe') if r['probe'] == 'myserver:request__done') <= 450"
  has "text shows it, and what is not exact" "$(cat engine_script_text)" "counted by the kernel: $off"
  has "other groups were to be said to the script" "$(cat engine_script_more.status engine_script_more.err | tr "\n" " ")" "^2 nopwatch: .*--by was to be said to "
  has "it is no list of hits" "$(cat engine_script_trace.status engine_script_trace.err | tr "\n" " ")" "^1 nopwatch: .*has what the kernel has counted, and no hits.*nopwatch report "
  has "what was cut off is told" "$(cat engine_script_cut.status engine_script_cut.err | tr "\n" " ")" "^1 nopwatch: .*ends in front of what the kernel has counted"
  holds "with -p, others are not counted" engine_script_pid.json \
    "{r['group'] for r in of('probe') if r['hits']} == {'$(cat engine_script_pid.pid)'} and of('probe')[0]['hits'] > 0"
  holds "threads that have ended have their names" engine_script_comm.json \
    "{r['group'] for r in of('probe') if r['hits']} == {'server', 'other'} and sum(r['hits'] for r in of('probe') if r['group'] == 'other') == 300"
  # its calls end at return instructions, whose frames need no constant
  is "a report is made of a pipe" "$(head -n 1 engine_script_pipe)" 0
  holds "of calls that nest" engine_script_pipe.json "probe('uprobe:down')['hits'] > 60 and loss() == 0"
  [ ! -f frames_recursion.status ] ||
    holds "each of them" engine_script_pipe.json "span('down')['count'] == probe('uprobe:down')['hits'] and span('down')['unmatched_ends'] == 0"
  is "ended and killed at moments, nothing is left" "$(cut -d ' ' -f 4- <engine_script.kills | sort -u | xargs)" ""
  has "before and after it was armed" "$(cut -d ' ' -f 3 <engine_script.kills | sort -u | xargs)" "^armed,some before"
  is "by each way" "$(cut -d ' ' -f 1 <engine_script.kills | sort -u | xargs)" "CLEAN KILL NEXT TERM"
}

vm_check_engine_stays() {
  if [ -f engine_stays_refused.status ]; then
    has "counts that stay are refused where nopwatch has to keep semaphores raised" "$(cat engine_stays_refused.status engine_stays_refused.err | tr "\n" " ")" \
      "^1 nopwatch: this kernel does not raise semaphores"
    is "and nothing is left" "$(cat engine_stays.left)" ""
    return
  fi
  is "counts that stay end well, as the stream does" "$(xargs <engine_stays.status) $(grep -v 'the kernel counts\|is killed by kernels of this architecture' engine_stays.err)" "0 0 0 "
  ok "and agree" vm_engine_agrees engine_stays
  holds "add tells what it has made" engine_stays.added "[(r['event'], r['change']) for r in of('change')] == [('nopwatch_night:*', 'added')]"
  holds "each hit is counted" engine_stays.kernel.json "sum(r['hits'] for r in of('probe') if r['probe'] == 'myserver:request__done') == 450"
  has "clean leaves them" "$(cat engine_stays.clean)" "goes on counting for 1 "
  has "text shows them, and what is not exact" "$(cat engine_stays_text)" "counted by the kernel: $off"
  has "what was to be said to add is refused" "$(cat engine_stays_more.status engine_stays_more.err | tr "\n" " ")" "^2 nopwatch: .*--by was to be said to "
  has "other formats do" "$(cat engine_stays_again)" "^span,r,"
  holds "status names them" engine_stays_status "len(of('status')) > 3 and {(r['group'], r['owner']) for r in of('status')} == {('nopwatch_night', 'kernel counts')}"
  has "a name is one" "$(cat engine_stays_twice.status engine_stays_twice.err | tr "\n" " ")" "^1 nopwatch: 'night' counts already .*nopwatch remove night"
  has "disable does not apply" "$(cat engine_stays_disable.err)" "nothing to do|no event is there|belongs to counts"
  ok "remove --dry-run tells of each trigger" test "$(cat engine_stays_dry)" -gt 20
  is "remove takes them away" "$(cat engine_stays_cleaned.status) $(xargs <engine_stays.left)" "0 "
  has "then they are not there" "$(cat engine_stays_gone.status engine_stays_gone.err | tr "\n" " ")" "^1 nopwatch: no counts that stay are called 'night'"
  is "killed, add and remove leave all or nothing" "$(cut -d ' ' -f 3- <engine_stays.kills | sort -u | xargs)" ""
  has "some were killed before, some after all was set" "$(cut -d ' ' -f 2 <engine_stays.kills | sort -u | xargs)" "^gone kept$"
}

# least NAME COLUMN: the least of its rounds
least_cost() { # NAME COLUMN [FILE]
  awk -v name="$1" -v column="$2" '$1 == name && (!rounds++ || $column < least) { least = $column } END { print least + 0 }' "${3:-engine_cost}"
}

# The trigger of `record --until`: nopwatch reads the events of the span, or the kernel measures it.
vm_check_flight_cost() {
  local name figures=''
  is "the kernel measures the span, in each round" "$(wc -l <flight_cost.err)" 3
  for name in none buffer read kernel; do
    figures="$figures; $name: $(least_cost $name 2 flight_cost) ms, $(least_cost $name 3 flight_cost) ms of nopwatch"
  done
  ok "nopwatch has less to do then${figures}" test "$(least_cost kernel 3 flight_cost)" -lt "$(least_cost read 3 flight_cost)"
}

# `traceoff` and `snapshot` in place of a record that is read.
vm_check_flight_triggers() {
  local name figures=''
  for name in none buffer pair record second traceoff snapshot record_all snapshots_all; do
    figures="$figures; $name: $(least_cost $name 2 flight_triggers) ms"
  done
  comment "of 40,000 spans${figures#;}"
  comment "$(cat flight_triggers_kept)"
  is "the kernel refuses nothing" "$(grep -h refused flight_triggers flight_triggers_kept)" ""
  is "traceoff: the slow span's end is in the buffer, and nothing behind it" \
    "$(grep -c '^the end of the slow span in the buffer: 1, in the snapshot: 0$\|^slow, both: 1 begin to 1000 end, 2000 hits, 0 missing, 0 twice$' flight_triggers_kept)" 4
  is "snapshot: it is in there, and what comes behind it in the buffer" \
    "$(grep -c '^the end of the slow span in the buffer: 0, in the snapshot: 1$\|^slow, both: 1 begin to 2000 end, 4000 hits, 0 missing, 0 twice$' flight_triggers_kept)" 4
  is "no hit is missing, or there twice" "$(grep -c ' hits, 0 missing, 0 twice$' flight_triggers_kept) $(grep ' hits, ' flight_triggers_kept | grep -vc ' hits, 0 missing, 0 twice$')" "20 0"
  is "traceoff stops its instance only, and snapshot nobody" "$(grep '^tracing_on' flight_triggers_kept | sort | uniq -c | xargs)" \
    "2 tracing_on here 0, above 1 2 tracing_on here 1, above 1"
}

# The loop of Linux's own benchmark of probes: each hit is counted, and what one costs.
vm_check_trigger() {
  local place how figures
  for place in nop nop5 nop10 push ret; do
    figures=
    for how in none perf nopwatch; do
      figures="$figures $how $(awk -v how=$how -v place=$place '$1 == how && $2 == place && $3 > 0 && (!least || $3 < least) { least = $3 }
        END { print least ? least " ns" : "none" }' trigger)"
    done
    comment "$place:$figures; its code: $(awk -v place=$place '$2 == place { print $1, $6 }' trigger | sort -u | xargs)"
    is "each hit is counted ($place)" "$(awk -v place=$place '$1 == "nopwatch" && $2 == place { print $4 == $5 }' trigger | xargs)" "1 1 1 1 1"
  done
  if grep -q '^nop10 *yes' features; then
    is "a nop of ten bytes is a call then, the others a trap" "$(awk '$1 == "nopwatch" { print $2, substr($6, 1, $2 == "nop10" ? 12 : 2) }' trigger | sort -u | xargs)" \
      "nop cc nop10 488d642480e8 nop5 cc push cc ret cc"
  fi
  is "nopwatch complains of nothing" "$(cat trigger.said)" ""
}

vm_check_engine_cost() {
  local name figures=''
  is "neither engine complains" "$(cat engine_cost.err)" ""
  is "both count each span" "$(awk '$1 == "stream" || $1 == "kernel" { print $4 }' engine_cost | sort -u | xargs)" 40000
  for name in none stream kernel stream_hits kernel_hits; do
    figures="$figures; $name: $(least_cost $name 2) ms (own $(least_cost $name 5), in the kernel $(least_cost $name 6)), \
$(least_cost $name 3) ms of nopwatch (own $(least_cost $name 7), in the kernel $(least_cost $name 8)), others $(least_cost $name 9) ms"
  done
  # of 40,000 requests, the least of three rounds
  ok "nopwatch has less to do if the kernel counts${figures}" test "$(least_cost kernel 3)" -lt "$(least_cost stream 3)"
}

# Hits, and hits with the values 1 to N, counted and added up without a process of ours.
vm_check_engine_night() {
  local name hits begin end
  for name in night_hits night_values; do
    read -r hits begin end <$name.times
    is "add, report and remove end well, and no process is there meanwhile" "$(xargs <$name.status) $(cat $name.err)" "0 none 0 0 "
    holds "each of $hits hits in $begin to $end s is counted ($name)" $name "probe('rare:step')['hits'] == $hits and loss() == 0"
    has "text says them" "$(cat $name.text)" "$hits hits"
  done
  holds "their sum is exact, and so are the buckets" night_values \
    "[(a['count'], a['sum'], sum(n for _, _, n in a['buckets'])) for a in [probe('rare:step')['args']['id']]] == [($hits, $hits * ($hits + 1) // 2, $hits)]"
  holds "and the percentiles, as far as they are said to be" night_values \
    "all(abs(probe('rare:step')['args']['id'][p] / ($hits * q) - 1) <= (0.017 if first['off_by'] < 0.1 else 0.125) for p, q in (('p50', 0.5), ('p90', 0.9), ('p99', 0.99)))"
  is "nothing is left" "$(cat night.left)" ""
}

# Killed at each step: all of it is there afterwards, or nothing.
vm_check_engine_kill() {
  comment "command, kills, moments, all was there, each N-th of them: $(paste -sd ',' kills.tried)"
  is "killed at each step, add, stat and remove leave all or nothing" "$(cat kills)" ""
  is "nor does the kernel keep an event in soft mode" "$(cat kill.soft)" ""
  case ${VM_ARGS:-} in
  *kill_only=lost*) ok "(there were events whose soft mode was lost)" test -s kill.lost ;;
  *) comment "events whose soft mode was lost on purpose: $(wc -l <kill.lost)" ;;
  esac
  if [ -s kill.interrupted ]; then
    comment "$(paste -sd ',' kill.interrupted)"
    # 130: before it has come to its trap, when nothing is done yet
    is "a script that is interrupted ends well" "$(awk '$3 && ($3 != 130 || $2 > 500)' kill.interrupted)" ""
    is "also when it has armed" "$(sed -n 's/^SIGINT armed //p' kill.interrupted)" 0
  fi
  ok "at each step" awk -v least="$(case ${VM_ARGS:-} in *kill_only=[il]*) echo 0 ;; *kill_only=*) echo 1 ;; *) echo 3 ;; esac)" \
    '$3 < 100 || $2 < $3 / 2 / $5 { exit 1 } END { exit NR < least }' kills.tried
  ok "add and remove leave all, or nothing, and stat nothing" awk '$1 == "stat" ? $4 : !$4 || $4 >= $2 { exit 1 }' kills.tried
  is "the program that was hit lives" "$(cat kill.server)" alive
  holds "and what counts afterwards is right" kill_then.json "span('myserver:parse')['count'] == 100"
}

# Allocations and system calls fail: an error with its reason or the right answer, and nothing is left.
vm_check_engine_faults() {
  comment "$(cat faults.figures)"
  is "callers were tried" "$(grep -c '^[a-z]*, [A-Za-z]*: [1-9][0-9]* tried' faults.figures | sed 's/^[1-9].*/yes/')" yes
  is "each command ends with the reason or the right answer, and leaves nothing" "$(cat faults)" ""
}

# Calls that nest, paired by the kernel by thread and frame, beside the stream, which pairs them so, too.
vm_check_engine_frames() {
  local name known='[(r["span"], r["count"], r["unmatched_starts"], r["unmatched_ends"]) for r in of("span")]'
  # Return instructions need no constant.
  grep -q '^hist_buckets *yes' features || echo frames_recursion >frames
  # a function of i386 may have popped its arguments, so what its return probe finds on the stack is not its entry's
  ! grep -q 'i.86$' uname || sed -i /frames_longjmp/d frames
  while read -r name; do
    comment "$name: $(paste -sd ' ' "$name.said") $(j "$name.kernel.json" "$known")"
    is "both engines end well ($name)" "$(xargs <"$name.status")" "0 0"
    ok "and agree, though spans nest ($name)" vm_engine_agrees "$name"
  done <frames
  ! grep -q 'x86_64$\|i.86$\|aarch64$' uname || ok "calls can be timed here" test -f frames_recursion.status -a -f frames_stays.json
  [ ! -f frames_recursion.status ] || holds "each call of a recursion" frames_recursion.kernel.json "span('down')['count'] == 600 == probe('uprobe:down')['hits']"
  grep -q '^hist_buckets *yes' features || return 0
  if [ ! -f frames_stays.json ]; then
    : # no call is timed there
  elif grep -q 'i.86$' uname; then
    has "calls that longjmp() leaves are refused" "$(cat frames_longjmp.status frames_longjmp.err | tr "\n" " ")" \
      "^0 1 .*the span step began again before it had ended, in one thread"
    has "so are those that nest, if nopwatch is gone" "$(cat frames_stays.said)" "the span step began again before it had ended, in one thread"
  else
    # of 200 in each other, of which the kernel reports 64 returns
    holds "also if nopwatch is gone" frames_stays.json "(probe('uprobe:step')['hits'], span('step')['count'], span('step')['unmatched_starts'], span('step')['unmatched_ends']) == (1000, 320, 680, 0)"
    is "which nothing is said about" "$(wc -l <frames_stays.said)" 1
  fi
  if grep -q x86_64 uname; then
    is "the key of a return is the entry's" "$(xargs <frames_keys)" "keys=common_pid,sp keys=common_pid,sp-level"
    is "without constants, or sums as keys, it is the thread" "$(xargs <frames_without)" "0 0"
  fi
  [ -f frames_nested.status ] || return 0
  has "what begins in one call and ends in another is refused" "$(cat frames_refused_crossing.status frames_refused_crossing.err | tr "\n" " ")" \
    "^1 nopwatch: --engine=kernel: the span fails:work does not begin and end in one call"
  has "and so is what nests in one frame" "$(cat frames_refused_interpreter.status frames_refused_interpreter.err | tr "\n" " ")" \
    "^1 nopwatch: --engine=kernel: the span fails:work began again before it had ended, in one call frame"
  has "also of a function that is a part of itself" "$(cat frames_refused_inlined.err)" "again before it had ended, in one call frame"
  holds "nest=no pairs by thread" frames_flat.json "span('w')['count'] > 0"
}

# Programs of others (tests/vm/foreign), watched by both engines.
vm_check_engine_foreign() {
  local name known='[(r["probe"], r["hits"]) for r in of("probe")], [(r["span"], r["count"]) for r in of("span")]'
  comment "$(paste -sd '|' foreign.log | tail -c 600)"
  ok "there are programs" test -s foreign
  [ ! -f faults ] || vm_check_engine_faults
  while read -r name; do
    case $name in java_methods | postgres_refused) continue ;; esac
    comment "$name: $(j "$name.kernel.json" "$known" | cut -c 1-1500), $(paste -sd ' ' "$name.said")"
    if [[ $name = *_script* ]]; then
      has "a script counts well, and its report ends so ($name)" "$(xargs <"$name.status") $(grep -v 'armed; Ctrl-C ends\|cannot raise semaphores' "$name.err")" "^0 0 0 $"
    else
      is "both engines end well ($name)" "$(xargs <"$name.status")" "0 0"
      has "the kernel counts ($name)" "$(cat "$name.err")" "the kernel counts"
    fi
    ok "and agree ($name)" vm_engine_agrees "$name"
  done <foreign
  [ ! -f postgres_queries.status ] || holds "each query" postgres_queries.kernel.json "span('postgresql:query')['count'] >= 300"
  [ ! -f java_spans.status ] || holds "each sleep, and each collection" java_spans.kernel.json \
    "span('hotspot:thread__sleep')['count'] == 200 and span('hotspot:gc')['count'] >= 10"
  [ ! -f postgres_refused.status ] || has "a span that begins at several sites is none for a script" "$(cat postgres_refused.status postgres_refused.err | tr '\n' ' ')" \
    "^1 .*the span postgresql:query__rewrite: it begins at several sites, each of which is an event of its own in a script"
  [ ! -f postgres_script.status ] || holds "each query, by a script" postgres_script.kernel.json "span('postgresql:query')['count'] >= 300"
  [ ! -f java_frames.status ] || holds "each call of the launcher" java_frames.kernel.json \
    "span('hotspot_jni:CallStaticVoidMethod')['count'] >= 1 and span('hotspot_jni:NewStringUTF')['count'] >= 10"
  [ ! -f java_methods.status ] || has "calls of methods, which nest, are refused" "$(cat java_methods.status java_methods.err | tr '\n' ' ')" \
    "^1 .*the span hotspot:method began again before it had ended, in one thread, [0-9]+ times.* nopwatch: --engine=stream times nested"
  [ ! -f java_calls.status ] || holds "each call" java_calls.kernel.json "probe('hotspot:method__entry')['hits'] >= 5000"
  [ ! -f python_spans.status ] || holds "each collection of python" python_spans.kernel.json "span('python:gc')['count'] >= 50"
  [ ! -f python_calls.status ] || holds "each call of python, and of malloc" python_calls.kernel.json \
    "probe('python:function__entry')['hits'] >= 3000 and span('malloc')['count'] >= 1000"
  [ ! -f python_lines.status ] || holds "each line of python" python_lines.kernel.json \
    "probe('python:line')['args']['line']['count'] == probe('python:line')['hits'] >= 6000"
  for name in python_by_line python_script; do
    [ ! -f $name.status ] || holds "the line of a loop, and that of a function ($name)" $name.kernel.json \
      "max(r['hits'] for r in of('probe') if r['probe'] == 'python:line') >= 3000 and {'2', '3'} <= {r['group'] for r in of('probe') if r['hits'] >= 3000}"
  done
}

# The kernel's own way: hist triggers, synthetic events, and actions as they are written since 5.1 (error_log is of 5.2).
vm_check_kernel_way() {
  if [ "$(grep -cE '^(hist|synthetic|error_log) *yes' features)" = 3 ]; then
    has "the kernel itself finds slow spans" "$(cat kernel_way.err)" "the kernel itself finds slow spans, by hist triggers"
    is "which are two, and a synthetic event" "$(xargs <triggers)" "2 1"
    has "clean tells how they go" "$(cat triggers.dry)" "synthetic_events"
    is "and takes them away, killed" "$(cat triggers.clean.status) $(xargs <triggers.left)" "0 0 0"
    has "who takes them away is seen" "$(cat taken.status taken | tr '\n' ' ')" "^0 .*another program has removed the kernel's triggers: from now on the two events are read"
    ok "and slow spans are seen all the same" test "$(cat taken.count)" -gt 0
    has "in the last moment, what may be missing is told" "$(cat last)" "removed the kernel's triggers: slow spans of the last seconds may be missing"
  else
    has "or it is said why it does not" "$(cat kernel_way.err)" "their two events: (this kernel has no hist triggers, or no synthetic events|the kernel has refused the triggers)"
  fi
  is "a slow span of no nesting is seen" "$(cat kernel_way.status) $(grep -c 'took [0-9.]*m\?s in thread' kernel_way.err)" "0 1"
  flight_whole "with all of half a second before it" kernel_way.trace 0.5 750 kernel_way
  has "one that is not is counted" "$(cat none_way.status none_way.err | tr '\n' ' ')" "^0 .*nothing recorded: [1-9][0-9]* spans ended, none was so long"
  ! wants flight_read || has "without synthetic events the two are read" "$(cat read_way.status read_way.err | tr '\n' ' ')" "^0 .*their two events: this kernel has no hist triggers, or no synthetic events"
}

vm_check_flight() {
  if ! wants flight_read; then
    : # the newest kernel finds slow spans itself
  elif grep -q '^instance_events *yes' features; then
    is "the flight recorder sees slow requests" "$(cat flight.status) $(grep -c 'rare:request took' flight.err)" "0 2"
    hasnt "and holds all that it should" "$(cat flight.err)" "later than it should"
    flight_whole "the first, and all of half a second before it" flight.trace 0.5 1500
    flight_whole "the second" flight-2.trace 0.5 3000
    base64 -d <flight.base64 >flight.dat
    if [ "${1%%-*}" != s390x ] && command -v trace-cmd >/dev/null; then
      is "trace-cmd reads it" "$(trace-cmd report flight.dat 2>/dev/null | grep -c 'request__done.*arg0=\(1500\|0x5dc\)\b')" 1
    fi
  else
    has "without instances, --until is refused" "$(cat flight.status flight.err | tr '\n' ' ')" \
      "^1 .*this kernel has one ring buffer for all probes, and --until takes two.*--until-signal and --until-cmd take only one"
  fi
  ! grep -q '^instance_events *yes' features || vm_check_kernel_way
  if wants flight_asked; then
    is "SIGUSR2 asks for a recording" "$(cat asked.status) $(grep -c 'SIGUSR2; the last' asked)" "0 1"
    flight_whole "which has everything" asked.trace 0
    has "so does a command that fails" "$(cat failing.status failing.err | tr '\n' ' ')" "^0 .*'test -e /nothing' failed with status 1; the last"
  fi
  ! wants below || is "killed, it leaves no command behind" "$(cat below)" 0
  is "nor anything else" "$(cat flight_clean.status)" 0
}

# Does a run agree with what the program says of itself, or if the host was busy, that of another guest?
states_agree() { # KERNEL PLACE LOCKS
  local kernel=$1
  shift
  "$TESTS_LIB/states_split" states.json states "$@"
  case $? in
  0) return ;;
  3) mkdir again && VM_ARGS=part=states "$VM/boot" "${kernel%%-*}" "$kernel" "$PWD/again" &&
    "$TESTS_LIB/states_split" again/states.json again/states "$@" ;;
  *) return 1 ;;
  esac
}

vm_check_named() {
  is "--states of threads that begin later ends well" "$(cat states_named.status) $(cat states_cost.status)" "0 0"
  comment "$(grep 'scheduler' states_cost.err)"
  hasnt "the kernel takes the filters of their events" "$(cat states_cost.err)" 'of all threads in the system'
  # All of it run, by who does nothing but sleep. A span in which the guest's clock stood still has no length, and is not slow.
  comment "$(j states_named.json "f\"{probe('pool:begin')['hits']} begun, {span('act')['count']} ended, {len(of('slow'))} slow, {sum('states_ns' in s for s in of('slow'))} split\"")"
  holds "and they are split once they are named, and not before" states_named.json \
    "(lambda split: probe('pool:begin')['hits'] == span('act')['count'] >= len(of('slow')) and 60 <= len(split) < len(of('slow')) and all(s['states_ns']['running'] < s['latency_ns'] for s in split))([s for s in of('slow') if 'states_ns' in s])"
}

# Prints where the report of a recording disagrees with its 25 spans, each of which says where it slept: who waits for a pipe's
# mutex is told as disk. A span in which the guest's clock stood still has no length, and is not among the slow ones.
recorded_states() { # DISK, an expression of the locks that sleep, or of those that do not
  grep '"type":"slow"' states_recorded.json | cat states_report - >states_both
  j states_both "(lambda s, split: [what for what, wrong in {
    'count': s['count'] != 25 or s['states_ns']['sleeping']['count'] + s['unsplit'] != 25 or len(split) != 25 - s['unsplit'],
    'unsplit': s['unsplit'] > 5,
    'sleeping': s['states_ns']['sleeping']['sum'] == 0,
    'sums': any(s['states_ns'][k]['sum'] != sum(d['states_ns'][k] for d in split) for k in s['states_ns']),
    'disk': not (s['states_ns']['sleeping']['sum'] $1) and not all('pipe_' in w.get('function', '')
      for d in split if d['states_ns']['disk'] for w in d['slept_in']),
  }.items() if wrong] and [s['unsplit'], {k: v['sum'] for k, v in s['states_ns'].items()}, split] or '')(
    span('act'), [d for d in of('slow') if 'states_ns' in d])"
}

vm_check_states() { # KERNEL
  local place locks=none disk="> 0 == s['states_ns']['disk']['sum']"
  # PREEMPT_RT: the kernel's own locks sleep, and are told as D
  case $(cat uname) in
  *-rt-*) locks=sleep disk="> 50 * s['states_ns']['disk']['sum']" ;;
  esac
  is "--states ends well" "$(cat states.status)" 0
  ! wants named || vm_check_named
  if grep -qE '^instance_events +no' features; then
    has "what a hit costs cannot be measured, which is said" "$(cat net.status net.err | tr '\n' ' ')" "^1 nopwatch: --net: what a hit costs cannot be measured: this kernel's probes do not record in instances"
  else
    is "what a hit costs is measured" "$(cat net.status net.err; ! wants net_again || cat net_again.status net_again.err)" "$(echo 0; ! wants net_again || echo 0)"
  fi
  place=$(cat states.wchan 2>/dev/null)
  if grep -q 'feature stack_trigger' states.err; then place=untold; fi
  # on 32-bit ARM that function may be missing in the recorded stacks: "unknown" is told (docs/dev/kernel.md)
  case $(cat uname) in *armv7l) place= ;; esac
  comment "where threads sleep: $place; $(cat states.err)"
  ok "spans are split by what the program did" states_agree "$1" "$place" $locks
  wants states_recorded || return 0
  is "record and report of states end well" "$(cat states_record.status) $(cat states_report.status)" "0 0"
  # Ubuntu's 4.14.0 does not have it yet (docs/dev/kernel.md)
  case $(cat uname) in
  4.15.* | 4.18.*) is "prev_state is found to be one bit too high" "$(cat states.shifted)" 1 ;;
  *) is "prev_state is found to be what it says" "$(cat states.shifted)" 0 ;;
  esac
  is "a recording has them, too" "$(recorded_states "$disk" 2>&1)" ""
}

vm_check_settings() {
  ok "settings are looked at" grep -q 'buffer_size_kb:[0-9]*$' settings
  is "the first session ends well" "$(cat first.status)" 0
  is "no command changes what others have set in tracefs" "$(cat changed)" ""
  # what no file tells is tried once a boot ("used" makes it forgotten), and old kernels log what they refuse
  is "nor leaves a line in the kernel's log" "$(grep -vE '^(first|used): \+Parse error at argument\[0\]' logged)" ""
}

# What old kernels get wrong.
vm_check_old() { # KERNEL
  ! wants jump || vm_check_jump "$1"
  vm_check_losses
}

vm_check_jump() { # KERNEL
  if [ "$(cat jump.status)" = 0 ]; then
    is "longjmp() past return probes does the program no harm" "$(cat jump)" "returned 60 abandoned 40"
    holds "and its calls are told apart" jump.json "(span('step')['count'], span('step')['abandoned']) == (60, 40)"
  else
    has "or return probes of programs that call it are refused" "$(cat jump.status jump.err | tr '\n' ' ')" \
      "^1 nopwatch: no call can be timed: .*calls longjmp\(\), and a return probe of this kernel kills .*returns=insn"
  fi
  case ${1%%-*} in
  amd64 | i386 | arm64)
    is "return instructions do it none" "$(cat jump_insn.status jump_insn)" $'0\nreturned 60 abandoned 40'
    holds "and time the same calls" jump_insn.json "(span('step')['count'], span('step')['abandoned']) == (60, 40)"
    ;;
  esac
}

vm_check_losses() {
  local number how unread
  for number in 1 2; do
    [ -f small$number.json ] || continue
    unread=$(awk '{ sum += $1 } END { print sum + 0 }' small$number.unread)
    comment "hits and lost events: $(j small$number.json "probe('upgrade:work__start')['hits'], probe('upgrade:work__done')['hits'], loss()"), unread before: $unread"
    # besides, threads of the kernel may have begun or ended
    holds "each hit is read or lost, once ($number)" small$number.json \
      "loss() > 0 and 0 <= probe('upgrade:work__start')['hits'] + probe('upgrade:work__done')['hits'] + loss() - 50000 <= $unread + 16"
  done
  for how in stat top; do
    wants shared && { [ $how = stat ] || wants moved_top; } || continue
    comment "$(cat moved_$how.err)"
    is "$how: a probed file is replaced, and the run ends well" "$(cat moved_$how.status)" 0
    holds "... and goes on in the new file, whose sites are elsewhere" moved_$how.json \
      "[sum(r['hits'] for r in of('probe') if r['probe'] == 'upgrade:work__' + name and 'interval' not in r) for name in ('start', 'done')] == [20 + 30] * 2"
  done
  [ -f ten.status ] || return 0
  if ! grep -q '^instance_events *yes' features; then
    has "of ten sessions at once, with one ring buffer for all, one has it" "$(sort ten.status | cut -d ' ' -f 2 | xargs)" '0.*1'
    return
  fi
  is "ten sessions at once end well" "$(cut -d ' ' -f 2 ten.status | sort | uniq -c | xargs)" "10 0"
  is "and take none of each other for dead" "$(cat ten.said)" ""
  is "nor leave an instance or a journal" "$(cat ten.kept)" ""
  is "nor leave anything after one clean" "$(cat ten_clean.status ten.left)" 0
}

vm_check_places() {
  if [ "$(cat tmpfs.status)" = 0 ]; then
    holds "a program on tmpfs is counted" tmpfs "probe('values:ints')['hits'] == 20"
  else
    has "or it is said that it cannot be" "$(cat tmpfs.err)" "its file is on tmpfs, where probes of this kernel never hit"
    has "by why, too" "$(cat tmpfs_why)" "^FAIL  file .*it is on tmpfs, where no probe of this kernel hits"
  fi
  if [ "$(cat instance.status)" = 0 ]; then
    ok "what is enabled in an instance is recorded there" test "$(cat instance.records)" -gt 4
  else
    has "or it is said that it cannot be there" "$(cat instance.err)" "do not record in instances"
  fi
  hasnt "no event of ours is in its own probe's way" "$(cat why_added)" "place-taken"
  is "what was added is removed" "$(cat removed.status)" 0
}

vm_check_beside() {
  local name
  for name in beside beside2 reader; do
    if [ $name = reader ] && [ -s reader.left ]; then
      has "what another program's reading keeps is said" "$(cat reader.status reader.err)" '^1|1 instance of tracefs stays, with a small ring buffer: another program reads a trace_pipe'
    else
      is "a session beside others' ends well ($name)" "$(cat $name.status)" 0
    fi
    holds "and counts right ($name)" $name "probe('values:ints')['hits'] == 20"
  done
  if [ -f long.status ]; then
    is "the long session ends well" "$(cat long.status)" 0
    is "and removes what had to stay for it" "$(cat long.left)" ""
    ok "what had to stay was small" test "$(cat pieces)" -le 1
    if [ -f beside_more ]; then
      is "eight more sessions count right" "$(xargs <beside_more)" "8 0 20"
      comment "instances beside a reader, and their KiB: $(cat beside_kib)"
    fi
  fi
}

# What is the same on every kernel.
vm_check() { # KERNEL
  local level
  ok "it says which kernel it is" test -s uname
  comment "$(cat uname)"
  grep -q '^memory *no' features && export REGISTERS_ONLY=1
  is "features ends well, and says nothing that it tried and found otherwise" \
    "$(cat features.status) $(grep -E ' yes .*tried: ' features | grep -v 'tried: works')" "0 "
  for level in O0 O2; do
    is "trace ends well (-$level)" "$(cat trace_$level.status)" 0
    same_as_said "order and values of every argument are the program's own (-$level)" trace_$level said_$level
  done

  if [ "$(cat dry.status)" = 0 ]; then
    has "--dry-run tells what would be done" "$(cat dry)" "uprobe_events"
  else
    has "or why it cannot be told" "$(cat dry.err)" "without instances, in the top-level buffer, cannot be told"
  fi

  is "stat ends well" "$(cat stat.status)" 0
  # "requests 300 lookups 300 evictions N": what the server itself counted
  read -r _ requests _ lookups _ evictions <stat
  is "the server answered all requests" "$requests $lookups" "300 300"
  holds "stat counts what the server counted" stat.json \
    "[probe('myserver:' + name)['hits'] for name in ('request__start', 'request__done', 'lookup__done', 'cache__evict')] == [300, 300, 300, $evictions]"
  holds "spans pair, none is lost" stat.json \
    "[(span(name)['count'], span(name)['unmatched_starts'], span(name)['unmatched_ends']) for name in ('myserver:request', 'myserver:lookup', 'myserver:parse')] == [(300, 0, 0)] * 3"
  holds "no event is lost" stat.json "loss() == 0"

  holds "a function's calls and returns" func.json "of('span')[0]['count'] == 200"

  is "record and report end well" "$(cat record.status) $(cat report.status)" "0 0"
  holds "a recording is read back whole" report \
    "[probe('values:' + name)['hits'] for name in ('ints', 'text', 'globals', 'many')] == [100] * 4"

  vm_check_summaries
  vm_check_stacks
  ! wants script || vm_check_script

  # and by another machine: this one
  base64 -d <rec.base64 >rec.dat
  if [ "${1%%-*}" = s390x ]; then
    has "a recording of the other byte order is refused" "$("$NOPWATCH" report rec.dat 2>&1)" "machine of the other byte order"
  else
    "$NOPWATCH" report -j rec.dat >here.json
    ok "a recording says the same on another machine" "$VM/alike" here.json report
  fi

  ! wants types || for level in O0 O2; do
    same_as_said "types of the user's cut and sign (-$level)" types_$level types_said_$level s8,u8,u8,u8,u16,s8,u32,s16
  done

  # where the loads of strings are lost as a whole, those are that meet the end of a mapping
  local size whole=
  grep -q '^arrays .*yes' features && [ "${1%%-*}" = amd64 ] || whole=whole
  for level in O0 O2; do
    for size in 256 4096 16384; do
      wants strings_all || [ $level$size = O0256 ] || [ $level$size = O216384 ] || continue
      if [ -n "${REGISTERS_ONLY:-}" ]; then # there are none, which is said
        has "no strings, and why (-$level, $size bytes)" "$(cat edges_${level}_$size.err)" "has no value: it is in memory: this kernel's probes only read registers"
        continue
      fi
      ok "strings of every length and place (-$level, $size bytes)" "$TESTS_LIB/edges" edges_${level}_$size $size $whole
    done
  done

  is "attaching to a process ends well" "$(cat attach.status)" 0
  same_as_said "what a process said meanwhile" attach attach.said within
  is "its semaphores are closed again" "$(cat attach.quiet)" "quiet, something said"

  if wants killed; then
    ok "a killed nopwatch leaves events behind" test "$(cat orphans)" -gt 0
    is "clean ends well" "$(cat clean.status)" 0
    is "and closes the semaphores" "$(cat clean.quiet)" "quiet, something said"
  fi
  ! wants places || vm_check_places
  ! wants beside || vm_check_beside
  vm_check_states "$1"
  vm_check_kernel
  [ ! -f engine_can ] || vm_check_engine
  [ ! -f returns_features ] || vm_check_returns
  ! wants pairs || vm_check_pairs
  if wants shared; then
    vm_check_user_events
    vm_check_rights
  fi
  ! wants flight || vm_check_flight "$1"
  vm_check_old "$1"
  vm_check_settings
  [ ! -f forked.pid ] || vm_check_whole
  [ ! -f flat.status ] || vm_check_long
  is "tracefs is as it was" "$(cat after)" "$(cat before)"
  is "the kernel did not complain" "$(cat dmesg)" ""
}

vm_test() { # KERNEL
  vm_boot "$1"
  local row
  row=$("$VM/../../scripts/static" --row "${1%%-*}")
  static_check nopwatch "$VM/../../build/static/nopwatch-${row%% *}"
  if [ -z "${VM_PART:-}" ]; then
    vm_check "$1"
    return
  fi
  "vm_check_$VM_PART" "$1"
  vm_check_settings
  is "tracefs is as it was" "$(cat after)" "$(cat before)"
  is "the kernel did not complain" "$(cat dmesg)" ""
}
