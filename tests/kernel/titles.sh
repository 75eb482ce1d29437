# --by title and 'title(REGEX)': titles that a program rewrites, as PostgreSQL does, are followed as they change, live and
# in a recording. What the program writes there is hostile.
. "$(dirname "$0")/../lib/kernel.sh"

need perl || skip_all "perl is not installed"
cat >workers.pl <<'P'
$0 = "workers";
my @titles = ("worker: alice db1 idle", "worker: bob db2 busy", "worker: alice db2 idle", "bad \x1b[31m\x1f,?\n\"", "long " . "x" x 3000);
for my $i (0 .. $#titles) {
  $0 = $titles[$i];
  select(undef, undef, undef, 0.05);
  getppid() for 1 .. 10 + $i;
  select(undef, undef, undef, 0.2);
}
P
# perl may only write over its arguments and environment
workers=(env "ROOM=$(printf 'r%.0s' {1..4000})" perl workers.pl)
spec=func:libc.so.6:getppid
counts='{(s["group"][:30]): s["count"] for s in of("span")}'
titles="{'worker: alice db1 idle': 10, 'worker: bob db2 busy': 11, 'worker: alice db2 idle': 12, 'bad \\x1b[31m?,?\\n\"': 13, 'long ' + 'x' * 25: 14}"
right="$counts == $titles"
# On a busy machine the hits of one title may be read when the program has the next one already: then it is tried again.
tried() { # OUTPUT COMMAND...
  for _ in 1 2 3 4; do
    "${@:2}" && [ "$(j "$1" "$right")" = True ] && return
  done
}

tried out.json "$NOPWATCH" stat -j --by title -o out.json "$spec" -- "${workers[@]}" 2>err
holds "each title has the calls that were made under it" out.json "$right"
holds "a long title is cut, and marked" out.json "[len(s['group']) for s in of('span') if s['group'].startswith('long')] == [259] and all(s['group'].endswith('xxx...') for s in of('span') if s['group'].startswith('long'))"
is "and all are known" "$(cat err)" ""
recorded() { "$NOPWATCH" record -q -o titles.dat --by title "$spec" -- "${workers[@]}" && "$NOPWATCH" report -j --by title titles.dat >out.json; }
tried out.json recorded
holds "a recording has them" out.json "$right"

# REGEX: the first group, or all that matches
report() { "$NOPWATCH" report -j --by "$1" titles.dat >out.json; }
report 'title(^worker: ([^ ]+))'
holds "the first group is the key" out.json "{s['group']: s['count'] for s in of('span')} == {'alice': 22, 'bob': 11, '?': 27}"
report 'title(db[0-9])'
holds "without a group all that matches" out.json "{s['group']: s['count'] for s in of('span')} == {'db1': 10, 'db2': 23, '?': 27}"
report 'title((a|b|,)[^,]* (db.)),comm,title(d[b,]),cpu'
holds "commas inside belong to the expression, and other keys stand beside it" out.json \
  "all(len(s['by']) == 4 for s in of('span')) and sum(s['count'] for s in of('span') if s['by']['title(d[b,])'] == 'db') == 33"
report 'tid,title(^worker: ([^ ]+))'
holds "with the thread" out.json "sorted(s['count'] for s in of('span')) == [11, 22, 27] and len({s['by']['tid'] for s in of('span')}) == 1"
for by in 'title(()' 'title(a' 'title()' 'title(a),title(a)' 'title([)'; do
  said=$("$NOPWATCH" report --by "$by" titles.dat 2>&1)
  has "--by '$by' is refused" "$? $said" "^2 nopwatch: --by '"
done

# the formats
hasnt "text shows no control character" "$("$NOPWATCH" report --by title titles.dat)" $'\x1b'
has "text escapes them" "$("$NOPWATCH" report --by title titles.dat)" 'bad \\x1b\[31m\?,\?\\n\\" '
has "CSV" "$("$NOPWATCH" report -f csv --by 'title((alice|bob).*)' titles.dat)" '^span,getppid,alice,,22,'
"$NOPWATCH" report -f openmetrics --by 'title(^(w)),title(^.(o))' titles.dat >out.om
has "metrics: labels that would be the same have another name each" "$(cat out.om)" 'title___w__="w",title____o__="o"\} 33'
ok "and are valid" "$TESTS_LIB/openmetrics" out.om
"$NOPWATCH" report -f html --by title -o out.html titles.dat
has "the page" "$(cat out.html)" 'worker: alice db1 idle'
"$NOPWATCH" report -j --by title --slowest 1 titles.dat >out.json
holds "with --slowest" out.json "$right and len(of('slow')) == 1"
"$NOPWATCH" stat -j --by title --slower 1ns --stack --open -o out.json "$spec" -- "${workers[@]}"
holds "live with --slower, --stack and --open" out.json "sum(s['count'] for s in of('span')) == len(of('slow')) == 60 and len(of('span')) > 1 and len(of('stack')) > 0"

# what is not known
"$NOPWATCH" record -q -o none.dat "$spec" -- perl -e 'getppid()'
said=$("$NOPWATCH" report --by title none.dat 2>&1)
has "a recording without titles says so" "$? $said" "^1 nopwatch: --by 'title': none.dat was recorded without it"
has "and how it is recorded" "$said" "nopwatch record --by 'title'"
said=$(echo ' app-10 [000] 1.000001: a: (0x1) x=1' | "$NOPWATCH" stat --by title --from - 2>&1)
has "text has none" "$? $said" "^1 nopwatch: --by 'title': trace text does not tell it"
said=$("$NOPWATCH" record --by title --until 'getppid > 5s' "$spec" -- true 2>&1)
has "the flight recorder cannot have them" "$? $said" '^2 .*--until'
# a program that ends at once: its hits are read afterwards
"$NOPWATCH" stat -j --by title "$spec" -- perl -e 'getppid() for 1 .. 3' >out.json 2>err
holds "a process that ended at once has the title '?'" out.json "{s['group']: s['count'] for s in of('span')} == {'?': 3}"
has "and a sentence says how many hits that are" "$(cat err)" "the title is not known at 6 hits \('\?'\): their processes had ended before"

# A title may keep an expression busy for hours: it is given up, others are searched, and a signal ends the run.
cat >busy.pl <<'P'
sub calls { select(undef, undef, undef, 0.05); getppid() for 1 .. 10; select(undef, undef, undef, 0.2); }
$0 = "worker"; calls();
$0 = "a" x 100; calls();
$0 = "writer"; calls();
$| = 1; print "ready\n";
for (my $i = 0; $ARGV[0]; $i++) { $0 = ("a" x 100) . $i; getppid(); select(undef, undef, undef, 0.001); }
P
slow='title(^(w[a-z]+)$|(.*)(.*)\2\3z)'
"$NOPWATCH" stat -j --by "$slow" -o out.json "$spec" -- env "ROOM=$(printf 'r%.0s' {1..4000})" perl busy.pl 0 >/dev/null 2>err
# (meanwhile the program may have gone on to the next title, under which its calls are then)
holds "a title that takes too long is given up, others are searched" out.json \
  "(lambda n: n.get('worker') == 10 and n.get('writer', 0) >= 10 and n.get('?', 0) + n['writer'] == 20)({s['group']: s['count'] for s in of('span')})"
has "and a sentence says how many hits that are" "$(cat err)" "the title was not searched at [0-9]+ hits? \('\?'\): the expression took longer than 0\.1 s of processor time for a title"
mkfifo ready
env "ROOM=$(printf 'r%.0s' {1..4000})" perl busy.pl 1 >ready &
busy=$!
read -r <ready
"$NOPWATCH" stat -j --by "$slow" -p $busy -o out.json "$spec" 2>err &
session=$!
has_ended() { ! grep -qs '^State:[^a-zA-Z]*[RSDTt]' "/proc/$1/status"; }
armed_and_hit 3
kill $session
ok "a program that changes its title all the time: a signal ends the run" wait_for has_ended $session
has_ended $session || kill -9 $session
ok "with status 0" wait $session
holds "and a result" out.json "of('end')[0]['reason'] == 'signal'"
kill_jobs

# old kernels tell the same
rm out.json
export NOPWATCH_FEATURES=-multi_site,-buffer_percent,-event_fork
tried out.json "$NOPWATCH" stat -j --by title -o out.json "$spec" -- "${workers[@]}"
unset NOPWATCH_FEATURES
holds "as on an old kernel" out.json "$right"

unchanged
finish
