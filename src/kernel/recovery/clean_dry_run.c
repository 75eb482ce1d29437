// SPDX-License-Identifier: MIT
/* Prints the shell commands for what nw_clean() would do now. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/recovery/cleanup.h"

#include "base/state.h"
#include "kernel/steps/gate.h"
#include "kernel/steps/journal.h"
#include "kernel/steps/script_dead.h"

#include "inventory_private.h"
#include "teardown.h"

static int print_session(const struct nw_tracefs *fs, const char *session,
			 struct nw_steps *steps, struct nw_error *err)
{
	const char *place = nw_journal_place(session);
	char journal[NW_STATE_PATH], name[32], gate[NW_STATE_PATH];
	int ret = nw_teardown_steps(fs, session, steps, err);

	nw_gate_file(session, name);
	snprintf(gate, sizeof(gate), "%s/%s", place, name);
	if (access(gate, F_OK) == 0)
		nw_steps_add(steps, NW_DO_UNLINK, gate, "");
	snprintf(journal, sizeof(journal), "%s/%.23s", place, session);
	nw_steps_add(steps, NW_DO_UNLINK, journal, "");
	return ret;
}

/* Prints the session if it is in that state. */
static int print_if(const struct nw_tracefs *fs, const char *session, int state, int wanted,
		    struct nw_steps *steps, struct nw_error *err)
{
	if (state < 0)
		return nw_fail(err, -state, "cannot look whether session %s lives: %s",
			       session, nw_strerror(-state));
	return state == wanted ? print_session(fs, session, steps, err) : 0;
}

/* The undos of a change that a killed manager had begun. */
static int print_pending(struct nw_steps *steps, struct nw_error *err)
{
	struct nw_persistent journal;
	int ret = nw_persistent_read(&journal, err);

	if (ret < 0)
		return ret;
	for (size_t i = journal.pending.list.count; i--;) {
		const struct nw_action *undo = &journal.pending.list.item[i].go;
		nw_steps_add(steps, undo->kind, undo->file, undo->text);
	}
	nw_vec_each (&journal.left.list, step)
		nw_steps_add(steps, step->go.kind, step->go.file, step->go.text);
	nw_persistent_close(&journal);
	return 0;
}

int nw_clean_dry_run(const struct nw_tracefs *fs, bool orphans_too, struct nw_buf *out,
		     struct nw_error *err)
{
	nw_strings sessions = {0}, orphans = {0};
	struct nw_steps steps = {0};
	int ret = nw_journal_list(&sessions);

	if (ret == 0)
		ret = nw_clean_orphans(fs, &orphans);
	if (ret < 0)
		nw_fail(err, -ret, "cannot look for what is left: %s", nw_strerror(-ret));
	nw_vec_each (&sessions, session)
		if (ret == 0)
			ret = print_if(fs, *session, nw_journal_check(*session),
				       NW_JOURNAL_DEAD, &steps, err);
	nw_vec_each (&orphans, session)
		if (ret == 0)
			ret = print_if(fs, *session,
				       orphans_too ? 1 : nw_script_is_dead(*session), 1,
				       &steps, err);
	if (ret == 0)
		ret = print_pending(&steps, err);
	nw_steps_print(fs->path, &steps, out);
	nw_steps_free(&steps);
	nw_strings_free(&sessions);
	nw_strings_free(&orphans);
	return ret < 0 ? ret : out->failed ? nw_no_memory(err) : 0;
}
