# Without a /run that can be written, sessions are noted in /tmp/nopwatch-0: where anybody may have put something of
# that name before. It is used only if it is a directory of ours alone, and nothing in it makes nopwatch wait.
# alone: what it puts into /tmp/nopwatch-0 is there for all
. "$(dirname "$0")/../lib/kernel.sh"

[ -e /tmp/nopwatch-0 ] && skip_all "there is a /tmp/nopwatch-0"
trap 'kill_jobs; rm -rf /tmp/nopwatch-0' EXIT

# without_run COMMAND: a shell command, where /run is read-only. 124: it waited for something.
without_run() {
  timeout 60 "$TESTS_LIB/own_mounts" "mount -t tmpfs -o ro none /run || exit 98; [ -L /var/run ] || mount -t tmpfs -o ro none /var/run; $1"
}
without_run true
[ $? -lt 98 ] || skip_all "mounts of its own cannot be had"
stat="'$NOPWATCH' stat -j -o out.json usdt:$PROGRAMS/counter:counter:step__begin -- '$PROGRAMS/counter' 100 0"

without_run "$stat" >/dev/null 2>said
is "a session is noted in /tmp" "$? $(cat said)" "0 "
holds "and counts" out.json "probe('counter:step__begin')['hits'] == 100"
ok "and takes the directory away" test ! -e /tmp/nopwatch-0

# in /run, its directory is for root alone, whoever has made it before with which mode
# (with something in it that no session has: an empty directory is taken away first, and made anew)
for made in "" "mkdir -m 755 /run/nopwatch && : >/run/nopwatch/no.journal;"; do
  timeout 60 "$TESTS_LIB/own_mounts" "mount -t tmpfs none /run || exit 98; $made
    '$NOPWATCH' stat -q -j -o out.json usdt:$PROGRAMS/counter:counter:step__begin -- \
      sh -c 'stat -c %a /run/nopwatch && exec $PROGRAMS/counter 100 0 >/dev/null'" >said 2>&1
  is "journals in /run are root's alone${made:+, also in a directory that others could read}" "$? $(cat said)" "0 700"
done

refused() { # WHAT
  said=$(without_run "$stat" 2>&1 >/dev/null)
  has "$1 is not used" "$? $said" "^1 nopwatch: .*/tmp/nopwatch-0"
  has "$1: another place can be named" "$said" "^nopwatch: --state-dir DIR names another place"
  without_run "'$NOPWATCH' clean -q" >/dev/null 2>&1
  ok "$1 keeps nobody waiting" test $? != 124
  rm -rf /tmp/nopwatch-0
}
mkdir -m 755 /tmp/nopwatch-0
refused "a directory that others may read"
mkdir -m 770 /tmp/nopwatch-0
refused "a directory that others may write"
mkdir -m 700 /tmp/nopwatch-0 && chown nobody /tmp/nopwatch-0
refused "somebody else's directory"
mkdir -m 700 elsewhere && ln -s "$PWD/elsewhere" /tmp/nopwatch-0
refused "a link"
mkfifo /tmp/nopwatch-0
refused "a FIFO"

# in a directory that is ours, as an earlier one of us, or root, may have left them
mkdir -m 700 /tmp/nopwatch-0
mkfifo -m 600 /tmp/nopwatch-0/kept.events /tmp/nopwatch-0/kept.events.new /tmp/nopwatch-0/1_abcdef /tmp/nopwatch-0/sh1_abcdef.top
for command in "$stat" "'$NOPWATCH' clean" "'$NOPWATCH' status" "'$NOPWATCH' add -q usdt:$PROGRAMS/counter:counter:step__begin" \
  "'$NOPWATCH' remove -q '*'"; do
  without_run "$command" >out 2>&1
  status=$?
  comment "$command: $status $(tail -n 1 out)"
  ok "FIFOs in the place of journals keep nobody waiting: $(cut -d' ' -f2 <<<"$command")" test $status != 124
  # what may be kept cannot be known: who clears up, or changes it, says so
  case $command in
  *" clean" | *" add "* | *" remove "*)
    has "and it is said what is there: $(cut -d' ' -f2 <<<"$command")" "$status $(tr '\n' ' ' <out)" \
      '^1 .*nopwatch: /tmp/nopwatch-0/kept.events is no regular file: not used.*remove it' ;;
  esac
done
rm /tmp/nopwatch-0/kept.events
without_run "'$NOPWATCH' add -q usdt:$PROGRAMS/counter:counter:step__begin && '$NOPWATCH' remove -q '*'" >out 2>&1
is "without it all is well" "$? $(cat out)" "0 "
rm -rf /tmp/nopwatch-0

# Neither /run nor /tmp can be written: --state-dir, or the variable, names a place.
mkdir -m 755 state
without_both() { # COMMAND, in the directory that can be written
  timeout 60 "$TESTS_LIB/own_mounts" "mount -t tmpfs -o ro none /run || exit 98; [ -L /var/run ] || mount -t tmpfs -o ro none /var/run
    mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && mount --bind '$PWD/state' '$PWD/state' &&
      mount -o remount,bind,rw '$PWD/state' && cd '$PWD/state' || exit 98
    $1"
}
spec=usdt:$PROGRAMS/counter:counter:step__begin
has "without a place a session is refused, with what to type" "$(without_both "$stat" 2>&1 >/dev/null)" \
  '^nopwatch: cannot create /(run|tmp)/nopwatch[-0-9]*: Read-only file system.*|^nopwatch: --state-dir DIR names another place'
is "nothing is enabled then" "$(armed && echo armed)" ""
for way in "--state-dir ." "--state-dir $PWD/state" ""; do
  [ -n "$way" ] || export NOPWATCH_STATE_DIR=$PWD/state
  without_both "'$NOPWATCH' stat -j $way -o out.json --stack $spec -- '$PROGRAMS/counter' 100 0" >/dev/null 2>said
  is "stat ${way:-with the variable}" "$? $(cat said)" "0 "
  holds "... counts" state/out.json "probe('counter:step__begin')['hits'] == 100"
done
is "nothing but what was measured stays there" "$(cd state && find . ! -name out.json ! -name nopwatch-0 ! -name hit.cost)" "."
without_both "'$NOPWATCH' add -q $spec" >said 2>&1
is "add" "$? $(cat said)" "0 "
ok "... has its journal there" test -f state/nopwatch-0/kept.events
has "... whose events status knows" "$(without_both "'$NOPWATCH' status")" 'sdt_counter:step__begin'
without_both "'$NOPWATCH' remove -q '*'" >said 2>&1
is "remove" "$? $(cat said)" "0 "
without_both "'$NOPWATCH' record -q -o rec.dat $spec -- '$PROGRAMS/counter' 100 0 >/dev/null && '$NOPWATCH' report -j -o out.json rec.dat" >said 2>&1
is "record and report" "$? $(cat said)" "0 "
holds "... count" state/out.json "probe('counter:step__begin')['hits'] == 100"
without_both "'$NOPWATCH' script $spec >script.sh && '$NOPWATCH' features" >said 2>&1
is "script and features" $? 0
without_both "'$NOPWATCH' stat $spec & echo \$! >pid; wait" >/dev/null 2>&1 & away=$!
wait_for armed
kill -9 "$(cat state/pid)"
wait $away
is "the directory is ours alone" "$(stat -c %a state/nopwatch-0)" 700
ok "a killed session's journal is there" compgen -G 'state/nopwatch-0/[0-9]*_*'
without_both "'$NOPWATCH' stat -j -o out.json $spec -- '$PROGRAMS/counter' 100 0" >/dev/null 2>said
is "the next run says what it has removed" "$? $(cat said)" "0 $(cat said)"
is "... and nothing of it is left" "$(compgen -G 'state/nopwatch-0/[0-9]*_*') $(session_probes 'nopwatch_[^ /]*' | wc -l)" " 0"
unset NOPWATCH_STATE_DIR
# a service's options name the directory; clean behind it learns it from them
printf '%s\n' '# a service' stat "--state-dir $PWD/state" "'$spec'" >service.conf
"$NOPWATCH" @service.conf >/dev/null 2>&1 & service=$!
wait_for armed
kill -9 $service
wait $service 2>/dev/null
"$NOPWATCH" clean -q 2>/dev/null
ok "clean alone does not find its journal" compgen -G 'state/nopwatch-0/[0-9]*_*'
is "clean with its options removes it" "$("$NOPWATCH" clean --options-of service.conf 2>&1)" "1 dead session removed, 0 living left alone"
is "... all of it" "$(compgen -G 'state/nopwatch-0/[0-9]*_*') $(session_probes 'nopwatch_[^ /]*' | wc -l)" " 0"
# Options that cannot be read name no directory, so something may be left: clean does the rest, and fails.
# without_options FILE OPTION...
without_options() { { "$NOPWATCH" clean "${@:2}" --options-of "$1" 2>&1; echo "status $?"; } | tr '\n' ' '; }
hint='nopwatch: `nopwatch clean --state-dir DIR` looks in DIR'
missing="^nopwatch: a run with the options in none.conf may have left something: cannot read options from 'none.conf': No such file or directory $hint"
has "a file that is not there is told" "$(without_options none.conf)" "$missing 0 dead sessions removed, [0-9]+ living left alone .*status 1 $"
has "... also by clean -q" "$(without_options none.conf -q)" "$missing status 1 $"
has "... and by a dry run" "$(without_options none.conf --dry-run)" "$missing .*status 1 $"
echo 'stat --no-such-option' >wrong.conf
has "so are options that are wrong" "$(without_options wrong.conf -q)" \
  "^nopwatch: a run with the options in wrong.conf may have left something: wrong.conf:1: unknown option '--no-such-option' $hint status 1 $"
# where others could put a directory of theirs in the place of ours, or events could not name a file
mkdir -m 777 open && mkdir 'a b' open/own open/own/deep && : >file
mkdir -m 755 theirs theirs/own && chown 4711 theirs && ln -s open/own/deep link
# whoever can rename a directory above it can put another one in its place
for place in "open:other users can rename what is in it" "open/own:other users can rename what is in $PWD/open$" \
  "open/own/deep:other users can rename what is in $PWD/open$" "theirs/own:other users can rename what is in $PWD/theirs$" "a b:a blank" "file:is no directory" "none:No such file"; do
  has "--state-dir '${place%%:*}' is refused" "$("$NOPWATCH" clean --state-dir "${place%%:*}" 2>&1 || echo "status $?")" \
    "^nopwatch: cannot keep files in '[^']*${place%%:*}': .*${place#*:}"
done
has "a link leads there, too" "$("$NOPWATCH" clean --state-dir link 2>&1)" "other users can rename what is in $PWD/open$"
has "also in the variable" "$(NOPWATCH_STATE_DIR=$PWD/link "$NOPWATCH" clean 2>&1)" "^nopwatch: cannot keep files in '$PWD/link': other users can rename what is in $PWD/open$"
has "so is a path that is not absolute in the variable" "$(NOPWATCH_STATE_DIR=state "$NOPWATCH" clean 2>&1)" "^nopwatch: cannot keep files in 'state': the path does not begin with /"
ok "an empty variable is none" env NOPWATCH_STATE_DIR= "$NOPWATCH" clean -q

without_run "'$NOPWATCH' remove -q '*'" >/dev/null 2>&1
"$NOPWATCH" clean -q
unchanged
finish
