/* SPDX-License-Identifier: MIT */
/* A summary of one span, from app:start to app:done, whose argument `id` is its key. */
#ifndef NOPWATCH_TESTS_ONE_SPAN_H
#define NOPWATCH_TESTS_ONE_SPAN_H

#include "measure/summary.h"
#include "open_spans.h"
#include "plan/plan.h"
#include "unit.h"

enum {
	START,
	DONE
};

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static struct nw_span_def span;

static inline void setup_options(struct nw_summary_options options, enum nw_span_key key)
{
	static const char text[] = "nopwatch-plan 1\nimage /bin/app\n"
				   "probe 0 0 app start app:start 1\narg id -\n"
				   "probe 0 0 app done app:done 1\narg id -\n";

	ck_assert_int_eq(
		nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL, NULL),
		0);
	span = (struct nw_span_def){.name = strdup("span"), .key = key, .key_name = "id"};
	*(uint32_t *)nw_vec_add(&span.starts) = START;
	*(uint32_t *)nw_vec_add(&span.ends) = DONE;
	options.selection = &selection;
	options.spans = &span;
	options.span_count = 1;
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static inline void teardown(void)
{
	nw_summary_free(summary);
	summary = NULL;
	nw_span_def_free(&span);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

#endif
