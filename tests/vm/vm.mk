# Other kernels in virtual machines: `make vm-kernels` fetches them (and old compilers), `make check` boots those that
# have been fetched, `make check-vm` does both. Those that every change is tried on (tests/vm/kernels says which); with ALL=1,
# as in `scripts/check all`, all of them; of these those with NAME in theirs with ONLY=NAME.

VM_KERNELS := $(shell sed -n 's/^\([a-z0-9][^ ]*\)  *$(if $(ALL),[a-z]*,always) .*/\1/p' tests/vm/kernels)
export VM_KERNELS
# They have a build of their own: once is enough.
VM_KIND := $(if $(filter plain,$(FLAVOUR)),vm)

vm-kernels:
	$(quiet)mkdir -p build/vm
	$(quiet)for kernel in $(VM_KERNELS); do case $$kernel in *$(ONLY)*) tests/vm/fetch $$kernel 2>build/vm/$$kernel.why || \
		cat build/vm/$$kernel.why >&2 ;; esac; done
	$(quiet)tests/old/fetch; true

check-vm: check-build vm-kernels
	$(quiet)$(RUN_TESTS) vm

# What could break a kernel is tried in machines of its own, not in `make check`: others with root who open our events
# all the time, programs that become others, kills. Some five minutes a kernel; ALL=1 for all that have shared events.
HARM_KERNELS := amd64-4.15 amd64-5.4 amd64-6.1 $(if $(ALL),amd64-5.10 amd64-6.12 amd64-7)
check-harm: export VM_KERNELS := $(HARM_KERNELS)
check-harm: check-build vm-kernels
	$(quiet)$(RUN_TESTS) harm

# nopwatch@.service under systemd, in a machine of its own (debootstrap makes its root, once).
check-service: export VM_KERNELS := amd64-7
check-service: check-build vm-kernels
	$(quiet)$(RUN_TESTS) service

.PHONY: vm-kernels check-vm check-harm check-service
