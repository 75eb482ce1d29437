// SPDX-License-Identifier: MIT
/* @FILE on the command line: the words of a file take its place. See words.h. */
#include "words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_BYTES = 65536
};

struct origin {
	const char *word, *file;
	unsigned int line;
};

/* The words that come from files. */
static NW_VEC(struct origin) origins;

static int add_word(struct nw_words *out, char *word, const char *file, unsigned int line,
		    struct nw_error *err)
{
	char **slot = nw_vec_add(out);
	struct origin *origin = slot && file ? nw_vec_add(&origins) : NULL;

	if (!slot || (file && !origin))
		return nw_no_memory(err);
	*slot = word;
	if (origin)
		*origin = (struct origin){word, file, line};
	return 0;
}

/* The file may name commands to run (-- CMD, --until-cmd), so nobody else may have put its content there. */
static int check_owner(int fd, const char *path, struct nw_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return nw_fail(err, errno, "cannot read options from '%s': %s", path,
			       nw_strerror(errno));
	if (nw_is_trusted(st.st_uid) && !nw_others_may_write(&st))
		return 0;
	nw_fail(err, EPERM,
		"other users can write to '%s', which may name commands: not read", path);
	nw_error_hint(err, "as its owner: chmod go-w %s; as root: chown root %s", path,
		      path);
	return -EPERM;
}

static int read_words(const char *path, struct nw_buf *text, struct nw_error *err)
{
	int fd = nw_open_regular(AT_FDCWD, path);
	int ret = fd < 0 ? fd : check_owner(fd, path, err);
	bool told = fd >= 0 && ret < 0;

	if (ret >= 0)
		ret = nw_buf_read_most(text, fd, MOST_BYTES);
	if (fd >= 0)
		close(fd);
	if (ret == 0 && text->len && memchr(text->data, '\0', text->len))
		return nw_fail(err, EINVAL, "cannot read options from '%s': it is no text",
			       path);
	if (ret == 0 || told)
		return ret;
	nw_fail(err, -ret, "cannot read options from '%s': %s", path,
		ret == -ENXIO	? "it is no regular file"
		: ret == -EFBIG ? "it has more than 64 KiB"
				: nw_strerror(-ret));
	if (ret == -ENOENT)
		nw_error_hint(
			err,
			"@FILE stands for the words in FILE; for a file whose name begins with @ write ./@NAME");
	return ret;
}

/* Adds the words of one line. A double quote in front of a word is a mistake: it would become a part of the word. */
static int add_line(struct nw_words *out, const char *line, const char *path,
		    unsigned int number, struct nw_error *err)
{
	nw_cleanup(nw_strings_free) nw_strings words = {0};
	const char *text = line + strspn(line, " \t\r");
	int ret = *text == '#' ? 0 : nw_words_add(&words, text);

	if (ret == -EBADMSG)
		return nw_fail(err, EINVAL, "%s:%u: a quote (') has no end in this line",
			       path, number);
	if (ret < 0)
		return nw_no_memory(err);
	nw_vec_each (&words, word) {
		if (**word == '"')
			return nw_fail(err, EINVAL,
				       "%s:%u: '...' keeps blanks in a word; \" does not",
				       path, number);
		ret = add_word(out, *word, path, number, err);
		*word = NULL; /* it is the list's now */
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int add_file(struct nw_words *out, const char *path, struct nw_error *err)
{
	nw_cleanup(nw_buf_free) struct nw_buf text = {0};
	int ret = read_words(path, &text, err);
	char *rest = text.data, *line;

	for (unsigned int number = 1; ret == 0 && (line = strsep(&rest, "\n")); number++)
		ret = add_line(out, line, path, number, err);
	return ret;
}

int nw_words_expand(char *const *argv, struct nw_words *out, struct nw_error *err)
{
	bool is_option = true;
	int ret = 0;

	for (; ret == 0 && *argv; argv++) {
		is_option = is_option && strcmp(*argv, "--") != 0;
		if (is_option && argv[0][0] == '@' && argv[0][1])
			ret = add_file(out, *argv + 1, err);
		else
			ret = add_word(out, *argv, NULL, 0, err);
	}
	char **end = ret == 0 ? nw_vec_add(out) : NULL;
	if (ret == 0 && !end)
		ret = nw_no_memory(err);
	if (ret == 0)
		out->count--; /* the NULL at the end is no word */
	return ret;
}

void nw_words_blame(const char *word, struct nw_error *err)
{
	nw_vec_each (&origins, origin)
		if (origin->word == word) {
			nw_error_context(err, "%s:%u", origin->file, origin->line);
			return;
		}
}
