# Linux 7.2 on aarch64.
. "$(dirname "$0")/../lib/vm.sh"

vm_test arm64-7.2
finish
