# Arguments of Go functions by the names and types of their source (DWARF), beside what the program prints of each call.
programs=$(cd "$(dirname "$0")/../programs" && pwd)
. "$(dirname "$0")/../lib/kernel.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "how Go passes arguments is not known for this architecture" ;;
esac
grep -qa 'libdw\.so' "$NOPWATCH" || skip_all "built without libdw"
need go || skip_all "no Go"
cp "$programs/arguments.go" work.go
GOCACHE=$PWD/cache GOPATH=$PWD/path GO111MODULE=off go build -o work work.go || skip_all "go build fails"

main=func:$PWD/work:main
specs=("$main.Text(name,n,other)" "$main.Slices(list.len,yes,small,text.len)" "$main.Pointers(r.ID,r.Name,r.Path[1].Y,r.Next.Name,r.Next.ID,k)"
  "$main.Values(p.X,p.Y,k)" "$main.Large(z)" "$main.(*Request).Method(r.ID,a,b,d)" "$main.Many(a,i)" "$main.Grows(name,n)")
cat >agree.py <<'P'
"""What the program said of each call is what was traced of it, in the same order; nothing else, but calls that begin again."""
import json, sys
said = [json.loads(line) for line in open("said")]
traced = [row for row in map(json.loads, open(sys.argv[1])) if row["type"] == "event" and row["probe"].startswith("uprobe:")]
compared = at = 0
last = None
for row in traced:
    name = row["probe"].removeprefix("uprobe:main.")
    args = {k: v for k, v in row["args"].items() if not (k.endswith(".len") and k[:-4] in row["args"])}
    if last and name == "Grows" and (name, args) == last:
        continue
    want = said[at]
    if (name, args) != (want["function"], want["args"]):
        sys.exit(f"call {at}: {name} {args}, and the program says {want}")
    lengths = {k: v for k, v in row["args"].items() if k not in args}
    if any(v != len(args[k[:-4]].encode()) for k, v in lengths.items()):
        sys.exit(f"call {at}: {lengths}, {args}")
    if row.get("cut") or row.get("fault"):
        sys.exit(f"call {at}: {row}")
    at, compared, last = at + 1, compared + len(args), (name, args)
if at != len(said):
    sys.exit(f"{at} of {len(said)} calls")
print(compared)
P
"$NOPWATCH" trace -j -b 16M "${specs[@]}" -o out.json -- ./work >said 2>err
is "every argument of every call is what the program says" "$(python3 agree.py out.json 2>&1)" 600
"$NOPWATCH" record -q -b 16M -o work.dat "${specs[@]}" -- ./work >said
"$NOPWATCH" trace -j --from work.dat >recorded.json
is "a recording has them, too" "$(python3 agree.py recorded.json 2>&1)" 600
"$NOPWATCH" stat -j "$main.Text(name,n)" --by name --hist n -o by.json -- ./work >/dev/null
holds "groups by text" by.json \
  "{r['group'] for r in of('probe') if r['probe'] == 'uprobe:main.Text'} == {'', 'a', 'nine char', '0123456789' * 20, 'gr\u00fcn \u4e16', 'with \"quotes\"\n'} and {r['hits'] for r in of('probe') if r['probe'] == 'uprobe:main.Text'} == {4}"
"$NOPWATCH" stat -j "$main.Text(name,n)" --filter 'name == "nine char"' -o by.json -- ./work >/dev/null
holds "and filters" by.json "probe('uprobe:main.Text')['hits'] == 4"
has "list shows types as Go writes them" "$("$NOPWATCH" list --functions -v ./work main.Slices)" 'list: \[\]int64 +\(no value: it is a structure'
# what is not to be had is said, and is no wrong value
for spec in "Large(r.ID)" "Values(f)" "Many(name)" "Slices(list)"; do
  said=$("$NOPWATCH" stat "$main.$spec" -- ./work 2>&1 >/dev/null)
  has "no value, and why: $spec" "$said" "(has no value|cannot be fetched): .*"
done
# Without optimisation, places on the stack hold arguments only after the function has put them there. With ALL=1 all that the program
# is linked to is built so, too, which takes most of the time and is not probed.
if GOCACHE=$PWD/cache GOPATH=$PWD/path GO111MODULE=off go build -gcflags="${ALL:+all=}-N -l" -o slow work.go; then
  "$NOPWATCH" trace -j -b 16M "${specs[@]/work:/slow:}" -o slow.json -- ./slow >said 2>err
  is "the same without optimisation" "$(python3 agree.py slow.json 2>&1)" 600
fi
unchanged
finish
