/* SPDX-License-Identifier: MIT */
/*
 * Selections without files, for tests of plans, and plans as text.
 *
 *	struct nw_selection s = {0};
 *	struct nw_image *image = pb_image(&s, "/bin/x");
 *	struct nw_probe *probe = pb_probe(&s, image, "prov", "name", "sql:string,n");
 *	pb_point(probe, 0x1234, "8@%rdi -4@%esi");
 *	struct nw_plan plan = pb_plan(&s, &options);
 *	pb_check(&plan, "p:nopwatch_s/es_0 /bin/x:0x1234 ...\n");
 *	pb_free(&s, &plan);
 */
#ifndef NOPWATCH_TESTS_PLAN_BUILDER_H
#define NOPWATCH_TESTS_PLAN_BUILDER_H

#include "plan/plan.h"
#include "unit.h"

static inline struct nw_image *pb_image(struct nw_selection *s, const char *path)
{
	struct nw_image *image = calloc(1, sizeof(*image));

	image->fd = -1;
	image->path = strdup(path);
	image->arch = nw_arch_by_name("x86_64");
	image->elf64 = true;
	*nw_vec_add(&s->images) = image;
	return image;
}

/* names: what would stand in the spec's parentheses; NULL: no parentheses. */
static inline struct nw_probe *pb_probe(struct nw_selection *s, struct nw_image *image,
					const char *provider, const char *name,
					const char *names)
{
	struct nw_probe *probe = calloc(1, sizeof(*probe));

	probe->provider = strdup(provider);
	probe->name = strdup(name);
	probe->label = nw_text("%s:%s", provider, name);
	probe->image = image;
	probe->has_args = names != NULL;
	*nw_vec_add(&s->probes) = probe;
	if (!names)
		return probe;
	nw_cleanup(nw_free_ptr) char *text = nw_text("n(%s)", names);
	struct nw_spec spec;
	ck_assert_int_eq(nw_spec_parse(text, &spec, NULL), 0);
	nw_vec_each (&spec.args, arg)
		*nw_vec_add(&probe->args) = *arg;
	nw_spec_free(&spec);
	return probe;
}

/* Add a point whose linked address is 0x400000 more than its offset. */
static inline struct nw_point *pb_point(struct nw_probe *probe, uint64_t offset,
					const char *args)
{
	struct nw_point *point = nw_vec_add(&probe->points);

	point->image = probe->image;
	point->offset = offset;
	point->vaddr = 0x400000 + offset;
	ck_assert_int_eq(nw_operands_parse(probe->image ? probe->image->arch : NULL, args,
					   &point->operands),
			 0);
	while (probe->args.count < point->operands.count)
		nw_vec_add(&probe->args);
	return point;
}

static inline struct nw_plan pb_plan(const struct nw_selection *s,
				     const struct nw_plan_options *options)
{
	struct nw_plan plan;
	struct nw_error err;

	ck_assert_int_eq(nw_plan_make(s, options, &plan, &err), 0);
	return plan;
}

static inline void pb_free(struct nw_selection *s, struct nw_plan *plan)
{
	nw_plan_free(plan);
	nw_selection_free(s);
}

/* Every definition, a line each. */
static inline char *pb_lines(const struct nw_plan *plan)
{
	struct nw_buf out = {0};

	nw_vec_each (&plan->events, event) {
		nw_vec_each (&(*event)->places, place) {
			const struct nw_point *point = nw_plan_point(plan, place);
			nw_plan_define(plan, *event, place, point->image->path, true, &out);
			nw_buf_addc(&out, '\n');
		}
	}
	return nw_buf_take(&out);
}

static inline void pb_check(const struct nw_plan *plan, const char *wanted)
{
	char *got = pb_lines(plan);

	ck_assert_msg(strcmp(got, wanted) == 0, "got:\n%swanted:\n%s", got, wanted);
	free(got);
}

/* "PART.FIELD", "PART.FIELD+HIGH", "=CONSTANT" or "!PROBLEM" of every argument of a point. */
static inline void pb_check_sources(const struct nw_plan *plan, size_t point,
				    const char *wanted)
{
	struct nw_buf got = {0};

	nw_vec_each (&plan->points.item[point].args, source) {
		nw_buf_adds(&got, got.len ? " " : "");
		if (source->fetch.problem)
			nw_buf_printf(&got, "!%s", source->fetch.problem);
		else if (source->fetch.is_constant)
			nw_buf_printf(&got, "=%lu", source->fetch.constant);
		else
			nw_buf_printf(&got, "%u.%d", source->part, source->field);
		if (source->high_field >= 0)
			nw_buf_printf(&got, "+%d", source->high_field);
		/* without a field there is nothing to find there */
		if (source->fetch.problem || source->fetch.is_constant)
			ck_assert(source->part == 0 && source->field == -1);
	}
	ck_assert_str_eq(nw_buf_str(&got), wanted);
	nw_buf_free(&got);
}

#endif
