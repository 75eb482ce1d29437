// SPDX-License-Identifier: MIT
/*
 * A pasted error: the text is searched for the pattern of each row anywhere in it; * stands for what
 * varies within a line. The first row that fits is the most special.
 */
#include <ctype.h>
#include <string.h>

#include "error_rows.h"

size_t nw_error_count(void)
{
	return nw_kernel_error_count + nw_tool_error_count;
}

const struct nw_error_cause *nw_error_row(size_t i)
{
	return i < nw_kernel_error_count ? &nw_kernel_errors[i]
					 : &nw_tool_errors[i - nw_kernel_error_count];
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

size_t nw_error_causes(const char *text, const struct nw_error_cause **out, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < nw_error_count() && found < room; i++)
		if (holds(text, nw_error_row(i)->pattern))
			out[found++] = nw_error_row(i);
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
