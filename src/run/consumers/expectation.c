// SPDX-License-Identifier: MIT
/*
 * Reads a file of expectations:
 *
 *  line  = probe | span                       ("#" begins a comment)
 *  probe = SPEC [ OP N | "never" | "there" ] [ "where" FILTER | "always" FILTER ]
 *  span  = "span" SPAN [ "pNN" | "min" | "mean" | "max" | "count" | "unmatched" ] OP VALUE
 *
 * A provider file of DTrace expects each of its probes to be there, with as many arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum {
	MOST_EXPECTATIONS = 10000,
	MOST_BYTES = 1 << 20
};

static const char probe_form[] =
	"write PROBE [>= N | = N | < N | never | there] [where EXPR | always EXPR], for example 'app:request__done(id, status) >= 1 where status == 200'";
static const char span_form[] =
	"write span SPAN [p99 | max | min | mean | count | unmatched] OP VALUE, for example 'span request < 50ms' or 'span conn=app:open..app:close,key=fd count >= 1'";

struct line {
	char *at; /* what is left of it */
	struct nw_expectation *out;
	struct nw_expectations *all;
	struct nw_error *err;
};

static int bad_line(const struct line *line, const char *form, const char *fmt, ...)
	nw_format(3, 4);
static int bad_line(const struct line *line, const char *form, const char *fmt, ...)
{
	struct nw_buf why = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&why, fmt, args);
	va_end(args);
	nw_fail_usage(line->err, "%s", nw_buf_str(&why));
	nw_error_hint(line->err, "%s", form);
	nw_buf_free(&why);
	return -EINVAL;
}

/* Cuts off the next word, which ends at a blank outside of parentheses and quotes. */
static char *cut_word(struct line *line)
{
	char *start = line->at + strspn(line->at, " \t"), *at = start;
	unsigned int depth = 0;

	for (; *at && (depth || !strchr(" \t", *at)); at++) {
		depth += *at == '(';
		depth -= *at == ')' && depth;
	}
	line->at = at + strspn(at, " \t");
	*at = '\0';
	return start;
}

/* Takes an operator. Returns false if there is none. */
static bool take_compare(struct line *line, enum nw_compare *out)
{
	static const struct {
		const char *text;
		enum nw_compare compare;
	} known[] = {{">=", NW_MORE_EQUAL}, {"<=", NW_LESS_EQUAL}, {"==", NW_EQUAL},
		     {"=", NW_EQUAL},	    {"<", NW_LESS},	   {">", NW_MORE}};

	for (size_t i = 0; i < NW_COUNT(known); i++) {
		size_t len = strlen(known[i].text);
		if (strncmp(line->at, known[i].text, len) != 0)
			continue;
		line->at += len;
		*out = known[i].compare;
		return true;
	}
	return false;
}

/* Takes a number, and refuses comparisons of it that no count or every count fulfils. */
static int take_count(struct line *line, const char *form)
{
	const char *word = cut_word(line);
	uint64_t *value = &line->out->value;

	if (!*word)
		return bad_line(line, form, "a number is missing");
	if (nw_parse_u64(word, value) < 0)
		return bad_line(line, form, "'%s' is no number", word);
	if (!*value && line->out->compare == NW_MORE_EQUAL)
		return bad_line(line, form, "'>= 0' always holds");
	if (!*value && line->out->compare == NW_LESS)
		return bad_line(line, form, "'< 0' never holds");
	return 0;
}

/* ---- probes ------------------------------------------------------------------------- */

/* Takes "where FILTER" or "always FILTER", which reach to the end of the line. */
static int take_condition(struct line *line)
{
	static const char option[] = "--filter: ";
	struct nw_expectation *out = line->out;
	const char *word = cut_word(line);
	struct nw_error *err = line->err;

	out->always = strcmp(word, "always") == 0;
	if (!out->always && strcmp(word, "where") != 0)
		return bad_line(line, probe_form, "'%s' is not understood", word);
	if (out->what == NW_EXPECT_THERE ||
	    (out->always && out->compare == NW_EQUAL && !out->value))
		return bad_line(line, probe_form, "'%s' needs hits", word);
	/* the same place in the copy, which stays */
	out->condition = out->text + strlen(out->text) - strlen(line->at);
	int ret = nw_filter_parse(out->condition, &out->filter, err);
	size_t len = strlen(option);
	if (ret < 0 && strncmp(err->what, option, len) == 0)
		memmove(err->what, err->what + len, strlen(err->what + len) + 1);
	return ret;
}

static int add_spec(const struct line *line, const char *text)
{
	nw_strings *specs = &line->all->specs;

	if (nw_strings_has(specs, text))
		return 0;
	return nw_strings_add(specs, text, strlen(text)) < 0 ? nw_no_memory(line->err) : 0;
}

static int parse_probe(struct line *line)
{
	struct nw_expectation *out = line->out;
	char *word = cut_word(line);
	struct nw_spec spec;
	int ret = nw_spec_parse(word, &spec, line->err);

	if (ret < 0)
		return ret;
	if (spec.has_args && !nw_has_glob(spec.provider) && !nw_has_glob(spec.name))
		out->args = (int)spec.args.count;
	nw_spec_free(&spec);
	out->subject = strdup(word);
	ret = out->subject ? add_spec(line, word) : nw_no_memory(line->err);
	out->compare = NW_MORE_EQUAL;
	out->value = 1;
	if (ret == 0 && take_compare(line, &out->compare)) {
		ret = take_count(line, probe_form);
	} else if (strncmp(line->at, "never", 5) == 0 && strchr(" \t", line->at[5])) {
		cut_word(line);
		out->compare = NW_EQUAL;
		out->value = 0;
	} else if (strncmp(line->at, "there", 5) == 0 && strchr(" \t", line->at[5])) {
		cut_word(line);
		out->what = NW_EXPECT_THERE;
	}
	if (ret == 0 && *line->at)
		ret = take_condition(line);
	line->all->counts |= out->what != NW_EXPECT_THERE;
	return ret;
}

/* ---- spans -------------------------------------------------------------------------- */

/* Takes the number of the span that is compared: p99 unless it is named. */
static int take_number(struct line *line)
{
	static const struct {
		const char *name;
		enum nw_expect_number what;
	} known[] = {{"min", NW_EXPECT_MIN},
		     {"mean", NW_EXPECT_MEAN},
		     {"max", NW_EXPECT_MAX},
		     {"count", NW_EXPECT_COUNT},
		     {"unmatched", NW_EXPECT_UNMATCHED}};
	struct nw_expectation *out = line->out;
	struct nw_slower percentile;
	size_t len = strcspn(line->at, " \t<>=");
	nw_cleanup(nw_free_ptr) char *word = strndup(line->at, len);

	out->what = NW_EXPECT_PERCENTILE;
	out->percentile = 0.99;
	if (!word)
		return nw_no_memory(line->err);
	if (!len)
		return 0;
	line->at += len + strspn(line->at + len, " \t");
	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (strcmp(word, known[i].name) == 0) {
			out->what = known[i].what;
			return 0;
		}
	if (*word != 'p' || nw_slower_parse(word, &percentile) < 0)
		return bad_line(line, span_form, "'%s' is no number of a span", word);
	out->percentile = percentile.percentile;
	return 0;
}

static int take_time(struct line *line)
{
	const char *word = cut_word(line);

	if (line->out->compare == NW_EQUAL)
		return bad_line(line, span_form,
				"a time is compared by <, <=, > or >=, not by '='");
	if (!*word)
		return bad_line(line, span_form, "a time is missing");
	if (!word[strspn(word, "0123456789.")])
		return bad_line(line, span_form,
				"the time '%s' has no unit: write %sms or %ss", word, word,
				word);
	if (nw_parse_duration(word, &line->out->value) < 0)
		return bad_line(line, span_form, "'%s' is no time", word);
	return 0;
}

/* Adds the definition of a span, and the specs of its probes. */
static int add_definition(const struct line *line, const char *text)
{
	nw_strings *spans = &line->all->spans, ends = {0};
	int ret = nw_span_specs(text, &ends, line->err);

	nw_vec_each (&ends, end)
		if (ret == 0)
			ret = add_spec(line, *end);
	nw_strings_free(&ends);
	if (ret == 0 && !nw_strings_has(spans, text) &&
	    nw_strings_add(spans, text, strlen(text)) < 0)
		ret = nw_no_memory(line->err);
	return ret;
}

static int parse_span(struct line *line)
{
	struct nw_expectation *out = line->out;
	char *word = cut_word(line);

	if (!*word)
		return bad_line(line, span_form, "the span is missing");
	out->subject = strdup(word);
	line->all->counts = true;
	int ret = out->subject ? 0 : nw_no_memory(line->err);
	if (ret == 0 && (strstr(word, "..") || strstr(word, ",duration=")))
		ret = add_definition(line, word);
	if (ret == 0)
		ret = take_number(line);
	if (ret == 0 && !take_compare(line, &out->compare))
		return bad_line(line, span_form, "a comparison is missing");
	if (ret == 0)
		ret = out->what >= NW_EXPECT_COUNT ? take_count(line, span_form)
						   : take_time(line);
	if (ret == 0 && *line->at)
		ret = bad_line(line, span_form, "'%s' is too much", line->at);
	return ret;
}

/* ---- the file ----------------------------------------------------------------------- */

/* Returns the begin of a comment: a # at the begin or behind a blank, outside of quotes; or the end of the text. */
static char *find_comment(char *text)
{
	char quote = '\0', *at = text;

	for (; *at; at++) {
		if (quote && *at == '\\' && at[1])
			at++;
		else if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '#' && (at == text || strchr(" \t", at[-1])))
			break;
	}
	return at;
}

/* Cuts off a comment, and blanks at the end. */
static void cut_comment(char *text)
{
	size_t len = (size_t)(find_comment(text) - text);

	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
}

static struct nw_expectation *add_expectation(struct nw_expectations *all,
					      unsigned int line, const char *text,
					      struct nw_error *err)
{
	struct nw_expectation *one = NULL;

	if (all->item.count >= MOST_EXPECTATIONS)
		nw_fail_usage(err, "there are more than %d expectations",
			      MOST_EXPECTATIONS);
	else if (!(one = nw_vec_add(&all->item)) || !(one->text = strdup(text)))
		nw_no_memory(err);
	else
		*one = (struct nw_expectation){.line = line, .text = one->text, .args = -1};
	return one && one->text ? one : NULL;
}

static int parse_line(struct nw_expectations *all, char *text, unsigned int number,
		      struct nw_error *err)
{
	struct line line = {.at = text + strspn(text, " \t"), .all = all, .err = err};

	cut_comment(line.at);
	if (!*line.at)
		return 0;
	line.out = add_expectation(all, number, line.at, err);
	if (!line.out)
		return -err->code;
	if (strncmp(line.at, "span", 4) != 0 || !strchr(" \t", line.at[4]))
		return parse_probe(&line);
	cut_word(&line);
	return parse_span(&line);
}

static int read_lines(struct nw_expectations *all, const char *path, struct nw_error *err)
{
	nw_cleanup(nw_buf_free) struct nw_buf text = {0};
	int fd = nw_open_regular(AT_FDCWD, path), ret;
	unsigned int number = 0;

	if (fd < 0)
		return nw_fail(err, -fd, "cannot read '%s': %s", path,
			       fd == -ENXIO ? "it is not a regular file"
					    : nw_strerror(-fd));
	ret = nw_buf_read_most(&text, fd, MOST_BYTES);
	close(fd);
	if (ret < 0)
		return nw_fail(err, -ret, "cannot read '%s': %s", path, nw_strerror(-ret));
	if (memchr(nw_buf_str(&text), '\0', text.len)) {
		nw_fail_usage(err, "%s: it holds a NUL, so it is no text", path);
		nw_error_hint(
			err,
			"FILE has lines such as 'app:done >= 1'; the program goes behind -x or --");
		return -EINVAL;
	}
	nw_cleanup(nw_free_ptr) char *copy = strdup(nw_buf_str(&text));
	char *rest = copy, *line;
	ret = copy ? 0 : nw_no_memory(err);
	while (ret == 0 && (line = strsep(&rest, "\n"))) {
		ret = parse_line(all, line, ++number, err);
		if (ret < 0)
			nw_error_context(err, "%s:%u", path, number);
	}
	return ret;
}

/* Expects the probes that a provider file declares. */
static int read_provider(struct nw_expectations *all, const char *path,
			 struct nw_error *err)
{
	struct nw_types types = {0};
	int ret = nw_types_read(&types, path, err);

	nw_vec_each (&types.probes, probe) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("%s:%s", probe->provider,
							     probe->name);
		if (ret < 0)
			break;
		struct line line = {.all = all, .err = err};
		line.out = text ? add_expectation(all, 0, text, err) : NULL;
		ret = !text	  ? nw_no_memory(err)
		      : !line.out ? -err->code
				  : add_spec(&line, text);
		if (ret < 0)
			break;
		line.out->what = NW_EXPECT_THERE;
		line.out->args = (int)probe->args.count;
		line.out->exact = true;
		line.out->subject = strdup(text);
		ret = line.out->subject ? 0 : nw_no_memory(err);
		/* cppcheck-suppress memleak ; all->item has what line.out points to */
	}
	nw_types_free(&types);
	return ret;
}

int nw_expectations_read(const char *path, struct nw_expectations *out,
			 struct nw_error *err)
{
	size_t len = strlen(path);
	bool provider = len > 2 && strcmp(path + len - 2, ".d") == 0;
	struct nw_expectations all = {.path = path};
	int ret = provider ? read_provider(&all, path, err) : read_lines(&all, path, err);

	if (ret == 0 && !all.item.count) {
		ret = nw_fail_usage(err, "%s: it expects nothing", path);
		nw_error_hint(err, "%s", probe_form);
	}
	if (ret < 0)
		nw_expectations_free(&all);
	else
		*out = all;
	return ret;
}

void nw_expectations_free(struct nw_expectations *expectations)
{
	nw_vec_each (&expectations->item, one) {
		free(one->text);
		free(one->subject);
		nw_filter_free(one->filter);
		nw_vec_free(&one->found);
	}
	nw_vec_free(&expectations->item);
	nw_strings_free(&expectations->specs);
	nw_strings_free(&expectations->spans);
}
