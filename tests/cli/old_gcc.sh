# gcc 4.8 (RHEL 7's), and 5.4 with ALL=1, build the command without a warning, with the C library of those days, and it works.
. "$(dirname "$0")/../lib/tap.sh"

TOP=$(cd "$TESTS_LIB/../.." && pwd)
[ -f "$TOP/build/old.whole" ] || skip_all "the old compilers have not been fetched (make vm-kernels)"
"$NOPWATCH" list -j "$SERVER" >"$TEST_DIR/wanted"

for version in 4.8 ${ALL:+5}; do
  rm -rf "$TOP/build/old-$version" # warnings are only said when something is compiled
  ok "gcc $version builds it" sh -c "'$TOP/tests/old/build' $version >'$TEST_DIR/said' 2>&1 || { tail -n 20 '$TEST_DIR/said'; false; }"
  is "gcc $version warns of nothing" "$(grep 'warning:' "$TEST_DIR/said")" ""
  "$TOP/build/old-$version/nopwatch" list -j "$SERVER" >"$TEST_DIR/got"
  ok "gcc $version: it lists the same" cmp "$TEST_DIR/got" "$TEST_DIR/wanted"
done
finish
