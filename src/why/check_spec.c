// SPDX-License-Identifier: MIT
/* Checks whether the spec leads to code: the file, the function or the note, the place. */
#include <errno.h>
#include <string.h>

#include "judge.h"

/* ---- the file ----------------------------------------------------------------------- */

/* The file is a script (psql of Debian, pyenv's shims, java's alternatives): the program that it starts has the
 * probes. */
static void blame_script(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_process_facts *process = facts->process;
	const char *program = process && process->exe ? process->exe : facts->script_starts;

	if (program) {
		nw_blame(
			judge, NW_CAUSE_SCRIPT,
			"%s is a script (%s), not a program: the program that it starts is another file, here %s",
			facts->path, facts->script, program);
		nw_remedy_spec(judge, program, NULL, 0);
	} else {
		nw_blame(
			judge, NW_CAUSE_SCRIPT,
			"%s is a script (%s), not a program: the program that it starts is another file",
			facts->path, facts->script);
		nw_remedy_file(judge, "cat", facts->path, "");
	}
}

static void blame_debug_file(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_image *image = facts->image;

	nw_fails(judge, "it has no code, only debug information");
	if (facts->code_in) {
		nw_blame(
			judge, NW_CAUSE_DEBUG_FILE,
			"%s holds the debug information of %s and no code: probe that file",
			image->path, facts->code_in);
		nw_remedy_spec(judge, facts->code_in, NULL, 0);
		return;
	}
	nw_blame(
		judge, NW_CAUSE_DEBUG_FILE,
		"%s holds the debug information of another file and no code: probe the file with the build-id %s",
		image->path, *image->build_id ? image->build_id : "(it has none)");
	nw_remedy_file(judge, "readelf -n", image->path, "");
}

void nw_check_file(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_mapping_facts *mapping = facts->mapping;

	if (facts->image) {
		nw_pass(judge, "%s is inode %ju, build-id %.16s", facts->image->path,
			facts->image->ino,
			*facts->image->build_id ? facts->image->build_id : "none");
		if (facts->no_code)
			blame_debug_file(judge);
		else if (!facts->image->segments.count) /* which processes map */
			nw_blame(
				judge, NW_CAUSE_OBJECT_FILE,
				"%s is not linked (an object file): no process runs it; probe the program or library that it was linked into",
				facts->image->path);
		if (facts->mute) {
			const char *path = judge->facts->image->path;
			nw_fails(judge,
				 "it is on tmpfs, where no probe of this kernel hits");
			nw_blame(
				judge, NW_CAUSE_FILESYSTEM,
				"%s lies on tmpfs, where kernels before 3.16 and RHEL 7's take a probe that never hits: a copy on a disk can be probed",
				path);
			nw_remedy(judge, "# copy %s to a disk, and start it from there",
				  path);
		}
		return;
	}
	if (!facts->path && !facts->file_error)
		return;
	nw_fails(judge, "%s",
		 facts->file_error ? facts->file_error->what : "there is no such file");
	if (mapping && mapping->other) /* the check of mappings knows more about it */
		return;
	if (facts->process && facts->process->exe_deleted)
		return;
	if (facts->script) {
		blame_script(judge);
		return;
	}
	nw_blame(judge, NW_CAUSE_FILE_MISSING, "%s",
		 facts->file_error ? facts->file_error->what : "there is no such file");
	if (facts->process && facts->process->other_mounts && facts->path &&
	    facts->path[0] == '/') {
		nw_cleanup(nw_free_ptr) char *inside = nw_text(
			"/proc/%d/root%s", (int)facts->process->process, facts->path);
		if (inside)
			nw_remedy_spec(judge, inside, NULL, -1); /* in any process */
	}
}

/* ---- the function ------------------------------------------------------------------- */

static void blame_import(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_symbol_facts *symbol = facts->symbol;

	if (!symbol->defined_in) {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_IMPORTED,
			"'%s' is only imported by %s; none of the libraries found defines it",
			facts->spec->name, facts->image->path);
		nw_remedy_file(judge, "ldd", facts->image->path, "");
		return;
	}
	nw_blame(judge, NW_CAUSE_SYMBOL_IMPORTED,
		 "'%s' is only imported by %s; it is defined in %s: probe that file",
		 facts->spec->name, facts->image->path, symbol->defined_in);
	nw_remedy_spec(judge, symbol->defined_in, NULL, 0);
}

/* Offers to list the symbols with that name, so that the user can choose one. */
static void remedy_symbol(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	struct nw_buf rest = {0};

	nw_buf_adds(&rest, " | grep -w -- ");
	nw_buf_add_shell(&rest, facts->spec->name);
	nw_remedy_file(judge, facts->symbol->stripped ? "nm -D" : "nm", facts->image->path,
		       nw_buf_str(&rest));
	nw_buf_free(&rest);
}

/* The file has the name as another kind of probe: a USDT probe, or a function. */
static void remedy_kind(struct judge *judge, enum nw_spec_kind kind)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_spec spec = {.kind = kind};
	struct nw_facts other = *facts;
	struct judge as = *judge;

	other.spec = &spec;
	as.facts = &other;
	nw_remedy_spec(&as, facts->image->path, facts->spec->name, 0);
	judge->failed = judge->failed || as.failed;
}

/* Blames that the name is none of the file, but may be one of the code that the runtime generates. */
static void blame_runtime(struct judge *judge, const struct nw_generated *generated)
{
	char code[32];

	nw_thousands(generated->code >> 10, code);
	nw_fails(judge, "process %d is %s, with %s KiB of code in memory of no file",
		 (int)generated->pid, generated->runtime, code);
	nw_blame(
		judge, NW_CAUSE_GENERATED,
		"%s has no function '%s': if it is one of the program that process %d runs, %s, its code is generated while it runs (JIT), and uprobes need a file",
		judge->facts->image->path, judge->facts->spec->name, (int)generated->pid,
		generated->runtime);
}

static void blame_generated(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_generated *generated = facts->generated;
	struct nw_buf name = {0}, command = {0};

	nw_buf_printf(&command, "nopwatch why -p %d", (int)generated->pid);
	if (generated->name) {
		nw_buf_add_escaped(&name, generated->name, strlen(generated->name));
		nw_blame(
			judge, NW_CAUSE_GENERATED,
			"'%s' is in no file: process %d generates its code while it runs ('%s' in its /tmp/perf-%d.map), and uprobes need a file",
			facts->spec->name, (int)generated->pid, nw_buf_str(&name),
			(int)generated->pid);
	} else {
		blame_runtime(judge, generated);
	}
	if (generated->probe)
		nw_remedy_file(judge, nw_buf_str(&command), generated->probe, "");
	else
		nw_remedy(
			judge,
			"# the runtime has no USDT probe for its functions: a profiler that samples, or one of its own, can tell");
	if (generated->lists_names)
		nw_remedy(judge, "# to see their names (--stack, perf): %s",
			  generated->lists_names);
	judge->failed |= name.failed || command.failed;
	nw_buf_free(&name);
	nw_buf_free(&command);
}

static void blame_clones(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const char *clones = facts->symbol->clones;
	nw_cleanup(nw_free_ptr) char *first = strndup(clones, strcspn(clones, ","));

	nw_blame(
		judge, NW_CAUSE_SYMBOL_MISSING,
		"there is no function '%s' in %s: the compiler made %s of it, of which other copies may have been inlined",
		facts->spec->name, facts->image->path, clones);
	if (first)
		nw_remedy_spec(judge, NULL, first, 0);
}

static void blame_missing(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_symbol_facts *symbol = facts->symbol;
	const char *name = facts->spec->name, *path = facts->image->path;

	if (symbol->is_note) {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_IS_NOTE,
			"'%s' is a USDT probe of %s, not a function: it takes usdt:, not uprobe:",
			name, path);
		remedy_kind(judge, NW_SPEC_USDT);
	} else if (facts->generated && facts->generated->name) {
		blame_generated(judge);
	} else if (symbol->rehashed) {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_MISSING,
			"there is no function '%s' in %s, but one that differs by its hash only, which each build of a Rust program makes anew: '%s'",
			name, path, symbol->rehashed);
		nw_remedy_spec(judge, NULL, symbol->rehashed, 0);
	} else if (symbol->mangled) {
		nw_blame(judge, NW_CAUSE_SYMBOL_MANGLED,
			 "'%s' is called '%s' in %s (a C++ or Rust name)", name,
			 symbol->mangled, path);
		nw_remedy_spec(judge, NULL, symbol->mangled, 0);
	} else if (symbol->inlined > 0) {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_MISSING,
			nw_plural(
				symbol->inlined,
				"'%s' has no code of its own in %s: it was inlined wherever it is used (%d time)",
				"'%s' has no code of its own in %s: it was inlined wherever it is used (%d times)"),
			name, path, symbol->inlined);
		nw_blame(judge, NW_CAUSE_SYMBOL_INLINED, "'%s' was inlined", name);
		nw_remedy(
			judge,
			"# build with __attribute__((noinline)) on it, or probe its callers; nopwatch counts the calls of inlined copies: uprobe:%s:%s",
			path, name);
	} else if (symbol->clones) {
		blame_clones(judge);
	} else if (symbol->defined_in) {
		nw_blame(judge, NW_CAUSE_SYMBOL_MISSING,
			 "there is no function '%s' in %s, but there is one in %s", name,
			 path, symbol->defined_in);
		nw_remedy_spec(judge, symbol->defined_in, NULL, 0);
	} else if (symbol->stripped) {
		if (facts->generated)
			blame_generated(judge);
		nw_blame(
			judge, NW_CAUSE_SYMBOL_STRIPPED,
			"%s is stripped: only exported functions have a name there, and '%s' is none of them",
			path, name);
		nw_remedy(
			judge,
			"# install its debug symbols (build-id %s), or give the file offset: uprobe:%s:0xOFFSET",
			facts->image->build_id, path);
	} else {
		/* A name that is nearly one of the file's is rather misspelt. */
		if (facts->generated && !symbol->near)
			blame_generated(judge);
		nw_blame(judge, NW_CAUSE_SYMBOL_MISSING,
			 "there is no function '%s' in %s%s%s", name, path,
			 symbol->near ? "; near: " : "", symbol->near ? symbol->near : "");
		nw_remedy_file(judge, /* offer to list all functions of the file */
			       symbol->stripped ? "nm -D --defined-only"
						: "nm --defined-only",
			       judge->facts->image->path, "");
		if (facts->generated && symbol->near)
			blame_generated(judge);
	}
}

static void blame_ifunc(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_symbol_facts *symbol = facts->symbol;

	if (symbol->implementation) {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_IFUNC,
			"'%s' is an ifunc: its address is that of a resolver that runs once, at start; what the process runs is %s",
			facts->spec->name, symbol->implementation);
		nw_remedy_spec(judge, symbol->implementation_file, symbol->implementation,
			       0);
	} else {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_IFUNC,
			"'%s' is an ifunc: its address is that of a resolver that runs once, at start; with -p PID nopwatch finds what a process runs",
			facts->spec->name);
		remedy_symbol(judge);
	}
}

/* The kernel takes a breakpoint there without an error, and never reports a hit. */
static void blame_thumb(struct judge *judge, const char *name)
{
	nw_fails(judge, "'%s' is Thumb code", name);
	nw_blame(
		judge, NW_CAUSE_THUMB,
		"'%s' of %s is Thumb code, where kernels report no hit of a uprobe: it was not armed",
		name, judge->facts->image->path);
	nw_remedy(judge, "# build it as ARM code: -marm");
}

static void check_found(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_symbol_facts *symbol = facts->symbol;

	nw_pass(judge, "'%s' is at address 0x%jx of %s", facts->spec->name, symbol->vaddr,
		facts->image->path);
	if (symbol->barred)
		blame_thumb(judge, facts->spec->name);
	if (symbol->aliases)
		nw_pass(judge, "%s at the same address: whoever calls these hits it, too",
			symbol->aliases);
	if (facts->interposed) {
		nw_fails(judge, "the process's calls of '%s' reach %s first",
			 facts->spec->name, facts->interposed);
		nw_blame(
			judge, NW_CAUSE_INTERPOSED,
			"'%s' of %s comes before that of %s in the search order of the process: calls by name reach that one",
			facts->spec->name, facts->interposed, facts->image->path);
		nw_remedy_spec(judge, facts->interposed, NULL, 0);
	}
	if (symbol->stripped)
		nw_pass(judge,
			"it may have been its debug file that told, which other tools may not read");
	if (symbol->ifunc) {
		nw_fails(judge, "it is an ifunc's resolver");
		blame_ifunc(judge);
	}
	if (symbol->inlined > 0) {
		nw_fails(judge,
			 nw_plural(symbol->inlined, "and was inlined %d time besides",
				   "and was inlined %d times besides"),
			 symbol->inlined);
		nw_blame(
			judge, NW_CAUSE_SYMBOL_INLINED,
			nw_plural(
				symbol->inlined,
				"'%s' was inlined %d time, where no probe on it fires; only the copy that is left can be hit",
				"'%s' was inlined %d times, where no probe on it fires; only the copy that is left can be hit"),
			facts->spec->name, symbol->inlined);
		nw_cleanup(nw_free_ptr) char *copies = nw_text("%s (inlined)",
							       facts->spec->name);
		if (copies)
			nw_remedy_stat(judge, NULL, copies, 0);
		nw_remedy(
			judge,
			"# or build with __attribute__((noinline)) on it, or probe its callers");
	} else if (symbol->inlined == 0) {
		nw_pass(judge, "DWARF knows of no inlined copy");
	}
}

/* A line of the source that has no place has none for the reason that the selection gives. */
static void check_line(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_error *why = facts->select_error;
	size_t places = nw_count_points(facts);

	if (places) {
		nw_pass(judge,
			nw_plural(places, "line %u of '%s' begins at %zu place",
				  "line %u of '%s' begins at %zu places"),
			facts->spec->line, facts->spec->source, places);
		return;
	}
	if (!why)
		return;
	nw_fails(judge, "%s", why->what);
	nw_blame(judge, NW_CAUSE_NO_SUCH_LINE, *why->hint ? "%s; %s" : "%s", why->what,
		 why->hint);
	nw_remedy_file(judge, "nopwatch list --functions", facts->image->path, "");
}

void nw_check_symbol(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	if (facts->image && facts->spec->source && !facts->no_code)
		check_line(judge);
	if (!facts->image || !facts->symbol || facts->no_code)
		return;
	switch (facts->symbol->state) {
	case NW_SYMBOL_FOUND:
		check_found(judge);
		break;
	case NW_SYMBOL_IMPORTED:
		nw_fails(judge, "'%s' is undefined in %s", facts->spec->name,
			 facts->image->path);
		blame_import(judge);
		break;
	case NW_SYMBOL_AMBIGUOUS:
		nw_fails(judge, "%s has several functions called '%s'", facts->image->path,
			 facts->spec->name);
		nw_blame(
			judge, NW_CAUSE_SYMBOL_AMBIGUOUS,
			"%s has several functions called '%s': give the file offset of the one that is meant",
			facts->image->path, facts->spec->name);
		remedy_symbol(judge);
		break;
	case NW_SYMBOL_DATA:
		nw_fails(judge, "'%s' is a variable", facts->spec->name);
		nw_blame(judge, NW_CAUSE_SYMBOL_MISSING,
			 "'%s' is a variable of %s, not a function", facts->spec->name,
			 facts->image->path);
		break;
	case NW_SYMBOL_MISSING:
		if (facts->symbol->inlined > 0 && !facts->tool && nw_count_points(facts)) {
			nw_pass(judge,
				nw_plural(
					facts->symbol->inlined,
					"'%s' has no code of its own; the probe is in %d inlined copy",
					"'%s' has no code of its own; the probe is in %d inlined copies"),
				facts->spec->name, facts->symbol->inlined);
			break;
		}
		if (facts->symbol->inlined > 0)
			nw_fails(
				judge,
				facts->symbol->stripped
					? "%s is stripped and has no function '%s', only inlined copies"
					: "%s has no function '%s', only inlined copies",
				facts->image->path, facts->spec->name);
		else
			nw_fails(judge,
				 facts->symbol->stripped
					 ? "%s is stripped and has no function '%s'"
					 : "%s has no function '%s'",
				 facts->image->path, facts->spec->name);
		blame_missing(judge);
		break;
	}
}

/* ---- the note ----------------------------------------------------------------------- */

static void blame_no_notes(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_image *image = facts->image;
	struct nw_error err;

	nw_image_explain(image, &err);
	nw_blame(
		judge, NW_CAUSE_NO_NOTES,
		strstr(image->path, "libjvm")
			? "%s has no USDT probes at all: nothing to probe (a JDK built without --enable-dtrace)"
			: "%s has no USDT probes at all: nothing to probe",
		image->path);
	nw_remedy_file(judge, "readelf -n", image->path, "");
	nw_remedy(judge, "# %s", *err.hint ? err.hint : err.what);
}

/* Blames damaged notes that fit the spec but were left out. */
static bool blame_damage(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_image *image = facts->image;

	nw_vec_each (&image->skipped, skipped) {
		if (*skipped->name &&
		    !nw_spec_matches(facts->spec, skipped->provider, skipped->name))
			continue;
		nw_fails(judge, "the note of %s:%s: %s", skipped->provider, skipped->name,
			 skipped->why);
		nw_blame(judge,
			 skipped->trap	   ? NW_CAUSE_BREAKPOINT
			 : skipped->barred ? NW_CAUSE_THUMB
					   : NW_CAUSE_NOTE_DAMAGED,
			 "the note of %s:%s in %s cannot be used: %s", skipped->provider,
			 skipped->name, image->path, skipped->why);
		if (skipped->trap)
			nw_remedy(judge, "# use the file as its package has it");
		else if (skipped->barred)
			nw_remedy(judge, "# build it as ARM code: -marm");
		else
			nw_remedy(
				judge,
				"# link with ld.bfd, or build with sys/sdt.h of SystemTap 5.4 or later");
		return true;
	}
	return false;
}

static void blame_no_such_probe(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_error *why = facts->select_error;

	nw_fails(judge, "none of the %zu notes of %s fits", facts->image->sites.count,
		 facts->image->path);
	if (!why)
		nw_blame(judge, NW_CAUSE_NO_SUCH_PROBE, "there is no such probe");
	else if (*why->hint)
		nw_blame(judge, NW_CAUSE_NO_SUCH_PROBE, "%s; %s", why->what, why->hint);
	else
		nw_blame(judge, NW_CAUSE_NO_SUCH_PROBE, "%s", why->what);
	nw_remedy_file(judge, "nopwatch list", facts->image->path, "");
}

static void blame_function(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	nw_fails(judge, "no note of %s fits, and a function of it has that name",
		 facts->image->path);
	nw_blame(judge, NW_CAUSE_NO_SUCH_PROBE,
		 "'%s' is a function of %s, not a USDT probe: it takes uprobe:, not usdt:",
		 facts->spec->name, facts->image->path);
	remedy_kind(judge, NW_SPEC_UPROBE);
}

/* The process, or a library that the file links, has the probe in another file than the one that was named. */
static void blame_elsewhere(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	nw_fails(judge, "it is not in %s, but in %s", facts->image->path, facts->elsewhere);
	nw_blame(judge, NW_CAUSE_NO_SUCH_PROBE,
		 "%s has no such probe; another file of the program has it: probe %s",
		 facts->image->path, facts->elsewhere);
	nw_remedy_spec(judge, facts->elsewhere, NULL, 0);
}

static size_t count_semaphores(const struct nw_facts *facts)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0, count = 0;
	uint64_t last = 0;

	while ((at = nw_next_point(facts, &probe, &point))) {
		count += at->semaphore_offset && at->semaphore_offset != last;
		last = at->semaphore_offset ? at->semaphore_offset : last;
	}
	return count;
}

static void check_notes_found(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_point *at;
	size_t probe = 0, point = 0, semaphores = count_semaphores(facts);
	size_t sites = nw_count_points(facts);

	if (semaphores)
		nw_pass(judge,
			nw_plural(sites, "%zu site, with a semaphore",
				  "%zu sites, with a semaphore"),
			sites);
	else
		nw_pass(judge,
			nw_plural(sites, "%zu site, no semaphore",
				  "%zu sites, no semaphore"),
			sites);
	if (semaphores > 1)
		nw_pass(judge,
			"%zu different semaphores: a tool that raises one of them misses the other sites",
			semaphores);
	while ((at = nw_next_point(facts, &probe, &point))) {
		if (!at->site || !at->site->warning)
			continue;
		nw_fails(judge, "%s", at->site->warning);
		nw_blame(judge, NW_CAUSE_NOTE_SEMAPHORE,
			 "%s:%s has a semaphore that nothing can raise: %s",
			 at->site->provider, at->site->name, at->site->warning);
		break;
	}
}

void nw_check_note(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	if (!nw_is_usdt(facts) || !facts->image || facts->no_code)
		return;
	if (nw_count_points(facts)) {
		check_notes_found(judge);
		return;
	}
	if (facts->elsewhere) {
		blame_elsewhere(judge);
	} else if (facts->is_function) {
		blame_function(judge);
	} else if (facts->image->sites.count == 0 && facts->image->skipped.count == 0) {
		nw_fails(judge, "%s has no .note.stapsdt", facts->image->path);
		blame_no_notes(judge);
	} else if (!blame_damage(judge)) {
		blame_no_such_probe(judge);
	}
}

/* ---- the place ---------------------------------------------------------------------- */

/* Blames an offset in Thumb code, which no kernel probes. */
static bool blame_thumb_offset(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	struct nw_symbol symbol;
	uint64_t vaddr;

	if (!nw_image_vaddr(facts->image, facts->spec->offset, &vaddr) ||
	    nw_image_function((struct nw_image *)(uintptr_t)facts->image, vaddr, &symbol) <
		    0 ||
	    !symbol.barred)
		return false;
	blame_thumb(judge, symbol.name);
	return true;
}

/* The offset lies in no code of the file: perhaps it is an address. */
static void blame_offset(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	uint64_t given = facts->spec->offset;
	int64_t meant = nw_image_offset(facts->image, given, true);

	nw_fails(judge, "0x%jx is in no executable segment of %s", given,
		 facts->image->path);
	if (meant < 0) {
		nw_blame(judge, NW_CAUSE_BAD_OFFSET,
			 "0x%jx is neither a file offset nor an address of code in %s",
			 given, facts->image->path);
		nw_remedy_file(judge, "readelf -lW", facts->image->path, "");
		return;
	}
	nw_cleanup(nw_free_ptr) char *place = nw_text("0x%jx", meant);
	nw_blame(judge, NW_CAUSE_ADDRESS_AS_OFFSET,
		 "0x%jx is the address in %s, not the file offset, which is 0x%jx", given,
		 facts->image->path, meant);
	if (place)
		nw_remedy_stat(
			judge, NULL, place,
			0); /* bpftrace takes addresses, so only nopwatch's command is offered */
}

/* Blames an offset that is no function's start, although it would be one if it were read as an address. */
static bool blame_function_address(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	uint64_t given = facts->spec->offset;
	int64_t meant = nw_image_offset(facts->image, given, true);
	struct nw_symbol symbol;

	if (*facts->spec->name || meant < 0 || (uint64_t)meant == given ||
	    nw_image_function((struct nw_image *)(uintptr_t)facts->image, given, &symbol) <
		    0 ||
	    symbol.value != given)
		return false;
	nw_fails(judge, "as an address 0x%jx is the start of '%s'", given, symbol.name);
	nw_blame(judge, NW_CAUSE_ADDRESS_AS_OFFSET,
		 "0x%jx is the address of '%s' in %s, not the file offset, which is 0x%jx",
		 given, symbol.name, facts->image->path, meant);
	nw_remedy_spec(judge, NULL, symbol.name, 0);
	return true;
}

static void check_nops(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point))) {
		if (at->nop == NW_NOP_TRAP) {
			nw_fails(judge, "the file holds a breakpoint at 0x%jx", at->offset);
			nw_blame(
				judge, NW_CAUSE_BREAKPOINT,
				"the file %s holds a breakpoint at 0x%jx, and the kernel arms no place that has one (error 524)",
				facts->image->path, at->offset);
			return;
		}
		if (at->nop == NW_NOP_5 && !facts->nop5_safe && !facts->force) {
			nw_fails(judge, "a 5-byte nop at 0x%jx", at->offset);
			nw_blame(
				judge, NW_CAUSE_NOP5,
				"the site at 0x%jx is a 5-byte nop, which this kernel turns into a call that can destroy the function's red zone: it was not armed",
				at->offset);
			nw_remedy_again(judge, "", "--force");
			return;
		}
	}
	nw_pass(judge, nw_is_usdt(facts) ? "every site is a nop in executable code"
					 : "the place is in executable code");
}

/* Returns why a breakpoint at one of the places would do harm; NULL: it would not. */
static const char *place_hazard(const struct nw_facts *facts)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point)))
		if (at->hazard && !at->is_return)
			return at->hazard;
	return NULL;
}

void nw_check_site(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	if (!facts->image || !facts->spec || facts->no_code)
		return;
	if (!nw_count_points(facts)) {
		if (!nw_is_usdt(facts) && !*facts->spec->name && !blame_thumb_offset(judge))
			blame_offset(judge);
		return;
	}
	check_nops(judge);
	if (facts->at_function || facts->force || blame_function_address(judge))
		return;
	const char *hazard = place_hazard(facts);
	if (!hazard) {
		nw_pass(judge, "an instruction begins there");
		return;
	}
	nw_fails(judge, "%s", hazard);
	nw_blame(
		judge, NW_CAUSE_INSIDE_FUNCTION,
		"%s: a probe in the middle of an instruction corrupts the program, so it was not armed",
		hazard);
	nw_remedy_file(judge, "objdump -d", facts->image->path, "");
	nw_remedy_again(judge, "", "--force");
}
