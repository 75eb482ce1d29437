# Linux 6.1 of Debian 12.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-6.1
finish
