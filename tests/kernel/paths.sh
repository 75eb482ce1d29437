# Files that the kernel's grammar or the mount table make hard to name.
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/counter" "a b#c:d"
"$NOPWATCH" stat -j 'counter:step__end' -o out.json -- "./a b#c:d" 50 >/dev/null
holds "blanks, a colon and # in the path" out.json "probe('counter:step__end')['hits'] == 50"
"$NOPWATCH" stat -j 'usdt:./a b#c:d:counter:step__end' -o out.json -- "./a b#c:d" 50 >/dev/null
holds "in a spec, too" out.json "probe('counter:step__end')['hits'] == 50"
cp "$PROGRAMS/counter" counter
"$NOPWATCH" stat -j 'usdt:./counter:counter:step__end' -o out.json -- ./counter 50 >/dev/null
holds "a relative path" out.json "probe('counter:step__end')['hits'] == 50"
PATH=$PWD:$PATH "$NOPWATCH" stat -j 'usdt:counter:counter:step__end' -o out.json -- counter 50 >/dev/null
holds "a name in \$PATH" out.json "probe('counter:step__end')['hits'] == 50"
printf '#!%s/counter 50\n' "$PWD" >script
chmod +x script
"$NOPWATCH" stat -j 'counter:step__end' -o out.json -- ./script >/dev/null
holds "the interpreter of a script" out.json "probe('counter:step__end')['hits'] == 50"

./counter 100000 1000 >/dev/null & pid=$!
begun $pid counter
rm counter
"$NOPWATCH" stat -j 'counter:step__end' -p $pid -n 20 -o out.json
holds "a deleted file, by the process that runs it" out.json "probe('counter:step__end')['hits'] == 20"
kill $pid

mkdir -p root/bin root/lib root/lib64 root/proc
cp "$PROGRAMS/counter" root/bin/inside
ldd "$PROGRAMS/counter" | grep -o '/[^ ]*' | while read -r lib; do
  mkdir -p "root$(dirname "$lib")" && cp "$lib" "root$lib"
done
chroot root /bin/inside 100000 1000 >/dev/null & pid=$!
begun $pid root/bin/inside
"$NOPWATCH" stat -j 'usdt:/bin/inside:counter:step__end' -p $pid -n 20 -o out.json
holds "a path inside a container means the container's file" out.json "probe('counter:step__end')['hits'] == 20"
kill $pid
"$TESTS_LIB/own_mounts" "mount -t tmpfs none root/proc && cp '$PROGRAMS/counter' root/proc/hidden && root/proc/hidden 100000 1000" >/dev/null & pid=$!
find_hidden() {
  for hidden in $(pgrep -f root/proc/hidden); do
    [ "$(readlink "/proc/$hidden/exe")" != "$PWD/root/proc/hidden" ] || return 0
  done
  return 1
}
wait_for find_hidden
"$NOPWATCH" stat -j 'counter:step__end' -p "$hidden" -n 20 -o out.json
holds "a file that only another mount namespace sees" out.json "probe('counter:step__end')['hits'] == 20"
kill "$hidden"
wait $pid 2>/dev/null

unchanged
finish
