// SPDX-License-Identifier: MIT
/*
 * Removes what remains of a session, or of a command that enabled persistent events, that was killed while it armed or
 * disarmed: a fatal signal ends uprobe_register() and uprobe_unregister() halfway (kernel/events/uprobes.c, "leaking
 * uprobe"). Then breakpoints and raised semaphores stay in living programs although no event is enabled. They go away
 * when the same sites are armed and disarmed again: the kernel finds the uprobe that it has kept, and removes its
 * breakpoints together with the last consumer.
 *
 * The journal contains the sites. Events that are still enabled were armed completely, so they only need to be
 * disarmed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/steps/gate.h"
#include "kernel/steps/span_watch.h"

#include "inventory_private.h"
#include "leaked.h"

/* ---- arming once more --------------------------------------------------------------- */

/* The place to enable events in: an instance with the session's name; the top level on kernels without instances. */
struct place {
	const struct nw_tracefs *fs;
	char group[NW_MAX_NAME + 1];
	const char *where; /* instance; "": the top level */
};

static bool is_enabled(const struct place *p, const char *where,
		       const struct nw_uprobe_event *event)
{
	enum nw_enabled enabled = NW_ENABLED_NO;
	char file[512];

	nw_event_file(where, event->group, event->name, "enable", file);
	return nw_enabled_read(p->fs->root, file, &enabled) == 0 &&
	       nw_enabled_arms(enabled);
}

/* Descriptors that stand for files whose paths the kernel's grammar does not allow. */
typedef NW_VEC(int) fd_list;

/* Returns the definition as this process can make it: in the session's group, and with a descriptor of our own for the
 * file that the journal names for the path, which belonged to the dead process. number: makes a name for a persistent
 * event, whose group is another one. */
static char *own_definition(const struct place *p,
			    const struct nw_journal_contents *contents,
			    const struct nw_definition_line *line, size_t number,
			    fd_list *fds)
{
	nw_cleanup(nw_free_ptr) char *path = strndup(line->path, line->path_len);
	nw_cleanup(nw_free_ptr) char *again = nw_text("again_%zu", number);

	if (!path || !again)
		return NULL;
	nw_vec_each (&contents->files.list, file) {
		if (strcmp(file->go.file, path) != 0)
			continue;
		int *slot = nw_vec_add(fds);
		if (!slot)
			return NULL;
		*slot = open(file->go.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		free(path);
		path = nw_text("/proc/self/fd/%d", *slot);
		break;
	}
	return path ? nw_text("%c:%s/%s %s%s", *line->text, p->group,
			      strcmp(line->group, p->group) == 0 ? line->name : again, path,
			      line->path + line->path_len)
		    : NULL;
}

static void make_place(struct place *p)
{
	char path[NW_MAX_NAME + 40];

	snprintf(path, sizeof(path), "instances/%s", p->group);
	int ret = nw_do(p->fs, NW_DO_MKDIR, path, "");
	p->where = ret == 0 || ret == -EEXIST ? p->group : "";
	snprintf(path, sizeof(path), "instances/%s/tracing_on", p->group);
	if (*p->where)
		(void)nw_do(p->fs, NW_DO_WRITE, path, "0");
}

/*
 * Is an event of the session's instance in soft mode without a trigger? It has lost its first trigger while the kernel enabled it
 * for that (session/triggers.c). Nothing is armed, but what enables it now arms it for good (seen on 6.8).
 */
static bool is_in_lost_mode(const struct place *p, const struct nw_uprobe_event *event)
{
	enum nw_enabled enabled = NW_ENABLED_NO;
	struct nw_buf triggers = {0};
	char file[512];

	nw_event_file(p->group, event->group, event->name, "enable", file);
	if (nw_enabled_read(p->fs->root, file, &enabled) < 0 || enabled != NW_ENABLED_SOFT)
		return false;
	nw_event_file(p->group, event->group, event->name, "trigger", file);
	int ret = nw_tracefs_read(p->fs->root, file, &triggers);
	/* Without a trigger the file tells which there are: "# Available triggers:" (trace_events_trigger.c, trigger_show()). */
	bool is = ret == 0 && *nw_buf_str(&triggers) == '#';
	nw_buf_free(&triggers);
	return is;
}

/* Removes the session's instance if events there are in such a mode, which ends with it. Returns -errno if it stays. */
static int drop_lost_mode(const struct place *p, const struct nw_inventory *sites)
{
	nw_strings names = {0}, stuck = {0};
	struct nw_steps steps = {0};
	char path[NW_MAX_NAME + 16];
	bool lost = false;
	int ret = 0;

	nw_vec_each (&sites->events, event) {
		if (strcmp(event->group, p->group) != 0)
			continue;
		lost |= is_in_lost_mode(p, event);
		ret = ret < 0 ? ret
			      : nw_strings_add(&names, event->name, strlen(event->name));
	}
	if (ret == 0 && lost) {
		snprintf(path, sizeof(path), "instances/%s", p->group);
		ret = nw_span_watch_steps(p->fs, p->group, &names, &steps);
		ret = ret < 0 ? ret : nw_steps_do_each(p->fs, &steps, &stuck);
		ret = ret < 0 ? ret : nw_instance_remove(p->fs, path, LOCK_EX);
	}
	nw_steps_free(&steps);
	nw_strings_free(&names);
	nw_strings_free(&stuck);
	return ret;
}

/* Finds the events that are not enabled, and those of them that the session's group does not have (any more). Returns
 * how many are not enabled, or -errno. */
static int find_suspects(const struct place *p, const struct nw_inventory *sites,
			 nw_strings *missing)
{
	int ret = 0, count = 0;

	nw_vec_each (&sites->events, event) {
		if (ret < 0 || is_enabled(p, p->group, event) || is_enabled(p, "", event))
			continue;
		char dir[2 * NW_MAX_NAME + 16];
		snprintf(dir, sizeof(dir), "events/%s/%.63s", p->group, event->name);
		count++;
		if (strcmp(event->group, p->group) != 0 ||
		    !nw_tracefs_has(p->fs->root, dir))
			ret = nw_strings_add(missing, event->name, strlen(event->name));
	}
	return ret < 0 ? ret : count;
}

/* Defines missing events, with all their lines. A line that the kernel refused for the session may be refused again,
 * so errors are ignored. */
static void define_again(const struct place *p, const struct nw_journal_contents *contents,
			 const nw_strings *missing, fd_list *fds)
{
	size_t number = 0;

	nw_vec_each (&contents->definitions.list, step) {
		struct nw_definition_line event;
		if (!nw_definition_line_parse(step->go.text, &event) ||
		    !nw_strings_has(missing, event.name))
			continue;
		nw_cleanup(nw_free_ptr) char *own = own_definition(p, contents, &event,
								   number++, fds);
		if (own)
			(void)nw_do(p->fs, NW_DO_APPEND, "uprobe_events", own);
	}
}

int nw_leaked_rearm(const struct nw_tracefs *fs, const struct nw_journal *journal,
		    const struct nw_journal_contents *contents, struct nw_inventory *sites)
{
	struct place p = {.fs = fs};
	nw_strings missing = {0};
	fd_list fds = {0};
	int ret = 0;

	nw_session_group(journal->session, p.group);
	nw_vec_each (&contents->definitions.list, step)
		if (ret == 0)
			ret = nw_inventory_add(sites, step->go.text);
	if (ret == 0)
		ret = drop_lost_mode(&p, sites);
	if (ret == 0)
		ret = find_suspects(&p, sites, &missing);
	if (ret > 0) {
		struct nw_step_runner runner = {.fs = p.fs};
		char file[512];

		define_again(&p, contents, &missing, &fds);
		make_place(&p);
		(void)nw_gate_step(&runner, journal, NW_GATE_OPEN);
		nw_event_file(p.where, p.group, NULL, "enable", file);
		(void)nw_do(p.fs, NW_DO_WRITE, file, "1");
		(void)nw_gate_step(&runner, journal, NW_GATE_SHUT);
	}
	nw_vec_each (&fds, fd)
		if (*fd >= 0)
			close(*fd);
	nw_vec_free(&fds);
	nw_strings_free(&missing);
	return ret < 0 ? ret : ret > 0;
}

/* ---- reading back ------------------------------------------------------------------- */

static bool is_on(const struct nw_uprobe_event *event)
{
	nw_vec_each (&event->uses, use)
		if (use->on)
			return true;
	return false;
}

/* Has another event a probe at this place? Then the breakpoint belongs to that event, or to this one if it is
 * enabled again. */
static bool has_another(const struct nw_inventory *all, const struct nw_uprobe_event *ours,
			const struct nw_point *point)
{
	struct nw_point entry = *point, back = *point;

	entry.is_return = false;
	back.is_return = true;
	nw_vec_each (&all->events, event) {
		if (strcmp(event->group, ours->group) == 0 &&
		    strcmp(event->name, ours->name) == 0 && !is_on(event))
			continue;
		if (nw_event_is_at(event, &entry) || nw_event_is_at(event, &back))
			return true;
	}
	return false;
}

/* Does the file itself contain a breakpoint, or the call that replaces one? */
static bool is_in_file(const struct nw_point *point)
{
	unsigned char code[16];
	ssize_t got = pread(point->image->fd, code, sizeof(code), (off_t)point->offset);

	return got < 1 || nw_arch_is_armed(point->image->machine, code, (size_t)got) == 1;
}

static int check_site(const struct nw_uprobe_event *event, const struct nw_definition *site,
		      const struct nw_inventory *all, struct nw_image *image,
		      nw_strings *stuck)
{
	struct nw_point point = {
		.image = image, .offset = site->offset, .semaphore_offset = site->ref_ctr};
	const struct nw_point *points[] = {&point};
	struct nw_presence seen;

	if (is_in_file(&point) || has_another(all, event, &point))
		return 0;
	int ret = nw_points_presence(points, 1, NULL, 0, &seen, NULL);
	if (ret < 0)
		return ret;
	unsigned int raised = seen.mapped - seen.unreadable - seen.closed;
	if (seen.armed)
		return nw_strings_addf(
			stuck,
			nw_plural(
				seen.armed,
				"a breakpoint stays at %s+0x%jx in %u process: another tool's, or left by a nopwatch that was killed (dmesg: 'leaking uprobe')",
				"a breakpoint stays at %s+0x%jx in %u processes: another tool's, or left by a nopwatch that was killed (dmesg: 'leaking uprobe')"),
			image->path, point.offset, seen.armed);
	if (site->ref_ctr && raised)
		return nw_strings_addf(
			stuck,
			nw_plural(
				raised,
				"the semaphore of %s+0x%jx stays raised in %u process: another tool's, or left by a nopwatch that was killed",
				"the semaphore of %s+0x%jx stays raised in %u processes: another tool's, or left by a nopwatch that was killed"),
			image->path, point.offset, raised);
	return 0;
}

static const char *own_path(const struct nw_journal_contents *contents, const char *path)
{
	nw_vec_each (&contents->files.list, file)
		if (strcmp(file->go.file, path) == 0)
			return file->go.text;
	return path;
}

int nw_leaked_report(const struct nw_tracefs *fs,
		     const struct nw_journal_contents *contents,
		     const struct nw_inventory *sites, nw_strings *stuck)
{
	struct nw_persistent none = {.fd = -1};
	struct nw_inventory all = {0};
	struct nw_image *image = NULL;
	size_t before = stuck->count;
	int ret = nw_inventory_read(fs, &none, &all, NULL);

	nw_vec_each (&sites->events, event)
		nw_vec_each (&event->places, site) {
			const char *path = own_path(contents, site->path);
			if (ret < 0)
				break;
			if (image && strcmp(image->path, path) != 0) {
				nw_image_free(image);
				image = NULL;
			}
			/* A file that is gone or was replaced does not show whether the site is armed. */
			if (image || nw_image_open(path, true, &image, NULL) == 0)
				ret = check_site(event, site, &all, image, stuck);
		}
	if (image)
		nw_image_free(image);
	nw_inventory_free(&all);
	return ret < 0 ? ret : stuck->count == before ? 0 : -EBUSY;
}
