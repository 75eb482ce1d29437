// SPDX-License-Identifier: MIT
/*
 * Members of JSON arguments as arguments: "json(reply, ok.n)" becomes one more argument of each probe that has `reply`. Its
 * value is found when a hit is handed out, so it is not fetched, and a recording does not have it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/spans/member.h"

#include "run.h"

/* One of them. */
struct member {
	const char *name; /* as typed */
	struct nw_member what;
	int *of, *at; /* by probe: the argument that is JSON, and this one; -1: none */
	struct nw_buf decoded; /* the text of the value of the last hit */
	size_t cut;	       /* hits whose text was cut before the value or in it */
};

struct nw_members {
	NW_VEC(struct member) list;
	struct nw_value *values; /* of the last hit */
	size_t room;
};

/* ---- opening ------------------------------------------------------------------------ */

static int add_arg(struct nw_probe *probe, struct member *m, size_t number,
		   struct nw_error *err)
{
	struct nw_named_arg *arg = nw_vec_add(&probe->args);

	if (!arg)
		return nw_no_memory(err);
	memcpy(arg->name, m->name, strlen(m->name) + 1);
	arg->made = true;
	m->at[number] = (int)probe->args.count - 1;
	return 0;
}

static int not_found(const struct member *m, bool number, struct nw_error *err)
{
	if (number)
		nw_fail_usage(err, "'%s': the argument is no string", m->name);
	else
		nw_fail_usage(err, "'%s': no probe has an argument '%s'", m->name,
			      m->what.arg);
	nw_error_hint(err, "name it in the spec, as in 'PROVIDER:NAME(%s:string)'",
		      m->what.arg);
	return -EINVAL;
}

/* Finds the argument in each probe. In text its type is not known. */
static int bind(struct nw_run *run, struct member *m, struct nw_error *err)
{
	const struct nw_selection *selection = &run->result->selection;
	bool found = false, number = false;

	m->of = calloc(selection->probes.count + 1, sizeof(*m->of));
	m->at = calloc(selection->probes.count + 1, sizeof(*m->at));
	if (!m->of || !m->at)
		return nw_no_memory(err);
	for (size_t i = 0; i < selection->probes.count; i++) {
		struct nw_probe *probe = selection->probes.item[i];
		int of = nw_arg_find(probe, m->what.arg);
		const bool text = of >= 0 && (size_t)of < probe->args.count &&
				  nw_type_is_text(&probe->args.item[of].type);
		number |= of >= 0 && !text;
		m->of[i] = text ? of : -1;
		m->at[i] = -1;
		found |= text;
		if (text && add_arg(probe, m, i, err) < 0)
			return -err->code;
	}
	return found ? 0 : not_found(m, number, err);
}

static int open_one(struct nw_run *run, const char *name, struct nw_error *err)
{
	struct member *m = nw_vec_add(&run->delivery.members->list);
	const char *why = "write json(ARG, PATH), as in json(arg0, ok.val)";

	if (!m)
		return nw_no_memory(err);
	*m = (struct member){.name = name};
	if (strlen(name) >= NW_ARG_NAME)
		return nw_fail_usage(err, "'%s': longer than %d characters", name,
				     NW_ARG_NAME - 1);
	int ret = nw_member_parse(name, &m->what, &why);
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	return ret > 0 ? bind(run, m, err) : nw_fail_usage(err, "'%s': %s", name, why);
}

int nw_run_open_members(struct nw_run *run, struct nw_error *err)
{
	const struct nw_needs *needs = &run->consumer.needs;

	if (!needs->member_count)
		return 0;
	/* The arguments of text become known while it is read. */
	if (!run->source->live && !run->source->recorded) {
		nw_fail_usage(
			err,
			"'%s': members of JSON as arguments are found in live runs and recordings, not in text",
			needs->members[0]);
		nw_error_hint(err, "--by and --filter find them in text, too");
		return -EINVAL;
	}
	run->delivery.members = calloc(1, sizeof(*run->delivery.members));
	if (!run->delivery.members)
		return nw_no_memory(err);
	int ret = 0;
	for (size_t i = 0; ret == 0 && i < needs->member_count; i++)
		ret = open_one(run, needs->members[i], err);
	return ret;
}

/* ---- the values of a hit ------------------------------------------------------------ */

static bool has_room(struct nw_members *members, size_t count)
{
	if (count <= members->room)
		return true;
	struct nw_value *more = realloc(members->values, count * sizeof(*more));
	if (!more)
		return false;
	members->values = more;
	members->room = count;
	return true;
}

int nw_run_add_members(struct nw_run *run, struct nw_hit *hit)
{
	struct nw_members *members = run->delivery.members;
	const size_t count = run->result->selection.probes.item[hit->probe]->args.count;
	bool any = false;

	nw_vec_each (&members->list, m)
		any |= m->at[hit->probe] >= 0;
	if (!any)
		return 0;
	if (!has_room(members, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		members->values[i] = i < hit->value_count
					     ? hit->values[i]
					     : (struct nw_value){.kind = NW_VALUE_MISSING,
								 .text = "not fetched"};
	nw_vec_each (&members->list, m) {
		if (m->at[hit->probe] < 0)
			continue;
		const struct nw_value value = nw_member_value(
			&m->what, &members->values[m->of[hit->probe]], &m->decoded);
		if (m->decoded.failed)
			return -ENOMEM;
		m->cut += value.cut;
		members->values[m->at[hit->probe]] = value;
	}
	hit->values = members->values;
	hit->value_count = (uint32_t)count;
	return 0;
}

/* ---- the end ------------------------------------------------------------------------ */

void nw_run_tell_members(const struct nw_run *run)
{
	nw_vec_each (&run->delivery.members->list, m)
		if (m->cut)
			nw_run_notice(
				run,
				"%s was cut off, hits: %zu; as text it is marked, in a histogram it is not counted; a larger --string-size helps",
				m->name, m->cut);
}

void nw_run_close_members(struct nw_run *run)
{
	struct nw_members *members = run->delivery.members;

	if (!members)
		return;
	nw_vec_each (&members->list, m) {
		nw_member_free(&m->what);
		nw_buf_free(&m->decoded);
		free(m->of);
		free(m->at);
	}
	nw_vec_free(&members->list);
	free(members->values);
	free(members);
	run->delivery.members = NULL;
}
