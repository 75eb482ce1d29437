// SPDX-License-Identifier: MIT
/* See by.h. */
#include "by.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find/probe/spec_habits.h"
#include "show/rows/output.h"
#include "show/text/text.h"
#include "sql.h"
#include "title_search.h"

/* ---- functions of arguments --------------------------------------------------------- */

/* A function of an argument, "NAME(ARGUMENT)". */
struct nw_by_function {
	const char *name;
	const char *type;   /* to be written behind the argument in the spec */
	size_t most_groups; /* 0: the limit of the summary */
	/* Checks the argument's type. */
	int (*check)(const struct nw_by_key *key, const struct nw_selection *selection,
		     struct nw_error *err);
	/* Appends what a string is grouped by. */
	void (*add)(const struct nw_value *value, struct nw_buf *out);
};

/* Checks that the argument is a string: an argument of another type would be its address. In text, values are taken as
 * they are. */
static int check_text(const struct nw_by_key *key, const struct nw_selection *selection,
		      struct nw_error *err)
{
	bool number = false;

	for (size_t i = 0; i < selection->probes.count; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		if (key->arg[i] < 0 || (size_t)key->arg[i] >= probe->args.count)
			continue;
		if (nw_type_is_text(&probe->args.item[key->arg[i]].type))
			return 0;
		number |= probe->points.count > 0;
	}
	if (!number)
		return 0;
	nw_fail_usage(err, "--by '%s': the argument is no string", key->name);
	nw_error_hint(err,
		      "say that it is one in the spec, as in 'PROVIDER:NAME(%s:string)'",
		      key->arg_name);
	return -EINVAL;
}

static void add_shape(const struct nw_value *value, struct nw_buf *out)
{
	nw_sql_shape(value->text, value->len, value->cut, out);
}

static const struct nw_by_function functions[] = {
	{"sql", ":string", NW_BY_MOST_SHAPES, check_text, add_shape},
};

/* ---- titles ------------------------------------------------------------------------- */

/* Does the key need what only the running system knows, and which? NW_OBSERVED_COUNT: it does not. */
static enum nw_observed_what observed_of(const struct nw_by_key *key)
{
	switch (key->what) {
	case NW_BY_TITLE:
		return NW_OBSERVED_TITLE;
	case NW_BY_CGROUP:
		return NW_OBSERVED_CGROUP;
	case NW_BY_CONTAINER:
		return NW_OBSERVED_CONTAINER;
	case NW_BY_PATH:
		return NW_OBSERVED_PATH;
	default:
		return NW_OBSERVED_COUNT;
	}
}

/* Returns NULL if this hit has no such argument. */
static const struct nw_value *value_of(const struct nw_by_key *key,
				       const struct nw_hit *hit)
{
	int at = key->arg[hit->probe];

	return at >= 0 && (size_t)at < hit->value_count ? &hit->values[at] : NULL;
}

/* Returns the path of the descriptor that is the hit's argument; NULL: it is not known. The kernel takes 32 bits of a descriptor. */
static const char *path_of(const struct nw_by_key *key, struct nw_run *run,
			   const struct nw_hit *hit, const struct nw_task *task)
{
	const struct nw_value *value = value_of(key, hit);

	if (!value ||
	    (value->kind != NW_VALUE_SIGNED && value->kind != NW_VALUE_UNSIGNED) ||
	    (uint32_t)value->number > INT32_MAX)
		return NULL;
	return nw_run_observed_path(run, hit, task->pid, (uint32_t)value->number);
}

/* Returns what is observed of a hit's process, of a title the part that is asked for; NULL: it is not known, or has no such part. */
static const char *observed_text(const struct nw_by_key *key, struct nw_run *run,
				 const struct nw_hit *hit, const struct nw_task *task)
{
	int code = 0;

	if (key->what == NW_BY_PATH)
		return path_of(key, run, hit, task);
	const char *title = nw_run_observed(run, observed_of(key), hit, task->pid);

	if (!title || !key->search)
		return title;
	title = nw_title_search_find(key->search, title, nw_run_so_far(run)->signalled,
				     &code);
	if (code)
		nw_run_not_searched(run, NW_OBSERVED_TITLE, code);
	return title;
}

/* ---- what was asked for ------------------------------------------------------------- */

/* Returns the text inside "WORD(...)", which the caller frees; NULL: the key is not of that form. *failed: no memory. */
static char *inside(const char *key, const char *word, bool *failed)
{
	size_t len = strlen(key), prefix = strlen(word);

	if (strncmp(key, word, prefix) != 0 || key[prefix] != '(' || key[len - 1] != ')')
		return NULL;
	char *text = strndup(key + prefix + 1, len - prefix - 2);
	*failed |= !text;
	return text;
}

/* Finds out what a key is. */
static int parse_key(struct nw_by_key *key, struct nw_error *err)
{
	static const char *const known[] = {[NW_BY_TID] = "tid",
					    [NW_BY_PID] = "pid",
					    [NW_BY_COMM] = "comm",
					    [NW_BY_CPU] = "cpu",
					    [NW_BY_TITLE] = "title",
					    [NW_BY_CGROUP] = "cgroup",
					    [NW_BY_CONTAINER] = "container"};
	bool failed = false;

	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (strcmp(known[i], key->name) == 0)
			key->what = (enum nw_by_what)i;
	nw_cleanup(nw_free_ptr) char *regex = inside(key->name, "title", &failed);
	if (regex) {
		key->what = NW_BY_TITLE;
		return nw_title_search_open(key->name, regex, &key->search, err);
	}
	key->arg_name = inside(key->name, "path", &failed);
	if (key->arg_name || failed) {
		key->what = NW_BY_PATH;
		return key->arg_name ? 0 : nw_no_memory(err);
	}
	const char *why;
	int ret = nw_member_parse(key->name, &key->member, &why);
	if (ret == -EINVAL)
		return nw_fail_usage(err, "--by '%s': %s", key->name, why);
	if (ret > 0)
		key->arg_name = strdup(key->member.arg);
	failed |= ret == -ENOMEM || (ret > 0 && !key->arg_name);
	for (size_t i = 0; i < NW_COUNT(functions) && !key->arg_name && !failed; i++) {
		key->arg_name = inside(key->name, functions[i].name, &failed);
		if (key->arg_name)
			key->function = &functions[i];
	}
	if (!key->arg_name && !failed)
		key->arg_name = strdup(key->name);
	return key->arg_name ? 0 : nw_no_memory(err);
}

static int add_key(struct nw_by *by, const char *text, const char *name,
		   struct nw_error *err)
{
	const size_t len = strlen(name);

	if (len < 1 || (len > 2 && strcmp(name + len - 2, "()") == 0))
		return nw_fail_usage(err, "--by '%s': a key is empty", text);
	if (strchr(name, '(') && name[len - 1] != ')')
		return nw_fail_usage(err, "--by '%s': ')' is missing behind '%s'", text,
				     name);
	nw_vec_each (&by->keys, key)
		if (strcmp(key->name, name) == 0)
			return nw_fail_usage(err, "--by '%s': '%s' is there twice", text,
					     name);
	struct nw_by_key *key = nw_vec_add(&by->keys);
	if (!key)
		return nw_no_memory(err);
	*key = (struct nw_by_key){.what = NW_BY_ARG, .name = strdup(name)};
	return key->name ? parse_key(key, err) : nw_no_memory(err);
}

int nw_by_parse(const char *text, struct nw_by *out, struct nw_error *err)
{
	struct nw_by by = {0};
	nw_cleanup(nw_free_ptr) char *copy = text ? strdup(text) : NULL;
	char *rest = copy, *name;
	int ret = text && !copy ? nw_no_memory(err) : 0;

	while (ret == 0 && (name = nw_split_keys(&rest)))
		ret = add_key(&by, text, name, err);
	if (ret < 0)
		nw_by_free(&by);
	else
		*out = by;
	return ret;
}

void nw_by_free(struct nw_by *by)
{
	nw_vec_each (&by->keys, key) {
		free(key->name);
		free(key->arg_name);
		free(key->arg);
		nw_title_search_free(key->search);
		nw_member_free(&key->member);
	}
	nw_vec_free(&by->keys);
	nw_buf_free(&by->text);
}

size_t nw_by_most_groups(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->function && key->function->most_groups)
			return key->function->most_groups;
	return 0;
}

bool nw_by_needs_args(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->what == NW_BY_ARG || key->what == NW_BY_PATH)
			return true;
	return false;
}

bool nw_by_needs_tasks(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->what == NW_BY_PID || key->what == NW_BY_COMM ||
		    observed_of(key) != NW_OBSERVED_COUNT)
			return true;
	return false;
}

bool nw_by_needs_descriptors(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->what == NW_BY_PATH)
			return true;
	return false;
}

uint64_t nw_by_late_keys(const struct nw_by *by)
{
	uint64_t late = 0;

	for (size_t i = 0; i < by->keys.count && i < 64; i++)
		if (by->keys.item[i].what == NW_BY_TITLE)
			late |= UINT64_C(1) << i;
	return late;
}

/* ---- which arguments ---------------------------------------------------------------- */

/* Checks that the argument of a path is a number. */
static int check_number(const struct nw_by_key *key, const struct nw_selection *selection,
			struct nw_error *err)
{
	for (size_t i = 0; i < selection->probes.count; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		if (key->arg[i] >= 0 && (size_t)key->arg[i] < probe->args.count &&
		    nw_type_is_text(&probe->args.item[key->arg[i]].type))
			return nw_fail_usage(
				err,
				"--by '%s': the argument of %s is a string, and no descriptor",
				key->name, probe->label);
	}
	return 0;
}

static int bind_key(struct nw_by_key *key, const struct nw_selection *selection,
		    struct nw_error *err)
{
	bool found = false;

	key->arg = calloc(selection->probes.count + 1, sizeof(*key->arg));
	if (!key->arg)
		return nw_no_memory(err);
	for (size_t i = 0; i < selection->probes.count; i++) {
		key->arg[i] = nw_arg_find(selection->probes.item[i], key->arg_name);
		found |= key->arg[i] >= 0;
	}
	if (found && key->what == NW_BY_PATH)
		return check_number(key, selection, err);
	if (found && key->member.path)
		return check_text(key, selection, err);
	if (found)
		return key->function ? key->function->check(key, selection, err) : 0;
	nw_fail_usage(err, "--by '%s': no probe has an argument of that name", key->name);
	nw_error_hint(
		err,
		"name it in the spec, as in 'PROVIDER:NAME(%s%s)', or use arg0, arg1, ... or one of tid, pid, comm, cpu, title, cgroup, container",
		key->arg_name,
		key->member.path ? ":string"
		: key->function	 ? key->function->type
				 : "");
	if (nw_arg_habit(key->arg_name))
		nw_error_hint(err, "%s", nw_arg_habit(key->arg_name));
	return -EINVAL;
}

int nw_by_bind(struct nw_by *by, struct nw_run *run, struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (&by->keys, key) {
		if (ret == 0 && (key->what == NW_BY_ARG || key->what == NW_BY_PATH))
			ret = bind_key(key, &nw_run_so_far(run)->selection, err);
		if (ret == 0 && observed_of(key) != NW_OBSERVED_COUNT)
			ret = nw_run_observe(run, observed_of(key), key->name, err);
	}
	return ret;
}

void nw_by_observe(const struct nw_by *by, struct nw_run *run, const struct nw_task *task,
		   const struct nw_hit *hit)
{
	nw_vec_each (&by->keys, key)
		if (observed_of(key) != NW_OBSERVED_COUNT)
			(void)observed_text(key, run, hit, task);
}

/* ---- the group of a hit ------------------------------------------------------------- */

/* Finds the name of the key's value in an enumeration; returns its length, 0: it has none. */
static size_t word_of(const struct nw_by_key *key, struct nw_run *run,
		      const struct nw_hit *hit, const char **word)
{
	const struct nw_probe *probe =
		nw_run_so_far(run)->selection.probes.item[hit->probe];
	const size_t at = (size_t)key->arg[hit->probe];

	return key->function ? 0 : nw_value_word(probe, at, &hit->values[at], word);
}

static int64_t group_of_number(struct nw_by *by, struct nw_summary *summary,
			       uint64_t number, bool is_signed)
{
	size_t at = nw_hash64(number) % NW_BY_CACHE;
	char text[32];

	if (by->cache[at].group > 0 && by->cache[at].number == number)
		return by->cache[at].group - 1;
	int len = is_signed ? snprintf(text, sizeof(text), "%" PRId64, (int64_t)number)
			    : snprintf(text, sizeof(text), "%" PRIu64, number);
	int64_t group = nw_summary_group(summary, text, (size_t)len);
	by->cache[at].number = number;
	by->cache[at].group = group + 1;
	return group;
}

/* Appends a string. The traced program may put the separator into it, which must not look like two parts. */
static void add_string(struct nw_buf *out, const char *text, size_t len)
{
	size_t from = out->len;

	nw_buf_add(out, text, len);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == NW_GROUP_SEPARATOR)
			out->data[i] = '?';
}

/* Appends a title, or what was asked of it, or a path, of which the end says most. */
static void add_title(const struct nw_by_key *key, const char *title, struct nw_buf *out)
{
	const size_t len = strlen(title);

	if ((key->what == NW_BY_CGROUP || key->what == NW_BY_PATH) &&
	    len > NW_BY_TITLE_BYTES) {
		nw_buf_adds(out, "...");
		add_string(out, title + len - NW_BY_TITLE_BYTES, NW_BY_TITLE_BYTES);
		return;
	}
	add_string(out, title, nw_min64(len, NW_BY_TITLE_BYTES));
	if (len > NW_BY_TITLE_BYTES)
		nw_buf_adds(out, "...");
}

/* Appends a value. A string that was cut stands for all that begin like it, so it is marked. */
static void add_value(const struct nw_by_key *key, struct nw_buf *out,
		      const struct nw_value *value)
{
	if (value->kind != NW_VALUE_STRING) {
		nw_value_print(value, out);
		return;
	}
	if (key->function)
		key->function->add(value, out);
	else
		add_string(out, value->text, value->len);
	nw_buf_adds(out, value->cut ? "..." : value->untrusted ? "?" : "");
}

/* Appends a member of a JSON text; false: there is none. */
static bool add_member(const struct nw_by_key *key, struct nw_buf *out,
		       const struct nw_value *text)
{
	struct nw_buf decoded = {0};
	const struct nw_value value = nw_member_value(&key->member, text, &decoded);
	const bool found = value.kind != NW_VALUE_MISSING;

	if (value.kind == NW_VALUE_STRING) {
		add_string(out, value.text, value.len);
		nw_buf_adds(out, value.cut ? "..." : value.untrusted ? "?" : "");
	} else if (found) {
		nw_value_print(&value, out);
	}
	out->failed |= decoded.failed;
	nw_buf_free(&decoded);
	return found;
}

static int64_t group_of_text(const struct nw_by *by, struct nw_summary *summary)
{
	return by->text.failed
		       ? -ENOMEM
		       : nw_summary_group(summary, nw_buf_str(&by->text), by->text.len);
}

/* Groups by one key, the usual case: no text is made of a number whose group is known. */
static int64_t group_by_one(struct nw_by *by, struct nw_run *run,
			    struct nw_summary *summary, const struct nw_hit *hit,
			    const struct nw_task *task)
{
	const struct nw_by_key *key = by->keys.item;
	const char *word = NULL;
	const struct nw_value *value;
	const char *title;

	switch (key->what) {
	case NW_BY_TID:
		return group_of_number(by, summary, (uint32_t)hit->tid, false);
	case NW_BY_PID:
		return group_of_number(by, summary, (uint32_t)task->pid, false);
	case NW_BY_CPU:
		return group_of_number(by, summary, hit->cpu, false);
	case NW_BY_COMM:
		return nw_summary_group(summary, task->comm, strlen(task->comm));
	case NW_BY_TITLE:
	case NW_BY_CGROUP:
	case NW_BY_CONTAINER:
	case NW_BY_PATH:
		title = observed_text(key, run, hit, task);
		if (!title)
			return -1;
		nw_buf_clear(&by->text);
		add_title(key, title, &by->text);
		return group_of_text(by, summary);
	case NW_BY_ARG:
		break;
	}
	value = value_of(key, hit);
	if (!value)
		return -1;
	if (key->member.path) {
		nw_buf_clear(&by->text);
		return add_member(key, &by->text, value) ? group_of_text(by, summary) : -1;
	}
	size_t len = word_of(key, run, hit, &word);
	if (len)
		return nw_summary_group(summary, word, len);
	if (value->kind == NW_VALUE_SIGNED || value->kind == NW_VALUE_UNSIGNED)
		return group_of_number(by, summary, value->number,
				       value->kind == NW_VALUE_SIGNED);
	if (value->kind == NW_VALUE_STRING && !value->cut && !value->untrusted &&
	    !key->function)
		return nw_summary_group(summary, value->text, value->len);
	nw_buf_clear(&by->text);
	add_value(key, &by->text, value);
	return group_of_text(by, summary);
}

static void add_part(const struct nw_by_key *key, struct nw_run *run,
		     const struct nw_hit *hit, const struct nw_task *task,
		     struct nw_buf *out)
{
	const struct nw_value *value = NULL;
	const char *word = NULL;
	const char *title;

	switch (key->what) {
	case NW_BY_TID:
		nw_buf_addu(out, (uint32_t)hit->tid);
		return;
	case NW_BY_PID:
		nw_buf_addu(out, (uint32_t)task->pid);
		return;
	case NW_BY_CPU:
		nw_buf_addu(out, hit->cpu);
		return;
	case NW_BY_COMM:
		add_string(out, task->comm, strlen(task->comm));
		return;
	case NW_BY_TITLE:
	case NW_BY_CGROUP:
	case NW_BY_CONTAINER:
	case NW_BY_PATH:
		title = observed_text(key, run, hit, task);
		add_title(key, title ? title : "?", out);
		return;
	case NW_BY_ARG:
		value = value_of(key, hit);
		break;
	}
	if (!value || (key->member.path && !add_member(key, out, value))) {
		nw_buf_addc(out, '?');
		return;
	}
	if (key->member.path)
		return;
	size_t len = word_of(key, run, hit, &word);
	if (len)
		add_string(out, word, len);
	else
		add_value(key, out, value);
}

int64_t nw_by_group(struct nw_by *by, struct nw_run *run, struct nw_summary *summary,
		    const struct nw_hit *hit, const struct nw_task *task)
{
	if (by->keys.count == 0)
		return 0;
	if (by->keys.count == 1)
		return group_by_one(by, run, summary, hit, task);
	nw_buf_clear(&by->text);
	nw_vec_each (&by->keys, key) {
		if (key != by->keys.item)
			nw_buf_addc(&by->text, NW_GROUP_SEPARATOR);
		add_part(key, run, hit, task, &by->text);
	}
	return group_of_text(by, summary);
}
