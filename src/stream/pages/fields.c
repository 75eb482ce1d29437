// SPDX-License-Identifier: MIT
/*
 * The fields of a format file. Those of a recording are hostile: a text that the kernel would not write is refused.
 * libtraceevent's parser leaks what it cannot parse, and crashes when memory runs out (docs/dev/upstream.md).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

enum {
	/* Limit of an offset or a size, since events are smaller than a page of the ring buffer; and of an id, which
	 * has 16 bits. */
	MOST = 65535,
	MOST_DECLARATION = 512, /* characters; the kernel's longest declaration has 61 */
};

/* ---- the check ---------------------------------------------------------------------- */

/* Skips "KEY", a number and the character `end`. */
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

/* Returns the length of "__attribute__((user)) ", which some kernels leave in a type; 0: it is something else. */
static size_t attribute_length(const char *text)
{
	static const char start[] = "__attribute__((";
	size_t len = sizeof(start) - 1;

	if (strncmp(text, start, len) != 0)
		return 0;
	while (nw_is_word(text[len]))
		len++;
	return strncmp(text + len, ")) ", 3) == 0 ? len + 3 : 0;
}

/*
 * Is the text a declaration: "unsigned int a", "const char * a", "char a[16]", "__data_loc char[] a", "u8
 * a[sizeof(struct b)]"? It has at least two words or asterisks, then perhaps brackets, then perhaps one more word.
 */
static bool is_declaration(const char *text, size_t len)
{
	size_t words = 0, behind = 0;
	bool bracket = false;

	if (len > MOST_DECLARATION || !len || !nw_is_word(*text))
		return false;
	for (size_t i = 0; i < len; i++) {
		i += attribute_length(text + i);
		if (text[i] == '[') {
			const char *end = memchr(text + i, ']', len - i);
			if (bracket || words < 2 || !end)
				return false;
			for (i++; text + i < end; i++)
				if (!nw_is_word(text[i]) && !strchr(" ()*+-", text[i]))
					return false;
			bracket = true;
		} else if (nw_is_word(text[i]) || (text[i] == '*' && !bracket)) {
			bool begins = text[i] == '*' || i == 0 || !nw_is_word(text[i - 1]);
			words += begins;
			behind += begins && bracket;
		} else if (text[i] != ' ') {
			return false;
		}
	}
	return words >= 2 && behind <= 1;
}

/* ---- the fields --------------------------------------------------------------------- */

/* Adds a word of a declaration: one blank stands between words, and none before a bracket. */
static void add_word(struct nw_buf *out, const char *word, size_t len)
{
	if (out->len && *word != '[')
		nw_buf_addc(out, ' ');
	nw_buf_add(out, word, len);
}

/* Returns the length of the word, the asterisk, or the brackets with their contents, at the begin of a checked
 * declaration. */
static size_t word_length(const char *text)
{
	size_t len = 1;

	if (*text == '[')
		return strcspn(text, "]") + 1;
	if (nw_is_word(*text))
		while (nw_is_word(text[len]))
			len++;
	return len;
}

/*
 * Splits a checked declaration into type and name. The name is the last word, and brackets belong to the type:
 * "char comm[16]" is comm, a "char[16]". The number in the brackets goes to *array; anything else there counts as 0.
 */
static void split_declaration(const char *text, const char *end, struct nw_buf *type,
			      struct nw_buf *name, struct nw_field *field)
{
	const char *brackets = NULL;

	while (text < end) {
		size_t len = *text == ' ' ? 1 : attribute_length(text);
		if (len) {
			text += len;
			continue;
		}
		len = word_length(text);
		if (*text == '[') {
			brackets = text;
		} else {
			/* the name is behind the brackets: the word before them belongs to the type */
			if (name->len)
				add_word(type, name->data, name->len);
			if (brackets && !field->has_array)
				add_word(type, brackets, word_length(brackets));
			field->has_array = brackets != NULL;
			nw_buf_cut(name, 0);
			nw_buf_add(name, text, len);
		}
		text += len;
	}
	if (brackets && !field->has_array)
		add_word(type, brackets, word_length(brackets));
	field->has_array = brackets != NULL;
	if (brackets && isdigit((unsigned char)brackets[1]))
		field->array = (uint32_t)strtoul(brackets + 1, NULL, 0);
}

static bool is_name(const char *name)
{
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return false;
	return *name != '\0';
}

/* Parses "\tfield:TYPE NAME;\toffset:N;\tsize:N;", and since Linux 2.6.33 "\tsigned:N;". */
static int add_field(const char *line, struct nw_fields *out)
{
	static const char start[] = "\tfield:";
	const char *text = line + sizeof(start) - 1;
	const char *end = text + strcspn(text, ";\n"), *at = end + 1;
	struct nw_buf type = {0}, name = {0};
	struct nw_field field = {0};
	uint32_t is_signed = 0;

	if (!is_declaration(text, (size_t)(end - text)) || *end != ';' ||
	    !skip_number(&at, "\toffset:", ';', &field.format.offset) ||
	    !skip_number(&at, "\tsize:", ';', &field.format.size) ||
	    (*at != '\n' && *at && !skip_number(&at, "\tsigned:", ';', &is_signed)) ||
	    (*at != '\n' && *at))
		return -EBADMSG;
	split_declaration(text, end, &type, &name, &field);
	field.is_signed = is_signed;
	field.type = nw_buf_take(&type);
	field.name = nw_buf_take(&name);
	struct nw_field *slot = field.type && field.name ? nw_vec_add(&out->list) : NULL;
	if (!slot || !is_name(field.name)) {
		free(field.type);
		free(field.name);
		out->list.count -= slot != NULL;
		return slot ? -EBADMSG : -ENOMEM;
	}
	nw_field_type(&field);
	*slot = field;
	return 0;
}

int nw_fields_parse(const char *text, struct nw_fields *out)
{
	bool has_id = false;
	int ret = 0;

	*out = (struct nw_fields){0};
	while (*text && ret == 0 && strncmp(text, "print fmt:", 10) != 0) {
		size_t len = strcspn(text, "\n");
		if (strncmp(text, "ID:", 3) == 0) {
			const char *at = text;
			has_id = skip_number(&at, "ID: ", '\n', &out->id);
			ret = has_id ? 0 : -EBADMSG;
		} else if (strncmp(text, "\tfield:", 7) == 0) {
			ret = add_field(text, out);
		}
		text += len + (text[len] == '\n');
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
	nw_vec_each (&fields->list, field) {
		free(field->type);
		free(field->name);
	}
	nw_vec_free(&fields->list);
}
