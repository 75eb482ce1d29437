// SPDX-License-Identifier: MIT
/* An EventHeader record: a byte for the type that the user wants, the name of a field up to the first NUL, then the
 * record from its header on. */
#include "stream/pages/eventheader.h"
#include "base/json_reader.h"
#include "fuzz.h"

enum {
	COMMON = 8, /* bytes of the fields in front of the header */
	MOST_TEXT = 256 << 10,
	/* bytes of JSON for a byte of a record: an escape has six, and a byte of hexadecimal digits in quotes with a comma five */
	MOST_ESCAPED = 6,
};

static const struct nw_type wanted[] = {
	{.base = NW_TYPE_DEFAULT},
	{.base = NW_TYPE_STRING, .bits = 8},
	{.base = NW_TYPE_UNSIGNED, .bits = 8},
	{.base = NW_TYPE_SIGNED, .bits = 32},
	{.base = NW_TYPE_HEX, .bits = 64},
	{.base = NW_TYPE_FLOAT, .bits = 64},
};

static unsigned int sum;

static void check_json(const struct nw_value *value, size_t size)
{
	nw_json_value *json = NULL;
	struct nw_error err = {0};

	/* the text of the last element may be as long as the record makes it */
	PROMISE(value->len <= MOST_TEXT + MOST_ESCAPED * (size + COMMON));
	PROMISE(nw_json_read(value->text, value->len, &json, &err) == 0);
	nw_json_value_free(json);
}

static void check(const struct nw_value *value, const struct nw_type *type, size_t size)
{
	switch (value->kind) {
	case NW_VALUE_STRING:
		PROMISE(type->base == NW_TYPE_DEFAULT || type->base == NW_TYPE_STRING ||
			value->json);
		for (uint32_t i = 0; i < value->len; i++)
			sum += (unsigned char)value->text[i];
		if (value->json)
			check_json(value, size);
		break;
	case NW_VALUE_MISSING:
		PROMISE(value->text && *value->text);
		break;
	default:
		PROMISE(value->kind <= NW_VALUE_FLOAT && type->base != NW_TYPE_STRING);
	}
}

/* The records begin with common fields, which nothing reads. */
static void take(const unsigned char *bytes, size_t size, const char *name,
		 const struct nw_type *type)
{
	struct nw_buf text = {0};
	const struct nw_field_format field = {
		.offset = COMMON, .size = 8, .member = name, .text = &text};
	const struct nw_record record = {.data = bytes, .size = (uint32_t)(COMMON + size)};
	struct nw_value value = {.kind = NW_VALUE_NULL};

	nw_eventheader_take(&record, &field, type, &value);
	PROMISE(!text.failed);
	check(&value, type, size);
	nw_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const always[] = {NW_EVENTHEADER_EVENT, NW_EVENTHEADER_FIELDS,
					     "activity", "related_activity"};
	const uint8_t *nul = size ? memchr(data + 1, '\0', size - 1) : NULL;

	if (!nul)
		return 0;
	char *name = fuzz_text(data + 1, (size_t)(nul - data - 1));
	const struct nw_type *type = &wanted[*data % NW_COUNT(wanted)];
	/* these are text, whatever the user wants */
	for (size_t i = 0; i < NW_COUNT(always); i++)
		if (strcmp(name, always[i]) == 0)
			type = &wanted[0];
	size_t len = size - (size_t)(nul + 1 - data);
	unsigned char *bytes = calloc(1, COMMON + len);
	PROMISE(bytes);
	if (len)
		memcpy(bytes + COMMON, nul + 1, len);
	take(bytes, len, name, type);
	for (size_t i = 0; i < NW_COUNT(always); i++)
		take(bytes, len, always[i], &wanted[0]);
	free(bytes);
	free(name);
	return 0;
}
