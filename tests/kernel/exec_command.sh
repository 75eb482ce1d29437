# Who is counted with CMD: what a wrapper or a shell becomes and starts, or every process beside a client of a server.
. "$(dirname "$0")/../lib/kernel.sh"

# A directory of its own: the same program runs beside, and is found in $PATH.
mkdir bin && cp "$PROGRAMS/counter" bin/counted && prog=$PWD/bin/counted
PATH=$PWD/bin:$PATH
"$prog" 100000000 1000 >/dev/null & beside=$!
begun $beside "$prog"

measure() {
  "$NOPWATCH" stat -j "usdt:$prog:counter:step__begin" -o out.json "$@" >/dev/null 2>said
}

# alone WHAT HITS [OPTION...] -- CMD...: only CMD and what it starts is counted
alone() {
  local what=$1 hits=$2
  shift 2
  measure "$@"
  holds "$what" out.json "probe('counter:step__begin')['hits'] == $hits"
}

alone "a program itself" 300 -- "$prog" 300 1000
hasnt "needs no notice" "$(cat said)" 'counted'
alone "env" 300 -- env A=1 "$prog" 300 1000
has "says that others are not counted" "$(cat said)" "only 'env' and the processes that it starts are counted.*-a counts every process"
printf '#!%s 300\nexec %s\n' "$prog" "$PROGRAMS/target" >bin/script # which its interpreter does not look into
chmod +x bin/script
alone "the interpreter of a script that starts another program" 300 -- bin/script
alone "timeout" 300 -- timeout -k 9 60 counted 300 1000
alone "wrappers in wrappers" 300 -- nice -n 1 env -u HOME A=1 timeout 60 counted 300 1000
alone "sh -c" 300 -- sh -c "'$prog' 300 1000"
alone "what a shell starts" 600 -- bash -euo pipefail -c 'for i in 1 2; do A=1 counted 300 1000 & done; wait'
alone "a shell in a wrapper" 300 -- env A=1 sh -c "true; if sh -c 'exec counted 300 1000' | cat; then :; fi"

# what no rule tells may be said
printf '#!/bin/sh\n"%s" 300 1000\n' "$prog" >starts && chmod +x starts
alone "--follow: what any CMD starts" 300 --follow -- ./starts
hasnt "and needs no notice either" "$(cat said)" 'counted'

# everybody WHAT CMD...: the process beside is counted; CMD runs until it was hit
cat >bin/client <<'END'
#!/bin/sh
until [ -e stop ]; do sleep 0.1; done
END
chmod +x bin/client
everybody() {
  local what=$1 run
  shift
  rm -f stop
  measure "$@" & run=$!
  armed_and_hit 20
  touch stop
  wait $run
  holds "$what" out.json "probe('counter:step__begin')['hits'] >= 20"
}

everybody "a client counts its server" -- client
has "says so, and how it is said" "$(cat said)" "every process that runs the probed files is counted, as 'client' itself does not.*--follow counts only 'client'"
everybody "a client with an argument that is called like its server" -- client counted
everybody "one that a wrapper and a shell start" -- timeout 600 sh -c 'A=1 client "; counted" counted'
everybody "-a counts everybody" -a -- env A=1 sh -c 'counted 10; client'
hasnt "without a notice" "$(cat said)" 'is counted|are counted'

kill $beside
wait $beside 2>/dev/null
unchanged "nothing is left"
finish
