# --engine: the triggers by which the kernel would count (--dry-run), and what is refused. tests/vm/guest_engine lets kernels count.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
counter=$PROGRAMS/counter

# Without tracefs, or with one that is read-only, as here, the kernel is taken for one that can.
dry() { "$NOPWATCH" stat --engine=kernel --dry-run "$@" 2>err; }
# triggers: in order, without the names of the session
triggers() { sed -n "s/^echo '\\?\\([^']*\\)'\\? >>.*\\(trigger\\|synthetic_events\\).*/\\1/p" | sed -E 's/nopwatch_[0-9]+_[0-9a-f]+/S/g; s/e[0-9]+_[0-9a-f]+_/e/g' | grep -v '^!'; }

dry "usdt:$counter:counter:step__*" >out
is "a dry run ends well" $? 0
is "a span has a start, an end, and rows as wide as buckets" "$(triggers <out)" "S u64 lat
S_1 u64 lat
hist:keys=lat:size=2048:vals=lat if lat < 2048
hist:keys=lat.buckets=64:size=2048:vals=lat if lat >= 2048 && lat < 131072
hist:keys=lat.buckets=4096:size=2048:vals=lat if lat >= 131072 && lat < 8388608
hist:keys=lat.buckets=262144:size=2048:vals=lat if lat >= 8388608 && lat < 536870912
hist:keys=lat.buckets=16777216:size=2048:vals=lat if lat >= 536870912
hist:keys=common_pid,frame+level:size=8192:at0=common_timestamp:clock=mono
hist:keys=common_pid,frame+level:size=8192:lat0_0=common_timestamp-\$at0:clock=mono:onmatch(S.e0).S_1(\$lat0_0)
hist:keys=common_pid,frame+level:size=8192:all0_0=common_pid
hist:keys=common_pid:size=2048:pause
hist:keys=common_pid:size=2048:pause
hist:keys=common_pid:size=2048:cont
hist:keys=common_pid:size=2048:cont"
is "all are taken away, the last first" "$(grep -c "'!hist:" out) $(grep -n "'!hist:\\|'!nopw\\|rmdir" out | cut -d: -f2- | sed -n '1p;$p' | sed 's/.*\(!hist:keys=common_pid:size=2048\).*/\1/; s/rmdir.*/rmdir/' | xargs)" \
  "10 !hist:keys=common_pid:size=2048 rmdir"
# A first trigger must not arm its event (decision 38), and no hit may come before the triggers.
is "events are armed in front of their triggers, behind a filter that no record passes, and off again when the triggers hold them" \
  "$(sed -n "s/^echo '\\?\\([^']*\\)'\\? >.*\\/e[0-9a-f]*_[0-9a-f]*_[0-9]*\\/\\(filter\\|enable\\|trigger\\)\"/\\2 \\1/p" out | sed 's/^trigger hist.*/set/; /^trigger/d' | uniq | xargs)" \
  "filter common_type == 0 enable 1 set enable 0"
dry "usdt:$counter:counter:step__*(i:s8)" --by i >out
has "a group passes from start to end" "$(triggers <out | xargs)" \
  "S_1 u64 lat; s8 by .*:at0=common_timestamp,by0=a0:.*:lat0_0=common_timestamp-.at0,of0=.by0:.*S_1\\(.lat0_0,.of0\\)"
has "the value that groups has a row for each group" "$(triggers <out | xargs)" "hist:keys=a0:size=8192:vals=a0:pause hist:keys"
dry "usdt:$counter:counter:step__*(i)" --span 's=step__begin..step__end,key=i+tid' >out
has "an argument pairs, alone or beside the thread" "$(triggers <out | xargs)" \
  "hist:keys=a0,common_pid:size=8192:at0=common_timestamp:clock=mono hist:keys=a0,common_pid:size=8192:lat0_0=common_timestamp-.at0:.* hist:keys=a0,common_pid:size=8192:all0_0=a0 "
dry "usdt:$counter:counter:step__*(i:s8)" >out
has "negative values have rows of their own" "$(triggers <out | xargs)" "hist:keys=a0:size=2048:vals=a0:pause if a0 < 0 hist:keys=a0:size=2048:vals=a0:pause if a0 >= 0"

# Without .buckets= (before 5.14) maps are eighths of powers of two. Each value is in one row, whose width is known.
for type in u64 s64 u32 s32 u16 s16; do
  NOPWATCH_FEATURES=-hist_buckets dry "usdt:$counter:counter:step__begin(i:$type)" >out
  ok "$type: eighths of powers of two take each value once" "$TESTS_LIB/eighths" $type out
done

has "a kernel that cannot is told" "$({ NOPWATCH_FEATURES=-hist dry "usdt:$counter:counter:step__*"; echo $?; cat err; } | xargs)" \
  "^1 .*nopwatch: --engine=kernel: this kernel has no hist triggers .* nopwatch: --engine=stream reads each hit"
has "or lacks synthetic events" "$({ NOPWATCH_FEATURES=-synthetic dry "usdt:$counter:counter:step__*"; echo $?; cat err; } | xargs)" "^1 .*no synthetic events"
NOPWATCH_FEATURES=-hist "$NOPWATCH" stat --engine=auto -v --dry-run "usdt:$counter:counter:step__*" >out 2>err
has "auto reads each hit then" "$? $(grep -c 'echo 1 .*/e[0-9_a-f]*/enable' out) $(xargs <err)" \
  "^0 1 .*each hit is read \\(--engine=stream\\): --engine=kernel: this kernel has no hist"
"$NOPWATCH" stat --engine=auto -v --filter 'i > 3' --dry-run "usdt:$counter:counter:step__*(i)" >out 2>err
has "or if it is asked for what the kernel cannot" "$? $(xargs <err)" "^0 .*each hit is read .*--filter looks at each hit"

# counts that stay
"$NOPWATCH" add --engine=kernel --name night --hist i --dry-run "usdt:$counter:counter:step__*(i)" >out 2>err
is "add: the same triggers, under its name" "$? $(grep -c '^mkdir .*instances/nopwatch_night' out) $(grep -c 'nopwatch_night u64 lat' out)" "0 1 1"
is "and nothing is taken away, or recorded" "$(grep -c "'!\\|rmdir\\|trace_pipe\\|sched_process" out)" 0
# refused_add WHY WORDS...
refused_add() {
  has "add: $1" "$("$NOPWATCH" add "${@:2}" "usdt:$counter:counter:step__*(i)" 2>&1; echo $?)" "$1"
}
refused_add "^nopwatch: --name goes with --engine=kernel" --name night
refused_add "^nopwatch: --hist goes with --engine=kernel" --hist i
refused_add "^nopwatch: --by goes with --engine=kernel" --engine=auto --by i
refused_add "^nopwatch: add: --engine=kernel leaves counts" --engine=stream
refused_add "^nopwatch: --enable does not go with --engine=kernel" --engine=kernel --enable
refused_add "^nopwatch: --name '../x': not a letter" --engine=kernel --name ../x
refused_add "^nopwatch: --name '7x': not a letter" --engine=kernel --name 7x
refused_add "^nopwatch: --engine=kernel: --by takes up to two keys" --engine=kernel --dry-run --by tid,pid,comm
has "add: no command" "$("$NOPWATCH" add --engine=kernel "usdt:$counter:counter:step__*" -- "$counter" 2>&1)" "^nopwatch: add starts no command"
has "report: counts that are not there" "$("$NOPWATCH" report --kernel night 2>&1; echo $?)" "^nopwatch: no counts that stay are called 'night'"
has "report: a file beside them" "$("$NOPWATCH" report --kernel night x.dat 2>&1)" "^nopwatch: --kernel reads what the kernel has counted, and no FILE"

# a script that lets the kernel count
script() { "$NOPWATCH" script "$@" 2>err; }
script --engine=kernel "usdt:$counter:counter:step__*" >count.sh
is "script: one is made" "$? $(cat err)" "0 "
for shell in sh dash "busybox sh" bash; do
  # shellcheck disable=SC2086 # a command and its argument
  if command -v ${shell%% *} >/dev/null; then ok "$shell can read it" $shell -n count.sh; fi
done
if command -v shellcheck >/dev/null; then ok "shellcheck has nothing to say" shellcheck count.sh; else skip "shellcheck" "it is not here"; fi
# its triggers are those of the run, but for names
same() { sed -E 's/nopwatch_[0-9]+_[0-9a-f]+/S/g; s/\be[0-9]*(sh|[0-9a-f]+)?_/e/g'; }
sed -n '/^nw_hists_buckets/,/^}/p' count.sh >buckets.sh
(
  # shellcheck disable=SC2034,SC2317,SC2329 # the script uses it
  nw_group=S
  # shellcheck disable=SC2317,SC2329 # the script calls it
  nw_hist() { printf '%s%s\n' "$3" "${4:+ if $4}"; }
  # shellcheck source=/dev/null
  . ./buckets.sh
  nw_hists_buckets
) | same >its
dry "usdt:$counter:counter:step__*" >out
triggers <out | grep '^hist:' | grep -v ':cont' | sed 's/:pause//' | same >run
ok "its triggers are those of a run" cmp its run
"$TESTS_LIB/counted" count.sh >counted
for how in "report --from" "stat --from" report; do
  # shellcheck disable=SC2086 # a command and its option
  "$NOPWATCH" $how counted -j >counted.json
  holds "$how shows what it printed" counted.json "of('attached')[0]['engine'] == 'kernel' and [p['hits'] for p in of('probe')] == [3, 3] and \
    (lambda s: (s['count'], s['latency_ns']['sum'], s['latency_ns']['p50'], s['unmatched_starts']))(span('counter:step')) == (3, 4500, 1500, 0) and \
    last['elapsed_ns'] == 2000000000"
done
"$NOPWATCH" report -j --from - <counted >piped.json
ok "by a pipe as well" cmp piped.json counted.json
script --engine=kernel --by pid,i -p 70 "usdt:$counter:counter:step__begin(i)" >by.sh
"$TESTS_LIB/counted" by.sh | sed 's/^\(# trigger info: hist:keys=common_pid,a0:.*\)/\1\n{ common_pid: 77, a0: 5 } hitcount: 2\n{ common_pid: 78, a0: 6 } hitcount: 4\n{ common_pid: 79, a0: 6 } hitcount: 8/' >by
"$NOPWATCH" report -j --from by >by.json
holds "threads that ended are known by their last line, others by the list, and no others count" by.json \
  "{r['group']: r['hits'] for r in of('probe') if r['hits']} == {'70,5': 2, '70,6': 4} and of('attached')[0]['group_by'] == 'pid,i'"
script --engine=kernel "usdt:$counter:counter:step__*(i)" >eighths.sh
"$TESTS_LIB/counted" eighths.sh eighths >eighths
has "rows of eighths are told" "$("$NOPWATCH" report -j --from eighths | head -n 1)" '"engine":"kernel","off_by":0.125'
# refused_script WHY WORDS...
refused_script() {
  has "script: $1" "$({ script "${@:2}" "usdt:$counter:counter:step__*(i)"; echo $?; cat err; } | xargs)" "^[12] .*$1"
}
refused_script "a script does not know its kernel: --engine=auto .*--engine=stream works on every kernel" --engine=auto
refused_script "nopwatch: --by goes with --engine=kernel.*stat --from FILE --by" --by tid
refused_script "nopwatch: --hist goes with --engine=kernel" --engine=stream --hist i
refused_script "nopwatch: --string-size does not go with --engine=kernel" --engine=kernel --string-size 100
refused_script "nopwatch: --engine=kernel: --by takes up to two keys" --engine=kernel --by tid,pid,comm
refused_script "cannot time the span s: it is paired by process" --engine=kernel --span 's=step__begin..step__end,key=pid'
# told WHY FILE COMMAND...: what is printed of it, and with which status
told() { has "$2: $1" "$({ "$NOPWATCH" "${@:3}" 2>&1 >/dev/null; echo $?; } | tr '\n' ' ')" "$1 $"; }
told '^nopwatch: .*--by was to be said to `nopwatch add` or `nopwatch script` .*2' "other groups" stat --from counted --by tid
told "^nopwatch: .*-i was to be said to .*2" "intervals" stat --from counted -i 1
told '^nopwatch: counted: it has what the kernel has counted, and no hits nopwatch: `nopwatch report counted` shows it 1' "hits" trace --from counted
told "^nopwatch: --engine=kernel: --filter looks at each hit.* 1" "a filter" report --from counted --filter 'tid > 3'
told "^nopwatch: --engine=kernel: this format shows counts by time.* 1" "pictures" report --from counted -f html -o x.html
told "^nopwatch: --from counted and by: several files go without --from .*2" "two files" report --from counted by
sed '/^#nw stop/d' counted >cut.text
told "^nopwatch: cut.text ends in front of what the kernel has counted: its script was killed, or cut off .* 1" "cut off" report --from cut.text
sed '/^#nw map synthetic/,/^#nw map/d' counted >without
missing='^nopwatch: what the kernel has counted is not all in the text: a map of nopwatch_sh_1 is missing, .* 1'
told "$missing" "a map is missing" report --from without
sed '/^# trigger info:.*lat.buckets/,/^ *Dropped:/d' counted >one_less
told "$missing" "a trigger's map is missing" report --from one_less
sed 's/hitcount:  *3$/hitcount: x/' counted >damaged
told "^nopwatch: cannot read what the kernel has counted .* 1" "a damaged row" report --from damaged
sed 's/^#nw kept 0 .*/#nw kept 0 x/' counted >header
told "^nopwatch: header: .* 1" "a damaged plan" report --from header
awk '{ print } /^{ common_pid/ { for (i = 0; i < 9000; i++) print "{ common_pid: " i " } hitcount: 1" }' counted >rows
told "^nopwatch: cannot read what the kernel has counted .* 1" "more rows than a map has room for" report --from rows
script --engine=kernel --span 'flat=step__begin..step__end,nest=no' "usdt:$counter:counter:step__*" >flat.sh
for i in {1..4}; do echo "{ common_pid: $i } hitcount: 5"; done >rows.more
"$TESTS_LIB/counted" flat.sh | sed '/^# trigger info: hist:keys=common_pid:size=2048 /r rows.more' >nested
told "^nopwatch: --engine=kernel: the span flat began again before it had ended, in one thread, 20 times: .* nopwatch: --engine=stream times nested and recursive spans 1" \
  "nested spans" report --from nested

# top shows the same maps
has "top: the same triggers" "$("$NOPWATCH" top --engine=kernel --dry-run "usdt:$counter:counter:step__*" 2>err | triggers | grep -c '^hist:')" "^12$"
has "and the same refusals" "$("$NOPWATCH" top --engine=kernel --dry-run --filter 'i > 3' "usdt:$counter:counter:step__*(i)" 2>&1)" \
  "^nopwatch: --engine=kernel: --filter looks at each hit"

# refused WHY WORDS...
refused() {
  has "refused: $1" "$({ dry "usdt:$counter:counter:step__*(i)" "${@:2}"; echo $?; cat err; } | xargs)" "^1 .*nopwatch: --engine=kernel.*$1.* nopwatch: --engine=stream"
}
refused "--filter looks at each hit" --filter 'i > 3'
refused "--slower and --slowest" --slower 1ms
refused "-n counts hits" -n 5
refused "takes up to two keys" --by tid,pid,comm
refused "takes tid, pid, comm and one argument" --by cpu
refused "paired by process" --span 's=step__begin..step__end,key=pid'
refused "paired by CPU" --span 's=step__begin..step__end,key=i+cpu'
refused "more than the three parts" --span 's=step__begin..step__end,key=i+tid+i+i'
refused "thread of its start" --span 's=step__begin..step__end,key=i' --by comm
refused "of another type at the end" --span 's=step__begin..step__end,key=i:tid'
refused "ARG:MIN:MAX:STEP looks at each hit" --hist i:0:10:1
refused "the maps would take [0-9]{4} MB of memory in the kernel, and may take 512 MB" "func:$NOPWATCH:nw_p*"
sample=$TESTS_LIB/../demo/sample.dat
has "a recording has each hit" "$("$NOPWATCH" stat --engine=kernel --from "$sample" 2>&1; echo $?)" "^nopwatch: --engine=kernel goes with a live run"
has "which auto reads" "$("$NOPWATCH" stat -j --engine=auto --from "$sample")" '"type":"attached".*"engine":"stream"'
has "a wrong engine" "$("$NOPWATCH" stat --engine=bpf x 2>&1 | xargs)" "^nopwatch: --engine bpf: not stream, kernel or auto"
finish
