// SPDX-License-Identifier: MIT
/* A page of the ring buffer; the first byte says how large its commit word is. */
#include <errno.h>

#include "fuzz.h"
#include "stream/pages/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	size_t commit = data[0] & 1 ? 8 : 4, len = size - 1;
	const struct nw_page_layout layout = {
		.size = len, .commit = 8, .commit_size = commit, .data = 8 + commit};
	unsigned char *bytes = fuzz_bytes(data + 1, len);
	const unsigned char *event, *behind = bytes + layout.data;
	struct nw_page page;
	uint32_t event_size;
	unsigned int sum = 0;

	int ret = nw_page_open(&page, &layout, bytes, len);
	if (ret == 0) {
		while ((ret = nw_page_next(&page, &event, &event_size)) == 1) {
			PROMISE(event >= behind && event_size <= len);
			PROMISE(event + event_size <= bytes + len);
			behind = event + event_size;
			for (uint32_t i = 0; i < event_size; i++)
				sum += event[i];
		}
	}
	PROMISE(ret == 0 || ret == -EBADMSG);
	free(bytes);
	(void)sum;
	return 0;
}
