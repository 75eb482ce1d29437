# A probed file is replaced while it is traced: its probes go on in the new one, in the same rows.
. "$(dirname "$0")/../lib/kernel.sh"

# build NAME FLAGS...: another build comes to the path, as packages do it: under another name first
build() {
  local name=$1
  shift
  gcc -O1 "$@" "$TESTS_LIB/../programs/upgrade.c" -o "$name.new" && mv "$name.new" "$name"
}
# begin COMMAND...: on the first build
begin() {
  build prog -DBUILD=1
  "$@" >out 2>err & run=$!
  wait_for armed
}
end() {
  kill -INT $run
  wait $run
  is "... and the run ends well" $? 0
}
# said TEXT [TIMES]
said() {
  [ "$(grep -c -- "$1" err)" -ge "${2:-1}" ]
}
moved='prog was replaced: its [0-9]* probes* [ai][rs]e* armed in the new file, too'
work() { # N: so many spans, twice
  ./prog "$1" </dev/null
}
mkfifo hold
# One event with several sites, as stat has them, or events of their own.
for way in "" "--max-rate 1000000"; do
  # shellcheck disable=SC2086 # words
  begin "$NOPWATCH" stat -j $way 'usdt:./prog:upgrade:*'
  work 5
  ./prog 7 <hold & old=$!
  exec 7>hold
  wait_for hit 34
  build prog -DBUILD=2
  ok "a file that is replaced is noticed ($way)" wait_for said "$moved"
  work 6
  exec 7>&-
  wait $old
  build prog -DBUILD=3
  ok "... and a second time" wait_for said "$moved" 2
  work 8
  end
  holds "hits of all three builds are in one row" out \
    "[probe('upgrade:work__' + name)['hits'] for name in ('start', 'done')] == [10 + 14 + 12 + 16] * 2"
  holds "... so are their spans" out "span('upgrade:work')['count'] == 52 and of('loss')[0]['events'] == 0"
  unchanged
done

# values, calls, lines
begin "$NOPWATCH" trace -j 'usdt:./prog:upgrade:work__start(number)' 'func:./prog:upgrade_work'
work 2
build prog -DBUILD=3
ok "trace goes on, too" wait_for said "$moved"
work 2
end
holds "with arguments from where the new file has them" out \
  "[row['args']['number'] for row in of('event') if 'number' in row.get('args', {})] == [0, 1, 0, 1, 0, 3, 0, 3]"
holds "with calls and their returns" out \
  "[len([1 for row in of('event') if row['probe'].startswith(kind)]) for kind in ('uprobe:', 'uretprobe:')] == [8, 8]"
unchanged

# a file that holds no ELF, one without the probe, one whose argument is another
begin "$NOPWATCH" stat -j -i 60 'usdt:./prog:upgrade:*(number)'
work 3
echo nothing >prog.new && mv prog.new prog
ok "a file that is no program is told" wait_for said 'prog was replaced, and its probes stay in the file that was there before: .*not an ELF file'
build prog -DBUILD=2 -DLESS
ok "a probe that is not there any more is told" wait_for said 'upgrade:work__done is not followed: the new file has no such probe'
ok "... the other one goes on" wait_for said 'prog was replaced: its 1 probe is armed'
work 4
build prog -DBUILD=3 -DOTHER
ok "an argument of another type is told" wait_for said 'upgrade:work__start is not followed: its arguments have other types'
build prog -DBUILD=2
ok "... until it has the same type again" wait_for said 'its 2 probes are armed'
work 5
end
holds "what could be counted was" out \
  "[probe('upgrade:work__' + name)['hits'] for name in ('start', 'done')] == [6 + 8 + 10, 6 + 10]"
unchanged

# In place: the places of the old code are nowhere in the new one. Another file shares the events.
build other -DBUILD=2
begin "$NOPWATCH" stat -j 'usdt:./prog:upgrade:*' 'usdt:./other:upgrade:*'
work 3
./other 2 </dev/null
gcc -O1 -DBUILD=4 "$TESTS_LIB/../programs/upgrade.c" -o next
cat next >prog
ok "a file that is written in place is armed again" wait_for said 'prog was written again: its 2 probes are armed in it again'
ok "... and runs" work 4
./other 5 </dev/null
end
holds "hits before and after are counted" out "probe('./prog:upgrade:work__start')['hits'] == 6 + 8"
holds "... also of the other file" out "probe('./other:upgrade:work__start')['hits'] == 4 + 10"
unchanged

# where the kernel does not raise semaphores, and an event has one site
build prog -DBUILD=1 -DWAITS
NOPWATCH_FEATURES=-ref_ctr,-multi_site "$NOPWATCH" stat -j 'usdt:./prog:upgrade:*' >out 2>err & run=$!
wait_for armed
ok "a program that waits for its semaphore goes on" work 3
build prog -DBUILD=2 -DWAITS
ok "its file is replaced" wait_for said "$moved"
ok "... and the new one goes on, too" work 4
end
holds "... and is counted" out "probe('upgrade:work__start')['hits'] == 6 + 8"
unchanged

# who does not want it
begin "$NOPWATCH" stat -j --no-follow-file 'usdt:./prog:upgrade:*'
work 3
build prog -DBUILD=2
ok "--no-follow-file: a notice" wait_for said 'prog was replaced: programs that start now run the new file, whose probes are not armed'
work 3
end
holds "... and nothing more" out "probe('upgrade:work__start')['hits'] == 6"
begin "$NOPWATCH" record -o rec.dat 'usdt:./prog:upgrade:*'
work 3
build prog -DBUILD=2
ok "record: a notice, too" wait_for said 'prog was replaced: .* record again'
end
unchanged

# killed after it
begin "$NOPWATCH" stat -q -j -x ./prog 'upgrade:*' -o killed
places=$(session_probes 'nopwatch_[^ /]*' | wc -l)
build prog -DBUILD=2
wait_for eval '[ "$(session_probes "nopwatch_[^ /]*" | wc -l)" -gt '"$places"' ]'
wait_for hit 1 "$(session_hits)" & hits=$!
while kill -0 $hits 2>/dev/null; do work 1; done
kill -9 $run
wait $run 2>/dev/null
ok "what a killed run has armed in both files goes" "$NOPWATCH" clean
unchanged
ok "... and the program runs" work 3
finish
