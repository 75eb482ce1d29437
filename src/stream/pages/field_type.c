// SPDX-License-Identifier: MIT
/*
 * Declarations in a format file: "pid_t next_pid", "char comm[16]", "__data_loc char[] name". Their size and sign are
 * in the file, too, but not those of an array's elements, and not those of system call arguments, which fill a
 * register whatever their type is.
 */
#include <errno.h>
#include <string.h>

#include "eventheader.h"

/* Names of types. bits 0: as many as the field has. */
static const struct {
	const char *name;
	enum nw_base_type base;
	unsigned int bits;
} types[] = {
	{"int", NW_TYPE_SIGNED, 32},
	{"unsigned int", NW_TYPE_UNSIGNED, 32},
	{"unsigned", NW_TYPE_UNSIGNED, 32},
	{"uint", NW_TYPE_UNSIGNED, 32},
	{"short", NW_TYPE_SIGNED, 16},
	{"unsigned short", NW_TYPE_UNSIGNED, 16},
	{"long", NW_TYPE_SIGNED, 0},
	{"unsigned long", NW_TYPE_UNSIGNED, 0},
	{"long long", NW_TYPE_SIGNED, 64},
	{"unsigned long long", NW_TYPE_UNSIGNED, 64},
	{"unsigned char", NW_TYPE_UNSIGNED, 8},
	{"u8", NW_TYPE_UNSIGNED, 8},
	{"u16", NW_TYPE_UNSIGNED, 16},
	{"u32", NW_TYPE_UNSIGNED, 32},
	{"u64", NW_TYPE_UNSIGNED, 64},
	{"__u8", NW_TYPE_UNSIGNED, 8},
	{"__u16", NW_TYPE_UNSIGNED, 16},
	{"__u32", NW_TYPE_UNSIGNED, 32},
	{"__u64", NW_TYPE_UNSIGNED, 64},
	{"s8", NW_TYPE_SIGNED, 8},
	{"s16", NW_TYPE_SIGNED, 16},
	{"s32", NW_TYPE_SIGNED, 32},
	{"s64", NW_TYPE_SIGNED, 64},
	{"__s32", NW_TYPE_SIGNED, 32},
	{"int32_t", NW_TYPE_SIGNED, 32},
	{"uint32_t", NW_TYPE_UNSIGNED, 32},
	{"loff_t", NW_TYPE_SIGNED, 64},
	{"off_t", NW_TYPE_SIGNED, 0},
	{"pid_t", NW_TYPE_SIGNED, 32},
	{"uid_t", NW_TYPE_UNSIGNED, 32},
	{"gid_t", NW_TYPE_UNSIGNED, 32},
	{"umode_t", NW_TYPE_UNSIGNED, 16},
	{"clockid_t", NW_TYPE_SIGNED, 32},
	{"timer_t", NW_TYPE_SIGNED, 32},
	{"key_t", NW_TYPE_SIGNED, 32},
	{"key_serial_t", NW_TYPE_SIGNED, 32},
	{"mqd_t", NW_TYPE_SIGNED, 32},
	{"cpumask_t", NW_TYPE_HEX, 64},
};

/* A type in C, without words that say nothing about its bits, up to a '[', the name or the end. */
struct words {
	const char *text;
	size_t len;
};

static struct words type_words(const struct nw_field *field)
{
	static const char *const words[] = {"__data_loc ", "__rel_loc ", "const ",
					    "volatile "};
	struct words out = {field->type, strlen(field->type)};
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < NW_COUNT(words); i++) {
			size_t len = strlen(words[i]);
			if (out.len < len || memcmp(out.text, words[i], len) != 0)
				continue;
			out.text += len;
			out.len -= len;
			again = true;
		}
	}
	const char *bracket = memchr(out.text, '[', out.len);
	if (bracket)
		out.len = (size_t)(bracket - out.text);
	while (out.len && out.text[out.len - 1] == ' ')
		out.len--;
	return out;
}

static bool is_word(struct words words, const char *text)
{
	return strlen(text) == words.len && memcmp(text, words.text, words.len) == 0;
}

/* Finds a type by its name, for a field or an element of that many bytes (0: unknown). */
static bool find_type(struct words words, uint32_t bytes, struct nw_type *out)
{
	for (size_t i = 0; i < NW_COUNT(types); i++) {
		unsigned int bits = types[i].bits ? types[i].bits : bytes * 8;
		if (!is_word(words, types[i].name))
			continue;
		if (!bits || (bytes && bits > bytes * 8))
			return false;
		*out = (struct nw_type){.base = types[i].base, .bits = bits};
		return true;
	}
	return false;
}

/* Plain bytes, for structures and unknown types. */
static const struct nw_type bytes_type = {.base = NW_TYPE_HEX, .bits = 8, .array = 1};

static bool is_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static struct nw_type plain_number(const struct nw_field *field, uint32_t size)
{
	return (struct nw_type){.base = field->is_signed ? NW_TYPE_SIGNED
							 : NW_TYPE_UNSIGNED,
				.bits = size * 8};
}

static struct nw_type array_type(const struct nw_field *field, struct words words)
{
	uint32_t element = field->array ? field->format.size / field->array : 0;
	struct nw_type type = bytes_type;

	/* An array of u8 is an address; an array of char is a string, unless char is unsigned. */
	if (is_word(words, "char"))
		return (struct nw_type){.base = NW_TYPE_STRING, .bits = 8};
	if (!find_type(words, element ? element : (uint32_t)sizeof(long), &type) &&
	    is_number(element))
		type = plain_number(field, element);
	if (element && type.bits != element * 8)
		type = bytes_type;
	type.array = 1;
	return type;
}

static struct nw_type number_type(const struct nw_field *field, struct words words)
{
	uint32_t size = field->format.size;
	struct nw_type type;

	if (!is_number(size))
		return bytes_type;
	if (memchr(words.text, '*', words.len))
		return (struct nw_type){.base = NW_TYPE_HEX, .bits = size * 8};
	return find_type(words, size, &type) ? type : plain_number(field, size);
}

void nw_field_type(struct nw_field *field)
{
	struct nw_field_format *format = &field->format;
	struct words words = type_words(field);

	format->relative = strncmp(field->type, "__rel_loc ", 10) == 0;
	format->dynamic = format->relative || strncmp(field->type, "__data_loc ", 11) == 0;
	format->type = format->dynamic || field->has_array ? array_type(field, words)
							   : number_type(field, words);
}

int nw_format_fields(const char *text, nw_named_args *out, struct nw_error *err)
{
	struct nw_fields fields;
	int ret = nw_fields_parse(text, &fields);

	if (ret < 0)
		return nw_fail(err, -ret, "its format cannot be read: %s",
			       nw_strerror(-ret));
	if (nw_eventheader_find(&fields)) {
		ret = nw_eventheader_names(&fields, out);
		nw_fields_free(&fields);
		return ret < 0 ? nw_no_memory(err) : 0;
	}
	nw_vec_each (&fields.list, field) {
		struct nw_named_arg *slot;
		if (strlen(field->name) >= sizeof(slot->name) || /* nobody could type it */
		    strncmp(field->name, "common_", 7) == 0)
			continue;
		slot = ret == 0 ? nw_vec_add(out) : NULL;
		if (!slot) {
			ret = nw_no_memory(err);
			continue;
		}
		strcpy(slot->name, field->name);
		slot->type = field->format.type;
	}
	nw_fields_free(&fields);
	return ret;
}
