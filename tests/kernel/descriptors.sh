# --by 'path(fd)': never a wrong path. A program says which file each read is from, while one number leads to one file after the
# other: each hit has that path, or '?'.
. "$(dirname "$0")/../lib/kernel.sh"

mkdir files
spec="func:$PROGRAMS/descriptors:fs_read(fd, truth:string)"
run=("$PROGRAMS/descriptors" "$PWD/files")
right="all(s['by']['path(fd)'] in ('?', s['by']['truth']) for s in of('span'))"
known="{s['by']['truth'].split('/')[-1] for s in of('span') if s['by']['path(fd)'] != '?'} >= set('abcdehij') | {'pipe', 'socket'}"
all="sum(s['count'] for s in of('span')) == 11 * 8 + 2001 + 1"

# On a busy machine a path may be read only when the program has another file already: then it is tried again. No path may ever be wrong.
tried() { # CONDITION COMMAND...
  for _ in 1 2 3 4; do
    "${@:2}"
    [ "$(j out.json "$1")" = True ] || [ "$(j out.json "$right")" != True ] && return
  done
}

tried "$known" "$NOPWATCH" stat -j --by 'path(fd),truth' -o out.json "$spec" -- "${run[@]}" 2>err
holds "each path is the one that the program says, or unknown" out.json "$right"
holds "each file that was read for a while is known" out.json "$known"
holds "no hit is missing" out.json "$all"
holds "the calls that close are not shown" out.json "[p['probe'] for p in of('probe') if 'sys_' in p['probe']] == []"
has "a sentence counts the hits that are not known" "$(cat err)" "the path of the descriptor is not known at [0-9,]+ hits \('\?'\)"

recorded() {
  "$NOPWATCH" record -q -o fd.dat --by 'path(fd)' "$spec" -- "${run[@]}" 2>err
  "$NOPWATCH" report -j --by 'path(fd),truth' fd.dat >out.json 2>err
}
tried "$known" recorded
holds "a recording has them" out.json "$right"
holds "and knows as many" out.json "$known"
holds "and all hits" out.json "$all"
"$NOPWATCH" report -j fd.dat >out.json
holds "a report without them does not show the calls either" out.json "[p['probe'] for p in of('probe') if 'sys_' in p['probe']] == [] and len(of('span')) == 1"
has "CSV has them" "$("$NOPWATCH" report -f csv --by 'path(fd)' fd.dat 2>err)" "^span,fs_read,$PWD/files/a,"
has "and text" "$("$NOPWATCH" report --by 'path(fd)' --top 20 fd.dat 2>err)" "$PWD/files/e "

# system calls, and the calls that close as the user's own probes beside them
read=('tracepoint:syscalls:sys_enter_read(fd)' tracepoint:syscalls:sys_exit_read)
calls="{s['group'].split('/')[-1] for s in of('span') if s['span'].endswith('read')} >= set('abcdehij') | {'pipe', 'socket', '?'}"
for _ in 1 2 3 4; do
  "$NOPWATCH" stat -j --states --by 'path(fd)' -o out.json "${read[@]}" 'tracepoint:syscalls:sys_enter_close(fd)' -- "${run[@]}" 2>err
  [ "$(j out.json "$calls")" = True ] && break
done
holds "system calls have them, with --states" out.json "$calls"
holds "a path has at most the reads that were made from it" out.json "all(s['count'] <= 8 for s in of('span') if s['group'][-2:] in ('/a', '/b', '/c', '/d', '/e', '/i', '/j'))"
holds "calls that the user names are shown" out.json "sum(p['hits'] for p in of('probe') if p['probe'].endswith('sys_enter_close')) >= 2005"
holds "and others are not" out.json "[p['probe'] for p in of('probe') if 'dup' in p['probe'] or 'exit_close' in p['probe']] == []"

# a process that runs already
"$PROGRAMS/descriptors" "$PWD/files" &
child=$!
"$NOPWATCH" stat -j --by 'path(fd),truth' -p $child -o out.json "$spec" 2>err
wait $child
holds "with -p" out.json "$right and len([s for s in of('span') if s['by']['path(fd)'] != '?']) >= 1"

# what cannot be
said=$("$NOPWATCH" stat --by 'path(truth)' "$spec" -- true 2>&1)
has "a string is no descriptor" "$? $said" "^2 nopwatch: --by 'path\(truth\)': the argument of .* is a string"
said=$("$NOPWATCH" stat --by 'path(fg)' "$spec" -- true 2>&1)
has "an argument that is not there" "$? $said" "^2 nopwatch: --by 'path\(fg\)': no probe has an argument of that name"
"$NOPWATCH" record -q -o none.dat "$spec" -- true
said=$("$NOPWATCH" report --by 'path(fd)' none.dat 2>&1)
has "a recording without paths" "$? $said" "^1 nopwatch: --by 'path\(fd\)': none.dat was recorded without it"

# behind a loss nothing is known until it is read again
for _ in 1 2 3; do
  "$NOPWATCH" stat -j -b 4k --by 'path(fd),truth' -o out.json "$spec" tracepoint:syscalls:sys_enter_nanosleep tracepoint:syscalls:sys_enter_clock_nanosleep -- "${run[@]}" 2>err
  [ "$(j out.json "of('loss')[0]['events'] > 0")" = True ] && break
done
holds "a loss makes no path wrong" out.json "$right"
