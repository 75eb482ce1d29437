// SPDX-License-Identifier: MIT
/* Words of plans, journals and tables, which are separated by blanks: see serial.c. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"

void nw_plan_word(struct nw_buf *out, const char *text)
{
	nw_buf_addc(out, ' ');
	if (!*text || strcmp(text, "-") == 0) {
		nw_buf_adds(out, *text ? "%2d" : "-");
		return;
	}
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c > ' ' && c < 0x7f && c != '%')
			nw_buf_addc(out, (char)c);
		else
			nw_buf_printf(out, "%%%02x", c);
	}
}

/* Decodes %XX in place. */
void nw_plan_unword(char *text)
{
	char *to = text;

	if (strcmp(text, "-") == 0)
		*text = '\0';
	for (; *text; text++) {
		char hex[3] = {text[0] == '%' ? text[1] : '\0', '\0', '\0'};
		hex[1] = *hex ? text[2] : '\0';
		if (isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1])) {
			*to++ = (char)strtoul(hex, NULL, 16);
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}
