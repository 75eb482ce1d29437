# Events that programs register by themselves: a recording of tests/programs/user_events.c, made on Linux 6.8 in a virtual machine
# (tests/vm/guest_user_events, user.dat there). What few kernels can do live, each can read.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

gzip -dc "$TESTS_LIB/../data/user_events.dat.gz" >user.dat
"$NOPWATCH" trace -j --from user.dat >events.json
holds "every event is there, in the order in which it was written" events.json \
  "[e['probe'].split(':')[1] for e in of('event')] == ['nwtest_start', 'nwtest_done', 'NwTest_L4K1', 'NwTest_L4K1'] * 50"
holds "plain events have their fields" events.json \
  "[(s['args']['id'], s['args']['path'], d['args']['status'], d['args']['by']) for s, d in zip(of('event')[::4], of('event')[1::4])] \
    == [(i, f'/request/{i}', -(i % 3), 'a worker') for i in range(50)]"
holds "EventHeader events name their own" events.json \
  "[(e['args']['event'], e['args']['id'], e['args']['fields']['who'], e['args']['fields']['wide'], e['args']['fields']['counts']) for e in of('event')[2::4]] \
    == [('Request', i, {'uid': -5, 'group': 'wheel'}, 'gr\u00fcn\U0001f600', [7, 8, i]) for i in range(50)] and \
    [e['args'] for e in of('event')[3::4]] == [{'event': 'Reply', 'id': i, 'fields': {'id': i, 'status': -(i % 3)}} for i in range(50)]"
has "text has them, too" "$("$NOPWATCH" trace --from user.dat)" 'NwTest_L4K1 +event="Reply" fields=\{"id":49,"status":-1\} id=49$'
"$NOPWATCH" report -j --by event user.dat >by.json
holds "groups by the name of an event" by.json \
  "{r['group']: r['hits'] for r in of('probe') if r['probe'].endswith('NwTest_L4K1')} == {'Request': 50, 'Reply': 50}"
"$NOPWATCH" report -j --by 'json(fields, who.group)' --filter 'event == "Request" && json(fields, flags) == 48879' --hist id user.dat >by.json
holds "by members of all fields, with a filter and a histogram" by.json \
  "[(r['group'], r['hits'], r['args']['id']['sum']) for r in of('probe') if r['probe'].endswith('NwTest_L4K1')] == [('wheel', 50, 1225)]"
"$NOPWATCH" report -j --span 'request=user_events:nwtest_start..user_events:NwTest_L4K1,key=id' user.dat >span.json
holds "spans between them" span.json "span('request')['count'] == 50 and span('request')['unmatched_ends'] == 50"
"$NOPWATCH" report -f csv user.dat >out.csv
has "other formats count them" "$(cat out.csv)" 'user_events:NwTest_L4K1'
ok "a timeline has them" test "$("$NOPWATCH" trace -f perfetto --from user.dat -o user.pftrace && grep -c nwtest user.pftrace)" -gt 0
ok "and a page" "$NOPWATCH" report -f html -o page.html user.dat
has "they are not added" "$("$NOPWATCH" add --dry-run user_events:nwtest_start 2>&1)" "user_events:nwtest_start is a program's own"
finish
