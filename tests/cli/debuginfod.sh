# --debuginfod: debug information from a server, only if it is asked for, and never believed.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

case $("$NOPWATCH" --version) in *static*) skip_all "a static program opens no library" ;; esac
[ -n "$(ldconfig -p 2>/dev/null | grep 'libdebuginfod\.so\.1')" ] || skip_all "libdebuginfod is not installed"
cat >program.c <<'C'
struct request { int id; const char *name; };
__attribute__((noinline)) int handle(struct request *request, int times) { return request->id * times; }
int main(int argc, char **argv) { struct request r = {argc, argv[0]}; return handle(&r, 3); }
C
"${CC:-gcc}" -g -O1 -Wl,--build-id -o whole program.c || skip_all "no compiler"
"${CC:-gcc}" -g -O2 -Wl,--build-id -DOTHER -Dhandle=other -o another program.c
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug whole whole.debug
objcopy --only-keep-debug another another.debug
strip -o program whole
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
left() { find /tmp -maxdepth 1 -name "nopwatch-debuginfod-*" | wc -l; }
# served HOW FILE: the server as $server, at $DEBUGINFOD_URLS
served() {
  rm -f port log
  "$TESTS_LIB/debuginfod" "$2" "$id" "$1" log port &
  server=$!
  for _ in $(seq 300); do
    [ ! -s port ] || break
    sleep 0.1
  done
  DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)"
  export DEBUGINFOD_URLS
}
ended() {
  kill $server
  wait $server 2>/dev/null
  unset DEBUGINFOD_URLS
}

served good whole.debug
said=$("$NOPWATCH" list --functions ./program handle 2>&1)
has "without the option the function has no name" "$said" "there is no function 'handle'"
ok "and no server is asked" test ! -e log
said=$("$NOPWATCH" list --functions -v --debuginfod ./program handle 2>err)
has "with it, the function is there, with its line and arguments" "$said" "func:\./program:handle .*program\.c:2"
has "by the debug file's DWARF" "$said" "request: struct request \*"
has "which is told" "$(cat err)" "^nopwatch: debuginfod: the debug information with build ID $id was fetched\$"
is "it is asked for once" "$(cat log)" "/buildid/$id/debuginfo"
said=$("$NOPWATCH" stat --dry-run --debuginfod 'func:./program:handle(request->id, times)' 2>&1)
has "specs use it" "$said" "uprobe_events"
rm -f log
said=$("$NOPWATCH" list --functions --debuginfod ./whole handle 2>&1)
has "a file that has its own" "$said" "func:\./whole:handle"
ok "needs none" test ! -e log
ended
for how in wrong cut short endless silent none; do
  file=whole.debug
  [ $how != wrong ] || file=another.debug
  served $how $file
  said=$(DEBUGINFOD_MAXTIME=3 DEBUGINFOD_TIMEOUT=3 "$NOPWATCH" list --functions --debuginfod ./program handle 2>&1)
  is "$how: the command fails" $? 1
  is "$how: the server was asked" "$(sort -u log)" "/buildid/$id/debuginfo"
  has "$how: and says why" "$said" "debuginfod: no debug information with build ID $id: "
  hasnt "$how: nothing of it is taken" "$said" "func:"
  ended
done

# Whoever runs nopwatch with a capability (docs/security.md) has a child without it that fetches.
if [ "$(id -u)" = 0 ] && grep -q CapAmb /proc/self/status; then
  served silent whole.debug
  chmod 755 . program
  DEBUGINFOD_MAXTIME=5 DEBUGINFOD_TIMEOUT=5 "$PROGRAMS/as_user" 65534 1 "$NOPWATCH" list --functions --debuginfod ./program handle >/dev/null 2>&1 &
  one=$!
  for _ in $(seq 300); do
    [ ! -s log ] || break
    sleep 0.1
  done
  has "nopwatch has the capability" "$(cat /proc/$one/status)" '^CapEff:.*2$'
  is "and what fetches for it has none" "$(pgrep -P $one | sed 's|.*|/proc/&/status|' | xargs grep -h '^CapEff:' | sort -u)" $'CapEff:\t0000000000000000'
  wait $one
  ended
fi
said=$("$NOPWATCH" list --functions --debuginfod ./program handle 2>&1)
has "without a server it is a mistake of the command line" "$? $said" "^2 nopwatch: --debuginfod: of which server\?"
is "no directory is left" "$(left)" 0
finish
