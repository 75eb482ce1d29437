# Places within functions: a breakpoint inside an instruction would corrupt the program.
# in turn: it adds events that stay
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/exits" exits || skip_all "no C++ compiler"
size=$((16#$(nm -S exits | awk '$4 == "catches" { print $2 }')))

refused=0 armed=0 harmed=0 hit=0
for ((o = 1; o < size; o++)); do
  said=$("$NOPWATCH" stat -j "uprobe:./exits:catches+$o" -o out.json -- ./exits 9 2>err)
  status=$?
  if grep -q 'no instruction is shown to begin there: it is inside an instruction' err; then
    refused=$((refused + 1))
  elif [ "$status $said" = "0 caught 3" ]; then
    armed=$((armed + 1))
    [ "$(j out.json "probe('uprobe:catches+$(printf '0x%x' $o)')['hits'] > 0" 2>&1)" = True ] && hit=$((hit + 1))
  elif ! grep -q 'the kernel would not arm it' err; then
    harmed=$((harmed + 1))
    comment "+$o: status $status, $said, $(cat err)"
  fi
done
is "a probe at any byte of a function does the program no harm" "$harmed" 0
if grep -q 'without a disassembler' err; then
  skip "instructions are told apart" "built without capstone"
else
  ok "those inside instructions are refused ($refused)" test $refused -gt $((size / 4))
  ok "those at the beginning of one are armed ($armed), and are hit ($hit)" test $armed -gt 3 -a $hit -gt 3
fi

said=$("$NOPWATCH" stat "uprobe:./exits:catches+$size" -- ./exits 9 2>&1)
has "behind the end of a function" "$? $said" "left out: no instruction is shown to begin there: it lies outside of 'catches', which has $size bytes \(--force"
offset=$(printf '0x%x' $((16#$(nm exits | awk '$3 == "catches" { print $1 }') + 1)))
for command in "stat" "trace" "record -o x.dat" "add" "script"; do
  # shellcheck disable=SC2086 # words
  said=$("$NOPWATCH" $command -d 0.1 "uprobe:./exits:$offset" 2>&1 ||
    "$NOPWATCH" $command "uprobe:./exits:$offset" 2>&1)
  has "$command refuses an offset inside an instruction" "$said" 'left out: no instruction is shown to begin there'
done
has "--force insists" "$("$NOPWATCH" stat --dry-run --force "uprobe:./exits:$offset" 2>&1)" "$PWD/exits:$offset'"
said=$("$NOPWATCH" why "uprobe:./exits:catches+1" 2>&1)
has "why says the same" "$said" 'no instruction is shown to begin there'


# returns: an exception that passes through would end a program with a return probe
if "$NOPWATCH" stat --dry-run func:./exits:catches 2>&1 | grep -q 'cannot be told'; then
  skip "functions are measured by their return instructions" "built without capstone"
  unchanged
  finish
fi
measured() {
  said=$("$NOPWATCH" stat -j "$@" -o out.json -- ./exits 300 2>err)
  is "the program does not notice: $1" "$? $said" "0 caught 100"
}
starts="span(S)['count'] + span(S)['unmatched_starts'] + span(S).get('abandoned', 0)"
measured func:./exits:passes
holds "what an exception passes through has fewer returns" out.json \
  "probe('uprobe:passes')['hits'] == 300 and probe('uretprobe:passes')['hits'] == 200 and span('passes')['count'] == 200"
holds "and the calls that it ended are told" out.json "${starts//S/\'passes\'} == 300"
measured func:./exits:catches func:./exits:thrower func:./exits:tail func:./exits:other
holds "what catches it returns" out.json "span('catches')['count'] == 300"
holds "what throws it does not" out.json "span('thrower')['count'] == 200 and probe('uprobe:thrower')['hits'] == 300"
holds "a jump into another function ends it" out.json "span('tail')['count'] == 300 and span('other')['count'] == probe('uprobe:other')['hits'] > 200"
measured 'func:./exits:deep,returns=insn'
holds "recursion pairs" out.json "span('deep')['count'] == probe('uprobe:deep')['hits'] > 1200 and span('deep')['unmatched_starts'] == 0"
measured 'uretprobe:./exits:tail(r:s32)'
holds "a return's value is there" out.json "probe('uretprobe:tail')['args']['r']['count'] == 75 and probe('uretprobe:tail')['args']['r']['min'] == 7"
has "that of a jump is not, which is said" "$(cat err)" 'left by a jump into another one'

said=$("$NOPWATCH" stat 'func:./exits:_start' -- ./exits 2>&1)
has "what cannot be measured so is an error" "$said" "no call can be timed: uretprobe:_start is left out: a return probe aborts the program .*: it has no return instruction \(--force"
has "and not on demand" "$("$NOPWATCH" stat 'func:./exits:_start,returns=insn' 2>&1)" "^nopwatch: .*the return instructions of '_start' cannot be told"
has "script has the same" "$("$NOPWATCH" script func:./exits:passes 2>&1)" 'passes'
hasnt "and no return probe" "$("$NOPWATCH" script func:./exits:passes 2>&1)" "nw_event r "
"$NOPWATCH" add func:./exits:tail >added 2>&1
has "add has them as events of their own" "$(cat added "$TRACEFS/uprobe_events")" '^p:probe_exits/tail__return_1 '
hasnt "and no return probe" "$(cat "$TRACEFS/uprobe_events")" '^r:probe_exits'
"$NOPWATCH" remove 'probe_exits' >/dev/null 2>&1

# one that is left out beside others
measured 'uprobe:./exits:tail' 'uprobe:./exits:catches+1' 'uprobe:./exits:passes+1'
holds "what is left out is not armed, which is not the same as not hit" out.json \
  "probe('uprobe:catches+0x1')['state'] == 'not-armed' and probe('uprobe:passes+0x1')['state'] == 'not-armed' and probe('uprobe:tail')['state'] == 'hit'"
is "each one is named" "$(grep -c 'is left out: no instruction is shown' err)" 2
has "in the table, too" "$("$NOPWATCH" stat 'uprobe:./exits:tail' 'uprobe:./exits:catches+1' -- ./exits 3 2>&1)" \
  'not armed: uprobe:catches\+0x1 at .* is left out'

# arguments behind those in registers, and what is in none of them
if [ "$(uname -m)" = x86_64 ]; then
  measured 'uprobe:./exits:many(a:s32,c:s32,d,e,f,g,h:s16,i)'
  holds "arguments are found on the stack" out.json \
    "[probe('uprobe:many')['args'][n]['max'] for n in 'acdefghi'] == [299, 3, 4, 5, 6, 7, -8, 9000000000]"
  for command in "stat" "trace" "record -o out.dat" "add" "script" "why"; do
    # shellcheck disable=SC2086 # words
    said=$("$NOPWATCH" $command 'uprobe:./exits:many(a:s32,b:f64,c:s32)' 2>&1)
    has "$command: one in a vector register is refused" "$? $said" \
      "^2 nopwatch: 'b' of 'many' cannot be fetched: a floating-point argument is in xmm0 to xmm7, which ftrace cannot read"
    has "$command: with what to do" "$said" 'leave it out: the integers and pointers behind it are found without it'
  done
  said=$("$NOPWATCH" stat 'uretprobe:./exits:many(d:f32)' 2>&1)
  has "so is a result" "$? $said" "^2 nopwatch: 'd' of 'many' cannot be fetched: a floating-point result is in xmm0, "
else
  skip "arguments are found on the stack" "written for x86_64"
fi

# patterns
measured 'func:./exits:*a*s'
holds "a pattern names functions" out.json "span('catches')['count'] == 300 and span('passes')['count'] == 200"
said=$("$NOPWATCH" stat --dry-run 'uprobe:libc.so.6:*' 2>&1)
has "too many want --force" "$? $said" "^2 nopwatch: 'uprobe:libc.so.6:\*' names [0-9]+ functions of "
has "and that is said" "$said" 'or add --force'
has "a library's bare name is no linker script" "$("$NOPWATCH" stat --dry-run uprobe:libc:malloc 2>&1)" 'libc\.so\.6:0x'
has "a version may be given" "$("$NOPWATCH" stat --dry-run "uprobe:libc:$(nm -D "$(ldd exits | awk '/libc.so/ { print $3 }')" | awk '$3 ~ /^malloc@@/ { print $3 }')" 2>&1)" 'libc\.so\.6:0x'
has "one that is not there is not found" "$("$NOPWATCH" stat --dry-run uprobe:libc:malloc@NO_1 2>&1)" "there is no function 'malloc@NO_1'"

# code that the compiler has put elsewhere, in a stripped file
strip -x exits
if grep -qa 'libdw\.so' "$NOPWATCH"; then # linked, or the name that is opened
  hasnt "no symbol tells the parts of functions" "$(nm exits)" ' t '
  measured func:./exits:colder func:./exits:ends_local func:./exits:catches
  holds "a part that only .eh_frame tells is the function's, with its returns" out.json \
    "[span('colder')[k] for k in ('count', 'unmatched_starts', 'unmatched_ends')] == [300, 0, 0]"
  holds "what catches an exception has such a part, too" out.json "span('catches')['count'] == 300"
  holds "and a function that only .eh_frame tells is another" out.json \
    "[span('ends_local')[k] for k in ('count', 'unmatched_starts', 'unmatched_ends')] == [300, 0, 0]"
  has "which a jump leads to" "$("$NOPWATCH" stat 'uretprobe:./exits:ends_local(r:s32)' -- ./exits 2>&1)" 'left by a jump into another one'
else
  skip "functions whose parts only .eh_frame tells" "built without libdw"
fi

# C is as before, but on demand
cp "$PROGRAMS/target" target
has "C has return probes" "$("$NOPWATCH" stat --dry-run func:./target:work 2>&1)" "'r:.*/target:"
hasnt "on demand it has not" "$("$NOPWATCH" stat --dry-run func:./target:work,returns=insn 2>&1)" "'r:.*/target:"

unchanged
finish
