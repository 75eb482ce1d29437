# Fuzzing: libFuzzer with `make fuzz` (clang), and the seeds with any compiler in `make check`.

FUZZ_SRC := $(filter-out tests/fuzz/replay.c tests/fuzz/seeds.c,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_NAMES := $(FUZZ_SRC:tests/fuzz/%.c=%)
FUZZ_REPLAY := $(FUZZ_NAMES:%=$(TEST_BUILD)/fuzz/%)
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1

FUZZ_CFLAGS := -Itests/lib -Itests/fuzz

$(TEST_BUILD)/replay.o: tests/fuzz/replay.c tests/fuzz/fuzz.h
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) $(FUZZ_CFLAGS) $(ALL_CFLAGS) $(QUICK) -c $< -o $@

$(TEST_BUILD)/fuzz/%: tests/fuzz/%.c $(TEST_BUILD)/replay.o tests/fuzz/fuzz.h $(LIB)
	$(call say,TEST,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) $(FUZZ_CFLAGS) $(ALL_CFLAGS) $(QUICK) $< $(TEST_BUILD)/replay.o $(LIB) \
		$(ALL_LDFLAGS) $(LDLIBS) -o $@

# The seeds are in the repository; this makes them again.
$(TEST_BUILD)/fuzz-seeds: tests/fuzz/seeds.c $(LIB)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) $(FUZZ_CFLAGS) $(CHECK_CFLAGS) $(ALL_CFLAGS) $(QUICK) $< $(LIB) $(ALL_LDFLAGS) \
		$(LDLIBS) $(CHECK_LIBS) -o $@

fuzz-seeds: $(TEST_BUILD)/fuzz-seeds
	$(quiet)$< tests/fuzz/corpus

# a test compares what it writes with the corpus
check-build: $(FUZZ_REPLAY) $(TEST_BUILD)/fuzz-seeds

check-fuzz: $(FUZZ_REPLAY)
	$(quiet)$(RUN_TESTS) fuzz

# ONLY=NAME, FUZZ_SECONDS=N or FUZZ_RUNS=N, each target; what is found lies in build/fuzz-found.
fuzz:
	$(quiet)command -v clang >/dev/null || { echo 'clang is missing: run scripts/setup fuzz' >&2; exit 1; }
	$(quiet)$(MAKE) --no-print-directory FUZZ=1 CC=clang fuzz-run

fuzz-run: $(FUZZ_NAMES:%=$(BUILD)/fuzz-%)
	$(quiet)tests/fuzz/run $(BUILD) $(FUZZ_RUNS) $(FUZZ_SECONDS) $(FUZZ_NAMES)

$(BUILD)/fuzz-%: tests/fuzz/%.c tests/fuzz/fuzz.h $(LIB)
	$(call say,FUZZ,$<)
	$(quiet)$(CC) $(ALL_CPPFLAGS) $(FUZZ_CFLAGS) $(ALL_CFLAGS) -fsanitize=fuzzer $< $(LIB) $(ALL_LDFLAGS) \
		$(LDLIBS) -o $@

.PHONY: fuzz fuzz-run fuzz-seeds check-fuzz
