# nopwatch: make help tells what can be made.
#
# Objects go below build/, one directory a flavour, so that SAN=1, DEBUG=1 and COVERAGE=1 do
# not disturb each other. V=1 shows the commands.

VERSION := 0.1.0

CC          ?= gcc
AR          ?= ar
PKG_CONFIG  ?= pkg-config
INSTALL     ?= install
PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
LIBDIR      ?= $(PREFIX)/lib
INCLUDEDIR  ?= $(PREFIX)/include
MANDIR      ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions

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
BUILD := build/$(FLAVOUR)

# ---- libraries ----------------------------------------------------------------------------

# name and least version of each; Debian's and Fedora's packages are in scripts/setup
LIBRARIES := libelf libtraceevent
LEAST_libelf := 0.168
LEAST_libtraceevent := 1.1.0
LEAST_check := 0.10.0

# Targets that build nothing need no libraries.
BUILDING := $(filter-out help clean distclean setup install-help,$(or $(MAKECMDGOALS),all))

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
endif

# ---- flags --------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings -Wno-format-nonliteral
ALL_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DNOPWATCH_VERSION='"$(VERSION)"' -Iinclude \
	$(LIB_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS := -std=gnu11 $(OPTIMISE) $(WARNINGS) $(EXTRA) $(CFLAGS)
ALL_LDFLAGS := $(EXTRA) $(LDFLAGS)
LDLIBS := $(LIB_LDLIBS) -lm

# ---- quiet rules --------------------------------------------------------------------------

ifeq ($(V),1)
quiet :=
say = @:
else
quiet := @
say = @printf '  %-7s %s\n' '$(1)' '$(2)'
endif

# ---- what is built ------------------------------------------------------------------------

ROOMS := base probe plan kernel stream summary output
LIB_SRC := $(sort $(foreach room,$(ROOMS),$(wildcard src/$(room)/*.c)))
CMD_SRC := $(sort $(wildcard src/cmd/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)
LIB := $(BUILD)/libnopwatch.a
BIN := $(BUILD)/nopwatch

.DELETE_ON_ERROR:
.PHONY: all help check check-unit check-kernel check-vm demo bench lint format coverage fuzz \
	install uninstall clean setup

all: $(BIN) build/nopwatch

# The plain build is the one that scripts and people use.
build/nopwatch: $(BIN)
	$(quiet)ln -sf $(FLAVOUR)/nopwatch $@

$(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(quiet)rm -f $@
	$(quiet)$(AR) rcs $@ $^

$(BIN): $(CMD_OBJ) $(LIB)
	$(call say,LINK,$@)
	$(quiet)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

-include tests/tests.mk

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)

clean:
	$(quiet)rm -rf build
