# shellcheck shell=bash
# For tests of `why`: run it, and check the cause it names.
#
#	why ARGS...				what it says goes to why.json, its exit status to $status
#	named "what" STATUS FIRES CAUSE		the verdict (FIRES: True, False or None), CAUSE first
#	names "what" CAUSE			among its causes
#	says "what" PATTERN			in its text
#	advises "what" PATTERN			in one of its remedies
#	remedied "what" CAUSE			CAUSE is among them, and what the verdict offers works when it is pasted
#	checked "what" CHECK RESULT		a check and its result

why() {
  why_args=("$@")
  "$NOPWATCH" why -j "$@" >why.json 2>why.err
  status=$?
}

# Start a target and wait until it is what HOW means: start HOW...; or another program, which $TARGET names, and
# wait until that runs. Its number is in $pid.
start() {
  rm -f said
  "${TARGET:-$PROGRAMS/target}" "$@" >said 2>&1 &
  pid=$!
  wait_for is_target
  [ $# = 0 ] || wait_for grep -q ready said
}

# No longer the shell that was forked for it?
is_target() {
  [ "$(readlink /proc/"$pid"/exe)" != "$(readlink /proc/$$/exe)" ]
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
# ---- what it offers ----

# A command of ours that measures must find hits. What the test calls $meanwhile happens once it is armed: the
# program starts, the library is loaded.
paste_stat() {
  local line=$1 measuring
  eval "\"\$NOPWATCH\" ${line#nopwatch } -j -n 1 -d 60" >pasted.json 2>pasted.err </dev/null &
  measuring=$!
  if [ -n "${meanwhile:-}" ]; then
    wait_for armed_or_over $measuring
    eval "$meanwhile"
  fi
  wait $measuring 2>/dev/null
  [ "$(j pasted.json "sum(p['hits'] for p in of('probe')) > 0" 2>&1)" = True ]
}

armed_or_over() { # PID
  armed || ! kill -0 "$1"
}

# One of ours that diagnoses must come to a verdict.
paste_why() {
  local line=${1#sudo }
  eval "\"\$NOPWATCH\" ${line#nopwatch } -j -d 0.4" >pasted.json 2>pasted.err </dev/null
  case $? in 0 | 3 | 4) ;; *) return 1 ;; esac
  [ "$(j pasted.json "last['type']" 2>&1)" = verdict ]
}

# Can this kernel and bpftrace do it at all?
has_bpf() {
  [ -n "${bpf_works:-}" ] || bpf_works=$(timeout 60 bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1 && echo yes || echo no)
  [ "$bpf_works" = yes ]
}

# One of bpftrace's must find hits, too. An interval ends it: bpftrace goes on for ever if SIGINT comes before it waits for
# events. Where nothing is hit so soon, another try has more time.
paste_bpftrace() {
  local ms
  has_bpf && [ -z "${meanwhile:-}" ] || return 0
  for ms in 200 2000 20000; do
    bpftrace() { timeout -k 10 60 bpftrace "${@:1:$#-1}" "${!#} interval:ms:$ms { exit(); }"; }
    eval "$1" >pasted.json 2>pasted.err </dev/null
    unset -f bpftrace
    grep -qE '^@hits: [1-9]' pasted.json && return 0
  done
  return 1
}

# Any other shows something.
paste_other() {
  eval "$1" >pasted.json 2>pasted.err </dev/null && [ -s pasted.json ]
}

# Every line of the remedy in turn. What changes the system must make the cause go away.
remedied() {
  local line how changed=""
  if [ "$(j why.json "'$2' in last['causes'] and len(last['remedy']) > 0")" != True ]; then
    fail "$1: no such cause, or nothing offered"
    comment "$(cat why.json)"
    return
  fi
  j why.json "'\\n'.join(last['remedy'])" >remedies
  while IFS= read -r line; do
    case $line in
    '# '*) continue ;; # words
    'nopwatch stat '*) how=paste_stat ;;
    'nopwatch why '* | 'sudo nopwatch why '*) how=paste_why ;;
    'nopwatch list '*) how=paste_list ;;
    'bpftrace '*) how=paste_bpftrace ;;
    'echo '* | 'kill -CONT '*) how=eval changed=yes ;;
    *) how=paste_other ;;
    esac
    if ! $how "$line"; then
      fail "$1"
      comment "$line: $(head -c 2000 pasted.json pasted.err)"
      return
    fi
  done <remedies
  if [ -n "$changed" ]; then
    why "${why_args[@]}"
    is "$1" "$(j why.json "'$2' in last['causes']")" False
  else
    pass "$1"
  fi
}

paste_list() {
  eval "\"\$NOPWATCH\" ${1#nopwatch }" >pasted.json 2>pasted.err && [ -s pasted.json ]
}

checked() { holds "$1" why.json "[c['result'] for c in of('check') if c['name'] == '$2'] == ['$3']"; }
