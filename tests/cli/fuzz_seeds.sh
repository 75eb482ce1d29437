# The seeds of the fuzz targets are those that `make fuzz-seeds` makes: whoever changes tests/fuzz/seeds.c makes them again.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TESTS_LIB/../.." || exit 1 # where it looks for tests/data

"$FUZZERS-seeds" "$TEST_DIR" >"$TEST_DIR.said" 2>&1
is "they can be made" $? 0
made=$(cd "$TEST_DIR" && find . -type f | sort)
[ "$(wc -l <<<"$made")" -ge 100 ] && pass "of all kinds" || fail "these are all: $made"
# what fuzzers have found is in the corpus, too
is "and each is in the corpus, byte for byte" \
  "$(while read -r file; do cmp "$TEST_DIR/$file" "tests/fuzz/corpus/$file" 2>&1; done <<<"$made")" ""
finish
