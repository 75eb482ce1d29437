// SPDX-License-Identifier: MIT
/* The text of an event's format file, as a recording may hold it: nothing of it reaches libtraceevent
 * but what the check lets through. */
#include <errno.h>

#include "fuzz.h"
#include "stream/pages/fields.h"

static unsigned int sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct nw_fields fields = {0};
	nw_named_args args = {0};
	struct nw_error err = {0};
	int ret = nw_fields_parse(text, &fields);

	PROMISE(ret == 0 || ret == -EBADMSG);
	nw_vec_each (&fields.list, field) {
		PROMISE(field->format.offset <= 65535 && field->format.size <= 65535);
		PROMISE(*field->name && nw_fields_find(&fields, field->name));
		for (const char *at = field->type; *at; at++)
			sum += (unsigned char)*at;
	}
	nw_fields_free(&fields);
	ret = nw_format_fields(text, &args, &err);
	if (ret < 0)
		fuzz_error(ret, &err);
	nw_vec_each (&args, arg)
		PROMISE(*arg->name && memchr(arg->name, '\0', sizeof(arg->name)));
	nw_vec_free(&args);
	free(text);
	return 0;
}
