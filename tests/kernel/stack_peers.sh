# --stack beside those who do the same: perf's call graphs of the same hits, a flame graph script that reads folded lines.
# in turn: perf defines events
. "$(dirname "$0")/../lib/kernel.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "callers are found on x86-64 and arm64" ;;
esac
source=$TESTS_LIB/../programs/chain.cc
g++ -O2 -g -fomit-frame-pointer "$source" -o plain
g++ -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls "$source" -o pointers

# ---- perf record --call-graph ----------------------------------------------------------------
cat >alike.py <<'PY'
"""alike.py OURS PERFS HITS BACK: of each of HITS hits, function and place in it are the same in nopwatch's JSON and in what
perf script prints, up to main(): further up perf loses its way in the C library now and then. BACK: what it takes off
return addresses."""
import json, re, sys
ours, perfs, hits, back = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def plain(name, offset, first):
    # perf has no arguments, and the versions of symbols
    return re.sub(r"^(int )?([^(@]*).*", r"\2", name), offset + (0 if first else back)

def upto(stack):
    return stack[:[name for name, _ in stack].index("main") + 1]

perf = []
for block in open(perfs).read().strip().split("\n\n"):
    frames = [re.match(r"\s+[0-9a-f]+ (.*)\+0x([0-9a-f]+)$", line).groups() for line in block.split("\n")[1:]]
    perf.append(upto([plain(name, int(offset, 16), i == 0) for i, (name, offset) in enumerate(frames)]))
mine = []
for row in map(json.loads, open(ours)):
    if row["type"] == "event":
        frames = [re.match(r"(.*)\+0x([0-9a-f]+) \(", text) for text in row["stack"] if " (inlined, " not in text]
        mine.append(upto([(re.sub(r"^(int )?([^(@]*).*", r"\2", f.group(1)), int(f.group(2), 16)) for f in frames]))
assert len(mine) == len(perf) == hits, (len(mine), len(perf))
assert mine == perf, (mine[0], perf[0])
print(len(mine[0]), "functions")
PY
# beside PROGRAM GRAPH BACK: nopwatch runs the program, perf records all that nopwatch runs.
beside() {
  perf record -q -e "probe_$1:nw_$1" --call-graph "$2" -o perf.data -- \
    "$NOPWATCH" trace -j --stack --stack-size 16K "uprobe:$PWD/$1:leaf" -- "./$1" 12 3 >ours.json 2>err
  perf script -i perf.data --no-inline -F comm,ip,sym,symoff >perfs.txt 2>>err
  ok "the same as perf's --call-graph $2 of the same hits, $1" python3 alike.py ours.json perfs.txt 3 "$3"
}
if ! need perf; then
  skip "beside perf" "perf is not installed"
elif ! perf probe -q -x ./plain -a nw_plain=leaf 2>err || ! perf probe -q -x ./pointers -a nw_pointers=leaf 2>>err; then
  skip "beside perf" "perf probe cannot: $(head -n 1 err)"
else
  beside plain dwarf,16384 1
  beside pointers dwarf,16384 1
  beside pointers fp 0
fi
for event in nw_plain nw_pointers; do need perf && perf probe -q -d "$event" 2>err; done

# ---- flame graphs ------------------------------------------------------------------------------
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl # Brendan Gregg's, in Debian's libdevel-nytprof-perl
if [ -f "$flamegraph" ]; then
  "$NOPWATCH" stat -f folded --stack --stack-size 16K "uprobe:$PWD/plain:leaf" -- ./plain 2 7 >folded
  perl "$flamegraph" folded >flame.svg 2>err
  is "a flame graph script has nothing to complain of" "$? $(cat err)" "0 "
  has "and draws what was called" "$(cat flame.svg)" '<title>leaf \(7 samples, 100\.00%\)</title>'
  has "templates, too, whose brackets it makes round" "$(cat flame.svg)" \
    '<title>int top\(int\)\(int, unsigned int, long\) \(7 samples, 100\.00%\)</title>'
  is "each function once, and once for all" "$(grep -c '<title>' flame.svg)" "$(($(tr ';' '\n' <folded | wc -l) + 1))"
else
  skip "a flame graph script" "libdevel-nytprof-perl is not installed"
fi

unchanged
