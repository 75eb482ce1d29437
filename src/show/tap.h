/* SPDX-License-Identifier: MIT */
/* show: the Test Anything Protocol, version 13 (testanything.org), for test runners. */
#ifndef NOPWATCH_SHOW_TAP_H
#define NOPWATCH_SHOW_TAP_H

#include "base/base.h"

/* Begins the output of so many tests. */
void nw_tap_begin(struct nw_buf *out, size_t tests);
/* A test, by its number from 1 on. */
void nw_tap_test(struct nw_buf *out, bool ok, size_t number, const char *text);
/* Writes what is known of the test before, as YAML: keys and their texts, of which empty ones are left out. */
struct nw_tap_fact {
	const char *key, *text;
};
void nw_tap_facts(struct nw_buf *out, const struct nw_tap_fact *facts, size_t count);
/* Says that the tests could not be run. */
void nw_tap_bail_out(struct nw_buf *out, const char *why);

#endif
