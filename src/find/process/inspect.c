// SPDX-License-Identifier: MIT
/* Facts of a process that matter for probes: whether it lives, its program, its namespaces. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

const char *nw_status_value(const char *status, const char *key)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("\n%s:", key);
	const char *at = line ? strstr(status, line) : NULL;

	return at ? at + strlen(line) : NULL;
}

/* Returns the last number of a line: of "NSpid: 4711 7" the one in the innermost namespace. */
static pid_t last_number(const char *at)
{
	long value = 0;

	while (at && *at && *at != '\n') {
		char *end;
		long number = strtol(at, &end, 10);
		if (end == at)
			break;
		value = number;
		at = end;
	}
	return (pid_t)value;
}

/* Finds the process that has this number inside a PID namespace below ours; 0: none has, or several have. */
static pid_t find_inner(pid_t asked)
{
	nw_pids all = {0};
	pid_t found = 0;
	unsigned int matches = 0;

	nw_process_all(&all, NULL);
	nw_vec_each (&all, pid) {
		struct nw_buf status = {0};
		if (nw_process_file(*pid, "status", &status) == 0 &&
		    last_number(nw_status_value(nw_buf_str(&status), "NSpid")) == asked &&
		    *pid != asked) {
			found = *pid;
			matches++;
		}
		nw_buf_free(&status);
	}
	nw_vec_free(&all);
	return matches == 1 ? found : 0;
}

/* Does the process have another namespace of this kind, or another root directory, than this program? */
static bool differs(pid_t pid, const char *what)
{
	char path[64], own[64];
	struct stat theirs, ours;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	snprintf(own, sizeof(own), "/proc/self/%s", what);
	if (stat(path, &theirs) < 0 || stat(own, &ours) < 0)
		return false;
	return theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev;
}

static void read_exe(pid_t pid, struct nw_process_facts *out)
{
	static const char mark[] = " (deleted)";
	char link[64], path[4096];
	unsigned char ident[EI_NIDENT];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	size_t mark_len = sizeof(mark) - 1;
	out->exe_deleted = (size_t)len > mark_len &&
			   strcmp(path + len - mark_len, mark) == 0;
	if (out->exe_deleted)
		path[(size_t)len - mark_len] = '\0';
	out->exe = strdup(path);
	int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0)
		out->exe_ino = st.st_ino;
	if (pread(fd, ident, sizeof(ident), 0) == (ssize_t)sizeof(ident))
		out->bits32 = ident[EI_CLASS] == ELFCLASS32;
	close(fd);
}

static void read_status(const char *status, struct nw_process_facts *out)
{
	const char *seccomp = nw_status_value(status, "Seccomp");
	const char *tgid = nw_status_value(status, "Tgid");

	out->seccomp = seccomp ? (int)strtol(seccomp, NULL, 10) : -1;
	out->process = tgid ? (pid_t)strtol(tgid, NULL, 10) : out->asked;
	if (out->process != out->asked)
		out->state = NW_PROCESS_THREAD;
}

/* Reads the arguments and the environment; in both files each word ends in a NUL. */
static void read_words(pid_t pid, struct nw_process_facts *out)
{
	static const char preload[] = "LD_PRELOAD=";
	struct nw_buf words = {0}, preloads = {0};
	int fd = open("/etc/ld.so.preload", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0) {
		nw_buf_read(&preloads, fd);
		close(fd);
	}
	bool known = nw_process_file(pid, "cmdline", &words) == 0;
	known |= nw_process_file(pid, "environ", &words) == 0;
	for (size_t at = 0; at < words.len; at += strlen(words.data + at) + 1)
		if (strncmp(words.data + at, preload, sizeof(preload) - 1) == 0)
			nw_buf_printf(&preloads, " %s ",
				      words.data + at + sizeof(preload) - 1);
	for (size_t i = 0; i < words.len; i++)
		words.data[i] = words.data[i] ? words.data[i] : ' ';
	if (known)
		out->words = nw_buf_take(&words);
	if (preloads.len)
		out->preloads = nw_buf_take(&preloads);
	nw_buf_free(&words);
	nw_buf_free(&preloads);
}

static bool may_read_memory(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int nw_process_inspect(pid_t pid, struct nw_process_facts *out, struct nw_error *err)
{
	struct nw_process_facts facts = {.asked = pid, .seccomp = -1};
	struct nw_buf status = {0};
	pid_t process;

	int ret = nw_process_file(pid, "status", &status);
	if (ret == 0)
		read_status(nw_buf_str(&status), &facts);
	nw_buf_free(&status);
	if (ret == -ENOENT || ret == -ESRCH) {
		facts.process = find_inner(pid);
		facts.state = facts.process ? NW_PROCESS_INNER : NW_PROCESS_GONE;
	} else if (ret < 0) {
		return nw_fail(err, -ret, "cannot look at process %d: %s", (int)pid,
			       nw_strerror(-ret));
	}
	if (facts.process) {
		nw_process_task(facts.process, &process, facts.comm);
		read_exe(facts.process, &facts);
		nw_process_children(facts.process, &facts.children);
		read_words(facts.process, &facts);
		facts.other_mounts = differs(facts.process, "ns/mnt") ||
				     differs(facts.process, "root");
		facts.other_pids = differs(facts.process, "ns/pid");
		facts.readable = may_read_memory(facts.process);
	}
	*out = facts;
	return 0;
}

void nw_process_facts_free(struct nw_process_facts *facts)
{
	free(facts->exe);
	free(facts->words);
	free(facts->preloads);
	nw_vec_free(&facts->children);
	*facts = (struct nw_process_facts){0};
}
