# Linux 4.15 of Ubuntu 18.04: an event a site, semaphores raised by hand.
. "$(dirname "$0")/../lib/vm.sh"

vm_test amd64-4.15
finish
