# kill -9 at every moment of every command that changes the kernel: one `clean`, and nothing is left, neither in
# tracefs and /run/nopwatch nor in the program's memory. HARM=500 tries so many moments of each command; without it,
# a few spread over its life, so that different ones are tried in different runs. COMMANDS="add script" tries only these.
#
# The moments are between system calls (tests/programs/killer.c): in the middle of one, while it disarms, the kernel
# itself leaves breakpoints behind for as long as it has the file, which a test must not do to the machine it runs on.
. "$(dirname "$0")/../lib/kernel.sh"

"$PROGRAMS/killer" 0 true >/dev/null
[ $? = 77 ] && skip_all "the kernel does not tell of system calls"

"$SERVER" -t 2 -p 100 >/dev/null & server=$!
begun $server "$SERVER"
mapfile -t semaphores < <("$NOPWATCH" list -j "$SERVER" | j /dev/stdin \
  "'\n'.join(sorted({str(row['semaphore_vaddr']) for row in of('site') if row.get('semaphore_vaddr')}))")
spec="usdt:$SERVER:myserver:*"

is_whole() { # of the program that is traced
  "$TESTS_LIB/untouched" $server "$SERVER" "${semaphores[@]}"
}

# Whatever is ours and stays, because a command came to its end: not what is tested here.
put_back() {
  "$NOPWATCH" remove -q '*' >/dev/null 2>&1
}

is_as_before() {
  [ "$(tracefs_state)" = "$state_before" ]
}

# killed_at NAME SETUP COMMAND...: at a few of its moments; SETUP is a command of nopwatch's before, "" for none
killed_at() {
  local name=$1 setup=$2 tries=${HARM:-4} bad="" moments step at i
  shift 2
  [[ -z ${COMMANDS:-} || " $COMMANDS " == *" $name "* ]] || return 0
  # shellcheck disable=SC2086 # words
  [ -n "$setup" ] && "$NOPWATCH" $setup >/dev/null
  moments=$("$PROGRAMS/killer" 0 "$@" 2>/dev/null | tail -n 1)
  "$NOPWATCH" clean -q
  put_back
  ok "$name has moments" test "$moments" -gt 0
  step=$(((moments + tries - 1) / tries))
  at=$((RANDOM % step + 1))
  for ((i = 0; at <= moments && i < tries; i++, at += step)); do
    # shellcheck disable=SC2086
    [ -n "$setup" ] && "$NOPWATCH" $setup >/dev/null
    "$PROGRAMS/killer" $at "$@" >/dev/null 2>&1
    # a script's own helper takes away what it can, if there was one already: it may be at it
    [ "$name" != script ] || for _ in $(seq 30); do is_as_before && break || sleep 0.1; done
    "$NOPWATCH" clean -q >/dev/null 2>said || bad+="[$at of $moments: clean ends with $?: $(cat said)] "
    put_back
    is_as_before || bad+="[$at of $moments: $(diff <(echo "$state_before") <(tracefs_state))] "
    is_whole >said || bad+="[$at of $moments: $(cat said)] "
    [ -z "$bad" ] || break
  done
  is "$name: nothing is left after $i kills of $moments moments" "$bad" ""
}

killed() { # SETUP COMMAND...
  local setup=$1
  shift
  killed_at "$1" "$setup" "$NOPWATCH" "$@"
}

killed "" stat -q -d 0.1 -o out "$spec"
killed "" record -q -d 0.1 -o rec.dat "$spec"
killed "" trace -q -n 1 -o out "$spec"
killed "" add -q "$spec"
killed "" add -q --enable "$spec"
killed "add -q $spec" enable -q '*'
killed "add -q --enable $spec" disable -q '*'
killed "add -q --enable $spec" remove -q '*'
killed "" features

# The script that travels: its own process, whose settings of the top level and events its helper, or else nopwatch,
# takes away.
"$NOPWATCH" script -d 1 "$spec" >script.sh
killed_at script "" sh script.sh
ok "the program lives" kill -0 $server
unchanged
finish
