# What is typed by who knows another tool, or mistypes: every row of tests/data/hints.tsv is answered word for word.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
table=$(dirname "$TESTS_LIB")/data/hints.tsv

nopwatch() { "$NOPWATCH" "$@"; }

while IFS=$'\t' read -r words status wanted; do
  [ "${words#\#}" = "$words" ] || continue
  # the words are typed in a shell, which takes quotes away and writes to files
  said=$(eval "nopwatch $words" 2>&1 >/dev/null </dev/null)
  is "$words: exit status" $? "$status"
  said=$(sed 's/^nopwatch: //; s|/[^ ]*/libc\.so\.6|LIBC|' <<<"${said//"$SERVER"/SERVER}")
  is "$words" "$said" "${wanted//\\n/$'\n'}"
done <"$table"
is "a condition without quotes left a file, of which its hint tells" "$(ls)" 2ms
is "a directory that is no tracefs is called so" "$(NOPWATCH_TRACEFS=/tmp "$NOPWATCH" status 2>&1 | head -n 1)" \
  "nopwatch: NOPWATCH_TRACEFS: /tmp is not a tracefs"
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-sys_ptrace,-perfmon,-sys_admin,-chown true 2>/dev/null; then
  is "root without the right to look at processes is told so" \
    "$(setpriv --bounding-set=-sys_ptrace,-perfmon,-sys_admin,-chown "$NOPWATCH" list -p $$ 2>&1 | tail -n 1)" \
    "nopwatch: you are root, but without CAP_SYS_PTRACE here: a container, a user namespace or a security module forbids it"
else
  skip "root without the right to look at processes is told so" "not root, or no setpriv"
fi
# a file's name that promises another format
sample=$(dirname "$TESTS_LIB")/demo/sample.dat
is "a page that is none is told" "$("$NOPWATCH" report -o x.html "$sample" 2>&1)" "nopwatch: x.html gets text: for html, add -f html"
is "but not where that is asked for" "$("$NOPWATCH" report -f html -o x.html "$sample" 2>&1)" ""
is "nor with -q" "$("$NOPWATCH" report -q -o x.csv "$sample" 2>&1)" ""
# --dry-run refuses what the run refuses, in the same words
mkdir refused && cd refused || exit 1
while read -r command words; do
  eval "set -- $words"
  really=$("$NOPWATCH" "$command" "$@" "usdt:$SERVER:myserver:parse__start" -- true 2>&1)
  is "$command $words: refused" $? 2
  is "$command --dry-run $words: in the same words" "$("$NOPWATCH" "$command" --dry-run "$@" "usdt:$SERVER:myserver:parse__start" -- true 2>&1)" "$really"
done <<'E'
stat --filter 'nokey > 5'
stat --filter 'comm > 5'
stat --filter 'tid >'
trace --filter 'nokey == 5'
top --filter 'nokey == 5'
stat --net
stat --open
stat --slowest 3
stat --spans-only
stat --slower 5ms
trace --slower 5ms
stat --span parse__start..nothing
stat --by nokey
top --by nokey
stat --hist nokey
stat --stack=nothing
record --until 'nothing > 5ms'
record --until 'nothing > 5ms' -o /dev/null
E
for command in stat trace record; do
  is "$command --dry-run: a file that cannot be written" "$("$NOPWATCH" "$command" --dry-run -o none/file "usdt:$SERVER:myserver:parse__start" 2>&1)" \
    "nopwatch: cannot write 'none/file': No such file or directory"
done
NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat --dry-run -o file "usdt:$SERVER:myserver:parse__start" >out 2>&1
is "--dry-run: a file that could be written is not" "$? $(ls)" "0 out"
cd .. || exit 1
has "the version comes with those of the libraries" "$("$NOPWATCH" --version)" '^linked libraries: libelf [0-9.]+, libtracefs [0-9.]+, libtraceevent [0-9.]+(, .*[0-9])?$'
has "and with the compiler's" "$("$NOPWATCH" --version | tail -n 1)" '^built by (gcc|.*[Cc]lang) .* for .+-.+$'
is "version is a word, too" "$("$NOPWATCH" version)" "$("$NOPWATCH" --version)"
finish
