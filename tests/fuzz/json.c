// SPDX-License-Identifier: MIT
/* A member of a JSON text that a traced program has written: the path up to the first NUL, then the text. */
#include "base/json_find.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, '\0', size);
	struct nw_json_part part;
	struct nw_buf out = {0};

	if (!nul || !nw_json_is_path((const char *)data))
		return 0;
	const char *text = (const char *)nul + 1;
	size_t len = size - (size_t)(text - (const char *)data);
	if (nw_json_find(text, len, (const char *)data, &part) == NW_JSON_FOUND) {
		PROMISE(part.text >= text && part.text + part.len <= text + len);
		PROMISE(part.len > 0 || part.is_string);
		nw_json_unescape(part.text, part.len, &out);
		/* an escape becomes shorter, but half a character becomes three bytes */
		PROMISE(out.failed || out.len <= part.len);
	}
	nw_buf_free(&out);
	return 0;
}
