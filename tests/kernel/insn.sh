# Places within functions: a breakpoint inside an instruction would corrupt the program.
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/leaves" leaves || skip_all "no C++ compiler"
size=$((16#$(nm -S leaves | awk '$4 == "catches" { print $2 }')))

refused=0 armed=0 harmed=0 hit=0
for ((o = 1; o < size; o++)); do
  said=$("$NOPWATCH" stat -j "uprobe:./leaves:catches+$o" -o out.json -- ./leaves 9 2>err)
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

said=$("$NOPWATCH" stat "uprobe:./leaves:catches+$size" -- ./leaves 9 2>&1)
has "behind the end of a function" "$? $said" "left out: no instruction is shown to begin there: it lies outside of 'catches', which has $size bytes \(--force"
offset=$(printf '0x%x' $((16#$(nm leaves | awk '$3 == "catches" { print $1 }') + 1)))
for command in "stat" "trace" "record -o x.dat" "add" "script"; do
  # shellcheck disable=SC2086 # words
  said=$("$NOPWATCH" $command -d 0.1 "uprobe:./leaves:$offset" 2>&1 ||
    "$NOPWATCH" $command "uprobe:./leaves:$offset" 2>&1)
  has "$command refuses an offset inside an instruction" "$said" 'left out: no instruction is shown to begin there'
done
has "--force insists" "$("$NOPWATCH" stat --dry-run --force "uprobe:./leaves:$offset" 2>&1)" "$PWD/leaves:$offset'"
said=$("$NOPWATCH" why "uprobe:./leaves:catches+1" 2>&1)
has "why says the same" "$said" 'no instruction is shown to begin there'

unchanged
finish
