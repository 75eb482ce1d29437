// SPDX-License-Identifier: MIT
/* See exposition.h. */
#include "exposition.h"
#include "native.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Parameters of a type that is ours: the scraper has to ask for these values, if it names them. */
static const struct {
	const char *type;
	enum nw_exposition what;
	/* a parameter without which the type is another one, and its value; NULL: none */
	const char *needs, *value;
} types[] = {
	{"application/vnd.google.protobuf", NW_EXPOSITION_PROTOBUF, "encoding",
	 "delimited"},
	{"application/openmetrics-text", NW_EXPOSITION_OPENMETRICS, NULL, NULL},
	{"text/plain", NW_EXPOSITION_TEXT, NULL, NULL},
	{"text/*", NW_EXPOSITION_TEXT, NULL, NULL},
	{"*/*", NW_EXPOSITION_TEXT, NULL, NULL},
};

/* A part of the header, which is not terminated. */
struct part {
	const char *text;
	size_t len;
};

/* Cuts the next part off, up to a separator, without blanks around it. */
static bool next_part(struct part *rest, char separator, struct part *out)
{
	if (!rest->len)
		return false;
	const char *end = memchr(rest->text, separator, rest->len);
	size_t len = end ? (size_t)(end - rest->text) : rest->len;

	*out = (struct part){rest->text, len};
	len += end != NULL;
	rest->text += len;
	rest->len -= len;
	while (out->len && isspace((unsigned char)*out->text)) {
		out->text++;
		out->len--;
	}
	while (out->len && isspace((unsigned char)out->text[out->len - 1]))
		out->len--;
	return true;
}

static bool is_word(const struct part *part, const char *word)
{
	return part->len == strlen(word) && strncasecmp(part->text, word, part->len) == 0;
}

/* Reads "0.75" as 750; what is no such number is 1000, as if there were none. */
static int quality(const struct part *value)
{
	int q = 0, scale = 1000;

	if (!value->len || (*value->text != '0' && *value->text != '1'))
		return 1000;
	for (size_t i = 0; i < value->len && scale; i++) {
		char c = value->text[i];
		if (i == 1 && c == '.')
			continue;
		if (!isdigit((unsigned char)c) || i == 1)
			return 1000;
		q += (c - '0') * scale;
		scale /= 10;
	}
	return q > 1000 ? 1000 : q;
}

/* Reads one choice, "TYPE;NAME=VALUE;q=0.5". False: it is none of ours. *q: its quality in thousandths. */
static bool read_choice(struct part choice, enum nw_exposition *what, int *q)
{
	struct part type, parameter, name;
	size_t i = 0;

	*q = 1000;
	if (!next_part(&choice, ';', &type))
		return false;
	while (i < NW_COUNT(types) && !is_word(&type, types[i].type))
		i++;
	if (i == NW_COUNT(types))
		return false;
	bool fits = !types[i].needs;
	while (next_part(&choice, ';', &parameter)) {
		if (!next_part(&parameter, '=', &name))
			continue;
		if (is_word(&name, "q"))
			*q = quality(&parameter);
		else if (types[i].needs && is_word(&name, types[i].needs))
			fits = is_word(&parameter, types[i].value);
	}
	*what = types[i].what;
	return fits && *q;
}

enum nw_exposition nw_exposition_accept(const char *accept)
{
	struct part rest = {accept, accept ? strlen(accept) : 0}, choice;
	enum nw_exposition best = NW_EXPOSITION_TEXT, what;
	int most = 0, q;

	while (next_part(&rest, ',', &choice)) {
		if (read_choice(choice, &what, &q) && q > most) {
			best = what;
			most = q;
		}
	}
	return best;
}

const char *nw_exposition_type(enum nw_exposition what)
{
	static const char *const names[NW_EXPOSITIONS] = {
		[NW_EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[NW_EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
		[NW_EXPOSITION_PROTOBUF] =
			"application/vnd.google.protobuf; "
			"proto=io.prometheus.client.MetricFamily; encoding=delimited",
	};

	return names[what];
}

const struct nw_output_format *nw_exposition_format(enum nw_exposition what)
{
	return what == NW_EXPOSITION_PROTOBUF ? &nw_output_native : &nw_output_openmetrics;
}
