# --types and tapsets: names and types that notes do not have.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
export SYSTEMTAP_TAPSET=$PWD/tapset
mkdir -p tapset/sub

cat >counter.d <<'D'
/* what counter.c fires */
#define number long
provider counter {
	probe step__begin(number count, const char *text);
	probe step__end(number, unsigned long square);
};
D
cat >counter.stp <<'S'
probe counter.begin = process("counter").mark("step__begin") {
	which = $arg1
	what = user_string($arg2)
}
S

# names LIST.json PROBE: name:type of each argument
names() {
  j "$1" "' '.join(a.get('name', '') + ':' + a.get('type', '') for r in rows if r['name'] == '$2' for a in r['args'])"
}

"$NOPWATCH" list -j --types counter.d "$PROGRAMS/counter" >d.json
is "a provider file: names and types" "$(names d.json step__begin)" "count:s64 text:string"
is "a provider file: an argument without a name" "$(names d.json step__end)" ":s64 square:u64"
is "a provider file: probes it does not have" "$(names d.json never)" ":"
holds "fetches are of that type" d.json \
  "all(a['fetch'].endswith(':' + a['type']) for r in rows for a in r['args'] if 'type' in a)"
"$NOPWATCH" list -j --types counter.stp "$PROGRAMS/counter" >stp.json
is "a tapset: names and strings" "$(names stp.json step__begin)" "which: what:string"
"$NOPWATCH" list -j --types counter.stp --types counter.d "$PROGRAMS/counter" >both.json
is "several files: the one that names the program comes first" \
  "$(names both.json step__begin), $(names both.json step__end)" "which: what:string, :s64 square:u64"
has "list -v shows them" "$("$NOPWATCH" list -v --types counter.d "$PROGRAMS/counter" step__begin)" \
  '^      arg1 .* \+0\(.*\):string  text$'

"$NOPWATCH" list -j "$PROGRAMS/counter" >none.json
is "no tapset: no names" "$(names none.json step__begin)" ": :"
cp counter.stp tapset/sub/
echo 'probe {{{' >tapset/broken.stp
"$NOPWATCH" list -j "$PROGRAMS/counter" >found.json 2>err
is "an installed tapset is found; a broken one says nothing" "$(names found.json step__begin)$(cat err)" \
  "which: what:string"
cp "$PROGRAMS/counter" another
"$NOPWATCH" list -j another >other.json
is "but only for the program it names" "$(names other.json step__begin)" ": :"
is "SYSTEMTAP_TAPSET= : none" "$(SYSTEMTAP_TAPSET='' "$NOPWATCH" list -j "$PROGRAMS/counter" >x.json && names x.json step__begin)" ": :"

printf 'provider counter {\n  probe step__begin(int\n}\n' >wrong.d
for command in "list $PROGRAMS/counter" "trace -x $PROGRAMS/counter counter:never" "stat -x $PROGRAMS/counter counter:never" \
  "record -x $PROGRAMS/counter counter:never"; do
  # shellcheck disable=SC2086
  said=$("$NOPWATCH" $command --types wrong.d 2>&1)
  is "${command%% *}: a wrong file is one error with its line" "$? $said" \
    "1 nopwatch: wrong.d:3: expected ',' or ')' behind an argument, but there is '}'"
done
said=$("$NOPWATCH" list --types nowhere.d "$PROGRAMS/counter" 2>&1)
is "a file that is not there" "$? $said" "1 nopwatch: cannot open 'nowhere.d': No such file or directory"
said=$("$NOPWATCH" list --types "$PROGRAMS/counter" "$PROGRAMS/counter" 2>&1)
has "a file that is no text" "$? $said" "^1 nopwatch: $PROGRAMS/counter:1: a byte 0x7f"
finish
