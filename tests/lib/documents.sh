# shellcheck shell=bash
# For tests of the commands that documents show.

# shown_commands FILE: the command lines of its blocks that use nopwatch or what it has made, without prompt, sudo and remark
shown_commands() {
  awk '/^```/ { block = !block; next }
    block && /^(\$ )?(sudo )?(nopwatch |perf record |cat \/sys|ssh .*nopwatch)/ { sub(/^\$ /, ""); sub(/^sudo /, ""); sub(/  +#.*/, ""); print }' "$1"
}

# nopwatch_shim BODY: a program bin/nopwatch, first in $PATH, that runs these lines of sh with the words of the command line
nopwatch_shim() {
  mkdir -p bin
  printf '#!/bin/sh\n%s\n' "$1" >bin/nopwatch
  chmod +x bin/nopwatch
  export NOPWATCH
  PATH=$PWD/bin:$PATH
}
