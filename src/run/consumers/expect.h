/* SPDX-License-Identifier: MIT */
/*
 * run: the consumer of `expect`. It reads what a file expects of the probes of a program, counts in a run, and judges
 * each expectation. docs/expect.md describes the file.
 */
#ifndef NOPWATCH_RUN_CONSUMERS_EXPECT_H
#define NOPWATCH_RUN_CONSUMERS_EXPECT_H

#include "measure/spans/literal.h"
#include "run/engine.h"

enum nw_expect_number {
	NW_EXPECT_HITS,	      /* of a probe */
	NW_EXPECT_THERE,      /* the probe exists; nothing is counted */
	NW_EXPECT_PERCENTILE, /* of a span's latencies, as all that follow */
	NW_EXPECT_MIN,
	NW_EXPECT_MEAN,
	NW_EXPECT_MAX,
	NW_EXPECT_COUNT,     /* measured spans */
	NW_EXPECT_UNMATCHED, /* starts without an end, and ends without a start */
};

/* One probe or span that an expectation means, and the hits of the probe for which the condition was true or false. */
struct nw_expect_tally {
	uint32_t number;
	uint64_t passed, failed;
};

/* One line of the file. */
struct nw_expectation {
	unsigned int line;
	char *text;    /* as written, without a comment */
	char *subject; /* the spec of a probe, or the name or definition of a span */
	enum nw_expect_number what;
	double percentile;
	enum nw_compare compare;
	uint64_t value;
	/* Each site has so many arguments, or, unless `exact`, at least so many; -1: any number */
	int args;
	bool exact;
	/* `where` counts the hits for which the filter passes; `always` wants it to pass for each. NULL: there is none. */
	struct nw_filter *filter;
	const char *condition; /* the filter's text, in `text` */
	bool always;
	/* During and after a run: */
	NW_VEC(struct nw_expect_tally) found;
	struct nw_error missing; /* why nothing was found */
};

struct nw_expectations {
	const char *path;
	NW_VEC(struct nw_expectation) item;
	nw_strings specs; /* of all probes, for a request */
	nw_strings spans; /* the definitions of spans, for a request */
	bool counts;	  /* an expectation can only be judged by a run */
};

/* Reads the file, or a provider file of DTrace (FILE.d). A mistake is an error that names FILE:LINE. */
int nw_expectations_read(const char *path, struct nw_expectations *out,
			 struct nw_error *err);
void nw_expectations_free(struct nw_expectations *expectations);

struct nw_expect {
	struct nw_measure
		measure; /* the first member: its functions get the address of the whole */
	struct nw_expectations *expectations;
	const struct nw_request *request;
	struct nw_consumer inner; /* of the measure */
	/* By probe: the tallies of conditions. They do not move during a run. */
	NW_VEC(struct nw_expect_condition {
		const struct nw_filter *filter;
		struct nw_expect_tally *tally;
	}) * conditions;
	size_t probes;		    /* how many elements it has */
	NW_VEC(const char *) spans; /* the definitions whose probes exist */
	bool started;		    /* the selection was looked at */
};

/* `out` must not move while it is open, and both other arguments must stay. */
int nw_expect_open(struct nw_expectations *expectations, const struct nw_request *request,
		   struct nw_expect *out, struct nw_error *err);
struct nw_consumer nw_expect_consumer(struct nw_expect *expect);
/* Finds what the expectations mean without a run: all that can be judged then is what exists. */
int nw_expect_look(struct nw_expect *expect, struct nw_error *err);
/* Completes the counts behind a run. */
void nw_expect_finish(struct nw_expect *expect);
/* Does the expectation hold? If not, writes what was seen, and why as far as it is known. result: that of the run; NULL:
 * nothing was run. */
bool nw_expect_holds(const struct nw_expect *expect, const struct nw_expectation *one,
		     const struct nw_run_result *result, struct nw_buf *message,
		     struct nw_buf *reason);
void nw_expect_close(struct nw_expect *expect);

#endif
