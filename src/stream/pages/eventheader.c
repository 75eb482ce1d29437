// SPDX-License-Identifier: MIT
/*
 * EventHeader's payloads, as the comments of eventheader.h of microsoft/LinuxTracepoints describe them:
 *
 *    flags u8, version u8, id u16, tag u16, opcode u8, level u8
 *    extensions, if flags has EXTENSION: size u16, kind u16, size bytes; kind has CHAINED if another one follows
 *    the payload: the values of the fields, without padding
 *
 * The extension METADATA has the event's name, and name and type of each field. Everything here comes from a program
 * and is hostile: each length is checked against what is left. Work is bounded, because every field that is visited
 * takes at least one byte of the payload, structs nest only so deep, and definitions are read only so often.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/load.h"
#include "eventheader.h"
#include "value.h"

enum {
	HEADER = 8, /* bytes */
	FLAG_LITTLE_ENDIAN = 2,
	FLAG_EXTENSION = 4,
	KIND_METADATA = 1,
	KIND_ACTIVITY = 2,
	KIND_CHAINED = 0x8000,
	ACTIVITY = 16, /* bytes of an activity's number */
	MOST_NESTED = 8,
	MOST_NAME = 1024, /* bytes of a name with its attributes */
	MOST_TEXT =
		256
		<< 10, /* of JSON: an array of structs repeats the names of its members */
	/* bytes of definitions, which are read once for each element of an array, and take some 25 ms */
	MOST_READ = 4 << 20,
};

static const char damaged[] = "the record is damaged";

/* The encoding of a field: how many bytes its value has. */
enum {
	STRUCT = 1,
	VALUE8,
	VALUE16,
	VALUE32,
	VALUE64,
	VALUE128,
	ZSTRING8,
	ZSTRING16,
	ZSTRING32,
	STRING8,
	STRING16,
	STRING32,
	ENCODINGS,
	ENCODING_MASK = 0x1f,
	CONSTANT_ARRAY = 0x20,
	VARIABLE_ARRAY = 0x40,
	HAS_FORMAT = 0x80, /* a byte with the format follows */
	HAS_TAG = 0x80,	   /* in the format: a tag of 16 bits follows */
};

/* The format of a field: what its value means. */
enum {
	DEFAULT,
	UNSIGNED_INT,
	SIGNED_INT,
	HEX_INT,
	ERRNO,
	PID,
	TIME,
	BOOLEAN,
	FLOAT,
	HEX_BYTES,
	LATIN1,
	UTF,
	UTF_MARK, /* may begin with a byte order mark, as the two formats behind it */
	XML,
	JSON,
	UUID,
	PORT,
	IPV4,
	IPV6,
};

/* A record's metadata and payload, and how far they are read. */
struct walker {
	const unsigned char *meta, *meta_end;
	const unsigned char *data, *data_end;
	bool big_endian;
	unsigned int depth;
	size_t read;	     /* bytes of definitions, also of those that were read before */
	const char *problem; /* why no more can be read; NULL: nothing is wrong */
};

/* The parts of a record, found by its extensions. */
struct parts {
	const unsigned char *meta, *activity, *payload, *end;
	size_t meta_len, activity_len;
	bool big_endian;
};

/* The definition of a field in the metadata. */
struct definition {
	const char *name;
	size_t name_len; /* without its attributes, "name;attribute=value" */
	unsigned int encoding, format;
	bool is_array, is_counted; /* is_counted: the payload has the number of elements */
	uint32_t count;
};

static void miss(struct nw_value *out, const char *why)
{
	*out = (struct nw_value){.kind = NW_VALUE_MISSING, .text = why};
}

static uint32_t load16(const struct walker *w, const unsigned char *at)
{
	return (uint32_t)nw_load_ordered(at, 2, w->big_endian);
}

/* ---- the header --------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint32_t offset, size;
} header_fields[] = {
	{NW_EVENTHEADER_FLAGS, 0, 1},
	{"version", 1, 1},
	{"id", 2, 2},
	{"tag", 4, 2},
	{"opcode", 6, 1},
	{"level", 7, 1},
};

static const char header_prefix[] = "eventheader_";

const struct nw_field_format *nw_eventheader_find(const struct nw_fields *fields)
{
	const struct nw_field_format *first = nw_fields_find(fields, header_fields[0].name);

	for (size_t i = 0; first && i < NW_COUNT(header_fields); i++) {
		const struct nw_field_format *field = nw_fields_find(fields,
								     header_fields[i].name);
		if (!field || field->size != header_fields[i].size ||
		    field->offset != first->offset + header_fields[i].offset)
			return NULL;
	}
	return first;
}

/* The names of what a record has besides its fields. */
static const struct {
	const char *name;
	struct nw_type type;
} own_names[] = {
	{NW_EVENTHEADER_EVENT, {NW_TYPE_STRING, 8, 0}},
	{NW_EVENTHEADER_FIELDS, {NW_TYPE_STRING, 8, 0}},
	{"activity", {NW_TYPE_STRING, 8, 0}},
	{"related_activity", {NW_TYPE_STRING, 8, 0}},
};

/* Returns the header's own name for ours: "id" for "eventheader_id"; NULL: ours is of something else. */
static const char *header_name(const char *name)
{
	const size_t len = sizeof(header_prefix) - 1;

	if (strcmp(name, header_fields[0].name) == 0)
		return header_fields[0].name;
	for (size_t i = 1; i < NW_COUNT(header_fields); i++)
		if (strncmp(name, header_prefix, len) == 0 &&
		    strcmp(name + len, header_fields[i].name) == 0)
			return header_fields[i].name;
	return NULL;
}

int nw_eventheader_names(const struct nw_fields *fields, nw_named_args *out)
{
	struct nw_named_arg *slot;

	for (size_t i = 0; i < NW_COUNT(own_names); i++) {
		if (!(slot = nw_vec_add(out)))
			return -ENOMEM;
		strcpy(slot->name, own_names[i].name);
		slot->type = own_names[i].type;
	}
	for (size_t i = 0; i < NW_COUNT(header_fields); i++) {
		if (!(slot = nw_vec_add(out)))
			return -ENOMEM;
		snprintf(slot->name, sizeof(slot->name), "%s%s", i ? header_prefix : "",
			 header_fields[i].name);
		slot->type = nw_fields_find(fields, header_fields[i].name)->type;
	}
	return 0;
}

int nw_eventheader_field(const struct nw_fields *fields, const char *name,
			 struct nw_field_format *out)
{
	const char *of_header = header_name(name);
	const struct nw_field_format *found = nw_fields_find(fields,
							     of_header ? of_header : name);

	if (of_header || (found && strncmp(name, "common_", 7) == 0)) {
		*out = *found;
		return 0;
	}
	*out = *nw_eventheader_find(fields);
	out->size = HEADER;
	out->type = (struct nw_type){.base = NW_TYPE_STRING, .bits = 8};
	out->member = name;
	out->text = calloc(1, sizeof(*out->text));
	return out->text ? 0 : -ENOMEM;
}

/* Finds the extensions of a record and its payload. Returns false for damaged ones. */
static bool open_parts(const struct nw_record *record, const struct nw_field_format *field,
		       struct parts *out)
{
	const unsigned char *at = record->data + field->offset;
	const unsigned char *end = record->data + record->size;

	*out = (struct parts){.end = end};
	if (record->size < field->offset + HEADER)
		return false;
	out->big_endian = !(*at & FLAG_LITTLE_ENDIAN);
	bool more = *at & FLAG_EXTENSION;
	at += HEADER;
	while (more) {
		if (end - at < 4)
			return false;
		size_t len = (size_t)nw_load_ordered(at, 2, out->big_endian);
		uint64_t kind = nw_load_ordered(at + 2, 2, out->big_endian);
		at += 4;
		if (len > (size_t)(end - at))
			return false;
		more = kind & KIND_CHAINED;
		kind &= ~(uint64_t)KIND_CHAINED;
		if (kind == KIND_METADATA) {
			out->meta = at;
			out->meta_len = len;
		} else if (kind == KIND_ACTIVITY) {
			out->activity = at;
			out->activity_len = len;
		}
		at += len;
	}
	out->payload = at;
	return true;
}

/* ---- definitions -------------------------------------------------------------------- */

/* Reads a name that ends with a NUL, and leaves its attributes out. */
static bool read_name(struct walker *w, const char **name, size_t *len)
{
	size_t room = nw_min64((uint64_t)(w->meta_end - w->meta), MOST_NAME);
	const unsigned char *end = memchr(w->meta, 0, room);

	if (!end)
		return false;
	*name = (const char *)w->meta;
	*len = strcspn(*name, ";");
	w->meta = end + 1;
	return true;
}

static bool read_definition(struct walker *w, struct definition *out)
{
	const unsigned char *from = w->meta;

	*out = (struct definition){0};
	w->problem = damaged;
	if (!read_name(w, &out->name, &out->name_len) || w->meta >= w->meta_end)
		return false;
	unsigned int encoding = *w->meta++, format = 0;
	out->encoding = encoding & ENCODING_MASK;
	if (encoding & HAS_FORMAT) {
		if (w->meta >= w->meta_end)
			return false;
		format = *w->meta++;
		if ((format & HAS_TAG) && w->meta_end - w->meta < 2)
			return false;
		w->meta += format & HAS_TAG ? 2 : 0;
		out->format = format & ~(unsigned int)HAS_TAG;
	}
	out->is_counted = encoding & VARIABLE_ARRAY;
	out->is_array = out->is_counted || (encoding & CONSTANT_ARRAY);
	if (encoding & CONSTANT_ARRAY) {
		if (w->meta_end - w->meta < 2 || out->is_counted)
			return false;
		out->count = load16(w, w->meta);
		w->meta += 2;
		if (!out->count)
			return false;
	}
	if (!out->encoding || out->encoding >= ENCODINGS ||
	    (out->encoding == STRUCT && !out->format))
		return false;
	w->read += (size_t)(w->meta - from);
	w->problem = w->read > MOST_READ ? "its definitions repeat too often" : NULL;
	return !w->problem;
}

/* ---- values ------------------------------------------------------------------------- */

/* Bytes of a unit of each encoding. */
static const unsigned char unit[ENCODINGS] = {
	[VALUE8] = 1,	 [VALUE16] = 2,	 [VALUE32] = 4,	  [VALUE64] = 8,
	[VALUE128] = 16, [ZSTRING8] = 1, [ZSTRING16] = 2, [ZSTRING32] = 4,
	[STRING8] = 1,	 [STRING16] = 2, [STRING32] = 4,
};

static bool is_text(unsigned int encoding)
{
	return encoding >= ZSTRING8;
}

/* The bytes of one value. */
struct bytes {
	const unsigned char *at;
	size_t len;
};

static bool is_zero(const unsigned char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i])
			return false;
	return true;
}

/* Returns the bytes in front of the unit that is zero; SIZE_MAX: there is none. */
static size_t find_end(const unsigned char *at, size_t left, size_t size)
{
	for (size_t len = 0; left - len >= size; len += size)
		if (is_zero(at + len, size))
			return len;
	return SIZE_MAX;
}

/* Takes the bytes of the next value of this encoding off the payload. */
static bool take_bytes(struct walker *w, unsigned int encoding, struct bytes *out)
{
	size_t left = (size_t)(w->data_end - w->data), size = unit[encoding];
	size_t before = 0, behind = 0;

	out->len = size;
	if (encoding >= STRING8) {
		before = 2;
		out->len = left >= before ? load16(w, w->data) * size : SIZE_MAX;
	} else if (encoding >= ZSTRING8) {
		behind = size;
		out->len = find_end(w->data, left, size);
	}
	if (left < before || out->len > left - before) {
		w->problem = damaged;
		return false;
	}
	out->at = w->data + before;
	w->data = out->at + out->len + behind;
	return true;
}

/* Adds text in units of one, two or four bytes as UTF-8. Halves of surrogate pairs become U+FFFD. */
static void add_units(const struct walker *w, const struct bytes *bytes, size_t size,
		      bool mark, struct nw_buf *out)
{
	char encoded[4];

	for (size_t i = 0; i + size <= bytes->len; i += size) {
		uint32_t code = (uint32_t)nw_load_ordered(bytes->at + i, size,
							  w->big_endian);
		bool high = size == 2 && code >= 0xd800 && code < 0xdc00;
		if (high && i + 4 <= bytes->len) {
			uint32_t low = load16(w, bytes->at + i + 2);
			if (low >= 0xdc00 && low < 0xe000) {
				code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		if (mark && i == 0 && code == 0xfeff)
			continue;
		if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			code = 0xfffd;
		nw_buf_add(out, encoded, nw_utf8_encode(code, encoded));
	}
}

static void add_text(const struct walker *w, const struct definition *def,
		     const struct bytes *bytes, struct nw_buf *out)
{
	static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
	bool may_mark = def->format >= UTF_MARK && def->format <= JSON;
	size_t skip = may_mark && bytes->len >= sizeof(mark) &&
				      memcmp(bytes->at, mark, sizeof(mark)) == 0
			      ? sizeof(mark)
			      : 0;

	if (unit[def->encoding] > 1 || def->format == LATIN1)
		add_units(w, bytes, unit[def->encoding], may_mark, out);
	else
		nw_buf_add(out, bytes->at + skip, bytes->len - skip);
}

static void add_hex(const struct bytes *bytes, bool uuid, struct nw_buf *out)
{
	for (size_t i = 0; i < bytes->len; i++)
		nw_buf_printf(out,
			      uuid && (i == 4 || i == 6 || i == 8 || i == 10) ? "-%02x"
									      : "%02x",
			      bytes->at[i]);
}

/* Is the value shown as text? Then the text is appended. */
static bool show_text(const struct walker *w, const struct definition *def,
		      const struct bytes *bytes, struct nw_buf *out)
{
	char address[INET6_ADDRSTRLEN];
	bool text = is_text(def->encoding);
	bool character = def->encoding <= VALUE32 &&
			 (def->format == LATIN1 || def->format == UTF);

	if (def->format == HEX_BYTES || (def->encoding == VALUE128 && def->format != IPV6))
		add_hex(bytes, def->encoding == VALUE128 && def->format == UUID, out);
	else if (text || character)
		add_text(w, def, bytes, out);
	else if ((def->format == IPV4 && def->encoding == VALUE32) ||
		 (def->format == IPV6 && def->encoding == VALUE128))
		nw_buf_adds(out, inet_ntop(def->format == IPV4 ? AF_INET : AF_INET6,
					   bytes->at, address, sizeof(address)));
	else
		return false;
	return true;
}

static enum nw_value_kind kind_of(const struct definition *def)
{
	switch (def->format) {
	case SIGNED_INT:
	case ERRNO:
	case PID:
	case TIME:
		return NW_VALUE_SIGNED;
	case HEX_INT:
		return NW_VALUE_HEX;
	case FLOAT:
		return def->encoding == VALUE32 || def->encoding == VALUE64
			       ? NW_VALUE_FLOAT
			       : NW_VALUE_UNSIGNED;
	default:
		return NW_VALUE_UNSIGNED;
	}
}

/* Reads a number. A port is in the network's byte order, all others are in the event's. */
static void read_number(const struct walker *w, const struct definition *def,
			const struct bytes *bytes, struct nw_value *out)
{
	bool big_endian = w->big_endian ||
			  (def->format == PORT && def->encoding == VALUE16);
	struct nw_type type = {.bits = (unsigned int)(8 * bytes->len)};

	switch (kind_of(def)) {
	case NW_VALUE_SIGNED:
		type.base = NW_TYPE_SIGNED;
		break;
	case NW_VALUE_HEX:
		type.base = NW_TYPE_HEX;
		break;
	case NW_VALUE_FLOAT:
		type.base = NW_TYPE_FLOAT;
		break;
	default:
		type.base = NW_TYPE_UNSIGNED;
	}
	const struct nw_fetch fetch = {.field = type, .shown = type};
	nw_value_number(&fetch, nw_load_ordered(bytes->at, bytes->len, big_endian), out);
}

/* ---- JSON --------------------------------------------------------------------------- */

static void write_fields(struct walker *w, uint32_t count, struct nw_json *json);

static void write_leaf(struct walker *w, const struct definition *def, struct nw_json *json)
{
	struct nw_buf text = {0};
	struct nw_value value = {0};
	struct bytes bytes;

	if (!take_bytes(w, def->encoding, &bytes) || !json)
		return;
	if (show_text(w, def, &bytes, &text)) {
		nw_json_text(json, text.len ? text.data : "", text.len);
		json->out->failed |= text.failed;
	} else {
		read_number(w, def, &bytes, &value);
		if (value.kind == NW_VALUE_FLOAT)
			nw_json_real(json, value.real);
		else if (def->format == BOOLEAN && value.number <= 1)
			nw_json_bool(json, value.number);
		else if (value.kind == NW_VALUE_SIGNED)
			nw_json_i64(json, (int64_t)value.number);
		else
			nw_json_u64(json, value.number);
	}
	nw_buf_free(&text);
}

/* Writes one value, or an element of an array. json NULL: the value is skipped. */
static void write_one(struct walker *w, const struct definition *def, struct nw_json *json)
{
	if (def->encoding != STRUCT) {
		write_leaf(w, def, json);
		return;
	}
	if (w->depth >= MOST_NESTED) {
		w->problem = "its structs are nested too deep";
		return;
	}
	w->depth++;
	if (json)
		nw_json_open(json, '{');
	write_fields(w, def->format, json);
	if (json)
		nw_json_close(json, '}');
	w->depth--;
}

/* Skips the definitions of a struct's members, and of theirs. */
static void skip_definitions(struct walker *w, uint32_t count)
{
	struct definition def;

	while (count--) {
		if (w->problem || !read_definition(w, &def))
			return;
		if (def.encoding == STRUCT)
			count += def.format;
	}
}

/* Writes the value of a field, whose definition has been read. The elements of an array of structs share their
 * definitions. */
static void write_value(struct walker *w, const struct definition *def,
			struct nw_json *json)
{
	const unsigned char *members = w->meta;
	uint32_t count = def->count;

	if (!def->is_array) {
		write_one(w, def, json);
		return;
	}
	if (def->is_counted) {
		if (w->data_end - w->data < 2) {
			w->problem = damaged;
			return;
		}
		count = load16(w, w->data);
		w->data += 2;
	}
	if (json)
		nw_json_open(json, '[');
	for (uint32_t i = 0; i < count && !w->problem; i++) {
		w->meta = members;
		write_one(w, def, json);
		if (json && json->out->len > MOST_TEXT)
			w->problem = "its text is too long";
	}
	if (json)
		nw_json_close(json, ']');
	/* No element has led behind the definitions of the members. */
	if (!count && def->encoding == STRUCT)
		skip_definitions(w, def->format);
}

/* Writes that many fields, or those that are left (UINT32_MAX). */
static void write_fields(struct walker *w, uint32_t count, struct nw_json *json)
{
	struct definition def;

	for (uint32_t i = 0; i < count && !w->problem; i++) {
		if (count == UINT32_MAX && w->meta == w->meta_end)
			return;
		if (!read_definition(w, &def))
			return;
		if (json)
			nw_json_key_bytes(json, def.name, def.name_len);
		write_value(w, &def, json);
	}
}

/* ---- one field ---------------------------------------------------------------------- */

/* Takes text that was written into the field's buffer. */
static void set_text(const struct nw_buf *text, bool json, struct nw_value *out)
{
	if (text->failed) {
		miss(out, "out of memory");
		return;
	}
	*out = (struct nw_value){.kind = NW_VALUE_STRING,
				 .text = text->len ? text->data : "",
				 .len = (uint32_t)text->len,
				 .json = json};
}

/* Takes a struct, an array, or all fields, as JSON. */
static void take_json(struct walker *w, const struct definition *def, struct nw_buf *text,
		      struct nw_value *out)
{
	struct nw_json json = {.out = text};

	if (def) {
		write_value(w, def, &json);
	} else {
		nw_json_open(&json, '{');
		write_fields(w, UINT32_MAX, &json);
		nw_json_close(&json, '}');
	}
	if (w->problem)
		miss(out, w->problem);
	else
		set_text(text, true, out);
}

/* Takes a value that is not composed. */
static void take_leaf(struct walker *w, const struct definition *def,
		      const struct nw_type *wanted, struct nw_buf *text,
		      struct nw_value *out)
{
	struct bytes bytes;

	if (!take_bytes(w, def->encoding, &bytes)) {
		miss(out, w->problem);
		return;
	}
	bool is_text = show_text(w, def, &bytes, text);
	if (is_text && wanted->base != NW_TYPE_DEFAULT && wanted->base != NW_TYPE_STRING)
		miss(out, "it is text");
	else if (is_text)
		set_text(text, false, out);
	else if (wanted->base == NW_TYPE_STRING)
		miss(out, "it is a number");
	else
		read_number(w, def, &bytes, out);
	if (out->kind == NW_VALUE_MISSING || is_text || wanted->base == NW_TYPE_DEFAULT ||
	    (out->kind == NW_VALUE_FLOAT) != (wanted->base == NW_TYPE_FLOAT))
		return;
	const struct nw_fetch fetch = {.field = {.base = NW_TYPE_UNSIGNED, .bits = 64},
				       .shown = *wanted};
	if (out->kind != NW_VALUE_FLOAT)
		nw_value_number(&fetch, out->number, out);
}

/* Takes the field of that name, "status" or "request.id", if the struct that is walked has it. */
static bool take_named(struct walker *w, uint32_t count, const char *name,
		       const struct nw_type *wanted, struct nw_buf *text,
		       struct nw_value *out)
{
	struct definition def;
	size_t first = strcspn(name, "."), whole = strlen(name);

	for (uint32_t i = 0; i < count && !w->problem; i++) {
		if ((count == UINT32_MAX && w->meta == w->meta_end) ||
		    !read_definition(w, &def))
			return false;
		bool composed = def.is_array || def.encoding == STRUCT;
		if (def.name_len == whole && memcmp(def.name, name, whole) == 0) {
			if (composed)
				take_json(w, &def, text, out);
			else
				take_leaf(w, &def, wanted, text, out);
			return true;
		}
		bool inside = name[first] && def.encoding == STRUCT && !def.is_array &&
			      def.name_len == first && memcmp(def.name, name, first) == 0;
		if (inside && ++w->depth <= MOST_NESTED)
			return take_named(w, def.format, name + first + 1, wanted, text,
					  out);
		write_value(w, &def, NULL);
	}
	return false;
}

static void take_activity(const struct parts *parts, size_t which, struct nw_buf *text,
			  struct nw_value *out)
{
	if (parts->activity_len < (which + 1) * ACTIVITY) {
		miss(out, "the record has none");
		return;
	}
	const struct bytes bytes = {parts->activity + which * ACTIVITY, ACTIVITY};
	add_hex(&bytes, true, text);
	set_text(text, false, out);
}

void nw_eventheader_take(const struct nw_record *record,
			 const struct nw_field_format *field, const struct nw_type *wanted,
			 struct nw_value *out)
{
	const char *name = field->member, *event;
	struct nw_buf *text = field->text;
	struct parts parts;
	size_t len;

	nw_buf_clear(text);
	if (!open_parts(record, field, &parts)) {
		miss(out, damaged);
		return;
	}
	if (strcmp(name, "activity") == 0 || strcmp(name, "related_activity") == 0) {
		take_activity(&parts, *name == 'r', text, out);
		return;
	}
	if (!parts.meta) {
		miss(out, "the record does not name its fields");
		return;
	}
	struct walker w = {.meta = parts.meta,
			   .meta_end = parts.meta + parts.meta_len,
			   .data = parts.payload,
			   .data_end = parts.end,
			   .big_endian = parts.big_endian};
	if (!read_name(&w, &event, &len)) {
		miss(out, damaged);
	} else if (strcmp(name, NW_EVENTHEADER_EVENT) == 0) {
		nw_buf_add(text, event, len);
		set_text(text, false, out);
	} else if (strcmp(name, NW_EVENTHEADER_FIELDS) == 0) {
		take_json(&w, NULL, text, out);
	} else if (!take_named(&w, UINT32_MAX, name, wanted, text, out)) {
		miss(out, w.problem ? w.problem : "the record has no such field");
	}
}
