# --dry-run prints shell commands that do the same; a manager that is killed leaves all or nothing;
# refusals of the kernel and of the machine leave everything as it was.
# in turn: it adds events that stay
. "$(dirname "$0")/../lib/kernel.sh"

spec="usdt:$SERVER:myserver:*"
state() { # what add, enable and the others change; no script beside this one adds events
  grep ':sdt_' "$TRACEFS/uprobe_events"
  ls -d "$TRACEFS/instances/nwtest"
  grep -h '^sdt_' "$TRACEFS/set_event" "$TRACEFS/instances/nwtest/set_event"
  cat "$TRACEFS/instances/nwtest/trace_clock"
} 2>/dev/null
# pasted "what" ARGS...: what --dry-run says, pasted into sh, does what the command does
pasted() {
  local what=$1 before told by_hand
  shift
  before=$(state)
  "$NOPWATCH" "$@" --dry-run >told || { fail "$what: --dry-run"; return; }
  is "$what: --dry-run changes nothing" "$(state)" "$before"
  cp /run/nopwatch/kept.events kept 2>/dev/null || rm -f kept
  told=$(sh told 2>&1)
  by_hand=$(state)
  undo
  "$NOPWATCH" "$@" -q
  is "$what: the same by hand" "$told$by_hand" "$(state)"
  undo
}

undo() {
  "$NOPWATCH" remove -q --force --foreign 'sdt_myserver:*' 'sdt_counter:*' 2>/dev/null
  rmdir "$TRACEFS/instances/nwtest" 2>/dev/null
}
pasted add add "$spec"
pasted "add in an instance" add --instance nwtest --enable "usdt:$SERVER:myserver:parse__*"
mkdir "it's \$HOME"
cp "$PROGRAMS/counter" "it's \$HOME/counter"
pasted "a path with everything" add "usdt:$PWD/it's \$HOME/counter:counter:step__end"
rm -rf /run/nopwatch/file.*
undo() {
  "$NOPWATCH" remove -q --force --foreign 'sdt_myserver:*' 2>/dev/null
  rmdir "$TRACEFS/instances/nwtest" 2>/dev/null
  "$NOPWATCH" add -q --instance nwtest "$spec"
  "$NOPWATCH" enable -q 'myserver:parse__*'
}
undo
pasted enable enable 'myserver:lookup__*'
pasted disable disable 'myserver:parse__start'
pasted remove remove 'sdt_myserver:*'
"$NOPWATCH" remove -q --force --foreign 'sdt_myserver:*'
unchanged "nothing is left"

# ---- what runs: the commands record the same, and leave nothing
counter=$PROGRAMS/counter
"$NOPWATCH" trace --dry-run "usdt:$counter:counter:step__*" -- "$counter" 20 >told
said=$(sh told 2>err)
is "trace, by hand" "$(grep -c ' e[0-9a-z_]*: (0x' <<<"$said") $(cat err)" "40 "
has "with the arguments" "$said" ' a0=19 a1=361$'
has "and births and deaths" "$said" ' sched_process_exit: .*counter'
unchanged "nothing is left"
"$counter" 100000000 1000 >/dev/null & pid=$!
begun $pid "$counter"
"$counter" 100000000 1000 >/dev/null & other=$!
begun $other "$counter"
# as long as it is told to, and until the program has been hit
mkdir bin
cat >bin/sleep <<P
#!/bin/sh
until cat "$TRACEFS"/instances/nopwatch_*/trace 2>/dev/null | grep -q "counter-$pid "; do :; done
exec $(type -P sleep) "\$@"
P
chmod +x bin/sleep
for shell in dash bash; do
  need $shell || continue
  "$NOPWATCH" stat --dry-run -b 4M -d 0.5 'counter:step__end' -p $pid >told
  said=$(PATH=$PWD/bin:$PATH $shell told 2>&1)
  is "stat of a process, by hand, in $shell" "$(grep -c " counter-$pid .* e[0-9a-z_]*: " <<<"$said" | sed 's/^[1-9].*/some/') $(grep -c "counter-$other " <<<"$said")" "some 0"
done
has "its buffer" "$(cat told)" '^echo 4096 >"\$T/instances/nopwatch_[0-9a-z_]*/buffer_size_kb"$'
kill $pid $other
wait $pid $other 2>/dev/null
mkdir -p 'odd #path'
cp "$counter" 'odd #path/'
"$NOPWATCH" record --dry-run "usdt:$PWD/odd #path/counter:counter:step__end" -- 'odd #path/counter' 7 >told
is "record, of a path that the kernel cannot take" "$(sh told | grep -c ' step__end: (0x')" 7
unchanged "nothing is left"

said=$(NOPWATCH_FEATURES=-instances "$NOPWATCH" stat --dry-run 'usdt:'"$counter"':counter:step__end' 2>&1)
has "without instances it is not told" "$? $said" '^1 nopwatch: .* cannot be told'

# the settings of a living session are those that are told
"$NOPWATCH" stat --dry-run "usdt:$counter:counter:step__*" | sed -n 's/^echo \([^ ]*\) >"$T.instances.[^/]*.\([a-z_/-]*\)"$/\2 \1/p' | sort >told
"$NOPWATCH" stat -q "usdt:$counter:counter:step__*" >/dev/null & run=$!
wait_for armed
instance=$(our_instances)
while read -r file value; do
  case $file in
  trace_clock) value="\\[$value\\]" ;;
  tracing_on | events/enable) continue ;; # written at the end
  buffer_size_kb) # the kernel rounds up
    [ "$(cat "$instance/$file")" -ge "$value" ] && continue ;;
  esac
  grep -q "^\($value\|.*$value.*\)$" "$instance/$file" || echo "$file is not $value: $(cat "$instance/$file")"
done <told >wrong
pages=$([ -e "$TRACEFS/buffer_subbuf_size_kb" ] && echo 1 || echo 0)
is "clock, buffer and events of a session are as told" "$(cat wrong) $(wc -l <told)" " $((9 + pages))"
kill $run
wait $run

# with --states: the same filters of scheduler events
"$NOPWATCH" stat --dry-run --states --filter 'tid > 0' "usdt:$counter:counter:step__*" >told
is "--states of a probe without an end: in the same words" "$("$NOPWATCH" stat --dry-run --states "usdt:$counter:counter:never" 2>&1)" \
  "$("$NOPWATCH" stat --states "usdt:$counter:counter:never" -- true 2>&1)"
has "--filter is a remark" "$(cat told)" '^# nopwatch leaves out the hits that do not match --filter'
sed -n "s/^echo '\(.*\)' >\"\$T.instances.[^/]*.\(events.sched.*filter\)\"\$/\2 \1/p" told >filters
"$NOPWATCH" stat -q --states "usdt:$counter:counter:step__*" >/dev/null & run=$!
wait_for sh -c "grep -q comm '$TRACEFS'/instances/nopwatch_${run}_*/events/sched/sched_wakeup/filter"
instance=$(echo "$TRACEFS"/instances/nopwatch_"$run"_*)
[ -e "$instance/events/sched/sched_waking" ] && waking='
comm=="counter"'
is "filters of scheduler events are as told" "$(cut -d ' ' -f 2 filters)" "prev_comm==\"counter\"||next_comm==\"counter\"
comm==\"counter\"${waking:-}"
while read -r file value; do
  [ "$(cat "$instance/$file")" = "$value" ] || echo "$file is not $value: $(cat "$instance/$file")"
done <filters >wrong
is "and those of a living session" "$(cat wrong)" ""
kill $run
wait $run

# clean
"$NOPWATCH" stat -q "usdt:$counter:counter:step__*" >/dev/null & run=$!
wait_for armed
kill -9 $run
wait $run 2>/dev/null
left=$(tracefs_state)
"$NOPWATCH" clean --dry-run >told
is "clean --dry-run changes nothing" "$(state_since "$left")" "$left"
sh told 2>err
cat err
echo 0 >/sys/kernel/rcu_expedited
unchanged "clean, by hand"

# neither root nor tracefs
said=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$NOPWATCH" add --dry-run "$spec" 2>err)
is "without root" "$(grep -c '^echo .p:sdt_myserver' <<<"$said")" 8
has "it is said what is assumed" "$(cat err)" 'the kernel is taken for one that can do everything$'

# ---- killed at any moment
"$NOPWATCH" add -q "usdt:$SERVER:myserver:parse__*"
one=$(state)
"$NOPWATCH" add -q --instance nwtest --enable "$spec"
all=$(state)
broken=0 odd=0
"$NOPWATCH" remove -q 'myserver:lookup*' 'myserver:request*' 'myserver:cache*'
moments=$("$PROGRAMS/killer" 0 "$NOPWATCH" add -q --instance nwtest --enable "$spec" | tail -n 1)
kills=${ALL:+40} kills=${kills:-12}
for ((i = 1; i <= kills; i++)); do
  if [ $i = 1 ]; then # in the middle for sure, where the kernel tells of system calls
    "$NOPWATCH" remove -q 'myserver:lookup*' 'myserver:request*' 'myserver:cache*'
    "$PROGRAMS/killer" $((moments / 2)) "$NOPWATCH" add -q --instance nwtest --enable "$spec" &
    wait $!
  elif [ $((i % 2)) = 0 ]; then
    "$NOPWATCH" remove -q 'myserver:lookup*' 'myserver:request*' 'myserver:cache*' &
  else
    "$NOPWATCH" add -q --instance nwtest --enable "$spec" &
  fi
  sleep "0.0$(printf '%02d' $((RANDOM % 60)))"
  { kill -9 $!; wait $!; } 2>/dev/null
  now=$(state)
  [ "$now" = "$one" ] || [ "$now" = "$all" ] || broken=$((broken + 1))
  "$NOPWATCH" clean -q
  count=$(grep -c sdt_myserver "$TRACEFS/uprobe_events")
  on=$(cat "$TRACEFS/instances/nwtest/set_event" 2>/dev/null | wc -l)
  case $count/$on in
  2/0 | 8/6 | 8/8 | 2/2 | 8/2) ;;
  *) odd=$((odd + 1)) && comment "after kill $i: $count events, $on enabled" ;;
  esac
done
is "a killed change is undone as a whole by the next command" "$odd" 0
[ $broken -gt 0 ] && pass "some kills did come in the middle ($broken)" || fail "some kills did come in the middle"
"$NOPWATCH" remove -q '*'
unchanged "and nothing is left"

# ---- what the machine refuses
said=$(unshare -m sh -c "mount -o bind,ro '$TRACEFS' '$TRACEFS' && mount -o remount,bind,ro '$TRACEFS' &&
  exec '$NOPWATCH' add '$spec'" 2>&1)
has "tracefs mounted read-only" "$? $said" '^1 nopwatch: .*tracefs at .*[Rr]ead-only'
unchanged "nothing has changed"

# the kernel's own writes fail, one after another: everything is put back
cat >refuse.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* The REFUSE_AT-th write of a definition or of an enable file answers REFUSE_WITH; a deletion
 * that is refused is refused however often it is tried. */
ssize_t write(int fd, const void *data, size_t len)
{
	static int seen;
	static char refused[256];
	static size_t refused_len;
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	const char *text = data;
	int ours = len && ((len > 2 && (!memcmp(text, "p:", 2) || !memcmp(text, "-:", 2))) ||
			   (len == 1 && (*text == '0' || *text == '1')));
	char path[64] = "", link[512] = "";
	if (ours && len == 1) {
		extern int snprintf(char *, size_t, const char *, ...);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ssize_t got = readlink(path, link, sizeof link - 1);
		ours = got > 7 && !strcmp(link + strlen(link) - 7, "/enable");
	}
	int again = ours && refused_len && refused_len == len && !memcmp(refused, text, len);
	if (again || (ours && ++seen == atoi(getenv("REFUSE_AT")))) {
		if (len > 2 && len < sizeof refused && text[0] == '-')
			memcpy(refused, text, refused_len = len);
		errno = atoi(getenv("REFUSE_WITH"));
		return -1;
	}
	return real(fd, data, len);
}
C
if gcc -shared -fPIC -o refuse.so refuse.c -ldl 2>err; then
  refused() { # refused AT WITH ARGS...
    local at=$1 with=$2
    shift 2
    ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/refuse.so REFUSE_AT=$at REFUSE_WITH=$with "$NOPWATCH" "$@" 2>&1
  }
  wrong=0
  for at in 1 4 8 9 12 16; do
    said=$(refused $at 28 add --enable --instance nwtest "$spec")
    [ $? = 1 ] && [ "$(state_since "$state_before")" = "$state_before" ] || wrong=$((wrong + 1))
  done
  is "add: whatever write is refused, the state before is restored" $wrong 0
  has "ENOSPC" "$(refused 3 28 add "$spec")" '^nopwatch: the kernel refused to define sdt_myserver:lookup__start at .*: the kernel has no room for it'
  has "EPERM" "$(refused 1 1 add "$spec")" ': the kernel is locked down, or we are not root$'
  has "524" "$(refused 9 524 add --enable "$spec")" '^nopwatch: cannot enable sdt_myserver:parse__start: the instruction there cannot be probed'
  "$NOPWATCH" add -q --instance nwtest --enable "$spec"
  echo 'arg0 > 5' >"$TRACEFS/instances/nwtest/events/sdt_myserver/parse__start/filter"
  before=$(state; sort "$TRACEFS/instances/nwtest/set_event"; cat "$TRACEFS/instances/nwtest/events/sdt_myserver/parse__start/filter")
  wrong=0
  for at in 2 8 9 12 16; do
    said=$(refused $at 16 remove '*')
    after=$(state; sort "$TRACEFS/instances/nwtest/set_event"; cat "$TRACEFS/instances/nwtest/events/sdt_myserver/parse__start/filter")
    [ "$(sort <<<"$after")" = "$(sort <<<"$before")" ] || { wrong=$((wrong + 1)); comment "$at: $said: $(diff <(echo "$before") <(echo "$after"))"; }
  done
  is "remove: whatever write is refused, events, places and filters are restored" $wrong 0
  has "EBUSY" "$(refused 2 16 remove '*')" '^nopwatch: cannot remove sdt_myserver:.*: perf or another tracer is using it$'
  "$NOPWATCH" remove -q '*'
else
  skip "writes that are refused" "no shared library can be made here"
fi

unchanged
finish
