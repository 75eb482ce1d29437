// SPDX-License-Identifier: MIT
/*
 * What the reader costs, without a kernel: micro file RECORDING, micro growth; and what memory a
 * command needs: micro peak COMMAND. Prints JSON for tests/bench/run.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/bins.h"
#include "show/top/top.h"
#include "stream/recording/recording.h"
#include "stream/trace_pipe/trace_text.h"

/* The builder of pages comes from the unit tests; outside of one, check's macros abort. */
#define NOPWATCH_TESTS_UNIT_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ck_assert_msg(ok, ...)	   ((ok) ? (void)0 : abort())
#define ck_assert(ok)		   ck_assert_msg(ok)
#define ck_assert_int_eq(a, b)	   ck_assert_msg((a) == (b))
#define ck_assert_uint_eq(a, b)	   ck_assert_msg((a) == (b))
#define ck_assert_uint_le(a, b)	   ck_assert_msg((a) <= (b))
#define ck_assert_ptr_nonnull(ptr) ck_assert_msg((ptr) != NULL)
#include "page_builder.h"

enum {
	ROUNDS = 7
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

static void die(const char *what)
{
	fprintf(stderr, "micro: %s\n", what);
	exit(1);
}

/* ---- one pass of everything --------------------------------------------------------- */

struct subject {
	struct nw_selection *selection;
	const struct nw_formats *formats;
	const struct nw_page_run *runs;
	size_t run_count;
	nw_span_defs spans;
	bool stacks; /* hits have stack pointers */
};

static uint64_t summarise(const struct subject *s)
{
	struct nw_summary_options options = {.selection = s->selection,
					     .spans = s->spans.item,
					     .span_count = s->spans.count};
	struct nw_summary *summary;
	struct nw_stream *stream;
	struct nw_join *join;
	struct nw_record record;
	struct nw_hit hit, many[128];
	uint64_t hits = 0;

	if (nw_summary_open(&options, &summary, NULL) < 0 ||
	    nw_stream_open_memory(s->formats, s->runs, s->run_count, &stream, NULL) < 0 ||
	    nw_join_open(s->formats, false, &join) < 0)
		die("cannot open");
	if (s->stacks)
		nw_summary_use_stacks(summary);
	for (;;) {
		size_t count = nw_stream_hits(stream, many, NW_COUNT(many));
		hits += count;
		if (count)
			nw_summary_hits(summary, many, count);
		else if (nw_stream_next(stream, &record) <= 0)
			break;
		else if (record.kind == NW_RECORD_HIT &&
			 nw_join_push(join, &record, &hit) > 0)
			hits += nw_summary_hit(summary, &hit, 0, 0) == 0;
	}
	nw_join_free(join);
	nw_stream_free(stream);
	nw_summary_free(summary);
	return hits;
}

static void bin_span(void *arg, const struct nw_span_event *event)
{
	if (nw_bins_span(*(struct nw_bins **)arg, event, 0) < 0)
		die("no memory");
}

/* The same for -f html: as src/run/consumers/measure.c does it. */
static uint64_t picture(const struct subject *s)
{
	struct nw_bins *bins = NULL;
	struct nw_summary_options options = {.selection = s->selection,
					     .spans = s->spans.item,
					     .span_count = s->spans.count,
					     .listener = bin_span,
					     .listener_arg = &bins,
					     .lazy = true,
					     .bins = true};
	struct nw_bins_options binned = {.probes = s->selection->probes.count,
					 .spans = s->spans.item,
					 .span_count = s->spans.count,
					 .collect = nw_bins_of_summary};
	struct nw_summary *summary;
	struct nw_stream *stream;
	struct nw_record record;
	struct nw_hit many[128];
	uint64_t hits = 0;

	if (nw_summary_open(&options, &summary, NULL) < 0 ||
	    nw_stream_open_memory(s->formats, s->runs, s->run_count, &stream, NULL) < 0)
		die("cannot open");
	if (s->stacks)
		nw_summary_use_stacks(summary);
	for (;;) {
		size_t count = nw_stream_hits(stream, many, NW_COUNT(many)), some;
		hits += count;
		if (!count && nw_stream_next(stream, &record) <= 0)
			break;
		if (!count && record.kind == NW_RECORD_HIT) {
			many[0] = record.hit;
			count = 1;
		}
		if (!count)
			continue;
		binned.start = many[0].time;
		binned.collect_arg = summary;
		if (!bins) {
			if (nw_bins_open(&binned, &bins, NULL) < 0)
				die("cannot open");
			nw_summary_emit_above(summary, nw_bins_least(bins));
		}
		for (size_t at = 0; at < count; at += some) {
			if (nw_bins_reach(bins, many[at].time) < 0)
				die("no memory");
			some = nw_bins_together(bins, many + at, count - at);
			nw_summary_hits(summary, many + at, some);
		}
	}
	nw_stream_free(stream);
	nw_summary_free(summary);
	nw_bins_free(bins);
	return hits;
}

static uint64_t walk(const struct subject *s)
{
	const struct nw_page_layout *layout = &s->formats->page;
	const unsigned char *data;
	struct nw_page page;
	uint64_t events = 0;
	uint32_t size;

	for (size_t i = 0; i < s->run_count; i++) {
		for (size_t at = 0; at + layout->size <= s->runs[i].size;
		     at += layout->size) {
			if (nw_page_open(&page, layout, s->runs[i].pages + at,
					 layout->size) < 0)
				continue;
			while (nw_page_next(&page, &data, &size) > 0)
				events++;
		}
	}
	return events;
}

/* Seconds of the median of several passes. */
static double timed(uint64_t (*pass)(const struct subject *), const struct subject *s)
{
	double took[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double start = seconds();
		if (!pass(s))
			die("nothing was handed out");
		took[i] = seconds() - start;
	}
	return median(took, ROUNDS);
}

/* ---- a recording -------------------------------------------------------------------- */

static unsigned char *copy_target;

/* A page at a time, into the same few pages, as a reader copies. */
static uint64_t copy(const struct subject *s)
{
	size_t page = s->formats->page.size;
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->run_count; i++) {
		for (size_t at = 0; at + page <= s->runs[i].size; at += page) {
			memcpy(copy_target + at % (64 * page), s->runs[i].pages + at, page);
			__asm__ volatile("" : : "r"(copy_target) : "memory");
			bytes += page;
		}
	}
	return bytes;
}

static void bench_file(const char *path)
{
	struct nw_recording recording;
	struct nw_selection selection;
	struct nw_formats formats;
	struct nw_plan plan;
	struct nw_armed armed;
	struct nw_error err;
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0)
		die("cannot open the recording");
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
			   fd, 0);
	if (nw_recording_parse(bytes, (size_t)st.st_size, &recording, &err) < 0 ||
	    nw_plan_load(recording.table, recording.table_len, &selection, &plan, &armed,
			 NULL, NULL, &err) < 0 ||
	    nw_formats_load(&armed, false, recording.header_page, recording.header_page_len,
			    nw_recording_format, &recording, &formats, &err) < 0)
		die(err.what);
	struct subject s = {.selection = &selection,
			    .formats = &formats,
			    .runs = recording.runs.item,
			    .run_count = recording.runs.count,
			    .stacks = formats.stacks};
	nw_spans_by_name(&selection, &s.spans);
	copy_target = malloc(64 * formats.page.size);
	double events = (double)walk(&s), whole = timed(walk, &s);
	double copied = timed(copy, &s), summarised = timed(summarise, &s);
	double pictured = timed(picture, &s);
	printf("{\"events\":%.0f,\"bytes\":%" PRIu64
	       ",\"walk_ns\":%.3f,\"copy_ns\":%.3f,\"summary_ns\":%.3f,\"picture_ns\":%.3f}"
	       "\n",
	       events, copy(&s), whole / events * 1e9, copied / events * 1e9,
	       summarised / events * 1e9, pictured / events * 1e9);
}

/* ---- growth ------------------------------------------------------------------------- */

static void row(const char *what, double value, const char *unit)
{
	printf("{\"what\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n", what, value, unit);
	fflush(stdout);
}

static double heap_mib(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)(info.uordblks + info.hblkhd) / 0x1p20;
}

/* The same number of events on ever more CPUs: merging must not get dearer than log CPUs. */
static void grow_cpus(void)
{
	static const size_t cpus[] = {2, 16, 64, 256, 512};
	enum {
		EVENTS = 1 << 20
	};

	for (size_t i = 0; i < NW_COUNT(cpus); i++) {
		struct fake fake;
		struct nw_page_run runs[512];
		struct cpu cpu[512];
		fake_open_two(&fake, 4096);
		for (size_t c = 0; c < cpus[i]; c++)
			cpu[c] = (struct cpu){.layout = fake.formats.page};
		for (uint64_t event = 0; event < EVENTS; event++)
			cpu_hit(&cpu[nw_hash64(event) % cpus[i]], 1000 + event * 100,
				(int32_t)(event / 2 % 64) + 1,
				event % 2 ? FAKE_TWO : FAKE_ONE, event);
		for (size_t c = 0; c < cpus[i]; c++) {
			cpu_flush(&cpu[c]);
			runs[c] = (struct nw_page_run){
				.cpu = (uint32_t)c,
				.pages = (unsigned char *)cpu[c].pages.data,
				.size = cpu[c].pages.len};
		}
		struct subject s = {.selection = &fake.selection,
				    .formats = &fake.formats,
				    .runs = runs,
				    .run_count = cpus[i]};
		char what[64];
		snprintf(what, sizeof(what), "%zu CPUs: decode, order, summarise", cpus[i]);
		row(what, timed(summarise, &s) / EVENTS * 1e9, "ns/event");
		for (size_t c = 0; c < cpus[i]; c++)
			cpu_free(&cpu[c]);
		fake_close(&fake);
	}
}

static struct nw_summary *open_summary(struct fake *fake, struct nw_span_def *span,
				       bool grouped)
{
	static const uint32_t ends[] = {0, 1};
	struct nw_summary *summary;

	span->name = strdup("span");
	*(uint32_t *)nw_vec_add(&span->starts) = ends[0];
	*(uint32_t *)nw_vec_add(&span->ends) = ends[1];
	span->key = NW_KEY_TID;
	const struct nw_summary_options options = {.selection = &fake->selection,
						   .spans = span,
						   .span_count = span ? 1 : 0,
						   .grouped = grouped,
						   .most_open = 4u << 20};
	if (nw_summary_open(&options, &summary, NULL) < 0)
		die("cannot open a summary");
	return summary;
}

static void hit(struct nw_summary *summary, uint32_t probe, uint32_t tid, uint64_t time,
		int64_t group)
{
	const struct nw_hit hit = {.time = time, .tid = (int32_t)tid, .probe = probe};

	nw_summary_hit(summary, &hit, 0, group);
}

/* So many spans are open all the time; each hit ends the oldest or begins a new one. */
static void grow_spans(void)
{
	static const uint32_t open[] = {1, 100, 10000, 1000000};
	enum {
		HITS = 1 << 21
	};

	for (size_t i = 0; i < NW_COUNT(open); i++) {
		struct nw_span_def span = {0};
		struct fake fake;
		char what[64];
		uint64_t time = 1;
		fake_open_two(&fake, 4096);
		double before = heap_mib();
		struct nw_summary *summary = open_summary(&fake, &span, false);
		for (uint32_t tid = 0; tid < open[i]; tid++)
			hit(summary, 0, tid, time++, 0);
		double start = seconds();
		for (uint32_t n = 0; n < HITS / 2; n++) {
			hit(summary, 1, n % open[i], time++, 0);
			hit(summary, 0, n % open[i], time++, 0);
		}
		snprintf(what, sizeof(what), "%u spans open", open[i]);
		row(what, (seconds() - start) / HITS * 1e9, "ns/hit");
		row(what, heap_mib() - before, "MiB");
		nw_summary_free(summary);
		nw_span_def_free(&span);
		fake_close(&fake);
	}
}

static void grow_groups(void)
{
	static const uint32_t groups[] = {1, 100, 1000, 10000};
	enum {
		HITS = 1 << 21
	};

	for (size_t i = 0; i < NW_COUNT(groups); i++) {
		struct nw_span_def span = {0};
		struct fake fake;
		char what[64], name[16];
		uint64_t time = 1;
		fake_open_two(&fake, 4096);
		double before = heap_mib();
		struct nw_summary *summary = open_summary(&fake, &span, true);
		double start = seconds();
		for (uint32_t n = 0; n < HITS / 2; n++) {
			int len = snprintf(name, sizeof(name), "g%u", n % groups[i]);
			int64_t group = nw_summary_group(summary, name, (size_t)len);
			hit(summary, 0, n % 64, time += 1000, group);
			hit(summary, 1, n % 64, time += 1000, group);
		}
		snprintf(what, sizeof(what), "%u groups", groups[i]);
		row(what, (seconds() - start) / HITS * 1e9, "ns/hit");
		row(what, heap_mib() - before, "MiB");
		nw_summary_free(summary);
		nw_span_def_free(&span);
		fake_close(&fake);
	}
}

/* A report a second for ten hours, with threads that come, leave spans open, and go. */
static void grow_intervals(void)
{
	struct nw_span_def span = {0};
	struct fake fake;
	uint64_t time = 1;
	uint32_t tid = 1;

	fake_open_two(&fake, 4096);
	struct nw_summary *summary = open_summary(&fake, &span, false);
	double first = 0, before = 0, start = seconds(), early = 0;
	for (int turn = 1; turn <= 36000; turn++) {
		for (int n = 0; n < 50; n++) {
			hit(summary, 0, tid, time += 1000, 0);
			hit(summary, 1, tid, time += 1000 + nw_hash64(time) % 100000, 0);
		}
		hit(summary, 0, tid, time += 1000, 0);
		nw_summary_exit(summary, (int32_t)tid++);
		nw_summary_next_interval(summary);
		if (turn == 600) {
			before = heap_mib();
			early = seconds() - start;
		}
	}
	first = early / 600;
	row("10 hours of a report a second: growth after the first 10 minutes",
	    heap_mib() - before, "MiB");
	row("10 hours of a report a second: the last against the first, a report",
	    (seconds() - start - early) / (36000 - 600) / first, "x");
	nw_summary_free(summary);
	nw_span_def_free(&span);
	fake_close(&fake);
}

/* ---- text --------------------------------------------------------------------------- */

enum {
	TEXT_LINES = 1 << 20
};

/* Lines as trace_pipe prints them: two threads, a start and a done in turn. */
static void make_text(struct nw_buf *out, const char *start_args, const char *done_args)
{
	for (unsigned int i = 0; i < TEXT_LINES; i++)
		nw_buf_printf(
			out,
			"          server-%-7u [%03u] ..... %5u.%06u: req__%s: (0x%x) "
			"%s\n",
			4711 + i / 2 % 2, i / 2 % 2, 1000 + i / 500000, i % 500000 * 2,
			i % 2 ? "done" : "start", 0x401136 + i % 2,
			i % 2 ? done_args : start_args);
}

/* A second of it, read and summarised; args: and its values taken apart. */
static double read_text(const struct nw_buf *bytes, const struct nw_selection *selection,
			const struct nw_armed *armed, const nw_span_defs *spans,
			bool values)
{
	struct nw_summary_options options = {.selection = selection,
					     .spans = spans->item,
					     .span_count = spans->count,
					     .args = values};
	struct nw_formats formats = {0};
	struct nw_summary *summary;
	struct nw_record record;
	struct nw_join *join;
	struct nw_text *text;
	struct nw_hit hit;
	uint64_t hits = 0;
	double start = seconds();

	if (nw_text_open_memory(bytes->data, bytes->len, &text) < 0 ||
	    nw_text_use(text, armed, values, &formats) < 0 ||
	    nw_join_open(&formats, values, &join) < 0 ||
	    nw_summary_open(&options, &summary, NULL) < 0)
		die("cannot open");
	while (nw_text_next(text, &record, NULL) > 0)
		if (nw_join_push(join, &record, &hit) > 0) {
			nw_summary_hit(summary, &hit, 0, 0);
			hits++;
		}
	double took = seconds() - start;
	if (hits != TEXT_LINES)
		die("lines are missing");
	nw_summary_free(summary);
	nw_join_free(join);
	nw_text_free(text);
	nw_formats_free(&formats);
	return TEXT_LINES / took / 1e6;
}

static void bench_text_of(const char *name, const char *start_args, const char *done_args,
			  bool values)
{
	struct nw_selection selection;
	struct nw_buf bytes = {0};
	nw_span_defs spans = {0};
	struct nw_plan plan;
	struct nw_armed armed;
	double rates[ROUNDS];
	char what[80];

	make_text(&bytes, start_args, done_args);
	if (nw_text_learn(bytes.data, bytes.len, "text", &selection, &plan, &armed, NULL) <
		    0 ||
	    nw_spans_by_name(&selection, &spans) < 0)
		die("cannot learn");
	for (int i = 0; i < ROUNDS; i++)
		rates[i] = read_text(&bytes, &selection, &armed, &spans, values);
	snprintf(what, sizeof(what), "trace_pipe text to a summary, %s", name);
	row(what, median(rates, ROUNDS), "M lines/s");
	nw_spans_free(&spans);
	nw_armed_free(&armed);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_buf_free(&bytes);
}

static void bench_text(void)
{
	bench_text_of("no arguments", "", "", false);
	bench_text_of("two numbers, not wanted", "id=12345 fd=7", "id=12345 status=200",
		      false);
	bench_text_of("two numbers", "id=12345 fd=7", "id=12345 status=200", true);
	bench_text_of("a string and a number",
		      "sql=\"SELECT abalance FROM pgbench_accounts WHERE aid = 4711;\" n=3",
		      "sql=\"SELECT 1\" n=0", true);
}

/* Peak KiB of a command. A child of Python's would show what Python had before it was one. */
static void measure_peak(char **command)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execvp(*command, command);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		die("the command failed");
	printf("%ld\n", usage.ru_maxrss);
}

/* ---- the live view ------------------------------------------------------------------ */

/* One interval of so many rows, each with a distribution over four powers of ten. */
static void top_interval(struct nw_top *top, uint32_t rows, struct nw_histogram *times)
{
	char name[32];

	nw_top_next(top, top->end, top->end + 500000000);
	for (uint32_t i = 0; i < rows; i++) {
		snprintf(name, sizeof(name), "provider:probe%u", i);
		const struct nw_top_entry entry = {
			.is_span = i % 2,
			.index = i,
			.name = name,
			.count = times->count,
			.times = times,
		};
		if (nw_top_add(top, &entry) < 0)
			die("out of memory");
	}
}

/* What takes an interval in, draws it and makes bytes of it, twice a second. */
static void bench_top_rows(uint32_t rows, enum nw_top_pane pane)
{
	enum {
		INTERVALS = 240
	};
	struct nw_canvas shown = {0}, next = {0};
	struct nw_top_view view = {.pane = pane};
	struct nw_histogram times = {0};
	struct nw_top top;
	size_t bytes = 0;

	nw_top_open(&top, 0, 500000000, 0);
	for (uint64_t i = 0; i < 2000; i++)
		nw_histogram_add(&times, 1000 + i * i * 25);
	double began = seconds();
	for (int i = 0; i < INTERVALS; i++) {
		struct nw_buf out = {0};
		nw_histogram_add(&times, (uint64_t)i * 1000);
		top_interval(&top, rows, &times);
		if (nw_canvas_reset(&next, 120, 50) < 0 ||
		    nw_top_draw(&top, &view, &next) < 0)
			die("out of memory");
		nw_canvas_diff(&shown, &next, true, &out);
		bytes += out.len;
		nw_buf_free(&out);
		struct nw_canvas swap = shown;
		shown = next;
		next = swap;
	}
	double percent = (seconds() - began) / (INTERVALS * 0.5) * 100;
	printf("{\"rows\": %u, \"what\": \"%u rows%s\", \"percent\": %f, \"bytes\": %zu}\n",
	       rows, rows, pane ? " and a heat map" : "", percent, bytes / INTERVALS);
	nw_canvas_free(&shown);
	nw_canvas_free(&next);
	nw_histogram_free(&times);
	nw_top_free(&top);
}

static void bench_top(void)
{
	bench_top_rows(50, NW_PANE_NONE);
	bench_top_rows(50, NW_PANE_HEAT);
	bench_top_rows(1000, NW_PANE_NONE);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "peak") == 0)
		measure_peak(argv + 2);
	else if (argc == 3 && strcmp(argv[1], "file") == 0) {
		bench_file(argv[2]);
	} else if (argc == 2 && strcmp(argv[1], "growth") == 0) {
		grow_cpus();
		grow_spans();
		grow_groups();
		grow_intervals();
	} else if (argc == 2 && strcmp(argv[1], "text") == 0) {
		bench_text();
	} else if (argc == 2 && strcmp(argv[1], "top") == 0) {
		bench_top();
	} else {
		die("usage: micro file RECORDING | micro growth | micro peak COMMAND... | "
		    "micro text | micro top");
	}
	return 0;
}
