# Without a /run that can be written, sessions are noted in /tmp/nopwatch: where anybody may have put something of
# that name before. It is used only if it is a directory of ours alone, and nothing in it makes nopwatch wait.
# alone: what it puts into /tmp/nopwatch is there for all
. "$(dirname "$0")/../lib/kernel.sh"

[ -e /tmp/nopwatch ] && skip_all "there is a /tmp/nopwatch"
trap 'kill_jobs; rm -rf /tmp/nopwatch' EXIT

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
ok "and takes the directory away" test ! -e /tmp/nopwatch

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
  has "$1 is not used" "$? $said" "^1 nopwatch: .*/tmp/nopwatch"
  without_run "'$NOPWATCH' clean -q" >/dev/null 2>&1
  ok "$1 keeps nobody waiting" test $? != 124
  rm -rf /tmp/nopwatch
}
mkdir -m 755 /tmp/nopwatch
refused "a directory that others may read"
mkdir -m 770 /tmp/nopwatch
refused "a directory that others may write"
mkdir -m 700 /tmp/nopwatch && chown nobody /tmp/nopwatch
refused "somebody else's directory"
mkdir -m 700 elsewhere && ln -s "$PWD/elsewhere" /tmp/nopwatch
refused "a link"
mkfifo /tmp/nopwatch
refused "a FIFO"

# in a directory that is ours, as an earlier one of us, or root, may have left them
mkdir -m 700 /tmp/nopwatch
mkfifo -m 600 /tmp/nopwatch/kept.events /tmp/nopwatch/kept.events.new /tmp/nopwatch/1_abcdef /tmp/nopwatch/sh1_abcdef.top
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
      '^1 .*nopwatch: /tmp/nopwatch/kept.events is no regular file: not used.*remove it' ;;
  esac
done
rm /tmp/nopwatch/kept.events
without_run "'$NOPWATCH' add -q usdt:$PROGRAMS/counter:counter:step__begin && '$NOPWATCH' remove -q '*'" >out 2>&1
is "without it all is well" "$? $(cat out)" "0 "
rm -rf /tmp/nopwatch
without_run "'$NOPWATCH' remove -q '*'" >/dev/null 2>&1
"$NOPWATCH" clean -q
unchanged
finish
