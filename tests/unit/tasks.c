// SPDX-License-Identifier: MIT
/* stream: which process a thread belongs to, what it is called, and whether it is wanted. */
#include <errno.h>
#include <sched.h>

#include "page_builder.h"

/* As 6.18 prints them. */
#define NEWTASK                                                        \
	"name: task_newtask\nID: 205\n" FAKE_COMMON                    \
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"          \
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"    \
	"\tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n\n" \
	"print fmt: \"pid=%d\", REC->pid\n"
#define RENAME_HEAD "name: task_rename\nID: 204\n" FAKE_COMMON
#define RENAME_PID  "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
#define RENAME_TAIL                                                      \
	"\tfield:char oldcomm[16];\toffset:12;\tsize:16;\tsigned:0;\n"   \
	"\tfield:char newcomm[16];\toffset:28;\tsize:16;\tsigned:0;\n\n" \
	"print fmt: \"newcomm=%s\", REC->newcomm\n"
#define EXIT                                                       \
	"name: sched_process_exit\nID: 369\n" FAKE_COMMON          \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"   \
	"print fmt: \"comm=%s\", REC->comm\n"
#define EXEC                                                                   \
	"name: sched_process_exec\nID: 370\n" FAKE_COMMON                      \
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"                 \
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n\n"           \
	"print fmt: \"%d\", REC->old_pid\n"
#define EXIT_WITHOUT_COMM \
	"name: sched_process_exit\nID: 369\n" FAKE_COMMON "print fmt: \"\"\n"
#define RENAME_DYNAMIC                                                                   \
	RENAME_HEAD RENAME_PID                                                           \
		"\tfield:__data_loc char[] newcomm;\toffset:12;\tsize:4;\tsigned:0;\n\n" \
		"print fmt: \"newcomm=%s\", __get_str(newcomm)\n"

static const char *rename_text = RENAME_HEAD RENAME_PID RENAME_TAIL;
static const char *exit_text = EXIT;
static struct fake fake;
static struct nw_tasks *tasks;

static int read_format(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	const char *text = strcmp(name, "task_newtask") == 0  ? NEWTASK
			   : strcmp(name, "task_rename") == 0 ? rename_text
			   : strstr(name, "exec")	      ? EXEC
							      : exit_text;

	(void)arg;
	ck_assert_str_eq(system, strstr(name, "sched") ? "sched" : "task");
	nw_buf_adds(out, text);
	return 0;
}

/* Formats of the four events, and a table with these options. */
static void setup(const struct nw_tasks_options *options)
{
	const struct nw_page_layout layout = page_layout(4096, 8);
	struct nw_buf header = {0};

	int ret = nw_plan_load("nopwatch-plan 1\n", 16, &fake.selection, &fake.plan,
			       &fake.armed, NULL, NULL, NULL);
	ck_assert_int_eq(ret, 0);
	page_header_text(&layout, &header);
	ret = nw_formats_load(&fake.armed, true, nw_buf_str(&header), header.len,
			      read_format, NULL, &fake.formats, NULL);
	ck_assert_int_eq(ret, 0);
	nw_buf_free(&header);
	ck_assert_int_eq(nw_tasks_open(options, &tasks), 0);
}

static void teardown(void)
{
	nw_tasks_free(tasks);
	tasks = NULL;
	fake_close(&fake);
}

static const struct nw_event_format *format_of(enum nw_event_kind kind)
{
	nw_vec_each (&fake.formats.events, format)
		if ((*format)->kind == kind)
			return *format;
	return NULL;
}

/* An event of the thread, with the bytes of its fields from offset 8 on. */
static struct nw_record task_record(enum nw_event_kind kind, int32_t tid,
				    const unsigned char bytes[64])
{
	return (struct nw_record){.kind = NW_RECORD_TASK,
				  .tid = tid,
				  .format = format_of(kind),
				  .data = bytes,
				  .size = 64};
}

static void newtask(int32_t parent, int32_t tid, const char *comm, uint64_t flags)
{
	unsigned char bytes[64] = {0};

	memcpy(bytes + 8, &tid, 4);
	memcpy(bytes + 12, comm, strlen(comm));
	memcpy(bytes + 32, &flags, 8);
	const struct nw_record record = task_record(NW_EVENT_NEWTASK, parent, bytes);
	nw_tasks_record(tasks, &record);
	ck_assert_int_eq(nw_record_exited(&record), 0);
}

static void renamed(int32_t by, int32_t tid, const char *comm)
{
	unsigned char bytes[64] = {[12] = 'o', 'l', 'd'};

	memcpy(bytes + 8, &tid, 4);
	memcpy(bytes + 28, comm, strlen(comm));
	const struct nw_record record = task_record(NW_EVENT_RENAME, by, bytes);
	nw_tasks_record(tasks, &record);
}

static void exited(int32_t tid)
{
	const unsigned char bytes[64] = {0};
	const struct nw_record record = task_record(NW_EVENT_EXIT, tid, bytes);

	nw_tasks_record(tasks, &record);
	ck_assert_int_eq(nw_record_exited(&record), tid);
}

/* Another program in a thread that had this number before. */
static void new_program(int32_t tid, int32_t old_tid)
{
	unsigned char bytes[64] = {0};

	memcpy(bytes + 16, &old_tid, 4);
	const struct nw_record record = task_record(NW_EVENT_EXEC, tid, bytes);
	nw_tasks_record(tasks, &record);
	ck_assert_int_eq(nw_record_exec(&record), old_tid);
	ck_assert_int_eq(nw_record_exited(&record), 0);
}

static void expect(int32_t tid, int32_t pid, const char *comm, bool wanted)
{
	const struct nw_task *task = nw_tasks_get(tasks, tid);

	ck_assert(task->tid == tid && task->pid == pid);
	ck_assert_str_eq(task->comm, comm);
	ck_assert_msg(task->wanted == wanted, "%d: wanted is %d", tid, task->wanted);
}

static unsigned int looked_up;

/* Threads below 1000 are there: ten to a process, called after themselves. */
static int look_up(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	ck_assert_ptr_eq(arg, &looked_up);
	looked_up++;
	if (tid >= 1000)
		return -ESRCH;
	*process = tid - tid % 10;
	snprintf(comm, 16, "task%d", tid);
	return 0;
}

static const pid_t two_pids[] = {100, 200};
static const struct nw_tasks_options all = {.look_up = look_up, .look_up_arg = &looked_up};
static const struct nw_tasks_options only_two = {.pids = two_pids,
						 .pid_count = 2,
						 .look_up = look_up,
						 .look_up_arg = &looked_up};

START_TEST(threads_older_than_the_stream_are_looked_up_once)
{
	setup(&only_two);
	expect(105, 100, "task105", true);
	expect(105, 100, "task105", true);
	expect(200, 200, "task200", true);
	expect(99, 90, "task99", false);
	ck_assert_uint_eq(looked_up, 3);
}
END_TEST

START_TEST(who_was_told_of_is_not_looked_up)
{
	setup(&only_two);
	looked_up = 0;
	nw_tasks_set(tasks, 31, 30, "thirty-one", 10);
	nw_tasks_set(tasks, 201, 200, "a longer name than that", 23);
	expect(31, 30, "thirty-one", false);
	expect(201, 200, "a longer name t", true);
	ck_assert_uint_eq(looked_up, 0);
	nw_tasks_set(tasks, 32, 0, "whose", 5); /* what is not told is */
	nw_tasks_set(tasks, 33, 30, "", 0);
	ck_assert_uint_eq(looked_up, 2);
	newtask(201, 22, "born", CLONE_THREAD); /* what is recorded goes on from there */
	expect(22, 200, "born", true);
	exited(201);
	expect(31, 30, "thirty-one", false);
	ck_assert_uint_eq(looked_up, 2);
}
END_TEST

START_TEST(an_unknown_thread_is_its_own_process_and_wanted)
{
	setup(&only_two);
	expect(4321, 4321, "?", true);
	expect(4321, 4321, "?", true);
	ck_assert_uint_eq(looked_up, 1);
	teardown();
	setup(&(struct nw_tasks_options){.pids = two_pids,
					 .pid_count = 2}); /* nobody to ask */
	expect(105, 105, "?", true);
}
END_TEST

START_TEST(where_all_are_recorded_an_unknown_thread_is_a_stranger)
{
	struct nw_tasks_options options = {
		.pids = two_pids, .pid_count = 2, .untraced_recorded = true};

	setup(&options);
	expect(4321, 4321, "?", false);
	expect(200, 200, "?", true); /* but for the first thread of who was asked for */
	teardown();
	options.pid_count = 0; /* nobody was asked for: all are wanted */
	setup(&options);
	expect(4321, 4321, "?", true);
}
END_TEST

START_TEST(the_idle_thread_is_nobody)
{
	setup(&all);
	newtask(100, 0, "x", 0);
	for (int i = 0; i < 1000; i++) { /* must not fill the table */
		renamed(0, 0, "x");
		exited(0);
	}
	expect(0, 0, "<idle>", true);
	expect(100, 100, "task100", true);
	teardown();
	setup(&only_two); /* and in no process that is wanted */
	expect(0, 0, "<idle>", false);
}
END_TEST

START_TEST(a_thread_belongs_to_its_parents_process_and_a_process_to_itself)
{
	setup(&only_two);
	newtask(105, 2001, "worker", CLONE_THREAD | CLONE_VM);
	newtask(2001, 2002, "deeper", CLONE_THREAD);
	expect(2001, 100, "worker", true);
	expect(2002, 100, "deeper", true);
	newtask(2002, 2003, "child", 0);
	expect(2003, 2003, "child", false); /* nobody follows */
	newtask(2003, 2004, "grandchild", CLONE_THREAD);
	expect(2004, 2003, "grandchild", false);
	newtask(300, 2005, "fifteen letters", CLONE_THREAD);
	expect(2005, 300, "fifteen letters", false);
}
END_TEST

START_TEST(descendants_are_wanted_when_followed)
{
	struct nw_tasks_options follow = only_two;

	follow.follow = true;
	setup(&follow);
	newtask(100, 2001, "child", CLONE_VM | CLONE_VFORK);
	newtask(2001, 2002, "grandchild", 0);
	newtask(2002, 2003, "thread", CLONE_THREAD);
	newtask(300, 2004, "foreign", 0);
	expect(2001, 2001, "child", true);
	expect(2002, 2002, "grandchild", true);
	expect(2003, 2002, "thread", true);
	expect(2004, 2004, "foreign", false);
}
END_TEST

/* --tid: neither the other threads of the process nor what the named ones make, and not whoever has the number later. */
START_TEST(of_named_threads_only_these_are_wanted)
{
	static const pid_t tids[] = {105, 201};
	struct nw_tasks_options named = only_two;

	named.tids = tids;
	named.tid_count = NW_COUNT(tids);
	for (int untraced = 0; untraced < 2; untraced++) {
		named.untraced_recorded = untraced;
		setup(&named);
		expect(105, 100, "task105", true);
		expect(100, 100, "task100", false);
		expect(106, 100, "task106", false);
		newtask(105, 2001, "thread", CLONE_THREAD);
		expect(2001, 100, "thread", false);
		exited(105);
		expect(105, 100, "task105", false);
		expect(201, 200, "task201", true);
		expect(1001, 1001, "?", false);
		if (!untraced)
			teardown();
	}
}
END_TEST

START_TEST(without_processes_everything_is_wanted)
{
	setup(&all);
	newtask(777, 2001, "child", 0);
	expect(2001, 2001, "child", true);
}
END_TEST

START_TEST(a_thread_may_rename_itself_and_others)
{
	setup(&all);
	renamed(105, 105, "self");
	expect(105, 100, "self", true);
	renamed(105, 106, "other"); /* pthread_setname_np() */
	expect(106, 100, "other", true);
	expect(105, 100, "self", true);
}
END_TEST

START_TEST(without_a_pid_a_rename_is_of_the_thread_itself)
{
	rename_text = RENAME_HEAD RENAME_TAIL;
	setup(&all);
	renamed(105, 106, "self");
	expect(105, 100, "self", true);
	expect(106, 100, "task106", true);
}
END_TEST

START_TEST(names_in_the_dynamic_part_are_cut_and_checked)
{
	static const struct {
		uint32_t at, len;
		const char *comm;
	} cases[] = {
		{16, 5, "name"},
		{16, 48, "name"},
		{32, 32, "longer than thi"},
		{61, 3, "ab"},
		{61, 4, "task105"}, /* beyond the record: left alone */
		{65, 1, "task105"},
		{0xffff, 0xffff, "task105"},
		{16, 0, ""},
	};
	unsigned char bytes[64] = {0};
	const int32_t tid = 105;

	rename_text = RENAME_DYNAMIC;
	memcpy(bytes + 8, &tid, 4);
	strcpy((char *)bytes + 16, "name");
	memcpy(bytes + 32, "longer than this can be", 23);
	strcpy((char *)bytes + 61, "ab");
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		uint32_t where = cases[i].at | cases[i].len << 16;
		setup(&all);
		memcpy(bytes + 12, &where, 4);
		const struct nw_record record = task_record(NW_EVENT_RENAME, 105, bytes);
		nw_tasks_record(tasks, &record);
		expect(105, 100, cases[i].comm, true);
		teardown();
	}
}
END_TEST

START_TEST(kernels_without_an_event_go_without_it)
{
	exit_text = EXIT_WITHOUT_COMM;
	setup(&all);
	ck_assert_uint_eq(fake.formats.events.count, 3);
	ck_assert_ptr_null(format_of(NW_EVENT_EXIT));
}
END_TEST

START_TEST(a_number_that_is_used_again_is_another_thread)
{
	setup(&only_two);
	newtask(100, 2001, "first", CLONE_THREAD);
	expect(2001, 100, "first", true);
	exited(2001);
	newtask(300, 2001, "second", CLONE_THREAD);
	expect(2001, 300, "second", false);
	newtask(200, 2001, "third", CLONE_THREAD); /* its exit was lost */
	expect(2001, 200, "third", true);
	exited(2001);
	exited(2001);		       /* twice does no harm */
	expect(2001, 2001, "?", true); /* looked up again */
}
END_TEST

START_TEST(another_program_has_the_number_of_its_process)
{
	setup(&only_two);
	newtask(100, 2001, "first", CLONE_THREAD);
	new_program(100, 2001);
	expect(100, 100, "task100", true);
	expect(2001, 2001, "?", true); /* nobody has it any more */
	new_program(100, 100);
	expect(100, 100, "task100", true);
}
END_TEST

/* ---- many threads, against a simple model ------------------------------------------- */

enum {
	MOST = 3000
};

static struct nw_task model[MOST]; /* tid 0: unknown */

static struct nw_task *known(int32_t tid)
{
	struct nw_task *task = &model[tid];

	if (task->tid)
		return task;
	*task = (struct nw_task){.tid = tid, .pid = tid, .comm = "?", .wanted = true};
	if (look_up(&looked_up, tid, &task->pid, task->comm) == 0)
		task->wanted = task->pid == 100 || task->pid == 200;
	return task;
}

static void expect_model(int32_t tid)
{
	const struct nw_task *task = known(tid);

	expect(tid, task->pid, task->comm, task->wanted);
}

START_TEST(many_threads_come_and_go_as_in_the_model)
{
	uint64_t state = 11;

	setup(&only_two);
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t r = unit_random(&state);
		/* a window of numbers that moves: the table grows, and shrinks again */
		int32_t span = i % 100000 < 50000 ? MOST - 1 : 50;
		int32_t a = 1 + (int32_t)((r >> 8) % (uint64_t)span);
		int32_t b = 1 + (int32_t)((r >> 24) % (uint64_t)span);
		bool thread = r >> 40 & 1;
		char comm[16];
		snprintf(comm, sizeof(comm), "n%u", i);
		switch (r % 5) {
		case 0:
			newtask(a, b, comm, thread ? CLONE_THREAD : 0);
			struct nw_task parent = *known(a);
			model[b] = (struct nw_task){.tid = b,
						    .pid = thread ? parent.pid : b,
						    .wanted = parent.wanted && thread};
			strcpy(model[b].comm, comm);
			break;
		case 1:
			renamed(a, b, comm);
			strcpy(known(b)->comm, comm);
			break;
		case 2:
		case 3:
			exited(a);
			model[a].tid = 0;
			break;
		default:
			expect_model(a);
		}
	}
	for (int32_t tid = 1; tid < MOST; tid++)
		expect_model(tid);
}
END_TEST

/* Text of a kernel that recorded a process and what it has forked. */
START_TEST(a_line_that_names_another_process_is_of_a_stranger)
{
	const pid_t wanted[] = {10};
	const struct nw_tasks_options options = {.pids = wanted, .pid_count = 1};

	ck_assert_int_eq(nw_tasks_open(&options, &tasks), 0);
	nw_tasks_set(tasks, 10, 10, "parent", 6);
	nw_tasks_set(tasks, 11, 10, "thread", 6);
	nw_tasks_set(tasks, 12, 0, "whose", 5);
	nw_tasks_set(tasks, 20, 20, "child", 5);
	nw_tasks_set(tasks, 21, 20, "its", 3);
	ck_assert(nw_tasks_get(tasks, 10)->wanted && nw_tasks_get(tasks, 11)->wanted);
	ck_assert(nw_tasks_get(tasks, 12)->wanted);
	ck_assert(!nw_tasks_get(tasks, 20)->wanted && !nw_tasks_get(tasks, 21)->wanted);
}
END_TEST

UNIT_MAIN_WITH("tasks", NULL, teardown, another_program_has_the_number_of_its_process,
	       threads_older_than_the_stream_are_looked_up_once,
	       who_was_told_of_is_not_looked_up,
	       an_unknown_thread_is_its_own_process_and_wanted,
	       where_all_are_recorded_an_unknown_thread_is_a_stranger,
	       the_idle_thread_is_nobody,
	       a_thread_belongs_to_its_parents_process_and_a_process_to_itself,
	       descendants_are_wanted_when_followed, of_named_threads_only_these_are_wanted,
	       without_processes_everything_is_wanted,
	       a_thread_may_rename_itself_and_others,
	       without_a_pid_a_rename_is_of_the_thread_itself,
	       names_in_the_dynamic_part_are_cut_and_checked,
	       kernels_without_an_event_go_without_it,
	       a_number_that_is_used_again_is_another_thread,
	       a_line_that_names_another_process_is_of_a_stranger,
	       many_threads_come_and_go_as_in_the_model)
