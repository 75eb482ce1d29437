# `make static`: one file that needs nothing, and, with ALL=1, the same bytes from the same sources built elsewhere.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/static.sh"

TOP=$(cd "$TESTS_LIB/../.." && pwd)
machines=$(uname -m)
[ -z "${ALL:-}" ] || machines=$("$TOP/scripts/static" --machines)

# The sources elsewhere; the libraries are those that have been fetched.
elsewhere=$TEST_DIR/some/where
[ -z "${ALL:-}" ] || {
  mkdir -p "$elsewhere/build"
  tar -C "$TOP" -cf - Makefile scripts src include tests/tests.mk tests/vm tests/fuzz/fuzz.mk | tar -C "$elsewhere" -xf -
  [ ! -d "$TOP/build/sysroot" ] || cp -r "$TOP/build/sysroot" "$elsewhere/build/sysroot"
}

for machine in $machines; do
  why=$("$TOP/scripts/static" "$machine" 2>&1)
  case $? in
  0) ;;
  1)
    skip "$machine" "$why"
    continue
    ;;
  *)
    fail "$machine: builds"
    comment "$why"
    continue
    ;;
  esac
  file=$TOP/build/static/nopwatch-$machine
  static_check "$machine" "$file"
  is "$machine: no path of this machine is in it" "$(strings -a "$file" | grep -cF "$TOP")" 0
  [ -n "${ALL:-}" ] || continue
  (cd "$elsewhere" && SOURCE_DATE_EPOCH=1 TZ=Asia/Tokyo LC_ALL=C scripts/static "$machine" >/dev/null 2>&1)
  ok "$machine: built elsewhere, the same bytes" cmp "$file" "$elsewhere/build/static/nopwatch-$machine"
done
# what is needed for the returns of any program that may throw, as static ones do
case $(uname -m) in
x86_64 | aarch64)
  has "takes instructions apart" "$("$TOP/build/static/nopwatch-$(uname -m)" stat --dry-run "func:$PROGRAMS/leaves:step,returns=insn" 2>&1)" \
    "'p:nopwatch_[^ ]* $PROGRAMS/leaves:.*'"
  ;;
esac
file=$TOP/build/static/nopwatch-$(uname -m)
if [ -x "$PROGRAMS/names" ]; then
  names=$("$file" list "func:$PROGRAMS/names:app::*" 2>&1)
  has "knows C++'s names" "$names" 'app::handler'
  is "the same as the other program" "$names" "$("$NOPWATCH" list "func:$PROGRAMS/names:app::*" 2>&1)"
else
  skip "knows C++'s names" "no C++ compiler"
fi
has "runs where there is no library" \
  "$(mkdir "$TEST_DIR/root" && cp "$TOP/build/static/nopwatch-$(uname -m)" "$TEST_DIR/root/nopwatch" &&
    { chroot "$TEST_DIR/root" /nopwatch --version 2>&1 || unshare -r chroot "$TEST_DIR/root" /nopwatch --version 2>&1; })" '^nopwatch '
finish
