// SPDX-License-Identifier: MIT
/* Words of a line, as a shell separates them: recipes and files of options are written in this way. */
#include <errno.h>
#include <string.h>

#include "base.h"

static const char blanks[] = " \t\r";

/* Takes one word; `line` begins with it. Returns what follows, or NULL: a quote has no end. */
static const char *take_word(const char *line, struct nw_buf *word)
{
	while (*line && !strchr(blanks, *line)) {
		bool quoted = *line == '\'';
		size_t len = quoted ? strcspn(++line, "'") : strcspn(line, " \t\r'");

		if (quoted && !line[len])
			return NULL;
		nw_buf_add(word, line, len);
		line += len + quoted;
	}
	return line;
}

int nw_words_add(nw_strings *words, const char *line)
{
	nw_cleanup(nw_buf_free) struct nw_buf word = {0};
	int ret = 0;

	line += strspn(line, blanks);
	while (ret == 0 && *line) {
		nw_buf_clear(&word);
		line = take_word(line, &word);
		if (!line)
			return -EBADMSG;
		line += strspn(line, blanks);
		ret = word.failed ? -ENOMEM
				  : nw_strings_add(words, nw_buf_str(&word), word.len);
	}
	return ret;
}
