# why: every cause's remedies are pasted by a test that produces the cause (`remedied`, tests/lib/why.sh), or
# the cause is known here to offer none.
. "$(dirname "$0")/../lib/tap.sh"
cd "$(dirname "$0")/../.." || exit 1

# nothing to paste (thumb: words, which foreign.sh looks at, since it takes an ARM compiler)
none='bad-definition bits32 bpf-missing bpf-privilege bpf-program execed filesystem function-forbidden function-not-traceable limit no-such-event note-semaphore object-file refused thumb'

sed -n 's/.*\[NW_CAUSE_[A-Z0-9_]*\] = {"\([a-z0-9-]*\)",.*/\1/p' src/why/causes.c >"$TEST_DIR/causes"
while IFS= read -r cause; do
  pasted=$(grep -lE "remedied \"[^\"]*\" $cause( |$)|# what $cause offers" tests/kernel/why_*.sh tests/kernel/truth_*.sh tests/vm/guest_*)
  case " $none " in
  *" $cause "*) ok "$cause is pasted nowhere, as is said here" test -z "$pasted" ;;
  *) ok "$cause is pasted" test -n "$pasted" ;;
  esac
done <"$TEST_DIR/causes"

# what `why --error` says to type has only commands and options that there are
grep -v '^#' src/why/errors.tsv | cut -f 4 | grep -o 'nopwatch [a-z].*' | sort -u >"$TEST_DIR/remedies"
wrong=$(while read -r _ command words; do
  help=$("$NOPWATCH" help "$command" 2>/dev/null) || echo "no command: $command $words"
  for option in $(grep -oE -- '(^| )--?[a-z][a-z-]*' <<<"$words"); do
    grep -qE -- "^ +(-., +)?$option( |=|\[|\$)|^ +$option," <<<"$help" || echo "no option $option: $command $words"
  done
done <"$TEST_DIR/remedies")
is "remedies of messages take options that there are" "$wrong" ""
ok "and there are some" test "$(wc -l <"$TEST_DIR/remedies")" -ge 10
finish
