// SPDX-License-Identifier: MIT
/*
 * The text of a format file, as libtraceevent takes it apart. A recording's is hostile: what is not
 * written as the kernel writes it is refused here, and only the fields go on to the library, whose parser
 * of how an event is printed was not made for that.
 */
#include <ctype.h>
#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

enum {
	MOST = 65535, /* an offset or a size: events are smaller than a page of the
				   ring buffer; an id has 16 bits */
	MOST_DECLARATION = 512, /* characters: the kernel's longest has 61 */
};

/* ---- the check ---------------------------------------------------------------------- */

/* "KEY" and a number, and what ends it. */
static bool skip_number(const char **at, const char *key, char end, uint32_t *out)
{
	size_t len = strlen(key);
	uint32_t number = 0;

	if (strncmp(*at, key, len) != 0 || !isdigit((unsigned char)(*at)[len]))
		return false;
	for (*at += len; isdigit((unsigned char)**at); ++*at) {
		number = number * 10 + (uint32_t)(**at - '0');
		if (number > MOST)
			return false;
	}
	*out = number;
	return *(*at)++ == end;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "__attribute__((user)) ", which some kernels leave in a type: its length; 0: it is none. */
static size_t attribute_length(const char *text)
{
	static const char start[] = "__attribute__((";
	size_t len = sizeof(start) - 1;

	if (strncmp(text, start, len) != 0)
		return 0;
	while (is_word(text[len]))
		len++;
	return strncmp(text + len, ")) ", 3) == 0 ? len + 3 : 0;
}

/*
 * "unsigned int a", "const char * a", "char a[16]", "__data_loc char[] a", "u8 a[sizeof(struct b)]":
 * two words or asterisks at least, then something in brackets, then one word more.
 */
static bool is_declaration(const char *text, size_t len)
{
	size_t words = 0, behind = 0;
	bool bracket = false;

	if (len > MOST_DECLARATION || !len || !is_word(*text))
		return false;
	for (size_t i = 0; i < len; i++) {
		i += attribute_length(text + i);
		if (text[i] == '[') {
			const char *end = memchr(text + i, ']', len - i);
			if (bracket || words < 2 || !end)
				return false;
			for (i++; text + i < end; i++)
				if (!is_word(text[i]) && !strchr(" ()*+-", text[i]))
					return false;
			bracket = true;
		} else if (is_word(text[i]) || (text[i] == '*' && !bracket)) {
			bool begins = text[i] == '*' || i == 0 || !is_word(text[i - 1]);
			words += begins;
			behind += begins && bracket;
		} else if (text[i] != ' ') {
			return false;
		}
	}
	return words >= 2 && behind <= 1;
}

/* "\tfield:TYPE NAME;\toffset:N;\tsize:N;", and since 2.6.33 "\tsigned:N;". */
static bool check_field(const char *line)
{
	static const char field[] = "\tfield:";
	const char *at = line + sizeof(field) - 1;
	size_t len = strcspn(at, ";\n");
	uint32_t number;

	if (strncmp(line, field, sizeof(field) - 1) != 0 || !is_declaration(at, len) ||
	    at[len] != ';')
		return false;
	at += len + 1;
	if (!skip_number(&at, "\toffset:", ';', &number) ||
	    !skip_number(&at, "\tsize:", ';', &number))
		return false;
	return *at == '\n' || *at == '\0' ||
	       (skip_number(&at, "\tsigned:", ';', &number) &&
		(*at == '\n' || *at == '\0'));
}

/* The text that the library gets: the checked fields only, in their order. The event's name is not used. */
static int rewrite(const char *text, uint32_t *id, struct nw_buf *out)
{
	bool has_id = false;
	struct nw_buf fields = {0};
	int ret = 0;

	while (*text && ret == 0 && strncmp(text, "print fmt:", 10) != 0) {
		size_t len = strcspn(text, "\n");
		if (strncmp(text, "ID:", 3) == 0) {
			const char *at = text;
			has_id = skip_number(&at, "ID: ", '\n', id);
			ret = has_id ? 0 : -EBADMSG;
		} else if (strncmp(text, "\tfield:", 7) == 0) {
			ret = check_field(text) ? 0 : -EBADMSG;
			for (size_t i = 0; i < len; i++) {
				i += attribute_length(text + i);
				nw_buf_addc(&fields, text[i]);
			}
			nw_buf_addc(&fields, '\n');
		}
		text += len + (text[len] == '\n');
	}
	if (ret == 0 && !has_id)
		ret = -EBADMSG;
	/* The library takes what stands in front of the empty line for common fields. Nobody asks it which
	 * fields are common, so all may stand behind it. */
	nw_buf_printf(out, "name: x\nID: %u\nformat:\n\n%s\nprint fmt: \"\"\n", *id,
		      nw_buf_str(&fields));
	if (fields.failed || out->failed)
		ret = -ENOMEM;
	nw_buf_free(&fields);
	return ret;
}

/* ---- the fields --------------------------------------------------------------------- */

static bool is_name(const char *name)
{
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return false;
	return *name != '\0';
}

static int add_field(const struct tep_format_field *field, struct nw_fields *out)
{
	struct nw_field *slot = nw_vec_add(&out->list);

	if (!slot)
		return -ENOMEM;
	if (!field->name || !field->type || !is_name(field->name))
		return -EBADMSG;
	*slot = (struct nw_field){
		.name = field->name,
		.type = field->type,
		.array = (uint32_t)field->arraylen,
		.has_array = field->flags & TEP_FIELD_IS_ARRAY,
		.is_signed = field->flags & TEP_FIELD_IS_SIGNED,
		.format = {.offset = (uint32_t)field->offset,
			   .size = (uint32_t)field->size},
	};
	nw_field_type(slot);
	return 0;
}

int nw_fields_parse(const char *text, struct nw_fields *out)
{
	struct tep_event *event = NULL;
	struct nw_buf checked = {0};

	*out = (struct nw_fields){0};
	int ret = rewrite(text, &out->id, &checked);
	if (ret == 0 && !(out->tep = tep_alloc()))
		ret = -ENOMEM;
	if (ret == 0) {
		tep_set_loglevel(TEP_LOG_NONE); /* what is wrong is our caller's to say */
		tep_parse_format(out->tep, &event, nw_buf_str(&checked), checked.len, "x");
		if (!event || (unsigned int)event->flags & TEP_EVENT_FL_FAILED)
			ret = -EBADMSG;
	}
	for (const struct tep_format_field *field = ret == 0 ? event->format.fields : NULL;
	     field && ret == 0; field = field->next)
		ret = add_field(field, out);
	if (ret < 0)
		nw_fields_free(out);
	nw_buf_free(&checked);
	return ret;
}

const struct nw_field_format *nw_fields_find(const struct nw_fields *fields,
					     const char *name)
{
	nw_vec_each (&fields->list, field)
		if (strcmp(field->name, name) == 0)
			return &field->format;
	return NULL;
}

int nw_format_find(const char *text, const struct nw_wanted_field *wanted, size_t count,
		   uint16_t *id)
{
	struct nw_fields fields;
	int ret = nw_fields_parse(text, &fields);

	if (ret < 0)
		return ret;
	*id = (uint16_t)fields.id;
	for (size_t i = 0; i < count; i++) {
		const struct nw_field_format *field = nw_fields_find(&fields,
								     wanted[i].name);
		if (field && field->size == wanted[i].size)
			*wanted[i].offset = field->offset;
		else
			ret = -EBADMSG;
	}
	nw_fields_free(&fields);
	return ret;
}

void nw_fields_free(struct nw_fields *fields)
{
	tep_free(fields->tep);
	fields->tep = NULL;
	nw_vec_free(&fields->list);
}
