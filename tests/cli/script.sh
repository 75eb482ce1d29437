# script: what it prints, without running it; the file it is made for need not be of this machine.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

spec="usdt:$SERVER:myserver:*"
"$NOPWATCH" script "$spec" >script.sh
is "a script is made" $? 0
ok "the same probes make the same script" cmp script.sh <("$NOPWATCH" script "$spec")
for shell in sh dash "busybox sh" bash; do
  # shellcheck disable=SC2086 # a command and its argument
  if command -v ${shell%% *} >/dev/null; then ok "$shell can read it" $shell -n script.sh; fi
done
if command -v shellcheck >/dev/null; then
  ok "shellcheck has nothing to say" shellcheck script.sh
else
  skip "shellcheck" "it is not here"
fi
is "one event a site" "$(grep -c '^  nw_event ' script.sh)" "$("$NOPWATCH" list -j "$SERVER" | wc -l)"
has "arguments in registers and in memory are fetched" "$(grep cache__evict script.sh)" "'arg0=%[^ ]+ arg1=\\+[0-9]+\\(%ip\\):u32'"
ok "uprobe_events is only appended to" sh -c '! grep -nE "[^>]>[^>]*uprobe_events" script.sh'
hasnt "what was cut off on its way does nothing" "$(head -c -2 script.sh | NOPWATCH_TRACEFS=$PWD sh 2>&1)" nopwatch:

"$NOPWATCH" script -o out.sh -d 1.5 -p 4711 -b 1M "$spec"
has "-d" "$(cat out.sh)" '^nw_seconds=1.500$'
has "-p is a process there" "$(cat out.sh)" "^nw_pids='4711'$"
has "-b" "$(cat out.sh)" '^nw_buffer_kb=1024$'

said=$("$NOPWATCH" script "$spec" tracepoint:sched:sched_switch 2>&1)
has "the kernel's own events are not for it" "$? $said" "^2 nopwatch: 'tracepoint:sched:sched_switch': a script has probes of programs only"

# its header is what --from takes
sed -n '/^#nw /p' script.sh >text
printf '#nw start 5.000000\n#nw end\n' >>text
printf '%16s-%-7d [000] ..... 6.0000%02d: %s: (0x1) arg0=%d arg1=0x%x arg2=-3\n' \
  server 77 01 request__start 5 16 server 77 31 request__done 5 200 >>text
"$NOPWATCH" stat -j --from text >out.json
holds "its header tells the probes" out.json "{p['probe'] for p in of('probe')} >= {'myserver:request__start', 'myserver:cache__evict'}"
holds "and --from reads it" out.json "span('myserver:request')['latency_ns']['sum'] == 30000"
"$NOPWATCH" trace -j --from text >trace.json
holds "values have the types of the notes" trace.json \
  "[e['args'] for e in of('event')][1] == {'arg0': 5, 'arg1': 200, 'arg2': -3}"

# hostile names
dir=$(printf "a'b\"c\$(touch hit)\`touch hit\`\n d")
mkdir "$dir"
cp "$SERVER" "$dir/x"
"$NOPWATCH" script -x "$dir/x" 'myserver:*' >odd.sh
ok "a path with quotes and newlines is quoted" sh -n odd.sh
if command -v shellcheck >/dev/null; then ok "shellcheck agrees" shellcheck -e SC2016 odd.sh; fi
said=$(NOPWATCH_TRACEFS=/nonexistent sh odd.sh 2>&1)
ok "and runs nothing" test ! -e hit
has "no tracefs is said" "$said" "^nopwatch: may not use /nonexistent"

# a place for notes that others could put notes into; root would put back settings that these tell
if [ "$(id -u)" = 0 ]; then
  mkdir -p fake/events ours shared && : >fake/uprobe_events && : >fake/trace && mkdir -m 700 shared/nopwatch-0
  printf 'events 0\nend\n' >shared/nopwatch-0/sh1_4194303_1.top
  for shell in dash "busybox sh" bash; do
    command -v ${shell%% *} >/dev/null || continue
    note() { # DIRECTORY: what a script says that finds a dead one's note there
      # shellcheck disable=SC2086 # a command and its argument
      NOPWATCH_STATE_DIR=$PWD/$1 NOPWATCH_TRACEFS=$PWD/fake timeout 20 $shell script.sh 2>&1
    }
    chmod 777 shared
    has "$shell: a directory in which others can rename is refused" "$(note shared)" "^nopwatch: cannot keep files in '$PWD/shared': other users can rename what is in it"
    chmod 1777 shared
    chown 4711 shared/nopwatch-0
    hasnt "$shell: a note in another user's directory is not believed" "$(note shared)" 'put back|cannot keep'
    chown 0 shared/nopwatch-0
    mv shared/nopwatch-0 ours/notes && ln -s ../ours/notes shared/nopwatch-0
    hasnt "$shell: nor behind a link" "$(note shared)" 'put back|cannot keep'
    rm shared/nopwatch-0 && mv ours/notes shared/nopwatch-0
    cp -p shared/nopwatch-0/*.top kept
    has "$shell: one in root's is" "$(note shared)" '^nopwatch: put back what sh1_4194303_1.top had noted'
    cp -p kept shared/nopwatch-0/sh1_4194303_1.top
  done
else
  skip "notes of others" "needs root"
fi

# another machine's file
copy_sdt
if command -v aarch64-linux-gnu-gcc >/dev/null && [ -f include/sys/sdt.h ]; then
  printf '#include <sys/sdt.h>\nint f(int x) { DTRACE_PROBE1(app, hit, x); return x; }\n' >a.c
  aarch64-linux-gnu-gcc -shared -nostdlib -fPIC -Iinclude -O2 a.c -o a.so 2>why
  "$NOPWATCH" script --remote-path /there/a.so usdt:./a.so:app:hit >arm.sh
  has "a file of another architecture" "$(cat arm.sh)" "nw_event p hit 0 0x[0-9a-f]+ '' 'arg0=%x[0-9]+:s32'"
  has "that lies elsewhere" "$(cat arm.sh)" "nw_file 0 '/there/a.so' "
else
  skip "a file of another architecture" "no aarch64-linux-gnu-gcc, or no sys/sdt.h"
fi

said=$("$NOPWATCH" script 2>&1)
has "no probe" "$? $said" '^2 nopwatch: no probe is named'
said=$("$NOPWATCH" script --remote-path x "$spec" 2>&1)
has "a remote path that means nothing" "$? $said" "^2 nopwatch: --remote-path 'x' matches none of the files"
said=$("$NOPWATCH" script -o /dev/full "$spec" 2>&1)
is "a full disk" "$? $said" "1 nopwatch: cannot write '/dev/full': No space left on device"
finish
