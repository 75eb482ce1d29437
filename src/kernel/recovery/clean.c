// SPDX-License-Identifier: MIT
/* Removes the remains of dead sessions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/recovery/cleanup.h"

#include "kernel/steps/script_dead.h"
#include "kernel/tracefs/expedite.h"
#include "kernel/tracefs/files.h"

#include "inventory_private.h"
#include "leaked.h"
#include "persistent.h"
#include "teardown.h"

/* Undoes the changes of a dead session. If it was killed while it armed or disarmed, its sites may still be armed in
 * living programs. Returns as nw_session_undo() does. */
static int recover(const struct nw_tracefs *fs, const struct nw_journal *journal,
		   nw_strings *stuck)
{
	struct nw_journal_contents contents;
	struct nw_inventory sites = {0};
	const size_t told = stuck->count;
	int ret = nw_journal_read(journal, &contents);

	if (ret < 0) {
		nw_strings_tell(stuck, "the journal of session %s cannot be read: %s",
				journal->session, nw_strerror(-ret));
		return ret;
	}
	if (contents.armed)
		ret = nw_leaked_rearm(fs, journal, &contents, &sites);
	int undone = nw_session_undo(fs, journal, &contents, NULL, stuck);
	if (ret > 0)
		ret = nw_leaked_report(fs, &contents, &sites, stuck);
	nw_inventory_free(&sites);
	nw_journal_contents_free(&contents);
	ret = ret < 0 ? ret : undone;
	if (ret < 0 && stuck->count == told)
		nw_strings_tell(stuck, "session %s cannot be taken away: %s",
				journal->session, nw_strerror(-ret));
	return ret;
}

/* Undoes the changes of a dead script. If it was killed just after it had started its reader, the reader may open the instance
 * after it was told to end, so it is told again before each try. */
static int recover_script(const struct nw_tracefs *fs, const struct nw_journal *journal,
			  nw_strings *stuck)
{
	enum {
		TRIES = 3
	};
	int ret = 0;

	for (int i = 0; i < TRIES; i++) {
		nw_strings said = {0};

		nw_script_end_reader(fs, journal->session);
		ret = recover(fs, journal, i + 1 < TRIES ? &said : stuck);
		nw_strings_free(&said);
		if (ret == 0)
			break;
	}
	return ret;
}

static void clean_session(const struct nw_tracefs *fs, const char *session,
			  struct nw_clean_report *report)
{
	struct nw_journal journal;
	int state = nw_journal_seize(session, &journal);

	if (state < 0)
		nw_strings_tell(&report->stuck,
				"the journal of session %s cannot be read: %s", session,
				nw_strerror(-state));
	if (state == NW_JOURNAL_LIVING)
		report->living++;
	if (state == NW_JOURNAL_KEPT)
		report->kept++;
	if (state != NW_JOURNAL_DEAD)
		return;
	int ret = nw_script_is_dead(session) > 0
			  ? recover_script(fs, &journal, &report->stuck)
			  : recover(fs, &journal, &report->stuck);
	if (ret != 0) {
		nw_journal_leave(&journal); /* another attempt can use it */
		report->waiting += ret > 0;
		return;
	}
	ret = nw_journal_remove(&journal);
	if (ret < 0)
		nw_strings_tell(&report->stuck,
				"the journal of session %s cannot be removed: %s", session,
				nw_strerror(-ret));
	else
		report->removed++;
}

/* Lists the sessions whose instance or events tracefs has. */
static int list_names(const struct nw_tracefs *fs, nw_strings *out)
{
	static const char *const places[] = {"instances", "events"};
	int ret = 0;

	for (size_t i = 0; i < NW_COUNT(places) && ret == 0; i++) {
		nw_strings found = {0};
		ret = nw_tracefs_list_any(fs->root, places[i], nw_session_prefix, &found);
		nw_vec_each (&found, name) {
			const char *session = nw_group_session(*name);
			if (ret == 0 && nw_session_name_is_valid(session) &&
			    !nw_strings_has(out, session))
				ret = nw_strings_add(out, session, strlen(session));
		}
		nw_strings_free(&found);
	}
	return ret;
}

/*
 * Finds names nopwatch_* in tracefs without a journal: a container with a /run of its own made them, or /run was
 * emptied. Their session may be alive, so they are only removed if the user asks for it.
 */
int nw_clean_orphans(const struct nw_tracefs *fs, nw_strings *sessions)
{
	nw_strings before = {0}, journals = {0}, now = {0};
	int ret = list_names(fs, &before);

	/* A session that begins or ends meanwhile is no orphan: a name that is there before and behind the look had its
	 * journal all the time, if it ever had one. */
	if (ret == 0)
		ret = nw_journal_list(&journals);
	if (ret == 0)
		ret = list_names(fs, &now);
	nw_vec_each (&before, session)
		if (ret == 0 && !nw_strings_has(&journals, *session) &&
		    nw_strings_has(&now, *session))
			ret = nw_strings_add(sessions, *session, strlen(*session));
	nw_strings_free(&before);
	nw_strings_free(&journals);
	nw_strings_free(&now);
	return ret;
}

static int clean_orphans(const struct nw_tracefs *fs, bool remove,
			 struct nw_clean_report *report)
{
	nw_strings orphans = {0};
	struct nw_error why = {0};
	int ret = nw_clean_orphans(fs, &orphans);

	nw_vec_each (&orphans, session) {
		struct nw_journal journal;
		if (ret < 0)
			break;
		int killed = nw_script_is_dead(*session);
		if (killed < 0)
			nw_strings_tell(&report->stuck,
					"cannot look whether the script of %s%s lives: %s",
					nw_session_prefix, *session, nw_strerror(-killed));
		else if (!remove && !killed)
			ret = nw_strings_addf(&report->orphans, "%s%s", nw_session_prefix,
					      *session);
		else if (nw_journal_create(*session, &journal, &why) == 0) {
			nw_journal_leave(&journal);
			clean_session(fs, *session, report);
		} else {
			nw_strings_tell(&report->stuck, "%s%s stays: %s", nw_session_prefix,
					*session, why.what);
		}
	}
	nw_strings_free(&orphans);
	return ret;
}

int nw_clean(const struct nw_tracefs *fs, bool orphans_too, struct nw_clean_report *out,
	     struct nw_error *err)
{
	struct nw_clean_report report = {0};
	struct nw_error why = {0};
	nw_strings sessions = {0};
	/* Continues without the lock if it cannot be taken: at worst something is left for the next run. */
	int lock = nw_journals_lock();
	int ret = nw_journal_list(&sessions);

	/* First, because a session's journal tells which places a killed command had begun to enable. */
	if (nw_persistent_settle(fs, &report.persistent, &report.stuck, &why) < 0)
		nw_strings_tell(&report.stuck, "%s%s%s", why.what, *why.hint ? ": " : "",
				why.hint);
	nw_vec_each (&sessions, session) {
		clean_session(fs, *session, &report);
		nw_journals_progress(lock);
	}
	nw_strings_free(&sessions);
	if (ret == 0)
		ret = clean_orphans(fs, orphans_too, &report);
	report.removed += (unsigned int)nw_script_settle(fs, &report.stuck);
	nw_expedite_settle();
	if (lock >= 0)
		close(lock);
	if (ret < 0) {
		nw_clean_report_free(&report);
		return nw_fail(err, -ret, "cannot look for what is left: %s",
			       nw_strerror(-ret));
	}
	*out = report;
	return 0;
}

void nw_clean_before(const struct nw_tracefs *fs, nw_strings *notes)
{
	struct nw_clean_report report;
	struct nw_error why = {0};

	if (nw_clean(fs, false, &report, &why) < 0) {
		nw_strings_tell(notes, "%s", why.what);
		return;
	}
	nw_vec_each (&report.stuck, text)
		nw_strings_tell(notes, "left by a dead session: %s", *text);
	nw_clean_report_free(&report);
}

void nw_clean_report_free(struct nw_clean_report *report)
{
	nw_strings_free(&report->stuck);
	nw_strings_free(&report->orphans);
}
