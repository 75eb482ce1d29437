# shellcheck shell=bash
# top, looking at a recording: every key, sizes, characters, and what is left of it in the terminal.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tmux.sh"
trap end_terminal EXIT
sample=$TESTS_LIB/../demo/sample.dat
cd "$TEST_DIR" || exit 1
cp "$sample" sample.dat

"$NOPWATCH" report -j sample.dat >all.json
requests=$(j all.json "span('myserver:request')['count']")

# ---- no terminal ----
"$NOPWATCH" top --from sample.dat >piped 2>&1
is "into a pipe it is a report" $? 0
"$NOPWATCH" report sample.dat >report
ok "the same as report's" cmp piped report
"$NOPWATCH" top --from sample.dat -j >piped.json
is "in any form" "$(cat piped.json)" "$(cat all.json)"

# ---- 80 x 24 ----
terminal 80 24
enter "$NOPWATCH top --from sample.dat"
sees "a title" '^[0-9.]+m?s +0 lost +END +[0-9]+ hits, .* +the whole run$'
sees "a row a span" "^myserver:request +[0-9]+/s +6\.46us +1\.10ms +2\.13ms "
sees "a row a probe" '^myserver:cache__evict +[0-9]+/s '
sees "the keys" '^q quit +\? help'
is "no line is longer than the terminal" "$(($(picture | LC_ALL=C.UTF-8 wc -L) <= 80))" 1
# wiped: something else has written to the terminal, or has cut it
wiped() {
  printf '\033[2J' >"$(tm display-message -p '#{pane_tty}')"
  sees_no "$1" '^myserver:request'
}
wiped "what the terminal shows is gone"
press C-l
sees "Ctrl-L draws it again" "^myserver:request +[0-9]+/s +6\.46us"
sees "all of it" '^q quit +\? help'
wiped "a terminal cuts what does not fit"
pkill -WINCH -P "$(tm display-message -p '#{pane_pid}')" -x nopwatch
sees "another size is drawn from the beginning, also if it is what it was by then" "^myserver:request +[0-9]+/s +6\.46us"
press h
sees "h: a histogram" "^myserver:request: latency, $requests spans, p50 6\.46us, p90 266us"
sees "with the percentiles marked" '^ 4\.10us +[0-9]+ █+ +p50$'
press h
sees_no "h again: none" 'latency, '
press Enter
sees "enter: the same" 'latency, '
press m
sees "m: a heat map" 'latency over time'
sees "in shades, over time" '^ +2\.10ms .*[░▒▓█]'
press Down
sees "down: of the next row" '^myserver:lookup: latency over time'
press k
sees "k: of the one before" '^myserver:request: latency over time'
press End
sees "end: of the last" '^myserver:cache__evict: gaps over time'
press Home
sees "home: of the first" '^myserver:request: latency over time'
press NPage
press PPage
sees "a page down and up" '^myserver:request: latency over time'
press Escape
sees_no "escape closes it" 'over time'
press s
sees "s: by another column" 'sorted by hits'
press S
sees "S: by the one before" 'sorted by total time'
press '<'
sees "<, too" 'sorted by name'
sees "a mark at its column" '^SPAN\* '
press Right
press i
sees "i: the last interval" 'the last [0-9.]+ms'
press i
sees "i again: the whole run" ' the whole run$'
press t
sees "t: the course of p99" '^SPAN .* P99 .* P99 '
press t
press '?'
sees "?: help" 'show its heat map: time to the right'
press '?'
sees_no "? again: none" 'show its heat map'
press /
sees "/: asks for a name" '^names like: _'
press -l 'lookup'
sees_no "and picks while it is typed" '^myserver:request '
sees "only those like it" '^myserver:lookup '
press Enter
sees "says so" "^like 'lookup'"
press Escape
sees "escape: all of them" '^myserver:request '
press ' '
sees "space: pause" 'PAUSED'
press p
sees_no "p: goes on" 'PAUSED'
press b
sees "b: asks for groups" '^group by \(tid, pid, comm, cpu.*\): _'
press -l 'tid'
press Enter
sees "which a recording that was read cannot have" 'grouped with --by only'
press w
sees "w: asks for a file" '^write a report to: nopwatch\.html_'
for _ in {1..13}; do press BSpace; done
press -l 'out.json'
press Enter
sees "and says that it was written" '^written: out\.json'
is "which is what was seen" "$(j out.json "[(s['count'], s['latency_ns']) for s in of('span')]")" \
  "$(j all.json "[(s['count'], s['latency_ns']) for s in of('span')]")"
press w
for _ in {1..13}; do press BSpace; done
press -l 'nowhere/x.json'
press Enter
sees "or why not" "cannot .*nowhere/x\.json"
press w
for _ in {1..13}; do press BSpace; done
press -l 'out.xyz'
press Enter
sees "and what it can be" "'out\.xyz': the name of a report ends in one of .*\.json"

# ---- sizes ----
tm resize-window -x 200 -y 50
sees "a larger terminal has more columns" '^SPAN +COUNT +RATE +MEAN +P50 +P90 +P99 +MAX '
press m
sees "and a finer heat map" '^ +393us '
tm resize-window -x 20 -y 5
sees "20 x 5: what fits" '^ *now$|^  *-'
press Escape
sees "a name and its p99" '^myserver:r.* 1\.10ms$'
tm resize-window -x 15 -y 4
sees "smaller: one sentence" '^too small: 15x4'
tm resize-window -x 80 -y 24
sees "and back" '^[0-9.]+m?s +0 lost'
press q
sees "q: quit" '^[0-9]+ hits? in .*, 0 events lost'
sees "the report is short: its first line is still there" '^SPAN +COUNT'
shows '@@' && fail "it has no histograms" || pass "it has no histograms"
sees "and says what has more" '^-v shows the histograms and all rows'
sees "and the shell is there" "$PROMPT"
enter 'stty -a; echo end'
sees "the terminal is as it was" ' icanon iexten echo '
enter 'clear; echo ready; read x; echo "got $x"'
waits "for it" '^ready'
press -l 'typed'
press Enter
sees "what is typed is seen" '^typed'
sees "and read" '^got typed'

# ---- no colours; none but ASCII ----
colours() { tm capture-pane -p -e | grep -c "$(printf '\033')\\[[0-9;]*3[1-7]m"; }
terminal 80 24
enter "$NOPWATCH top --from sample.dat"
waits "for a picture" '^myserver:request ' && is "there are colours" "$([ "$(colours)" -gt 0 ]; echo $?)" 0
press q
waits "for its end" "$PROMPT"
enter "clear; NO_COLOR=1 $NOPWATCH top --from sample.dat"
waits "for a picture" 'END' && is "NO_COLOR: there are none" "$(colours)" 0
press q
waits "for its end" "$PROMPT"
enter "clear; LC_ALL=C $NOPWATCH top --from sample.dat"
waits "for a picture" 'END'
press m
sees "C: a heat map of ASCII" '^ +262us .*[.+*#]'
is "and nothing else" "$(picture | LC_ALL=C grep -c '[^ -~]')" 0
press q
waits "for its end" "$PROMPT"
enter "clear; TERM=dumb $NOPWATCH top --from sample.dat | tail -n 1"
sees "TERM=dumb: a report" '^[0-9]+ hits? in '

# ---- groups, and forms of the report at the end ----
terminal 120 40
enter "$NOPWATCH top --from sample.dat --by tid -j -o by.json"
sees "--by: a row a group" '^myserver:request [0-9]+ +[0-9]+ '
sees "and says so" ' by tid'
press q
waits "for its end" "$PROMPT"
holds "-o: the report goes there" by.json "len({r['group'] for r in of('span')}) > 1"

# ---- text from a pipe: the keys are the terminal's ----
enter "clear; cat sample.dat | $NOPWATCH top --from -"
sees "a recording through a pipe" '[0-9.]+m?s +0 lost +END'
press h
sees "keys work" 'latency, '
press q
sees "and it ends" '^[0-9]+ hits? in '

# ---- one event, and two in ten hours ----
echo '  app-77 [000] ..... 100.000100: work: (0x5500) number=1' >one.txt
{
  cat one.txt
  echo '  app-77 [000] ..... 36100.000100: work: (0x5500) number=1'
} >two.txt
enter "clear; $NOPWATCH top --from one.txt"
sees "one event is a row" '^work +1 +0/s +- +- +- '
sees "and a hit" ' 1 hit,'
press q
waits "for its end" "$PROMPT"
enter "clear; $NOPWATCH top --from two.txt"
sees "ten hours have their gap" '^work +2 +0\.00/s +36000s +36000s '
press m
sees "and a heat map" '^work: gaps over time, 1 gap\>'
press q
waits "for its end" "$PROMPT"
enter "clear; grep -v . one.txt | $NOPWATCH top --from -; echo status \$?"
sees "nothing at all is said" '^status [012]'

# ---- a terminal that takes nothing: hits are read all the same ----
cat >hung.py <<'P'
import fcntl, os, pty, struct, subprocess, sys, termios, time
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 250, 0, 0))
def until(what, condition): # five minutes at most: a busy machine gives these processes little of its time
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.1)
    sys.exit(f"never {what}")
def slept(): # how often it had nothing left to do
    with open(f"/proc/{top.pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
def unread(): # bytes in its pipe
    return struct.unpack("i", fcntl.ioctl(top.stdin, termios.FIONREAD, b"    "))[0]
top = subprocess.Popen([sys.argv[1], "top", "--from", "-", "-i", "10ms", "-j", "-o", "hung.json"],
                       stdin=subprocess.PIPE, stdout=slave, env={**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"})
for i in range(12000):
    line = f"          app-77      [000] ..... {100 + i / 1000:.6f}: event{i % 90}: (0x5500) number={i} more={'x' * 30}\n"
    top.stdin.write(line.encode())
    if i % 20 == 0:
        top.stdin.flush()
        time.sleep(0.01)
top.stdin.flush()
until("all read", lambda: unread() == 0)
before = slept()
until("idle", lambda: slept() > before + 6)
top.stdin.close()
os.write(master, b"q")
print(top.wait(timeout=100))
P
is "a terminal that takes nothing holds nothing up" "$(timeout 700 python3 hung.py "$NOPWATCH" 2>&1)" 0
is "everything was read" "$(j hung.json "sum(p['hits'] for p in of('probe'))")" 12000

# ---- signals while it is looked at ----
signals=(TERM HUP INT QUIT USR2)
sanitized || signals+=(SEGV) # which a sanitizer takes
for signal in "${signals[@]}"; do
  terminal 80 24
  enter "stty -a >before; $NOPWATCH top --from sample.dat; echo ended; stty -a >after"
  waits "for a picture" 'END'
  pkill -"$signal" -P "$(tm display-message -p '#{pane_pid}')" -f top
  sees "SIG$signal: it ends" '^ended'
  waits "for stty" "$PROMPT"
  ok "SIG$signal: the terminal is as it was" cmp before after
  is "SIG$signal: the cursor is seen, the first screen is back" \
    "$(tm display-message -p '#{cursor_flag} #{alternate_on}')" "1 0"
done

# ---- suspended ----
terminal 80 24
enter "$NOPWATCH top --from sample.dat"
waits "for a picture" 'END'
press C-z
sees "Ctrl-Z: the shell is back" "$PROMPT"
is "on its own screen" "$(tm display-message -p '#{cursor_flag} #{alternate_on}')" "1 0"
enter 'stty -a'
sees "with its own modes" ' icanon iexten echo '
enter fg
sees "fg: it is there again" '[0-9.]+m?s +0 lost +END'
press h
sees "and has its keys" 'latency, '
press q
sees "to its end" '^[0-9]+ hits? in '

# ---- terminals of other kinds: what is sent is what a VT100 knew ----
terminal 80 24
for kind in linux vt100 vt220 screen tmux-256color xterm; do
  enter "clear; TERM=$kind $NOPWATCH top --from sample.dat"
  sees "TERM=$kind: a title" '^[0-9.]+m?s +0 lost +END +[0-9]+ hits, .* +the whole run$'
  sees "TERM=$kind: rows" "^myserver:request +[0-9]+/s +6\.46us"
  press q
  waits "for the shell after TERM=$kind" "$PROMPT"
done

# ---- more slow spans than a live view keeps ----
python3 - >slow.txt <<'P'
for i in range(40000):
    for what, more in ("start", 0), ("end", 500):
        print(f"{'app':>16}-7       [000] ..... {5 + i // 1000}.{i % 1000 * 1000 + more:06d}: a__{what}: x=1")
P
terminal 160 50
enter "$NOPWATCH top --slower 1us --from slow.txt >/dev/tty; echo gone"
sees "many slow spans are shown as ever" '^a +40000 '
press q
sees "and at the end it says how many are not printed" '^[0-9]+ more spans took as long: a live view keeps 1 MiB of them'
finish
