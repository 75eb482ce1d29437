# --main-thread of trace_pipe text: which says of a thread whose it is only with options/record-tgid.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

line() { printf '%16s-%-7d %s[%03d] .... %12s: probe: (0x401000) v=1\n' "$@"; }
{ line app 7 '(      7) ' 0 1.000001; line app 8 '(      7) ' 1 1.000002; line app 8 '(      7) ' 1 1.000003; line app 9 '(      9) ' 1 1.000004; } >with
{ line app 7 '' 0 1.000001; line app 8 '' 1 1.000002; } >without
hits() { "$NOPWATCH" stat -j "$@" 2>err | sed -n 's/.*"hits":\([0-9]*\).*/\1/p'; }
is "all threads" "$(hits --from with)" 4
is "the main threads" "$(hits --main-thread --from with)" 2
is "without a word" "$(cat err)" ""
is "text that does not say whose a thread is" "$(hits --main-thread --from without)" 0
has "says so" "$(cat err)" '^nopwatch: --main-thread: 2 threads are left out, since without does not tell their processes \(text does where options/record-tgid is 1\)$'
finish
