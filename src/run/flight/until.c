// SPDX-License-Identifier: MIT
/* Parses --until: a span, and how long it may take. */
#include <errno.h>
#include <string.h>

#include "run/flight/flight.h"

int nw_until_parse(const char *text, struct nw_until *out, struct nw_error *err)
{
	const char *sign = strrchr(text, '>');
	size_t len = sign ? (size_t)(sign - text) : 0;
	const char *time = sign ? sign + 1 : "";
	bool or_equal = *time == '=';
	uint64_t ns;

	*out = (struct nw_until){0};
	time += or_equal;
	time += strspn(time, " ");
	while (len && text[len - 1] == ' ')
		len--;
	while (len && *text == ' ') {
		text++;
		len--;
	}
	if (!sign || !len || memchr(text, '>', len)) {
		nw_fail_usage(err, "--until '%s': not a condition such as 'SPAN > 50ms'",
			      text);
		if (!sign && nw_parse_duration(text, &ns) == 0)
			nw_error_hint(
				err,
				"name the span: --until 'SPAN > %s' (`nopwatch stat` with the same probes lists the spans)",
				text);
		else if (!sign && strpbrk(text, "<="))
			nw_error_hint(err, "a span is compared by > or >=");
		else if (!sign)
			nw_error_hint(
				err,
				"quote the condition: --until '%s > 50ms' (without quotes a shell writes to a file called 50ms)",
				text);
		return -EINVAL;
	}
	if (nw_parse_duration(time, &ns) < 0 || !ns)
		return nw_fail_usage(
			err, "--until: '%s' is not a time such as 50ms, 1s or 2m", time);
	/* As with --slower: a bare 50 would mean seconds, and nothing would be recorded. */
	if (!time[strspn(time, "0123456789")]) {
		nw_fail_usage(err, "--until: the time '%s' has no unit", time);
		nw_error_hint(err, "write --until '%.*s > %sms', or %ss", (int)len, text,
			      time, time);
		return -EINVAL;
	}
	out->span = strndup(text, len);
	out->least_ns = ns + !or_equal;
	return out->span ? 0 : nw_no_memory(err);
}

bool nw_until_has_ends(const struct nw_until *until)
{
	return strstr(until->span, "..") || strstr(until->span, ",duration=");
}
