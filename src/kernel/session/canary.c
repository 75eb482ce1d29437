// SPDX-License-Identifier: MIT
/*
 * Trials of what README and the files of tracefs promise: probes in our own executable are defined,
 * armed, hit and read back, in a session of their own that is taken away like any other. A feature
 * that is refused or records nothing here is not there, whatever the files say (RHEL 7 has
 * instances, but no uprobe records in them).
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/session/session.h"

#include "kernel/steps/gate.h"
#include "kernel/steps/topbuffer.h"
#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/expedite.h"

#include "call_trial.h"
#include "feature_cache.h"
#include "kernel/recovery/teardown.h"

/* ---- what is probed ----------------------------------------------------------------- */

/* Kernels cannot place uprobes in Thumb code: one there kills us. */
#ifdef __thumb__
#define PROBED __attribute__((noinline, target("arm")))
#else
#define PROBED __attribute__((noinline))
#endif

/* The functions that are probed, by their addresses. Their bodies differ, so that the compiler does
 * not merge them into one. */
void nw_canary_hit(uint64_t number, const uint32_t *word, const char *text);
void nw_canary_other(void);
void nw_canary_counted(void);

PROBED void nw_canary_hit(uint64_t number, const uint32_t *word, const char *text)
{
	__asm__ volatile("nop" : : "r"(number), "r"(word), "r"(text) : "memory");
}

PROBED void nw_canary_other(void)
{
	__asm__ volatile("nop; nop" : : : "memory");
}

PROBED void nw_canary_counted(void)
{
	__asm__ volatile("nop; nop; nop" : : : "memory");
}

/* Calls itself, and is left by longjmp() then: the kernel may have kept return addresses of calls that never return. */
static jmp_buf canary_back;
void nw_canary_left(int level);

PROBED void nw_canary_left(int level)
{
	void (*volatile left)(int) = nw_canary_left;

	if (level)
		longjmp(canary_back, 1);
	if (setjmp(canary_back) == 0)
		left(1);
	__asm__ volatile("nop; nop; nop; nop" : : : "memory");
}

/* In .data, since the kernel is told its offset in the file, and .bss is not in the file. */
static volatile uint16_t semaphore __attribute__((section(".data"))) = 0;

static void hit_all(void)
{
	static const uint32_t word = 0x04030201;
	void (*volatile hit)(uint64_t, const uint32_t *, const char *) = nw_canary_hit;
	void (*volatile other)(void) = nw_canary_other;
	void (*volatile counted)(void) = nw_canary_counted;

	hit(42, &word, "canary");
	other();
	counted();
}

/* ---- the trials --------------------------------------------------------------------- */

enum site {
	SITE_HIT,
	SITE_OTHER,
	SITE_COUNTED,
	SITE_LEFT,
	SITES
};

/* A definition, and what its record says. Those of one event stand together. */
static const struct trial {
	enum nw_feature feature;
	const char *event;
	enum site site;
	bool counted;
	const char *fetches; /* {1}: the first argument of the function */
	const char *says; /* in the record; kernels before 4.9 print all in hexadecimal */
	const char *or_says;
} trials[] = {
	{NW_FEATURE_UPROBE_EVENTS, "hit", SITE_HIT, false, "", "(0x", NULL},
	{NW_FEATURE_MEMORY, "memory", SITE_HIT, false, " s=+0({3}):string a=+0({2}):u32",
	 "s=\"canary\" a=67305985", "s=\"canary\" a=0x4030201"},
	{NW_FEATURE_HEX, "hex", SITE_HIT, false, " a={1}:x64", "a=0x2a", NULL},
	{NW_FEATURE_ARRAYS, "array", SITE_HIT, false, " a=+0({2}):u8[4]", "a={1,2,3,4}",
	 NULL},
	{NW_FEATURE_IMMEDIATE, "imm", SITE_HIT, false, " a=\\42:s32", "a=42", NULL},
	{NW_FEATURE_REF_CTR, "counted", SITE_COUNTED, true, "", "(0x", NULL},
	{NW_FEATURE_MULTI_SITE, "multi", SITE_HIT, false, "", "(0x", NULL},
	{NW_FEATURE_MULTI_SITE, "multi", SITE_OTHER, false, "", "(0x", NULL},
	/* a return probe, which a child hits: try_longjmp() */
	{NW_FEATURE_LONGJMP, "left", SITE_LEFT, false, "", NULL, NULL},
};

struct canary {
	const struct nw_tracefs *fs;
	struct nw_features *features;
	struct nw_journal journal;
	struct nw_step_runner runner;
	bool gated;
	bool armed; /* they were enabled, so that hits had to be recorded somewhere */
	char group[NW_MAX_NAME + 1];
	char instance[NW_MAX_NAME + 16];
	char where[NW_MAX_NAME + 24]; /* the instance and a slash, or "": the top level */
	int top_lock;		      /* -1: the top-level buffer is not for us */
	uint64_t offset[SITES], semaphore_offset;
	int defined[NW_COUNT(trials)]; /* 0 or -errno; -ENOSYS: not tried */
	int failed; /* -errno: something ran out, so the trial shows nothing */
};

/* Notes whether a part of the trial failed for a reason that says nothing of the kernel. Returns ret. */
static int note(struct canary *c, int ret)
{
	if (nw_step_runner_is_short(&c->runner, ret))
		c->failed = ret;
	return ret;
}

/* Take down what a trial has shown. What has failed once stays failed. */
static void conclude(struct canary *c, enum nw_feature feature, bool has, const char *what)
{
	struct nw_features *features = c->features;

	if (features->masked[feature] ||
	    (features->tried[feature] && !features->has[feature]))
		return;
	features->tried[feature] = what;
	features->has[feature] = has;
}

static void judge(struct canary *c, enum nw_feature feature, const char *failure)
{
	conclude(c, feature, failure == NULL, failure ? failure : "works");
}

static int find_sites(struct canary *c, struct nw_error *err)
{
	const uintptr_t addresses[SITES + 1] = {
		[SITE_HIT] = (uintptr_t)nw_canary_hit,
		[SITE_OTHER] = (uintptr_t)nw_canary_other,
		[SITE_COUNTED] = (uintptr_t)nw_canary_counted,
		[SITE_LEFT] = (uintptr_t)nw_canary_left,
		[SITES] = (uintptr_t)&semaphore};
	uint64_t offsets[SITES + 1];
	int ret = nw_process_own_offsets(addresses, NW_COUNT(addresses), offsets, err);

	if (ret < 0)
		return ret;
	memcpy(c->offset, offsets, sizeof(c->offset));
	c->semaphore_offset = offsets[SITES];
	return 0;
}

/* The fetches of a trial, for this architecture. ENOSYS: where its arguments are is not known. */
static int spell_fetches(const char *fetches, struct nw_buf *out)
{
	const struct nw_arch *own = nw_arch_native();

	if (*fetches && (!own || !*own->canary_args))
		return -ENOSYS;
	for (; *fetches; fetches++) {
		if (*fetches != '{') {
			nw_buf_addc(out, *fetches);
			continue;
		}
		nw_buf_printf(out, "%%%s", own->canary_args[fetches[1] - '1']);
		fetches += 2;
	}
	return 0;
}

static int define(struct canary *c, const struct trial *trial)
{
	char line[512], counter[32] = "";
	struct nw_buf fetches = {0};
	/*
	 * Not made where README does not mention what it mentions on kernels that have it: each of those lines came
	 * with the commit of its feature. And a definition that the kernel refuses leaves a line or two in its log.
	 */
	bool told = c->features->has[trial->feature] ||
		    (trial->feature == NW_FEATURE_MEMORY && c->features->unproven);
	int ret = told ? spell_fetches(trial->fetches, &fetches) : -ENOSYS;

	if (ret < 0)
		return ret;
	if (trial->counted)
		snprintf(counter, sizeof(counter), "(0x%jx)", c->semaphore_offset);
	if (fetches.failed)
		note(c, -ENOMEM);
	snprintf(line, sizeof(line), "%c:%s/%s /proc/self/exe:0x%jx%s%s",
		 trial->site == SITE_LEFT ? 'r' : 'p', c->group, trial->event,
		 c->offset[trial->site], counter, nw_buf_str(&fetches));
	nw_buf_free(&fetches);
	return note(c, nw_step_runner_step(&c->runner, NW_DO_APPEND, "uprobe_events", line,
					   NULL));
}

struct counting {
	const struct canary *canary;
	const char *event;
	unsigned int lines;
};

static int count_line(void *arg, const struct nw_definition_line *line)
{
	struct counting *c = arg;

	c->lines += strcmp(line->group, c->canary->group) == 0 &&
		    strcmp(line->name, c->event) == 0;
	return 0;
}

/* How many lines of an event there are; kernels may take a second one in place of the first. */
static unsigned int count_lines(struct canary *c, const char *event)
{
	struct counting counting = {.canary = c, .event = event};

	note(c, nw_event_list_read(c->fs, NULL, count_line, &counting));
	return counting.lines;
}

/* ---- in a ring buffer --------------------------------------------------------------- */

static int write_where(struct canary *c, const char *file, const char *text)
{
	char path[3 * NW_MAX_NAME + 96];

	snprintf(path, sizeof(path), "%s%s", c->where, file);
	return note(c, nw_step_runner_step(&c->runner, NW_DO_WRITE, path, text, NULL));
}

/* Reads the records since the buffer was last emptied, as text. */
static void read_trace(struct canary *c, struct nw_buf *out)
{
	char path[NW_MAX_NAME + 64];

	snprintf(path, sizeof(path), "%strace", c->where);
	note(c, nw_tracefs_read(c->fs->root, path, out));
}

/* How many records of an event say this? */
static unsigned int count_records(const char *trace, const char *event, const char *says)
{
	unsigned int count = 0;
	char mark[64];

	snprintf(mark, sizeof(mark), ": %s: (0x", event);
	for (const char *at = trace; (at = strstr(at, mark)); at++) {
		const char *end = strchrnul(at, '\n');
		const char *found = says ? strstr(at, says) : NULL;
		count += found && found < end;
	}
	return count;
}

/* "comm-1 [000] d.... 12345.678901: hit: (0x...": seconds of the trace clock. */
static double time_of(const char *trace)
{
	const char *at = strstr(trace, ": hit: (0x");

	while (at && at > trace && at[-1] != ' ')
		at--;
	return at ? strtod(at, NULL) : 0;
}

static double seconds(void)
{
	return (double)nw_clock_ns(CLOCK_MONOTONIC) / 1e9;
}

static void try_clock(struct canary *c)
{
	struct nw_buf trace = {0};

	if (!c->features->has[NW_FEATURE_CLOCK_MONO] ||
	    write_where(c, "trace_clock", "mono") < 0)
		return;
	double before = seconds() - 1e-5; /* it is shown in microseconds */
	hit_all();
	read_trace(c, &trace);
	double at = time_of(nw_buf_str(&trace));
	judge(c, NW_FEATURE_CLOCK_MONO,
	      at >= before && at <= seconds() + 1e-5 ? NULL : "not CLOCK_MONOTONIC's time");
	nw_buf_free(&trace);
}

/* With recording restricted to another thread, a hit of ours must not be recorded. */
static void try_event_pid(struct canary *c)
{
	struct nw_buf trace = {0};

	if (!c->features->has[NW_FEATURE_EVENT_PID])
		return;
	int ret = write_where(c, "set_event_pid", "2");
	write_where(c, "trace", "");
	hit_all();
	read_trace(c, &trace);
	judge(c, NW_FEATURE_EVENT_PID,
	      ret < 0 ? "refused"
	      : count_records(nw_buf_str(&trace), "hit", "(0x")
		      ? "threads that were not asked for are recorded"
		      : NULL);
	nw_buf_free(&trace);
}

/* A child that dies of it has no word in the kernel's log, since it handles the signal. */
static void end_child(int signal)
{
	(void)signal;
	_exit(1);
}

/* Runs in a child, which leaves a function with a return probe by longjmp(): the child lives on, or crashes. */
static void leave_by_jump(void)
{
	static const int signals[] = {SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE};
	static char memory[32768];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	const struct sigaction end = {.sa_handler = end_child, .sa_flags = SA_ONSTACK};
	const struct rlimit second = {1, 1}, none = {0, 0};
	void (*volatile left)(int) = nw_canary_left;
	sigset_t all;

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < NW_COUNT(signals); i++)
		sigaction(signals[i], &end, NULL);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setrlimit(RLIMIT_CPU, &second);
	setrlimit(RLIMIT_CORE, &none);
	left(0);
	_exit(0);
}

static void try_longjmp(struct canary *c)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		leave_by_jump();
	if (child < 0) {
		note(c, -errno);
		return;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	judge(c, NW_FEATURE_LONGJMP,
	      WIFEXITED(status) && WEXITSTATUS(status) == 0
		      ? NULL
		      : "a return probe killed a child that left a function by longjmp()");
}

static bool is_defined(const struct canary *c, enum site site)
{
	for (size_t i = 0; i < NW_COUNT(trials); i++)
		if (trials[i].site == site && c->defined[i] == 0)
			return true;
	return false;
}

/* Arm and hit everything; does the buffer have it? */
static bool try_records(struct canary *c, const char **failure)
{
	struct nw_buf trace = {0};
	uint16_t closed = semaphore, raised;
	char enable[NW_MAX_NAME + 32];

	snprintf(enable, sizeof(enable), "events/%s/enable", c->group);
	if (c->gated)
		note(c, nw_gate_step(&c->runner, &c->journal, NW_GATE_OPEN));
	int ret = write_where(c, enable, "1");
	if (c->gated)
		note(c, nw_gate_step(&c->runner, &c->journal, NW_GATE_SHUT));
	c->armed |= ret == 0;
	raised = semaphore;
	hit_all();
	read_trace(c, &trace);
	if (ret == 0 && is_defined(c, SITE_LEFT))
		try_longjmp(c);
	const char *text = nw_buf_str(&trace);
	bool any = count_records(text, "hit", "(0x") > 0;
	*failure = ret < 0 ? "they cannot be enabled there"
		   : any   ? NULL
			   : "no record in the instance";
	if (any) {
		for (size_t i = 0; i < NW_COUNT(trials); i++) {
			const struct trial *t = &trials[i];
			unsigned int sites = t->feature == NW_FEATURE_MULTI_SITE ? 2 : 1;
			unsigned int seen = count_records(text, t->event, t->says) +
					    count_records(text, t->event, t->or_says);
			if (c->defined[i] == 0 && t->says)
				judge(c, t->feature,
				      seen >= sites
					      ? NULL
					      : "defined, but not recorded as it was hit");
		}
		if (raised == closed)
			judge(c, NW_FEATURE_REF_CTR, "the semaphore was not raised");
	}
	nw_buf_free(&trace);
	return any;
}

static bool try_instance(struct canary *c)
{
	const char *failure;

	if (!c->features->has[NW_FEATURE_INSTANCES])
		return false;
	bool made = note(c, nw_step_runner_step(&c->runner, NW_DO_MKDIR, c->instance, "",
						NULL)) == 0;
	judge(c, NW_FEATURE_INSTANCES, made ? NULL : "none can be made");
	if (!made)
		return false;
	snprintf(c->where, sizeof(c->where), "%s/", c->instance);
	bool any = try_records(c, &failure);
	judge(c, NW_FEATURE_INSTANCE_EVENTS, failure);
	if (any) {
		try_clock(c);
		try_event_pid(c);
	} else {
		/* a kernel that has them enabled in an instance refuses the top level, with a line an event in its log */
		char enable[NW_MAX_NAME + 32];
		snprintf(enable, sizeof(enable), "events/%s/enable", c->group);
		write_where(c, enable, "0");
	}
	*c->where = '\0';
	return any;
}

/* ---- in the top-level buffer -------------------------------------------------------- */

/*
 * Where probes do not record in instances, the records of those that are enabled in one go to
 * the top-level buffer (before Linux 3.15). So that is ours for the time of the trial, if nobody
 * uses it; should we die, `clean` empties it.
 */
static void take_top(struct canary *c)
{
	const struct nw_features *features = c->features;

	if (!features->unproven && features->has[NW_FEATURE_INSTANCES] &&
	    features->has[NW_FEATURE_INSTANCE_EVENTS])
		return;
	if (nw_top_take(c->fs, false, &c->top_lock, NULL) == 0)
		nw_top_keep(c->fs, &c->journal, "tracing_on");
}

/* Is every record one of our events'? */
static bool all_ours(const char *trace)
{
	for (const char *line = trace; *line;) {
		const char *end = strchrnul(line, '\n');
		size_t i = *line == '#' || line == end ? 0 : NW_COUNT(trials);
		while (i-- > 0) {
			char mark[64];
			snprintf(mark, sizeof(mark), ": %s: (0x", trials[i].event);
			const char *found = strstr(line, mark);
			if (found && found < end)
				break;
			if (i == 0)
				return false;
		}
		line = *end ? end + 1 : end;
	}
	return true;
}

/* Remove our records from the top-level buffer, unless somebody else has begun to record there. */
static void empty_top(struct canary *c)
{
	struct nw_buf trace = {0};

	read_trace(c, &trace);
	if (!c->failed && all_ours(nw_buf_str(&trace)))
		nw_top_clear(c->fs);
	nw_buf_free(&trace);
}

static bool try_top(struct canary *c)
{
	char enable[NW_MAX_NAME + 32];
	const char *failure;

	empty_top(c);
	bool any = try_records(c, &failure);
	snprintf(enable, sizeof(enable), "events/%s/enable", c->group);
	write_where(c, enable, "0");
	empty_top(c);
	return any;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int begin(struct canary *c, struct nw_error *err)
{
	char name[24];
	int ret = find_sites(c, err);

	nw_session_name(name);
	if (ret == 0)
		ret = nw_journal_create(name, &c->journal, err);
	if (ret < 0)
		return ret;
	nw_session_group(name, c->group);
	snprintf(c->instance, sizeof(c->instance), "instances/%s", c->group);
	c->runner = (struct nw_step_runner){.fs = c->fs, .journal = &c->journal};
	nw_expedite_begin(c->features, &c->journal.expedited);
	return 0;
}

static int take_away(struct canary *c, struct nw_error *err)
{
	nw_strings stuck = {0};
	int ret = nw_teardown(c->fs, c->journal.session, &stuck);

	nw_expedite_end(&c->journal.expedited);
	return nw_session_settle(&c->journal, ret, &stuck, err);
}

/* ---- event probes ------------------------------------------------------------------- */

/* Does an event probe read what a system call's argument points to? Up to Linux 6.12 and later it takes one byte of the
 * address for the address (trace_eprobe.c, get_event_field(), FILTER_PTR_STRING). */
static void try_event_probe(struct canary *c)
{
	static const char path[] = "/nw_canary";
	static const char says[] = "a={47,110,119,95}"; /* "/nw_" */
	char file[2 * NW_MAX_NAME + 48];
	struct nw_buf trace = {0};
	nw_cleanup(nw_free_ptr) char *line = nw_text(
		"e:%s/path syscalls.sys_enter_openat a=+0($filename):u8[4]", c->group);

	int ret = line ? note(c, nw_step_runner_step(&c->runner, NW_DO_MKDIR, c->instance,
						     "", NULL))
		       : note(c, -ENOMEM);
	if (ret == 0)
		ret = note(c, nw_step_runner_step(&c->runner, NW_DO_APPEND,
						  NW_DYNAMIC_EVENTS, line, NULL));
	snprintf(c->where, sizeof(c->where), "%s/", c->instance);
	snprintf(file, sizeof(file), "events/%s/enable", c->group);
	if (ret == 0)
		ret = write_where(c, file, "1");
	if (ret == 0) {
		int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			close(fd);
		read_trace(c, &trace);
	}
	judge(c, NW_FEATURE_EVENT_PROBES,
	      ret < 0				 ? "a definition is refused"
	      : strstr(nw_buf_str(&trace), says) ? NULL
						 : "defined, but it reads something else");
	nw_buf_free(&trace);
}

/* Tries one feature, in a session of its own. */
static int try_one(const struct nw_tracefs *fs, struct nw_features *features,
		   enum nw_feature feature, void (*try)(struct canary *c),
		   struct nw_error *err)
{
	struct canary c = {.fs = fs, .features = features, .top_lock = -1};
	const struct nw_features before = *features;

	if (!features->has[feature] || features->tried[feature])
		return 0;
	if (!features->has[NW_FEATURE_INSTANCES]) {
		features->has[feature] = false;
		return 0;
	}
	int ret = begin(&c, err);
	if (ret < 0)
		return ret;
	try(&c);
	ret = take_away(&c, err);
	if (c.failed) {
		*features = before;
		if (ret == 0)
			ret = nw_fail(err, -c.failed, "the trial broke off: %s",
				      nw_strerror(-c.failed));
	}
	return ret;
}

int nw_event_probes_try(const struct nw_tracefs *fs, struct nw_features *features,
			struct nw_error *err)
{
	return try_one(fs, features, NW_FEATURE_EVENT_PROBES, try_event_probe, err);
}

/* ---- probes that become calls ------------------------------------------------------- */

/* Returns why probes are not to be turned into calls; NULL: they may be. */
static const char *hit_calls(struct canary *c)
{
	struct nw_buf trace = {0};
	unsigned int hits = 0;
	const char *failure;
	int ret = note(c, nw_call_trial_hit(&hits, &failure));

	read_trace(c, &trace);
	unsigned int seen = count_records(nw_buf_str(&trace), "call", "(0x");
	nw_buf_free(&trace);
	return ret < 0			 ? "not tried"
	       : failure || seen == hits ? failure
					 : "not every hit is recorded";
}

static void try_calls(struct canary *c)
{
	const uintptr_t address = nw_call_trial_nop();
	const char *failure = "refused";
	char enable[NW_MAX_NAME + 32];
	uint64_t offset = 0;
	struct nw_error err;
	int ret = note(c, nw_process_own_offsets(&address, 1, &offset, &err));
	nw_cleanup(nw_free_ptr) char *line = nw_text("p:%s/call /proc/self/exe:0x%jx",
						     c->group, offset);

	if (ret == 0)
		ret = line ? note(c, nw_step_runner_step(&c->runner, NW_DO_MKDIR,
							 c->instance, "", NULL))
			   : note(c, -ENOMEM);
	if (ret == 0)
		ret = note(c, nw_step_runner_step(&c->runner, NW_DO_APPEND, "uprobe_events",
						  line, NULL));
	snprintf(c->where, sizeof(c->where), "%s/", c->instance);
	snprintf(enable, sizeof(enable), "events/%s/enable", c->group);
	if (ret == 0 && write_where(c, enable, "1") == 0)
		failure = hit_calls(c);
	judge(c, NW_FEATURE_NOP10, failure);
}

int nw_calls_try(const struct nw_tracefs *fs, struct nw_features *features,
		 struct nw_error *err)
{
	if (!features->has[NW_FEATURE_NOP10] ||
	    nw_feature_recall(fs, features, NW_FEATURE_NOP10))
		return 0;
	int ret = try_one(fs, features, NW_FEATURE_NOP10, try_calls, err);
	if (ret == 0)
		nw_feature_keep(fs, features, NW_FEATURE_NOP10);
	return ret;
}

/* ---- the whole, of a program's probes ----------------------------------------------- */

int nw_features_try(const struct nw_tracefs *fs, struct nw_features *features,
		    struct nw_error *err)
{
	struct canary c = {.fs = fs, .features = features, .top_lock = -1};
	const struct nw_features before = *features;
	int ret = begin(&c, err);

	if (ret < 0)
		return ret;
	take_top(&c);
	unsigned int lines = 0; /* of this event so far */
	/* The event of several sites begins with the gate that makes it safe to delete
	 * (gate.c). */
	nw_cleanup(nw_free_ptr) char *event = nw_text("%s/multi", c.group);
	nw_cleanup(nw_free_ptr) char *line = event ? nw_gate_line(&c.journal, event, false,
								  "")
						   : NULL;

	note(&c, line ? 0 : -ENOMEM);
	if (c.features->has[NW_FEATURE_MULTI_SITE] && line &&
	    note(&c, nw_gate_step(&c.runner, &c.journal, NW_GATE_MAKE)) == 0)
		c.gated = note(&c, nw_step_runner_step(&c.runner, NW_DO_APPEND,
						       "uprobe_events", line, NULL)) == 0;
	for (size_t i = 0; i < NW_COUNT(trials); i++) {
		bool another = i && strcmp(trials[i].event, trials[i - 1].event) == 0;
		lines = another ? lines : 0;
		c.defined[i] = define(&c, &trials[i]);
		if (c.defined[i] < 0 && c.defined[i] != -ENOSYS)
			judge(&c, trials[i].feature, "a definition is refused");
		else if (c.defined[i] == 0 && count_lines(&c, trials[i].event) <= lines)
			judge(&c, trials[i].feature, "it takes the place of the first");
		else if (c.defined[i] == 0)
			conclude(&c, trials[i].feature, true, "is accepted");
		lines += c.defined[i] == 0;
	}
	bool unproven = features->unproven;
	/* An earlier trial has shown that events that are enabled in an instance record elsewhere. */
	bool elsewhere = features->tried[NW_FEATURE_INSTANCE_EVENTS] &&
			 !features->has[NW_FEATURE_INSTANCE_EVENTS];
	bool seen = (!elsewhere && try_instance(&c)) || (c.top_lock >= 0 && try_top(&c));
	features->unproven = false;
	ret = take_away(&c, err);
	if (c.failed) {
		*features = before;
		if (ret == 0)
			ret = nw_fail(err, -c.failed, "the trial broke off: %s",
				      nw_strerror(-c.failed));
	}
	/*
	 * Without a record there is still an answer if there is nothing more to ask of one. Where probes do not
	 * record in instances, ours is then in the top-level buffer, among those of others, who have it: once a boot.
	 */
	if (ret == 0 && unproven && (seen || c.armed))
		nw_features_keep(fs, features, seen || !features->has[NW_FEATURE_MEMORY]);
	if (c.top_lock >= 0)
		close(c.top_lock);
	return ret;
}
