// SPDX-License-Identifier: MIT
/* Processes as /proc shows them: mappings, threads, names, and the files behind their code. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "elf_files.h"
#include "find/probe/probe.h"

/* A process that waits until the write end of *hold is closed. */
static pid_t spawn(int *hold, bool dumpable)
{
	int ends[2], ready[2];
	char byte;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) { /* no assertions in a child: they would be the test's */
		close(ends[1]);
		prctl(PR_SET_DUMPABLE, dumpable);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ends[0]);
	close(ready[0]);
	close(ready[1]);
	*hold = ends[1];
	return pid;
}

static void end(pid_t pid, int hold)
{
	close(hold);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static const struct nw_mapping *mapping_at(const nw_mappings *maps, const char *at)
{
	nw_vec_each (maps, mapping)
		if (mapping->start == (uintptr_t)at)
			return mapping;
	ck_abort_msg("no mapping starts there");
	return NULL;
}

/* ---- mappings ----------------------------------------------------------------------- */

START_TEST(mappings_are_read_with_all_that_is_known_of_them)
{
	static const struct {
		const char *name;
		int protection, flags;
		size_t page, pages;
		bool gone; /* deleted when it is looked at */
	} cases[] = {
		{"code", PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, 4, false},
		{"data", PROT_READ | PROT_WRITE, MAP_PRIVATE, 1, 2, false},
		{"shared", PROT_READ | PROT_WRITE, MAP_SHARED, 3, 1, false},
		{"none", PROT_NONE, MAP_PRIVATE, 0, 1, false},
		{"with blanks and (brackets) ", PROT_READ, MAP_PRIVATE, 0, 1, false},
		{"line\nbreak", PROT_READ, MAP_PRIVATE, 0, 1, false},
		{"two\n\nbreaks\n", PROT_READ, MAP_PRIVATE, 0, 1, false},
		{"back\\slash", PROT_READ, MAP_PRIVATE, 0, 1, false},
		{"gone", PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, 1, true},
		{"gone (deleted)", PROT_READ, MAP_PRIVATE, 0, 1, true},
	};
	nw_mappings own = {0}, childs = {0};
	char *at[NW_COUNT(cases)], dir[64];
	ino_t inode[NW_COUNT(cases)];
	struct nw_error err;
	int hold;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct stat st;
		at[i] = map_file(cases[i].name, cases[i].protection, cases[i].flags,
				 cases[i].page, cases[i].pages);
		ck_assert_int_eq(stat(cases[i].name, &st), 0);
		inode[i] = st.st_ino;
		if (cases[i].gone)
			ck_assert_int_eq(unlink(cases[i].name), 0);
	}
	pid_t child = spawn(&hold, true);
	ck_assert_int_eq(nw_process_maps(getpid(), &own, &err), 0);
	ck_assert_int_eq(nw_process_maps(child, &childs, &err), 0);
	for (size_t i = 0; i < NW_COUNT(cases) * 2; i++) {
		size_t n = i / 2;
		const struct nw_mapping *mapping = mapping_at(i % 2 ? &childs : &own,
							      at[n]);
		nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", dir, cases[n].name);
		ck_assert_str_eq(mapping->path, path);
		ck_assert_uint_eq(mapping->end - mapping->start, cases[n].pages * 4096);
		ck_assert_uint_eq(mapping->offset, cases[n].page * 4096);
		ck_assert_uint_eq(mapping->ino, inode[n]);
		ck_assert_int_eq(mapping->write, (cases[n].protection & PROT_WRITE) != 0);
		ck_assert_int_eq(mapping->exec, (cases[n].protection & PROT_EXEC) != 0);
		ck_assert_int_eq(mapping->shared, cases[n].flags == MAP_SHARED);
		ck_assert_int_eq(mapping->deleted, cases[n].gone);
	}
	nw_mappings_free(&own);
	nw_mappings_free(&childs);
	end(child, hold);
}
END_TEST

START_TEST(anonymous_memory_has_no_path)
{
	nw_mappings maps = {0};
	struct nw_error err;
	/* read-only, between inaccessible pages, so that it does not merge with others */
	char *at = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(mprotect(at + 4096, 4096, PROT_READ), 0);
	ck_assert_int_eq(nw_process_maps(getpid(), &maps, &err), 0);
	const struct nw_mapping *mapping = mapping_at(&maps, at + 4096);
	ck_assert_str_eq(mapping->path, "");
	ck_assert_uint_eq(mapping->ino, 0);
	ck_assert_uint_eq(mapping->offset, 0);
	ck_assert(!mapping->deleted && !mapping->exec && !mapping->write &&
		  !mapping->shared);
	bool stack = false;
	nw_vec_each (&maps, it)
		stack = stack || strcmp(it->path, "[stack]") == 0;
	ck_assert(stack);
	nw_mappings_free(&maps);
	ck_assert_uint_eq(maps.count, 0);
}
END_TEST

START_TEST(forks_are_told_from_programs_that_were_started)
{
	struct nw_process_stat own, forks;
	int hold;

	prctl(PR_SET_NAME, "a) S 1 (b"); /* is in the same line */
	pid_t child = spawn(&hold, true);
	ck_assert_int_eq(nw_process_stat(getpid(), &own), 0);
	ck_assert_int_eq(nw_process_stat(child, &forks), 0);
	ck_assert(forks.forked);
	ck_assert_uint_ge(forks.start, own.start);
	ck_assert_int_eq(nw_process_stat(1, &own), 0);
	ck_assert(!own.forked);
	end(child, hold);
	ck_assert_int_eq(nw_process_stat(child, &forks), -ESRCH);
}
END_TEST

START_TEST(a_process_that_is_gone_is_told_so)
{
	nw_mappings maps = {0};
	nw_images images = {0};
	nw_pids threads = {0};
	char comm[16], what[64];
	pid_t process;
	int hold;
	pid_t child = spawn(&hold, true);

	end(child, hold);
	pid_t gone[] = {child, 0, -1};
	for (size_t i = 0; i < NW_COUNT(gone); i++) {
		struct nw_error err = {0};
		snprintf(what, sizeof(what), "there is no process %d", (int)gone[i]);
		ck_assert_int_eq(nw_process_maps(gone[i], &maps, &err), -ESRCH);
		ck_assert_str_eq(err.what, what);
		ck_assert_int_eq(err.code, ESRCH);
		ck_assert_int_eq(nw_process_threads(gone[i], &threads, &err), -ESRCH);
		ck_assert_str_eq(err.what, what);
		ck_assert_int_eq(nw_process_images(gone[i], true, false, &images, &err),
				 -ESRCH);
		ck_assert_str_eq(err.what, what);
		ck_assert_int_eq(nw_process_task(gone[i], &process, comm), -ESRCH);
		ck_assert_int_eq(nw_process_maps(gone[i], &maps, NULL), -ESRCH);
	}
	ck_assert_uint_eq(maps.count + threads.count + images.count, 0);
}
END_TEST

START_TEST(a_process_of_somebody_else_is_told_so)
{
	nw_mappings maps = {0};
	struct nw_error err = {0};
	char what[96];
	int hold;
	pid_t child = spawn(&hold, false); /* for its own user, too */

	if (geteuid() == 0)
		ck_assert(setresgid(65534, 65534, 65534) == 0 &&
			  setresuid(65534, 65534, 65534) == 0);
	ck_assert_int_eq(nw_process_maps(child, &maps, &err), -EACCES);
	snprintf(what, sizeof(what), "cannot read the mappings of process %d: %s",
		 (int)child, strerror(EACCES));
	ck_assert_str_eq(err.what, what);
	ck_assert_str_eq(
		err.hint,
		"run as root, as the user who owns the process, or with CAP_SYS_PTRACE");
	end(child, hold);
}
END_TEST

/* ---- threads ------------------------------------------------------------------------ */

static int thread_pipe[2];

static void *thread_main(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	prctl(PR_SET_NAME, arg);
	if (write(thread_pipe[1], &tid, sizeof(tid)) == (ssize_t)sizeof(tid))
		pause(); /* until the process ends */
	return NULL;
}

static bool has_pid(const nw_pids *pids, pid_t pid)
{
	nw_vec_each (pids, it)
		if (*it == pid)
			return true;
	return false;
}

START_TEST(threads_are_listed_and_known_by_name)
{
	static const struct {
		const char *name, *comm;
	} cases[] = {{"worker", "worker"},
		     {"a b)c (d", "a b)c (d"},
		     {"exactly15chars.", "exactly15chars."},
		     {"more than 15 characters", "more than 15 ch"},
		     {"line\nbreak\n", "line\nbreak\n"},
		     {"", ""}};
	nw_pids threads = {0}, all = {0};
	struct nw_error err;

	ck_assert_int_eq(pipe2(thread_pipe, O_CLOEXEC), 0);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		pid_t tid, process = 0;
		pthread_t thread;
		char comm[16];
		ck_assert_int_eq(pthread_create(&thread, NULL, thread_main,
						(void *)(uintptr_t)cases[i].name),
				 0);
		ck_assert_int_eq(read(thread_pipe[0], &tid, sizeof(tid)),
				 (ssize_t)sizeof(tid));
		ck_assert_int_eq(nw_process_task(tid, &process, comm), 0);
		ck_assert_int_eq(process, getpid());
		ck_assert_str_eq(comm, cases[i].comm);
		threads.count = 0;
		ck_assert_int_eq(nw_process_threads(getpid(), &threads, &err), 0);
		ck_assert_uint_eq(threads.count, i + 2);
		ck_assert(has_pid(&threads, tid) && has_pid(&threads, getpid()));
		all.count = 0;
		ck_assert_int_eq(nw_process_all(&all, &err), 0);
		ck_assert(has_pid(&all, getpid()) && has_pid(&all, getppid()));
		ck_assert(!has_pid(&all, tid)); /* a thread is no process */
	}
	nw_vec_free(&threads);
	nw_vec_free(&all);
}
END_TEST

/* Whom nw_pid_space_scan_threads() has told of. */
struct met {
	size_t threads, ours, kernel; /* kernel: as far as kthreadd tells */
	size_t enough;
	char names[8][16];
};

static bool note(void *arg, pid_t process, pid_t tid, const char *comm, size_t len)
{
	struct met *met = arg;
	struct nw_process_stat stat;

	met->threads++;
	met->kernel += nw_process_stat(process, &stat) == 0 && stat.kernel;
	if (process == getpid() && met->ours < NW_COUNT(met->names)) {
		pid_t owner;
		char name[16];
		ck_assert_uint_lt(len, 16);
		memcpy(met->names[met->ours], comm, len);
		ck_assert_int_eq(nw_process_task(tid, &owner, name), 0);
		ck_assert_int_eq(owner, process);
		ck_assert_str_eq(met->names[met->ours++], name);
	}
	return met->threads != met->enough;
}

static struct met meet(const struct nw_pid_space *space, const nw_pids *processes,
		       bool kernel, size_t enough)
{
	struct met met = {.enough = enough};

	nw_pid_space_scan_threads(space, processes, kernel, note, &met);
	return met;
}

START_TEST(everybody_is_met_with_process_and_name)
{
	static const char *const names[] = {"one", "a\nb)c (d", "exactly15chars."};
	struct nw_pid_space space = {.host = -1};
	pid_t self = getpid(), tid;
	nw_pids all = {0}, one = {.item = &self, .count = 1, .room = 1};

	ck_assert_uint_eq(meet(&space, &one, false, 0).ours, 1);
	ck_assert_int_eq(pipe2(thread_pipe, O_CLOEXEC), 0);
	for (size_t i = 0; i < NW_COUNT(names); i++) {
		pthread_t thread;
		ck_assert_int_eq(pthread_create(&thread, NULL, thread_main,
						(void *)(uintptr_t)names[i]),
				 0);
		ck_assert_int_eq(read(thread_pipe[0], &tid, sizeof(tid)),
				 (ssize_t)sizeof(tid));
	}
	struct met met = meet(&space, &one, false, 0);
	ck_assert_uint_eq(met.threads, 4);
	ck_assert_uint_eq(met.ours, 4);
	ck_assert_str_eq(met.names[2], names[1]);
	met = meet(&space, &all, false, 0);
	ck_assert_uint_eq(met.ours, 4);
	ck_assert_uint_gt(met.threads, 4);
	/* kthreadd itself; in a PID namespace of its own that number is anybody's */
	struct nw_process_stat second;
	if (nw_process_stat(2, &second) < 0 || !second.kernel ||
	    access("/proc/2/task/2/children", R_OK) != 0) {
		unit_skip("the kernel's own threads are not to be seen here");
	} else {
		/* their list is not that of one moment: one that was born or has ended meanwhile is met, or others are */
		for (int i = 0; i < 1000 && met.kernel > 1; i++)
			met = meet(&space, &all, false, 0);
		ck_assert_uint_le(met.kernel, 1);
		ck_assert_uint_gt(meet(&space, &all, true, 0).kernel, 1);
	}
	/* how many others there are may change at any time */
	ck_assert_uint_eq(meet(&space, &all, true, 0).ours, 4);
	ck_assert_uint_eq(meet(&space, &all, true, 3).threads, 3); /* enough is enough */

	/* by the /proc that has the kernel's numbers; without one, nobody is */
	space = (struct nw_pid_space){.foreign = true, .host = -1};
	ck_assert_uint_eq(meet(&space, &all, true, 0).threads, 0);
	ck_assert_uint_eq(meet(&space, &one, true, 0).threads, 0);
	space.host = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_uint_eq(meet(&space, &all, false, 0).ours, 4);
	ck_assert_uint_eq(meet(&space, &one, false, 0).threads, 4);
	nw_pid_space_close(&space);
}
END_TEST

START_TEST(who_is_gone_is_not_met)
{
	const struct nw_pid_space space = {.host = -1};
	int hold;
	pid_t child = spawn(&hold, true);
	nw_pids one = {.item = &child, .count = 1, .room = 1};

	ck_assert_uint_eq(meet(&space, &one, false, 0).threads, 1);
	end(child, hold);
	ck_assert_uint_eq(meet(&space, &one, false, 0).threads, 0);
}
END_TEST

/* ---- files -------------------------------------------------------------------------- */

static const struct nw_image *image_of(const nw_images *images, const char *base)
{
	const struct nw_image *found = NULL;

	nw_vec_each (images, image) {
		const char *slash = strrchr((*image)->path, '/');
		if (slash && strcmp(slash + 1, base) == 0) {
			ck_assert_ptr_null(found); /* once */
			found = *image;
		}
	}
	return found;
}

START_TEST(files_behind_code_are_images)
{
	nw_images images = {0};
	struct nw_error err;
	char dir[64];
	struct eb b;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	eb_program(&b, EM_X86_64, true, false);
	eb_note(&b, EB_TEXT, 0, 0, "p", "n", "");
	eb_notes(&b);
	eb_write(&b, dir, "with");
	eb_program(&b, EM_X86_64, true, false);
	eb_write(&b, dir, "without");
	map_file("with", PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, 1);
	map_file("with", PROT_READ | PROT_EXEC, MAP_PRIVATE, 1, 1);
	map_file("without", PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, 1);
	map_file("text", PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, 1);
	ck_assert_int_eq(nw_process_images(getpid(), true, false, &images, &err), 0);
	const struct nw_image *with = image_of(&images, "with");
	ck_assert_ptr_nonnull(with);
	ck_assert_uint_eq(with->sites.count, 1);
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/with", dir);
	ck_assert_str_eq(with->path, path);
	ck_assert_ptr_nonnull(image_of(&images, "without"));
	ck_assert_ptr_nonnull(image_of(&images, "libc.so.6"));
	ck_assert_ptr_null(image_of(&images, "text"));
	nw_images_free(&images);
	ck_assert_int_eq(nw_process_images(getpid(), false, false, &images, &err), 0);
	ck_assert_ptr_nonnull(image_of(&images, "with"));
	ck_assert_ptr_null(image_of(&images, "without"));
	nw_images_free(&images);
}
END_TEST

static int initialised = 7;

/* Our own code and variables are found in the file that we run; what is another file's, or no file's, is not. */
START_TEST(places_of_our_own)
{
	const uintptr_t places[] = {(uintptr_t)map_file, (uintptr_t)&initialised};
	const uintptr_t others[] = {(uintptr_t)map_file,
				    (uintptr_t)dlsym(RTLD_DEFAULT, "qsort")};
	const uintptr_t stack[] = {(uintptr_t)&places};
	uint64_t offsets[2];
	struct nw_error err;
	unsigned char code[8];
	int number;

	ck_assert_int_eq(nw_process_own_offsets(places, 2, offsets, &err), 0);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(pread(fd, code, 8, (off_t)offsets[0]), 8);
	ck_assert_mem_eq(code, (const void *)places[0], 8);
	ck_assert_int_eq(pread(fd, &number, sizeof(number), (off_t)offsets[1]),
			 sizeof(number));
	ck_assert_int_eq(number, initialised);
	close(fd);
	ck_assert_int_eq(nw_process_own_offsets(others, 2, offsets, &err), -ENOENT);
	ck_assert_str_eq(err.what, "our own code is not in our executable");
	ck_assert_int_eq(nw_process_own_offsets(stack, 1, offsets, &err), -ENOENT);
}
END_TEST

/* Without descriptors nobody can be looked at: that is an error, and no empty list. */
START_TEST(who_maps_a_file_is_known_or_an_error)
{
	struct nw_error err = {0};
	struct nw_image *image;
	struct rlimit limit;
	int found = 0, refused = 0;

	ck_assert_int_eq(nw_image_open("/proc/self/exe", false, &image, &err), 0);
	const struct nw_image *images[] = {image};
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int more = 0; more < 8; more++) {
		nw_pids pids = {0};
		bool there = false;
		int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
		close(next);
		limit.rlim_cur = (rlim_t)(next + more);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		int ret = nw_processes_mapping(images, 1, &pids);
		nw_vec_each (&pids, pid)
			there |= *pid == getpid();
		ck_assert_msg(ret == 0 ? there : ret == -EMFILE, "%d more: %d", more, ret);
		found += there;
		refused += ret == -EMFILE;
		limit.rlim_cur = limit.rlim_max;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		nw_vec_free(&pids);
	}
	ck_assert_int_gt(found, 0);
	ck_assert_int_gt(refused, 0);
	nw_image_free(image);
}
END_TEST

UNIT_MAIN("process", mappings_are_read_with_all_that_is_known_of_them,
	  anonymous_memory_has_no_path, forks_are_told_from_programs_that_were_started,
	  a_process_that_is_gone_is_told_so, a_process_of_somebody_else_is_told_so,
	  threads_are_listed_and_known_by_name, everybody_is_met_with_process_and_name,
	  who_is_gone_is_not_met, files_behind_code_are_images, places_of_our_own,
	  who_maps_a_file_is_known_or_an_error)
