# Linux 6.1 on s390x: big-endian.
. "$(dirname "$0")/../lib/vm.sh"

vm_test s390x-6.1
finish
