// SPDX-License-Identifier: MIT
/* stream: what is written as a trace.dat is read back the same, and damage does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "page_builder.h"
#include "show/text/text.h"
#include "stream/recording/recording.h"

enum {
	PAGE = 4096,
	CPUS = 4,
	HITS = 1000
};

/* For the leak sanitizer: libtraceevent forgets some memory when a format is damaged. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static const char header_event[] = "# compressed entry header\n";
static const char other_format[] = "name: task_rename\nID: 204\nformat:\n";

static struct nw_buf file; /* the recording */
static struct cpu cpus[CPUS];
static struct nw_recording_parts parts;

static void add_format(const char *system, const char *text)
{
	struct nw_recorded_format *format = nw_vec_add(&parts.formats);

	snprintf(format->system, sizeof(format->system), "%s", system);
	nw_buf_adds(&format->text, text);
}

/* Hits on CPUs 0 and 3; 1 and 2 have no pages. */
static void make_parts(void)
{
	const struct nw_page_layout layout = page_layout(PAGE, 8);
	struct nw_buf text = {0};

	page_header_text(&layout, &parts.header_page);
	nw_buf_adds(&parts.header_event, header_event);
	fake_format_text(&fake_two_formats[0], &text);
	add_format("nopwatch_t", nw_buf_str(&text));
	add_format("task", other_format);
	add_format("task", "name: task_newtask\n");
	nw_buf_adds(&parts.comms, "12 app\n");
	nw_buf_adds(&parts.clock, "[mono]");
	nw_buf_adds(&parts.table, fake_two_probes);
	nw_buf_free(&text);
	for (size_t i = 0; i < CPUS; i++)
		cpus[i].layout = layout;
	for (uint64_t i = 0; i < HITS; i++)
		cpu_hit(&cpus[i & 1 ? 3 : 0], 100 + i, 12, i & 1 ? FAKE_ONE : FAKE_TWO, i);
	for (size_t i = 0; i < CPUS; i++)
		cpu_flush(&cpus[i]);
}

static int memory_file(const struct nw_buf *content)
{
	int fd = memfd_create("recording", 0);

	ck_assert_int_ge(fd, 0);
	if (content && content->len)
		ck_assert_int_eq(pwrite(fd, content->data, content->len, 0),
				 (ssize_t)content->len);
	return fd;
}

static void setup(void)
{
	struct nw_recorded_cpu written[CPUS] = {0};
	int fd = memory_file(NULL);

	make_parts();
	for (size_t i = 0; i < CPUS; i++) {
		written[i].fd = memory_file(&cpus[i].pages);
		written[i].size = cpus[i].pages.len;
	}
	ck_assert_int_eq(nw_recording_write(&(struct nw_writer){.fd = fd}, &parts, PAGE,
					    written, CPUS, NULL),
			 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(nw_buf_read(&file, fd), 0);
	close(fd);
	for (size_t i = 0; i < CPUS; i++)
		close(written[i].fd);
}

static void teardown(void)
{
	nw_buf_free(&file);
	nw_recording_parts_free(&parts);
	for (size_t i = 0; i < CPUS; i++)
		cpu_free(&cpus[i]);
}

/* ---- there and back ----------------------------------------------------------------- */

static void expect_text(const char *text, size_t len, const char *wanted)
{
	ck_assert_uint_eq(len, strlen(wanted));
	ck_assert_mem_eq(text, wanted, len);
}

START_TEST(what_was_written_is_read_back)
{
	struct nw_recording recording;

	setup();
	ck_assert(nw_recording_is_one(file.data, file.len));
	ck_assert_int_eq(nw_recording_parse(file.data, file.len, &recording, NULL), 0);
	expect_text(recording.header_page, recording.header_page_len,
		    nw_buf_str(&parts.header_page));
	expect_text(recording.table, recording.table_len, fake_two_probes);
	ck_assert_uint_eq(recording.formats.count, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_str_eq(recording.formats.item[i].system,
				 parts.formats.item[i].system);
		expect_text(recording.formats.item[i].text, recording.formats.item[i].len,
			    nw_buf_str(&parts.formats.item[i].text));
	}
	ck_assert_uint_eq(recording.runs.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct nw_page_run *run = &recording.runs.item[i];
		ck_assert_uint_eq(run->cpu, i ? 3 : 0);
		ck_assert_uint_eq(run->size, cpus[run->cpu].pages.len);
		ck_assert_mem_eq(run->pages, cpus[run->cpu].pages.data, run->size);
		/* trace-cmd maps the pages */
		ck_assert_uint_eq((size_t)((const char *)run->pages - file.data) % PAGE, 0);
	}
	nw_recording_free(&recording);
	teardown();
}
END_TEST

START_TEST(the_head_is_as_trace_cmd_writes_it)
{
	static const char head[] = "\x17\x08\x44tracing6\0\0\x08\0\x10\0\0header_page\0";

	setup();
	ck_assert_mem_eq(file.data, head, sizeof(head) - 1);
	ck_assert_uint_eq(sizeof(long), 8);
	const char *options = memmem(file.data, file.len, "options  ", 10);
	ck_assert_ptr_nonnull(options);
	/* the clock and the version, each as u16, u32, text; the table behind the NUL */
	ck_assert_mem_eq(options + 10, "\4\0\7\0\0\0[mono]\0\11\0", 15);
	ck_assert_mem_eq(options + 29, "nopwatch\0nopwatch-plan 1\n", 25);
	ck_assert_mem_eq(options + 29 + 9 + parts.table.len, "\0\0flyrecord\0", 12);
	teardown();
}
END_TEST

START_TEST(formats_are_found_by_system_and_name)
{
	struct nw_recording recording;
	struct nw_buf text = {0};

	setup();
	ck_assert_int_eq(nw_recording_parse(file.data, file.len, &recording, NULL), 0);
	ck_assert_int_eq(nw_recording_format(&recording, "task", "task_rename", &text), 0);
	ck_assert_str_eq(nw_buf_str(&text), other_format);
	static const char *const missing[][2] = {{"task", "task_rena"},
						 {"task", "task_rename2"},
						 {"task", ""},
						 {"sched", "task_rename"},
						 {"nopwatch_t", "task_rename"},
						 /* its text ends with the name's line */
						 {"task", "task_newtask"}};
	for (size_t i = 0; i < NW_COUNT(missing); i++)
		ck_assert_msg(nw_recording_format(&recording, missing[i][0], missing[i][1],
						  &text) == -ENOENT,
			      "%s:%s", missing[i][0], missing[i][1]);
	nw_buf_free(&text);
	nw_recording_free(&recording);
	teardown();
}
END_TEST

/* Everything a reader does with a recording; returns the hits, or -errno. */
static int play(const void *bytes, size_t len)
{
	struct nw_recording recording;
	struct nw_selection selection;
	struct nw_plan plan;
	struct nw_armed armed;
	struct nw_formats formats;
	struct nw_stream *stream;
	struct nw_record record;
	struct nw_join *join;
	struct nw_hit hit;
	struct nw_buf shown = {0};
	int hits = 0, ret = nw_recording_parse(bytes, len, &recording, NULL);

	if (ret < 0)
		return ret;
	ret = nw_plan_load(recording.table, recording.table_len, &selection, &plan, &armed,
			   NULL, NULL, NULL);
	if (ret < 0)
		goto no_plan;
	ret = nw_formats_load(&armed, true, recording.header_page,
			      recording.header_page_len, nw_recording_format, &recording,
			      &formats, NULL);
	if (ret < 0)
		goto no_formats;
	ck_assert_int_eq(nw_stream_open_memory(&formats, recording.runs.item,
					       recording.runs.count, &stream, NULL),
			 0);
	ck_assert_int_eq(nw_join_open(&formats, true, &join), 0);
	while (nw_stream_next(stream, &record) > 0) {
		if (record.kind != NW_RECORD_HIT || !nw_join_push(join, &record, &hit))
			continue;
		hits++;
		for (size_t i = 0; i < hit.value_count; i++)
			nw_value_print(&hit.values[i], &shown);
		nw_buf_clear(&shown);
	}
	nw_buf_free(&shown);
	nw_join_free(join);
	nw_stream_free(stream);
	nw_formats_free(&formats);
no_formats:
	nw_armed_free(&armed);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
no_plan:
	nw_recording_free(&recording);
	return ret < 0 ? ret : hits;
}

START_TEST(a_recording_plays_all_its_hits)
{
	setup();
	ck_assert_int_eq(play(file.data, file.len), HITS);
	teardown();
}
END_TEST

/* ---- what is not a whole recording of ours ------------------------------------------ */

START_TEST(a_recording_cut_off_anywhere_is_refused)
{
	struct nw_recording recording;

	setup();
	for (size_t len = 0; len < file.len; len += len < 3 * PAGE ? 1 : 997) {
		struct nw_error err = {0};
		char *exact = malloc(len ? len : 1);
		memcpy(exact, file.data, len);
		ck_assert_int_eq(nw_recording_parse(exact, len, &recording, &err),
				 -EBADMSG);
		ck_assert_str_eq(err.what, "the recording is damaged or cut off");
		free(exact);
	}
	teardown();
}
END_TEST

START_TEST(random_damage_is_refused_or_harmless)
{
	uint64_t state = 3, whole = 0, refused = 0;

	setup();
	size_t head = (size_t)((char *)memmem(file.data, file.len, "flyrecord", 10) -
			       file.data) +
		      10 + CPUS * 16;
	for (unsigned int round = 0; round < 3000; round++) {
		char *exact = malloc(file.len);
		memcpy(exact, file.data, file.len);
		for (uint64_t n = unit_random(&state) % 4; n < 4; n++) {
			uint64_t r = unit_random(&state);
			/* mostly in the head, where every byte means something */
			size_t at = (r >> 8) % (r & 3 ? head : file.len);
			exact[at] ^= (char)(r & 4 ? 1u << (r >> 61) : r >> 56);
		}
		int ret = play(exact, file.len);
		ck_assert_int_le(ret, (int)(CPUS * file.len / 20)); /* runs may overlap */
		whole += ret == HITS;
		refused += ret < 0;
		free(exact);
	}
	ck_assert_uint_gt(whole, 0); /* both do happen */
	ck_assert_uint_gt(refused, 0);
	teardown();
}
END_TEST

static void expect_foreign(int code, const char *what, const char *hint)
{
	struct nw_recording recording;
	struct nw_error err = {0};

	ck_assert_int_eq(nw_recording_parse(file.data, file.len, &recording, &err), -code);
	ck_assert_str_eq(err.what, what);
	ck_assert_str_eq(err.hint, hint);
}

START_TEST(recordings_of_others_are_told_apart)
{
	setup();
	char *version = memmem(file.data, file.len, "nopwatch\0nopwatch-plan", 22);
	memcpy(version, "trace-c", 8);
	expect_foreign(ENOTSUP,
		       "the recording was made by another tool: it has no table of probes",
		       "`trace-cmd report` can print it");
	version[-6] = 8; /* an option without any table: id 8 is another one */
	expect_foreign(ENOTSUP,
		       "the recording was made by another tool: it has no table of probes",
		       "`trace-cmd report` can print it");
	file.data[12] = 1;
	expect_foreign(ENOTSUP, "the recording is from a machine of the other byte order",
		       "");
	file.data[10] = '7';
	expect_foreign(ENOTSUP,
		       "the recording was made by another tool: it is not of version 6",
		       "`trace-cmd report` can print it");
	file.data[0] = 'x';
	expect_foreign(EBADMSG, "the recording is damaged or cut off", "");
	teardown();
}
END_TEST

START_TEST(a_recording_is_known_by_its_first_bytes)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool is_one;
	} cases[] = {
		{"\x17\x08\x44tracing6", 12, true},
		{"\x17\x08\x44tracing7", 12, true},
		{"\x17\x08\x44tracing6", 11, false},
		{"\x17\x08\x44tracinG6", 12, false},
		{"\x17\x08\x45tracing6", 12, false},
		{"", 0, false},
		{"\x7f"
		 "ELF\2\1\1\0\0\0\0\0",
		 12, false},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_msg(nw_recording_is_one(cases[i].bytes, cases[i].len) ==
				      cases[i].is_one,
			      "%zu", i);
}
END_TEST

START_TEST(a_recording_that_cannot_be_written_says_so)
{
	int source = memory_file(NULL), target = memory_file(NULL);
	const struct nw_recorded_cpu cpu = {.fd = source, .size = PAGE};
	struct nw_error err = {0};

	make_parts();
	ck_assert_int_eq(nw_recording_write(&(struct nw_writer){.fd = -1}, &parts, PAGE,
					    NULL, 0, &err),
			 -EBADF);
	ck_assert_str_eq(err.what, "cannot write the recording: Bad file descriptor");
	/* the CPU's file has fewer bytes than it should */
	ck_assert_int_eq(nw_recording_write(&(struct nw_writer){.fd = target}, &parts, PAGE,
					    &cpu, 1, &err),
			 -EIO);
	ck_assert_str_eq(err.what, "cannot write the recording: Input/output error");
	close(source);
	close(target);
	teardown();
}
END_TEST

/* ---- a recording that begins in the middle ------------------------------------------ */

/* Events were lost on CPU 1 before its only page, the first event of which is of 500. */
static bool says_that_events_were_lost(uint64_t since)
{
	struct nw_recorded_cpu written[2] = {0};
	struct nw_recording recording;
	int fd = memory_file(NULL);
	struct nw_buf bytes = {0};
	struct nw_page page;

	make_parts();
	cpu_free(&cpus[1]);
	cpus[1] = (struct cpu){.layout = cpus[0].layout};
	cpu_lose(&cpus[1], 0);
	cpu_hit(&cpus[1], 500, 12, FAKE_ONE, 1);
	cpu_hit(&cpus[1], 600, 12, FAKE_TWO, 1);
	cpu_flush(&cpus[1]);
	written[1] = (struct nw_recorded_cpu){memory_file(&cpus[1].pages), 0,
					      cpus[1].pages.len, since};
	ck_assert_int_eq(nw_recording_write(&(struct nw_writer){.fd = fd}, &parts, PAGE,
					    written, 2, NULL),
			 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(nw_buf_read(&bytes, fd), 0);
	ck_assert_int_eq(nw_recording_parse(bytes.data, bytes.len, &recording, NULL), 0);
	ck_assert_uint_eq(recording.runs.count, 1);
	ck_assert_int_eq(
		nw_page_open(&page, &cpus[1].layout, recording.runs.item[0].pages, PAGE),
		0);
	bool missed = page.missed;
	nw_recording_free(&recording);
	nw_buf_free(&bytes);
	close(fd);
	close(written[1].fd);
	teardown();
	return missed;
}

/* A CPU was empty when the recording before ended, and has overrun since: its first page says so. */
START_TEST(a_loss_behind_the_beginning_is_kept)
{
	ck_assert(says_that_events_were_lost(400));
	ck_assert(says_that_events_were_lost(499));
	/* a recording that begins with the first event behind the loss lacks nothing */
	ck_assert(!says_that_events_were_lost(500));
	ck_assert(!says_that_events_were_lost(550));
}
END_TEST

UNIT_MAIN("recording", what_was_written_is_read_back, the_head_is_as_trace_cmd_writes_it,
	  formats_are_found_by_system_and_name, a_recording_plays_all_its_hits,
	  a_recording_cut_off_anywhere_is_refused, random_damage_is_refused_or_harmless,
	  recordings_of_others_are_told_apart, a_recording_is_known_by_its_first_bytes,
	  a_recording_that_cannot_be_written_says_so, a_loss_behind_the_beginning_is_kept)
