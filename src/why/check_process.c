// SPDX-License-Identifier: MIT
/* Checks the process that the user named, and whether it runs the very file that is probed. */
#include <errno.h>
#include <string.h>

#include "judge.h"

/* ---- the process -------------------------------------------------------------------- */

static void blame_thread(struct judge *judge)
{
	const struct nw_process_facts *process = judge->facts->process;

	nw_fails(judge, "%d is a thread of process %d", (int)process->asked,
		 (int)process->process);
	nw_blame(
		judge, NW_CAUSE_THREAD_ID,
		"%d is a thread of process %d (%s): tools that compare process ids see no hit of it; give the process",
		(int)process->asked, (int)process->process, process->comm);
	if (judge->facts->spec)
		nw_remedy_spec(judge, NULL, NULL, process->process);
}

static void blame_inner(struct judge *judge)
{
	const struct nw_process_facts *process = judge->facts->process;

	nw_fails(judge, "there is no process %d here", (int)process->asked);
	nw_blame(
		judge, NW_CAUSE_INNER_PID,
		"%d is the number that process %d (%s) has inside its container; here it is %d",
		(int)process->asked, (int)process->process, process->comm,
		(int)process->process);
	if (judge->facts->spec)
		nw_remedy_spec(judge, NULL, NULL, process->process);
}

/* Offers a command that finds the processes of the file. pgrep needs -f, because a process keeps only 15 letters of
 * its name. */
static void remedy_search(struct judge *judge)
{
	const char *path = judge->facts->path;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (path)
		nw_remedy_file(judge, "pgrep -af --", slash ? slash + 1 : path, "");
	else
		nw_remedy(judge, "# ps -ef shows which processes there are");
}

void nw_check_process(struct judge *judge)
{
	const struct nw_process_facts *process = judge->facts->process;
	char who[64];

	if (!process)
		return;
	switch (process->state) {
	case NW_PROCESS_GONE:
		nw_fails(judge, "there is no process %d", (int)process->asked);
		nw_blame(judge, NW_CAUSE_PROCESS_GONE, "there is no process %d (any more)",
			 (int)process->asked);
		remedy_search(judge);
		return;
	case NW_PROCESS_THREAD:
		blame_thread(judge);
		return;
	case NW_PROCESS_INNER:
		blame_inner(judge);
		return;
	case NW_PROCESS_ALIVE:
		break;
	}
	if (process->exe)
		nw_pass(judge,
			process->exe_deleted
				? "%s is alive and runs %s, which has been deleted"
				: "%s is alive and runs %s",
			nw_who(process, who), process->exe);
	else
		nw_pass(judge, "%s is alive and runs something unknown",
			nw_who(process, who));
	if (process->other_mounts)
		nw_pass(judge, "it has other mounts or another root than we");
	if (process->children.count)
		nw_pass(judge,
			nw_plural(
				process->children.count,
				"it has %zu child, which a filter on its number leaves out",
				"it has %zu children, which a filter on its number leaves out"),
			process->children.count);
}

void nw_check_bits(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_image *image = facts->image;

	if (!image || !image->arch)
		return;
	if (image->elf64 || sizeof(void *) == 4) {
		nw_pass(judge, "%s, %d bits", image->arch->name, image->elf64 ? 64 : 32);
		return;
	}
	nw_fails(judge, "%s is a 32-bit program (%s)", image->path, image->arch->name);
	nw_blame(
		judge, NW_CAUSE_BITS32,
		"%s is a 32-bit program (%s): libbpf refuses it, and others read its arguments as those of a 64-bit one, though they are on the stack",
		image->path, image->arch->name);
}

/* ---- the mapping -------------------------------------------------------------------- */

static void remedy_other(struct judge *judge)
{
	const struct nw_mapping_facts *mapping = judge->facts->mapping;

	/* with -p bpftrace looks for USDT probes in paths below the process's own root only */
	if (nw_is_usdt(judge->facts) && mapping->other_path &&
	    (mapping->other_mounts || strcmp(mapping->other, mapping->other_path) != 0))
		nw_remedy_stat(judge, mapping->other, NULL, mapping->pid);
	else
		nw_remedy_spec(judge, mapping->other, NULL, mapping->pid);
}

/* The process maps another file with the same path. */
static void blame_same_path(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_mapping_facts *mapping = facts->mapping;
	const char *path = facts->path;
	int pid = (int)mapping->pid;

	if (!facts->image && mapping->other_deleted)
		nw_blame(
			judge, NW_CAUSE_FILE_DELETED,
			"%s has been deleted, and process %d still runs it; it can be probed through %s",
			path, pid, mapping->other);
	else if (!facts->image)
		nw_blame(
			judge, NW_CAUSE_OTHER_NAMESPACE,
			"there is no %s here; process %d has it in its own mount namespace or root: use %s",
			path, pid, mapping->other);
	else if (mapping->overlay)
		nw_blame(
			judge, NW_CAUSE_OVERLAY,
			"%s lies on overlayfs and was copied up since process %d began: it still runs the layer below (inode %ju)",
			path, pid, mapping->other_ino);
	else if (mapping->other_mounts)
		nw_blame(
			judge, NW_CAUSE_OTHER_NAMESPACE,
			"process %d runs a different file (inode %ju in its container) than the one probed (inode %ju): use %s",
			pid, mapping->other_ino, facts->image->ino, mapping->other);
	else if (
		!mapping->other_deleted) /* the file still has its name, under a file system that was mounted over it */
		nw_blame(
			judge, NW_CAUSE_OTHER_COPY,
			"process %d runs another file (inode %ju) by the path %s than the one that is there now (inode %ju): something was mounted over it since the process began; use %s",
			pid, mapping->other_ino, path, facts->image->ino, mapping->other);
	else
		nw_blame(
			judge, NW_CAUSE_FILE_REPLACED,
			"%s was replaced: process %d still runs the old file (inode %ju, build-id %.16s), the one probed is inode %ju, build-id %.16s; restart the process or probe %s",
			path, pid, mapping->other_ino, mapping->other_build_id,
			facts->image->ino, facts->image->build_id, mapping->other);
	remedy_other(judge);
}

static void blame_same_name(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_mapping_facts *mapping = facts->mapping;

	if (mapping->other_mounts)
		nw_blame(
			judge, NW_CAUSE_OTHER_NAMESPACE,
			mapping->same_build
				? "process %d runs %s (inode %ju) in its own mount namespace or root, not %s (the same build, but another copy)"
				: "process %d runs %s (inode %ju) in its own mount namespace or root, not %s",
			(int)mapping->pid, mapping->other_path, mapping->other_ino,
			facts->path);
	else
		nw_blame(
			judge, NW_CAUSE_OTHER_COPY,
			mapping->same_build
				? "process %d runs %s, not %s (the same build, but another copy)"
				: "process %d runs %s, not %s",
			(int)mapping->pid, mapping->other_path, facts->path);
	remedy_other(judge);
}

static void blame_not_mapped(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_process_facts *process = facts->process;
	const struct nw_mapping_facts *mapping = facts->mapping;
	char who[64];

	if (!process && facts->kernel->tracefs)
		return; /* without the right to trace, the mappings of others are hidden, too */
	bool possible = !nw_diagnosis_settled(judge->out);
	if (!process) {
		nw_blame(
			judge, NW_CAUSE_NOT_RUNNING,
			mapping->other
				? "no process has %s loaded: the probe arms itself when one does, and until then it is silent; process %d runs another file of this name: %s"
				: "no process has %s loaded: the probe arms itself when one does, and until then it is silent",
			facts->path, (int)mapping->pid, mapping->other_path);
		/* otherwise another check has found that the probe would not fire in a process that loads the file, either */
		if (possible)
			nw_remedy_spec(judge, NULL, NULL, -1);
		if (mapping->other)
			remedy_other(judge);
	} else if (strstr(facts->path, ".so") != NULL && facts->interposed) {
		nw_blame(judge, NW_CAUSE_NOT_LOADED,
			 "%s has not loaded %s: its '%s' is that of %s",
			 nw_who(process, who), facts->path, facts->spec->name,
			 facts->interposed);
		nw_remedy_spec(judge, facts->interposed, NULL, 0);
	} else if (strstr(facts->path, ".so") != NULL) {
		nw_blame(judge, NW_CAUSE_NOT_LOADED,
			 "%s has not loaded %s (yet): the probe arms itself when it does",
			 nw_who(process, who), facts->path);
		nw_remedy_spec(judge, NULL, NULL, 0);
	} else {
		nw_who(process, who);
		if (process->exe)
			nw_blame(
				judge, NW_CAUSE_OTHER_PROGRAM,
				"%s runs %s, not %s: did it exec, or is the number of another process meant?",
				who, process->exe, facts->path);
		else
			nw_blame(
				judge, NW_CAUSE_OTHER_PROGRAM,
				"%s runs another program, not %s: did it exec, or is the number of another process meant?",
				who, facts->path);
		remedy_search(judge);
	}
}

void nw_check_mapping(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_mapping_facts *mapping = facts->mapping;

	if (!mapping || !facts->path)
		return;
	if (mapping->mapped) {
		nw_pass(judge,
			nw_plural(mapping->processes, "%u of %u process map this very file",
				  "%u of %u processes map this very file"),
			mapping->mapped, mapping->processes);
		return;
	}
	/* If no process was named, one that runs another path is no mistake: it is only mentioned. */
	if (mapping->other &&
	    (facts->process || mapping->instead == NW_INSTEAD_SAME_PATH)) {
		nw_fails(judge,
			 mapping->other_deleted
				 ? "process %d maps %s, deleted (inode %ju) instead"
				 : "process %d maps %s (inode %ju) instead",
			 (int)mapping->pid, mapping->other_path, mapping->other_ino);
		if (mapping->instead == NW_INSTEAD_SAME_PATH)
			blame_same_path(judge);
		else
			blame_same_name(judge);
	} else if (mapping->unreadable && facts->process) {
		nw_unknown(judge,
			   nw_plural(mapping->unreadable,
				     "the mappings of %u process may not be read",
				     "the mappings of %u processes may not be read"),
			   mapping->unreadable);
	} else if (nw_count_points(facts)) {
		nw_fails(judge,
			 nw_plural(mapping->processes, "none of %u process maps it",
				   "none of %u processes maps it"),
			 mapping->processes);
		blame_not_mapped(judge);
	}
}

/* Returns the name of a program that runs other programs' code as its own data, such as an emulator; NULL: it is
 * none. */
static const char *translator_of(const struct nw_process_facts *process)
{
	static const struct {
		const char *begins, *name;
	} known[] = {
		{"valgrind", "valgrind"},   {"memcheck-", "valgrind"},
		{"callgrind-", "valgrind"}, {"cachegrind-", "valgrind"},
		{"massif-", "valgrind"},    {"helgrind-", "valgrind"},
		{"drd-", "valgrind"},	    {"none-", "valgrind"},
		{"dhat-", "valgrind"},	    {"lackey-", "valgrind"},
		{"exp-bbv-", "valgrind"},   {"qemu-", "qemu's user mode"},
		{"box64", "box64"},	    {"box86", "box86"},
		{"FEXInterpreter", "FEX"},  {"FEXLoader", "FEX"},
		{"pinbin", "Pin"},
	};
	const char *slash = process && process->exe ? strrchr(process->exe, '/') : NULL;

	for (size_t i = 0; slash && i < NW_COUNT(known); i++)
		if (strncmp(slash + 1, known[i].begins, strlen(known[i].begins)) == 0)
			return known[i].name;
	return NULL;
}

void nw_check_text(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_mapping_facts *mapping = facts->mapping;
	const char *translator = translator_of(facts->process);

	if (translator) {
		nw_fails(judge, "the process is run by %s", translator);
		nw_blame(
			judge, NW_CAUSE_TRANSLATED,
			"process %d is run by %s, which executes a translation of the code: the places that are probed are only read",
			(int)facts->process->process, translator);
		nw_remedy(judge, "# start the program without %s", translator);
		return;
	}
	if (!mapping || !mapping->mapped || !facts->path)
		return;
	if (mapping->copied == mapping->mapped) {
		nw_fails(judge, "the code is in anonymous memory");
		nw_blame(
			judge, NW_CAUSE_TEXT_COPIED,
			"process %d runs this code from anonymous memory (remapped to huge pages, or copied by itself), where no uprobe reaches it",
			(int)mapping->pid);
		nw_remedy(judge, "# start it without the option that remaps its code");
	} else if (mapping->written == mapping->mapped) {
		nw_fails(judge, "the code is mapped writable or shared");
		nw_blame(
			judge, NW_CAUSE_TEXT_WRITABLE,
			"process %d maps this code writable or shared, and the kernel passes over such mappings",
			(int)mapping->pid);
		nw_remedy(judge, "grep x /proc/%d/maps", (int)mapping->pid);
	} else {
		nw_pass(judge, "the code is where the file was mapped");
	}
}
