# Linux 7.2.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-7.2
finish
