// SPDX-License-Identifier: MIT
/* The header by which a client of `serve` chooses a format. */
#include "fuzz.h"
#include "show/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nw_cleanup(nw_free_ptr) char *header = strndup((const char *)data, size);

	PROMISE(header);
	enum nw_exposition what = nw_exposition_accept(header);
	PROMISE(what < NW_EXPOSITIONS);
	/* Nothing but a type that is named gives more than text. */
	PROMISE(what != NW_EXPOSITION_OPENMETRICS ||
		strcasestr(header, "openmetrics-text"));
	PROMISE(what != NW_EXPOSITION_PROTOBUF || strcasestr(header, "delimited"));
	return 0;
}
