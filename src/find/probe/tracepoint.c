// SPDX-License-Identifier: MIT
/* tracepoint:SYSTEM:EVENT: kernel events. The caller provides their names and fields; here they are only selected. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"

static struct nw_probe *make_probe(const char *system, const char *event,
				   struct nw_selection *selection)
{
	struct nw_probe *probe = nw_probe_find(selection, NULL, system, event);

	if (probe)
		return probe;
	probe = nw_probe_add(selection, NULL, NW_SPEC_TRACEPOINT, system, event);
	return probe && nw_vec_add(&probe->points) ? probe : NULL;
}

int nw_select_stacks(struct nw_selection *selection, struct nw_error *err)
{
	struct nw_probe *probe = make_probe(NW_STACK_SYSTEM, NW_STACK_EVENT, selection);
	struct nw_named_arg *arg = probe ? nw_vec_add(&probe->args) : NULL;

	if (!arg)
		return nw_no_memory(err);
	strcpy(arg->name, "caller");
	probe->has_args = true;
	probe->label = nw_text("%s:%s", NW_STACK_SYSTEM, NW_STACK_EVENT);
	return probe->label ? 0 : nw_no_memory(err);
}

/* ---- fields ------------------------------------------------------------------------- */

static const struct nw_named_arg *find_arg(const nw_named_args *list, const char *name)
{
	nw_vec_each (list, arg)
		if (strcmp(arg->name, name) == 0)
			return arg;
	return NULL;
}

static int no_field(const struct nw_spec *spec, const struct nw_named_arg *arg,
		    const nw_named_args *fields, struct nw_error *err)
{
	static const char end[] = "sys_exit_";
	const char *call = strcmp(spec->provider, "syscalls") == 0 &&
					   strncmp(spec->name, end, sizeof(end) - 1) == 0
				   ? spec->name + sizeof(end) - 1
				   : NULL;
	struct nw_buf text = {0};

	nw_fail_usage(
		err, "'%s': the event has no field '%s'%s", spec->text, arg->name,
		call ? ": a call's arguments are those of its begin, and a text that the call has written cannot be read at its end"
		     : "");
	nw_vec_each (fields, field)
		nw_buf_printf(&text, "%s%s", text.len ? ", " : "", field->name);
	if (text.len && call)
		nw_buf_printf(
			&text,
			"; tracepoint:syscalls:sys_enter_%s has the arguments, and func:libc.so.6:%s(%s:string@return) the text, where programs call it by the C library",
			call, call, arg->name);
	if (text.len)
		nw_error_hint(err, "its fields are %s", nw_buf_str(&text));
	nw_buf_free(&text);
	return -EINVAL;
}

/* Does the user want the string that an argument of a system call points to? */
static bool is_user_string(const struct nw_probe *probe, const struct nw_named_arg *arg,
			   const struct nw_type *field)
{
	return arg->type.base == NW_TYPE_STRING && !arg->type.array &&
	       field->base == NW_TYPE_HEX && !field->array &&
	       field->bits == sizeof(long) * 8 && strcmp(probe->provider, "syscalls") == 0;
}

/* Checks the type that the user gives: a number may be shown as another type of number, a pointer of a system call's as the
 * string that it points to; other changes are not possible. */
static int check_type(const struct nw_spec *spec, const struct nw_probe *probe,
		      const struct nw_named_arg *arg, const struct nw_type *field,
		      struct nw_error *err)
{
	bool is_number = field->base != NW_TYPE_STRING && !field->array;

	if (is_user_string(probe, arg, field))
		return 0;
	if (arg->type.base == NW_TYPE_DEFAULT ||
	    (arg->type.base == NW_TYPE_STRING && field->base == NW_TYPE_STRING))
		return 0;
	if (is_number && arg->type.base != NW_TYPE_STRING &&
	    arg->type.base != NW_TYPE_FLOAT && !arg->type.array)
		return 0;
	nw_fail_usage(
		err,
		is_number
			? "'%s': the field '%s' is a number and cannot be had as another type"
		: field->array
			? "'%s': the field '%s' is an array and cannot be had as another type"
			: "'%s': the field '%s' is a string and cannot be had as another type",
		spec->text, arg->name);
	return -EINVAL;
}

static int add_field(struct nw_probe *probe, const struct nw_named_arg *arg,
		     struct nw_error *err)
{
	struct nw_named_arg *slot = nw_vec_add(&probe->args);

	if (!slot)
		return nw_no_memory(err);
	*slot = *arg;
	return 0;
}

/* Is it a field that every event has in front of its own fields? Such fields are only added if the user names them. */
static bool is_common(const char *name)
{
	static const char *const common[] = {"common_type", "common_flags",
					     "common_preempt_count", "common_pid"};

	for (size_t i = 0; i < NW_COUNT(common); i++)
		if (strcmp(name, common[i]) == 0)
			return true;
	return false;
}

/* Gives the last argument the field's type if that is text, for which json() asks. */
static void keep_text(const struct nw_type *field, nw_named_args *args)
{
	if (field->base == NW_TYPE_STRING)
		args->item[args->count - 1].type = *field;
}

/* Is it the field in front of a call's arguments, the number of the call? Kernels before 4.11 call it "nr". */
static bool is_call_number(const char *name)
{
	return strcmp(name, "__syscall_nr") == 0 || strcmp(name, "nr") == 0;
}

/*
 * If the user wants a string of a system call, notes which arguments of the call the probe's arguments are. Fields of the
 * kernel's event that are none (its number, and copies of strings) cannot be had together with such a string.
 */
static int add_call_args(const struct nw_spec *spec, const nw_named_args *fields,
			 struct nw_probe *probe, struct nw_error *err)
{
	bool strings = false;

	nw_vec_free(&probe->call_args);
	nw_vec_each (&probe->args, arg) {
		const struct nw_named_arg *field = find_arg(fields, arg->name);
		strings |= field && is_user_string(probe, arg, &field->type);
	}
	if (!strings)
		return 0;
	nw_vec_each (&probe->args, arg) {
		const struct nw_named_arg *field = find_arg(fields, arg->name);
		struct nw_call_arg *slot = nw_vec_add(&probe->call_args);
		if (!slot)
			return nw_no_memory(err);
		if (!field || field->type.base == NW_TYPE_STRING || field->type.array ||
		    is_call_number(field->name))
			return nw_fail_usage(
				err,
				"'%s': '%s' is no argument of the system call, and cannot be had together with a string of the call's",
				spec->text, arg->name);
		nw_cleanup(nw_free_ptr) char *copy = nw_text("__%s_val", arg->name);
		if (!copy)
			return nw_no_memory(err);
		*slot = (struct nw_call_arg){.type = field->type,
					     .copied = find_arg(fields, copy) != NULL};
		nw_vec_each (fields, before)
			slot->number += before < field && !is_call_number(before->name);
	}
	return 0;
}

/* Adds the fields that the spec names. If it matches several events, some may lack a field. Each record of an
 * EventHeader event has fields of its own, so every name is accepted. */
static int add_named(const struct nw_spec *spec, const nw_named_args *fields, bool all,
		     struct nw_probe *probe, struct nw_error *err)
{
	const bool names_own = find_arg(fields, NW_EVENTHEADER_FLAGS);
	int ret = 0;

	probe->has_args = true;
	/* If several specs name arguments, the last one counts. */
	nw_vec_free(&probe->args);
	nw_vec_each (&spec->args, arg) {
		const struct nw_named_arg *field = find_arg(fields, arg->name);
		bool common = !field && (names_own || is_common(arg->name));
		if (!field && !common && all)
			return no_field(spec, arg, fields, err);
		if (!field && !common)
			continue;
		ret = common ? 0 : check_type(spec, probe, arg, &field->type, err);
		if (ret == 0)
			ret = add_field(probe, arg, err);
		if (ret == 0 && names_own && field)
			keep_text(&field->type, &probe->args);
		if (ret < 0)
			break;
	}
	return ret < 0 ? ret : add_call_args(spec, fields, probe, err);
}

/* Adds all fields with the kernel's types; of an EventHeader event its name, and all fields that a record has. */
static int add_all(const nw_named_args *fields, struct nw_probe *probe,
		   struct nw_error *err)
{
	const bool names_own = find_arg(fields, NW_EVENTHEADER_FLAGS);
	int ret = 0;

	nw_vec_each (fields, field) {
		struct nw_named_arg arg = *field;
		if (names_own && strcmp(field->name, NW_EVENTHEADER_EVENT) != 0 &&
		    strcmp(field->name, NW_EVENTHEADER_FIELDS) != 0)
			continue;
		arg.type = (struct nw_type){0};
		if (ret == 0)
			ret = add_field(probe, &arg, err);
		if (ret == 0 && names_own)
			keep_text(&field->type, &probe->args);
	}
	return ret;
}

/* Is each argument of the spec a field of at least one matching event? */
static int check_named(const struct nw_spec *spec, const struct nw_selection *selection,
		       struct nw_error *err)
{
	nw_vec_each (&spec->args, arg) {
		bool found = false;
		nw_vec_each (&selection->probes, probe)
			found |= (*probe)->kind == NW_SPEC_TRACEPOINT &&
				 nw_spec_matches(spec, (*probe)->provider,
						 (*probe)->name) &&
				 find_arg(&(*probe)->args, arg->name);
		if (!found)
			return nw_fail_usage(err,
					     "'%s': none of the events has a field '%s'",
					     spec->text, arg->name);
	}
	return 0;
}

/* ---- events ------------------------------------------------------------------------- */

static int add_event(const struct nw_spec *spec, const struct nw_scope *scope,
		     const char *system, const char *event, struct nw_selection *selection,
		     struct nw_error *err)
{
	bool exact = !nw_has_glob(spec->provider) && !nw_has_glob(spec->name);
	struct nw_probe *probe = make_probe(system, event, selection);
	nw_named_args fields = {0};
	int ret = 0;

	if (!probe)
		return nw_no_memory(err);
	bool all = !spec->has_args && scope->want_operands && !probe->args.count;
	if ((!spec->has_args && !all) || (all && probe->has_args))
		return 0;
	if (scope->events)
		ret = scope->events->fields(scope->events->arg, probe->provider,
					    probe->name, &fields, err);
	if (ret == 0 && all)
		ret = add_all(&fields, probe, err);
	else if (ret ==
		 0) /* without a list of fields, those that the user names are accepted */
		ret = add_named(spec, scope->events ? &fields : &spec->args, exact, probe,
				err);
	nw_vec_free(&fields);
	return ret;
}

static int no_user_event(const struct nw_spec *spec, const struct nw_scope *scope,
			 const struct nw_near *near, struct nw_error *err)
{
	int ret = scope->events->user_events(scope->events->arg, err);

	if (ret < 0)
		return nw_error_context(err, "'%s'", spec->text);
	nw_fail(err, ENOENT, "no program has registered an event '%s'", spec->text);
	nw_near_hint(
		near,
		"an event is there while a program that has registered it runs: start the program first; `nopwatch list 'user_events:*'` lists the events",
		err);
	return -ENOENT;
}

/* Adds each event that the spec matches. */
static int match_names(const struct nw_spec *spec, const struct nw_scope *scope,
		       const nw_strings *names, struct nw_selection *selection,
		       struct nw_error *err)
{
	struct nw_near near = {0};
	bool matched = false;

	nw_vec_each (names, name) {
		char *event = strchr(*name, ':');
		if (!event)
			continue;
		*event++ = '\0';
		if (!nw_spec_matches(spec, *name, event)) {
			nw_near_consider(&near, spec,
					 strcmp(*name, NW_USER_EVENTS) == 0 ? ""
									    : "tracepoint:",
					 *name, event);
			continue;
		}
		matched = true;
		int ret = add_event(spec, scope, *name, event, selection, err);
		if (ret < 0)
			return ret;
	}
	if (matched)
		return check_named(spec, selection, err);
	if (strcmp(spec->provider, NW_USER_EVENTS) == 0)
		return no_user_event(spec, scope, &near, err);
	nw_fail(err, ENOENT, "the kernel has no event '%s'", spec->text);
	nw_near_hint(&near, "available_events in tracefs lists those there are", err);
	return -ENOENT;
}

int nw_match_events(const struct nw_spec *spec, const struct nw_scope *scope,
		    struct nw_selection *selection, struct nw_error *err)
{
	nw_strings names = {0};
	bool glob = nw_has_glob(spec->provider) || nw_has_glob(spec->name);

	nw_vec_each (&spec->args, arg)
		if (!*arg->name)
			return nw_fail_usage(
				err,
				"'%s': a tracepoint's fields have names of their own: one is empty",
				spec->text);
	if (glob && !scope->events)
		return nw_fail_usage(
			err,
			"'%s': which events the kernel has cannot be told here: name them one by one",
			spec->text);
	if (!scope->events)
		return add_event(spec, scope, spec->provider, spec->name, selection, err);
	int ret = scope->events->names(scope->events->arg, &names, err);
	if (ret == 0)
		ret = match_names(spec, scope, &names, selection, err);
	nw_strings_free(&names);
	return ret;
}
