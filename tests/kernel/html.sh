# The page of -f html over PostgreSQL, in a real browser: a recording, live, groups, and SQL that is hostile.
# shellcheck disable=SC2154 # set by the library
. "$(dirname "$0")/../lib/postgres.sh"
# shellcheck source=../lib/page.sh
. "$TESTS_LIB/page.sh"

has_browser || skip_all "chromium and chromedriver are not installed"
postgres_start
spec="usdt:$postgres:postgresql"
evil='</script><img src=x onerror="document.title=`HACKED`">'

# ---- a recording ----

cat >load.sh <<P
pgbench -n -c 4 -j 2 -t 300
pgbench -n -S -c 1 -R 200 -T 1 &
psql -q -c "select pg_sleep(0.8), '$evil'"
wait
P
"$NOPWATCH" record -q "$spec:query__start(sql:string)" "$spec:query__done(sql:string)" -o rec.dat -- \
  bash load.sh >/dev/null 2>&1
"$NOPWATCH" report -f html -o page.html rec.dat
"$NOPWATCH" report -j rec.dat >report.json
"$NOPWATCH" trace -j --from rec.dat >events.json
keep_browser
tap_of "$TESTS_LIB/html_agrees" page.html report.json events.json postgresql:query
tap_of "$TESTS_LIB/html_hostile" page.html postgresql:query "${evil%%\"*}" "$(uname -r)" "nopwatch record -q"
end_browser
ok "no more than a mebibyte" [ "$(stat -c %s page.html)" -le 1048576 ]

# ---- live: replaced in one step, groups beside each other ----

printf 'what stood there' >live.html
"$NOPWATCH" stat -q -f html -i 0.2 --by comm -o live.html "$spec:query__start" "$spec:query__done" -- \
  pgbench -n -S -c 2 -T 2 >/dev/null 2>&1 &
running=$!
# a page that is there at any moment is whole, and tells of a run that goes on or has ended
torn=0 pages=0
while kill -0 $running 2>/dev/null; do
  cp live.html look.html
  if [ "$(cat look.html)" != "what stood there" ]; then
    pages=$((pages + 1))
    [ "$(tail -n 1 look.html)" = "</html>" ] || torn=$((torn + 1))
  fi
  sleep 0.05
done
wait $running
is "it ends well" $? 0
is "whoever looks finds a whole page" $torn 0
[ $pages -gt 0 ] && pass "and found $pages" || fail "no page was seen"
page_data live.html >live.json
holds "the last one is of everything, with groups" live.json \
  "of('page')[0]['about']['reason'] == 'command' and of('page')[0]['about']['by'] == 'comm' and sum(r['count'] for r in of('page')[0]['rows'] if r['type'] == 'span') > 100 and {r['group'] for r in of('page')[0]['rows']} == {'postgres'}"
holds "where it was, and what it cost" live.json \
  "of('page')[0]['about']['kernel'] == '$(uname -r)' and 'CPU in the traced processes' in of('page')[0]['about']['cost'] and of('page')[0]['about']['command'].startswith('nopwatch stat -q -f html')"

postgres_end
unchanged
finish
