// SPDX-License-Identifier: MIT
/* dwarf: the process that reads hostile files: what it may do, what it tells, and that it can be given up. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "elf_builder.h"
#include "find/dwarf/dwarf.h"
#include "find/dwarf/fence.h"
#include "find/process/process.h"

/* A file, and what was wanted of it. */
struct source {
	int fd;
	unsigned int opened;
	int fails; /* errno of opening it; 0: it can be opened */
};

static int get(void *arg, unsigned int what, const char *name)
{
	struct source *source = arg;

	(void)name;
	if (what != NW_WANT_FILE)
		return -ENOENT;
	source->opened++;
	if (source->fails)
		return -source->fails;
	return fcntl(source->fd, F_DUPFD_CLOEXEC, 0);
}

static struct nw_read_file file_of(struct source *source, uint32_t number)
{
	return (struct nw_read_file){number, get, source, 0};
}

/* This program: its symbols, lines and call frame information. */
static struct source ourselves(void)
{
	return (struct source){.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
}

static pid_t child_of_ours(void)
{
	char path[64], text[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getpid(),
		 (int)getpid());
	FILE *list = fopen(path, "re");
	ck_assert_ptr_nonnull(list);
	if (!fgets(text, sizeof(text), list))
		text[0] = '\0';
	fclose(list);
	return (pid_t)atoi(text);
}

/* Waits for processes that were killed: on a busy machine that takes longer than the reader waits. One that lives on lets the
 * test run into its limit. */
static void await_children(void)
{
	for (pid_t pid; (pid = child_of_ours()) > 0;)
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static bool has_line(pid_t pid, const char *file, const char *wanted)
{
	char path[64], line[256];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	FILE *text = fopen(path, "re");
	while (text && !found && fgets(line, sizeof(line), text))
		found = strncmp(line, wanted, strlen(wanted)) == 0;
	if (text)
		fclose(text);
	return found;
}

/* A process that has ended may stay as a zombie until its new parent has waited for it. */
static bool is_alive(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return access(path, F_OK) == 0 && !has_line(pid, "status", "State:\tZ") &&
	       !has_line(pid, "status", "State:\tX");
}

static struct source source; /* this program */
static struct nw_read_file file;
static struct nw_reader *reader;
/* what the tests are told */
static struct nw_file_facts facts;
static struct nw_place_facts place;
static struct nw_error err;

static void setup(void)
{
	source = ourselves();
	file = file_of(&source, 1);
	ck_assert_int_eq(nw_reader_open(&reader), 0);
}

static void teardown(void)
{
	nw_reader_free(reader);
	await_children();
	close(source.fd);
}

START_TEST(it_tells_what_a_file_is)
{
	int ret = nw_reader_file(reader, &file, &facts, &err);
	ck_assert_msg(ret == 0, "%s", err.what);
	ck_assert_ptr_eq(facts.arch, nw_arch_native());
	ck_assert_uint_gt(facts.segments.count, 0);
	ck_assert_msg(strncmp(facts.identity, "build-id:", 9) == 0 ||
			      strncmp(facts.identity, "code:", 5) == 0,
		      "%s", facts.identity);
	nw_vec_free(&facts.segments);
	/* it stays open there */
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	ck_assert_uint_eq(source.opened, 1);
	nw_vec_free(&facts.segments);
}
END_TEST

/* It has nothing of ours but its socket, and no privileges. */
START_TEST(what_it_may_do)
{
	int secret = open("/dev/null", O_RDONLY);
	char path[64], target[256];
	struct rlimit core;

	/* The reader can only give up what is there: a shell may forbid core files, and root may have no groups. */
	ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
	core.rlim_cur = core.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_CORE, &core), 0);
	ck_assert_int_eq(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0),
			 0); /* beyond a change of user */
	if (geteuid() == 0)
		ck_assert_int_eq(setgroups(2, (const gid_t[]){0, 4711}), 0);
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	pid_t pid = child_of_ours();
	ck_assert_int_gt(pid, 0);
	ck_assert(has_line(pid, "status", "NoNewPrivs:\t1"));
	ck_assert(has_line(pid, "status", "CapEff:\t0000000000000000"));
	ck_assert(has_line(pid, "status", "CapPrm:\t0000000000000000"));
	ck_assert(has_line(pid, "limits", "Max open files            1 "));
	ck_assert(has_line(pid, "limits", "Max core file size        0 "));
	ck_assert(has_line(pid, "limits", "Max cpu time              120 "));
	ck_assert(has_line(pid, "limits", "Max file size             0 "));
	if (geteuid() == 0) {
		ck_assert(has_line(pid, "status", "Uid:\t65534\t65534\t65534\t65534"));
		ck_assert(has_line(pid, "status", "Gid:\t65534\t65534\t65534\t65534"));
		ck_assert(has_line(pid, "status", "Groups:\t \n") ||
			  has_line(pid, "status", "Groups:\t\n"));
	}
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__)
	ck_assert(has_line(pid, "status", "Seccomp:\t2"));
#endif
	for (int fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		ssize_t len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		ck_assert_msg(!strstr(target, "/dev/null"), "it has %s", target);
	}
	nw_vec_free(&facts.segments);
	close(secret);
}
END_TEST

/* It may signal itself, as abort() does, and nobody else: others are refused before they are looked for. */
static int signals_in_the_fence(int socket, pid_t parent)
{
	if (!nw_fence_enter(socket, parent))
		return 1;
	if (syscall(SYS_tgkill, getpid(), getpid(), 0) != 0)
		return 2;
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__)
	if (syscall(SYS_tgkill, 0x3fffffffL, 0x3fffffffL, 0) == 0 || errno != EPERM)
		return 3;
	/* More than its 512 MiB it does not get, and files only from its parent. */
	if (mmap(NULL, 600 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0) != MAP_FAILED)
		return 4;
	if (syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY) >= 0 || errno != EPERM)
		return 5;
	if (syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 6;
	/* Nor can it run what it has read. */
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *code = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (code == MAP_FAILED || mprotect(code, page, PROT_READ | PROT_EXEC) == 0 ||
	    mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		    MAP_FAILED)
		return 7;
#endif
	return 0;
}

START_TEST(whom_it_may_signal)
{
	int ends[2], status = 0;
	const pid_t parent = getpid();

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(signals_in_the_fence(ends[1], parent));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* A reader that is stopped does not see that its socket is closed: the kernel ends it with its parent. */
START_TEST(it_ends_with_its_parent)
{
	enum {
		MOST_TRIES = 1000
	};
	int sockets[2], status;
	pid_t reader_pid = 0;

	ck_assert_int_eq(pipe(sockets), 0);
	pid_t parent = fork();
	ck_assert_int_ge(parent, 0);
	if (parent == 0) {
		struct nw_reader *own;
		pid_t pid = nw_reader_open(&own) == 0 &&
					    nw_reader_file(own, &file, &facts, NULL) == 0
				    ? child_of_ours()
				    : 0;
		if (pid > 0)
			kill(pid, SIGSTOP);
		_exit(write(sockets[1], &pid, sizeof(pid)) == sizeof(pid) && pause() == 0);
	}
	ck_assert_int_eq(read(sockets[0], &reader_pid, sizeof(reader_pid)),
			 sizeof(reader_pid));
	ck_assert_int_gt(reader_pid, 0);
	ck_assert_int_eq(kill(parent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	for (int tries = 0; tries < MOST_TRIES && is_alive(reader_pid); tries++)
		usleep(10000);
	const bool ends = !is_alive(reader_pid);
	if (!ends)
		kill(reader_pid, SIGKILL);
	ck_assert_msg(ends, "it lives on without its parent");
	close(sockets[0]);
	close(sockets[1]);
}
END_TEST

START_TEST(a_file_that_cannot_be_opened)
{
	const int codes[] = {EMFILE, EACCES, EIO, ENOMEM};
	struct source bad = {.fd = -1};
	const struct nw_read_file refused = file_of(&bad, 2);

	for (size_t i = 0; i < NW_COUNT(codes); i++) {
		bad.fails = codes[i];
		ck_assert_int_eq(nw_reader_file(reader, &refused, &facts, &err), -codes[i]);
		ck_assert_str_ne(err.what, "");
	}
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, NULL), 0);
	nw_vec_free(&facts.segments);
}
END_TEST

/* Lines, for which DWARF is read, are only told if they are asked for. */
START_TEST(no_more_than_is_asked_for)
{
	uint64_t offset = 0, vaddr = 0;

	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	nw_mappings maps = {0};
	ck_assert_int_eq(nw_process_maps(getpid(), &maps, &err), 0);
	nw_vec_each (&maps, mapping)
		if (mapping->exec && (uintptr_t)get >= mapping->start &&
		    (uintptr_t)get < mapping->end)
			offset = (uintptr_t)get - mapping->start + mapping->offset;
	nw_mappings_free(&maps);
	ck_assert(nw_segments_vaddr(&facts.segments, offset, &vaddr));
	for (unsigned int depth = NW_PLACE_RULE; depth <= NW_PLACE_LINES; depth++) {
		ck_assert_int_eq(nw_reader_place(reader, &file, vaddr,
						 (enum nw_place_depth)depth, &place, &err),
				 0);
		ck_assert_uint_gt(place.rule_len, 0);
		ck_assert_int_eq(place.known, depth >= NW_PLACE_NAME);
		if (depth >= NW_PLACE_NAME)
			ck_assert_str_eq(place.name, "get");
		if (nw_unwind_tables_lack())
			continue;
		ck_assert_int_eq(place.lines.line.file != NULL, depth == NW_PLACE_LINES);
	}
	nw_vec_free(&facts.segments);
}
END_TEST

/* Its death is told, costs that file only, and nobody waits. */
START_TEST(a_reader_that_dies)
{
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
		pid_t pid = child_of_ours();
		ck_assert_int_gt(pid, 0);
		ck_assert_int_eq(kill(pid, SIGBUS), 0);
		ck_assert_int_eq(nw_reader_place(reader, &file,
						 facts.segments.item[0].vaddr,
						 NW_PLACE_LINES, &place, &err),
				 -EIO);
		ck_assert_msg(strstr(err.what, "signal 7") != NULL, "%s", err.what);
		nw_vec_free(&facts.segments);
		ck_assert_int_eq(child_of_ours(), 0);
	}
}
END_TEST

/* One that does not answer is given up: within half a second in all once a signal waits that is to end the run. */
START_TEST(a_reader_that_stands_still)
{
	struct timespec before, after;
	sigset_t set;

	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	ck_assert_int_eq(kill(child_of_ours(), SIGSTOP), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	ck_assert_int_eq(nw_reader_place(reader, &file, facts.segments.item[0].vaddr,
					 NW_PLACE_LINES, &place, &err),
			 -ETIMEDOUT);
	await_children();
	nw_vec_free(&facts.segments);
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	ck_assert_int_eq(kill(child_of_ours(), SIGSTOP), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTERM);
	ck_assert_int_eq(nw_reader_place(reader, &file, facts.segments.item[0].vaddr,
					 NW_PLACE_LINES, &place, &err),
			 -ECANCELED);
	/* nothing is started for it any more */
	ck_assert_int_eq(nw_reader_place(reader, &file, 0, NW_PLACE_LINES, &place, &err),
			 -ECANCELED);
	await_children();
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_lt(after.tv_sec - before.tv_sec, 60);
	nw_vec_free(&facts.segments);
	sigaddset(&set, SIGTERM);
	int number;
	sigwait(&set, &number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
END_TEST

/* The clocks that the reader's limits are measured by: as they are (step 0), or going on by this much with each look. The
 * limits of processor time cannot be told from those of time on a busy machine otherwise. */
static struct {
	bool steered;
	uint64_t now, cpu, step, cpu_step; /* ns */
} clocks;

int clock_gettime(clockid_t id, struct timespec *out)
{
	if (!clocks.steered || id == CLOCK_REALTIME)
		return (int)syscall(SYS_clock_gettime, id, out);
	uint64_t *clock = id == CLOCK_MONOTONIC ? &clocks.now : &clocks.cpu;

	*clock += id == CLOCK_MONOTONIC ? clocks.step : clocks.cpu_step;
	*out = (struct timespec){(time_t)(*clock / 1000000000),
				 (long)(*clock % 1000000000)};
	return 0;
}

/* Asks a reader that stands still while the clocks go on by so much. Returns the error. */
static int ask_for_ever(enum nw_place_depth depth, uint64_t step, uint64_t cpu_step)
{
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	ck_assert_int_eq(kill(child_of_ours(), SIGSTOP), 0);
	clocks.now = clocks.cpu = 1000000000;
	clocks.step = step;
	clocks.cpu_step = cpu_step;
	clocks.steered = true;
	int ret = nw_reader_place(reader, &file, facts.segments.item[0].vaddr, depth,
				  &place, &err);
	clocks.steered = false;
	nw_vec_free(&facts.segments);
	/* the next one asks the first child that there is */
	if (ret == -ETIMEDOUT)
		await_children();
	return ret;
}

START_TEST(the_limits_of_a_question_and_of_a_run)
{
	const uint64_t ms = 1000000, second = 1000 * ms;

	ck_assert_int_eq(ask_for_ever(NW_PLACE_NAME, 0, 100 * ms), -ETIMEDOUT);
	ck_assert_msg(strstr(err.what, "3 s of processor time"), "%s", err.what);
	ck_assert_msg(clocks.cpu > 4 * second && clocks.cpu < 5 * second, "%ju",
		      (uintmax_t)clocks.cpu);
	ck_assert_int_eq(ask_for_ever(NW_PLACE_NAME, second, 0), -ETIMEDOUT);
	ck_assert_msg(strstr(err.what, "10 s"), "%s", err.what);
	ck_assert_msg(clocks.now > 11 * second && clocks.now < 16 * second, "%ju",
		      (uintmax_t)clocks.now);
	/* the readers of a run together: the first has used more than 3 s, each of the others, too */
	int ret = -ETIMEDOUT, questions = 1;
	for (; ret == -ETIMEDOUT && questions < 20; questions++)
		ret = ask_for_ever(NW_PLACE_NAME, 0, second);
	ck_assert_int_eq(ret, -ECANCELED);
	ck_assert_msg(strstr(err.what, "30 s of processor time"), "%s", err.what);
	ck_assert_int_lt(questions, 11);
	ck_assert_int_gt(questions, 4);
}
END_TEST

static int never(void *arg, unsigned int what, const char *name)
{
	const pid_t *tester = arg;

	(void)what;
	(void)name;
	if (*tester == getpid())
		return -EDEADLK;
	for (;;)
		pause();
}

/* Whoever opens a file on a file system that does not answer is another process: it is given up, and the run goes on. */
START_TEST(a_file_system_that_does_not_answer)
{
	pid_t tester = getpid();
	const struct nw_read_file silent = {2, never, &tester, sizeof(tester)};
	sigset_t set;
	int number;

	ck_assert_int_eq(nw_reader_file(reader, &silent, &facts, &err), -EHOSTDOWN);
	ck_assert_str_eq(err.what, "its file system does not answer");
	await_children();
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
	nw_vec_free(&facts.segments);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTERM);
	ck_assert_int_eq(nw_reader_file(reader, &silent, &facts, &err), -ECANCELED);
	await_children();
	sigwait(&set, &number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
END_TEST

/* A user may mount any number of them. */
START_TEST(file_systems_that_do_not_answer)
{
	pid_t tester = getpid();

	for (uint32_t i = 2; i <= 4; i++) {
		const struct nw_read_file silent = {i, never, &tester, sizeof(tester)};
		ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), 0);
		nw_vec_free(&facts.segments);
		ck_assert_int_eq(nw_reader_file(reader, &silent, &facts, &err),
				 i < 4 ? -EHOSTDOWN : -ECANCELED);
	}
	ck_assert_str_eq(err.what,
			 "three file systems did not answer: no other file is read");
	ck_assert_int_eq(nw_reader_file(reader, &file, &facts, &err), -ECANCELED);
	ck_assert(!nw_reader_lacks_debug_files(reader));
}
END_TEST

static int open_ourselves(void *arg, unsigned int what, const char *name)
{
	const char *path = arg;

	(void)name;
	return what == NW_WANT_FILE ? open(path, O_RDONLY | O_CLOEXEC) : -ENOENT;
}

START_TEST(files_that_another_process_opens)
{
	char here[] = "/proc/self/exe", nowhere[] = "/nowhere";
	const struct nw_read_file opened = {2, open_ourselves, here, sizeof(here)};
	const struct nw_read_file none = {3, open_ourselves, nowhere, sizeof(nowhere)};

	for (int i = 0; i < 3; i++) {
		ck_assert_int_lt(nw_reader_file(reader, &none, &facts, &err), 0);
		ck_assert_int_eq(nw_reader_file(reader, &opened, &facts, &err), 0);
		ck_assert_uint_gt(facts.segments.count, 0);
		nw_vec_free(&facts.segments);
	}
}
END_TEST

/* More files than either side may have open: those that were asked about last stay. */
START_TEST(more_files_than_descriptors)
{
	const struct rlimit few = {64, 64};

	setrlimit(RLIMIT_NOFILE, &few);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 300; i++) {
			const struct nw_read_file one = file_of(&source, i);
			int ret = nw_reader_file(reader, &one, &facts, &err);
			ck_assert_msg(ret == 0, "%u: %s", i, err.what);
			nw_vec_free(&facts.segments);
		}
	ck_assert_uint_ge(source.opened, 300);
}
END_TEST

UNIT_MAIN_WITH("reader", setup, teardown, it_tells_what_a_file_is, what_it_may_do,
	       whom_it_may_signal, it_ends_with_its_parent, no_more_than_is_asked_for,
	       a_file_that_cannot_be_opened, a_reader_that_dies, a_reader_that_stands_still,
	       the_limits_of_a_question_and_of_a_run, a_file_system_that_does_not_answer,
	       file_systems_that_do_not_answer, files_that_another_process_opens,
	       more_files_than_descriptors)
