// SPDX-License-Identifier: MIT
/* Decides whether the kernel can count by itself, and makes the triggers: see kernel_counts.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/spans/pairs.h"

#include "kernel_counts.h"

enum {
	LATENCY_BITS = 35, /* the last range also has what is longer than 34 s */
	/* Entries of all maps together. The kernel makes all entries of a map with it, about 500 bytes each. */
	MOST_ROOM = 1 << 20,
	MOST_SUM = 64 * MOST_ROOM
};

/* ---- what is refused ---------------------------------------------------------------- */

static int refuse(struct nw_error *err, const char *what)
{
	nw_fail(err, ENOTSUP, "--engine=kernel: %s", what);
	nw_error_hint(err, "--engine=stream reads each hit, and answers everything");
	return -ENOTSUP;
}

static int refuse_span(const struct nw_span_def *def, const char *why, struct nw_error *err)
{
	nw_fail(err, ENOTSUP, "--engine=kernel cannot time the span %s: %s", def->name,
		why);
	nw_error_hint(err, "--engine=stream reads each hit, and answers everything");
	return -ENOTSUP;
}

/* Returns why the options need each hit; NULL: they do not. */
static const char *needs_hits(const struct nw_measure *m, const struct nw_request *request)
{
	const struct nw_measure_options *options = &m->options;
	const struct {
		bool is;
		const char *why;
	} reasons[] = {
		{request->filter, "--filter looks at each hit"},
		{request->max_rate, "--max-rate looks at each hit"},
		{request->stack_count, "--stack copies the stack of each hit"},
		{options->states, "--states looks at each hit and each switch"},
		{options->net, "--net takes the probe overhead off each span"},
		{nw_slower_asked(&options->slower),
		 "--slower and --slowest look at each span"},
		{options->open, "--open looks at each start"},
		{options->bins && !options->spare_bins,
		 "this format shows counts by time, which the kernel does not keep"},
		{options->count && !options->interval_ns,
		 "-n counts hits as they come; with -i it counts intervals"},
		{request->tid_count > 0, "--tid looks at each hit"},
		{request->cgroups != NULL,
		 "--cgroup, --unit and --container look at each hit"},
	};

	for (size_t i = 0; i < NW_COUNT(reasons); i++)
		if (reasons[i].is)
			return reasons[i].why;
	return NULL;
}

static int check_span(const struct nw_kernel_counts *c, const struct nw_span_def *def,
		      struct nw_error *err)
{
	const char *why = NULL;
	bool by_thread = false;

	nw_vec_each (&c->by->keys, key)
		by_thread |= key->what != NW_BY_ARG;

	if (def->unit_ns)
		why = "it is measured by the program itself";
	else if (def->outer)
		why = "it is the outermost of nested spans (nest=outer)";
	else if (def->goroutines)
		why = "its calls are told apart by goroutine";
	else if (def->starts.count != 1)
		why = "it begins at several probes";
	else if (nw_kernel_counts_keyed(def) && by_thread)
		why = "it is grouped by the thread of its start, which is not known at an end that is found by an argument";
	return why ? refuse_span(def, why, err) : 0;
}

static int check_by(struct nw_kernel_counts *c, struct nw_error *err)
{
	if (c->by->keys.count > 2)
		return refuse(err, "--by takes up to two keys");
	nw_vec_each (&c->by->keys, key) {
		bool is_arg = key->what == NW_BY_ARG;
		bool plain = is_arg && !key->function && !key->member.path;
		if (!plain && key->what != NW_BY_TID && key->what != NW_BY_PID &&
		    key->what != NW_BY_COMM)
			return refuse(
				err,
				"--by takes tid, pid, comm and one argument that is a number");
		if (is_arg && c->by_name)
			return refuse(
				err,
				"--by takes one argument: a row has three keys, and two of them are the thread and the value");
		if (is_arg)
			c->by_name = key->arg_name;
		c->by_thread |= !is_arg;
		c->keeps_ended |= !is_arg;
	}
	return 0;
}

/* ---- events and fields -------------------------------------------------------------- */

/* Is it an event of this probe? *other: it is of other probes, too, has a part of its arguments, or is the kernel's. */
static bool is_event_of(const struct nw_plan *plan, const struct nw_event *event,
			uint32_t probe, bool *other)
{
	bool has = false;

	*other = *event->system || *event->attached;
	nw_vec_each (&event->places, place) {
		bool is = plan->points.item[place->planned].probe == probe;
		has |= is;
		*other |= !is || place->part;
	}
	return has;
}

/* Returns an event of a probe, each of which has all of its arguments: the first (0), the second, ...; NULL: there are no more. */
static const struct nw_event *event_of(const struct nw_plan *plan, uint32_t probe,
				       size_t number)
{
	bool other;

	nw_vec_each (&plan->events, slot)
		if (is_event_of(plan, *slot, probe, &other) && !number--)
			return *slot;
	return NULL;
}

static bool is_number(const struct nw_fetch *fetch)
{
	const enum nw_base_type base = fetch->field.base;

	return !fetch->is_constant && !fetch->problem && !fetch->scale &&
	       !fetch->sign_bits && !fetch->field.array && !fetch->shown.array &&
	       fetch->shown.bits == fetch->field.bits &&
	       (fetch->shown.base == NW_TYPE_SIGNED) == (base == NW_TYPE_SIGNED) &&
	       (base == NW_TYPE_SIGNED || base == NW_TYPE_UNSIGNED ||
		base == NW_TYPE_HEX) &&
	       fetch->shown.base != NW_TYPE_FLOAT;
}

/* Has each event of the probe the field, by a short name? A plan that was read may come from anywhere. */
static bool has_field(const struct nw_plan *plan, uint32_t probe, int field)
{
	enum {
		NAME_MOST = 16
	};
	bool other;

	nw_vec_each (&plan->events, event)
		if (is_event_of(plan, *event, probe, &other) &&
		    ((size_t)field >= (*event)->fields.count ||
		     strlen((*event)->fields.item[field]) > NAME_MOST))
			return false;
	return true;
}

const struct nw_source *nw_kernel_counts_source(const struct nw_plan *plan, uint32_t probe,
						size_t arg)
{
	const struct nw_source *found = NULL;

	nw_vec_each (&plan->points, point) {
		if (point->probe != probe)
			continue;
		const struct nw_source *source = arg < point->args.count
							 ? &point->args.item[arg]
							 : NULL;
		if (!source || source->part || source->field < 0 ||
		    source->high_field >= 0 || source->chunks.count || source->callers ||
		    !is_number(&source->fetch) ||
		    (found && (found->field != source->field ||
			       found->fetch.field.bits != source->fetch.field.bits ||
			       found->fetch.shown.base != source->fetch.shown.base)))
			return NULL;
		found = source;
	}
	return found && has_field(plan, probe, found->field) ? found : NULL;
}

static const char *field_of(const struct nw_kernel_counts *c, uint32_t probe, size_t number,
			    const struct nw_source *source)
{
	const struct nw_event *event = event_of(&c->run->result->plan, probe, number);

	return event->fields.item[source->field];
}

static int refuse_arg(const struct nw_kernel_counts *c, uint32_t probe, const char *name,
		      struct nw_error *err)
{
	nw_fail(err, ENOTSUP,
		"--engine=kernel: the kernel does not have '%s' of %s as a number that it can count by",
		name, c->run->result->selection.probes.item[probe]->label);
	nw_error_hint(err, "--engine=stream reads each hit, and answers everything");
	return -ENOTSUP;
}

/* Finds the argument of a probe that groups; *out is NULL if it has none of that name. */
static int find_by(const struct nw_kernel_counts *c, uint32_t probe,
		   const struct nw_source **out, struct nw_error *err)
{
	const struct nw_run_result *result = c->run->result;
	int arg = c->by_name ? nw_arg_find(result->selection.probes.item[probe], c->by_name)
			     : -1;

	*out = arg < 0 ? NULL : nw_kernel_counts_source(&result->plan, probe, (size_t)arg);
	return arg >= 0 && !*out ? refuse_arg(c, probe, c->by_name, err) : 0;
}

/* ---- maps --------------------------------------------------------------------------- */

static int add_file(struct nw_kernel_counts *c, bool synthetic, const char *event,
		    size_t *out)
{
	struct nw_counted_file *file = nw_vec_add(&c->files);

	if (!file)
		return -ENOMEM;
	*file = (struct nw_counted_file){synthetic, strdup(event)};
	*out = c->files.count - 1;
	return file->event ? 0 : -ENOMEM;
}

/* Writes the keys that tell thread and group, each with a comma behind it, and sets their places in the map. */
static void keys_before(const char *by, bool thread, struct nw_counted_map *map,
			char out[64])
{
	int count = 0;

	map->thread = thread ? count++ : -1;
	map->by = by ? count++ : -1;
	map->value = count;
	snprintf(out, 64, "%s%s%s", thread ? "common_pid," : "", by ? by : "",
		 by ? "," : "");
}

/* ---- probes ------------------------------------------------------------------------- */

static int add_arg(struct nw_kernel_counts *c, uint32_t probe, size_t number, size_t arg,
		   const char *by, struct nw_error *err)
{
	const struct nw_run_result *result = c->run->result;
	const struct nw_source *source = nw_kernel_counts_source(&result->plan, probe, arg);
	struct nw_counted_map map = {.what = NW_COUNTED_ARG,
				     .file = c->event_file[probe] + number,
				     .probe = probe,
				     .arg = arg};
	char before[64], name[NW_ARG_NAME];

	if (!source) {
		nw_arg_name(result->selection.probes.item[probe], arg, name);
		return refuse_arg(c, probe, name, err);
	}
	const char *field = field_of(c, probe, number, source);
	const bool is_group = by && strcmp(by, field) == 0;
	keys_before(is_group ? NULL : by, c->by_thread, &map, before);
	map.is_signed = source->fetch.field.base == NW_TYPE_SIGNED;
	if (is_group)
		map.by = map.value;
	const struct nw_kernel_value value = {.name = field,
					      .before = before,
					      .bits = source->fetch.field.bits,
					      .is_signed = map.is_signed,
					      .exact = is_group};
	return nw_kernel_counts_add_ranges(c, &map, &value) < 0 ? nw_no_memory(err) : 0;
}

/* Is the argument one that the user wants summarised? */
static bool is_asked(const struct nw_measure *m, const struct nw_probe *probe, size_t arg)
{
	if (probe->has_args && arg < probe->named)
		return true;
	nw_vec_each (&m->hists, hist)
		if (nw_arg_find(probe, hist->name) == (int)arg)
			return true;
	return false;
}

static int add_event(struct nw_kernel_counts *c, uint32_t probe, struct nw_error *err)
{
	const struct nw_run_result *result = c->run->result;
	const struct nw_probe *selected = result->selection.probes.item[probe];
	const struct nw_event *event = event_of(&result->plan, probe, 0);
	bool other = false;

	if (nw_probe_in_kernel(selected))
		return refuse(err,
			      "it counts probes of programs, not events of the kernel");
	for (; event && !other; event = event_of(&result->plan, probe, c->events[probe])) {
		size_t file;
		if (add_file(c, false, event->name, &file) < 0)
			return nw_no_memory(err);
		(void)is_event_of(&result->plan, event, probe, &other);
		c->event_file[probe] = file - c->events[probe]++;
	}
	if (c->events[probe] && !other)
		return 0;
	nw_fail(err, ENOTSUP,
		"--engine=kernel: the arguments of %s differ from site to site, or are strings",
		selected->label);
	nw_error_hint(err, "--engine=stream reads each hit, and answers everything");
	return -ENOTSUP;
}

/* Adds the maps of one of a probe's events. */
static int add_probe(struct nw_kernel_counts *c, const struct nw_measure *m, uint32_t probe,
		     size_t number, struct nw_error *err)
{
	const struct nw_probe *selected = c->run->result->selection.probes.item[probe];
	struct nw_counted_map map = {.what = NW_COUNTED_HITS,
				     .file = c->event_file[probe] + number,
				     .probe = probe};
	const struct nw_source *by;
	char keys[64];
	int ret = find_by(c, probe, &by, err);

	if (ret < 0)
		return ret;
	const char *field = by ? field_of(c, probe, number, by) : NULL;
	keys_before(field, true, &map, keys);
	keys[strlen(keys) - 1] = '\0';
	map.value = -1;
	if (nw_kernel_counts_add_map(c, &map, keys, "", "") < 0)
		return nw_no_memory(err);
	for (size_t arg = 0; ret == 0 && arg < selected->args.count; arg++)
		if (is_asked(m, selected, arg))
			ret = add_arg(c, probe, number, arg, field, err);
	return ret;
}

/* ---- spans -------------------------------------------------------------------------- */

/* How the group of a span reaches its synthetic event. */
struct passed {
	uint32_t probe;	   /* whose argument it is */
	char type[16];	   /* of the field "by", "u32"; "": there is none */
	char start[32];	   /* what the start's trigger keeps: ",by0=a1" */
	char end[32];	   /* what the end's trigger reads: ",of0=$by0" */
	char argument[24]; /* of trace(): ",$of0" or ",a1" */
};

static void type_of(const struct nw_source *source, char out[16])
{
	snprintf(out, 16, "%c%u", source->fetch.field.base == NW_TYPE_SIGNED ? 's' : 'u',
		 source->fetch.field.bits);
}

/* A span's group is the start's, or the end's if the start does not tell it. */
static int pass_group(const struct nw_kernel_counts *c, uint32_t span, uint32_t start,
		      uint32_t end, struct passed *out, struct nw_error *err)
{
	const struct nw_source *by;
	int ret = find_by(c, start, &by, err);

	*out = (struct passed){.probe = start};
	if (ret == 0 && by) {
		type_of(by, out->type);
		snprintf(out->start, sizeof(out->start), ",by%u=%.16s", span,
			 field_of(c, start, 0, by));
		snprintf(out->end, sizeof(out->end), ",of%u=$by%u", span, span);
		snprintf(out->argument, sizeof(out->argument), ",$of%u", span);
		return 0;
	}
	if (ret == 0)
		ret = find_by(c, end, &by, err);
	if (ret == 0 && by) {
		out->probe = end;
		type_of(by, out->type);
		snprintf(out->argument, sizeof(out->argument), ",%.16s",
			 field_of(c, end, 0, by));
	}
	return ret;
}

/* Adds the synthetic event of a span's latencies, and its histogram. */
static int add_latency(struct nw_kernel_counts *c, uint32_t span,
		       const struct passed *passed, char name[NW_MAX_NAME + 1])
{
	const char *group = c->run->result->plan.group, *type = passed->type;
	struct nw_counted_map map = {
		.what = NW_COUNTED_LATENCY, .span = span, .probe = passed->probe};
	char before[64];
	const struct nw_kernel_value value = {
		.name = "lat", .before = before, .bits = c->buckets ? LATENCY_BITS : 64};

	snprintf(name, NW_MAX_NAME + 1, "%.50s_%u", group, span + 1);
	if (nw_strings_addf(&c->triggers.synthetic, "%s u64 lat%s%s%s", name,
			    *type ? "; " : "", type, *type ? " by" : "") < 0 ||
	    add_file(c, true, name, &map.file) < 0)
		return -ENOMEM;
	keys_before(*type ? "by" : NULL, c->by_thread, &map, before);
	return nw_kernel_counts_add_ranges(c, &map, &value);
}

/* The fields by which a start and its ends find each other. */
struct key {
	char fields[64]; /* "a0", "common_pid,a1" */
	char types
		[40]; /* which are equal if the kernel takes their values for the same keys */
};

/* Adds a part of a key. */
static int add_part(const struct nw_kernel_counts *c, const struct nw_span_def *def,
		    uint32_t probe, size_t number, const char *name, struct key *out,
		    struct nw_error *err)
{
	const struct nw_run_result *result = c->run->result;
	const enum nw_span_key kind = nw_span_key_kind(name);
	const size_t fields = strlen(out->fields), types = strlen(out->types);
	const char *field = "common_pid";
	char type[16] = "pid";

	if (kind == NW_KEY_PID || kind == NW_KEY_CPU)
		return refuse_span(
			def,
			kind == NW_KEY_PID
				? "it is paired by process, and an event has the thread only"
				: "it is paired by CPU, for which kernels have different fields",
			err);
	if (kind == NW_KEY_ARG) {
		const int arg = nw_arg_find(result->selection.probes.item[probe], name);
		const struct nw_source *source = arg < 0 ? NULL
							 : nw_kernel_counts_source(
								   &result->plan, probe,
								   (size_t)arg);
		if (!source)
			return refuse_arg(c, probe, name, err);
		field = field_of(c, probe, number, source);
		type_of(source, type);
	}
	snprintf(out->fields + fields, sizeof(out->fields) - fields, "%s%.16s",
		 fields ? "," : "", field);
	snprintf(out->types + types, sizeof(out->types) - types, "%s,", type);
	return 0;
}

/* The key of a call is its thread and its frame. */
static int key_of_frame(const struct nw_kernel_counts *c, uint32_t probe, size_t number,
			struct key *out)
{
	const struct nw_plan *plan = &c->run->result->plan;
	char level[64];

	nw_event_level(plan, event_of(plan, probe, number), level);
	snprintf(out->fields, sizeof(out->fields), "common_pid,%.50s", level);
	snprintf(out->types, sizeof(out->types), "pid,frame,");
	return 0;
}

/* Finds the fields of the key of an event of a span. */
static int find_key(const struct nw_kernel_counts *c, const struct nw_span_def *def,
		    uint32_t probe, size_t number, bool is_end, struct key *out,
		    struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(
		is_end && *def->end_key_name ? def->end_key_name : def->key_name);
	char *rest = copy, *name;
	int ret = copy ? 0 : nw_no_memory(err), parts = 0;

	*out = (struct key){.fields = ""};
	if (c->framed[def - c->spans->item])
		return key_of_frame(c, probe, number, out);
	while (ret == 0 && (name = strsep(&rest, "+"))) {
		if (++parts > NW_KERNEL_MAP_KEYS)
			return refuse_span(
				def,
				"its key has more than the three parts that a row may have",
				err);
		ret = add_part(c, def, probe, number, name, out, err);
	}
	return ret;
}

/* Adds a map of all hits of an end by its key, with or without a start. */
static int add_all_ends(struct nw_kernel_counts *c, uint32_t span, uint32_t end,
			size_t file, size_t number, const char *fields)
{
	struct nw_counted_map map = {.what = NW_COUNTED_ALL_ENDS,
				     .large = true,
				     .file = file,
				     .probe = end,
				     .span = span,
				     .thread = -1,
				     .by = -1,
				     .value = -1};

	/* The variable tells it from the map of an argument with the same keys. */
	snprintf(map.mark, sizeof(map.mark), ":all%u_%zu=", span, number);
	nw_cleanup(nw_free_ptr) char *text = nw_text("%s%.*s", map.mark,
						     (int)strcspn(fields, ","), fields);
	return text ? nw_kernel_counts_add_map(c, &map, fields, text, "") : -ENOMEM;
}

/* Adds the trigger of an event of a span's end, which takes the start's variable, and passes the difference on. */
static int add_end(struct nw_kernel_counts *c, uint32_t span, uint32_t end, size_t file,
		   size_t number, const char *fields, const char *synthetic,
		   const struct passed *passed)
{
	const bool keyed = nw_kernel_counts_by_key(c, span);
	const struct nw_plan *plan = &c->run->result->plan;
	const struct nw_event *start = event_of(plan, c->spans->item[span].starts.item[0],
						0);
	struct nw_counted_map map = {.what = NW_COUNTED_ENDS,
				     .large = keyed,
				     .file = file,
				     .probe = end,
				     .span = span,
				     .by = -1,
				     .value = -1};

	snprintf(map.mark, sizeof(map.mark), ":lat%u_%zu=", span, number);
	nw_cleanup(nw_free_ptr) char *text = nw_text(
		":lat%u_%zu=common_timestamp-$at%u%s:clock=mono:onmatch(%s.%s).%s($lat%u_%zu%s)",
		span, number, span, passed->end, plan->group, start->name, synthetic, span,
		number, passed->argument);
	int ret = text ? nw_kernel_counts_add_map(c, &map, fields, text, "") : -ENOMEM;
	return ret < 0 || !keyed ? ret : add_all_ends(c, span, end, file, number, fields);
}

static int add_start(struct nw_kernel_counts *c, uint32_t span, const char *fields,
		     const struct passed *passed)
{
	const uint32_t start = c->spans->item[span].starts.item[0];
	struct nw_counted_map map = {.what = NW_COUNTED_STARTS,
				     .large = nw_kernel_counts_by_key(c, span),
				     .file = c->event_file[start],
				     .probe = start,
				     .span = span,
				     .thread = -1,
				     .by = -1,
				     .value = -1};

	snprintf(map.mark, sizeof(map.mark), ":at%u=", span);
	nw_cleanup(nw_free_ptr) char *text = nw_text("%scommon_timestamp%s:clock=mono",
						     map.mark, passed->start);
	return text ? nw_kernel_counts_add_map(c, &map, fields, text, "") : -ENOMEM;
}

/* Adds the triggers of all events of a span's ends. */
static int add_ends(struct nw_kernel_counts *c, uint32_t span, const struct key *start,
		    const char *synthetic, const struct passed *passed,
		    struct nw_error *err)
{
	const struct nw_span_def *def = &c->spans->item[span];
	size_t number = 0;
	struct key key;

	nw_vec_each (&def->ends, end)
		for (size_t i = 0; i < c->events[*end]; i++) {
			int ret = find_key(c, def, *end, i, true, &key, err);
			if (ret == 0 && strcmp(key.types, start->types) != 0)
				ret = refuse_span(
					def,
					"its key is of another type at the end than at the start",
					err);
			if (ret < 0)
				return ret;
			if (add_end(c, span, *end, c->event_file[*end] + i, number++,
				    key.fields, synthetic, passed) < 0)
				return nw_no_memory(err);
		}
	return 0;
}

/* A start is kept before an end can take it. */
static int add_span(struct nw_kernel_counts *c, uint32_t span, struct nw_error *err)
{
	const struct nw_span_def *def = &c->spans->item[span];
	char synthetic[NW_MAX_NAME + 1];
	struct passed passed = {.type = ""};
	struct key key;
	int ret = pass_group(c, span, def->starts.item[0], def->ends.item[0], &passed, err);

	if (ret == 0)
		ret = find_key(c, def, def->starts.item[0], 0, false, &key, err);
	if (ret < 0)
		return ret;
	if (add_latency(c, span, &passed, synthetic) < 0 ||
	    add_start(c, span, key.fields, &passed) < 0)
		return nw_no_memory(err);
	return add_ends(c, span, &key, synthetic, &passed, err);
}

/* Do all events of these probes tell the frame? */
static bool tell_frame(const struct nw_kernel_counts *c, const nw_vec_u32 *probes)
{
	const struct nw_plan *plan = &c->run->result->plan;
	char level[64];

	nw_vec_each (probes, probe)
		for (size_t i = 0; i < c->events[*probe]; i++)
			if (!nw_event_level(plan, event_of(plan, *probe, i), level))
				return false;
	return true;
}

/* Is the span to be paired by thread and frame? A span that the user says does not nest is not: a thread's starts need one row. */
static int find_framed(const struct nw_kernel_counts *c, const struct nw_span_def *def)
{
	int framed = def->call && !nw_kernel_counts_keyed(def)
			     ? 1
			     : nw_span_is_framed(&c->run->result->selection, def);

	return framed > 0 ? tell_frame(c, &def->starts) && tell_frame(c, &def->ends)
			  : framed;
}

/* A variable belongs to one event: of several, an end would not know which start was the last. */
static int check_start(const struct nw_kernel_counts *c, const struct nw_span_def *def,
		       struct nw_error *err)
{
	if (c->events[def->starts.item[0]] == 1)
		return 0;
	nw_fail(err, ENOTSUP,
		"--engine=kernel cannot time the span %s: it begins at several sites, each of which is an event of its own in a script, and on kernels without multi_site (before Linux 5.4)",
		def->name);
	nw_error_hint(err, "--engine=stream reads each hit, and answers everything");
	return -ENOTSUP;
}

/* Several ends must tell the same group, since they pass it to one event. */
static int check_ends(const struct nw_kernel_counts *c, const struct nw_span_def *def,
		      struct nw_error *err)
{
	if (c->by_name && def->ends.count > 1 &&
	    nw_arg_find(c->run->result->selection.probes.item[def->starts.item[0]],
			c->by_name) < 0)
		return refuse(
			err,
			"--by takes an argument of the start if a span has several ends");
	return 0;
}

/* ---- all ---------------------------------------------------------------------------- */

/* The maps of histograms with equal steps would begin elsewhere. */
static int check_asked(const struct nw_measure *m, const struct nw_request *request,
		       struct nw_error *err)
{
	const char *why = needs_hits(m, request);

	nw_vec_each (&m->hists, hist)
		if (!why && hist->shape.buckets)
			why = "--hist ARG:MIN:MAX:STEP looks at each hit; --hist ARG shows powers of two";
	return why ? refuse(err, why) : 0;
}

static int check_room(const struct nw_kernel_counts *c, struct nw_error *err)
{
	if (c->room <= MOST_ROOM)
		return 0;
	nw_fail(err, ENOTSUP,
		"--engine=kernel: the maps would take %zu MB of memory in the kernel, and may take 512 MB",
		c->room >> 11);
	nw_error_hint(err, "--engine=stream needs no maps; or name fewer probes");
	return -ENOTSUP;
}

int nw_kernel_counts_open(const struct nw_measure *m, struct nw_run *run,
			  struct nw_kernel_counts *out, struct nw_error *err)
{
	const struct nw_run_result *result = run->result;
	const size_t probes = result->selection.probes.count;

	*out = (struct nw_kernel_counts){
		.run = run,
		.spans = &m->spans,
		.by = m->by,
		.buckets = nw_run_counts_buckets(run),
		.by_thread = result->restricted,
		.keeps_ended = result->restricted,
		.hits = calloc(probes + 1, sizeof(*out->hits)),
		.others = calloc(probes + 1, sizeof(*out->others)),
		.event_file = calloc(probes + 1, sizeof(*out->event_file)),
		.events = calloc(probes + 1, sizeof(*out->events)),
		.framed = calloc(m->spans.count + 1, sizeof(*out->framed)),
	};
	const char *lacks = nw_run_cannot_count(run);
	int ret = lacks ? refuse(err, lacks) : check_asked(m, run->request, err);
	if (ret == 0)
		ret = check_by(out, err);
	nw_vec_each (&m->spans, def) {
		if (ret == 0)
			ret = check_span(out, def, err);
		if (ret == 0)
			ret = check_ends(out, def, err);
	}
	if (ret == 0 && (!out->hits || !out->others || !out->event_file || !out->events ||
			 !out->framed ||
			 nw_strings_addf(&out->triggers.synthetic, "%s u64 lat",
					 result->plan.group) < 0))
		ret = nw_no_memory(err);
	for (uint32_t i = 0; ret == 0 && i < probes; i++)
		ret = add_event(out, i, err);
	nw_vec_each (&m->spans, def)
		ret = ret == 0 ? check_start(out, def, err) : ret;
	/* Far more is no longer added up. */
	for (uint32_t i = 0; ret == 0 && i < m->spans.count && out->room < MOST_SUM; i++) {
		const int framed = find_framed(out, &m->spans.item[i]);
		out->framed[i] = framed > 0;
		ret = framed < 0 ? nw_no_memory(err) : add_span(out, i, err);
	}
	for (uint32_t i = 0; ret == 0 && i < probes; i++)
		for (size_t event = 0;
		     ret == 0 && event < out->events[i] && out->room < MOST_SUM; event++)
			ret = add_probe(out, m, i, event, err);
	return ret == 0 ? check_room(out, err) : ret;
}
