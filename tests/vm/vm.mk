# Other kernels in virtual machines: `make vm-kernels` fetches them (and old compilers), `make check` boots those that
# have been fetched, `make check-vm` does both. All of tests/vm/kernels with ALL=1.

VM_KERNELS := $(shell sed -n 's/^\([a-z0-9][^ ]*\)  *$(if $(ALL),[a-z]*,always) .*/\1/p' tests/vm/kernels)
export VM_KERNELS
# They have a build of their own: once is enough.
VM_KIND := $(if $(filter plain,$(FLAVOUR)),vm)

vm-kernels:
	$(quiet)for kernel in $(VM_KERNELS); do tests/vm/fetch $$kernel; done; tests/old/fetch; true

check-vm: check-build vm-kernels
	$(quiet)$(RUN_TESTS) vm

.PHONY: vm-kernels check-vm
