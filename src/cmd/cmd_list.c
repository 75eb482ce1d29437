// SPDX-License-Identifier: MIT
/* list: lists the probes in files, directories and processes. Needs no privileges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"
#include "run/run.h"
#include "show/rows/check.h"
#include "show/text/text.h"

struct listing {
	const struct nw_args *args;
	struct nw_sink sink;
	bool full; /* writing has failed, and the error was printed */
	struct nw_search search;
	struct nw_types types;
	struct nw_probe_table table;
	struct nw_output output;
	nw_images images; /* searched for similar names if nothing matches */
	bool failed;
	struct nw_error told; /* the last error about a file */
	bool only_functions;
};

/* ---- what is found ------------------------------------------------------------------ */

/* Lists the sites of a file, as one object each. */
static void list_sites(struct listing *list, struct nw_image *image)
{
	const struct nw_output_format *format = list->output.format;

	nw_vec_each (&image->sites, site) {
		if (!nw_search_wants(&list->search, site->provider, site->name))
			continue;
		list->table.matched++;
		format->site(&list->output, image, site, &list->types);
	}
	nw_vec_each (&image->skipped, skipped)
		if (!*skipped->name ||
		    nw_search_wants(&list->search, skipped->provider, skipped->name))
			format->skipped(&list->output, image, skipped);
}

static void name_skipped(const struct listing *list, const struct nw_image *image)
{
	nw_vec_each (&image->skipped, skipped) {
		struct nw_buf name = {0};
		if (*skipped->name &&
		    !nw_search_wants(&list->search, skipped->provider, skipped->name))
			continue;
		nw_buf_add_escaped(&name, skipped->provider, strlen(skipped->provider));
		nw_buf_addc(&name, ':');
		nw_buf_add_escaped(&name, skipped->name, strlen(skipped->name));
		if (*skipped->name)
			nw_note("%s: skipped the note of %s: %s", image->path,
				nw_buf_str(&name), skipped->why);
		else
			nw_note("%s: skipped the note of an unknown probe: %s", image->path,
				skipped->why);
		nw_buf_free(&name);
	}
}

/* --check: lists what is wrong with the notes of a file. A file without notes was reported when it was found. */
static void check(struct listing *list, struct nw_image *image)
{
	struct nw_checked checked;

	if (image->notes != NW_NOTES_FOUND)
		return;
	if (nw_check_notes(image, &list->search, &list->types, &list->output, &checked) < 0)
		list->output.text.failed = true;
	list->failed |= checked.problems;
	list->table.matched += checked.notes;
}

/* Writes the rows so far. An error of writing is printed once and ends the list. */
static int flush(struct listing *list)
{
	struct nw_error err;
	int ret = list->full ? -ENOSPC
			     : nw_sink_write(&list->sink, &list->output.text, &err);

	if (ret < 0 && !list->sink.closed && !list->full) {
		nw_report_error(&err);
		list->full = list->failed = true;
	}
	return ret;
}

/* Prints the error about a file. If several files in a row have the same hint, only the first shows it. */
static void failed(void *arg, struct nw_error *err, bool file)
{
	struct listing *list = arg;
	bool again = file && strcmp(err->hint, list->told.hint) == 0;

	if (file)
		list->told = *err;
	if (again)
		err->hint[0] = '\0';
	nw_report_error(err);
	list->failed = true;
}

static int found(void *arg, struct nw_image *image, bool of_many)
{
	struct listing *list = arg;
	struct nw_error err;
	const nw_pids *pids = &list->args->pids;

	/* Many files are looked at in the given processes only: otherwise all processes would be looked at for each file. */
	if (list->args->verbose && (pids->count || !of_many) &&
	    nw_image_find_armed(image, pids->count ? pids->item : NULL, pids->count, &err) <
		    0)
		failed(list, &err, true);
	if (list->args->check)
		check(list, image);
	else if (list->output.format->for_people)
		nw_probe_table_add(&list->table, image);
	else
		list_sites(list, image);
	/* Symbols are read on first use, so reading them may fail only now. */
	if (nw_image_check(image, &err) < 0)
		failed(list, &err, true);
	if (!list->args->check && !list->args->quiet && (!of_many || list->args->verbose))
		name_skipped(list, image);
	/* Similar names come from these files, but not from a large directory tree. */
	struct nw_image **slot = list->images.count < 64 && !list->table.matched
					 ? nw_vec_add(&list->images)
					 : NULL;
	if (slot)
		*slot = image;
	else
		nw_image_free(image);
	return flush(list);
}

/* ---- functions ---------------------------------------------------------------------- */

/* Finds size and source line of a function, and with -v its arguments. If the source cannot be read, one note says why, and
 * *reader becomes NULL. */
static void find_details(struct nw_image *image, const char *symbol, bool arguments,
			 struct nw_reader **reader, struct nw_function_details *out)
{
	struct nw_symbol found;
	struct nw_place_facts place;
	struct nw_error err;

	out->size = 0;
	out->line = (struct nw_source_line){0};
	nw_source_arguments_free(&out->arguments);
	if (nw_image_symbol(image, symbol, strlen(symbol), 0, &found) < 0)
		return;
	out->size = found.size;
	if (!*reader)
		return;
	/* The line's text is valid until the next question. */
	int ret = arguments ? nw_source_arguments_find(*reader, image, symbol, found.value,
						       &out->arguments, &err)
			    : 0;
	if (ret == 0)
		ret = nw_image_place(*reader, image, found.value, &place, &err);
	if (ret == 0) {
		out->line = place.lines.line;
		return;
	}
	nw_note("%s: no source lines: %s", image->path, err.what);
	nw_reader_free(*reader);
	*reader = NULL;
}

/* Finds the functions of a file that the spec names; C++ and Rust functions also by their source names. */
static int functions_of(struct listing *list, struct nw_image *image, const char *name,
			struct nw_error *err)
{
	bool detailed = list->args->functions && !list->args->quiet;
	struct nw_function_details details = {
		.line_width = list->args->plain
				      ? 0
				      : nw_layout_of(list->args, list->sink.file).width};
	struct nw_functions found = {0};
	struct nw_reader *reader = NULL;
	int ret = nw_functions_find(image, name, &found, err);

	if (ret == 0 && detailed && nw_reader_open(&reader) < 0)
		ret = nw_no_memory(err);
	const nw_strings *names = list->args->no_demangle ? &found.symbols : &found.names;
	nw_vec_each (names, shown)
		details.width = nw_max64(details.width, strlen(*shown));
	for (size_t i = 0; ret == 0 && i < found.symbols.count; i++) {
		const char *symbol = found.symbols.item[i];
		details.first = i == 0;
		if (detailed)
			find_details(image, symbol, list->args->verbose > 0, &reader,
				     &details);
		list->output.format->function(&list->output, image, symbol, names->item[i],
					      detailed ? &details : NULL);
		list->table.matched++;
	}
	nw_source_arguments_free(&details.arguments);
	nw_reader_free(reader);
	nw_functions_free(&found);
	return ret;
}

/* Opens the files of func:*: - those that the processes of -p map, or that CMD loads. */
static int open_scope(const struct nw_args *args, const struct nw_spec *spec,
		      nw_images *out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *path = NULL;
	int ret = 0;

	if (!args->pids.count && !args->cmd)
		return nw_no_file_named(spec->text, err);
	for (size_t i = 0; ret == 0 && i < args->pids.count; i++) {
		ret = nw_process_images(args->pids.item[i], true, args->force, out, err);
		if (ret == -ESRCH && args->cgroups.count) /* it has ended since */
			ret = 0;
	}
	if (ret == 0 && args->cmd && (ret = nw_locate(args->cmd[0], &path, err)) == 0)
		ret = nw_locate_needed(path, args->force, out, err);
	return ret;
}

static int open_named(const struct nw_args *args, const struct nw_spec *spec,
		      nw_images *out, struct nw_error *err)
{
	struct nw_image **slot = nw_vec_add(out);

	if (!slot)
		return nw_no_memory(err);
	*slot = NULL;
	return nw_image_of_spec(spec, args->force, slot, err);
}

/* Finds the functions of all files of the spec. It is an error if no file has one. */
static int find_functions(struct listing *list, const struct nw_spec *spec,
			  struct nw_error *err)
{
	size_t before = list->table.matched;
	nw_images images = {0};
	int ret = spec->any_path ? open_scope(list->args, spec, &images, err)
				 : open_named(list->args, spec, &images, err);
	int found = 0;

	nw_vec_each (&images, image)
		if (ret == 0 &&
		    (found = functions_of(list, *image, spec->name, err)) != -ENOENT)
			ret = found;
	if (ret == 0 && list->table.matched == before)
		ret = images.count > 1
			      ? nw_fail(err, ENOENT,
					"there is no function '%s' in any of the %zu files",
					spec->name, images.count)
			      : found;
	nw_images_free(&images);
	return ret;
}

static void list_functions(struct listing *list, const char *word)
{
	struct nw_spec spec = {0};
	struct nw_error err;
	int ret = nw_spec_parse(word, &spec, &err);

	if (ret == 0)
		ret = find_functions(list, &spec, &err);
	if (ret < 0) {
		nw_report_error(&err);
		list->failed = true;
	}
	nw_spec_free(&spec);
	(void)flush(list);
}

/* --functions: the first word names the file, if nothing else does; the others are patterns. */
static void list_named_functions(struct listing *list)
{
	const struct nw_args *args = list->args;
	bool scope = args->pids.count || args->cmd;
	size_t at = args->file || scope ? 0 : 1;
	char *file = (char *)(uintptr_t)(args->file ? args->file
					 : scope    ? ""
						    : args->words.item[0]);
	struct nw_error err;

	do {
		const char *pattern = at < args->words.count ? args->words.item[at] : "*";
		const struct nw_spec spec = {.text = file,
					     .path = file,
					     .any_path = !args->file && scope,
					     .name = (char *)(uintptr_t)pattern};
		if (find_functions(list, &spec, &err) < 0) {
			nw_report_error(&err);
			list->failed = true;
		}
		(void)flush(list);
	} while (++at < args->words.count);
}

/* ---- user_events -------------------------------------------------------------------- */

/* Lists the events that programs have registered, as the words say. */
static void list_user_events(struct listing *list, const char *const *words, size_t count)
{
	nw_user_event_rows rows = {0};
	struct nw_error err;

	if (nw_user_event_rows_read(words, count, &rows, &err) < 0) {
		nw_report_error(&err);
		list->failed = true;
	}
	nw_vec_each (&rows, row) {
		if (list->args->quiet)
			nw_vec_free(&row->fields);
		list->output.format->user_event(&list->output, row);
		list->table.matched++;
	}
	nw_user_event_rows_free(&rows);
	(void)flush(list);
}

/* ---- the command -------------------------------------------------------------------- */

static void print_all(struct listing *list)
{
	const struct nw_finder finder = {list, found, failed};

	list->table = (struct nw_probe_table){
		.output = &list->output,
		.search = &list->search,
		.types = &list->types,
		.names_only = list->args->quiet,
		.sites = list->args->verbose > 0,
		.layout = nw_layout_of(list->args, list->sink.file)};
	if (!list->args->no_pager)
		nw_sink_page(&list->sink);
	if (list->args->functions) {
		list_named_functions(list);
		return;
	}
	nw_vec_each (&list->args->words, word)
		if (nw_names_functions(*word))
			list_functions(list, *word);
		else if (nw_names_user_event(*word))
			list_user_events(list, word, 1);
	if (list->only_functions)
		return;
	if (!list->args->check)
		nw_probe_table_begin(&list->table);
	nw_search_run(&list->search, &finder);
	nw_probe_table_end(&list->table);
	flush(list);
	if (list->table.matched || list->sink.closed)
		return;
	nw_vec_each (&list->search.patterns, spec) {
		struct nw_error err;
		nw_no_match(spec, &list->images, &err);
		nw_report_error(&err);
	}
	if (list->search.patterns.count || list->failed)
		return;
	if (list->search.command && list->images.count)
		nw_note("no USDT notes in '%s', nor in a library that it loads",
			list->images.item[0]->path);
	else
		nw_note("no USDT notes found");
}

static int open_result(struct listing *list, struct nw_error *err)
{
	if (nw_output_make(list->args->format, &list->output) < 0)
		return nw_no_memory(err);
	return nw_sink_open(list->args->output, list->args->format, &list->sink, err);
}

/* Adds the words as specs; these determine where functions are searched. */
static int add_words(struct listing *list, struct nw_error *err)
{
	NW_VEC(const char *) words = {0};
	const struct nw_args *args = list->args;
	bool functions = false;
	int ret = 0;

	if (args->functions && args->check)
		return nw_fail_usage(
			err,
			"--check looks at USDT probes, which --functions leaves out: give one of them");
	if (args->functions)
		return args->words.count || args->file || args->pids.count || args->cmd
			       ? 0
			       : nw_fail_usage(
					 err,
					 "--functions: of which file? nopwatch list --functions FILE [PATTERN...]");
	nw_vec_each (&list->args->words, word) {
		const char **slot = NULL;
		if (nw_names_functions(*word) || nw_names_user_event(*word))
			functions = true;
		else if ((slot = nw_vec_add(&words)))
			*slot = *word;
		else
			ret = nw_no_memory(err);
	}
	list->only_functions = functions && !words.count;
	if (ret == 0 && !list->only_functions)
		ret = nw_search_add(&list->search, words.item, words.count, err);
	nw_vec_free(&words);
	return ret;
}

static int list_all(const struct nw_args *args)
{
	struct listing list = {.args = args,
			       .search = {.file = args->file,
					  .pids = args->pids.item,
					  .pid_count = args->pids.count,
					  .members = args->cgroups.count > 0,
					  .command = args->cmd ? args->cmd[0] : NULL,
					  .force = args->force}};
	struct nw_error err;
	int status;

	if (add_words(&list, &err) < 0 ||
	    nw_types_load(args->types.item, args->types.count, &list.types, &err) < 0) {
		status = nw_failure(&nw_cmd_list, &err);
	} else if (open_result(&list, &err) < 0) {
		nw_report_error(&err);
		status = NW_EXIT_FAILED;
	} else {
		print_all(&list);
		if (nw_sink_close(&list.sink, &err) < 0 && !list.sink.closed) {
			nw_report_error(&err);
			list.failed = true;
		}
		status = list.failed || (!list.table.matched && !list.sink.closed)
				 ? NW_EXIT_FAILED
				 : NW_EXIT_OK;
	}
	nw_search_free(&list.search);
	nw_images_free(&list.images);
	nw_types_free(&list.types);
	nw_output_free(&list.output);
	return status;
}

/* The processes of control groups are taken as if -p named them. */
static int run(const struct nw_args *args)
{
	struct nw_cgroups cgroups = {0};
	struct nw_args with = *args;
	nw_args_pids members = {0};
	struct nw_error err;

	if (!args->cgroups.count)
		return list_all(args);
	int ret = args->pids.count
			  ? nw_fail_usage(&err, "list: -p and %s do not go together",
					  nw_cgroup_options[args->cgroups.item[0].kind])
			  : nw_find_members(args, true, &cgroups, &members, &err);
	with.pids = members;
	int status = ret < 0	     ? nw_failure(&nw_cmd_list, &err)
		     : members.count ? list_all(&with)
				     : NW_EXIT_FAILED;
	nw_vec_free(&members);
	nw_cgroups_free(&cgroups);
	return status;
}

const struct nw_command nw_cmd_list = {
	.name = "list",
	.summary = "what can be probed",
	.usage = "[-p PID | --container NAME | FILE...] [PATTERN...] [-- CMD]",
	.examples = "  nopwatch list ./server\n"
		    "  nopwatch list -p 4711\n"
		    "  nopwatch list -v ./server 'myserver:request*'\n"
		    "  nopwatch list --functions libc.so.6 'mal*'\n"
		    "  nopwatch list -- ls -l\n",
	.details =
		"Lists the USDT probes of files, of all files below a directory, or of all files\n"
		"that a process maps, or that CMD would load (CMD is not run). FILE may be a glob;\n"
		"usdt:*: are the files that running processes map. PATTERN is PROVIDER:NAME or NAME,\n"
		"with * and ?. With -v, one block a site: address, file offset, semaphore, kind of\n"
		"nop, function, in how many processes it is armed and how (see `help status`), and\n"
		"every argument with the fetch argument it becomes.\n"
		"func:FILE:PATTERN lists functions, those of C++ and Rust by the names that their\n"
		"source has; --functions FILE [PATTERN...] also the size of each, and the file and\n"
		"line of its source, if the file has debugging information, and with -v the arguments\n"
		"with their types, and why one has no value. user_events:PATTERN lists the events that\n"
		"programs have registered, with their fields. What it prints is a SPEC for the other\n"
		"commands. --check is for tests of programs that have probes: it lists\n"
		"what is wrong with the notes, and ends with 1 if anything is. Needs neither root nor\n"
		"tracefs, but for user_events.",
	.options = NW_OPTIONS_RESULT NW_OPTIONS_CGROUPS
	"pid exe functions check types quiet verbose plain no-demangle debuginfod force color no-pager",
	.run = run,
};
