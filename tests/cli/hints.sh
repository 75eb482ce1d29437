# What is typed by who knows another tool, or mistypes: the second line says what to type, word for word.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

# hints HINT WORD...: exits with 2, or 1 for what is not there, and the second line on stderr is so
hints() {
  local hint=$1 said
  shift
  said=$("$NOPWATCH" "$@" 2>&1 >/dev/null </dev/null)
  case $? in
  1 | 2) is "$*" "$(sed -n 2p <<<"$said")" "nopwatch: $hint" ;;
  *) fail "$* is no error" ;;
  esac
}

while IFS='|' read -r words hint; do
  # shellcheck disable=SC2086 # words are what is wanted
  hints "$hint" $words
done <<'TABLE'
stats|did you mean stat, status?
lst|did you mean list?
frobnicate|`nopwatch help` lists the commands
-p 1 stat|options follow the command: nopwatch stat -p ...
stat --filer x a:b|did you mean --filter?
stat -e a:b|name probes without an option: nopwatch stat SPEC...
stat -c ls a:b|put the command at the end: -- CMD
stat -g a:b|use --stack to see who called
stat -l|`nopwatch list FILE` lists the probes of a file
stat -I 5 a:b|use -i TIME to report every so often
stat -k 1 a:b|nopwatch uses the kernel's monotonic clock; use -T to see the time of day
stat -F 99 a:b|nopwatch does not sample, it counts every hit; use --max-rate to limit them
stat malloc|to time a function, write func:FILE:malloc (func:libc.so.6:malloc); a probe needs -p PID, -x FILE or -- CMD
stat -d 1 ls|put a command at the end: -- ls
stat --stack malloc|to see the stacks of only these probes, write --stack=malloc before the probes
stat u:libc.so.6:malloc|write uprobe:libc.so.6:malloc
stat ur:libc.so.6:malloc|write uretprobe:libc.so.6:malloc
stat uprobes:libc.so.6:malloc|write uprobe:libc.so.6:malloc
stat t:sched:sched_switch|write tracepoint:sched:sched_switch
stat kfunc:vfs_read|write usdt:PATH:PROVIDER:NAME, PROVIDER:NAME (with -p, -x or -- CMD), uprobe:PATH:SYMBOL, uretprobe:PATH:SYMBOL, func:PATH:SYMBOL or tracepoint:SYSTEM:EVENT
stat a:b(sql:str)|unknown type 'str' of 'sql': did you mean string?
stat a:b(sql:char*)|unknown type 'char*' of 'sql': did you mean string?
stat a:b(n:int)|unknown type 'int' of 'n': did you mean s32?
stat a:b(n:sting)|unknown type 'sting' of 'n': did you mean string?
stat --slower 50 a:b|write --slower 50ms, or 50s
stat -f folded a:b|add --stack
record --until request a:b|quote the condition: --until 'request > 50ms' (without quotes a shell writes to a file called 50ms)
report|`nopwatch record -o FILE SPEC...` makes a recording
why -- perf probe|what is understood: perf probe -x FILE [-a] '[GROUP:][EVENT=]FUNCTION[+OFFSET|%return]'
TABLE
has "=> is >=" "$("$NOPWATCH" stat --filter 'size => 5' a:b 2>&1)" "'=>' compares nothing, '>=' does at column 6"
has "arguments have no units" "$("$NOPWATCH" stat --filter 'size > 10ms' a:b 2>&1)" \
  "a number is wanted, without a unit: arguments have none \\(--slower 10ms is for lengths of spans\\)"
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
is "version is a word, too" "$("$NOPWATCH" version)" "$("$NOPWATCH" --version)"
finish
