// SPDX-License-Identifier: MIT
/*
 * Events of ours that take the place of a system call's event, which has addresses of strings but not the strings. All
 * arguments of a hit are in one event, because the kernel runs the events of such a place in another order than those of
 * a program's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"

enum {
	/* Strings are fetched no shorter than this to fit into one event. */
	LEAST_STRING = 32
};

static void free_sources(struct nw_planned_point *planned)
{
	nw_vec_each (&planned->args, source)
		nw_vec_free(&source->chunks);
	nw_vec_free(&planned->args);
}

/* Spells the fetch of a number, whose place is a register, a word of memory, or a field. */
static void make_number(const struct nw_type *type, const char *place, bool hex,
			struct nw_fetch *out)
{
	const char letter = type->base == NW_TYPE_SIGNED       ? 's'
			    : type->base == NW_TYPE_HEX && hex ? 'x'
							       : 'u';

	out->field = (struct nw_type){.base = type->base, .bits = type->bits};
	if (snprintf(out->text, sizeof(out->text), "%s:%c%u", place, letter,
		     type->bits & 127) >= (int)sizeof(out->text))
		out->problem = "longer than the 63 characters a fetch argument can have";
}

/* An event probe takes an address for one of the kernel's, unless it is said to be the program's. */
static void make_string(const char *place, struct nw_fetch *out)
{
	const char *type = *place == '$' ? "ustring" : "string";

	snprintf(out->place, sizeof(out->place), "%s", place);
	out->place_bits = sizeof(long) * 8;
	out->field = (struct nw_type){.base = NW_TYPE_STRING, .bits = 8};
	snprintf(out->text, sizeof(out->text), "+0(%.40s):%s", place, type);
}

/* Is the event a kprobe in the function of the call? */
static bool is_in_function(const struct nw_probe *probe)
{
	return probe->attached && !strchr(probe->attached, '.');
}

/* Before Linux 4.3 the kernel's own string ends without a word in front of a page that is not in memory; arrays (4.20) tell that it is newer. */
bool nw_is_path_of_call(const struct nw_probe *probe, size_t arg,
			const struct nw_caps *caps)
{
	/* as include/linux/syscalls.h calls what getname() and strndup_user() read, up to PATH_MAX */
	static const char *const names[] = {
		"filename", "pathname",	     "path",	    "name",	   "oldname",
		"newname",  "from_pathname", "to_pathname", "dev_name",	   "dir_name",
		"new_root", "put_old",	     "special",	    "specialfile", "library"};

	if (!probe->attached || !caps->arrays || arg >= probe->args.count ||
	    *probe->args.item[arg].length)
		return false;
	for (size_t i = 0; i < NW_COUNT(names); i++)
		if (strcmp(probe->args.item[arg].name, names[i]) == 0)
			return true;
	return false;
}

static int make_sources(const struct nw_probe *probe, const struct nw_caps *caps,
			struct nw_planned_point *planned)
{
	for (size_t i = 0; i < probe->args.count; i++) {
		const struct nw_named_arg *arg = &probe->args.item[i];
		struct nw_source *source = nw_vec_add(&planned->args);
		if (!source)
			return -ENOMEM;
		source->field = source->high_field = -1;
		if (arg->made || i >= probe->places.count)
			continue;
		const struct nw_type *type = &probe->call_args.item[i].type;
		source->fetch.shown = arg->type.base == NW_TYPE_DEFAULT ? *type : arg->type;
		source->in_kernel = is_in_function(probe) ||
				    !probe->call_args.item[i].copied;
		if (arg->type.base == NW_TYPE_STRING)
			make_string(probe->places.item[i], &source->fetch);
		else
			make_number(type, probe->places.item[i], caps->hex, &source->fetch);
		const int length = *arg->length ? nw_arg_find(probe, arg->length) : -1;
		source->counted = length >= 0;
		source->length = length >= 0 ? (uint32_t)length : 0;
	}
	return 0;
}

/* Lays the arguments out in one event: if they do not fit, with shorter strings, which are cut then. */
static int lay_out(const struct nw_plan_options *options, const struct nw_probe *probe,
		   struct nw_planned_point *planned, nw_layouts *parts)
{
	struct nw_plan_options tried = *options;
	/* A load of these kernels may lose what is in front of a page that cannot be read. */
	tried.caps.partial = false;
	tried.string_size = options->string_size ? options->string_size : NW_STRING_SIZE;
	for (;;) {
		const struct nw_laying laying = {.options = &tried,
						 .probe = probe,
						 .planned = planned,
						 .big_endian = __BYTE_ORDER__ ==
							       __ORDER_BIG_ENDIAN__};
		int ret = make_sources(probe, &tried.caps, planned);
		if (ret == 0)
			ret = nw_lay_out(&laying, parts);
		if (ret < 0 || parts->count == 1 || tried.string_size <= LEAST_STRING)
			return ret;
		nw_layouts_free(parts);
		free_sources(planned);
		tried.string_size = tried.string_size * 3 / 4 / 8 * 8;
	}
}

/* Arguments that do not fit, even with short strings, are left out. */
static void drop_others(struct nw_planned_point *planned)
{
	planned->parts = 1;
	nw_vec_each (&planned->args, source) {
		bool other = source->part > 0;
		nw_vec_each (&source->chunks, chunk)
			other |= chunk->part > 0;
		if (!other)
			continue;
		nw_vec_free(&source->chunks);
		source->part = 0;
		source->field = -1;
		source->fetch.problem = "one of too many strings";
	}
}

int nw_plan_attached(struct nw_plan *plan, const struct nw_plan_options *options,
		     const struct nw_probe *probe, struct nw_planned_point *planned)
{
	const uint32_t number = (uint32_t)plan->points.count - 1;
	nw_layouts parts = {0};
	struct nw_buf shape = {0};

	int ret = lay_out(options, probe, planned, &parts);
	if (ret == 0)
		drop_others(planned);
	nw_buf_printf(&shape, "a #%u", number); /* no other place has this shape */
	struct nw_event *event = ret == 0 && !shape.failed
					 ? nw_plan_event(plan, nw_buf_str(&shape), false)
					 : NULL;
	char *fetches = event ? nw_buf_take(&parts.item[0].fetches) : NULL;
	if (fetches) {
		snprintf(event->attached, sizeof(event->attached), "%s", probe->attached);
		event->fields = parts.item[0].fields;
		parts.item[0].fields = (nw_strings){0};
		ret = nw_plan_place(plan, event, number, 0, fetches);
	} else if (ret == 0) {
		ret = -ENOMEM;
	}
	nw_buf_free(&shape);
	nw_layouts_free(&parts);
	return ret;
}
