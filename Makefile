# nopwatch: make help tells what can be made.
#
# Objects go below build/, one directory a flavour, so that SAN=1, DEBUG=1 and COVERAGE=1 do
# not disturb each other. V=1 shows the commands.

VERSION := 0.1.0

CC          ?= gcc
AR          ?= ar
OBJCOPY     ?= objcopy
PKG_CONFIG  ?= pkg-config
INSTALL     ?= install
PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
LIBDIR      ?= $(PREFIX)/lib
INCLUDEDIR  ?= $(PREFIX)/include
MANDIR      ?= $(PREFIX)/share/man
# The documents for users; empty: none, where a package puts them elsewhere.
DOCDIR      ?= $(PREFIX)/share/doc/nopwatch
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
RECIPESDIR = $(PREFIX)/share/nopwatch/recipes
# rules for Prometheus, and a dashboard
METRICSDIR = $(PREFIX)/share/nopwatch/prometheus
# Units of systemd; it looks there below /usr and /usr/local. Empty: none.
UNITDIR     ?= $(PREFIX)/lib/systemd/system
ZSHCOMPDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d

# ---- flavours -----------------------------------------------------------------------------

FLAVOUR := plain
OPTIMISE := -O2 -g
EXTRA :=
ifeq ($(DEBUG),1)
FLAVOUR := debug
OPTIMISE := -O0 -g3
endif
ifeq ($(SAN),1)
FLAVOUR := san
OPTIMISE := -O1 -g -fno-omit-frame-pointer
EXTRA += -fsanitize=address,undefined -fno-sanitize-recover=all
endif
ifeq ($(COVERAGE),1)
FLAVOUR := coverage
OPTIMISE := -O0 -g
EXTRA += --coverage
endif
# what `make fuzz` calls itself with: clang's, with coverage for its fuzzer
ifeq ($(FUZZ),1)
FLAVOUR := fuzz
OPTIMISE := -O1 -g -fno-omit-frame-pointer
EXTRA += -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
endif
BUILD := build/$(FLAVOUR)

# ---- libraries ----------------------------------------------------------------------------

# name and least version of each; Debian's and Fedora's packages are in scripts/setup
LIBRARIES := libelf libtracefs libtraceevent
LEAST_libelf := 0.165
# 1.6: tracefs is found without being mounted
LEAST_libtracefs := 1.6.0
# 1.3: its warnings can be switched off
LEAST_libtraceevent := 1.3
LEAST_check := 0.10.0

# Targets that build nothing need no libraries.
BUILDING := $(filter-out help clean format uninstall static release deb rpm apk image vm-kernels,$(or $(MAKECMDGOALS),all))

define need_library
ifneq ($$(shell $(PKG_CONFIG) --atleast-version=$$(LEAST_$(1)) $(1) 2>/dev/null && echo yes),yes)
$$(error $(1) $$(LEAST_$(1)) or later is missing: run scripts/setup, or install its -dev or -devel package)
endif
endef

ifneq ($(BUILDING),)
ifeq ($(shell command -v $(PKG_CONFIG)),)
$(error pkg-config is missing: run scripts/setup, or install it)
endif
$(foreach library,$(LIBRARIES),$(eval $(call need_library,$(library))))
LIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES))
LIB_LDLIBS := $(shell $(PKG_CONFIG) --libs $(LIBRARIES))
# Libraries and their versions, as --version prints them
numbered = $(1) $(shell $(PKG_CONFIG) --modversion $(1)),
LINKED := $(foreach library,$(LIBRARIES),$(call numbered,$(library)))
OPENED_LATE :=
# Few runs need the optional ones. What the linker would write down of such a library, its SONAME, is what is opened when
# it is needed (src/base/library.h); where it is not found, and in static programs, it is linked.
soname = $(shell readelf -d "$$($(PKG_CONFIG) --variable=libdir $(1))/lib$(2).so" 2>/dev/null | \
	sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
define open_late # its name for pkg-config, its file's, ours
LATE_$(3) := $$(if $$(findstring -static,$$(LDFLAGS)),,$$(call soname,$(1),$(2)))
LIB_CFLAGS += -DNW_$(3)_LIBRARY='"$$(LATE_$(3))"' $$(if $$(LATE_$(3)),,-DNW_LINKED_$(3))
LIB_LDLIBS += $$(if $$(LATE_$(3)),,$$(shell $$(PKG_CONFIG) --libs $(1)))
$$(if $$(LATE_$(3)),OPENED_LATE,LINKED) += $$(call numbered,$(1))
endef
# optional: symbols that Fedora and RHEL pack into stripped files
ifeq ($(shell $(PKG_CONFIG) --exists liblzma && echo yes),yes)
LIB_CFLAGS += -DNW_HAVE_LZMA $(shell $(PKG_CONFIG) --cflags liblzma)
$(eval $(call open_late,liblzma,lzma,LZMA))
endif
# optional: `why` learns from DWARF which functions were inlined
ifeq ($(shell $(PKG_CONFIG) --exists libdw && echo yes),yes)
LIB_CFLAGS += -DNW_HAVE_LIBDW $(shell $(PKG_CONFIG) --cflags libdw)
$(eval $(call open_late,libdw,dw,LIBDW))
endif
# optional: `serve` answers HTTP; a static program has no libmicrohttpd, since that brings TLS
ifeq ($(if $(findstring -static,$(LDFLAGS)),,$(shell $(PKG_CONFIG) --atleast-version=0.9.71 libmicrohttpd && echo yes)),yes)
LIB_CFLAGS += -DNW_HAVE_MICROHTTPD $(shell $(PKG_CONFIG) --cflags libmicrohttpd)
$(eval $(call open_late,libmicrohttpd,microhttpd,MICROHTTPD))
endif
# optional: where x86's instructions begin, and which of them return (3.0 knows no relative jumps)
ifeq ($(shell $(PKG_CONFIG) --atleast-version=4.0 capstone && echo yes),yes)
LIB_CFLAGS += -DNW_HAVE_CAPSTONE $(shell $(PKG_CONFIG) --cflags capstone)
$(eval $(call open_late,capstone,capstone,CAPSTONE))
endif
endif

# ---- flags --------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings -Wno-format-nonliteral
ALL_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DNOPWATCH_VERSION='"$(VERSION)"' -Iinclude -Isrc \
	$(LIB_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS := -std=gnu11 $(OPTIMISE) $(WARNINGS) $(EXTRA) $(CFLAGS)
ALL_LDFLAGS := $(EXTRA) $(LDFLAGS)
LDLIBS := $(LIB_LDLIBS) -lm -ldl -pthread

# ---- quiet rules --------------------------------------------------------------------------

ifeq ($(V),1)
quiet :=
say = @:
else
quiet := @
say = @printf '  %-7s %s\n' '$(1)' '$(2)'
endif

# ---- what is built ------------------------------------------------------------------------

# what keeps state for the whole process, the command, is no part of the library
SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
CMD_SRC := $(filter src/cmd/%,$(SRC))
LIB_SRC := $(filter-out $(CMD_SRC),$(SRC))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)
# every object but the command's, for the program and the tests
LIB := $(BUILD)/rooms.a
BIN := $(BUILD)/nopwatch
# For other programs, with the functions of include/nopwatch/ as the only symbols. A static program gets no shared library.
SONAME := libnopwatch.so.0
API_MAP := src/run/api/libnopwatch.map
API_LIBS := $(if $(findstring -static,$(LDFLAGS)),,$(if $(filter plain,$(FLAVOUR)),$(BUILD)/api/$(SONAME) $(BUILD)/api/libnopwatch.a))

.DELETE_ON_ERROR:
.PHONY: all static release deb rpm apk image help check check-unit check-cli check-kernel demo lint format coverage install \
	uninstall clean

all: $(BIN) build/nopwatch $(API_LIBS)

# The plain build is the one that scripts and people use. It finds its recipes as an installed one does, in ../share.
build/nopwatch: $(BIN)
	$(quiet)mkdir -p build/share/nopwatch
	$(quiet)ln -sfn ../../../scripts/recipes build/share/nopwatch/recipes
	$(quiet)ln -sf $(FLAVOUR)/nopwatch $@

$(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The shared library is made of the same objects.
$(LIB_OBJ): ALL_CFLAGS += -fPIC -fvisibility=hidden
$(filter $(BUILD)/src/run/api/%,$(LIB_OBJ)): ALL_CFLAGS += -fvisibility=default

$(BUILD)/api/$(SONAME): $(LIB_OBJ) $(API_MAP)
	$(call say,LINK,$@)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(SONAME) -Wl,--version-script=$(API_MAP) -Wl,-z,defs \
		$(LIB_OBJ) $(LDLIBS) -o $@
	$(quiet)ln -sf $(SONAME) $(@D)/libnopwatch.so

# One object, so that our other functions cannot meet those of a program of the same name.
$(BUILD)/api/libnopwatch.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(quiet)mkdir -p $(@D)
	$(quiet)rm -f $@
	$(quiet)$(CC) -r -nostdlib $(filter -m32 -m64 -flto%,$(CFLAGS)) $(if $(findstring -flto,$(CFLAGS)),-flinker-output=nolto-rel) \
		$(LIB_OBJ) -o $(@D)/libnopwatch.o
	$(quiet)$(OBJCOPY) --wildcard --keep-global-symbol='nopwatch_*' $(@D)/libnopwatch.o
	$(quiet)$(AR) rcs $@ $(@D)/libnopwatch.o
	$(quiet)rm $(@D)/libnopwatch.o

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(quiet)rm -f $@
	$(quiet)$(AR) rcs $@ $^

$(BIN): $(CMD_OBJ) $(LIB)
	$(call say,LINK,$@)
	$(quiet)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

# One file to copy to where nothing is: for this machine, or for CROSS=i686, aarch64, ...
static:
	$(quiet)scripts/static $(CROSS)

# The static programs of all machines, the sources, and their checksums, in build/release.
release:
	$(quiet)scripts/release $(VERSION)

# Packages of the last commit, and an image for containers, in build/packages.
deb rpm apk:
	$(quiet)scripts/packages/build $@ $(VERSION)
image:
	$(quiet)scripts/packages/build $@ $(VERSION) $(CROSS)

# --version says of what the program was built.
comma := ,
BUILT_WITH = -DNW_LINKED='"$(patsubst %$(comma)end,%,$(LINKED)end)"' \
	-DNW_OPENED_LATE='"$(patsubst %$(comma)end,%,$(patsubst end,,$(OPENED_LATE)end))"' -DNW_MACHINE='"$(shell $(CC) -dumpmachine)"'
$(BUILD)/src/cmd/main.o: ALL_CPPFLAGS += $(BUILT_WITH)
# The script that `nopwatch script` prints is part of the library.
$(BUILD)/src/plan/script.o: src/plan/script.sh
# So is the table of what other tools say.
$(BUILD)/src/why/errors.o: src/why/errors.tsv
# So is the page of -f html.
$(BUILD)/src/show/html/html.o: $(addprefix src/show/html/,report.html report.css flame.js report.js)

-include tests/tests.mk
-include tests/fuzz/fuzz.mk
-include tests/vm/vm.mk

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)

# ---- keeping it clean ----------------------------------------------------------------------

C_FILES = $(sort $(wildcard include/nopwatch/*.h src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] docs/examples/*.c))
SH_FILES = $(sort $(filter-out scripts/prometheus scripts/lib scripts/completion scripts/packages scripts/recipes scripts/check-rooms scripts/check-documents scripts/cookbook scripts/mutate scripts/terminal-picture,$(wildcard scripts/*)) scripts/completion/nopwatch.bash $(wildcard scripts/lib/*.sh tests/run tests/fuzz/run \
	$(addprefix tests/vm/,fetch build boot guest package) tests/old/fetch tests/old/build tests/demo/run .ci/run \
	scripts/packages/build scripts/packages/debian/tests/demo scripts/packages/debian/tests/library)) src/plan/script.sh
TEST_SCRIPTS = $(sort $(wildcard tests/*/*.sh))

# Formats are left to the compilers, with 64 and with 32 bits: cppcheck takes %ju for none of uint64_t's.
lint:
	$(call say,FORMAT,clang-format)
	$(quiet)clang-format --dry-run -Werror $(C_FILES)
	$(call say,CHECK,cppcheck)
	$(quiet)cppcheck -q --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
		--suppress=invalidPrintfArgType_uint --suppress=invalidPrintfArgType_sint --suppress=invalidScanfArgType_int \
		--std=c11 -Iinclude -Isrc -D__cppcheck__ -D_GNU_SOURCE -DNOPWATCH_VERSION='""' src tests/demo
	$(call say,WARN,gcc -Werror)
	$(quiet)$(MAKE) --no-print-directory BUILD=build/lint CFLAGS=-Werror build/lint/nopwatch
	$(call say,WARN,32 bits)
	$(quiet)! command -v i686-linux-gnu-gcc >/dev/null || for file in $(LIB_SRC) $(CMD_SRC); do \
		i686-linux-gnu-gcc -std=gnu11 $(ALL_CPPFLAGS) $(BUILT_WITH) -idirafter /usr/include -Wall -Wformat=2 \
		-Wno-format-nonliteral -Werror -fsyntax-only $$file || exit 1; done
	$(call say,SHELL,shellcheck)
	$(quiet)shellcheck $(SH_FILES)
	$(quiet)shellcheck -s bash -S warning -x -P SCRIPTDIR $(TEST_SCRIPTS)
	$(call say,PAGE,scripts/page-hashes)
	$(quiet)scripts/page-hashes --check
	$(quiet)! command -v node >/dev/null || { node --check src/show/html/flame.js && node --check src/show/html/report.js; }
	$(call say,LINES,scripts/check-style)
	$(quiet)scripts/check-style
	$(call say,NAMES,scripts/check-documents)
	$(quiet)scripts/check-documents
	$(call say,ROOMS,scripts/check-rooms)
	$(quiet)scripts/check-rooms build/lint

format:
	$(quiet)clang-format -i $(C_FILES)

# Lines that the tests reach: gcov's own summary, file by file.
coverage:
	$(quiet)$(MAKE) --no-print-directory COVERAGE=1 check
	$(quiet)scripts/coverage build/coverage

# ---- installing ----------------------------------------------------------------------------

install: all
	$(INSTALL) -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(INCLUDEDIR)/nopwatch" \
		"$(DESTDIR)$(MANDIR)/man1" "$(DESTDIR)$(MANDIR)/man3" "$(DESTDIR)$(BASHCOMPDIR)" "$(DESTDIR)$(ZSHCOMPDIR)" "$(DESTDIR)$(FISHCOMPDIR)" \
		"$(DESTDIR)$(RECIPESDIR)" "$(DESTDIR)$(METRICSDIR)"
	$(INSTALL) -m 755 $(BIN) "$(DESTDIR)$(BINDIR)/nopwatch"
	$(INSTALL) -m 644 $(BUILD)/api/$(SONAME) $(BUILD)/api/libnopwatch.a "$(DESTDIR)$(LIBDIR)"
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/libnopwatch.so"
	sed 's|@VERSION@|$(VERSION)|; s|@LIBRARIES@|$(LIBRARIES)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' \
		src/run/api/nopwatch.pc.in >"$(DESTDIR)$(LIBDIR)/pkgconfig/nopwatch.pc"
	chmod 644 "$(DESTDIR)$(LIBDIR)/pkgconfig/nopwatch.pc"
	$(INSTALL) -m 644 include/nopwatch/*.h "$(DESTDIR)$(INCLUDEDIR)/nopwatch"
	$(INSTALL) -m 644 docs/man/nopwatch.1 "$(DESTDIR)$(MANDIR)/man1/nopwatch.1"
	scripts/man-pages $(BIN) "$(DESTDIR)$(MANDIR)/man1"
	$(INSTALL) -m 644 docs/man/libnopwatch.3 "$(DESTDIR)$(MANDIR)/man3/libnopwatch.3"
	$(INSTALL) -m 644 scripts/completion/nopwatch.bash "$(DESTDIR)$(BASHCOMPDIR)/nopwatch"
	$(INSTALL) -m 644 scripts/completion/_nopwatch "$(DESTDIR)$(ZSHCOMPDIR)/_nopwatch"
	$(INSTALL) -m 644 scripts/completion/nopwatch.fish "$(DESTDIR)$(FISHCOMPDIR)/nopwatch.fish"
	$(INSTALL) -m 644 scripts/recipes/* "$(DESTDIR)$(RECIPESDIR)"
	$(INSTALL) -m 644 scripts/prometheus/* "$(DESTDIR)$(METRICSDIR)"
ifneq ($(UNITDIR),)
	$(INSTALL) -d "$(DESTDIR)$(UNITDIR)"
	sed 's|@BINDIR@|$(BINDIR)|' scripts/packages/nopwatch@.service >"$(DESTDIR)$(UNITDIR)/nopwatch@.service"
	chmod 644 "$(DESTDIR)$(UNITDIR)/nopwatch@.service"
endif
ifneq ($(DOCDIR),)
	scripts/install-documents "$(DESTDIR)$(DOCDIR)"
endif

uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/nopwatch" "$(DESTDIR)$(LIBDIR)/libnopwatch.a" "$(DESTDIR)$(LIBDIR)/$(SONAME)" \
		"$(DESTDIR)$(LIBDIR)/libnopwatch.so" "$(DESTDIR)$(LIBDIR)/pkgconfig/nopwatch.pc" \
		"$(DESTDIR)$(MANDIR)/man1/nopwatch.1" "$(DESTDIR)$(MANDIR)/man1"/nopwatch-*.1 "$(DESTDIR)$(MANDIR)/man3/libnopwatch.3" "$(DESTDIR)$(BASHCOMPDIR)/nopwatch" \
		"$(DESTDIR)$(ZSHCOMPDIR)/_nopwatch" "$(DESTDIR)$(FISHCOMPDIR)/nopwatch.fish"
	rm -f $(if $(UNITDIR),"$(DESTDIR)$(UNITDIR)/nopwatch@.service")
	rm -rf "$(DESTDIR)$(INCLUDEDIR)/nopwatch" "$(DESTDIR)$(PREFIX)/share/nopwatch" $(if $(DOCDIR),"$(DESTDIR)$(DOCDIR)")

clean:
	$(quiet)rm -rf build

help:
	@echo 'make            build build/nopwatch'
	@echo 'make demo       trace the sample server for five seconds (root), or replay a recording'
	@echo 'make check      every test; check-unit, check-fuzz, check-cli, check-kernel,'
	@echo '                check-vm (other kernels in virtual machines): some of them;'
	@echo '                check-harm: what could break a kernel, in virtual machines (not of make check);'
	@echo '                ONLY=NAME: those whose name holds it; V=1: show passed ones'
	@echo 'make oracle     an hour of random programs and options against a second summariser; SEED, CASES'
	@echo 'make fuzz       look for inputs that break the readers (clang); FUZZ_SECONDS, FUZZ_RUNS'
	@echo 'make lint       clang-format, cppcheck, gcc -Werror, shellcheck, order of rooms, sizes, references'
	@echo 'make coverage   run the tests and show which lines they reach'
	@echo 'make install    into DESTDIR, PREFIX (/usr/local), with completion for bash, zsh and fish; make uninstall'
	@echo 'make static     one static file to copy: build/static/nopwatch-MACHINE; CROSS=aarch64, armhf,'
	@echo '                i686, ppc64le, riscv64, s390x: for another machine'
	@echo 'make release    all of them, the sources, checksums and an SBOM, in build/release'
	@echo 'make deb, rpm   packages of the last commit, in build/packages; make apk: what abuild makes one of'
	@echo 'make image      the static file as an image for containers, in build/packages/image; CROSS'
	@echo 'make clean      remove build/'
	@echo
	@echo 'SAN=1: sanitizers; DEBUG=1: for a debugger; COVERAGE=1; V=1: show the commands'
	@echo 'CC, CFLAGS, CPPFLAGS, LDFLAGS, PKG_CONFIG are respected.'
	@echo 'scripts/setup installs what is needed to build (build), test or lint.'
