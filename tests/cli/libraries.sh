# Libraries: those that every run needs are linked; the others are opened when they are needed, and may be missing.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

needed=$(readelf -dW "$NOPWATCH" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p')
[ -n "$needed" ] || skip_all "a static program"
for library in libelf libtracefs libtraceevent; do
  ok "$library is linked" grep -qx "$library" <<<"$needed"
done

mkdir broken
for library in libdw liblzma; do
  late=$(strings -a "$NOPWATCH" | grep -oxE "$library\.so\.[0-9]+")
  if [ -z "$late" ]; then
    skip "$library is not linked" "built without it, or it is linked"
    continue
  fi
  is "$library is not linked" "$(grep -c "$library" <<<"$needed")" 0
  echo none >"broken/$late"
done
is "without them, all else goes on" \
  "$(LD_LIBRARY_PATH=$PWD/broken "$NOPWATCH" script "usdt:$SERVER:myserver:*" 2>&1 | grep -c '^# Made by nopwatch')" 1
is "and functions are found" \
  "$(LD_LIBRARY_PATH=$PWD/broken "$NOPWATCH" script "func:$SERVER:main" 2>&1 | grep -c '^# Made by nopwatch')" 1

ask=func:$SERVER:main,returns=insn
said=$("$NOPWATCH" script "$ask" 2>&1)
if grep -q 'without a disassembler' <<<"$said"; then
  skip "the disassembler's library" "built without capstone"
  finish
  exit
fi
is "the disassembler is there when it is needed" "$("$NOPWATCH" script "$ask" 2>&1 | grep -c '^# Made by nopwatch')" 1
soname=$(strings -a "$NOPWATCH" | grep -oxE 'libcapstone\.so\.[0-9]+')
if [ -z "$soname" ]; then
  skip "the disassembler's library is missing" "it is linked"
  finish
  exit
fi
is "and is not linked" "$(grep -c capstone <<<"$needed")" 0

# A file of that name that is none stands before it.
echo none >"broken/$soname"
export LD_LIBRARY_PATH=$PWD/broken
said=$("$NOPWATCH" script "$ask" 2>&1)
is "without it, what needs it is refused" $? 1
has "and it is said what is missing" "$said" \
  "the return instructions of 'main' cannot be told: the disassembler's library \($soname\) is missing or cannot be opened"
is "all else goes on" "$("$NOPWATCH" script "usdt:$SERVER:myserver:*" 2>&1 | grep -c '^# Made by nopwatch')" 1
is "a function is measured by its return probe" "$("$NOPWATCH" script "func:$SERVER:main" 2>&1 | grep -c "^# Made by nopwatch")" 1
finish
