// SPDX-License-Identifier: MIT
/* A diagnosis, for people and for programs. */
#include <string.h>

#include "nopwatch/output.h"

static const struct {
	const char *text, *json, *color;
} results[] = {
	[NW_RESULT_PASS] = {"ok", "pass", "\033[32m"},
	[NW_RESULT_FAIL] = {"FAIL", "fail", "\033[1;31m"},
	[NW_RESULT_UNKNOWN] = {"?", "unknown", "\033[33m"},
};

/* ---- text --------------------------------------------------------------------------- */

/* Sentences hold paths and names from files. */
static void add_sentence(struct nw_buf *out, const char *text)
{
	nw_buf_add_sentence(out, text, strlen(text));
}

static void print_text(const struct nw_diagnosis *diagnosis, const char *label, bool color,
		       struct nw_buf *out)
{
	if (label) {
		add_sentence(out, label);
		nw_buf_addc(out, '\n');
	}
	nw_vec_each (&diagnosis->checks, check) {
		nw_buf_printf(
			out, "%s%-5s%s %-10s ", color ? results[check->result].color : "",
			results[check->result].text, color ? "\033[0m" : "", check->name);
		add_sentence(out, check->saw);
		nw_buf_addc(out, '\n');
	}
	nw_buf_printf(out, "%s%sVerdict: ", diagnosis->checks.count ? "\n" : "",
		      color ? "\033[1m" : "");
	add_sentence(out, diagnosis->text);
	bool ends = out->len && strchr(".?!", out->data[out->len - 1]);
	nw_buf_printf(out, "%s%s\n", ends ? "" : ".", color ? "\033[0m" : "");
	for (size_t i = 1; i < diagnosis->reasons.count; i++) {
		if (strstr(diagnosis->text, diagnosis->reasons.item[i].text))
			continue;
		nw_buf_adds(out, "Also: ");
		add_sentence(out, diagnosis->reasons.item[i].text);
		nw_buf_adds(out, ".\n");
	}
	nw_vec_each (&diagnosis->remedy, command) {
		nw_buf_adds(out, "    ");
		add_sentence(out, *command);
		nw_buf_addc(out, '\n');
	}
}

/* ---- JSON --------------------------------------------------------------------------- */

static void print_check(const struct nw_check *check, struct nw_buf *out)
{
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", "check");
	nw_json_key_text(&json, "name", check->name);
	nw_json_key_text(&json, "result", results[check->result].json);
	nw_json_key_text(&json, "saw", check->saw);
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
}

static void print_verdict(const struct nw_diagnosis *diagnosis, const char *label,
			  struct nw_buf *out)
{
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", "verdict");
	if (label)
		nw_json_key_text(&json, "probe", label);
	nw_json_key(&json, "fires");
	if (diagnosis->fires < 0)
		nw_json_null(&json);
	else
		nw_json_bool(&json, diagnosis->fires == 1);
	nw_json_key(&json, "causes");
	nw_json_open(&json, '[');
	nw_vec_each (&diagnosis->reasons, reason) {
		const char *key = nw_cause_table[reason->cause].key;
		nw_json_text(&json, key, strlen(key));
	}
	nw_json_close(&json, ']');
	nw_json_key_text(&json, "text", diagnosis->text);
	nw_json_key(&json, "remedy");
	nw_json_open(&json, '[');
	nw_vec_each (&diagnosis->remedy, command)
		nw_json_text(&json, *command, strlen(*command));
	nw_json_close(&json, ']');
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
}

void nw_diagnosis_print(const struct nw_diagnosis *diagnosis, const char *label,
			enum nw_form form, bool color, struct nw_buf *out)
{
	if (form != NW_FORM_JSON) {
		print_text(diagnosis, label, color, out);
		return;
	}
	nw_vec_each (&diagnosis->checks, check)
		print_check(check, out);
	print_verdict(diagnosis, label, out);
}
