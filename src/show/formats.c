// SPDX-License-Identifier: MIT
/* The table of formats. */
#include "show/formats.h"

#include <string.h>

#define LIST_FORMAT(name) &nw_output_##name,
const struct nw_output_format *const nw_output_formats[] = {NW_OUTPUT_FORMATS(LIST_FORMAT)};
const size_t nw_output_format_count = NW_COUNT(nw_output_formats);

const struct nw_output_format *nw_output_find(const char *name)
{
	for (size_t i = 0; i < nw_output_format_count; i++)
		if (strcmp(nw_output_formats[i]->name, name) == 0)
			return nw_output_formats[i];
	return NULL;
}

static bool is_one(const struct nw_output_format *format, enum nw_shows what)
{
	return what == NW_SHOWS_COUNT || format->shows[what];
}

void nw_output_names(enum nw_shows what, struct nw_buf *out)
{
	size_t left = 0, named = 0;

	for (size_t i = 0; i < nw_output_format_count; i++)
		left += is_one(nw_output_formats[i], what);
	for (size_t i = 0; i < nw_output_format_count; i++) {
		if (!is_one(nw_output_formats[i], what))
			continue;
		left--;
		nw_buf_printf(out, "%s%s",
			      !named++ ? ""
			      : left   ? ", "
				       : " or ",
			      nw_output_formats[i]->name);
	}
}
