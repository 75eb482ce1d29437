# Files that others control: what leads elsewhere, never ends, or becomes shorter; and files that are
# replaced, also on a full disk.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat

# ---- what is written ----
"$NOPWATCH" report -f openmetrics "$sample" -o x.prom
is "a report in a file" "$? $(ls -A)" "0 x.prom"
chmod 604 x.prom
ln -s precious x.prom.new
echo precious >precious
"$NOPWATCH" report -f openmetrics "$sample" -o x.prom
is "no name is taken that somebody could know" "$? $(cat precious) $(ls -A | tr '\n' ' ')" "0 precious precious x.prom x.prom.new "
is "its mode stays" "$(stat -c %a x.prom)" 604
ln -s x.prom ours
"$NOPWATCH" report -f openmetrics "$sample" -o ours
is "our own link is followed" "$? $(readlink ours)" "0 x.prom"
"$NOPWATCH" report -f openmetrics "$sample" -o /dev/stdout >piped
is "/dev/stdout is where it is, and stays" "$? $(tail -n 1 piped) $(test -L /dev/stdout && echo link)" "0 # EOF link"
if [ "$(id -u)" = 0 ]; then
  ln -s precious theirs
  chown -h 65534 theirs
  for form in openmetrics text; do
    said=$("$NOPWATCH" report -f $form "$sample" -o theirs 2>&1)
    has "a link of somebody else's is not, $form" "$? $said $(cat precious)" \
      "^1 nopwatch: cannot write 'theirs': it is a link that belongs to another user"
    is "and what it leads to stays, $form" "$(cat precious)" precious
  done
else
  skip "a link of somebody else's" "needs root"
fi

# ---- a disk that is full ----
# full WHAT FILE COMMAND...: a limit on the size of files is a disk that is full
full() {
  local what=$1 file=$2 before said status
  shift 2
  before=$(md5sum "$file" 2>&1)
  said=$(ulimit -f 1; "$NOPWATCH" "$@" 2>&1 >/dev/null)
  status=$?
  is "$what" "$status $said" "1 nopwatch: cannot write '$file': File too large"
  is "$what: the file is as it was" "$(md5sum "$file" 2>&1)" "$before"
}
full "openmetrics" x.prom report -f openmetrics "$sample" -o x.prom
is "nothing is left beside it" "$(ls -A | tr '\n' ' ' | sed 's/theirs //')" "ours piped precious x.prom x.prom.new "
truncate -s 0 trace.out
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "  app-7 [000] ..... %d.5: hit: (0x1) n=%d\n", 5 + i, i }' >long.txt
said=$(ulimit -f 1; "$NOPWATCH" trace --from long.txt -o trace.out 2>&1)
is "trace, in the middle" "$? $said" "1 nopwatch: cannot write 'trace.out': File too large"
rm -f trace.out long.txt
for command in "list -j $SERVER" "list -v $SERVER" "list -j $(dirname "$SERVER")" "report -j $sample" --version --help "help stat" \
  "why usdt:$SERVER:myserver:none" "script usdt:$SERVER:myserver:parse__start"; do
  # shellcheck disable=SC2086 # words
  said=$("$NOPWATCH" $command 2>&1 >/dev/full)
  is "$command on a full disk" "$? $said" "1 nopwatch: cannot write the output: No space left on device"
done
for command in "trace --from $sample" "report $sample" "list $SERVER"; do
  [ "$command" = "list $SERVER" ] && set -- || set -- -o /dev/full
  # shellcheck disable=SC2086 # words
  said=$("$NOPWATCH" $command "$@" 2>&1 >/dev/full)
  has "${command%% *} on a full disk" "$? $said" "^1 nopwatch: cannot write .*: No space left on device$"
done

# ---- what is read ----
mkfifo fifo
for file in fifo /dev/zero; do
  said=$("$NOPWATCH" list "$file" 2>&1)
  has "list $file" "$? $said" "'$file' is not a regular file"
done
said=$("$NOPWATCH" report /dev/zero 2>&1)
is "a device is no recording" "$? $said" "1 nopwatch: cannot read '/dev/zero': it is neither a file nor a pipe"
cat "$sample" >fifo &
"$NOPWATCH" report fifo >out
is "a pipe with a name is read" "$? $(grep -c parse out)" "0 $("$NOPWATCH" report "$sample" | grep -c parse)"
wait

truncate -s 1T hollow.dat
said=$("$NOPWATCH" report hollow.dat 2>&1)
has "a file that is a hole is not read" "$? $said" "^1 nopwatch: 'hollow.dat' is said to have 1099511627776 bytes, and nearly all"
cp "$SERVER" hollow
truncate -s 1T hollow
said=$("$NOPWATCH" script usdt:./hollow:myserver:parse__start 2>&1 >/dev/null)
has "nor by script" "$? $said" "^1 nopwatch: './hollow' is said to have"

# A file that becomes shorter while it is read: the reader of the output holds nopwatch up.
shrinks() {
  awk 'BEGIN { for (i = 0; i < 100000; i++) printf "  app-7 [000] ..... %d.%06d: hit: (0x1) n=%d\n", 5 + i / 1000, i % 1000 * 1000, i }' >long.txt
  chmod "$1" long.txt
  mkfifo "out.$1"
  "$NOPWATCH" trace --from long.txt >"out.$1" 2>"err.$1" &
  {
    read -r _
    : >long.txt
    cat >"rest.$1"
  } <"out.$1"
  wait $!
}
shrinks 644
is "a file that becomes shorter" "$? $(cat err.644)" "1 nopwatch: 'long.txt' became shorter while it was read"
shrinks 666
is "one that others can write has been copied" "$? $(cat err.666) $(wc -l <rest.666)" "0  99999"

# ---- who may read it ----
umask 022
for form in text json csv html folded openmetrics; do
  "$NOPWATCH" report -q -f $form "$sample" -o "mode.$form" 2>/dev/null
  "$NOPWATCH" trace -q -f $form --from "$sample" -o "trace.$form" 2>/dev/null
done
"$NOPWATCH" trace -f perfetto --from "$sample" -o trace.perfetto
is "what was measured is its owner's" "$(stat -c %a mode.text mode.json mode.csv mode.html trace.text trace.json trace.perfetto | sort -u)" 600
is "metrics are for a collector" "$(stat -c %a mode.openmetrics)" 644
mkdir -m 1777 shared
echo old >shared/ours
ln shared/ours shared/linked
"$NOPWATCH" report "$sample" -o shared/linked
is "where others can write, what is there is not written to" "$? $(cat shared/ours) $(stat -c %a shared/linked)" "0 old 600"
if [ "$(id -u)" = 0 ]; then
  touch shared/theirs
  chown 65534 shared/theirs
  for form in text json openmetrics html; do
    said=$("$NOPWATCH" report -f $form "$sample" -o shared/theirs 2>&1)
    is "nor is what somebody else has put there, $form" "$? $said" "1 nopwatch: cannot write 'shared/theirs': it belongs to another user, and others can write to its directory
nopwatch: remove it, or name another file"
  done
else
  skip "nor is what somebody else has put there" "not root"
fi
"$NOPWATCH" report "$sample" -o >(cat >substituted)
is "a pipe of the shell's" $? 0
for ((i = 0; i < 600; i++)); do grep -q parse substituted && break || sleep 0.1; done
has "is written to" "$(cat substituted)" parse

# ---- signals before there is anything to end ----
mkfifo early
# blocks SIGNALS PID: these bits of SigBlk
blocks() { (($((16#$(sed -n 's/^SigBlk:[^0-9a-f]*//p' "/proc/$2/status"))) & $1)); }
"$NOPWATCH" report early >early.out 2>&1 &
early=$!
for ((i = 0; i < 300; i++)); do blocks 0x200 $early && break || sleep 0.01; done
kill -USR1 $early
cat "$sample" >early &
feeder=$!
wait $early
is "SIGUSR1 ends no run that has not begun" "$? $(grep -c parse early.out)" "0 $("$NOPWATCH" report "$sample" | grep -c parse)"
kill $feeder 2>/dev/null
wait
finish
