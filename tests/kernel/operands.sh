# Random argument lists, in 64-bit and 32-bit programs: what the kernel records is what the program printed. Each of 13 programs
# has 24 probes, with ALL=1 160: their compilers take most of the time.
. "$(dirname "$0")/../lib/kernel.sh"

probes=${ALL:+160}

# build SEED COMPILER...: one program
build() {
  local seed=$1
  shift
  "$TESTS_LIB/operand_program" "$seed" "${probes:-24}" 25 "$seed.expect" >"$seed.c" &&
    "$@" -w -Iinclude "$seed.c" -o "program$seed" 2>"$seed.err" && "$NOPWATCH" list -j "program$seed" >"$seed.list"
}

# The specs by which the strings of a program are strings.
string_specs() {
  python3 -c '
import json, sys
for name, args in json.load(open(sys.argv[1])).items():
    if name[0] == "s":
        print(f"gen:{name}(" + ",".join(f"arg{i}" + ":string" * a["string"] for i, a in enumerate(args)) + ")")' "$1"
}

# try WHAT SEED: every probe is fired 4 times, with different values
try() {
  local what=$1 seed=$2 said
  if [ ! -s "$seed.list" ]; then
    if grep -q 'internal compiler error\|impossible' "$seed.err"; then
      skip "$what" "the compiler gave up"
    else
      fail "$what: cannot be built"
      comment "$(cat "$seed.err")"
    fi
    return
  fi
  mapfile -t specs < <(string_specs "$seed.expect")
  timeout 100 "$NOPWATCH" trace -j -q --string-size 512 'gen:*' "${specs[@]}" -o trace.json -- "./program$seed" 4 >said 2>trace.err
  if said=$("$TESTS_LIB/values_agree" said trace.json "$seed.list" "$seed.expect" 2>&1); then
    pass "$what: $(head -n 1 <<<"$said")"
  else
    fail "$what"
    comment "$said"
    comment "$(cat trace.err)"
  fi
}

# The header fits every machine; a compiler for another one does not look where it lies.
mkdir -p include/sys
for header in sdt.h sdt-config.h; do
  echo "#include <sys/$header>" | gcc -E -x c - 2>/dev/null |
    sed -n 's,^# 1 "\(/.*/sys/'$header'\)".*,\1,p' | head -n 1 | xargs -r cp -t include/sys
done
no_32_bits=$(no_32_bits)

flags=("-O0 -fPIE -pie" "-O1 -fno-pie -no-pie" "-O2 -fPIE -pie" "-O2 -fno-pie -no-pie -fno-omit-frame-pointer"
  "-O3 -fPIE -pie" "-Os -fno-pie -no-pie")
small_flags=("-O0" "-O1 -fno-pie -no-pie" "-O2" "-O3 -fomit-frame-pointer" "-Os")
runs=()
for flag in "${flags[@]}"; do runs+=("gcc $flag"); done
need clang && runs+=("clang -O0" "clang -O2") # prefers memory, even below the stack pointer
for flag in "${small_flags[@]}"; do [ "$no_32_bits" ] || runs+=("i686-linux-gnu-gcc -static $flag"); done
for i in "${!runs[@]}"; do
  # shellcheck disable=SC2086
  build $((1001 + i)) ${runs[i]} &
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
done
wait
for i in "${!runs[@]}"; do try "${runs[i]}" $((1001 + i)); done
[ -z "$no_32_bits" ] || skip "32-bit programs" "$no_32_bits"

unchanged
finish
