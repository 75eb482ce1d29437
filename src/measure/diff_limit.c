// SPDX-License-Identifier: MIT
/* The conditions of --fail-if: see measure/diff.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

/* ---- parsing ------------------------------------------------------------------------ */

static int bad_limit(const char *text, const char *why, struct nw_error *err)
{
	nw_fail_usage(err, "--fail-if '%s': %s", text, why);
	nw_error_hint(
		err,
		"write --fail-if 'NAME.METRIC > +10%%', or < -10%%; a METRIC is rate, mean, p50, p90, p99, p99.9 or max");
	return -EINVAL;
}

/* Removes blanks at both ends. Returns the length. */
static size_t trim(const char **text, size_t len)
{
	while (len && isspace((unsigned char)**text)) {
		++*text;
		len--;
	}
	while (len && isspace((unsigned char)(*text)[len - 1]))
		len--;
	return len;
}

/* Finds the metric at the end of "request.p99"; *len becomes the length of the name in front of it. False: there is none. */
static bool split_metric(const char *text, size_t *len, enum nw_metric *out)
{
	for (int m = 0; m < NW_METRICS; m++) {
		const char *name = nw_metrics[m].name;
		const size_t end = strlen(name);
		if (*len <= end + 1 || text[*len - end - 1] != '.' ||
		    strncasecmp(text + *len - end, name, end) != 0)
			continue;
		*len -= end + 1;
		*out = (enum nw_metric)m;
		return true;
	}
	return false;
}

/* Parses "+10%". The sign is that of the direction, so that a condition does not ask for a change. */
static int parse_percent(struct nw_diff_limit *limit, const char *from, size_t len,
			 struct nw_error *err)
{
	static const char digits[] = "0123456789.";
	nw_cleanup(nw_free_ptr) char *text = strndup(from, len);
	char *end;

	if (!text)
		return nw_no_memory(err);
	const char *number = text + (*text == '+' || *text == '-');
	limit->least = strtod(number, &end);
	if (!*number || end == number || strspn(number, digits) != (size_t)(end - number))
		return bad_limit(limit->text, "there is no percentage behind < or >", err);
	while (isspace((unsigned char)*end))
		end++;
	if (strcmp(end, "%") != 0)
		return bad_limit(limit->text, "a change is in percent, such as +10%", err);
	if (limit->least > 1e6)
		return bad_limit(limit->text, "the percentage is too large", err);
	limit->least /= 100;
	if (!limit->above && limit->least > 1)
		return bad_limit(limit->text, "nothing becomes less by more than 100 %",
				 err);
	if (limit->least > 0 && limit->above == (*text == '-'))
		return bad_limit(
			limit->text,
			"> takes an increase such as +10%, < a decrease such as -10%", err);
	if (!limit->above)
		limit->least = -limit->least;
	return 0;
}

/* Names of C++ may have < and > as well, so the last one counts. */
int nw_diff_limit_parse(const char *text, struct nw_diff_limit *out, struct nw_error *err)
{
	const char *above = strrchr(text, '>'), *below = strrchr(text, '<');
	const char *sign = !below || (above && above > below) ? above : below;
	const char *name = text, *percent = sign ? sign + 1 : NULL;

	*out = (struct nw_diff_limit){.text = text, .above = sign && *sign == '>'};
	if (!sign)
		return bad_limit(text, "there is no < or >", err);
	size_t len = trim(&name, (size_t)(sign - text));
	if (!split_metric(name, &len, &out->metric))
		return bad_limit(text, "there is no metric in front of < or >", err);
	len = trim(&name, len);
	out->name = strndup(name, len);
	len = trim(&percent, strlen(percent));
	return out->name ? parse_percent(out, percent, len, err) : nw_no_memory(err);
}

void nw_diff_limit_free(struct nw_diff_limit *limit)
{
	free(limit->name);
}

/* ---- judging ------------------------------------------------------------------------ */

/* Is this the name of a row, "request" or "request[GET,200]"? Commas join the values of several keys. */
static bool matches(const struct nw_diff_row *row, const char *name)
{
	const size_t len = strlen(row->name);
	const char *group = row->group;

	if (strncmp(row->name, name, len) != 0)
		return false;
	name += len;
	if (!group || *name++ != '[')
		return !group && !*name;
	for (; *group && *name; group++, name++)
		if (*group != *name && !(*group == NW_GROUP_SEPARATOR && *name == ','))
			return false;
	return !*group && strcmp(name, "]") == 0;
}

/* Says why no row was found: its group is not named, or there is no such probe or span. */
static void tell_missing(const struct nw_diff *diff, const struct nw_diff_limit *limit,
			 struct nw_buf *why)
{
	bool named = false;
	size_t near = 0;

	nw_vec_each (&diff->rows, row) {
		const size_t len = strlen(row->name);
		named |= strncmp(row->name, limit->name, len) == 0 &&
			 (!limit->name[len] || limit->name[len] == '[');
	}
	if (named && diff->grouped) {
		nw_buf_printf(
			why,
			"no row has the name '%s': rows are grouped, so write 'NAME[GROUP].%s', with commas between the values of several keys",
			limit->name, nw_metrics[limit->metric].name);
		return;
	}
	nw_buf_printf(why, "there is no probe or span '%s'", limit->name);
	nw_vec_each (&diff->rows, row)
		if (near < 3 && nw_may_mean(limit->name, row->name))
			nw_buf_printf(why, "%s'%s'", near++ ? ", " : "; did you mean ",
				      row->name);
	nw_buf_adds(why, near ? "?" : "");
	for (size_t i = 0; !near && i < diff->rows.count && i < 3; i++)
		nw_buf_printf(why, "%s'%s'", i ? ", " : "; there is ",
			      diff->rows.item[i].name);
}

/* Says why a metric cannot be judged; false: it can. */
static bool tell_unknown(const struct nw_diff_row *row, enum nw_metric m,
			 struct nw_buf *why)
{
	const struct nw_diff_metric *metric = &row->metric[m];
	double change;

	for (int side = 0; side < NW_SIDES; side++) {
		if (!row->has[side])
			nw_buf_printf(why, "it was not measured %s", nw_side_names[side]);
		else if (!metric->has[side])
			nw_buf_printf(why, "nothing was counted %s", nw_side_names[side]);
		else
			continue;
		return true;
	}
	if (!nw_diff_change(metric, &change))
		nw_buf_adds(why, "it was 0 before, so there is no percentage");
	else if (!metric->is_compared)
		nw_buf_printf(
			why,
			"%zu samples before and %zu after are too few for an interval of 95 %%",
			metric->sample[NW_BEFORE].count, metric->sample[NW_AFTER].count);
	else
		return false;
	return true;
}

enum nw_verdict nw_diff_judge(const struct nw_diff *diff, const struct nw_diff_limit *limit,
			      const struct nw_diff_row **row, struct nw_buf *why)
{
	size_t found = 0;
	double change;

	*row = NULL;
	nw_vec_each (&diff->rows, one) {
		if (!matches(one, limit->name))
			continue;
		found++;
		*row = one;
	}
	if (found > 1) {
		nw_buf_printf(why, "'%s' are %zu rows, with different keys", limit->name,
			      found);
		*row = NULL;
		return NW_VERDICT_UNKNOWN;
	}
	if (!found) {
		tell_missing(diff, limit, why);
		return NW_VERDICT_UNKNOWN;
	}
	if (tell_unknown(*row, limit->metric, why))
		return NW_VERDICT_UNKNOWN;
	const struct nw_diff_metric *metric = &(*row)->metric[limit->metric];
	nw_diff_change(metric, &change);
	if (limit->above ? change <= limit->least : change >= limit->least)
		return NW_VERDICT_PASSED;
	/* An interval on the other side of no change speaks against the observed one. */
	const struct nw_comparison *is = &metric->comparison;
	return is->noise || (limit->above ? is->high < 1 : is->low > 1) ? NW_VERDICT_NOISE
									: NW_VERDICT_FAILED;
}
