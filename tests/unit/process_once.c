// SPDX-License-Identifier: MIT
/* A process, looked at once: its memory and its mappings are those of one program. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "elf_files.h"
#include "find/probe/probe.h"

START_TEST(a_variable_is_private_and_writable)
{
	struct nw_process own_process;
	struct stat st;
	char dir[64];

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	/* pages 0, 1 and 2 of a file: read-only, shared, a variable; once more as code */
	map_file("file", PROT_READ, MAP_PRIVATE, 0, 1);
	map_file("file", PROT_READ | PROT_WRITE, MAP_SHARED, 1, 1);
	const char *own = map_file("file", PROT_READ | PROT_WRITE, MAP_PRIVATE, 2, 1);
	map_file("file", PROT_READ | PROT_EXEC, MAP_PRIVATE, 2, 1);
	map_file("other", PROT_READ | PROT_WRITE, MAP_PRIVATE, 0, 4);
	ck_assert_int_eq(stat("file", &st), 0);
	ck_assert_int_eq(nw_process_open(getpid(), NW_PROCESS_WRITE, &own_process), 0);
	struct nw_file_id file = {st.st_dev, st.st_ino, 0, "", false};
#define AT(offset) nw_process_variable(&own_process, &file, offset)
	ck_assert_uint_eq(AT(0), 0);
	ck_assert_uint_eq(AT(4096), 0);
	ck_assert_uint_eq(AT(8192), (uintptr_t)own);
	ck_assert_uint_eq(AT(8192 + 4095), (uintptr_t)own + 4095);
	ck_assert_uint_eq(AT(3 * 4096), 0);
	/* a file of the same number on another device is another one */
	file.dev++;
	ck_assert_uint_eq(AT(8192), 0);
	nw_process_close(&own_process);
}
END_TEST

/* overlayfs and btrfs tell different devices for one file: then its build-id tells that it is it. */
START_TEST(a_file_on_another_device_is_known_by_its_build_id)
{
	struct nw_process own_process;
	struct stat st;
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	eb_build_id(&b, "\x12\xab", 2);
	int fd = eb_memfd(&b);
	ck_assert_int_eq(fstat(fd, &st), 0);
	const char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(own, MAP_FAILED);
	close(fd);
	ck_assert_int_eq(nw_process_open(getpid(), NW_PROCESS_READ, &own_process), 0);
	const struct {
		struct nw_file_id file;
		bool is;
	} rows[] = {
		{{st.st_dev, st.st_ino, 0, "", false}, true},
		/* another device is another file, but on overlayfs */
		{{st.st_dev + 1, st.st_ino, (uint64_t)st.st_size, "12ab", false}, false},
		{{st.st_dev + 1, st.st_ino, (uint64_t)st.st_size, "12ab", true}, true},
		{{st.st_dev + 1, st.st_ino, (uint64_t)st.st_size, "", true}, false},
		{{st.st_dev + 1, st.st_ino, (uint64_t)st.st_size, "12ac", true}, false},
		{{st.st_dev + 1, st.st_ino, (uint64_t)st.st_size + 1, "12ab", true}, false},
		{{st.st_dev, st.st_ino + 1, (uint64_t)st.st_size, "12ab", true}, false},
	};
	for (size_t i = 0; i < NW_COUNT(rows); i++)
		ck_assert_msg(nw_process_variable(&own_process, &rows[i].file, 8) ==
				      (rows[i].is ? (uintptr_t)own + 8 : 0),
			      "row %zu", i);
	nw_process_close(&own_process);
}
END_TEST

START_TEST(memory_is_that_of_the_program_that_was_looked_at)
{
	static volatile int word = 4711;
	struct nw_process process;
	int go[2], value = 0;
	char byte;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) < 0)
			_exit(1);
		execl("/bin/sleep", "sleep", "60", NULL);
		_exit(1);
	}
	ck_assert_int_eq(nw_process_open(child, NW_PROCESS_WRITE, &process), 0);
	ck_assert(process.stat.forked);
	ck_assert_int_eq(process.pid, child);
	off_t at = (off_t)(uintptr_t)&word;
	ck_assert_int_eq(pread(process.memory, &value, sizeof(value), at), sizeof(value));
	ck_assert_int_eq(value, 4711);
	close(go[1]); /* now it becomes another program */
	struct nw_process_stat stat = {.forked = true};
	while (stat.forked)
		ck_assert_int_eq(nw_process_stat(child, &stat), 0);
	ck_assert_int_eq(pread(process.memory, &value, sizeof(value), at), 0);
	ck_assert_int_eq(pwrite(process.memory, &value, sizeof(value), at), 0);
	nw_process_close(&process);
	int ret;
	do /* the kernel may still be starting it */
		ret = nw_process_open(child, NW_PROCESS_WRITE, &process);
	while (ret == -EINPROGRESS);
	ck_assert_int_eq(ret, 0);
	ck_assert(!process.stat.forked);
	nw_process_close(&process);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(nw_process_open(child, NW_PROCESS_WRITE, &process), -ESRCH);
	ck_assert_int_eq(nw_process_open(child, NW_PROCESS_READ, &process), -ESRCH);
}
END_TEST

/* Empties our auxiliary vector and leaves the rest of our memory as it is (man 2 prctl, PR_SET_MM_MAP). */
static bool empty_own_vector(void)
{
	static __u64 vector[2];
	unsigned long long field[53] = {0};
	struct prctl_mm_map map = {
		.auxv = vector, .auxv_size = sizeof(vector), .exe_fd = ~0U};
	FILE *file = fopen("/proc/self/stat", "re");
	char text[2048] = "", *at;

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	at = strrchr(text, ')') + 3; /* field 3, the state, and the numbers behind it */
	for (int i = 4; i < 53 && (at = strchr(at, ' ')); i++)
		field[i] = strtoull(at, &at, 10);
	map.start_code = field[26];
	map.end_code = field[27];
	map.start_stack = field[28];
	map.start_data = field[45];
	map.end_data = field[46];
	map.start_brk = field[47];
	map.brk = (uintptr_t)sbrk(0);
	map.arg_start = field[48];
	map.arg_end = field[49];
	map.env_start = field[50];
	map.env_end = field[51];
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) == 0;
}

/* The kernel fills the vector last when it starts a program. */
START_TEST(a_program_that_is_being_started_is_told)
{
	struct nw_process process;
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		byte = empty_own_vector() ? 0 : (char)errno;
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	if (byte !=
	    EINVAL) { /* a kernel before 3.18, or one without CONFIG_CHECKPOINT_RESTORE */
		ck_assert_int_eq(byte, 0);
		ck_assert_int_eq(nw_process_open(child, NW_PROCESS_WRITE, &process),
				 -EINPROGRESS);
		ck_assert_int_eq(nw_process_open(child, NW_PROCESS_READ, &process), 0);
		nw_process_close(&process);
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

enum {
	CHILDREN = 400
};
static volatile pid_t youngest; /* they write it themselves, as they run in our memory */
static volatile bool all_made;

static void *make_children(void *arg)
{
	(void)arg;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = vfork();
		if (child == 0) {
			youngest = getpid();
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
	all_made = true;
	return NULL;
}

/* Until they exec, our children's memory is ours, and lives on. */
START_TEST(memory_and_mappings_are_of_one_program)
{
	struct nw_process process;
	pthread_t maker;
	char magic[4];

	ck_assert_int_eq(pthread_create(&maker, NULL, make_children, NULL), 0);
	while (!all_made) {
		pid_t pid = youngest;
		if (!pid || nw_process_open(pid, NW_PROCESS_WRITE, &process) < 0)
			continue;
		nw_vec_each (&process.maps, mapping) {
			if (!mapping->exec || !mapping->ino)
				continue;
			ssize_t got = pread(process.memory, magic, sizeof(magic),
					    (off_t)mapping->start);
			/* 0: it has gone since */
			ck_assert_msg(got == sizeof(magic) || got == 0,
				      "the memory has nothing where %s is mapped",
				      mapping->path);
		}
		nw_process_close(&process);
	}
	pthread_join(maker, NULL);
}
END_TEST

UNIT_MAIN("process_once", a_variable_is_private_and_writable,
	  a_file_on_another_device_is_known_by_its_build_id,
	  memory_is_that_of_the_program_that_was_looked_at,
	  a_program_that_is_being_started_is_told, memory_and_mappings_are_of_one_program)
