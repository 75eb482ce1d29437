// SPDX-License-Identifier: MIT
/* task_states: spans split by what the scheduler's events say. */
#include "measure/summary.h"
#include "plan/plan.h"
#include "unit.h"

enum {
	START,
	DONE,
	SWITCH,
	WAKING,
	WAKEUP,
	T = 7,
	OTHER = 8,
	RUNS = 0, /* prev_state */
	SLEEPS = 1,
	DISK = 2,
	KILLABLE = 130, /* before 4.14 */
	STOPPED_4_14 = 3,
	PREEMPTED = 256,
};

static const char plan_text[] =
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 app start app:start 0\nprobe 0 0 app done app:done 0\n";

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static struct nw_span_def span;
static struct nw_probe switches, wakings, wakeups;
static uint64_t states[NW_TASK_STATES], ends;
static bool split;
static struct nw_sleeps wakers;

static void listen(void *arg, const struct nw_span_event *event)
{
	(void)arg;
	if (event->moment != NW_SPAN_ENDS)
		return;
	ends++;
	split = event->states != NULL;
	uint64_t sum = 0;
	for (size_t i = 0; split && i < NW_TASK_STATES; i++) {
		states[i] = event->states->ns[i];
		sum += states[i];
	}
	wakers.count = 0;
	if (split)
		wakers = event->states->wakers;
	if (split)
		ck_assert_uint_eq(sum, event->hit->time - event->start);
}

static void name_args(struct nw_probe *probe, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct nw_named_arg *arg = nw_vec_add(&probe->args);
		strcpy(arg->name, names[i]);
	}
}

static void add_probe(struct nw_probe *probe)
{
	struct nw_probe **slot = nw_vec_add(&selection.probes);

	*slot = probe;
}

static void call_them(void *arg, int32_t tid, char out[16])
{
	(void)arg;
	snprintf(out, 16, "task%d", tid);
}

static void set_up(enum nw_span_key pairs_by, bool shifted)
{
	static const char *const fields[] = {"prev_pid", "prev_state", "next_pid"};
	static const char *const waking[] = {"pid", "common_flags"};

	ck_assert_int_eq(nw_plan_load(plan_text, strlen(plan_text), &selection, &plan, NULL,
				      NULL, NULL, NULL),
			 0);
	switches = (struct nw_probe){.kind = NW_SPEC_TRACEPOINT,
				     .provider = (char *)(uintptr_t) "sched",
				     .name = (char *)(uintptr_t) "sched_switch",
				     .shifted_states = shifted};
	wakings = switches;
	wakings.name = (char *)(uintptr_t) "sched_waking";
	name_args(&switches, fields, 3);
	wakeups = wakings;
	wakeups.name = (char *)(uintptr_t) "sched_wakeup";
	name_args(&wakings, waking, 2);
	name_args(&wakeups, waking, 1);
	add_probe(&switches);
	add_probe(&wakings);
	add_probe(&wakeups);
	span = (struct nw_span_def){.name = strdup("span"), .key = pairs_by};
	*(uint32_t *)nw_vec_add(&span.starts) = START;
	*(uint32_t *)nw_vec_add(&span.ends) = DONE;
	const struct nw_summary_options options = {.selection = &selection,
						   .spans = &span,
						   .span_count = 1,
						   .states = true,
						   .names = {.comm = call_them},
						   .listener = listen};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static void setup(void)
{
	set_up(NW_KEY_TID, false);
}

static void teardown(void)
{
	nw_summary_free(summary);
	selection.probes.count -= 3; /* those on our stack */
	nw_vec_free(&switches.args);
	nw_vec_free(&wakings.args);
	nw_vec_free(&wakeups.args);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_span_def_free(&span);
}

/* Begins again with another key of spans, or states that are one bit higher. */
static void set_up_for(enum nw_span_key pairs_by, bool shifted)
{
	teardown();
	set_up(pairs_by, shifted);
}

static void probe_hit(uint32_t probe, int32_t tid, uint64_t time)
{
	const struct nw_hit hit = {.time = time, .tid = tid, .probe = probe};

	ck_assert_int_eq(nw_summary_hit(summary, &hit, tid, 0), 0);
}

static void switches_to(int32_t prev, uint64_t state, int32_t next, uint64_t time)
{
	const struct nw_value values[] = {
		{.kind = NW_VALUE_SIGNED, .number = (uint64_t)prev},
		{.kind = NW_VALUE_SIGNED, .number = state},
		{.kind = NW_VALUE_SIGNED, .number = (uint64_t)next}};
	const struct nw_hit hit = {.time = time,
				   .tid = prev,
				   .probe = SWITCH,
				   .values = values,
				   .value_count = 3};

	nw_summary_scheduled(summary, &hit);
}

/* It is recorded in the context of by; flags say what that was. */
static void woken_by(int32_t by, uint64_t flags, int32_t tid, uint64_t time)
{
	const struct nw_value values[] = {
		{.kind = NW_VALUE_SIGNED, .number = (uint64_t)tid},
		{.kind = NW_VALUE_UNSIGNED, .number = flags}};
	const struct nw_hit hit = {.time = time,
				   .tid = by,
				   .probe = WAKING,
				   .values = values,
				   .value_count = 2};

	nw_summary_scheduled(summary, &hit);
}

static void wakes(int32_t tid, uint64_t time)
{
	woken_by(OTHER, 0, tid, time);
}

static void is_awake(int32_t tid, uint64_t time)
{
	const struct nw_value value = {.kind = NW_VALUE_SIGNED, .number = (uint64_t)tid};
	const struct nw_hit hit = {.time = time,
				   .tid = OTHER,
				   .probe = WAKEUP,
				   .values = &value,
				   .value_count = 1};

	nw_summary_scheduled(summary, &hit);
}

static const struct nw_span_row *row(void)
{
	return nw_group_span(nw_summary_rows(summary, 0, true), 0);
}

START_TEST(each_state_has_its_time)
{
	probe_hit(START, T, 100);
	switches_to(T, SLEEPS, OTHER, 110); /* 10 running */
	wakes(T, 150);			    /* 40 sleeping */
	switches_to(OTHER, RUNS, T, 155);   /* 5 runnable */
	switches_to(T, PREEMPTED, OTHER, 160);
	switches_to(OTHER, SLEEPS, T, 163);   /* 3 runnable */
	switches_to(T, KILLABLE, OTHER, 170); /* 7 running, 5 before */
	wakes(T, 270);			      /* 100 disk */
	wakes(T, 271);			      /* once awake, awake */
	switches_to(OTHER, RUNS, T, 280);     /* 10 runnable */
	switches_to(T, DISK, OTHER, 280);
	wakes(T, 281); /* 1 disk */
	switches_to(OTHER, RUNS, T, 281);
	switches_to(T, STOPPED_4_14, OTHER, 281);
	wakes(T, 283); /* 2 sleeping */
	switches_to(OTHER, RUNS, T, 283);
	probe_hit(DONE, T, 300); /* 17 running */
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 10 + 5 + 7 + 17);
	ck_assert_uint_eq(states[NW_TASK_RUNNABLE], 5 + 3 + 10);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 40 + 2);
	ck_assert_uint_eq(states[NW_TASK_DISK], 101);
	ck_assert_uint_eq(row()->states[NW_TASK_DISK].sum, 101);
	ck_assert_uint_eq(row()->unsplit, 0);
}
END_TEST

/* Linux 4.15 to 4.19: each state is one bit higher, but not what stands for a preemption. */
START_TEST(states_may_be_one_bit_higher)
{
	enum {
		GIVES_THE_CPU_AWAY = 1,
		STOPPED = 8,
	};
	set_up_for(NW_KEY_TID, true);
	probe_hit(START, T, 100);
	switches_to(T, 2 * SLEEPS, OTHER, 110);		/* 10 running */
	wakes(T, 150);					/* 40 sleeping */
	switches_to(OTHER, GIVES_THE_CPU_AWAY, T, 155); /* 5 runnable */
	switches_to(T, PREEMPTED, OTHER, 160);
	switches_to(OTHER, 2 * SLEEPS, T, 163); /* 3 runnable */
	switches_to(T, 2 * DISK, OTHER, 170);	/* 7 running, 5 before */
	wakes(T, 270);				/* 100 disk */
	switches_to(OTHER, RUNS, T, 280);	/* 10 runnable */
	switches_to(T, GIVES_THE_CPU_AWAY, OTHER, 280);
	switches_to(OTHER, RUNS, T, 287); /* 7 runnable */
	switches_to(T, STOPPED, OTHER, 287);
	wakes(T, 288); /* 1 sleeping */
	switches_to(OTHER, RUNS, T, 288);
	probe_hit(DONE, T, 300); /* 12 running */
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 10 + 5 + 7 + 12);
	ck_assert_uint_eq(states[NW_TASK_RUNNABLE], 5 + 3 + 10 + 7);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 40 + 1);
	ck_assert_uint_eq(states[NW_TASK_DISK], 100);
}
END_TEST

START_TEST(nested_spans_share_a_clock)
{
	probe_hit(START, T, 100);
	switches_to(T, SLEEPS, OTHER, 110);
	wakes(T, 120);
	switches_to(OTHER, RUNS, T, 120);
	probe_hit(START, T, 130);
	switches_to(T, RUNS, OTHER, 140);
	switches_to(OTHER, RUNS, T, 150);
	probe_hit(DONE, T, 160);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 20);
	ck_assert_uint_eq(states[NW_TASK_RUNNABLE], 10);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 0);
	probe_hit(DONE, T, 170);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 50);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 10);
}
END_TEST

static void check_waker(size_t i, uint64_t key, uint64_t ns, uint64_t count)
{
	ck_assert_uint_lt(i, wakers.count);
	ck_assert_uint_eq(wakers.item[i].key, key);
	ck_assert_uint_eq(wakers.item[i].ns, ns);
	ck_assert_uint_eq(wakers.item[i].count, count);
}

/* Another CPU had to be interrupted before it was on that one's run queue; twice, and once without a record of it. */
START_TEST(it_waits_for_a_cpu_when_it_is_on_its_queue)
{
	probe_hit(START, T, 100);
	switches_to(T, SLEEPS, OTHER, 110);
	wakes(T, 150);
	is_awake(T, 157); /* 47 sleeping */
	switches_to(OTHER, RUNS, T, 160);
	switches_to(T, DISK, OTHER, 170);
	wakes(T, 200);
	is_awake(T, 201); /* 31 disk */
	switches_to(OTHER, RUNS, T, 211);
	switches_to(T, SLEEPS, OTHER, 220);
	wakes(T, 230);
	switches_to(OTHER, RUNS, T, 240);
	probe_hit(DONE, T, 300);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 47 + 10);
	ck_assert_uint_eq(states[NW_TASK_DISK], 31);
	ck_assert_uint_eq(states[NW_TASK_RUNNABLE], 3 + 10 + 10);
	ck_assert_uint_eq(wakers.count, 1);
	check_waker(0, OTHER, 47 + 31 + 10, 3);
	/* who was woken before it slept, and not again: that was not recorded */
	probe_hit(START, T, 400);
	wakes(T, 405);
	switches_to(T, SLEEPS, OTHER, 410);
	switches_to(OTHER, RUNS, T, 420);
	probe_hit(DONE, T, 430);
	ck_assert(!split);
}
END_TEST

/* Sleep from one moment to the other, and be running at once. */
static void is_woken(int32_t by, uint64_t flags, uint64_t from, uint64_t until)
{
	switches_to(T, SLEEPS, OTHER, from);
	woken_by(by, flags, T, until);
	switches_to(OTHER, RUNS, T, until);
}

START_TEST(who_woke_it)
{
	enum {
		HARDIRQ = 0x08,
		NEED_RESCHED = 0x04,
	};
	is_woken(5, 0, 50, 60); /* nobody asks */
	probe_hit(START, T, 100);
	is_woken(5, NEED_RESCHED, 110, 140);
	probe_hit(START, T, 150);
	is_woken(6, 0, 160, 170);
	is_woken(5, 0, 180, 185);
	probe_hit(DONE, T, 190); /* the inner one has its own */
	ck_assert_uint_eq(wakers.count, 2);
	check_waker(0, 5, 5, 1);
	check_waker(1, 6, 10, 1);
	is_woken(5, HARDIRQ, 200,
		 300); /* an interrupt came upon 5, who has nothing to do with it */
	switches_to(T, DISK, OTHER, 310);
	is_awake(T, 320); /* by whom was not recorded */
	switches_to(OTHER, RUNS, T, 320);
	woken_by(6, 0, T, 330); /* on its way to sleep */
	switches_to(T, SLEEPS, OTHER, 340);
	is_awake(T, 341);
	switches_to(OTHER, RUNS, T, 342);
	probe_hit(DONE, T, 400);
	ck_assert_uint_eq(wakers.count, 4);
	check_waker(0, 5, 35, 2);
	ck_assert_str_eq(wakers.item[0].comm, "task5");
	check_waker(1, 6, 11, 2);
	check_waker(2, NW_WAKER_INTERRUPT, 100, 1);
	check_waker(3, NW_WAKER_UNKNOWN, 10, 1);
	struct nw_sleeps sorted = *row()->wakers;
	nw_sleeps_sort(&sorted);
	ck_assert_uint_eq(sorted.count, 4);
	ck_assert_uint_eq(sorted.item[0].key, NW_WAKER_INTERRUPT);
	ck_assert_uint_eq(sorted.item[1].ns, 40); /* of both spans */
}
END_TEST

/* Those for whom there is no room are counted, and come last. */
START_TEST(the_table_of_wakers_is_bounded)
{
	for (int round = 0; round < 2; round++) {
		uint64_t at = 1000 * (uint64_t)(round + 1);
		probe_hit(START, T, at);
		for (int i = 0; i < 2 * NW_MOST_SLEEPS; i++)
			is_woken(10 + i, 0, at + 20 * (uint64_t)i + 1,
				 at + 20 * (uint64_t)i + 11);
		probe_hit(DONE, T, at + 999);
		ck_assert_uint_eq(wakers.count, NW_MOST_SLEEPS);
		check_waker(0, 10, 10, 1);
		check_waker(NW_MOST_SLEEPS - 1, NW_SLEEP_OTHERS, 10 * (NW_MOST_SLEEPS + 1),
			    NW_MOST_SLEEPS + 1);
	}
	struct nw_sleeps sorted = *row()->wakers;
	nw_sleeps_sort(&sorted);
	ck_assert_uint_eq(sorted.item[NW_MOST_SLEEPS - 1].key, NW_SLEEP_OTHERS);
	ck_assert_uint_eq(sorted.item[NW_MOST_SLEEPS - 1].count, 2 * (NW_MOST_SLEEPS + 1));
}
END_TEST

/* What is missing is noticed, and nothing is made up. */
START_TEST(a_missing_event_is_no_guess)
{
	probe_hit(START, T, 100); /* it hits a probe, but was never switched to */
	switches_to(T, SLEEPS, OTHER, 110);
	wakes(T, 120);
	probe_hit(DONE, T, 130);
	ck_assert(!split);
	probe_hit(START, T, 200); /* it runs, but was never woken */
	switches_to(T, SLEEPS, OTHER, 210);
	switches_to(OTHER, RUNS, T, 220);
	probe_hit(DONE, T, 230);
	ck_assert(!split);
	probe_hit(START, T, 300); /* it leaves twice */
	switches_to(T, RUNS, OTHER, 310);
	switches_to(T, RUNS, OTHER, 320);
	switches_to(OTHER, RUNS, T, 330);
	probe_hit(DONE, T, 340);
	ck_assert(!split);
	probe_hit(START, T, 400); /* and from here on all is well again */
	probe_hit(DONE, T, 410);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 10);
	ck_assert_uint_eq(row()->unsplit, 3);
	ck_assert_uint_eq(row()->states[NW_TASK_RUNNING].count, 1);
	ck_assert_uint_eq(row()->latency.count, 4);
}
END_TEST

/* Returns whether the states up to now of the span of T that began then are known. */
static bool so_far(uint64_t began, uint64_t now, struct nw_span_states *out)
{
	const struct nw_hit hit = {.time = began, .tid = T};
	const struct nw_open_span open = {.key = T, .began = &hit};

	return nw_summary_states_so_far(summary, 0, &open, now, out);
}

START_TEST(an_open_span_has_states_so_far)
{
	struct nw_span_states now;

	ck_assert(!so_far(100, 105, &now)); /* it has not begun */
	probe_hit(START, T, 100);
	ck_assert(so_far(100, 107, &now));
	ck_assert_uint_eq(now.ns[NW_TASK_RUNNING], 7);
	ck_assert_uint_eq(now.channels.count, 0);
	switches_to(T, SLEEPS, OTHER, 110);
	ck_assert(so_far(100, 150, &now));
	ck_assert_uint_eq(now.ns[NW_TASK_RUNNING], 10);
	ck_assert_uint_eq(now.ns[NW_TASK_SLEEPING], 40);
	ck_assert_uint_eq(now.channels.count, 1); /* the sleep that goes on */
	ck_assert_uint_eq(now.channels.item[0].ns, 40);
	ck_assert_uint_eq(now.wakers.count, 0);
	ck_assert(!so_far(100, 109, &now)); /* before the last event */
	wakes(T, 160);
	ck_assert(so_far(100, 165, &now));
	ck_assert_uint_eq(now.ns[NW_TASK_SLEEPING], 50);
	ck_assert_uint_eq(now.ns[NW_TASK_RUNNABLE], 5);
	ck_assert_uint_eq(now.channels.item[0].ns, 50);
	ck_assert_uint_eq(now.wakers.item[0].ns, 50);
	switches_to(OTHER, RUNS, T, 170);
	probe_hit(DONE, T, 180); /* looking has changed nothing */
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 50);
	ck_assert_uint_eq(wakers.count, 1);
	ck_assert(!so_far(100, 190, &now)); /* it has ended */
	probe_hit(START, T, 200);
	nw_summary_loss(summary, 205, 3);
	ck_assert(!so_far(200, 210, &now));
}
END_TEST

START_TEST(a_thread_is_split_once_it_was_seen)
{
	nw_summary_named_threads(summary, false);
	nw_summary_born(summary, T);
	probe_hit(START, T, 100); /* it may sleep here, unseen */
	probe_hit(DONE, T, 130);
	ck_assert(!split);
	probe_hit(START, T, 200);
	switches_to(OTHER, RUNS, T,
		    210); /* so it slept; this may be there for the other's sake */
	probe_hit(DONE, T, 220);
	ck_assert(!split);
	probe_hit(START, T, 230);
	wakes(T, 240); /* this is not */
	switches_to(OTHER, RUNS, T, 250);
	probe_hit(DONE, T, 260);
	ck_assert(!split);
	probe_hit(START, T, 300);
	probe_hit(DONE, T, 310);
	ck_assert(split);
	nw_summary_born(summary, T); /* its number is given again */
	probe_hit(START, T, 400);
	probe_hit(DONE, T, 410);
	ck_assert(!split);
	switches_to(T, RUNS, 0, 420);
	switches_to(0, RUNS, T, 430);
	probe_hit(START, T, 440);
	probe_hit(DONE, T, 450);
	ck_assert(split);
	probe_hit(START, OTHER, 500); /* was there before */
	probe_hit(DONE, OTHER, 510);
	ck_assert(split);
}
END_TEST

/* It never sleeps: that nothing was recorded of it says so, from when on it would have been. */
START_TEST(a_thread_is_split_once_it_was_named)
{
	nw_summary_named_threads(summary, false);
	nw_summary_born(summary, T);
	nw_summary_thread_named(summary, T, 150);
	probe_hit(START, T, 100); /* before, it may have slept */
	probe_hit(DONE, T, 160);
	ck_assert(!split);
	probe_hit(START, T, 170);
	probe_hit(DONE, T, 190);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 20);
	nw_summary_born(summary, T); /* another, that nobody has named yet */
	probe_hit(START, T, 200);
	probe_hit(DONE, T, 210);
	ck_assert(!split);
	nw_summary_exit(summary, T);
	nw_summary_born(summary, T);
	nw_summary_thread_named(summary, T, 300);
	probe_hit(START, T, 310);
	switches_to(T, SLEEPS, 0, 320);
	wakes(T, 330);
	switches_to(0, RUNS, T, 340);
	probe_hit(DONE, T, 350);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 10);
}
END_TEST

START_TEST(nobody_is_known_who_was_not_named)
{
	nw_summary_named_threads(summary, true);
	nw_summary_thread_named(summary, OTHER, 50);
	probe_hit(START, T, 100);
	probe_hit(START, OTHER, 110);
	probe_hit(DONE, OTHER, 120);
	ck_assert(split);
	probe_hit(DONE, T, 130);
	ck_assert(!split);
	nw_summary_thread_named(summary, T, 140);
	probe_hit(START, T, 150);
	probe_hit(DONE, T, 160);
	ck_assert(split);
	nw_summary_exit(summary, OTHER);
	probe_hit(START, OTHER, 170); /* its number is another's */
	probe_hit(DONE, OTHER, 180);
	ck_assert(!split);
	nw_summary_thread_named(summary, 0, 185); /* everybody */
	probe_hit(START, OTHER, 190);
	probe_hit(DONE, OTHER, 200);
	ck_assert(split);
}
END_TEST

START_TEST(another_summary_knows_who_was_named)
{
	struct nw_summary *first = summary;
	nw_summary_named_threads(first, true);
	nw_summary_thread_named(first, T, 50);
	const struct nw_summary_options options = {.selection = &selection,
						   .spans = &span,
						   .span_count = 1,
						   .states = true,
						   .listener = listen};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	nw_summary_named_threads(summary, true);
	nw_summary_copy_thread_table(summary, first);
	nw_summary_free(first);
	probe_hit(START, T, 100);
	probe_hit(DONE, T, 110);
	ck_assert(split);
	probe_hit(START, OTHER, 120);
	probe_hit(DONE, OTHER, 130);
	ck_assert(!split);
}
END_TEST

START_TEST(a_birth_that_was_lost_is_no_guess)
{
	nw_summary_named_threads(summary, false);
	nw_summary_loss(summary, 50, 1);
	probe_hit(START, T, 100);
	probe_hit(DONE, T, 130);
	ck_assert(!split);
	wakes(T, 135);
	switches_to(OTHER, RUNS, T, 140);
	probe_hit(START, T, 150);
	probe_hit(DONE, T, 160);
	ck_assert(split);
}
END_TEST

START_TEST(what_others_do_does_not_matter)
{
	probe_hit(START, T, 100);
	switches_to(OTHER, SLEEPS, 9, 110);
	wakes(OTHER, 120);
	switches_to(9, RUNS, OTHER, 130);
	probe_hit(DONE, T, 150);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 50);
}
END_TEST

/* What the first thread does while the second one has the span is not what the span waits for. */
START_TEST(a_span_across_threads_is_all_others)
{
	set_up_for(NW_KEY_PID, false);
	const struct nw_hit start = {.time = 100, .tid = T, .probe = START};
	const struct nw_hit done = {.time = 150, .tid = OTHER, .probe = DONE};
	ck_assert_int_eq(nw_summary_hit(summary, &start, 1, 0), 0);
	switches_to(T, SLEEPS, OTHER, 110);
	ck_assert_int_eq(nw_summary_hit(summary, &done, 1, 0), 0);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_OTHERS], 50);
	ck_assert_uint_eq(row()->states[NW_TASK_OTHERS].sum, 50);
	ck_assert_uint_eq(row()->states[NW_TASK_RUNNING].sum, 0);
}
END_TEST

/* A span of a process that another one interrupts on the same thread: what the thread does is done for both. */
START_TEST(a_thread_that_serves_several_keys_is_others)
{
	static const struct {
		pid_t key;
		uint32_t probe;
		uint64_t time, others, running;
	} steps[] = {{1, START, 100, 0, 0}, {2, START, 110, 0, 0}, {2, DONE, 130, 0, 20},
		     {1, DONE, 150, 50, 0}, {1, START, 160, 0, 0}, {1, DONE, 170, 0, 10},
		     {1, START, 200, 0, 0}, {2, START, 210, 0, 0}, {1, DONE, 220, 20, 0},
		     {2, DONE, 250, 40, 0}, {0, SWITCH, 300, 0, 0}};

	set_up_for(NW_KEY_PID, false);
	for (size_t i = 0; steps[i].key; i++) {
		const struct nw_hit hit = {
			.time = steps[i].time, .tid = T, .probe = steps[i].probe};
		split = false;
		ck_assert_int_eq(nw_summary_hit(summary, &hit, steps[i].key, 0), 0);
		ck_assert(split == (steps[i].probe == DONE));
		if (!split)
			continue;
		ck_assert_uint_eq(states[NW_TASK_OTHERS], steps[i].others);
		ck_assert_uint_eq(states[NW_TASK_RUNNING], steps[i].running);
	}
}
END_TEST

/* A span from 200 on, in which the thread sleeps once. */
static void the_next_span_is_split(void)
{
	probe_hit(START, T, 200);
	switches_to(T, SLEEPS, OTHER, 210);
	wakes(T, 220);
	switches_to(OTHER, RUNS, T, 230);
	probe_hit(DONE, T, 240);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_SLEEPING], 10);
}

/* A span that straddles a loss is not even measured; the next one is split again. */
START_TEST(lost_events_discard_what_is_open)
{
	ends = 0;
	probe_hit(START, T, 100);
	switches_to(T, SLEEPS, OTHER, 110);
	nw_summary_loss(summary, 120, 3);
	switches_to(OTHER, RUNS, T, 130);
	probe_hit(DONE, T, 140);
	ck_assert_uint_eq(ends, 0);
	ck_assert_uint_eq(row()->discarded, 1);
	ck_assert_uint_eq(row()->latency.count, 0);
	the_next_span_is_split();
}
END_TEST

/* A wake-up belongs to one sleep. If the end of that sleep was lost, the next sleep does not get the wake-up. */
START_TEST(a_lost_switch_does_not_end_the_next_sleep)
{
	probe_hit(START, T, 100);
	switches_to(T, SLEEPS, OTHER, 110);
	wakes(T, 120);
	is_awake(T, 121);
	nw_summary_loss(summary, 125, 1);
	the_next_span_is_split();
	ck_assert_uint_eq(states[NW_TASK_RUNNABLE], 10);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 20);
}
END_TEST

/* A number that is used again is another thread. */
START_TEST(a_thread_that_exits_is_forgotten)
{
	probe_hit(START, T, 100);
	switches_to(T, DISK, OTHER, 110);
	nw_summary_exit(summary, T);
	probe_hit(START, T, 200);
	probe_hit(DONE, T, 210);
	ck_assert(split);
	ck_assert_uint_eq(states[NW_TASK_RUNNING], 10);
}
END_TEST

START_TEST(without_a_switch_there_is_nothing_to_tell)
{
	struct nw_error err;
	struct nw_summary *other;

	switches.name = (char *)(uintptr_t) "sched_stat_runtime";
	const struct nw_summary_options options = {
		.selection = &selection, .spans = &span, .span_count = 1, .states = true};
	ck_assert_int_lt(nw_summary_open(&options, &other, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.what, "no events of the scheduler"));
}
END_TEST

UNIT_MAIN_WITH("task_states", setup, teardown, each_state_has_its_time,
	       states_may_be_one_bit_higher, nested_spans_share_a_clock, who_woke_it,
	       it_waits_for_a_cpu_when_it_is_on_its_queue, the_table_of_wakers_is_bounded,
	       a_missing_event_is_no_guess, an_open_span_has_states_so_far,
	       a_thread_is_split_once_it_was_seen, a_thread_is_split_once_it_was_named,
	       nobody_is_known_who_was_not_named, another_summary_knows_who_was_named,
	       a_birth_that_was_lost_is_no_guess, what_others_do_does_not_matter,
	       a_span_across_threads_is_all_others,
	       a_thread_that_serves_several_keys_is_others,
	       lost_events_discard_what_is_open, a_lost_switch_does_not_end_the_next_sleep,
	       a_thread_that_exits_is_forgotten, without_a_switch_there_is_nothing_to_tell)
