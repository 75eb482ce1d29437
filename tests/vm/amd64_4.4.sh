# Linux 4.4 of Ubuntu 16.04: no README of probes, no reasons for refusals, no event-fork.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-4.4
finish
