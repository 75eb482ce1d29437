// SPDX-License-Identifier: MIT
/* strays: ends that come from other threads than their starts, and the arguments that they have in common. */
#include "measure/strays.h"
#include "unit.h"

enum {
	BEGIN,
	END,
	ARGS = 3
};

/* A program: at most `open` requests at a time, whose ends have the values of their starts at these places. */
struct program {
	const char *name;
	int open,
		threads; /* threads: the ends come from as many others; 0: from the thread of the start */
	/* The kind of each argument, at both ends: 'i' the number of the request, 's' its slot, which is used again, 'c' one
	 * number for all, 'r' something else, 't' a text that holds the number, '-' not fetched */
	const char *start, *end;
	bool found;
	int start_arg, end_arg;
};

static struct nw_value values[ARGS];
static char text[ARGS][16];

static struct nw_hit make_hit(const struct program *p, bool is_end, int request)
{
	const char *kinds = is_end ? p->end : p->start;
	struct nw_hit hit = {.time = (uint64_t)request + 1,
			     .probe = is_end ? END : BEGIN,
			     .values = values,
			     .value_count = ARGS,
			     .tid = 100};

	if (is_end && p->threads)
		hit.tid = 200 + request % p->threads;
	for (int i = 0; i < ARGS; i++) {
		struct nw_value *value = &values[i];
		*value = (struct nw_value){.kind = NW_VALUE_UNSIGNED};
		switch (kinds[i]) {
		case 'i':
			value->number = 5000 + (uint64_t)request;
			break;
		case 's':
			value->number = (uint64_t)(request % p->open);
			break;
		case 'c':
			value->number = 7;
			break;
		case 'r':
			value->number = (uint64_t)request * 977 + (is_end ? 1u << 20 : 0);
			break;
		case 't':
			value->kind = NW_VALUE_STRING;
			value->text = text[i];
			value->len = (uint32_t)snprintf(text[i], sizeof(text[i]), "req %d",
							request);
			break;
		default:
			value->kind = NW_VALUE_MISSING;
		}
	}
	return hit;
}

static bool play(const struct program *p, struct nw_strays_found *found)
{
	struct nw_strays *strays = nw_strays_open();
	bool more = true;

	ck_assert_ptr_nonnull(strays);
	/* each end comes when `open` requests have begun behind its own */
	for (int i = 0; more && i < 1000; i++) {
		struct nw_hit hit = make_hit(p, false, i);
		if (i >= p->open) {
			const struct nw_hit end = make_hit(p, true, i - p->open);
			more = nw_strays_end(strays, &end, p->threads > 0);
			hit = make_hit(p, false, i);
		}
		nw_strays_start(strays, &hit);
	}
	ck_assert(!more);
	bool ret = nw_strays_find(strays, found);
	nw_strays_free(strays);
	return ret;
}

START_TEST(arguments_that_agree)
{
	static const struct program programs[] = {
		{"at one place", 4, 3, "irc", "irc", true, 0, 0},
		{"at different places", 4, 3, "cri", "icr", true, 2, 0},
		{"a slot that is used again", 4, 3, "rsc", "csr", true, 1, 1},
		{"a text", 4, 3, "ctr", "rct", true, 1, 2},
		{"one request at a time", 1, 1, "rri", "irr", true, 2, 0},
		{"one number for all is no key", 4, 3, "ccc", "ccc", true, -1, -1},
		{"nothing in common", 4, 3, "rrr", "rrr", true, -1, -1},
		{"nothing fetched", 4, 3, "---", "---", true, -1, -1},
		{"ends of the same thread", 4, 0, "irc", "irc", false, -1, -1},
	};

	for (size_t i = 0; i < NW_COUNT(programs); i++) {
		const struct program *p = &programs[i];
		struct nw_strays_found found;
		ck_assert_msg(play(p, &found) == p->found, "%s", p->name);
		ck_assert_msg(!p->found || found.elsewhere == NW_STRAY_ENDS, "%s: %u",
			      p->name, found.elsewhere);
		ck_assert_msg(found.start_arg == p->start_arg &&
				      found.end_arg == p->end_arg,
			      "%s: %d:%d", p->name, found.start_arg, found.end_arg);
	}
}
END_TEST

/* A run that begins in the middle sees ends without starts: a few of them are no proof. */
START_TEST(few_ends_prove_nothing)
{
	static const struct program p = {"", 4, 3, "irc", "irc", true, 0, 0};
	struct nw_strays *strays = nw_strays_open();
	struct nw_strays_found found;

	for (int i = 0; i < 7; i++) {
		struct nw_hit hit = make_hit(&p, false, i);
		nw_strays_start(strays, &hit);
		hit = make_hit(&p, true, i);
		ck_assert(nw_strays_end(strays, &hit, true));
	}
	ck_assert(!nw_strays_find(strays, &found));
	nw_strays_free(strays);
}
END_TEST

UNIT_MAIN("strays", arguments_that_agree, few_ends_prove_nothing)
