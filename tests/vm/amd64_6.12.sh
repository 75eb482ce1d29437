# Linux 6.12 of Debian 13.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-6.12
finish
