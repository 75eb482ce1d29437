// SPDX-License-Identifier: MIT
/* A line of a recipe or of a file of options, split into words. */
#include <errno.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nw_cleanup(nw_free_ptr) char *line = strndup((const char *)data, size);
	nw_strings words = {0};
	size_t length = 0;

	PROMISE(line);
	int ret = nw_words_add(&words, line);
	PROMISE(ret == 0 || ret == -EBADMSG);
	nw_vec_each (&words, word) {
		PROMISE(!strchr(*word, '\''));
		length += strlen(*word);
	}
	PROMISE(length <= strlen(line));
	nw_strings_free(&words);
	return 0;
}
