# shellcheck shell=bash
# For tests of `why`: run it, and check the cause it names.
#
#	why ARGS...				what it says goes to why.json, its exit status to $status
#	named "what" STATUS FIRES CAUSE		the verdict (FIRES: True, False or None), CAUSE first
#	names "what" CAUSE			among its causes
#	says "what" PATTERN			in its text
#	advises "what" PATTERN			in one of its remedies
#	pasted "what"				the commands that it offers work
#	checked "what" CHECK RESULT		a check and its result

why() {
  "$NOPWATCH" why -j "$@" >why.json 2>why.err
  status=$?
}

# Start a target and wait until it runs: start HOW...; its number is in $pid.
start() {
  "${TARGET:-$PROGRAMS/target}" "$@" >/dev/null 2>&1 &
  pid=$!
  wait_for is_target
  sleep 0.2
}

# No longer the shell that was forked for it?
is_target() {
  [ "$(readlink /proc/$pid/exe)" != "$(readlink /proc/$$/exe)" ]
}

stop() {
  kill -9 "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
}

named() {
  local got
  got="$status $(j why.json "str(last['fires']) + ' ' + (last['causes'] or ['-'])[0]" 2>&1)"
  if [ "$got" = "$2 $3 $4" ]; then
    pass "$1"
  else
    fail "$1"
    comment "got:    $got"
    comment "wanted: $2 $3 $4"
    comment "$(cat why.err why.json)"
  fi
}

names() { holds "$1" why.json "'$2' in last['causes']"; }
says() { has "$1" "$(j why.json "last['text']")" "$2"; }
advises() { has "$1" "$(j why.json "'\\n'.join(last['remedy'])")" "$2"; }
# Paste every command of nopwatch's that the verdict offers; each must find hits: pasted "what"
pasted() {
  local command tried=0
  j why.json "'\\n'.join(c for c in last['remedy'] if c.startswith('nopwatch '))" >remedies
  while IFS= read -r command; do
    [ -n "$command" ] || continue
    tried=$((tried + 1))
    eval "\"\$NOPWATCH\" ${command#nopwatch } -j -d 0.5" >pasted.json 2>pasted.err </dev/null
    if [ "$(j pasted.json "sum(p['hits'] for p in of('probe')) > 0" 2>&1)" != True ]; then
      fail "$1"
      comment "$command: $(cat pasted.err)"
      return
    fi
  done <remedies
  if [ $tried -gt 0 ]; then pass "$1"; else fail "$1: nothing to paste"; fi
}
checked() { holds "$1" why.json "[c['result'] for c in of('check') if c['name'] == '$2'] == ['$3']"; }
