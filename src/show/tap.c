// SPDX-License-Identifier: MIT
/* See tap.h. */
#include "tap.h"

#include <string.h>

#include "base/json_writer.h"

/* Adds a text in one line. A # would begin a directive such as SKIP. */
static void add_line(struct nw_buf *out, const char *text)
{
	nw_cleanup(nw_buf_free) struct nw_buf line = {0};

	nw_buf_add_sentence(&line, text, strlen(text));
	for (const char *at = nw_buf_str(&line); *at; at++) {
		if (*at == '#')
			nw_buf_addc(out, '\\');
		nw_buf_addc(out, *at);
	}
	out->failed |= line.failed;
	nw_buf_addc(out, '\n');
}

void nw_tap_begin(struct nw_buf *out, size_t tests)
{
	nw_buf_printf(out, "TAP version 13\n1..%zu\n", tests);
}

void nw_tap_test(struct nw_buf *out, bool ok, size_t number, const char *text)
{
	nw_buf_printf(out, "%sok %zu - ", ok ? "" : "not ", number);
	add_line(out, text);
}

void nw_tap_facts(struct nw_buf *out, const struct nw_tap_fact *facts, size_t count)
{
	struct nw_json json = {.out = out};

	nw_buf_adds(out, "  ---\n");
	for (size_t i = 0; i < count; i++) {
		if (!facts[i].text || !*facts[i].text)
			continue;
		nw_buf_printf(out, "  %s: ", facts[i].key);
		/* a string of JSON is one of YAML */
		json.comma = false;
		nw_json_text(&json, facts[i].text, strlen(facts[i].text));
		nw_buf_addc(out, '\n');
	}
	nw_buf_adds(out, "  ...\n");
}

void nw_tap_bail_out(struct nw_buf *out, const char *why)
{
	nw_buf_adds(out, "Bail out! ");
	add_line(out, why);
}
