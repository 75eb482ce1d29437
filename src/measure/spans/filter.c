// SPDX-License-Identifier: MIT
/*
 * Filters, which decide about hits.
 *
 *  either = both { "||" both }
 *  both   = one { "&&" one }
 *  one    = { "!" } ( "(" either ")" | NAME OP VALUE )
 *
 * An expression becomes a list of comparisons in the order of the text. Each comparison names the next one for the
 * case that it is true and for the case that it is false. So a hit costs only the comparisons that decide about it,
 * and only parentheses nest while an expression is read.
 *
 * While a part is read, the targets of its results are unknown: exits that lead to the same target are chained
 * through the fields that will hold it.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find/probe/spec_habits.h"
#include "literal.h"
#include "measure/spans/filter.h"
#include "member.h"

enum {
	PASS = -1,
	REJECT = -2,
	NOWHERE = -3, /* end of a chain */
	MOST_TESTS = 256,
	MOST_DEPTH = 64
};

/* The left side of a comparison. */
enum subject {
	OF_TID,
	OF_PID,
	OF_COMM,
	OF_CPU,
	OF_ARG
};

struct test {
	enum subject subject;
	char *name;
	struct nw_member member; /* "json(ARG, PATH)", whose ARG is the name */
	size_t column;		 /* column of the name, from 1 on */
	enum nw_compare compare;
	struct nw_literal literal;
	int32_t next[2]; /* next test if false, and if true: a test, PASS or REJECT */
};

struct nw_filter {
	NW_VEC(struct test) tests;
	bool *applies; /* by probe */
	int *args;     /* by probe, then by test: number of the argument */
};

/* ---- exits -------------------------------------------------------------------------- */

/* A chain of exits. Each exit is a number: test * 2 + (when true). */
struct exits {
	int32_t first, last;
};

struct part {
	struct exits yes, no;
};

static int32_t *target_of(struct nw_filter *filter, int32_t exit)
{
	return &filter->tests.item[exit / 2].next[exit % 2];
}

static struct exits chain(struct nw_filter *filter, struct exits a, struct exits b)
{
	*target_of(filter, a.last) = b.first;
	return (struct exits){a.first, b.last};
}

static void lead(struct nw_filter *filter, struct exits exits, int32_t target)
{
	for (int32_t exit = exits.first; exit != NOWHERE;) {
		int32_t *slot = target_of(filter, exit);
		exit = *slot;
		*slot = target;
	}
}

/* ---- reading ------------------------------------------------------------------------ */

struct reader {
	const char *text, *at;
	struct nw_filter *filter;
	unsigned int depth;
	struct nw_error *err;
};

static int complain(const struct reader *r, const char *at, const char *why)
{
	nw_fail_usage(r->err, "--filter: %s at column %zu of '%s'", why,
		      (size_t)(at - r->text) + 1, r->text);
	nw_error_hint(
		r->err,
		"write NAME OP VALUE, OP one of == != < <= > >= & ~, joined by && || ! and parentheses: 'status >= 400 && comm ~ \"post*\"'");
	return -EINVAL;
}

static void skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t\n\r");
}

/* If the text continues with this word, moves behind it. */
static bool take(struct reader *r, const char *word)
{
	skip_blanks(r);
	if (strncmp(r->at, word, strlen(word)) != 0)
		return false;
	r->at += strlen(word);
	return true;
}

/* Reads "json(ARG, PATH)". Returns 1, or 0 if something else is there. */
static int read_member(struct reader *r, struct test *test)
{
	const char *at = r->at,
		   *end = strncmp(at, "json(", 5) == 0 ? strchr(at, ')') : NULL;
	nw_cleanup(nw_free_ptr) char *text = end ? strndup(at, (size_t)(end + 1 - at))
						 : NULL;
	const char *why;

	if (!end)
		return 0;
	int ret = text ? nw_member_parse(text, &test->member, &why) : -ENOMEM;
	if (ret == -EINVAL)
		return complain(r, at, why);
	test->name = ret > 0 ? strdup(test->member.arg) : NULL;
	if (!test->name)
		return nw_no_memory(r->err);
	test->subject = OF_ARG;
	test->column = (size_t)(at - r->text) + 1;
	r->at = end + 1;
	return 1;
}

static int read_name(struct reader *r, struct test *test)
{
	static const char *const known[] = {
		[OF_TID] = "tid", [OF_PID] = "pid", [OF_COMM] = "comm", [OF_CPU] = "cpu"};
	const char *at = r->at;
	size_t len = 0;
	int member = read_member(r, test);

	if (member)
		return member < 0 ? member : 0;
	while (isalnum((unsigned char)at[len]) || at[len] == '_' ||
	       (len && (at[len] == '.' || at[len] == '[' || at[len] == ']')) ||
	       (len && at[len] == '-' && at[len + 1] == '>' && ++len))
		len++;
	if (!len || isdigit((unsigned char)*at))
		return complain(r, at, "a name is missing");
	test->column = (size_t)(at - r->text) + 1;
	test->name = strndup(at, len);
	if (!test->name)
		return nw_no_memory(r->err);
	test->subject = OF_ARG;
	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (strcmp(known[i], test->name) == 0)
			test->subject = (enum subject)i;
	r->at += len;
	return 0;
}

static int read_compare(struct reader *r, struct test *test)
{
	static const struct {
		const char *text;
		enum nw_compare compare;
	} known[] = {{"==", NW_EQUAL},	    {"!=", NW_DIFFERENT}, {"<=", NW_LESS_EQUAL},
		     {">=", NW_MORE_EQUAL}, {"<", NW_LESS},	  {">", NW_MORE},
		     {"&", NW_BITS},	    {"~", NW_GLOB}};

	skip_blanks(r);
	if (strncmp(r->at, "&&", 2) == 0)
		return complain(r, r->at, "a comparison is missing");
	for (size_t i = 0; i < NW_COUNT(known); i++) {
		if (!take(r, known[i].text))
			continue;
		test->compare = known[i].compare;
		return 0;
	}
	return complain(
		r, r->at,
		strncmp(r->at, "=>", 2) == 0   ? "use '>=' instead of '=>'"
		: strncmp(r->at, "=<", 2) == 0 ? "use '<=' instead of '=<'"
		: *r->at == '='		       ? "use '==' instead of '='"
		: !*r->at
			? "a comparison is missing (without quotes a shell takes > and < for files)"
			: "a comparison is missing");
}

/* Is the value compared as text? Otherwise it is compared as a number. */
static bool wants_text(const struct test *test)
{
	return test->compare == NW_GLOB ||
	       (test->literal.kind == NW_LITERAL_TEXT &&
		(test->compare == NW_EQUAL || test->compare == NW_DIFFERENT));
}

static int read_value(struct reader *r, struct test *test)
{
	const char *why;

	skip_blanks(r);
	const char *at = r->at;
	int ret = nw_literal_read(&r->at, &test->literal, &why);
	if (ret == -ENOMEM)
		return nw_no_memory(r->err);
	if (ret < 0)
		return complain(r, at, why);
	if (test->compare == NW_BITS && test->literal.kind != NW_LITERAL_INTEGER)
		return complain(r, at, "'&' wants an integer");
	if (test->literal.kind == NW_LITERAL_TEXT && !wants_text(test))
		return complain(
			r, at,
			isdigit((unsigned char)*at)
				? "units belong to durations (--slower 10ms), an argument is compared with a plain number"
				: "a number is wanted");
	return 0;
}

/* Returns the least number of characters of a text that the glob matches. */
static size_t glob_least(const char *glob)
{
	size_t least = 0;

	for (; *glob; glob++) {
		const char *close = *glob == '[' ? strchr(glob + 1 + (glob[1] == '!'), ']')
						 : NULL;
		least += *glob != '*';
		if (*glob == '\\' && glob[1])
			glob++;
		else if (close)
			glob = close;
	}
	return least;
}

/* Is there a number in the range for which the comparison holds? */
static bool can_hold(const struct test *test, long double least, long double most)
{
	const struct nw_literal *literal = &test->literal;
	long double value = literal->kind == NW_LITERAL_REAL ? (long double)literal->real
			    : literal->negative ? (long double)(int64_t)literal->number
						: (long double)literal->number;

	switch (test->compare) {
	case NW_EQUAL:
		return value >= least && value <= most &&
		       (literal->kind != NW_LITERAL_REAL || value == floorl(value));
	case NW_LESS:
		return value > least;
	case NW_LESS_EQUAL:
		return value >= least;
	case NW_MORE:
		return value < most;
	case NW_MORE_EQUAL:
		return value <= most;
	default:
		return true;
	}
}

/* Checks a comparison as far as possible before the arguments are known. */
static int check_subject(const struct reader *r, const struct test *test)
{
	const char *at = r->text + test->column - 1;
	bool has_order = test->compare != NW_EQUAL && test->compare != NW_DIFFERENT &&
			 test->compare != NW_GLOB;

	if (test->subject == OF_COMM && has_order)
		return complain(r, at, "comm is a string: only ==, != and ~ compare it");
	size_t least = test->subject != OF_COMM	  ? 0
		       : test->compare == NW_GLOB ? glob_least(test->literal.text)
						  : test->literal.len;
	if (least > 15) /* TASK_COMM_LEN is 16 with its NUL */
		return complain(
			r, at,
			"the kernel keeps 15 characters of a thread's name, so no comm is that long (comm ~ \"abc*\" compares its beginning)");
	if (test->subject != OF_ARG && test->subject != OF_COMM && wants_text(test))
		return complain(r, at, "this is a number, but is compared with text");
	if (test->subject != OF_ARG && test->subject != OF_COMM &&
	    !can_hold(test, 0, INT32_MAX))
		return complain(r, at, "this can never hold: it is a number from 0 on");
	return 0;
}

static int read_test(struct reader *r, struct part *out)
{
	int32_t number = (int32_t)r->filter->tests.count;
	struct test *test;

	if (number == MOST_TESTS)
		return complain(r, r->at, "there are more than 256 comparisons");
	test = nw_vec_add(&r->filter->tests);
	if (!test)
		return nw_no_memory(r->err);
	test->next[0] = test->next[1] = NOWHERE;
	int ret = read_name(r, test);
	if (ret == 0)
		ret = read_compare(r, test);
	if (ret == 0)
		ret = read_value(r, test);
	*out = (struct part){.yes = {number * 2 + 1, number * 2 + 1},
			     .no = {number * 2, number * 2}};
	return ret < 0 ? ret : check_subject(r, test);
}

static int read_either(struct reader *r, struct part *out);

static int read_one(struct reader *r, struct part *out)
{
	bool inverted = false;

	while (take(r, "!"))
		inverted = !inverted;
	const char *open = r->at;
	bool group = take(r, "(");
	if (group && r->depth == MOST_DEPTH)
		return complain(r, open, "more than 64 parentheses are open");
	r->depth += group;
	int ret = group ? read_either(r, out) : read_test(r, out);
	r->depth -= group;
	if (ret == 0 && group && !take(r, ")"))
		return complain(r, r->at,
				*r->at ? "'&&', '||' or ')' is missing" : "')' is missing");
	if (ret == 0 && inverted)
		*out = (struct part){.yes = out->no, .no = out->yes};
	return ret;
}

static int read_both(struct reader *r, struct part *out)
{
	struct part next;
	int ret = read_one(r, out);

	while (ret == 0 && take(r, "&&")) {
		lead(r->filter, out->yes, (int32_t)r->filter->tests.count);
		ret = read_one(r, &next);
		if (ret == 0)
			*out = (struct part){.yes = next.yes,
					     .no = chain(r->filter, out->no, next.no)};
	}
	return ret;
}

static int read_either(struct reader *r, struct part *out)
{
	struct part next;
	int ret = read_both(r, out);

	while (ret == 0 && take(r, "||")) {
		lead(r->filter, out->no, (int32_t)r->filter->tests.count);
		ret = read_both(r, &next);
		if (ret == 0)
			*out = (struct part){.yes = chain(r->filter, out->yes, next.yes),
					     .no = next.no};
	}
	return ret;
}

int nw_filter_parse(const char *text, struct nw_filter **out, struct nw_error *err)
{
	struct nw_filter *filter = calloc(1, sizeof(*filter));
	struct reader r = {.text = text, .at = text, .filter = filter, .err = err};
	struct part all;

	if (!filter)
		return nw_no_memory(err);
	int ret = read_either(&r, &all);
	skip_blanks(&r);
	if (ret == 0 && *r.at)
		ret = complain(&r, r.at,
			       *r.at == ')' ? "nothing opens this ')'"
					    : "'&&' or '||' is missing");
	if (ret < 0) {
		nw_filter_free(filter);
		return ret;
	}
	lead(filter, all.yes, PASS);
	lead(filter, all.no, REJECT);
	*out = filter;
	return 0;
}

void nw_filter_free(struct nw_filter *filter)
{
	if (!filter)
		return;
	nw_vec_each (&filter->tests, test) {
		free(test->name);
		nw_member_free(&test->member);
		nw_literal_free(&test->literal);
	}
	nw_vec_free(&filter->tests);
	free(filter->applies);
	free(filter->args);
	free(filter);
}

bool nw_filter_names_args(const struct nw_filter *filter)
{
	nw_vec_each (&filter->tests, test)
		if (test->subject == OF_ARG)
			return true;
	return false;
}

bool nw_filter_names_tasks(const struct nw_filter *filter)
{
	nw_vec_each (&filter->tests, test)
		if (test->subject == OF_PID || test->subject == OF_COMM)
			return true;
	return false;
}

/* ---- the probes --------------------------------------------------------------------- */

/* Does the type have a value for which the comparison holds? */
static bool takes_type(const struct test *test, const struct nw_type *type)
{
	bool is_signed = type->base == NW_TYPE_SIGNED;

	if (type->base != NW_TYPE_UNSIGNED && type->base != NW_TYPE_HEX && !is_signed)
		return true;
	long double values = ldexpl(1, (int)type->bits);
	return is_signed ? can_hold(test, -values / 2, values / 2 - 1)
			 : can_hold(test, 0, values - 1);
}

/* Can this comparison ever be true for the probe's argument? */
static int check_type(const struct test *test, const struct nw_probe *probe, int arg,
		      struct nw_error *err)
{
	const struct nw_type *type = &probe->args.item[arg].type;
	const char *name = test->name, *label = probe->label;
	bool is_text = nw_type_is_text(type);
	int ret = 0;

	if (test->member.path && is_text)
		return 0; /* the type of the member is known at the hit */
	if (test->member.path) {
		nw_fail_usage(err, "--filter: '%s' of %s is no string, so it has no JSON",
			      name, label);
		nw_error_hint(err,
			      "say that it is one in the spec, as in '%s:%s(%s:string)'",
			      probe->provider, probe->name, name);
		return -EINVAL;
	}
	if (type->array && type->base != NW_TYPE_CHAR)
		ret = nw_fail_usage(
			err, "--filter: '%s' of %s is an array, which cannot be compared",
			name, label);
	else if (is_text && test->compare != NW_EQUAL && test->compare != NW_DIFFERENT &&
		 test->compare != NW_GLOB)
		ret = nw_fail_usage(
			err,
			"--filter: '%s' of %s is a string: only ==, != and ~ compare it",
			name, label);
	else if (is_text && !wants_text(test)) {
		nw_fail_usage(
			err,
			"--filter: '%s' of %s is a string, but is compared with a number",
			name, label);
		nw_error_hint(err, "put the text in quotes: '%s %s \"%s\"'", name,
			      test->compare == NW_EQUAL ? "==" : "!=", test->literal.text);
		return -EINVAL;
	} else if (!is_text && wants_text(test))
		ret = nw_fail_usage(
			err, "--filter: '%s' of %s is a number, but is compared with text",
			name, label);
	else if (type->base == NW_TYPE_FLOAT && test->compare == NW_BITS)
		ret = nw_fail_usage(err,
				    "--filter: '%s' of %s is no integer and has no bits",
				    name, label);
	else if (!takes_type(test, type))
		ret = nw_fail_usage(
			err,
			"--filter: '%s' of %s can never be that: its type has no such values",
			name, label);
	if (ret < 0 && wants_text(test))
		nw_error_hint(
			err,
			"if it points at a string, name it as one in the spec: '%s:%s(..., %s:string)'",
			probe->provider, probe->name, name);
	return ret;
}

/* Finds the arguments of a probe that the filter names. The filter applies if the probe has all of them. */
static int bind_probe(struct nw_filter *filter, size_t number, const struct nw_probe *probe,
		      struct nw_error *err)
{
	int *args = filter->args + number * filter->tests.count;
	int ret = 0;

	for (size_t i = 0; i < filter->tests.count; i++) {
		args[i] = -1;
		if (filter->tests.item[i].subject != OF_ARG)
			continue;
		args[i] = nw_arg_find(probe, filter->tests.item[i].name);
		if (args[i] < 0)
			return 0;
	}
	filter->applies[number] = true;
	for (size_t i = 0; ret == 0 && i < filter->tests.count; i++)
		if (args[i] >= 0)
			ret = check_type(&filter->tests.item[i], probe, args[i], err);
	return ret;
}

/* Lists probes and their arguments for a hint: "PROBE(arg0, sql), PROBE(id)", at most four probes. */
static void list_args(const struct nw_selection *selection, struct nw_buf *out)
{
	size_t shown = 0;

	nw_vec_each (&selection->probes, probe) {
		if (!(*probe)->args.count)
			continue;
		if (++shown > 4) {
			nw_buf_adds(out, ", ...");
			return;
		}
		nw_buf_adds(out, shown > 1 ? ", " : "");
		nw_buf_add_escaped(out, (*probe)->label, strlen((*probe)->label));
		for (size_t i = 0; i < (*probe)->args.count; i++) {
			char name[NW_ARG_NAME];
			nw_arg_name(*probe, i, name);
			nw_buf_printf(out, "%s%s", i ? ", " : "(", name);
		}
		nw_buf_addc(out, ')');
	}
}

/* Reports that no probe has all the arguments that the filter compares. */
static int fail_unknown_args(const struct nw_filter *filter,
			     const struct nw_selection *selection, struct nw_error *err)
{
	nw_strings names = {0};
	struct nw_buf text = {0};

	nw_vec_each (&filter->tests, test)
		if (test->subject == OF_ARG && !nw_strings_has(&names, test->name) &&
		    nw_strings_add(&names, test->name, strlen(test->name)) < 0) {
			nw_strings_free(&names);
			return nw_no_memory(err);
		}
	for (size_t i = 0; i < names.count; i++)
		nw_buf_printf(&text, "%s'%s'", i ? ", " : "", names.item[i]);
	if (names.count > 1)
		nw_fail_usage(err, "--filter: no probe has all the arguments %s",
			      nw_buf_str(&text));
	else
		nw_fail_usage(err, "--filter: no probe has an argument %s",
			      nw_buf_str(&text));
	nw_buf_clear(&text);
	list_args(selection, &text);
	if (text.len)
		nw_error_hint(
			err,
			"there are %s, and tid, pid, comm, cpu; arguments are named in the spec, as in 'PROVIDER:NAME(%s)'",
			nw_buf_str(&text), names.count ? names.item[0] : "id");
	else
		nw_error_hint(
			err,
			"the probes have no arguments; tid, pid, comm and cpu can be compared");
	if (names.count && nw_arg_habit(names.item[0]))
		nw_error_hint(err, "%s", nw_arg_habit(names.item[0]));
	nw_buf_free(&text);
	nw_strings_free(&names);
	return -EINVAL;
}

int nw_filter_bind(struct nw_filter *filter, const struct nw_selection *selection,
		   struct nw_error *err)
{
	size_t probes = selection->probes.count;
	bool any = probes == 0;
	int ret = 0;

	filter->applies = calloc(probes + 1, sizeof(*filter->applies));
	filter->args = calloc(probes + 1, filter->tests.count * sizeof(*filter->args));
	if (!filter->applies || !filter->args)
		return nw_no_memory(err);
	for (size_t i = 0; i < probes && ret == 0; i++) {
		ret = bind_probe(filter, i, selection->probes.item[i], err);
		any |= filter->applies[i];
	}
	return ret < 0 || any ? ret : fail_unknown_args(filter, selection, err);
}

/* ---- hits --------------------------------------------------------------------------- */

static bool is_true_of_member(const struct test *test, const struct nw_value *text)
{
	struct nw_buf decoded = {0};
	const struct nw_value value = nw_member_value(&test->member, text, &decoded);
	bool holds = !(value.cut && !value.len) &&
		     nw_literal_holds(&test->literal, test->compare, &value);

	nw_buf_free(&decoded);
	return holds;
}

static bool is_true(const struct test *test, int arg, const struct nw_hit *hit,
		    const struct nw_task *task)
{
	struct nw_value value = {.kind = NW_VALUE_SIGNED};

	switch (test->subject) {
	case OF_TID:
		value.number = (uint64_t)(int64_t)hit->tid;
		break;
	case OF_PID:
		value.number = (uint64_t)(int64_t)task->pid;
		break;
	case OF_CPU:
		value.number = hit->cpu;
		break;
	case OF_COMM:
		value = (struct nw_value){.kind = NW_VALUE_STRING,
					  .text = task->comm,
					  .len = (uint32_t)strlen(task->comm)};
		break;
	default:
		if (test->member.path)
			return hit->values && (size_t)arg < hit->value_count &&
			       is_true_of_member(test, &hit->values[arg]);
		return hit->values && (size_t)arg < hit->value_count &&
		       nw_literal_holds(&test->literal, test->compare, &hit->values[arg]);
	}
	return nw_literal_holds(&test->literal, test->compare, &value);
}

bool nw_filter_applies(const struct nw_filter *filter, size_t probe)
{
	return filter->applies[probe];
}

bool nw_filter_passes(const struct nw_filter *filter, const struct nw_hit *hit,
		      const struct nw_task *task)
{
	const int *args = filter->args + hit->probe * filter->tests.count;
	int32_t at = 0;

	if (!filter->applies[hit->probe])
		return true;
	while (at >= 0) {
		const struct test *test = &filter->tests.item[at];
		at = test->next[is_true(test, args[at], hit, task)];
	}
	return at == PASS;
}
