/* SPDX-License-Identifier: MIT */
/* The shape of an SQL statement: the statement without its values. */
#ifndef NOPWATCH_RUN_CONSUMERS_SQL_H
#define NOPWATCH_RUN_CONSUMERS_SQL_H

#include "base/base.h"

/*
 * Appends the shape. Constants and placeholders become "?", lists behind IN and ARRAY and equal rows of VALUES become
 * one element, white space becomes a blank, and comments and the last semicolon are dropped. Names and keywords stay
 * as they are. cut: the end of the text is missing, so its last word is dropped.
 */
void nw_sql_shape(const char *text, size_t len, bool cut, struct nw_buf *out);

#endif
