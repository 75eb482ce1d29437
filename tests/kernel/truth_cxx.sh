# libstdc++'s own probes: exceptions thrown and caught in a C++ program.
. "$(dirname "$0")/../lib/truth.sh"

[ -x "$PROGRAMS/thrower" ] || skip_all "no C++ compiler"
library=$(ldd "$PROGRAMS/thrower" | awk '/libstdc/ { print $3 }')
"$NOPWATCH" list "$library" >/dev/null 2>&1 || skip_all "this libstdc++ has no USDT probes"

"$NOPWATCH" stat -j 'libstdcxx:*' -o out.json -- "$PROGRAMS/thrower" 5000 2 >said
holds "throws are counted exactly" out.json "probe('libstdcxx:throw')['hits'] == 10000"
holds "so are rethrows" out.json "probe('libstdcxx:rethrow')['hits'] == 1000"
holds "and catches" out.json "probe('libstdcxx:catch')['hits'] == 11000"
holds "each throw pairs with its first catch" out.json \
  "span('libstdcxx:throw-catch')['count'] == 10000 and span('libstdcxx:throw-catch')['unmatched_ends'] == 1000 and loss() == 0"

if need bpftrace; then
  ln -s "$library" library.so # bpftrace cannot spell the + in libstdc++.so
  bpftrace_start -e "$(latency_script "$PWD/library.so" libstdcxx:throw libstdcxx:catch)"
  "$NOPWATCH" stat -j 'libstdcxx:throw' 'libstdcxx:catch' -o out.json -- "$PROGRAMS/thrower" 5000 1 >/dev/null
  bpftrace_end
  is "bpftrace counts the same" "$(bpftrace_count @starts) $(bpftrace_count @ends)" "5000 5500"
  agree_with_bpftrace "p50 and p99 are bpftrace's, to a bucket" out.json libstdcxx:throw-catch
else
  skip "compare with bpftrace" "bpftrace is not installed"
fi

unchanged
finish
