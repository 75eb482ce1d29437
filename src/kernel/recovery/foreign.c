// SPDX-License-Identifier: MIT
/* Lists events of other programs on a file, and whether their hits are recorded. Changes nothing. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

#include "kernel/recovery/inventory.h"

#include "kernel/steps/journal.h"
#include "kernel/tracefs/cpus.h"
#include "kernel/tracefs/event_list.h"

/* ---- definitions -------------------------------------------------------------------- */

/* Returns the process whose number a tool has put into the event's name ("..._bcc_4711"), if that process has
 * ended; else 0. */
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

typedef struct tracefs_instance instance_t;

/* Does the file list numbers (and not "no pid")? *listed: how many of the threads are listed. */
static bool read_pid_list(instance_t *instance, const char *file, const nw_pids *threads,
			  size_t *listed)
{
	char *text = tracefs_instance_file_read(instance, file, NULL), *end;
	bool any = text && isdigit((unsigned char)*text);

	*listed = 0;
	char *at = any ? text : NULL;
	for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end)
		nw_vec_each (threads, tid)
			*listed += *tid == pid;
	free(text);
	return any;
}

/* set_event_pid must contain the target threads if it is set, and set_event_notrace_pid must not. */
static void read_pids(instance_t *instance, const nw_pids *threads,
		      struct nw_foreign_event *event)
{
	size_t listed;

	if (read_pid_list(instance, "set_event_pid", threads, &listed)) {
		event->pid_filter = true;
		event->pid_filtered = threads->count && !listed;
	}
	if (read_pid_list(instance, "set_event_notrace_pid", threads, &listed)) {
		event->pid_filter = true;
		event->pid_excluded = threads->count && listed >= threads->count;
	}
}

/* Reads which CPUs record. */
static void read_cpus(instance_t *instance, struct nw_foreign_event *event)
{
	char *mask = tracefs_instance_get_affinity_raw(instance);
	int system = open("/sys/devices/system/cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct nw_buf online = {0}, all = {0};

	if (mask && system >= 0 && nw_tracefs_read(system, "online", &online) == 0) {
		event->cpus_left_out = nw_cpus_left_out(mask, nw_buf_str(&online));
		if (nw_cpus_mask(nw_buf_str(&online), &all) == 0)
			event->all_cpus = nw_buf_take(&all);
	}
	if (system >= 0)
		close(system);
	free(mask);
	nw_buf_free(&online);
	nw_buf_free(&all);
}

/* Reads the KiB of buffer per CPU. A buffer that will grow when it is used shows "7 (expanded: 1408)". */
static void read_buffer_size(instance_t *instance, struct nw_foreign_event *event)
{
	char *text = tracefs_instance_file_read(instance, "buffer_size_kb", NULL);

	if (text && isdigit((unsigned char)*text) && !strchr(text, '('))
		event->buffer_kib = strtoull(text, NULL, 10);
	free(text);
}

static uint64_t stat_value(const char *stats, const char *key)
{
	const char *at = strstr(stats, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Sums the statistics of all CPUs. Events that were read have left the buffer, but were recorded. */
static void read_stats(instance_t *instance, struct nw_foreign_event *event)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		char file[64];
		snprintf(file, sizeof(file), "per_cpu/cpu%ld/stats", cpu);
		char *text = tracefs_instance_file_read(instance, file, NULL);
		if (!text)
			continue;
		event->recorded += stat_value(text, "entries:") +
				   stat_value(text, "\noverrun:") +
				   stat_value(text, "read events:");
		event->dropped += stat_value(text, "dropped events:");
		free(text);
	}
}

/* Is the file a trace_pipe of the instance at `dir`, and not of one below it? */
static bool is_pipe(const char *link, const void *dir)
{
	size_t len = strlen(dir);
	const char *base = strrchr(link, '/');

	return strncmp(link, dir, len) == 0 && link[len] == '/' && base &&
	       strncmp(base, "/trace_pipe", 11) == 0 &&
	       strncmp(link + len, "/instances/", 11) != 0;
}

static void find_readers(const struct nw_tracefs *fs, struct nw_foreign_event *event)
{
	nw_cleanup(nw_free_ptr) char *dir = nw_text(
		"%s%s%s", fs->path, *event->instance ? "/instances/" : "", event->instance);
	nw_pids all = {0};

	nw_process_all(&all, NULL);
	nw_vec_each (&all, pid) {
		pid_t *slot = dir && *pid != getpid() &&
					      nw_process_has_open(*pid, is_pipe, dir)
				      ? nw_vec_add(&event->readers)
				      : NULL;
		if (slot)
			*slot = *pid;
	}
	nw_vec_free(&all);
}

static bool is_enabled(const struct nw_tracefs *fs, const char *name,
		       struct nw_foreign_event *event)
{
	enum nw_enabled enabled = NW_ENABLED_NO;
	char file[512];

	nw_event_file(name, event->group, event->name, "enable", file);
	if (nw_enabled_read(fs->root, file, &enabled) < 0)
		return false;
	event->waits = enabled == NW_ENABLED_SOFT;
	return nw_enabled_arms(enabled);
}

/* Reads whether the instance ("": the top level) has the event enabled, and what happens to its hits there. */
static bool read_instance(const struct nw_tracefs *fs, const char *name,
			  const nw_pids *threads, struct nw_foreign_event *event)
{
	if (strlen(name) > NW_MAX_NAME || !is_enabled(fs, name, event))
		return false;
	instance_t *instance = tracefs_instance_alloc(fs->path, *name ? name : NULL);
	if (!instance)
		return false;
	event->enabled = true;
	snprintf(event->instance, sizeof(event->instance), "%s", name);
	event->tracing_on = tracefs_trace_is_on(instance) == 1;
	long long overwrite = 0;
	(void)tracefs_instance_file_read_number(instance, "options/overwrite", &overwrite);
	event->overwrite = overwrite == 1;
	char *text = tracefs_event_file_read(instance, event->group, event->name, "filter",
					     NULL);
	if (text && strncmp(text, "none", 4) != 0)
		snprintf(event->filter, sizeof(event->filter), "%.*s",
			 (int)strcspn(text, "\n"), text);
	free(text);
	read_pids(instance, threads, event);
	read_cpus(instance, event);
	read_buffer_size(instance, event);
	read_stats(instance, event);
	tracefs_instance_free(instance);
	find_readers(fs, event);
	return true;
}

/* ---- all of them -------------------------------------------------------------------- */

struct finding {
	const struct nw_tracefs *fs;
	const struct nw_image *image;
	const nw_pids *threads;
	nw_foreign_events found;
};

static bool is_own_group(const char *group)
{
	const char *session = nw_group_session(group);

	return session && strtol(session, NULL, 10) == getpid();
}

static int add_event(void *arg, const struct nw_definition_line *line)
{
	struct finding *f = arg;
	struct nw_foreign_event event = {.offset = line->offset,
					 .ref_ctr = line->ref_ctr,
					 .is_return = line->is_return,
					 .hits = line->hits};

	event.session = nw_group_session(line->group) != NULL;
	if (is_own_group(line->group))
		return 0;
	event.path = strndup(line->path, line->path_len);
	if (!event.path || (strcmp(event.path, f->image->path) != 0 &&
			    !nw_image_is_at(f->image, event.path))) {
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
	if (event.session) {
		*slot = event;
		return 0;
	}
	event.dead_owner = dead_owner(&event);
	bool found = read_instance(f->fs, "", f->threads, &event);
	int lock = found ? -1 : nw_instances_lock(f->fs, LOCK_SH);
	/* This is the only call that uses the library's own path of tracefs. */
	tracefs_set_tracing_dir((char *)f->fs->path);
	char **instances = found ? NULL : tracefs_instances(NULL);
	for (size_t i = 0; instances && instances[i] && !found; i++)
		found = read_instance(f->fs, instances[i], f->threads, &event);
	tracefs_list_free(instances);
	if (lock >= 0)
		close(lock);
	*slot = event;
	return 0;
}

static int add_path(void *arg, const struct nw_definition_line *line)
{
	nw_strings *paths = arg;
	const char *last = paths->count ? paths->item[paths->count - 1] : "";

	/* Events of a file mostly follow each other. */
	if (is_own_group(line->group) || (strlen(last) == line->path_len &&
					  memcmp(last, line->path, line->path_len) == 0))
		return 0;
	return nw_strings_add(paths, line->path, line->path_len);
}

int nw_foreign_paths_read(const struct nw_tracefs *fs, nw_strings *out)
{
	int ret = nw_event_list_read(fs, NULL, add_path, out);

	if (ret < 0)
		nw_strings_free(out);
	return ret;
}

bool nw_foreign_paths_have(const nw_strings *paths, const struct nw_image *image)
{
	nw_vec_each (paths, path)
		if (strcmp(*path, image->path) == 0 || nw_image_is_at(image, *path))
			return true;
	return false;
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
		free(event->all_cpus);
		nw_vec_free(&event->readers);
	}
	nw_vec_free(events);
}
