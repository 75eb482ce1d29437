# why: every cause's remedies are pasted by a test that produces the cause (`remedied`, tests/lib/why.sh), or
# the cause is known here to offer none.
. "$(dirname "$0")/../lib/tap.sh"
cd "$(dirname "$0")/../.." || exit 1

# nothing to paste (thumb: words, which foreign.sh looks at, since it takes an ARM compiler)
none='bad-definition bits32 bpf-missing bpf-privilege bpf-program execed filesystem limit no-such-event note-semaphore refused thumb'

sed -n 's/.*\[NW_CAUSE_[A-Z0-9_]*\] = {"\([a-z0-9-]*\)",.*/\1/p' src/why/causes.c >"$TEST_DIR/causes"
while IFS= read -r cause; do
  pasted=$(grep -lE "remedied \"[^\"]*\" $cause( |$)|# what $cause offers" tests/kernel/why_*.sh)
  case " $none " in
  *" $cause "*) ok "$cause is pasted nowhere, as is said here" test -z "$pasted" ;;
  *) ok "$cause is pasted" test -n "$pasted" ;;
  esac
done <"$TEST_DIR/causes"
finish
