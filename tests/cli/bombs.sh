# Small files that want to cost much (tests/lib/bombs): every command ends, within 256 MiB of memory
# and 20 seconds of processor time, where they take a few, with an answer or with one clear error.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
"$TESTS_LIB/bombs" . "$TESTS_LIB/../demo/sample.dat" || exit 1
memory=262144
! sanitized || memory=unlimited

# ends STATUS PATTERN WORD...: exits so, and says something like that first
ends() {
  local status=$1 pattern=$2 got said
  shift 2
  said=$(ulimit -v $memory -t 20; "$NOPWATCH" "$@" 2>&1 >out)
  got=$?
  if [ $got = "$status" ] && grep -Eq -- "$pattern" <<<"$(head -n 1 <<<"$said")"; then
    pass "$*"
  else
    fail "$*"
    comment "status $got, wanted $status and $pattern"
    comment "$(head -c 1000 <<<"$said")"
  fi
}

larger='there is no function .* its symbol tables are larger than itself'
ends 1 "$larger" stat --dry-run uprobe:./overlap:none
ends 1 "$larger" stat --dry-run uprobe:./names:none
ends 0 '' list -v ./names
ends 0 '' list -v ./namesakes
ends 1 'has more than 16384 probes' stat --dry-run 'usdt:./namesakes:*'
[ -z "${ALL:-}" ] || ends 0 '' list -v ./got
ends 1 'has more than 1024 segments' list ./segments
ends 1 'no USDT notes' list ./builds
ends 0 '' list -v ./packed
ends 1 'no USDT notes|no file' stat --dry-run 'a:b' -- ./needed
for file in children backwards siblings overlap names needed; do
  ends 3 '' why "uprobe:./$file:main"
done

ends 1 "'?events.txt'?: line [0-9]+ of the recording's table of probes is one too many" stat --from events.txt
ends 1 "one too many" stat --from probes.txt
ends 1 "one too many" stat --from images.txt
for file in sources comments quotes lines losses jump end wild; do
  ends 0 '' stat -q -i 1 --from $file.txt
  is "$file.txt: a report is short" "$(($(wc -c <out) < 4096))" 1
  ends 0 '' trace -q --from $file.txt
done
for file in rows maps; do
  ends 1 "cannot read what the kernel has counted" report counted_$file.txt
done
ends 0 '' report -q counted_tasks.txt
ends 1 'counted_spans.txt: its header is damaged' report counted_spans.txt
for file in runs cpus formats count; do
  ends 1 "$file.dat: the recording is damaged or cut off" report $file.dat
done

# time that jumps
"$NOPWATCH" stat -q -i 1 --from jump.txt >out
has "what is empty is one line" "$(cat out)" '^--- reports 2 to 999999999[0-9]: nothing happened ---$'
is "and no more" "$(grep -c 'nothing happened' out)" 1
"$NOPWATCH" stat -q -j -i 1 --from jump.txt >out
holds "JSON says so" out "[(q['interval'], q['last'] > 9999999990) for q in of('quiet')] == [(2, True)]"
"$NOPWATCH" stat -q -f csv -i 1 --from jump.txt >out
is "CSV has a row" "$(grep -c '^quiet,,,2,9' out) $(awk -F, '{ print NF }' out | sort -u | wc -l)" "1 1"
"$NOPWATCH" stat -q -i 1 -n 5 --from jump.txt >out
has "-n counts them" "$(cat out)" '^--- reports 2 to 5: nothing happened ---$'

# a program that maps one file 60,000 times
cp "$SERVER" mapped
python3 - >ready <<'PYTHON' &
import mmap, os, time
fd, kept = os.open("mapped", os.O_RDWR), []
try:
    while len(kept) < 60000:
        kept.append(mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
except OSError:
    pass # vm.max_map_count
print(len(kept), flush=True)
time.sleep(300)
PYTHON
mapper=$!
for _ in $(seq 600); do [ -s ready ] && break || sleep 0.1; done
ends 0 '' list -p $mapper
is "it is found once" "$(grep -c 'myserver:parse__start' out)" 1
ends 0 '' stat --dry-run -p $mapper myserver:parse__start
kill $mapper
finish
