// SPDX-License-Identifier: MIT
/*
 * Removes what killed scripts of `nopwatch script` left. A script has no journal and no lock, but its group has the
 * name nopwatch_shHASH_PID_START; START is the last six digits of field 22 of /proc/PID/stat. The script saves
 * settings of the top-level buffer in nopwatch's directory, in the format of plan/script.sh.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/state.h"

#include "journal.h"
#include "script_dead.h"

enum {
	START_DIGITS = 1000000,
	NOTE_MOST = 65536
};

int nw_script_is_dead(const char *session)
{
	struct nw_process_stat stat;
	struct nw_pid_space space;
	unsigned long start;
	int pid, end = 0;

	if (sscanf(session, "sh%*6[0-9a-f]_%d_%6lu%n", &pid, &start, &end) != 2 || !end ||
	    session[end] || pid <= 0)
		return 0;
	nw_pid_space_open(&space);
	/* Inside a PID namespace, PID may be another process's number. */
	bool known = !space.foreign;
	nw_pid_space_close(&space);
	if (!known)
		return 0;
	int ret = nw_process_stat(pid, &stat);
	if (ret < 0)
		return ret == -ESRCH ? 1 : ret;
	return stat.start % START_DIGITS != start;
}

/*
 * Before 5.6 the reader stays until it is killed. The script has started it with trace_pipe as its standard input, as nobody else
 * has it of an instance that is a script's own.
 */
static void kill_reader(const char *group)
{
	nw_cleanup(nw_free_ptr) char *pipe = nw_text("/instances/%s/trace_pipe", group);
	nw_pids all = {0};
	char path[64], link[4096];

	(void)nw_process_all(&all, NULL);
	nw_vec_each (&all, pid) {
		snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)*pid);
		ssize_t got = readlink(path, link, sizeof(link) - 1);
		link[got > 0 ? got : 0] = '\0';
		const char *at = pipe ? strstr(link, pipe) : NULL;
		if (at && !at[strlen(pipe)])
			(void)kill(*pid, SIGTERM);
	}
	nw_vec_free(&all);
}

/*
 * The script reads by a `cat` of trace_pipe, which keeps its instance busy. The cat ends when it has read something
 * and finds recording off (before 5.6 the kernel checks another switch: kill_reader()). If
 * it has read the mark and waits again before recording is off, nothing wakes it any more. So both files are opened
 * first, and a cat that was faster gets another mark.
 */
void nw_script_end_reader(const struct nw_tracefs *fs, const char *session)
{
	enum {
		TRIES = 20,
		PAUSE_US = 1000
	};
	char path[96], group[NW_MAX_NAME + 1];

	nw_session_group(session, group);
	snprintf(path, sizeof(path), "instances/%s/events/enable", group);
	(void)nw_do(fs, NW_DO_WRITE, path, "0");
	snprintf(path, sizeof(path), "instances/%s/tracing_on", group);
	int on = openat(fs->root, path, O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "instances/%s/trace_marker", group);
	int marker = openat(fs->root, path, O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < TRIES && on >= 0 && marker >= 0; i++) {
		bool done = write(on, "1", 1) == 1 &&
			    write(marker, "nopwatch end", 12) == 12;
		if (write(on, "0", 1) != 1 || !done)
			break;
		usleep(PAUSE_US);
	}
	if (on >= 0)
		close(on);
	if (marker >= 0)
		close(marker);
	kill_reader(group);
}

/* ---- the top-level buffer ----------------------------------------------------------- */

/* Does a change. A kernel may have no such file. */
static int put(const struct nw_tracefs *fs, enum nw_action_kind kind, const char *file,
	       const char *text)
{
	int ret = nw_do(fs, kind, file, text);

	return ret == -ENOENT ? 0 : ret;
}

static int put_pids(const struct nw_tracefs *fs, char *pids)
{
	char *rest = pids, *pid;
	int ret = put(fs, NW_DO_WRITE, "set_event_pid", "");

	while ((pid = strsep(&rest, " "))) {
		int one = *pid ? put(fs, NW_DO_APPEND, "set_event_pid", pid) : 0;
		ret = ret < 0 ? ret : one;
	}
	return ret;
}

/* Has the file this clock already? Writing a clock empties the buffer, so it is only written if it differs. */
static bool is_clock(const struct nw_tracefs *fs, const char *file, const char *clock)
{
	nw_cleanup(nw_free_ptr) char *wanted = nw_text("[%s]", clock);
	struct nw_buf now = {0};
	bool is = wanted && nw_tracefs_read(fs->root, file, &now) == 0 &&
		  strstr(nw_buf_str(&now), wanted);

	nw_buf_free(&now);
	return is;
}

static int put_setting(const struct nw_tracefs *fs, const char *name, const char *value)
{
	int ret = 0;

	for (size_t i = 0; i < NW_SETTING_COUNT && ret == 0; i++) {
		const struct nw_setting *setting = &nw_settings[i];
		if (!setting->note || strcmp(setting->note, name) != 0 ||
		    (i == NW_SETTING_CLOCK && is_clock(fs, setting->file, value)))
			continue;
		ret = put(fs, NW_DO_WRITE, setting->file, value);
	}
	return ret;
}

static int put_back(const struct nw_tracefs *fs, char *text)
{
	char *rest = text, *line;
	int first = 0;

	while ((line = strsep(&rest, "\n"))) {
		int ret = 0;
		char *value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		if (strcmp(line, "pids") == 0) /* the list may have been empty */
			ret = put_pids(fs, value);
		else if (*value)
			ret = put_setting(fs, line, value);
		first = first < 0 ? first : ret;
	}
	return first;
}

static const char suffix[] = ".top";

/* Is this the name of a script's saved settings? */
static bool is_note(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(suffix) && len - strlen(suffix) < 24 &&
	       strcmp(name + len - strlen(suffix), suffix) == 0;
}

static int settle_note(const struct nw_tracefs *fs, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct nw_buf text = {0};

	if (fd < 0)
		return -errno;
	int ret = nw_buf_read(&text, fd);
	close(fd);
	bool whole = ret == 0;
	/* The script did not change anything before it had written the end of its note. */
	if (whole && text.len < NOTE_MOST && strstr(nw_buf_str(&text), "\nend\n"))
		ret = put_back(fs, text.data);
	/* Another attempt needs the note, unless the kernel refuses a setting for good. */
	if (whole && !nw_error_passes(ret) && unlinkat(dir, name, 0) < 0 && ret == 0)
		ret = -errno;
	nw_buf_free(&text);
	return ret;
}

/* Settles the note if its script is dead. Returns 1, 0 (it lives) or -errno. */
static int settle_file(const struct nw_tracefs *fs, int dir, const char *name)
{
	char session[24];

	snprintf(session, sizeof(session), "%.*s", (int)(strlen(name) - strlen(suffix)),
		 name);
	int ret = nw_script_is_dead(session);
	if (ret <= 0)
		return ret;
	ret = settle_note(fs, dir, name);
	return ret < 0 ? ret : 1;
}

/* Settles the notes in one directory. Returns how many. */
static size_t settle_place(const struct nw_tracefs *fs, const char *place,
			   nw_strings *stuck)
{
	nw_strings notes = {0};
	size_t settled = 0;
	int ret = nw_journal_files(place, is_note, &notes);
	int dir = notes.count ? nw_journal_open_place(place, NULL) : -1;

	ret = ret == 0 && notes.count && dir < 0 ? dir : ret;
	if (ret < 0)
		nw_strings_tell(stuck, "cannot look for what killed scripts left in %s: %s",
				place, nw_strerror(-ret));
	nw_vec_each (&notes, name) {
		int done = dir < 0 ? 0 : settle_file(fs, dir, *name);
		settled += done > 0;
		if (done < 0)
			nw_strings_tell(
				stuck,
				"the settings that a killed script saved in %s/%s cannot be restored: %s",
				place, *name, nw_strerror(-done));
	}
	nw_strings_free(&notes);
	if (dir >= 0)
		close(dir);
	return settled;
}

size_t nw_script_settle(const struct nw_tracefs *fs, nw_strings *stuck)
{
	const char *place;
	size_t settled = 0;

	for (size_t i = 0; (place = nw_state_place(i)); i++)
		settled += settle_place(fs, place, stuck);
	return settled;
}
