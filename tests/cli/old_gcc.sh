# gcc 4.8 (RHEL 7's) takes all sources without a warning, with the C library of those days. With ALL=1 it builds the command, optimized, and so
# does gcc 5.4, and what they have built works.
. "$(dirname "$0")/../lib/tap.sh"

TOP=$(cd "$TESTS_LIB/../.." && pwd)
[ -f "$TOP/build/old.whole" ] || skip_all "the old compilers have not been fetched (make vm-kernels)"
"$NOPWATCH" list -j "$SERVER" >"$TEST_DIR/wanted"
only=-fsyntax-only verb=reads
[ -z "${ALL:-}" ] || only='' verb=builds

for version in 4.8 ${ALL:+5}; do
  rm -rf "$TOP/build/old-$version" # warnings are only said when something is compiled
  ok "gcc $version $verb it" sh -c "'$TOP/tests/old/build' $version $only >'$TEST_DIR/said' 2>&1 || { tail -n 20 '$TEST_DIR/said'; false; }"
  is "gcc $version has read every source" "$(grep -c '^  CC ' "$TEST_DIR/said")" "$(find "$TOP/src" -name '*.c' | wc -l)"
  is "gcc $version warns of nothing" "$(grep 'warning:' "$TEST_DIR/said")" ""
  [ -z "$only" ] || continue
  "$TOP/build/old-$version/nopwatch" list -j "$SERVER" >"$TEST_DIR/got"
  ok "gcc $version: it lists the same" cmp "$TEST_DIR/got" "$TEST_DIR/wanted"
done
finish
