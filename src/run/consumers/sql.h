/* SPDX-License-Identifier: MIT */
/* The shape of an SQL statement: what it does, without the values that it does it with. */
#ifndef NOPWATCH_RUN_CONSUMERS_SQL_H
#define NOPWATCH_RUN_CONSUMERS_SQL_H

#include "nopwatch/base.h"

/*
 * Append the shape: constants and placeholders are "?", lists behind IN and ARRAY and equal rows of VALUES are one of them, white
 * space is a blank, and comments and the last semicolon are dropped. Names and keywords stay as they are written. cut: the text
 * has lost its end, so the word that it ends in is left out.
 */
void nw_sql_shape(const char *text, size_t len, bool cut, struct nw_buf *out);

#endif
