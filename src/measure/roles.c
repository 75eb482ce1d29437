// SPDX-License-Identifier: MIT
/* Roles of probes: which spans a probe begins and ends, and by which key. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "measure/spans/pairs.h"
#include "state.h"

/* Is this the name of a field of kernel events that holds a thread's number? */
static bool is_thread(const char *name)
{
	size_t len = strlen(name);

	return strcmp(name, "pid") == 0 || strcmp(name, "tid") == 0 ||
	       (len > 4 && strcmp(name + len - 4, "_pid") == 0);
}

/* Finds the argument that is a part of the key, or the duration. */
static int find_arg(const struct nw_span_def *def, const struct nw_probe *p,
		    const char *name, int *out, struct nw_error *err)
{
	*out = nw_arg_find(p, name);
	if (*out >= 0)
		return 0;
	nw_fail_usage(
		err,
		def->unit_ns
			? "span '%s' has the duration '%s', but %s has no argument of that name"
			: "span '%s' has the key '%s', but %s has no argument of that name",
		def->name, name, p->label);
	nw_error_hint(err, "name it in the spec: '%s(..., %s)', or use arg0, arg1, ...",
		      p->label, name);
	return -EINVAL;
}

/* Sets the parts of a key of several. */
static int set_parts(const struct nw_span_def *def, const struct nw_probe *p,
		     const char *names, struct role *role, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(names);
	char *rest = copy, *name;
	int ret = copy ? 0 : nw_no_memory(err);
	struct role_part part;

	for (size_t i = 0; ret == 0 && (name = strsep(&rest, "+")); i++) {
		part = (struct role_part){nw_span_key_kind(name), -1};
		if (part.key == NW_KEY_ARG)
			ret = find_arg(def, p, name, &part.arg, err);
		if (i) {
			role->more[role->more_count++] = part;
		} else {
			role->key = part.key;
			role->key_arg = part.arg;
		}
	}
	return ret;
}

static int add_role(struct nw_summary *s, uint32_t probe, uint32_t span, bool is_end,
		    struct nw_error *err)
{
	const struct nw_span_def *def = &s->options.spans[span];
	const struct nw_probe *p = s->options.selection->probes.item[probe];
	struct role *role = nw_vec_add(&s->probe[probe].roles);
	bool other = is_end && *def->end_key_name;
	const char *name = def->unit_ns ? def->duration
			   : other	? def->end_key_name
					: def->key_name;

	if (!role)
		return nw_no_memory(err);
	*role = (struct role){
		.span = span,
		.is_end = is_end,
		.key = other ? def->end_key : def->key,
		.key_arg = -1,
		.limited = def->call && !def->unlimited,
		.unit_ns = def->unit_ns,
		.plain = !def->unit_ns && (!s->options.listener || s->options.lazy) &&
			 def->key == NW_KEY_TID && (!other || def->end_key == NW_KEY_TID),
		.until = UINT64_MAX,
	};
	if (!def->unit_ns && role->key == NW_KEY_SEVERAL)
		return set_parts(def, p, name, role, err);
	if (role->key != NW_KEY_ARG && !def->unit_ns)
		return 0;
	role->thread = p->kind == NW_SPEC_TRACEPOINT && is_thread(name);
	return find_arg(def, p, name, &role->key_arg, err);
}

int nw_summary_add_roles(struct nw_summary *s, struct nw_error *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->options.span_count; i++) {
		const struct nw_span_def *def = &s->options.spans[i];
		/* Ends come first: a probe that is both ends one span before it begins the next. */
		nw_vec_each (&def->ends, probe)
			if (ret == 0)
				ret = add_role(s, *probe, i, true, err);
		nw_vec_each (&def->starts, probe)
			if (ret == 0 && !def->unit_ns)
				ret = add_role(s, *probe, i, false, err);
	}
	return ret;
}

/* Reads one part of a key. */
static bool read_part(enum nw_span_key kind, int arg, const struct nw_hit *hit, int32_t pid,
		      uint64_t *key)
{
	const struct nw_value *value;

	if (kind == NW_KEY_TID) {
		*key = (uint32_t)nw_hit_thread(hit);
		return true;
	}
	if (kind == NW_KEY_PID) { /* idle threads belong to no process */
		*key = (uint32_t)(hit->tid ? pid : nw_hit_thread(hit));
		return true;
	}
	if (kind == NW_KEY_CPU) {
		*key = hit->cpu;
		return true;
	}
	if (arg < 0 || !hit->values || (size_t)arg >= hit->value_count)
		return false;
	value = &hit->values[arg];
	switch (value->kind) {
	case NW_VALUE_STRING:
		if (value->cut) /* a cut string could be one of several keys */
			return false;
		*key = nw_hash_text(value->text, value->len);
		return true;
	case NW_VALUE_SIGNED:
	case NW_VALUE_UNSIGNED:
	case NW_VALUE_HEX:
		*key = value->number;
		return true;
	default:
		return false;
	}
}

bool nw_role_key(const struct role *role, const struct nw_hit *hit, int32_t pid,
		 uint64_t *key)
{
	bool known = read_part(role->key, role->key_arg, hit, pid, key);
	uint64_t part;

	for (unsigned int i = 0; known && i < role->more_count; i++) {
		known = read_part(role->more[i].key, role->more[i].arg, hit, pid, &part);
		if (known)
			*key = nw_hash64(nw_hash64(*key) + part);
	}
	return known;
}

/* Reads the duration that the hit hands over. false: it is negative, no number, or longer than the trace clock has run. */
static bool read_duration(const struct role *role, const struct nw_hit *hit, uint64_t *ns)
{
	const bool there = hit->values && (size_t)role->key_arg < hit->value_count;
	const struct nw_value *value = there ? &hit->values[role->key_arg] : NULL;
	double real;

	switch (value ? value->kind : NW_VALUE_MISSING) {
	case NW_VALUE_SIGNED:
		if ((int64_t)value->number < 0)
			return false;
		/* fall through */
	case NW_VALUE_UNSIGNED:
	case NW_VALUE_HEX:
		return !nw_mul_overflows(value->number, role->unit_ns, ns) &&
		       *ns <= hit->time;
	case NW_VALUE_FLOAT:
		real = value->real * (double)role->unit_ns;
		if (!(real >= 0 && real <= (double)hit->time))
			return false;
		*ns = nw_min64((uint64_t)llround(real), hit->time);
		return true;
	default:
		return false;
	}
}

void nw_role_hand_over(struct nw_summary *s, const struct role *role,
		       const struct nw_hit *hit, int64_t group, struct nw_span_row *row)
{
	uint64_t ns;

	if (!read_duration(role, hit, &ns)) {
		row->invalid++;
		return;
	}
	const struct nw_start start = {.time = hit->time - ns,
				       .cpu = hit->cpu,
				       .group = (int32_t)group,
				       .whose = NW_START_HANDED,
				       .probe = hit->probe};
	nw_histogram_add(&row->latency, ns);
	if (nw_summary_emits(s) && (!nw_summary_emits_slow(s) || ns > s->least[role->span]))
		nw_span_emit_hit(s, NW_SPAN_ENDS, role->span, (uint32_t)nw_hit_thread(hit),
				 &start, hit, group);
}

/* Takes the short way from the roles of a watched span, or gives it back. */
static void set_watch(struct nw_summary *s, uint32_t span, bool on)
{
	s->strays[span].on = on;
	for (size_t i = 0; i < s->probes; i++)
		nw_vec_each (&s->probe[i].roles, role) {
			if (role->span != span)
				continue;
			role->was_plain = on ? role->plain : role->was_plain;
			role->plain = !on && role->was_plain && role->until == UINT64_MAX;
		}
}

void nw_role_watch_strays(struct nw_summary *s, uint32_t span)
{
	const struct nw_span_def *def = &s->options.spans[span];

	if (s->strays[span].seen || def->call || def->key != NW_KEY_TID ||
	    def->end_key != NW_KEY_TID)
		return;
	s->strays[span].seen = nw_strays_open(); /* without memory, nothing is found */
	if (s->strays[span].seen)
		set_watch(s, span, true);
}

void nw_role_show_strays(struct nw_summary *s, const struct role *role,
			 const struct nw_hit *hit, uint64_t key)
{
	struct stray_watch *watch = &s->strays[role->span];

	if (!role->is_end)
		nw_strays_start(watch->seen, hit);
	else if (!nw_strays_end(watch->seen, hit,
				!nw_open_find(&s->open, role->span, key)->depth))
		set_watch(s, role->span, false);
}
