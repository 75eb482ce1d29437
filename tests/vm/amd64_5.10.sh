# Linux 5.10 of Debian 11: without histograms in the kernel.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-5.10
finish
