# Semaphores that are raised by hand, in processes that become other programs at every moment: each
# write goes to the program that was looked at, or nowhere. With ALL=1 they do so four times as often.
. "$(dirname "$0")/../lib/kernel.sh"
times=${ALL:+4}
export NOPWATCH_FEATURES=-ref_ctr

cp "$PROGRAMS/become" own/become
become=$PWD/own/become
cp "$become" own/other
offset=$("$NOPWATCH" list -j "$become" beat | j /dev/stdin "first['semaphore_offset']")
printf YY | dd of=own/other bs=1 seek="$offset" conv=notrunc status=none

# two that start in each other's place, and two that lend their memory to those whom they start
turmoil() { # COUNT NAME
  "$become" chain "$1" own/other >"$2.1" &
  "$become" chain "$1" own/other >"$2.2" &
  own/other nest "$1" "$become" >"$2.3" &
  own/other nest "$1" "$become" >"$2.4" &
}

"$NOPWATCH" stat -j "usdt:$become:become:beat" -o out.json 2>said & run=$!
wait_for armed
turmoil $((${times:-1} * 150)) during
# shellcheck disable=SC2046 # several numbers
wait $(jobs -p | grep -vx $run)
is "who becomes another program, and who lends its memory, keeps it as it was" "$(sort -u during.*)" whole
turmoil $((${times:-1} * 400)) end
more_hits $((${times:-1} * 50))
kill $run
wait $run
is "the session ends well meanwhile" $? 0
wait
is "and lowers nothing that is not its own" "$(sort -u end.*)" whole
is "nothing was in its way" "$(cat said)" ""

unchanged
finish
