// SPDX-License-Identifier: MIT
/*
 * The text of a format file. libtraceevent has a parser for it, too; but it parses how the event
 * is printed along with it, and crashes on damaged texts, which a recording may hold.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

/* An offset or a size: events are smaller than a page of the ring buffer. */
enum {
	MOST = 65535
};

/* "KEY:NUMBER;" somewhere in the line. */
static bool find_number(const char *line, const char *end, const char *key, uint32_t *out)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	uint32_t number = 0;

	if (!at)
		return false;
	at += strlen(key);
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		number = number * 10 + (uint32_t)(*at - '0');
		if (number > MOST)
			return false;
	}
	*out = number;
	return *at == ';';
}

/* The name in a declaration in C: its last word, in front of an array's brackets. */
static bool find_name(const char *text, const char *end, struct nw_field *out)
{
	if (end > text && end[-1] == ']') {
		while (end > text && *--end != '[')
			;
		out->has_array = true;
		out->array = (uint32_t)strtoul(end + 1, NULL, 10);
	}
	while (end > text && end[-1] == ' ')
		end--;
	const char *name = end;
	while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
		name--;
	out->name = name;
	out->name_len = (size_t)(end - name);
	return name < end;
}

/* What stands behind "field:". */
static int parse_field(const char *text, const char *end, struct nw_fields *out)
{
	const char *semicolon = memchr(text, ';', (size_t)(end - text));
	struct nw_field *field = nw_vec_add(&out->list);

	if (!field)
		return -ENOMEM;
	uint32_t is_signed = 0;
	field->type = text;
	if (!semicolon || !find_name(text, semicolon, field) ||
	    !find_number(semicolon, end, "\toffset:", &field->format.offset) ||
	    !find_number(semicolon, end, "\tsize:", &field->format.size))
		return -EBADMSG;
	field->is_signed = find_number(semicolon, end, "\tsigned:", &is_signed) &&
			   is_signed;
	nw_field_type(field);
	return 0;
}

static int parse_id(const char *text, struct nw_fields *out)
{
	char *end;
	unsigned long id = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end != '\n' || id > MOST)
		return -EBADMSG;
	out->id = (uint32_t)id;
	return 0;
}

int nw_fields_parse(const char *text, struct nw_fields *out)
{
	static const char id[] = "ID: ", field[] = "\tfield:", print[] = "print fmt:";
	bool has_id = false;
	int ret = 0;

	*out = (struct nw_fields){0};
	while (*text && ret == 0 && strncmp(text, print, sizeof(print) - 1) != 0) {
		const char *end = strchrnul(text, '\n');
		if (strncmp(text, id, sizeof(id) - 1) == 0) {
			ret = parse_id(text + sizeof(id) - 1, out);
			has_id = true;
		} else if (strncmp(text, field, sizeof(field) - 1) == 0) {
			ret = parse_field(text + sizeof(field) - 1, end, out);
		}
		text = *end ? end + 1 : end;
	}
	if (ret == 0 && !has_id)
		ret = -EBADMSG;
	if (ret < 0)
		nw_fields_free(out);
	return ret;
}

const struct nw_field_format *nw_fields_find(const struct nw_fields *fields,
					     const char *name)
{
	size_t len = strlen(name);

	nw_vec_each (&fields->list, field)
		if (field->name_len == len && memcmp(field->name, name, len) == 0)
			return &field->format;
	return NULL;
}

void nw_fields_free(struct nw_fields *fields)
{
	nw_vec_free(&fields->list);
}
