# Linux 5.4 of Ubuntu 20.04: the first with several sites an event.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-5.4
finish
