# Programs of every architecture that a compiler is installed for: what list says of them is what
# readelf and the programs' generator say.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

copy_sdt
levels='0 1 2 3'
for level in $levels; do
  "$TESTS_LIB/operand_program" "2$level" 30 30 "expect.$level" >"program.$level.c"
done

# build OUTPUT LEVEL COMPILER...
build() {
  local output=$1 level=$2
  shift 2
  "$@" -w -g0 -DFREESTANDING -ffreestanding -nostdlib -Iinclude "-O$level" "program.$level.c" -o "$output" 2>"$output.err"
}

# one ARCH LEVEL KIND COMPILER...: build, list, compare; what came of it goes to a file
one() {
  local arch=$1 level=$2 kind=$3 file=$1.$2.$3 flags
  shift 3
  case $kind in
  pie) flags="-fPIE -pie" ;;
  fixed) flags="-fno-pie -no-pie -DNO_SEMAPHORES" ;;
  esac
  # shellcheck disable=SC2086
  build "$file" "$level" "$@" $flags || { echo "cannot build" && cat "$file.err"; return 2; }
  "$NOPWATCH" list -j "$file" >"$file.json" 2>"$file.err" || { cat "$file.err" && return 1; }
  [ ! -s "$file.err" ] || { cat "$file.err" && return 1; }
  "$TESTS_LIB/operands_agree" "$file" "$file.json" "expect.$level" "$arch" || return 1
  "$NOPWATCH" list -v "$file" >"$file.text"
  "$TESTS_LIB/list_agrees" "$file.json" "$file.text"
}

# The architecture as we call it, and how a compiler for it is called.
compilers() {
  local arch prefix flags
  while read -r arch prefix flags; do
    if command -v "$prefix-gcc" >/dev/null; then
      echo "$arch $prefix-gcc $flags"
    elif [ "$(gcc -dumpmachine | cut -d - -f 1)" = "${prefix%%-*}" ]; then
      echo "$arch gcc $flags"
    else
      echo "$arch - $prefix"
    fi
  done <<'T'
x86_64 x86_64-linux-gnu
i386 i686-linux-gnu
aarch64 aarch64-linux-gnu
arm arm-linux-gnueabihf -marm
ppc64le powerpc64le-linux-gnu
ppc64 powerpc64-linux-gnu
s390x s390x-linux-gnu
riscv64 riscv64-linux-gnu
loongarch64 loongarch64-linux-gnu
T
}

# Each level has a program of its own, which is linked to run anywhere (-O0, -O2) or at a fixed address. In every check an architecture has
# two of them, -O2 and one of the others, which take turns; ALL=1 tries all four, and links each in both ways.
levels_of() { # NUMBER of the architecture
  if [ -n "${ALL:-}" ]; then
    echo "$levels"
  else
    case $(($1 % 3)) in 0) echo 2 0 ;; 1) echo 2 1 ;; *) echo 2 3 ;; esac
  fi
}
kinds_of() { # LEVEL
  if [ -n "${ALL:-}" ]; then echo pie fixed; else case $1 in 0 | 2) echo pie ;; *) echo fixed ;; esac; fi
}

one_arch() { # NUMBER ARCH COMPILER...
  local number=$1 arch=$2 level kind
  for level in $(levels_of "$number"); do
    for kind in $(kinds_of "$level"); do
      one "$arch" "$level" "$kind" "${@:3}" >"said.$arch.$level.$kind" 2>&1
      echo $? >"status.$arch.$level.$kind"
    done
  done
}

# As many at a time as there are processors.
number=0
while read -r arch compiler flags; do
  number=$((number + 1))
  [ "$compiler" != - ] || continue
  # shellcheck disable=SC2086
  one_arch $number "$arch" "$compiler" $flags &
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
done < <(compilers)
wait

number=0
while read -r arch compiler flags; do
  number=$((number + 1))
  if [ "$compiler" = - ]; then
    skip "$arch: operands" "no $flags-gcc"
    continue
  fi
  for level in $(levels_of $number); do
    for kind in $(kinds_of "$level"); do
      what="$arch -O$level $kind: $(head -n 1 "said.$arch.$level.$kind")"
      if [ "$(cat "status.$arch.$level.$kind")" = 0 ]; then
        pass "$what"
      elif grep -q 'internal compiler error' "said.$arch.$level.$kind"; then
        skip "$what" "the compiler crashed" # gcc 12 does for s390x now and then
      else
        fail "$what"
        comment "$(cat "said.$arch.$level.$kind")"
      fi
    done
  done
done < <(compilers)

# Where the code at an address lies in a file.
elf_offset() { # FILE ADDRESS
  readelf -lW "$1" | awk '$1 == "LOAD" && /R E/ { print $2, $3, $5 }' | while read -r from start size; do
    [ $(($2)) -lt $((start)) ] || [ $(($2)) -ge $((start + size)) ] || printf '0x%x\n' $((($2 & ~1) - start + from))
  done
}

# Thumb code cannot be probed; its operands can be shown.
thumb=arm-linux-gnueabihf-gcc
if command -v $thumb >/dev/null && build thumb 2 $thumb -mthumb -fPIE -pie; then
  "$NOPWATCH" list -j thumb >thumb.json 2>/dev/null
  holds "Thumb code: every note is put aside, and says why" thumb.json \
    "len(rows) >= 30 and all(r['type'] == 'skipped' and 'Thumb' in r['problem'] for r in rows)"
  # the first function, whose symbol has the bit set
  read -r at name < <(readelf -sW thumb | awk '$4 == "FUNC" && $2 ~ /[13579bdf]$/ { print "0x" $2, $8; exit }')
  said=$(NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat --dry-run "func:./thumb:$name" 2>&1)
  has "Thumb code: its functions are refused, too" "$? $said" \
    "^1 nopwatch: '$name' of .*thumb is Thumb code, in which kernels cannot place uprobes"
  offset=$(elf_offset thumb "$at")
  said=$(NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat --dry-run --force "uprobe:./thumb:$offset" 2>&1)
  has "Thumb code: by their offset, too" "$? $said" "^1 nopwatch: '$name' of .*thumb is Thumb code"
  for spec in "func:./thumb:$name" "uprobe:./thumb:$offset" 'usdt:./thumb:*'; do
    holds "Thumb code: why names it ($spec)" <(NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" why -j "$spec" 2>/dev/null) \
      "'thumb' in last['causes'] and any('-marm' in r for r in last['remedy'])"
  done
  "$NOPWATCH" list --force -j thumb >thumb.json 2>/dev/null
  ok "Thumb code: with --force the operands are shown" "$TESTS_LIB/operands_agree" thumb thumb.json expect.2 arm
else
  skip "Thumb code" "no $thumb"
fi

# Neither root nor tracefs: a stranger sees the same.
file=$(compgen -G 's390x.2.pie' || compgen -G 'x86_64.2.pie')
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  stranger=$(mktemp -d)
  chmod 755 "$stranger"
  cp "$NOPWATCH" "$file" "$stranger/"
  seen=$(cd "$stranger" && NOPWATCH_TRACEFS=/nowhere setpriv --reuid=65534 --regid=65534 --clear-groups \
    ./nopwatch list -j "$file")
  is "list of a foreign file as nobody" "$seen" "$(cat "$file.json")"
  rm -rf "$stranger"
else
  is "list of a foreign file without tracefs" "$(NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" list -j "$file")" "$(cat "$file.json")"
fi
finish
