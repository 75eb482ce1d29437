# Linux 6.1 on aarch64: other registers, other nops, nopwatch cross-compiled.
. "$(dirname "$0")/../lib/vm.sh"

vm_test arm64-6.1
finish
