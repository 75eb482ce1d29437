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
hist:keys=common_pid:size=2048:at0=common_timestamp:clock=mono
hist:keys=common_pid:size=2048:lat0_0=common_timestamp-\$at0:clock=mono:onmatch(S.e0).S_1(\$lat0_0)
hist:keys=common_pid:size=2048:pause
hist:keys=common_pid:size=2048:pause
hist:keys=common_pid:size=2048:cont
hist:keys=common_pid:size=2048:cont"
is "all are taken away, the last first" "$(grep -c "'!hist:" out) $(grep -n "'!hist:\\|'!nopw\\|rmdir" out | cut -d: -f2- | sed -n '1p;$p' | sed 's/.*\(!hist:keys=common_pid:size=2048\).*/\1/; s/rmdir.*/rmdir/' | xargs)" \
  "9 !hist:keys=common_pid:size=2048 rmdir"
is "nothing is enabled" "$(grep -c 'echo 1 .*/e[0-9_a-f]*/enable' out)" 0
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
has "report: what was to be said before" "$("$NOPWATCH" report --kernel night --by tid 2>&1)" "^nopwatch: --kernel reads what the kernel has counted: --by was to be said to"

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
