# --cgroup, --unit and --container: the processes of a control group count, and those below it, that come, go, move and get
# numbers of others. Real groups under the mount that this machine has, real mount namespaces, recordings, hostile names.
. "$(dirname "$0")/../lib/kernel.sh"

# a hierarchy of version 2, or one of version 1
top=${CGROUP_TOP:-$(awk '$3 == "cgroup2" { print $2 } $3 == "cgroup" { old = $2 } END { if (old) print old }' /proc/self/mounts | head -1)}
name=nopwatch_tests_$$
group=$top/$name
[ -n "$top" ] && mkdir "$group" 2>/dev/null || skip_all "no control group can be made here"
remove_groups() {
  local dir i
  for i in {1..50}; do
    # shellcheck disable=SC2038 # numbers of processes
    find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null | xargs -r kill -9 2>/dev/null
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -d "$group" ] || return 0
    sleep 0.1
  done
}
trap 'kill_jobs; remove_groups' EXIT

spec=usdt:$SERVER:myserver:request__start
hits="probe('myserver:request__start')['hits']"

# A shell in the group: what it starts is in it from its birth on.
mkfifo ask answer
# shellcheck disable=SC2016 # it is for the shell inside
shell_inside() {
  bash -c 'echo $$ >"$0/cgroup.procs" && exec 3<ask 4>answer && while read -r line <&3; do eval "$line"; echo "$!" >&4; done' "$1" 2>/dev/null &
  exec 5>ask 6<answer
}
inside() { # LINE...: and wait for it; $answered is what it has started
  echo "$*" >&5
  read -r answered <&6
}
close_shell() { exec 5>&- 6<&-; }
enter() { # GROUP COMMAND...
  # shellcheck disable=SC2016
  sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"
}
# the same behind &, so that $! is the program
# shellcheck disable=SC2016
enter_now() { exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"; }
# measure LINE OPTIONS...: what a session says that runs meanwhile
measure() {
  local line=$1
  shift
  "$NOPWATCH" stat -j -o out.json "$@" 2>err & session=$!
  wait_for armed
  eval "$line"
  all_read $session
  kill -INT $session
  wait $session
}
shell_inside "$group"

measure 'inside "$SERVER" -n 300 ">/dev/null"; "$SERVER" -n 200 >/dev/null' --cgroup "$name" "$spec"
holds "the group's hits and no others" out.json "$hits == 600"
is "and nothing is to be said" "$(cat err)" ""

# files OPTIONS...: the files with probes that the processes of groups map
files() { "$NOPWATCH" list -j "$@" 2>&1 | sed -n 's/.*"path":"\([^"]*\/\)*\([^"]*\)".*/\2/p' | sort -u | xargs; }
# start GROUP NAME: a process with a file of its own, until the end
start() {
  cp "$SERVER" "$2"
  enter_now "$1" "$PWD/$2" -p 100000 >/dev/null & begun $! "$2"
}
mkdir "$group/below"
start "$group" above
start "$group/below" below
for how in "$name" "/$name" "$group" "$group/../$name/" "$group/below/.."; do
  is "--cgroup $how" "$(files --cgroup "$how")" "above below"
done
for how in below "$name/below" "$group/below" "/$name/below/"; do
  is "the group below: $how" "$(files --cgroup "$how")" below
done
# some of them end after they were found
# shellcheck disable=SC2016
enter_now "$group/below" sh -c 'while :; do /bin/true; done' & churn=$!
wait_for grep -q . "$group/below/cgroup.procs"
is "whoever has ended since has none" "$(for _ in $(seq $((${ALL:+45} + 15))); do "$NOPWATCH" list -q --cgroup "$name" myserver:request__start 2>&1 >/dev/null || echo "$?"; done)" ""
is "nor is the probe missing for it" "$(for _ in $(seq $((${ALL:+15} + 5))); do
  "$NOPWATCH" why -d 1ms --cgroup "$name" myserver:request__start 2>&1 | grep 'no such probe'; done)" ""
kill $churn
wait $churn 2>/dev/null
is "a group without processes has no files" "$(mkdir "$group/empty"; "$NOPWATCH" list --cgroup empty 2>&1)" "nopwatch: no process is in --cgroup 'empty' now"

# those that come and go: 20 short ones, one that enters before it runs the program
measure 'inside "for i in {1..20}; do" "$SERVER" -n 1 ">/dev/null; done"; enter "$group/below" "$SERVER" -n 50 -p 5000 >/dev/null; "$SERVER" -n 30 >/dev/null' \
  --cgroup "$name" --by cgroup "$spec"
holds "processes that come and go, below it, too" out.json \
  "{p['group']: p['hits'] for p in of('probe')} == {'/$name': 40, '/$name/below': 100}"
# a process moves in, and out again
"$SERVER" -p 500 >/dev/null & server=$!
begun $server "$SERVER"
move() {
  more_hits 50
  echo $server >"$group/cgroup.procs"
  more_hits 200
  all_read $session
  echo $server >"$top/cgroup.procs"
  more_hits 200
  all_read $session
  echo $server >"$group/below/cgroup.procs"
  more_hits 50
  echo $server >"$top/cgroup.procs"
  more_hits 200
  moved=$(session_hits)
}
measure move --cgroup "$name" "$spec"
holds "a process counts while it is in it" out.json "0 < $hits < $moved"

# -p, and all of it together
inside "$SERVER" -p 500 '>/dev/null &'; first=$answered
inside "$SERVER" -p 500 '>/dev/null &'; second=$answered
begun "$first" "$SERVER"
begun "$second" "$SERVER"
measure 'more_hits 300' --cgroup "$name" --by pid 'myserver:request__start'
holds "without a path the probes are those of the group's processes" out.json \
  "{'$first', '$second'} < {p['group'] for p in of('probe')} and '$server' not in {p['group'] for p in of('probe')}"
measure 'more_hits 300' --cgroup "$name" -p "$first,$server" --by pid "$spec"
holds "with -p those count that both name" out.json "{p['group'] for p in of('probe')} == {'$first'}"
measure 'more_hits 300' --cgroup "$name" --filter 'arg0 > 0' --states --slowest 1 --by cgroup,comm 'usdt:'"$SERVER"':myserver:request*'
holds "with a filter, states, groups and slow spans" out.json \
  "{tuple(s['by'].values()) for s in of('span')} == {('/$name', 'server')} and all(s['pid'] in ($first, $second) for s in of('slow'))"
"$NOPWATCH" trace -j --cgroup "$name" -n 100 -o out.json "$spec"
holds "trace" out.json "len(of('event')) == 100 and {e['pid'] for e in of('event')} <= {$first, $second}"
"$NOPWATCH" trace -j --stack --cgroup "$name" -n 20 -o out.json "$spec"
holds "trace --stack" out.json "len(of('event')) == 20 and all(e['stack'] for e in of('event'))"
"$NOPWATCH" list -j --cgroup "$name" 'myserver:request__start' >out.json
holds "list" out.json "{s['name'] for s in of('site')} == {'request__start'}"
"$NOPWATCH" why -j --cgroup "$name" -d 60 myserver:request__start >out.json & session=$!
armed_and_hit 20 && kill -INT $session
wait $session
holds "why" out.json "of('verdict')[0]['fires'] is True"
export NOPWATCH_FEATURES=-multi_site,-buffer_percent,-ref_ctr,-set_event_pid,-event_fork
measure 'more_hits 300' --cgroup "$name" --by pid "$spec"
unset NOPWATCH_FEATURES
holds "as on an old kernel" out.json "{p['group'] for p in of('probe')} == {'$first', '$second'}"
has "-- CMD is not what counts" "$("$NOPWATCH" stat -j --cgroup "$name" --by pid "$spec" -- "$SERVER" -n 100 2>&1)" "\"group\":\"$first\""
"$NOPWATCH" stat -j -o out.json --cgroup "$name/below" "$spec" -- "$SERVER" -n 5 >/dev/null 2>&1
holds "its own hits do not" out.json "not [p for p in of('probe') if p['hits']]"

# a recording
"$NOPWATCH" record -q -o group.dat --cgroup "$name" "$spec" & session=$!
wait_for armed
inside "for i in {1..10}; do" "$SERVER" -n 1 ">/dev/null; done"
"$SERVER" -n 10 >/dev/null
more_hits 100
all_read $session
kill -INT $session
wait $session
"$NOPWATCH" report -j --by pid group.dat >out.json 2>err
holds "a recording counts the same" out.json \
  "{'$first', '$second'} < {p['group'] for p in of('probe')} and '$server' not in {p['group'] for p in of('probe')}"
holds "those that were short, too" out.json "sorted(p['hits'] for p in of('probe'))[:-2] == [2] * 10"
is "without a word" "$(cat err)" ""
"$NOPWATCH" report -j --by cgroup,container group.dat >out.json
holds "and knows the groups" out.json "{tuple(p['by'].values()) for p in of('probe')} == {('/$name', '-')}"
"$NOPWATCH" trace -j --from group.dat >out.json
holds "trace --from, too" out.json "$server not in {e['pid'] for e in of('event')}"
kill -9 "$first" "$second" $server

# a number that is given again: to a process outside
number=
given_again() {
  inside "$SERVER" -n 20 -p 5000 '>/dev/null & wait $!'
  number=$answered
  for _ in {1..40}; do
    echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
    "$SERVER" -n 70 >/dev/null & again=$!
    wait $again
    [ $again != "$number" ] || return 0
  done
  number=
}
if [ -w /proc/sys/kernel/ns_last_pid ]; then
  measure given_again --cgroup "$name" "$spec"
  if [ "$number" ]; then
    holds "a number that is given again: its later process, outside, does not count" out.json "$hits == 40"
  else
    skip "a number that is given again" "others were faster"
  fi
fi

# the group vanishes, and comes again
vanish() {
  inside "$SERVER" -n 10 '>/dev/null'
  close_shell
  remove_groups
  gone=$([ -d "$group" ] || echo yes)
  "$SERVER" -n 20 >/dev/null
  mkdir "$group"
  shell_inside "$group"
  inside "$SERVER" -n 300 '>/dev/null'
}
measure vanish --cgroup "$name" "$spec"
is "the group was gone" "$gone" yes
holds "a group that vanishes and comes again" out.json "$hits == 620"

# no such group, several, and names that are hostile
refused() { # NAME STATUS PATTERN OPTIONS...
  local what=$1 status=$2 pattern=$3
  shift 3
  said=$("$NOPWATCH" stat -d 0.1 "$@" "$spec" 2>&1)
  has "$what" "$? $said" "^$status nopwatch: $pattern"
}
refused "no such group" 1 "--cgroup: there is no control group '$name/x'" --cgroup "$name/x"
refused "a newline" 1 "--cgroup: there is no control group 'a\\\\nb'" --cgroup $'a\nb'
refused "'..' leads to no group outside" 1 "--cgroup: there is no control group '/\.\./\.\./etc'" --cgroup /../../etc
refused "a very long name" 1 "--cgroup: there is no control group 'xxx" --cgroup "$(printf 'x%.0s' {1..5000})"
refused "an empty name" 2 "--cgroup ''" --cgroup ''
refused "-a" 2 "--cgroup names the processes that count" --cgroup "$name" -a
refused "no such unit" 1 "--unit: no unit 'nopwatch_tests_$$' has" --unit "$name"
refused "no such container" 1 "--container: no container or pod 'nopwatch_tests_$$' has" --container "$name"
said=$("$NOPWATCH" record --until 'x > 1s' --cgroup "$name" "$spec" 2>&1)
has "the flight recorder cannot know" "$? $said" '^2 nopwatch: --cgroup: with --until'
mkdir "$group/twice" "$group/one" "$group/one/twice"
refused "two of a name" 2 "--cgroup 'twice': 2 have that name" --cgroup twice
has "and which" "$said" "give one of them: .*/$name/one/twice"
hostile=$'a b\x1b[31m"c:d\\'$(printf 'x%.0s' {1..200})
mkdir "$group/$hostile" "$group/$hostile/$hostile"
measure 'enter "$group/$hostile/$hostile" "$SERVER" -n 50 -p 5000 >/dev/null; "$SERVER" -n 30 >/dev/null' --cgroup "$group/$hostile" --by cgroup "$spec"
holds "a hostile name" out.json "sum(p['hits'] for p in of('probe')) == 100 and all(p['group'].endswith('xxx') and p['group'].startswith('...') for p in of('probe'))"
enter_now "$group/$hostile" "$SERVER" -p 500 >/dev/null & server=$!
begun $server "$SERVER"
"$NOPWATCH" record -q -o hostile.dat --cgroup "$group/$hostile" -n 50 "$spec"
"$NOPWATCH" report -j --by cgroup,container hostile.dat >out.json
holds "in a recording" out.json "sum(p['hits'] for p in of('probe')) >= 50 and '/$name' in of('probe')[0]['by']['cgroup']"
hasnt "text shows no control character" "$("$NOPWATCH" report --by cgroup hostile.dat)" $'\x1b'
"$NOPWATCH" report -f openmetrics --by cgroup,container hostile.dat >out.om
ok "metrics are valid" "$TESTS_LIB/openmetrics" out.om
kill -9 $server

# units
mkdir -p "$group/system.slice/$name.service" "$group/user@1.service/$name.service"
if [[ $(awk -v top="$top" '$2 == top' /proc/self/mounts) =~ cgroup2|name=systemd ]]; then
  start "$group/system.slice/$name.service" system
  start "$group/user@1.service/$name.service" user
  for unit in "$name" "$name.service"; do
    is "--unit $unit is the system's" "$(files --unit "$unit")" system
  done
fi

# containers: ids in paths, names in the files of runtimes (this script has mounts of its own)
id() { printf "$1%.0s" {1..64}; }
pod=b3b2a1c0-1111-2222-3333-444455556666
podman=$group/machine.slice/libpod-$(id b).scope
docker=$group/docker/$(id a)
kube=$group/kubepods.slice/kubepods-pod${pod//-/_}.slice
mkdir -p "$docker/inner" "$podman/container" "$kube/cri-containerd-$(id c).scope" "$kube/cri-containerd-$(id d).scope" "$docker/docker-$(id b).scope"
mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run/containerd 2>/dev/null || { mkdir -p /run/containerd && made=yes && mount -t tmpfs tmpfs /run/containerd; }
mkdir -p "/var/lib/docker/containers/$(id a)" "/var/lib/containers/storage/overlay-containers"
echo '{"Name":"/web","Config":{"Labels":{}}}' >"/var/lib/docker/containers/$(id a)/config.v2.json"
echo '[{"id":"'"$(id b)"'","names":["db","base"]},{"id":7},"x"]' >/var/lib/containers/storage/overlay-containers/containers.json
for one in c d; do
  dir=/run/containerd/io.containerd.runtime.v2.task/k8s.io/$(id $one)
  mkdir -p "$dir"
  echo '{"annotations":{"io.kubernetes.cri.sandbox-name":"shop-1","io.kubernetes.cri.sandbox-namespace":"prod","io.kubernetes.cri.container-name":"app-'$one'"}}' >"$dir/config.json"
done
start "$docker/inner" in_web
start "$podman/container" in_db
start "$kube/cri-containerd-$(id c).scope" in_c
start "$kube/cri-containerd-$(id d).scope" in_d
start "$docker/docker-$(id b).scope" pretends
while read -r option wanted; do
  is "--container $option" "$(files --container "$option")" "$wanted"
done <<X
$(id a) in_web pretends
aaaaaaaaaaaa in_web pretends
web in_web pretends
$(id b) in_db
db in_db
base in_db
prod/shop-1/app-c in_c
app-d in_d
shop-1 in_c in_d
prod/shop-1 in_c in_d
$pod in_c in_d
X
is "two containers" "$(files --container web --container app-c)" "in_c in_web pretends"
all_containers() {
  local started=()
  enter "$docker/inner" "$SERVER" -n 10 -p 5000 >/dev/null & started+=($!)
  enter "$podman/container" "$SERVER" -n 20 -p 5000 >/dev/null & started+=($!)
  enter "$kube/cri-containerd-$(id c).scope" "$SERVER" -n 30 -p 5000 >/dev/null & started+=($!)
  "$SERVER" -n 60 -p 5000 >/dev/null & started+=($!)
  wait "${started[@]}"
}
measure all_containers --by container "$spec"
holds "--by container" out.json "{p['group']: p['hits'] for p in of('probe')} == {'web': 20, 'db': 40, 'prod/shop-1/app-c': 60, '-': 120}"
measure all_containers --container web --container shop-1 --by container "$spec"
holds "with two containers" out.json "{p['group']: p['hits'] for p in of('probe')} == {'web': 20, 'prod/shop-1/app-c': 60}"
chown nobody "/var/lib/docker/containers/$(id a)/config.v2.json" 2>/dev/null
refused "a name that somebody else has written does not count" 1 "--container: no container or pod 'web'" --container web
echo '{"Name": [' >"/var/lib/docker/containers/$(id a)/config.v2.json"
chown root "/var/lib/docker/containers/$(id a)/config.v2.json"
refused "nor does a damaged file" 1 "--container: no container or pod 'web'" --container web
echo '[{"id":"'"$(id a)"'","names":["db"]},{"id":"'"$(id b)"'","names":["db"]}]' >/var/lib/containers/storage/overlay-containers/containers.json
refused "two containers of a name" 2 "--container 'db': 2 have that name" --container db
umount /run/containerd /var/lib
[ -z "${made:-}" ] || rmdir /run/containerd

# mount namespaces: one has a copy of the program at the same path, one has the same file
mkdir bin copies
cp "$SERVER" bin/app
cp "$SERVER" copies/app
inside "unshare --mount sh -c 'mount --bind copies/app bin/app && exec $PWD/bin/app -p 500' >/dev/null &"; copy=$answered
inside "unshare --mount $PWD/bin/app -p 500 >/dev/null &"; same=$answered
"$PWD/bin/app" -p 500 >/dev/null & server=$!
begun "$copy" copies/app
begun "$same" bin/app
begun $server bin/app
measure 'more_hits 300' --cgroup "$name" --by pid "usdt:$PWD/bin/app:myserver:request__start"
holds "in mount namespaces each file is found there" out.json \
  "{p['group'] for p in of('probe')} == {'$copy', '$same'} and of('attached')[0]['sites'] == 2"
kill -9 "$copy" "$same" $server

# the layer of an image: two overlays of one directory share its file, which is probed once
mkdir lower upper work{1,2} root{1,2}
cp "$SERVER" lower/app
if mount -t tmpfs tmpfs upper && mkdir upper/{1,2,w1,w2} && mount -t overlay -o "lowerdir=lower,upperdir=upper/1,workdir=upper/w1" overlay root1 2>/dev/null &&
  mount -t overlay -o "lowerdir=lower,upperdir=upper/2,workdir=upper/w2" overlay root2; then
  inside "$PWD/root1/app -p 100000 >/dev/null &"; first=$answered
  inside "$PWD/root2/app -p 100000 >/dev/null &"; second=$answered
  begun "$first" root1/app
  begun "$second" root2/app
  once=''
  measure 'inside "root1/app -n 300 >/dev/null & wait \$!"; once=$answered; inside "root2/app -n 200 >/dev/null & wait \$!"; more_hits 10' --cgroup "$name" --by pid usdt:app:myserver:request__start
  holds "containers of one image: one set of events" out.json "of('attached')[0]['sites'] == 1"
  holds "and each hit once" out.json "{p['group']: p['hits'] for p in of('probe')}['$once'] == 600 and len(of('probe')) == 4"
  kill -9 "$first" "$second"
  wait_for umount root1
  wait_for umount root2
else
  skip "the layer of an image" "overlayfs cannot be mounted here"
fi

# from inside: of a control group namespace, and of a PID namespace with the host's /proc and without
if unshare --cgroup true 2>/dev/null; then
  mkdir -p "$group/below"
  # shellcheck disable=SC2016
  enter_now "$group/below" unshare --cgroup "$NOPWATCH" stat -j -o out.json --cgroup "/$name" --by cgroup "$spec" & session=$!
  wait_for armed
  inside "$SERVER" -n 300 '>/dev/null'
  all_read $session
  kill -INT $session
  wait $session
  holds "inside a control group namespace groups have the host's paths" out.json "{p['group']: p['hits'] for p in of('probe')} == {'/$name': 600}"
fi
mkdir hostproc
unshare --mount sh -c 'mount --bind /proc hostproc && exec unshare --pid --fork --mount-proc "$@"' sh \
  "$NOPWATCH" stat -j -o out.json --cgroup "$name" -d 4 "$spec" & session=$!
has_events() { grep -qF " $SERVER:" "$TRACEFS/uprobe_events" && grep -q 1 "$TRACEFS"/instances/nopwatch_*/events/nopwatch_*/enable; }
wait_for has_events
inside "$SERVER" -n 300 '>/dev/null'
"$SERVER" -n 100 >/dev/null
wait $session
holds "inside a PID namespace with the host's /proc" out.json "$hits == 600"
# shellcheck disable=SC2016
said=$(unshare --pid --fork --mount-proc bash -c "awk '\$3 == \"proc\" && \$2 != \"/proc\" { print \$2 }' /proc/self/mounts | xargs -r umount -l
  \"$NOPWATCH\" stat -d 0.1 --cgroup \"$name\" \"$spec\" 2>&1; echo \"exit \$?\"")
has "without it, it is refused as -p is" "$said" "--cgroup: the kernel has other numbers for processes than this PID namespace"
has "with what to do" "$said" "mount the host's /proc here"
has "and as a failure" "$said" "exit 1"
close_shell

unchanged
finish
