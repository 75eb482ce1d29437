# kill -9 at every moment of every command that changes the kernel: one `clean`, and nothing is left, neither in
# tracefs and /run/nopwatch nor in the program's memory. HARM=500 tries so many moments of each command; without it one, with ALL=1 two
# spread over its life, so that different ones are tried in different runs. COMMANDS="add script" tries only these.
# FIRST=N begins with the N-th moment: with HARM=26, a command of 208 moments is tried whole in eight runs, FIRST=1 to 8.
# All of it twice: alone, and beside a session of the same probes and events that stay, which must not notice.
#
# The moments are between system calls (tests/programs/killer.c): in the middle of one, while it disarms, the kernel
# itself leaves breakpoints behind for as long as it has the file, which a test must not do to the machine it runs on.
# in turn: it adds events that stay
. "$(dirname "$0")/../lib/kernel.sh"

"$PROGRAMS/killer" 0 true >/dev/null
[ $? = 77 ] && skip_all "the kernel does not tell of system calls"

"$SERVER" -t 2 -p 1000 >/dev/null & server=$!
begun $server "$SERVER"
mapfile -t semaphores < <("$NOPWATCH" list -j "$SERVER" | j /dev/stdin \
  "'\n'.join(sorted({str(row['semaphore_vaddr']) for row in of('site') if row.get('semaphore_vaddr')}))")
spec="usdt:$SERVER:myserver:*"

is_whole() { # of the program that is traced
  "$TESTS_LIB/untouched" $server "$SERVER" "${semaphores[@]}"
}

# Whatever is ours and stays, because a command came to its end: not what is tested here.
put_back() {
  "$NOPWATCH" remove -q sdt_myserver >/dev/null 2>&1
}

is_over() { # the script, with its helper
  ! pgrep -fx 'sh script.sh'
}

is_as_before() {
  [ "$(state_since "$before")" = "$before" ]
}

# killed_at NAME SETUP COMMAND...: at a few of its moments; SETUP is a command of nopwatch's before, "" for none
killed_at() {
  local name=$1 setup=$2 tries=${HARM:-$((${ALL:+1} + 1))} bad="" moments step at i
  shift 2
  [[ -z ${COMMANDS:-} || " $COMMANDS " == *" $name "* ]] || return 0
  # shellcheck disable=SC2086 # words
  [ -n "$setup" ] && "$NOPWATCH" $setup >/dev/null
  moments=$("$PROGRAMS/killer" 0 "$@" 2>/dev/null | tail -n 1)
  "$NOPWATCH" clean -q
  put_back
  ok "$name has moments" test "$moments" -gt 0
  step=$(((moments + tries - 1) / tries))
  at=${FIRST:-$((RANDOM % step + 1))}
  for ((i = 0; at <= moments && i < tries; i++, at += step)); do
    # shellcheck disable=SC2086
    [ -n "$setup" ] && "$NOPWATCH" $setup >/dev/null
    "$PROGRAMS/killer" $at "$@" >/dev/null 2>&1
    # a script's own helper takes away what it can, if there was one already: it may be at it
    [ "$name" != script ] || wait_for is_over
    "$NOPWATCH" clean -q >/dev/null 2>said || bad+="[$at of $moments: clean ends with $?: $(cat said)] "
    put_back
    is_as_before || bad+="[$at of $moments: $(diff <(echo "$state_before") <(state_since "$state_before"))] "
    [ -n "$beside" ] || is_whole >said || bad+="[$at of $moments: $(cat said)] "
    [ -z "$bad" ] || break
  done
  is "$name$beside: nothing is left after $i kills of $moments moments" "$bad" ""
}

killed() { # SETUP COMMAND...
  local setup=$1
  shift
  killed_at "$1" "$setup" "$NOPWATCH" "$@"
}

# The script that travels is its own process, whose settings of the top level and events its helper, or else nopwatch,
# takes away.
"$NOPWATCH" script -d 1 "$spec" >script.sh

all_killed() {
  killed "" stat -q -d 0.1 -o out "$spec"
  killed "" record -q -d 0.1 -o rec.dat "$spec"
  killed "" trace -q -n 1 -o out "$spec"
  killed "" add -q "$spec"
  killed "" add -q --enable "$spec"
  killed "add -q $spec" enable -q sdt_myserver
  killed "add -q --enable $spec" disable -q sdt_myserver
  killed "add -q --enable $spec" remove -q sdt_myserver
  killed "" features
  killed_at script "" sh script.sh
}

before=$state_before beside=""
all_killed

# Beside others: a session that has the same sites armed, and events that stay, with a journal of them.
cp "$PROGRAMS/spin" own/spin
"$NOPWATCH" add -q --enable "usdt:$PWD/own/spin:*:*"
"$NOPWATCH" stat -j -b 64M -o long.json "$spec" 2>long.said & long=$!
wait_for armed
before=$(tracefs_state) beside=" (beside others)"
all_killed
is "what stays stays enabled" "$(cat "$TRACEFS/events/sdt_spin/enable")" 1
kill -INT $long
wait $long
is "the session beside them ends well" "$? $(cat long.said)" "0 "
holds "and nothing was lost or switched off for it" long.json \
  "loss() == 0 and probe('myserver:request__done')['hits'] > 0 and not [r for r in of('probe') if 'disabled' in r.get('state', '')]"
"$NOPWATCH" remove -q '*'
ok "nothing is left in the program" is_whole
ok "the program lives" kill -0 $server
unchanged
finish
