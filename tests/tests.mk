# Tests: units with check, commands without privileges, and the real binary against the real
# kernel. tests/run counts them all and ends with one line.

TEST_BUILD := $(BUILD)/tests
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(TEST_BUILD)/unit/%)

# Programs to be traced: each with its own flags, if it needs any. They are plain builds, whatever
# the flavour of nopwatch: sanitizers have no business in a target.
PROGRAM_SRC := $(sort $(wildcard tests/programs/*.c) $(wildcard tests/programs/*.cc))
PROGRAM_BIN := $(patsubst tests/programs/%.c,$(TEST_BUILD)/programs/%,$(filter %.c,$(PROGRAM_SRC))) \
	$(patsubst tests/programs/%.cc,$(TEST_BUILD)/programs/%,$(filter %.cc,$(PROGRAM_SRC)))
SERVER := build/demo/server

ifneq ($(filter check% coverage bench fuzz-seeds,$(MAKECMDGOALS))$(findstring /tests/,$(MAKECMDGOALS)),)
$(eval $(call need_library,check))
CHECK_CFLAGS := $(shell $(PKG_CONFIG) --cflags check)
CHECK_LIBS := $(shell $(PKG_CONFIG) --libs check)
endif

# The tests of a unit run for a moment: not optimized, they compile in half of the time. What they test is. A debugger needs DEBUG=1 anyway.
QUICK := $(if $(filter plain,$(FLAVOUR)),-O0 -g0)
# which reads lines of its own code
$(TEST_BUILD)/unit/reader: QUICK += -g
$(TEST_BUILD)/unit/%: tests/unit/%.c $(LIB)
	$(call say,TEST,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) -Itests/lib $(CHECK_CFLAGS) $(ALL_CFLAGS) $(QUICK) -MMD -MP -MF $@.d $< \
		$(LIB) $(ALL_LDFLAGS) $(LDLIBS) $(CHECK_LIBS) -o $@

# Callers of generated code are found by frame pointers.
PROGRAM_CFLAGS_generated = -fno-omit-frame-pointer
$(TEST_BUILD)/programs/%: tests/programs/%.c
	$(call say,CC,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall $(PROGRAM_CFLAGS_$*) $< -pthread $(PROGRAM_LIBS_$*) -o $@

$(TEST_BUILD)/programs/%: tests/programs/%.cc
	$(call say,CXX,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CXX) -O2 -g -Wall $< -pthread -o $@

$(SERVER): tests/demo/server.c
	$(call say,CC,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) -std=gnu11 -O2 -g -Wall -Wextra $< -pthread -lm -o $@

demo: all $(SERVER)
	$(quiet)scripts/tracefs tests/demo/run build/nopwatch $(SERVER)

BENCH_BIN := $(patsubst tests/%.c,$(TEST_BUILD)/%,$(wildcard tests/bench/*.c))

# What the documentation shows is compiled as it stands there.
EXAMPLE_BIN := $(patsubst docs/examples/%.c,$(TEST_BUILD)/examples/%,$(wildcard docs/examples/*.c))

$(EXAMPLE_BIN): $(TEST_BUILD)/examples/%: docs/examples/%.c $(API_LIBS) $(LIB)
	$(call say,CC,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) -std=gnu11 -Wall -Wextra -Iinclude $< $(or $(filter %.a,$(API_LIBS)),$(LIB)) $(ALL_LDFLAGS) $(LDLIBS) -o $@

# The bench is built, so that it does not break unseen, but not run: it says nothing true then.
check-build: all $(UNIT_BIN) $(PROGRAM_BIN) $(SERVER) $(EXAMPLE_BIN) $(BENCH_BIN)

RUN_TESTS = NOPWATCH=$(CURDIR)/$(BIN) PROGRAMS=$(CURDIR)/$(TEST_BUILD)/programs \
	SERVER=$(CURDIR)/$(SERVER) EXAMPLES=$(CURDIR)/$(TEST_BUILD)/examples UNITS=$(CURDIR)/$(TEST_BUILD)/unit \
	FUZZERS=$(CURDIR)/$(TEST_BUILD)/fuzz tests/run

check: check-build
	$(quiet)scripts/tracefs env $(RUN_TESTS) unit fuzz cli kernel $(VM_KIND)

check-unit: check-build
	$(quiet)$(RUN_TESTS) unit

check-cli: check-build
	$(quiet)scripts/tracefs env $(RUN_TESTS) cli

check-kernel: check-build
	$(quiet)scripts/tracefs env $(RUN_TESTS) kernel

# Random programs against the oracle: an hour of them, or CASES, from SEED on.
SEED ?= $(shell date +%s)
CASES ?= 1000000
oracle: all
	$(quiet)NOPWATCH=$(CURDIR)/$(BIN) tests/lib/oracle_run --seed $(SEED) --cases $(CASES) --seconds 3600

.PHONY: check-build check-cli oracle

-include $(UNIT_BIN:=.d)

# ---- bench ---------------------------------------------------------------------------------

$(BENCH_BIN): $(TEST_BUILD)/bench/%: tests/bench/%.c $(LIB)
	$(call say,BENCH,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) -Itests/lib $(CHECK_CFLAGS) $(ALL_CFLAGS) $< $(LIB) $(ALL_LDFLAGS) \
		$(LDLIBS) $(CHECK_LIBS) -o $@

# Numbers against the peers that are installed; ONLY=NAME, ROUNDS=N.
bench: all $(BENCH_BIN) $(PROGRAM_BIN) $(SERVER)
	$(quiet)tests/bench/run $(CURDIR)/$(BIN) $(CURDIR)/$(TEST_BUILD)/programs $(CURDIR)/$(SERVER) \
		$(CURDIR)/$(TEST_BUILD)/bench/micro $(CURDIR)/build/bench.json

.PHONY: bench
