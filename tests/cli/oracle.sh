# Random programs and random pairs and triples of options: what is reported is what tests/lib/oracle.py computes from the
# single events. `make oracle` tries others, for as long as one likes.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

cases=150
[ -z "${ALL:-}" ] || cases=300
"$TESTS_LIB/oracle_run" --seed 1 --cases $cases --seconds 60 --keep . >said 2>&1
status=$?
compared=$(sed -n 's/^# \([0-9]*\) cases .*/\1/p' said)
if [ "$status" = 0 ]; then
  pass "reports of random programs agree with the oracle"
else
  fail "reports of random programs agree with the oracle"
  comment "$(cat said)"
fi
has "and these were some" "${compared:-0}" '^[0-9]{2,}$'
finish
