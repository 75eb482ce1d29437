# why: what can be asked, without privileges.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

said=$("$NOPWATCH" why 2>&1)
has "no probe" "$? $said" '^2 nopwatch: no probe is named'
said=$("$NOPWATCH" why nowhere:tick 2>&1)
has "no file" "$? $said" "^2 nopwatch: no file for probe 'nowhere:tick'"
said=$("$NOPWATCH" why -- perf report 2>&1)
has "another tool's command line" "$? $said" "^2 nopwatch: of perf, the command lines of probe, record, stat, top and trace are understood"
said=$("$NOPWATCH" why -- perf stat 2>&1)
has "one that names no event" "$? $said" "^1 nopwatch: that command line names no event"
said=$("$NOPWATCH" why -- gdb -p 1 2>&1)
has "one that is not understood" "$? $said" "^2 nopwatch: 'gdb' is not a tool whose command line is understood"
said=$("$NOPWATCH" why -- bpftrace -e 'kprobe:f { }' 2>&1)
has "a program without user-level probes" "$? $said" '^1 nopwatch: that program has no uprobe'
said=$("$NOPWATCH" why --error 'libbpf: usdt: no USDT notes section (.note.stapsdt) found in /x')
has "an error that is known" "$? $said" '^3 .*Verdict: the file has no USDT probes'
said=$("$NOPWATCH" why --error 'all is well')
has "one that is not" "$? $said" '^4 .*Verdict: this error is not known'
"$NOPWATCH" why --plain "func:$SERVER:mian" >said 2>&1
is "--plain: each line is a sentence" "$(grep -vE '^(Check [a-z]+ (passes|fails|has no result): .*[.?!]|(Verdict|Also): .*[.]|Type: .*|)$' said)" ""
has "which says what is wrong" "$(cat said)" "^Check symbol fails: .* has no function 'mian'[.]\$"
has "and what to type" "$(cat said)" '^Type: nm '
"$NOPWATCH" why -j --error 'No probes to attach' >out.json
holds "as data" out.json "last['causes'] == ['symbol-missing'] and last['fires'] is None"
"$NOPWATCH" why -j "usdt:$PROGRAMS/target:target:tok" >out.json
holds "a file is looked at without privileges" out.json \
  "[c['result'] for c in of('check') if c['name'] == 'note'] == ['fail'] and 'no-such-probe' in last['causes']"
"$NOPWATCH" why -j "uprobe:$PROGRAMS/target:usleep" >out.json
holds "and so is a function" out.json "'symbol-imported' in last['causes']"
if gcc -c -x c -o "$TEST_DIR/object.o" - <<<'int f(int x) { return x + 1; }' 2>/dev/null; then
  "$NOPWATCH" why -j "uprobe:$TEST_DIR/object.o:f" >out.json
  holds "an object file is not linked" out.json "last['fires'] is False and 'object-file' in last['causes']"
else
  skip "an object file is not linked" "no compiler"
fi
finish
