// SPDX-License-Identifier: MIT
/*
 * A pasted error: the text is searched for the pattern of each row anywhere in it; * stands for what
 * varies within a line. Of the rows that match, the first is the most specific.
 */
#include <ctype.h>
#include <string.h>

#include "error_rows.h"

/* In the order in which they are tried. */
static const struct {
	const struct nw_error_cause *rows;
	const size_t *count;
} tables[] = {
	{nw_kernel_errors, &nw_kernel_error_count},
	{nw_bpf_errors, &nw_bpf_error_count},
	{nw_tool_errors, &nw_tool_error_count},
};

size_t nw_error_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < NW_COUNT(tables); i++)
		count += *tables[i].count;
	return count;
}

const struct nw_error_cause *nw_error_row(size_t i)
{
	size_t table = 0;

	while (i >= *tables[table].count)
		i -= *tables[table++].count;
	return &tables[table].rows[i];
}

/* Does text begin with pattern, whose * matches anything but a line's end? */
static bool begins_with(const char *text, const char *pattern)
{
	for (; *pattern; text++, pattern++) {
		if (*pattern == '*') {
			for (; *text && *text != '\n'; text++)
				if (begins_with(text, pattern + 1))
					return true;
			return false;
		}
		if (tolower((unsigned char)*text) != *pattern)
			return false;
	}
	return true;
}

static bool holds(const char *text, const char *pattern)
{
	for (; *text; text++)
		if (begins_with(text, pattern))
			return true;
	return false;
}

/* Is the pattern part of that of a row which was found before? "elf: failed to open" says more than
 * "failed to open". */
static bool is_said(const char *pattern, const struct nw_error_cause *const *found,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(found[i]->pattern, pattern))
			return true;
	return false;
}

size_t nw_error_causes(const char *text, const struct nw_error_cause **out, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < nw_error_count() && found < room; i++) {
		const struct nw_error_cause *row = nw_error_row(i);
		if (holds(text, row->pattern) && !is_said(row->pattern, out, found))
			out[found++] = row;
	}
	return found;
}

int nw_diagnose_error(const char *text, struct nw_diagnosis *out, struct nw_error *err)
{
	const struct nw_error_cause *rows[8];
	struct nw_diagnosis diagnosis = {.fires = -1};
	size_t count = nw_error_causes(text, rows, NW_COUNT(rows));
	bool failed = false;

	for (size_t i = 0; i < count; i++) {
		struct nw_reason *reason = nw_vec_add(&diagnosis.reasons);
		if (!reason) {
			failed = true;
			break;
		}
		*reason = (struct nw_reason){.cause = rows[i]->cause,
					     .text = strdup(rows[i]->text)};
		failed = failed || !reason->text ||
			 nw_strings_addf(&diagnosis.remedy, "%s", rows[i]->remedy) < 0;
	}
	diagnosis.text = strdup(count ? rows[0]->text
				      : "this error is not known; name the probe, too");
	if (failed || !diagnosis.text) {
		nw_diagnosis_free(&diagnosis);
		return nw_no_memory(err);
	}
	*out = diagnosis;
	return 0;
}
