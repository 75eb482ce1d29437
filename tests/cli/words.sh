# @FILE: the words of a file take its place on the command line.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
sample=$TESTS_LIB/../demo/sample.dat
cp "$sample" 'a recording.dat'

# conf TEXT: the file `conf`
conf() { printf -- "$1" >conf; }

conf "# a report\n\n  report\n--top 1\n  # of one row\n--filter 'tid > 0 && comm ~ \"*\"'\r\n'a recording.dat'"
said=$("$NOPWATCH" @conf 2>&1)
is "the whole command line is in a file" "$? $said" "0 $("$NOPWATCH" report --top 1 --filter 'tid > 0 && comm ~ "*"' 'a recording.dat' 2>&1)"
has "which is what it seems" "$said" '^myserver:request +913 '
conf '-j\n--top 1\n'
is "some options are, behind the command" "$("$NOPWATCH" report @conf "$sample")" "$("$NOPWATCH" report -j --top 1 "$sample")"
is "and other words follow" "$("$NOPWATCH" report @conf --top 2 "$sample")" "$("$NOPWATCH" report -j --top 2 "$sample")"
hasnt "words behind -- are CMD's" "$("$NOPWATCH" list -- echo @none 2>&1)" 'cannot read options'
has "and those in front are not" "$("$NOPWATCH" list @none -- echo 2>&1)" "^nopwatch: cannot read options from 'none'"
echo true >@odd
has "a file whose name begins with @ has a path" "$("$NOPWATCH" report ./@odd 2>&1)" "'\./@odd'|\./@odd"
conf '@other\n'
has "a file's words are not looked up again" "$("$NOPWATCH" @conf 2>&1)" "^nopwatch: conf:1: there is no command '@other'"
has "an empty command is none" "$(: >conf; "$NOPWATCH" @conf 2>&1; echo "status $?")" '^nopwatch: conf names no command'

# refused STATUS PATTERN: `nopwatch report @conf` says so
refused() {
  said=$("$NOPWATCH" report @conf 2>&1 </dev/null)
  is "status $1" $? "$1"
  has "$2" "$said" "$2"
}
conf 'report\n--top 1\n\n--by tid --topp 3\n'
said=$("$NOPWATCH" @conf 2>&1)
is "a mistake has its line" "$? $(head -n 1 <<<"$said")" "2 nopwatch: conf:4: unknown option '--topp'"
has "and what may be meant" "$said" 'did you mean --top\?'
conf '--top x\n'
refused 2 "^nopwatch: conf:1: --top 'x': not a number"
conf '-j\n--top\n'
refused 2 "^nopwatch: conf:2: option '--top' needs a value"
conf "-j\n--filter 'a\n"
refused 1 "^nopwatch: conf:2: a quote \('\) has no end in this line$"
conf '--filter "a b"\n'
refused 1 "^nopwatch: conf:1: '\.\.\.' keeps blanks in a word; \" does not$"
conf '--top \000 1\n'
refused 1 "^nopwatch: cannot read options from 'conf': it is no text$"
head -c 70000 /dev/zero | tr '\0' a >conf
refused 1 "^nopwatch: cannot read options from 'conf': it has more than 64 KiB$"
rm conf
refused 1 "^nopwatch: cannot read options from 'conf': No such file or directory$"
has "with what @ means" "$said" '^nopwatch: @FILE stands for the words in FILE'
mkdir conf
refused 1 "^nopwatch: cannot read options from 'conf': Is a directory$"
rmdir conf
mkfifo conf
refused 1 "^nopwatch: cannot read options from 'conf': it is no regular file$"
rm conf
conf '-j\n'
chmod 646 conf
refused 1 "^nopwatch: other users can write to 'conf', which may name commands: not read$"
if [ "$(id -u)" = 0 ]; then
  chmod 664 conf
  ok "root's own group may write" "$NOPWATCH" list @conf "$SERVER"
  chgrp 4711 conf
  refused 1 "^nopwatch: other users can write to 'conf', which may name commands: not read$"
  chgrp 0 conf
fi
has "and what to do" "$said" '^nopwatch: as its owner: chmod go-w conf; as root: chown root conf$'
if [ "$(id -u)" = 0 ]; then
  chmod 644 conf
  chown 4711 conf
  refused 1 "^nopwatch: other users can write to 'conf'"
else
  skip "a file of another user is refused" "needs root"
fi
finish
