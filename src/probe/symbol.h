/* SPDX-License-Identifier: MIT */
/* Symbols of an image, loaded when first asked for. */
#ifndef NOPWATCH_PROBE_SYMBOL_H
#define NOPWATCH_PROBE_SYMBOL_H

#include "nopwatch/probe.h"

void nw_symbols_free(struct nw_symbols *symbols);

#endif
