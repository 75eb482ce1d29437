// SPDX-License-Identifier: MIT
/* What nw_clean() would do, told as shell commands: as things stand now. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inventory.h"
#include "journal.h"

/* "0" into the group's enable file, where anything of it is enabled. */
static void tell_disable(const struct nw_tracefs *fs, const char *where, const char *group,
			 struct nw_steps *steps)
{
	char file[512];
	struct nw_buf state = {0};

	snprintf(file, sizeof(file), "%s%.255s%sevents/%s/enable",
		 *where ? "instances/" : "", where, *where ? "/" : "", group);
	if (nw_tracefs_read(fs->root, file, &state) == 0 && state.len &&
	    state.data[0] != '0' && state.data[0] != '?')
		nw_steps_add(steps, NW_DO_WRITE, file, "0");
	nw_buf_free(&state);
}

static void tell_session(const struct nw_tracefs *fs, const char *session,
			 const nw_strings *instances, struct nw_steps *steps)
{
	char group[NW_MAX_NAME + 1], path[NW_MAX_NAME + 32], journal[128];
	nw_strings events = {0};

	snprintf(group, sizeof(group), "nopwatch_%.20s", session);
	tell_disable(fs, "", group, steps);
	nw_vec_each (instances, name)
		tell_disable(fs, *name, group, steps);
	snprintf(path, sizeof(path), "instances/%s", group);
	if (nw_tracefs_has(fs->root, path))
		nw_steps_add(steps, NW_DO_RMDIR, path, "");
	snprintf(path, sizeof(path), "events/%s", group);
	nw_tracefs_list(fs->root, path, "", &events);
	nw_vec_each (&events, name) {
		char line[2 * NW_MAX_NAME + 8];
		snprintf(line, sizeof(line), "-:%s/%.63s", group, *name);
		nw_steps_add(steps, NW_DO_APPEND, "uprobe_events", line);
	}
	snprintf(journal, sizeof(journal), "%s/%.20s", nw_journal_dir(), session);
	nw_steps_add(steps, NW_DO_UNLINK, journal, "");
	nw_strings_free(&events);
}

/* What a killed manager had begun. */
static int tell_pending(struct nw_steps *steps, struct nw_error *err)
{
	struct nw_kept kept;
	int ret = nw_kept_peek(&kept, err);

	if (ret < 0)
		return ret;
	for (size_t i = kept.pending.count; i--;) {
		const struct nw_action *undo = &kept.pending.item[i];
		nw_steps_add(steps, undo->kind, undo->file, undo->text);
	}
	nw_kept_close(&kept);
	return 0;
}

int nw_clean_tell(const struct nw_tracefs *fs, bool orphans_too, struct nw_buf *out,
		  struct nw_error *err)
{
	nw_strings sessions = {0}, instances = {0}, orphans = {0};
	struct nw_steps steps = {0};
	int ret = nw_journal_list(&sessions);

	nw_tracefs_list(fs->root, "instances", "", &instances);
	nw_vec_each (&sessions, session)
		if (nw_journal_look(*session) == NW_JOURNAL_DEAD)
			tell_session(fs, *session, &instances, &steps);
	if (ret == 0 && orphans_too)
		ret = nw_clean_orphans(fs, &orphans);
	nw_vec_each (&orphans, session)
		tell_session(fs, *session, &instances, &steps);
	ret = ret < 0 ? nw_no_memory(err) : tell_pending(&steps, err);
	nw_steps_tell(fs->path, &steps, out);
	nw_steps_free(&steps);
	nw_strings_free(&sessions);
	nw_strings_free(&instances);
	nw_strings_free(&orphans);
	return ret < 0 ? ret : out->failed ? nw_no_memory(err) : 0;
}
