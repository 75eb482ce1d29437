/* SPDX-License-Identifier: MIT */
/* The table of other tools' and the kernel's messages: errors.tsv, which is part of the library. */
#ifndef NOPWATCH_WHY_ERRORS_H
#define NOPWATCH_WHY_ERRORS_H

#include "why/why.h"

struct nw_error_row {
	enum nw_cause cause;
	const char *pattern; /* see errors.tsv */
	const char *meaning; /* one sentence, without a full stop */
	const char *remedy;  /* what to do, a command or a phrase */
	/* where the message comes from: the tool or the kernel, and its source file */
	const char *source;
};

struct nw_error_table {
	char *text; /* the text that the rows point into */
	NW_VEC(struct nw_error_row) rows;
};

/* Reads the table of the library. A line that is no row is an error: EINVAL. */
int nw_error_table_read(struct nw_error_table *out);
void nw_error_table_free(struct nw_error_table *table);

/* Finds the rows that fit the pasted text, the verdict first, up to `room` of them. Returns how many,
 * or -ENOMEM. */
ssize_t nw_error_table_find(const struct nw_error_table *table, const char *text,
			    const struct nw_error_row **out, size_t room);

#endif
