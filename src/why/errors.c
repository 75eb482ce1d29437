// SPDX-License-Identifier: MIT
/* Explains a pasted error by the rows of errors.tsv whose pattern it contains. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

/* Embeds the file as it is, with a NUL behind it. */
__asm__(".pushsection .rodata\n"
	".globl nw_error_lines\n"
	"nw_error_lines:\n"
	".incbin \"src/why/errors.tsv\"\n"
	".byte 0\n"
	".popsection\n");
extern const char nw_error_lines[];

/* ---- the table ---------------------------------------------------------------------- */

static bool find_cause(const char *key, enum nw_cause *out)
{
	for (size_t i = 0; i < NW_CAUSE_COUNT; i++)
		if (strcmp(nw_cause_table[i].key, key) == 0) {
			*out = (enum nw_cause)i;
			return true;
		}
	return false;
}

/* Cuts a line into its columns. */
static int read_row(struct nw_error_table *table, char *line)
{
	char *column[5];
	struct nw_error_row *row;
	enum nw_cause cause;

	for (size_t i = 0; i < NW_COUNT(column); i++)
		column[i] = strsep(&line, "\t");
	if (!column[4] || line || !find_cause(column[0], &cause))
		return -EINVAL;
	row = nw_vec_add(&table->rows);
	if (!row)
		return -ENOMEM;
	*row = (struct nw_error_row){.cause = cause,
				     .pattern = column[1],
				     .meaning = column[2],
				     .remedy = column[3],
				     .source = column[4]};
	return 0;
}

int nw_error_table_read(struct nw_error_table *out)
{
	struct nw_error_table table = {.text = strdup(nw_error_lines)};
	int ret = table.text ? 0 : -ENOMEM;

	for (char *rest = table.text, *line;
	     ret == 0 && rest && (line = strsep(&rest, "\n"));)
		if (*line && *line != '#')
			ret = read_row(&table, line);
	if (ret < 0)
		nw_error_table_free(&table);
	else
		*out = table;
	return ret;
}

void nw_error_table_free(struct nw_error_table *table)
{
	nw_vec_free(&table->rows);
	free(table->text);
	*table = (struct nw_error_table){0};
}

/* ---- the text ----------------------------------------------------------------------- */

/* Skips the colour sequences of a terminal: ESC [ ... LETTER. */
static const char *skip_color(const char *at)
{
	if (at[0] != '\033' || at[1] != '[')
		return at;
	at += 2;
	while (isdigit((unsigned char)*at) || *at == ';')
		at++;
	return *at ? at + 1 : at;
}

/* Returns the length of a quotation mark of any kind: ', ", `, one after a backslash, and the four of typography. 0:
 * it is none. */
static size_t quote_length(const char *at)
{
	static const char *const quotes[] = {"'",
					     "\"",
					     "`",
					     "\\\"",
					     "\\'",
					     "\xe2\x80\x98",
					     "\xe2\x80\x99",
					     "\xe2\x80\x9c",
					     "\xe2\x80\x9d"};

	for (size_t i = 0; i < NW_COUNT(quotes); i++)
		if (strncmp(at, quotes[i], strlen(quotes[i])) == 0)
			return strlen(quotes[i]);
	return 0;
}

/* Normalises text as patterns are written: small letters, one kind of quotation mark, one blank or line end for a run
 * of blanks. */
static char *normalize(const char *text)
{
	struct nw_buf out = {0};
	char last = '\n';

	while (*text) {
		const char *at = skip_color(text);
		size_t quote = quote_length(at);
		char c = (char)tolower((unsigned char)*at);
		if (at != text) {
			text = at;
			continue;
		}
		text += quote ? quote : 1;
		if (quote)
			c = '\'';
		else if (c != '\n' && isspace((unsigned char)c))
			c = ' ';
		if (c == ' ' && (last == ' ' || last == '\n'))
			continue;
		if (c == '\n' && last == ' ' && out.len)
			out.len--;
		if (c != '\n' || last != '\n')
			nw_buf_addc(&out, c);
		last = c;
	}
	return nw_buf_take(&out);
}

/* ---- the search --------------------------------------------------------------------- */

/* Does the piece of a pattern match here? Its blank matches a line end, too: terminals and people break lines. */
static bool is_here(const char *at, const char *piece, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] != piece[i] && !(piece[i] == ' ' && at[i] == '\n'))
			return false;
	return true;
}

/* A number of a pattern must not be part of a longer one: -524 does not match app-5241. */
static bool stands_alone(const char *text, const char *at, const char *piece, size_t len)
{
	bool begins = isdigit((unsigned char)*piece) || *piece == '-';
	bool ends = isdigit((unsigned char)piece[len - 1]);

	return !(begins && at > text && isalnum((unsigned char)at[-1])) &&
	       !(ends && isdigit((unsigned char)at[len]));
}

static const char *find_piece(const char *text, const char *at, const char *end,
			      const char *piece, size_t len)
{
	for (; (size_t)(end - at) >= len; at++)
		if (is_here(at, piece, len) && stands_alone(text, at, piece, len))
			return at;
	return NULL;
}

/* Do the pieces of the pattern after its first * follow in the rest of the line, one after the other? */
static bool goes_on(const char *text, const char *at, const char *pattern)
{
	while (*pattern == '*') {
		const char *piece = pattern + 1, *end = at + strcspn(at, "\n");
		size_t len = strcspn(piece, "*");
		if (len) {
			/* the last piece may end in the next line, but begins in this one */
			const char *most = end + strnlen(end, len);
			at = find_piece(text, at, most, piece, len);
			if (!at || at > end)
				return false;
			at += len;
		}
		pattern = piece + len;
	}
	return true;
}

static bool holds(const char *text, const char *pattern)
{
	const char *end = text + strlen(text), *at = text;
	size_t len = strcspn(pattern, "*");

	while ((at = find_piece(text, at, end, pattern, len))) {
		if (goes_on(text, at + len, pattern + len))
			return true;
		/* a piece that the rest of a line lacks is missing behind later matches in that line, too */
		const char *line = at + len + strcspn(at + len, "\n");
		at = line - len > at ? line - len : at + 1;
	}
	return false;
}

/* Adds a row, unless a row that was found before says the same or more: "elf: failed to open" says more than "failed
 * to open", and takes its place. Returns the number of rows. */
static size_t add_found(const struct nw_error_row *row, const struct nw_error_row **found,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strstr(found[i]->pattern, row->pattern))
			return count;
		if (strstr(row->pattern, found[i]->pattern)) {
			found[i] = row;
			return count;
		}
		if (row->cause == found[i]->cause)
			return count;
	}
	found[count] = row;
	return count + 1;
}

/* Puts the reason of a refusal before the refusal itself: a later row that gives the reason becomes the verdict. */
static void tell_more(const struct nw_error_row **found, size_t count)
{
	if (count < 2 || found[0]->cause != NW_CAUSE_REFUSED)
		return;
	const struct nw_error_row *first = found[0];
	found[0] = found[1];
	found[1] = first;
}

ssize_t nw_error_table_find(const struct nw_error_table *table, const char *text,
			    const struct nw_error_row **out, size_t room)
{
	nw_cleanup(nw_free_ptr) char *plain = normalize(text);
	size_t found = 0;

	if (!plain)
		return -ENOMEM;
	nw_vec_each (&table->rows, row) {
		if (found == room)
			break;
		if (holds(plain, row->pattern))
			found = add_found(row, out, found);
	}
	tell_more(out, found);
	return (ssize_t)found;
}

/* ---- the answer --------------------------------------------------------------------- */

static int add_reason(struct nw_diagnosis *diagnosis, const struct nw_error_row *row)
{
	struct nw_reason *reason = nw_vec_add(&diagnosis->reasons);

	if (!reason)
		return -ENOMEM;
	*reason = (struct nw_reason){.cause = row->cause, .text = strdup(row->meaning)};
	if (!reason->text)
		return -ENOMEM;
	return nw_strings_addf(&diagnosis->remedy, "%s", row->remedy) < 0 ? -ENOMEM : 0;
}

int nw_diagnose_error(const char *text, struct nw_diagnosis *out, struct nw_error *err)
{
	const struct nw_error_row *rows[8];
	struct nw_diagnosis diagnosis = {.fires = -1};
	struct nw_error_table table = {0};
	int ret = nw_error_table_read(&table);
	ssize_t count = ret == 0 ? nw_error_table_find(&table, text, rows, NW_COUNT(rows))
				 : ret;

	for (ssize_t i = 0; ret == 0 && i < count; i++)
		ret = add_reason(&diagnosis, rows[i]);
	diagnosis.text = strdup(count > 0 ? rows[0]->meaning
					  : "this error is not known; name the probe, too");
	nw_error_table_free(&table);
	if (ret < 0 || count < 0 || !diagnosis.text) {
		nw_diagnosis_free(&diagnosis);
		return nw_no_memory(err);
	}
	*out = diagnosis;
	return 0;
}

/* Offers to define an event by perf's name, which says which probe it was: "sdt_app:tick" is usdt:...:app:tick. */
static int offer_definition(const char *event, nw_strings *remedy)
{
	bool note = strncmp(event, "sdt_", 4) == 0 && strchr(event, ':');
	nw_cleanup(nw_free_ptr) char *spec = note ? nw_text("usdt:FILE:%s", event + 4)
						  : nw_text("uprobe:FILE:SYMBOL");
	struct nw_buf line = {0};
	int ret = spec ? 0 : -ENOMEM;

	nw_buf_adds(&line, "nopwatch add ");
	if (spec)
		nw_buf_add_shell(&line, spec);
	if (ret == 0)
		ret = nw_strings_add(remedy, nw_buf_str(&line), line.len);
	if (ret == 0)
		ret = nw_strings_addf(remedy, "cat /sys/kernel/tracing/uprobe_events");
	if (line.failed)
		ret = -ENOMEM;
	nw_buf_free(&line);
	return ret;
}

int nw_diagnose_missing(const char *event, struct nw_diagnosis *out, struct nw_error *err)
{
	struct nw_diagnosis diagnosis = {.fires = 0};
	struct nw_reason *reason = nw_vec_add(&diagnosis.reasons);

	diagnosis.text = nw_text(
		"there is no event '%s' in uprobe_events (any more): it has to be defined before it can be recorded",
		event);
	if (reason)
		*reason = (struct nw_reason){.cause = NW_CAUSE_NO_SUCH_EVENT,
					     .text = nw_text("%s", diagnosis.text)};
	if (!reason || !reason->text || !diagnosis.text ||
	    offer_definition(event, &diagnosis.remedy) < 0) {
		nw_diagnosis_free(&diagnosis);
		return nw_no_memory(err);
	}
	*out = diagnosis;
	return 0;
}
