// SPDX-License-Identifier: MIT
/* Events of others on a file, and whether their hits are recorded anywhere. Reads only. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_list.h"

/* ---- definitions -------------------------------------------------------------------- */

static bool is_on(const char *path, const struct nw_image *image)
{
	struct stat st;

	if (strcmp(path, image->path) == 0)
		return true;
	return stat(path, &st) == 0 && st.st_ino == image->ino && st.st_dev == image->dev;
}

/* Tools put their PID into the name ("..._bcc_4711"); is that process gone? */
static pid_t dead_owner(const struct nw_foreign_event *event)
{
	const char *const names[] = {event->name, event->group};

	for (size_t i = 0; i < NW_COUNT(names); i++) {
		const char *last = strrchr(names[i], '_');
		uint64_t pid;
		if (last && nw_parse_u64(last + 1, &pid) == 0 &&
		    isdigit((unsigned char)last[1]) && last[2] != 'x' && pid > 1 &&
		    pid < 1 << 22 && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			return (pid_t)pid;
	}
	return 0;
}

/* ---- the instance that records ------------------------------------------------------ */

static bool reads_one(int dir, const char *file)
{
	struct nw_buf text = {0};
	bool one = nw_tracefs_read(dir, file, &text) == 0 && nw_buf_str(&text)[0] == '1';

	nw_buf_free(&text);
	return one;
}

static bool is_enabled(int dir, struct nw_foreign_event *event)
{
	enum nw_enabled enabled = NW_ENABLED_NO;
	char file[512];

	nw_event_file("", event->group, event->name, "enable", file);
	if (nw_enabled_read(dir, file, &enabled) < 0)
		return false;
	event->waits = enabled == NW_ENABLED_SOFT;
	return nw_enabled_arms(enabled);
}

static void read_filter(int dir, struct nw_foreign_event *event)
{
	nw_cleanup(nw_free_ptr) char *file = nw_text("events/%s/%s/filter", event->group,
						     event->name);
	struct nw_buf text = {0};

	if (file && nw_tracefs_read(dir, file, &text) == 0 &&
	    strncmp(nw_buf_str(&text), "none", 4) != 0)
		snprintf(event->filter, sizeof(event->filter), "%.*s",
			 (int)strcspn(nw_buf_str(&text), "\n"), nw_buf_str(&text));
	nw_buf_free(&text);
}

/* Does the file list numbers (else it says "no pid"), and how many of the threads are among them? */
static bool read_pid_list(int dir, const char *file, const nw_pids *threads, size_t *listed)
{
	struct nw_buf text = {0};
	bool any = nw_tracefs_read(dir, file, &text) == 0 && text.len &&
		   isdigit((unsigned char)text.data[0]);
	char *end;

	*listed = 0;
	char *at = any ? text.data : NULL;
	for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end)
		nw_vec_each (threads, tid)
			*listed += *tid == pid;
	nw_buf_free(&text);
	return any;
}

/* The threads of interest must be in set_event_pid, if there is one, and not in its opposite. */
static void read_pids(int dir, const nw_pids *threads, struct nw_foreign_event *event)
{
	size_t listed;

	if (read_pid_list(dir, "set_event_pid", threads, &listed)) {
		event->pid_filter = true;
		event->pid_filtered = threads->count && !listed;
	}
	if (read_pid_list(dir, "set_event_notrace_pid", threads, &listed)) {
		event->pid_filter = true;
		event->pid_excluded = threads->count && listed >= threads->count;
	}
}

/* All of so many CPUs, as tracing_cpumask spells them: "f,ffffffff". */
static void all_cpus(unsigned int count, char out[320])
{
	unsigned int digits = (count + 3) / 4,
		     first = count % 4 ? (1u << count % 4) - 1 : 15;
	size_t used = 0;

	for (unsigned int left = digits; left && used < 318; left--) {
		if (left != digits && left % 8 == 0)
			out[used++] = ',';
		out[used++] = "0123456789abcdef"[left == digits ? first : 15];
	}
	out[used] = '\0';
}

/* Which CPUs record? */
static void read_cpus(int dir, struct nw_foreign_event *event)
{
	struct nw_buf text = {0};
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int allowed = 0;

	if (nw_tracefs_read(dir, "tracing_cpumask", &text) == 0 && online > 0) {
		for (const char *at = nw_buf_str(&text); *at; at++)
			if (isxdigit((unsigned char)*at))
				allowed += (unsigned int)__builtin_popcount(
					(unsigned int)strtoul((char[]){*at, '\0'}, NULL,
							      16));
		event->cpus_left_out = allowed < (unsigned int)online
					       ? (unsigned int)online - allowed
					       : 0;
		all_cpus((unsigned int)sysconf(_SC_NPROCESSORS_CONF), event->all_cpus);
	}
	nw_buf_free(&text);
}

/* KiB of buffer a CPU; one that will be made larger when it is used says "7 (expanded: 1408)". */
static void read_buffer_size(int dir, struct nw_foreign_event *event)
{
	struct nw_buf text = {0};

	if (nw_tracefs_read(dir, "buffer_size_kb", &text) == 0 &&
	    isdigit((unsigned char)nw_buf_str(&text)[0]) && !strchr(text.data, '('))
		event->buffer_kib = strtoull(text.data, NULL, 10);
	nw_buf_free(&text);
}

static uint64_t stat_value(const char *stats, const char *key)
{
	const char *at = strstr(stats, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Of all CPUs. What was read has left the buffer but was recorded. */
static void read_stats(int dir, struct nw_foreign_event *event)
{
	int list = openat(dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *cpus = list >= 0 ? fdopendir(list) : NULL;
	struct dirent *entry;

	while (cpus && (entry = readdir(cpus))) {
		nw_cleanup(nw_free_ptr) char *file = nw_text("%s/stats", entry->d_name);
		struct nw_buf stats = {0};
		if (entry->d_name[0] == 'c' && file &&
		    nw_tracefs_read(list, file, &stats) == 0) {
			const char *text = nw_buf_str(&stats);
			event->recorded += stat_value(text, "entries:") +
					   stat_value(text, "\noverrun:") +
					   stat_value(text, "read events:");
			event->dropped += stat_value(text, "dropped events:");
		}
		nw_buf_free(&stats);
	}
	if (cpus)
		closedir(cpus);
}

/* Is link a trace_pipe of the instance at dir (not of one below it)? */
static bool is_pipe_of(const char *link, const char *dir)
{
	size_t len = strlen(dir);
	const char *base = strrchr(link, '/');

	return strncmp(link, dir, len) == 0 && link[len] == '/' && base &&
	       strncmp(base, "/trace_pipe", 11) == 0 &&
	       strncmp(link + len, "/instances/", 11) != 0;
}

static bool holds_pipe(pid_t pid, const char *dir)
{
	char path[64], link[4096];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *fds = opendir(path);
	struct dirent *entry;
	while (fds && !found && (entry = readdir(fds))) {
		ssize_t got = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link) - 1);
		link[got > 0 ? got : 0] = '\0';
		found = is_pipe_of(link, dir);
	}
	if (fds)
		closedir(fds);
	return found;
}

static void find_readers(const struct nw_tracefs *fs, struct nw_foreign_event *event)
{
	nw_cleanup(nw_free_ptr) char *dir = nw_text(
		"%s%s%s", fs->path, *event->instance ? "/instances/" : "", event->instance);
	nw_pids all = {0};

	nw_process_all(&all, NULL);
	nw_vec_each (&all, pid) {
		pid_t *slot = dir && *pid != getpid() && holds_pipe(*pid, dir)
				      ? nw_vec_add(&event->readers)
				      : NULL;
		if (slot)
			*slot = *pid;
	}
	nw_vec_free(&all);
}

/* Which instance has the event enabled, and what becomes of its hits there? */
static bool look_in(const struct nw_tracefs *fs, int dir, const char *instance,
		    const nw_pids *threads, struct nw_foreign_event *event)
{
	if (!is_enabled(dir, event))
		return false;
	event->enabled = true;
	snprintf(event->instance, sizeof(event->instance), "%s", instance);
	event->tracing_on = reads_one(dir, "tracing_on");
	event->overwrite = reads_one(dir, "options/overwrite");
	read_filter(dir, event);
	read_pids(dir, threads, event);
	read_cpus(dir, event);
	read_buffer_size(dir, event);
	read_stats(dir, event);
	find_readers(fs, event);
	return true;
}

static void look_everywhere(const struct nw_tracefs *fs, const nw_pids *threads,
			    struct nw_foreign_event *event)
{
	int list = openat(fs->root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *instances = list >= 0 ? fdopendir(list) : NULL;
	bool found = look_in(fs, fs->root, "", threads, event);
	struct dirent *entry;

	while (instances && !found && (entry = readdir(instances))) {
		int dir = entry->d_name[0] == '.' || strlen(entry->d_name) > NW_MAX_NAME
				  ? -1
				  : openat(list, entry->d_name,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			continue;
		found = look_in(fs, dir, entry->d_name, threads, event);
		close(dir);
	}
	if (instances)
		closedir(instances);
}

/* ---- all of them -------------------------------------------------------------------- */

struct finding {
	const struct nw_tracefs *fs;
	const struct nw_image *image;
	const nw_pids *threads;
	nw_foreign_events found;
};

static int add_event(void *arg, const struct nw_event_line *line)
{
	struct finding *f = arg;
	struct nw_foreign_event event = {.offset = line->offset,
					 .ref_ctr = line->ref_ctr,
					 .is_return = line->is_return,
					 .hits = line->hits};

	if (nw_group_session(line->group))
		return 0;
	event.path = strndup(line->path, line->path_len);
	if (!event.path || !is_on(event.path, f->image)) {
		int ret = event.path ? 0 : -ENOMEM;
		free(event.path);
		return ret;
	}
	memcpy(event.group, line->group, sizeof(event.group));
	memcpy(event.name, line->name, sizeof(event.name));
	struct nw_foreign_event *slot = nw_vec_add(&f->found);
	if (!slot) {
		free(event.path);
		return -ENOMEM;
	}
	event.dead_owner = dead_owner(&event);
	look_everywhere(f->fs, f->threads, &event);
	*slot = event;
	return 0;
}

int nw_foreign_events_read(const struct nw_tracefs *fs, const struct nw_image *image,
			   const nw_pids *threads, nw_foreign_events *out,
			   struct nw_error *err)
{
	struct finding finding = {.fs = fs, .image = image, .threads = threads};
	bool joined;
	int ret = nw_event_list_read(fs, &joined, add_event, &finding);

	if (ret == -ENOMEM)
		nw_no_memory(err);
	else if (ret < 0)
		nw_fail(err, -ret, "cannot read uprobe_events: %s", nw_strerror(-ret));
	if (ret < 0)
		nw_foreign_events_free(&finding.found);
	else
		*out = finding.found;
	return ret;
}

void nw_foreign_events_free(nw_foreign_events *events)
{
	nw_vec_each (events, event) {
		free(event->path);
		nw_vec_free(&event->readers);
	}
	nw_vec_free(events);
}
