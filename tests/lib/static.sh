# shellcheck shell=bash
# The program that people copy to where nothing is.
static_check() { # MACHINE FILE
  is "$1: one static file" "$(readelf -lW "$2" | grep -cE ' (INTERP|DYNAMIC) ')" 0
  is "$1: stripped" "$(readelf -SW "$2" | grep -cE ' \.(symtab|debug)')" 0
  # code for i386 is the longest
  local most=5
  ! readelf -hW "$2" | grep -q 'Intel 80386' || most=6
  ok "$1: of at most $most MiB" test "$(stat -c %s "$2")" -le $((most << 20))
}
