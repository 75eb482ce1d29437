// SPDX-License-Identifier: MIT
/*
 * Rewrites the format of an event with strings for other readers of a recording. In the kernel's format a string is
 * numbers (plan/layout.c), on recent kernels (6.18) without their count ("u64 sql_str0[]": trace_events.c, f_show()),
 * which libtraceevent prints as zeros. An additional field covers the string's bytes as characters, and the print
 * format shows this field instead of pointer and numbers: sql="select 1". The kernel's fields stay, and nopwatch
 * reads only those.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stream/pages/fields.h"
#include "stream/recording/recording.h"

/* The bytes of one string that an event has. */
struct string_field {
	const struct nw_event *event;
	const struct nw_planned_point *planned;
	const struct nw_source *source;
	uint32_t part;
	size_t first, last; /* the chunks in this part */
	const char *
		shown; /* name of the field that the text replaces: the pointer, or in a companion the first bytes */
	char name[40]; /* of the additional field */
};

static const char *name_of(const struct string_field *string, int field)
{
	return string->event->fields.item[field];
}

static bool is_called(const char *field, const char *name, size_t len)
{
	return strlen(field) == len && memcmp(field, name, len) == 0;
}

static bool is_of_string(const struct string_field *string, const char *name, size_t len)
{
	bool is = is_called(string->shown, name, len);

	for (size_t i = string->first; !is && i <= string->last; i++)
		is = is_called(name_of(string, string->source->chunks.item[i].field), name,
			       len);
	return is;
}

/* ---- the field ---------------------------------------------------------------------- */

static bool find_chunks(struct string_field *string)
{
	size_t i = 0, found = 0;

	nw_vec_each (&string->source->chunks, chunk) {
		if (chunk->part == string->part) {
			string->first = found++ ? string->first : i;
			string->last = i;
		}
		i++;
	}
	return found && !string->source->callers;
}

/* Writes "\tfield:char sql_text[256];\toffset:28;\tsize:256;\tsigned:0;\n". */
static int put_field(struct string_field *string, const char *text, struct nw_buf *out)
{
	const struct nw_source *source = string->source;
	const struct nw_chunk *chunk = &source->chunks.item[string->first];
	const char *name = name_of(string, chunk->field);
	int base = (int)(strrchr(name, '_') - name);
	const struct nw_field_format *begin;
	struct nw_fields fields;
	uint32_t size = 0;
	int ret = nw_fields_parse(text, &fields);

	if (ret < 0)
		return ret;
	for (size_t i = string->first; i <= string->last; i++)
		size += nw_chunk_bytes(&source->chunks.item[i]);
	begin = nw_fields_find(&fields, name);
	snprintf(string->name, sizeof(string->name), "%.*s_text", base, name);
	if (chunk->offset)
		snprintf(string->name, sizeof(string->name), "%.*s_text%u", base, name,
			 chunk->offset % 100000);
	while (nw_fields_find(&fields, string->name) && strlen(string->name) < 38)
		strcat(string->name, "_");
	if (begin)
		nw_buf_printf(out,
			      "\tfield:char %s[%u];\toffset:%u;\tsize:%u;\tsigned:0;\n",
			      string->name, size, begin->offset, size);
	nw_fields_free(&fields);
	return begin ? 0 : -EBADMSG;
}

/* ---- the print format --------------------------------------------------------------- */

/* Writes sql=\"%s\", or, for a string that has a length instead of a NUL, sql=\"%.*s\". */
static void put_text(const struct string_field *string, struct nw_buf *fmt,
		     struct nw_buf *args)
{
	const struct nw_source *source = string->source, *length = NULL;

	if (source->counted && source->part == string->part)
		length = &string->planned->args.item[source->length];
	if (length && (length->part != string->part || length->high_field >= 0 ||
		       (length->field < 0 && !length->fetch.is_constant)))
		length = NULL;
	nw_buf_printf(fmt, " %s=\\\"%%%ss\\\"", string->shown, length ? ".*" : "");
	if (length && length->field >= 0)
		nw_buf_printf(args, ", REC->%s", name_of(string, length->field));
	else if (length)
		nw_buf_printf(args, ", %u", (unsigned int)length->fetch.constant);
	nw_buf_printf(args, ", REC->%s", string->name);
}

/* Returns how many arguments a word of a print format takes. */
static unsigned int arguments_of(const char *word, size_t len)
{
	unsigned int count = 0;

	for (size_t i = 0; i < len; i++)
		count += word[i] == '%' || word[i] == '*';
	return count;
}

/* Rewrites the print format, which has a word "a=%d" for each field, followed by the arguments ", REC->a" in the same
 * order. */
static void put_print(const struct string_field *string, const char *at, const char *end,
		      struct nw_buf *out)
{
	const char *arg = end + 1;
	struct nw_buf fmt = {0}, args = {0};

	while (at < end) {
		size_t len = strcspn(at + 1, " ") + 1;
		if (len > (size_t)(end - at))
			len = (size_t)(end - at);
		const char *word = at + (*at == ' '), *from = arg;
		size_t name = strcspn(word, "= \"");
		for (unsigned int i = arguments_of(at, len); i && *arg == ','; i--)
			arg += 1 + strcspn(arg + 1, ",\n");
		if (!is_of_string(string, word, name)) {
			nw_buf_add(&fmt, at, len);
			nw_buf_add(&args, from, (size_t)(arg - from));
		} else if (is_called(string->shown, word, name)) {
			put_text(string, &fmt, &args);
		}
		at += len;
	}
	nw_buf_printf(out, "%s\"%s%s", nw_buf_str(&fmt), nw_buf_str(&args), arg);
	out->failed |= fmt.failed || args.failed;
	nw_buf_free(&fmt);
	nw_buf_free(&args);
}

static int show_string(struct string_field *string, struct nw_buf *text)
{
	static const char print[] = "\nprint fmt: \"";
	const char *old = nw_buf_str(text), *at = strstr(old, print);
	const char *end = at ? at + sizeof(print) - 1 : NULL;
	const struct nw_source *source = string->source;
	struct nw_buf out = {0};

	/* The quotation mark at its end has no backslash before it. */
	while (end && *end && (*end != '"' || end[-1] == '\\'))
		end++;
	if (!end || !*end)
		return 0;
	string->shown = name_of(string, source->part == string->part
						? source->field
						: source->chunks.item[string->first].field);
	/* an empty line ends the fields */
	size_t fields = (size_t)(at - old) + (at == old || at[-1] != '\n');
	nw_buf_add(&out, old, fields);
	int ret = put_field(string, old, &out);
	nw_buf_adds(&out, old[fields] == '\n' ? print : print + 1);
	if (ret == 0)
		put_print(string, at + sizeof(print) - 1, end, &out);
	if (ret == 0 && out.failed)
		ret = -ENOMEM;
	nw_buf_free(ret < 0 ? &out : text);
	if (ret == 0)
		*text = out;
	return ret;
}

int nw_format_show_strings(const struct nw_plan *plan, const struct nw_armed_event *event,
			   struct nw_buf *text)
{
	const struct nw_event_site *place =
		&event->planned->places.item[event->only < 0 ? 0 : event->only];
	const struct nw_planned_point *planned = &plan->points.item[place->planned];
	int ret = 0;

	nw_vec_each (&planned->args, source) {
		struct string_field string = {.event = event->planned,
					      .planned = planned,
					      .source = source,
					      .part = place->part};
		if (ret == 0 && find_chunks(&string))
			ret = show_string(&string, text);
	}
	return ret;
}
