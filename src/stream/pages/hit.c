// SPDX-License-Identifier: MIT
/* Copies hits that have to outlive their record. */
#include <stdlib.h>
#include <string.h>

#include "stream/pages/record.h"

/* Returns the size of the data that a value points to. */
static size_t bytes_behind(const struct nw_value *value)
{
	switch (value->kind) {
	case NW_VALUE_STRING:
		return value->len;
	case NW_VALUE_ARRAY:
		return (size_t)value->len * (value->bits / 8);
	default:
		return 0;
	}
}

struct nw_hit *nw_hit_copy(const struct nw_hit *hit)
{
	size_t count = hit->values ? hit->value_count : 0;
	size_t size = sizeof(struct nw_hit) + count * sizeof(struct nw_value);

	for (size_t i = 0; i < count; i++)
		size += bytes_behind(&hit->values[i]);
	struct nw_hit *copy = malloc(size);
	if (!copy)
		return NULL;
	struct nw_value *values = (struct nw_value *)(copy + 1);
	unsigned char *bytes = (unsigned char *)(values + count);
	*copy = *hit;
	copy->values = hit->values ? values : NULL;
	for (size_t i = 0; i < count; i++) {
		size_t len = bytes_behind(&hit->values[i]);
		values[i] = hit->values[i];
		if (values[i].kind == NW_VALUE_STRING) {
			if (len)
				memcpy(bytes, values[i].text, len);
			values[i].text = (const char *)bytes;
		} else if (values[i].kind == NW_VALUE_ARRAY) {
			if (len)
				memcpy(bytes, values[i].elements, len);
			values[i].elements = bytes;
		}
		bytes += len;
	}
	return copy;
}
