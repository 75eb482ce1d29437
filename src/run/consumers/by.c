// SPDX-License-Identifier: MIT
/* See by.h. */
#include "by.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/output.h"
#include "show/text/text.h"
#include "sql.h"

/* ---- what was asked for ------------------------------------------------------------- */

static int add_key(struct nw_by *by, const char *text, const char *name,
		   struct nw_error *err)
{
	static const char *const known[] = {[NW_BY_TID] = "tid",
					    [NW_BY_PID] = "pid",
					    [NW_BY_COMM] = "comm",
					    [NW_BY_CPU] = "cpu"};

	if (!*name || strcmp(name, "sql()") == 0)
		return nw_fail_usage(err, "--by '%s': a key is empty", text);
	nw_vec_each (&by->keys, key)
		if (strcmp(key->name, name) == 0)
			return nw_fail_usage(err, "--by '%s': '%s' is there twice", text,
					     name);
	struct nw_by_key *key = nw_vec_add(&by->keys);
	if (!key)
		return nw_no_memory(err);
	*key = (struct nw_by_key){.what = NW_BY_ARG, .name = strdup(name)};
	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (strcmp(known[i], name) == 0)
			key->what = (enum nw_by_what)i;
	const size_t len = strlen(name);
	key->sql = strncmp(name, "sql(", 4) == 0 && name[len - 1] == ')';
	key->arg_name = key->sql ? strndup(name + 4, len - 5) : strdup(name);
	return key->name && key->arg_name ? 0 : nw_no_memory(err);
}

int nw_by_parse(const char *text, struct nw_by *out, struct nw_error *err)
{
	struct nw_by by = {0};
	nw_cleanup(nw_free_ptr) char *copy = text ? strdup(text) : NULL;
	char *rest = copy, *name;
	int ret = text && !copy ? nw_no_memory(err) : 0;

	while (ret == 0 && (name = strsep(&rest, ",")))
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
	}
	nw_vec_free(&by->keys);
	nw_buf_free(&by->text);
}

size_t nw_by_most_groups(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->sql)
			return NW_BY_MOST_SHAPES;
	return 0;
}

bool nw_by_needs_args(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->what == NW_BY_ARG)
			return true;
	return false;
}

bool nw_by_needs_tasks(const struct nw_by *by)
{
	nw_vec_each (&by->keys, key)
		if (key->what == NW_BY_PID || key->what == NW_BY_COMM)
			return true;
	return false;
}

/* ---- which arguments ---------------------------------------------------------------- */

/* Checks that the argument of sql() is a string: an argument of another type would be its address. In text, values
 * are taken as they are. */
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
	if (found)
		return key->sql ? check_text(key, selection, err) : 0;
	nw_fail_usage(err, "--by '%s': no probe has an argument of that name", key->name);
	nw_error_hint(
		err,
		"name it in the spec, as in 'PROVIDER:NAME(%s%s)', or use arg0, arg1, ... or one of tid, pid, comm, cpu",
		key->arg_name, key->sql ? ":string" : "");
	return -EINVAL;
}

int nw_by_bind(struct nw_by *by, const struct nw_selection *selection, struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (&by->keys, key)
		if (ret == 0 && key->what == NW_BY_ARG)
			ret = bind_key(key, selection, err);
	return ret;
}

/* ---- the group of a hit ------------------------------------------------------------- */

/* Returns NULL if this hit has no such argument. */
static const struct nw_value *value_of(const struct nw_by_key *key,
				       const struct nw_hit *hit)
{
	int at = key->arg[hit->probe];

	return at >= 0 && (size_t)at < hit->value_count ? &hit->values[at] : NULL;
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

/* Appends a value. A string that was cut stands for all that begin like it, so it is marked. */
static void add_value(const struct nw_by_key *key, struct nw_buf *out,
		      const struct nw_value *value)
{
	if (value->kind != NW_VALUE_STRING) {
		nw_value_print(value, out);
		return;
	}
	if (key->sql)
		nw_sql_shape(value->text, value->len, value->cut, out);
	else
		add_string(out, value->text, value->len);
	nw_buf_adds(out, value->cut ? "..." : value->untrusted ? "?" : "");
}

/* Groups by one key, the usual case: no text is made of a number whose group is known. */
static int64_t group_by_one(struct nw_by *by, struct nw_summary *summary,
			    const struct nw_hit *hit, const struct nw_task *task)
{
	const struct nw_by_key *key = by->keys.item;
	const struct nw_value *value;

	switch (key->what) {
	case NW_BY_TID:
		return group_of_number(by, summary, (uint32_t)hit->tid, false);
	case NW_BY_PID:
		return group_of_number(by, summary, (uint32_t)task->pid, false);
	case NW_BY_CPU:
		return group_of_number(by, summary, hit->cpu, false);
	case NW_BY_COMM:
		return nw_summary_group(summary, task->comm, strlen(task->comm));
	case NW_BY_ARG:
		break;
	}
	value = value_of(key, hit);
	if (!value)
		return -1;
	if (value->kind == NW_VALUE_SIGNED || value->kind == NW_VALUE_UNSIGNED)
		return group_of_number(by, summary, value->number,
				       value->kind == NW_VALUE_SIGNED);
	if (value->kind == NW_VALUE_STRING && !value->cut && !value->untrusted && !key->sql)
		return nw_summary_group(summary, value->text, value->len);
	nw_buf_clear(&by->text);
	add_value(key, &by->text, value);
	return nw_summary_group(summary, nw_buf_str(&by->text), by->text.len);
}

static void add_part(const struct nw_by_key *key, const struct nw_hit *hit,
		     const struct nw_task *task, struct nw_buf *out)
{
	const struct nw_value *value = NULL;

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
	case NW_BY_ARG:
		value = value_of(key, hit);
		break;
	}
	if (!value)
		nw_buf_addc(out, '?');
	else
		add_value(key, out, value);
}

int64_t nw_by_group(struct nw_by *by, struct nw_summary *summary, const struct nw_hit *hit,
		    const struct nw_task *task)
{
	if (by->keys.count == 0)
		return 0;
	if (by->keys.count == 1)
		return group_by_one(by, summary, hit, task);
	nw_buf_clear(&by->text);
	nw_vec_each (&by->keys, key) {
		if (key != by->keys.item)
			nw_buf_addc(&by->text, NW_GROUP_SEPARATOR);
		add_part(key, hit, task, &by->text);
	}
	return by->text.failed
		       ? -ENOMEM
		       : nw_summary_group(summary, nw_buf_str(&by->text), by->text.len);
}
