# Functions by the names that C++ gives them.
# in turn: it adds events that stay
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/names" names || skip_all "no C++ compiler"
if "$NOPWATCH" stat --dry-run uprobe:./names:app::handler 2>&1 | grep -q 'there is no function'; then
  skip_all "names of C++ are not read here (libstdc++ is missing)"
fi

"$NOPWATCH" stat -j uprobe:./names:app::handler -o out.json -- ./names 30 >/dev/null 2>err
is "a name without parameters is every function of that name" \
  "$(grep -o '"probe":"[^"]*","symbol":"[^"]*","hits":30' out.json | sort)" \
  '"probe":"uprobe:app::handler(double)","symbol":"_ZN3app7handlerEd","hits":30
"probe":"uprobe:app::handler(int)","symbol":"_ZN3app7handlerEi","hits":30'
"$NOPWATCH" trace -j -n 1 'uprobe:./names:app::Server::serve(server,what:string)' -o out.json -- ./names 30 >/dev/null 2>&1
holds "arguments are named and typed, and hits have both names" out.json \
  "[(e['probe'], e['symbol'], e['args']['what']) for e in of('event')] == [('uprobe:app::Server::serve', '_ZNK3app6Server5serveEPKcl', 'abc')]"
"$NOPWATCH" stat 'func:./names:app::*' -- ./names 30 >out 2>&1
if grep -q 'cannot be told' out; then
  skip "calls are timed under their names" "built without capstone"
else
  is "calls are timed under their names" "$(awk '/^app::/ && $2 == 30 { print $1 }' out | sort)" \
    "$(printf '%s\n' 'app::Server::serve' 'app::handler(double)' 'app::handler(int)' 'app::twice<double>' 'app::twice<int>')"
  has "each overload has its histogram" "$(cat out)" '^app::handler\(int\), latency:'
fi
is "arguments of templates may be left out or given" \
  "$("$NOPWATCH" stat 'uprobe:./names:app::twice<int>' -- ./names 7 2>&1 | awk '/^uprobe:/ { print $1, $2 }')" 'uprobe:app::twice<int> 7'
"$NOPWATCH" stat -j 'uprobe:./names:app::handler(int)(i:s32)' 'uprobe:./names:app::handler( double )' \
  'uprobe:./names:app::Server::serve(const char *, long)' -o out.json -- ./names 30 >/dev/null 2>&1
is "parameters choose an overload, and arguments may be named behind them" \
  "$(grep -o '"probe":"[^"]*","symbol":"[^"]*","hits":30' out.json | cut -d'"' -f4 | sort)" \
  'uprobe:app::Server::serve
uprobe:app::handler(double)
uprobe:app::handler(int)'
"$NOPWATCH" record --stack -o calls.dat func:./names:app::Server::serve -- ./names 5 >/dev/null 2>&1
if "$NOPWATCH" report -j calls.dat >out.json 2>&1 && grep -q '"type":"span"' out.json; then
  "$NOPWATCH" trace -j --slower 1us --from calls.dat | grep '"slow"' >>out.json
  "$NOPWATCH" report -j --stack calls.dat | grep '"stack"' >>out.json
  holds "spans, slow ones and stacks have both names" out.json \
    "all(r['symbol'] == '_ZNK3app6Server5serveEPKcl' for t in ('span', 'slow', 'stack') for r in of(t)) and all(of(t) for t in ('span', 'slow', 'stack'))"
  is "so does CSV, as a column" "$("$NOPWATCH" report -f csv calls.dat | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "symbol") at = i }
    $1 == "span" { print $2, $at }')" "app::Server::serve _ZNK3app6Server5serveEPKcl"
else
  skip "spans, slow ones and stacks have both names" "built without capstone"
fi
"$NOPWATCH" report -j --stack --no-demangle calls.dat >out.json 2>&1
holds "of recordings, --no-demangle shows the linker's names, also in stacks" out.json \
  "all('symbol' not in r for r in of('probe') + of('stack')) and of('probe')[0]['probe'] == 'uprobe:_ZNK3app6Server5serveEPKcl' \
  and of('stack')[0]['stack'][0].startswith('_ZNK3app6Server5serveEPKcl')"
"$NOPWATCH" stat --no-demangle 'uprobe:./names:app::*' -- ./names 3 >out 2>&1
has "--no-demangle shows the linker's names" "$(cat out)" '^uprobe:_ZN3app7handlerEd  '
"$NOPWATCH" stat 'uprobe:./names:_ZN3app7handlerEd' -- ./names 3 >out 2>&1
has "a name that was typed as the linker has it stays" "$(cat out)" '^uprobe:_ZN3app7handlerEd  '
"$NOPWATCH" record -o names.dat uprobe:./names:app::handler -- ./names 5 >/dev/null 2>&1
has "recordings have both names" "$("$NOPWATCH" report -j names.dat 2>&1)" '"probe":"uprobe:app::handler\(int\)","symbol":"_ZN3app7handlerEi","hits":5'
"$NOPWATCH" add uprobe:./names:app::Server::serve >added 2>&1
has "events that stay are called so" "$(cat added "$TRACEFS/uprobe_events")" '^p:probe_names/app__Server__serve '
"$NOPWATCH" add --no-demangle uprobe:./names:app::Server::serve >added 2>&1
has "or as the linker calls them" "$(cat added "$TRACEFS/uprobe_events")" '^p:probe_names/_ZNK3app6Server5serveEPKcl '
"$NOPWATCH" remove probe_names >/dev/null 2>&1
said=$("$NOPWATCH" stat uprobe:./names:app::handler+1 -- ./names 2>&1)
has "an offset is one function's" "$? $said" "has several functions called 'app::handler'"
said=$("$NOPWATCH" stat uprobe:./names:app::handle -- ./names 2>&1)
has "a name that nothing has is not found" "$? $said" "there is no function 'app::handle' in "
has "and those that are near are named" "$said" "did you mean app::handler\(double\), app::handler\(int\)\?"
is "completion offers the names" "$("$NOPWATCH" __complete stat "func:./names:app::S" 2>/dev/null | cut -f1 | tail -1)" "func:./names:app::Server::serve"

# Rust has two manglings of its own; the older one is C++'s with a hash.
if command -v rustc >/dev/null; then
  cat >rust.rs <<'RS'
struct Till(u32);
trait Shop { fn sell(&self, n: u32) -> u32; }
impl Shop for Till { #[inline(never)] fn sell(&self, n: u32) -> u32 { unsafe { std::ptr::read_volatile(&n) + self.0 } } }
mod shop { #[inline(never)] pub fn through<T: Into<u32>>(x: T) -> u32 { let n: u32 = x.into(); unsafe { std::ptr::read_volatile(&n) } } }
fn main() { std::process::exit((Till(1).sell(2) + shop::through(3u16) + shop::through(4u8) == 0) as i32) }
RS
  for mangling in legacy v0; do
    # rustc 1.95 knows the older one, but asks whether one is sure
    RUSTC_BOOTSTRAP=1 rustc -O -Z unstable-options -C symbol-mangling-version=$mangling rust.rs -o "rust$mangling" 2>err || {
      skip "functions of Rust ($mangling)" "this rustc has no such mangling"
      continue
    }
    "$NOPWATCH" stat -j "uprobe:./rust$mangling:rust::Till::sell" "uprobe:./rust$mangling:rust::shop::through" \
      -o out.json -- "./rust$mangling" >/dev/null 2>&1
    holds "functions of Rust are found ($mangling)" out.json \
      "[sum(r['hits'] for r in of('probe') if name in r['probe']) for name in ('sell', 'through')] == [1, 2]"
  done
else
  skip "functions of Rust" "no rustc"
fi

unchanged
finish
