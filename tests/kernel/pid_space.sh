# Inside a PID namespace the kernel has other numbers than /proc: they are translated where the
# host's /proc can be seen, and refused where not.
. "$(dirname "$0")/../lib/kernel.sh"

probe=usdt:$SERVER:myserver:request__start
mkdir hostproc
# shellcheck disable=SC2090 # a program of awk's
export NOPWATCH SERVER TRACEFS probe never not_theirs
# for the shells inside
declare -f begun pause wait_for find_events session_probes armed session_hits hit more_hits armed_and_hit >functions
echo 'declare -A looks_without_probes' >>functions
# where processes have other numbers, a session is known by the file that it probes
# shellcheck disable=SC2016 # it is for them
echo 'is_our_session() { grep -F " $SERVER:" "$TRACEFS/uprobe_events" | grep -qF "nopwatch_$1/"; }' >>functions

# inside WHAT...: a shell line in a new PID namespace with a /proc of its own, and the host's at hostproc
inside() {
  unshare --mount sh -c 'mount --bind /proc hostproc && exec unshare --pid --fork --mount-proc bash -c ". ./functions; $1"' sh "$1"
}
# alone WHAT...: the same without the host's, wherever it is mounted besides (in the root of a container, say)
alone() {
  unshare --pid --fork --mount-proc bash -c "awk '\$3 == \"proc\" && \$2 != \"/proc\" { print \$2 }' /proc/self/mounts | xargs -r umount -l
    . ./functions; $1"
}

# shellcheck disable=SC2016 # all is for the shell inside
{
  inside '"$NOPWATCH" stat -j "$probe" -o cmd.json -- "$SERVER" -n 300 >/dev/null'
  is "CMD ends well" $? 0
  holds "CMD has all its hits" cmd.json "probe('myserver:request__start')['hits'] == 600"
  inside '"$SERVER" -p 500 >/dev/null & begun $! "$SERVER"; "$NOPWATCH" trace -j -n 50 "$probe" -p $! -o pid.json; echo $! >number; ls hostproc >/dev/null; kill $!'
  holds "-p has hits" pid.json "len(of('event')) == 50"
  holds "of that process" pid.json "{e['comm'] for e in of('event')} == {'server'}"
  ok "under the number that the host has" sh -c '[ "$(cat number)" -lt 100 ] && ! grep -q "\"pid\":$(cat number)," pid.json'
  # callers are found by what processes map
  callers=$PWD/callers
  gcc -O1 -fno-optimize-sibling-calls -x c -o "$callers" - <<'C'
#include <unistd.h>
__attribute__((noinline)) void leaf(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void caller(void) { leaf(); __asm__ volatile(""); }
int main(void) { for (;;) { caller(); usleep(10000); } }
C
  export callers
  inside '"$callers" & begun $! "$callers"; "$NOPWATCH" trace -j --stack -n 20 "uprobe:$callers:leaf" -o stack.json; kill $!'
  holds "--stack" stack.json "len(of('event')) == 20 and all([t.split('+')[0] for t in e['stack'][:3]] == ['leaf', 'caller', 'main'] for e in of('event'))"
  inside '"$callers" & begun $! "$callers"; "$NOPWATCH" record -q --stack -d 0.3 "uprobe:$callers:leaf" -o stack.dat; kill $!'
  "$NOPWATCH" trace -j --from stack.dat >stack.json
  holds "in a recording, too" stack.json "of('event') and all([t.split('+')[0] for t in e['stack'][:3]] == ['leaf', 'caller', 'main'] for e in of('event'))"
  unshare --pid --fork "$NOPWATCH" trace -j --stack -n 20 "uprobe:$callers:leaf" -o stack.json -- "$callers"
  holds "and with the host's /proc in its place" stack.json "len(of('event')) == 20 and all([t.split('+')[0] for t in e['stack'][:3]] == ['leaf', 'caller', 'main'] for e in of('event'))"
  said=$(alone '"$callers" & begun $! "$callers"; "$NOPWATCH" stat --stack -d 0.2 "uprobe:$callers:leaf" 2>&1; echo "exit $?"; kill $!')
  has "without the host's /proc it is refused, and not blamed on the program" "$said" \
    "--stack: the kernel has other numbers for processes than this PID namespace, from inside which it cannot be told which is which"
  has "as -p is, with what to do" "$said" "mount the host's /proc here"
  has "and as a failure" "$said" "exit 1"
  # a process of the host that has the number of one inside is somebody else
  said=$(alone '"$SERVER" -p 500 >/dev/null & begun $! "$SERVER"; "$NOPWATCH" stat "$probe" -d 0.2 -p $! 2>&1; echo "exit $?"; kill $!')
  has "without the host's /proc it is refused, with the reason" "$said" "cannot be told from inside this PID namespace"
  has "and with what to do" "$said" "mount the host's /proc here"
  has "which is a failure" "$said" "exit 1"
  said=$(alone '"$NOPWATCH" stat "$probe" -- "$SERVER" -n 10 2>&1 >/dev/null; echo "exit $?"')
  has "so is CMD" "$said" "cannot be told from inside this PID namespace"
  alone '"$NOPWATCH" stat -a -j "$probe" -o all.json -- "$SERVER" -n 300 >/dev/null'
  holds "but not with -a" all.json "probe('myserver:request__start')['hits'] >= 600"
  alone '"$NOPWATCH" trace -a -j "$probe" -o names.json -- "$SERVER" -n 50 >/dev/null'
  holds "names are those of the threads that were born meanwhile, or unknown: never of others" names.json \
    "{e['comm'] for e in of('event')} <= {'server', '?'}"
  alone '"$SERVER" -p 500 >/dev/null & begun $! "$SERVER"; "$NOPWATCH" trace -j -n 50 "$probe" -o older.json; kill $!'
  holds "a thread that is older is known by the name that the kernel has kept" older.json \
    "{e['comm'] for e in of('event')} == {'server'}"
  unshare --pid --fork "$NOPWATCH" stat -j "$probe" -o outer.json -- "$SERVER" -n 300 >/dev/null
  holds "CMD with the host's /proc in its place" outer.json "probe('myserver:request__start')['hits'] == 600"
  inside '"$SERVER" -p 500 >/dev/null & server=$!; begun $server "$SERVER"; "$NOPWATCH" why -j -d 60 "$probe" -p $server >why.json &
    armed_and_hit 10 && kill $! && wait $!; kill $server'
  holds "why knows the process, too" why.json "of('verdict')[0]['fires'] is True"
  said=$(inside '"$SERVER" -p 500 >/dev/null & begun $! "$SERVER"; "$NOPWATCH" stat --dry-run "$probe" -p $! 2>&1; kill $!')
  has "commands that could not work are not printed" "$said" "ftrace has other numbers"
  NOPWATCH_FEATURES=-set_event_pid inside '"$NOPWATCH" stat -j "$probe" -o old.json -- "$SERVER" -n 300 >/dev/null'
  holds "where the reader sorts, too" old.json "probe('myserver:request__start')['hits'] == 600"
  NOPWATCH_FEATURES=-ref_ctr unshare --pid --fork "$NOPWATCH" stat -j "$probe" -o raised.json -- "$SERVER" -n 300 >/dev/null
  holds "where semaphores are raised by hand, too" raised.json "probe('myserver:request__start')['hits'] == 600"
}

unchanged
finish
