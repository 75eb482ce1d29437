// SPDX-License-Identifier: MIT
/* list: what can be probed in files, directories and processes. Needs no privileges. */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"

struct listing {
	const struct nw_args *args;
	struct nw_sink sink;
	bool full;			 /* it cannot be written, and that was said */
	NW_VEC(struct nw_spec) patterns; /* none: everything */
	nw_strings places;		 /* files and directories */
	struct nw_types types;
	struct nw_table table;
	struct nw_output output;
	nw_images kept; /* for near names, if nothing matches */
	size_t matched;
	bool walking; /* below a directory: files without notes are not worth a word */
	bool failed;
	struct nw_error err;  /* of the output */
	struct nw_error told; /* the last one about a file */
};

static bool matches_any(const struct listing *list, const char *provider, const char *name)
{
	nw_vec_each (&list->patterns, spec)
		if (nw_spec_matches(spec, provider, name))
			return true;
	return list->patterns.count == 0;
}

/* ---- one row a probe ---------------------------------------------------------------- */

struct row {
	const struct nw_site *first;
	size_t sites;
	size_t semaphores; /* different ones */
	uint64_t last_semaphore;
};

/* The same for every probe of a file. */
static void spec_start(const struct nw_image *image, struct nw_buf *out)
{
	nw_buf_adds(out, "usdt:");
	nw_buf_add_escaped(out, image->path, strlen(image->path));
	nw_buf_addc(out, ':');
}

static void spec_text(const struct nw_buf *start, const struct nw_site *site,
		      struct nw_buf *out)
{
	nw_buf_add(out, start->data, start->len);
	nw_buf_add_escaped(out, site->provider, strlen(site->provider));
	nw_buf_addc(out, ':');
	nw_buf_add_escaped(out, site->name, strlen(site->name));
}

static void print_row(struct listing *list, const struct nw_buf *start,
		      const struct row *row)
{
	struct nw_table *table = &list->table;

	if (list->args->quiet) {
		spec_text(start, row->first, &list->output.text);
		nw_buf_addc(&list->output.text, '\n');
		return;
	}
	spec_text(start, row->first, &table->text);
	nw_table_end_cell(table);
	nw_table_number(table, row->sites);
	if (row->semaphores > 1)
		nw_table_number(table, row->semaphores);
	else
		nw_table_text(table, row->semaphores ? "yes" : "-");
	nw_table_number(table, nw_operands_count(row->first->args));
}

static void add_site(struct row *row, const struct nw_site *site)
{
	if (!row->first)
		row->first = site;
	row->sites++;
	if (site->semaphore_vaddr && site->semaphore_vaddr != row->last_semaphore) {
		row->semaphores++;
		row->last_semaphore = site->semaphore_vaddr;
	}
}

/* Sites of one name together; the index keeps this linear (libjvm.so has over 500). */
static int collect_rows(struct listing *list, const struct nw_image *image,
			struct nw_index *index, struct row **out)
{
	struct row *rows = calloc(image->sites.count + 1, sizeof(*rows));
	struct nw_buf key = {0};

	nw_vec_each (&image->sites, site) {
		if (!matches_any(list, site->provider, site->name))
			continue;
		list->matched++;
		nw_buf_clear(&key);
		nw_buf_adds(&key, site->provider);
		nw_buf_addc(&key, ':');
		nw_buf_adds(&key, site->name);
		int64_t number = nw_index_add(index, nw_buf_str(&key), key.len);
		if (number >= 0 && rows)
			add_site(&rows[number], site);
	}
	nw_buf_free(&key);
	*out = rows;
	return rows ? 0 : -ENOMEM;
}

static void print_sites(struct listing *list, struct nw_image *image, const struct row *row)
{
	nw_vec_each (&image->sites, site)
		if (strcmp(site->provider, row->first->provider) == 0 &&
		    strcmp(site->name, row->first->name) == 0)
			list->output.format->site(&list->output, image, site, &list->types);
}

static void list_text(struct listing *list, struct nw_image *image)
{
	struct nw_index index = {0};
	struct nw_buf start = {0};
	struct row *rows;

	if (collect_rows(list, image, &index, &rows) < 0)
		list->output.text.failed = true;
	spec_start(image, &start);
	for (size_t i = 0; rows && i < index.text.count; i++) {
		if (!list->args->verbose) {
			print_row(list, &start, &rows[i]);
			continue;
		}
		spec_text(&start, rows[i].first, &list->output.text);
		nw_buf_addc(&list->output.text, '\n');
		print_sites(list, image, &rows[i]);
	}
	list->output.text.failed |= start.failed;
	free(rows);
	nw_buf_free(&start);
	nw_index_free(&index);
}

/* ---- one object a site -------------------------------------------------------------- */

static void list_sites(struct listing *list, struct nw_image *image)
{
	const struct nw_output_format *format = list->output.format;

	nw_vec_each (&image->sites, site) {
		if (!matches_any(list, site->provider, site->name))
			continue;
		list->matched++;
		format->site(&list->output, image, site, &list->types);
	}
	nw_vec_each (&image->skipped, skipped)
		if (!*skipped->name || matches_any(list, skipped->provider, skipped->name))
			format->skipped(&list->output, image, skipped);
}

/* ---- images ------------------------------------------------------------------------- */

static void name_skipped(const struct listing *list, const struct nw_image *image)
{
	nw_vec_each (&image->skipped, skipped) {
		struct nw_buf name = {0};
		if (*skipped->name && !matches_any(list, skipped->provider, skipped->name))
			continue;
		nw_buf_add_escaped(&name, skipped->provider, strlen(skipped->provider));
		nw_buf_addc(&name, ':');
		nw_buf_add_escaped(&name, skipped->name, strlen(skipped->name));
		nw_note("%s: skipped the note of %s: %s", image->path,
			*skipped->name ? nw_buf_str(&name) : "an unknown probe",
			skipped->why);
		nw_buf_free(&name);
	}
}

/* Near names come from the files searched, but not from a whole tree of them. */
static void keep_or_free(struct listing *list, struct nw_image *image)
{
	struct nw_image **slot = list->kept.count < 64 && !list->matched
					 ? nw_vec_add(&list->kept)
					 : NULL;

	if (slot)
		*slot = image;
	else
		nw_image_free(image);
}

/* What there is so far. An output that cannot be written is told once, and ends the list. */
static int flush(struct listing *list)
{
	int ret = list->full ? -ENOSPC
			     : nw_sink_write(&list->sink, &list->output.text, &list->err);

	if (ret < 0 && !list->sink.closed && !list->full) {
		nw_report_error(&list->err);
		list->full = list->failed = true;
	}
	return ret;
}

static int list_image(struct nw_image *image, void *arg)
{
	struct listing *list = arg;

	if (list->output.format->for_people)
		list_text(list, image);
	else
		list_sites(list, image);
	if (!list->args->quiet && (!list->walking || list->args->verbose))
		name_skipped(list, image);
	keep_or_free(list, image);
	return flush(list);
}

/* What to do is said once for all files that have the same trouble in a row. */
static void report_file(struct listing *list, struct nw_error *err)
{
	bool again = strcmp(err->hint, list->told.hint) == 0;

	list->told = *err;
	if (again)
		err->hint[0] = '\0';
	nw_report_error(err);
	list->failed = true;
}

static void list_file(struct listing *list, const char *path)
{
	struct nw_error err = {0};
	struct nw_image *image;

	if (nw_image_open(path, list->args->force, &image, &err) < 0) {
		report_file(list, &err);
		return;
	}
	if (image->notes != NW_NOTES_FOUND) {
		nw_image_explain(image, &err);
		report_file(list, &err);
	}
	list_image(image, list);
}

/* All files that a pattern finds; those that have nothing to list are passed over. */
static void list_globbed(struct listing *list, const char *pattern)
{
	struct nw_error err;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0) {
		nw_fail(&err, ENOENT, "no file matches '%s'", pattern);
		report_file(list, &err);
		return;
	}
	list->walking = true;
	for (size_t i = 0; i < found.gl_pathc && !list->sink.closed && !list->full; i++) {
		struct nw_image *image;
		if (nw_image_open(found.gl_pathv[i], list->args->force, &image, NULL) < 0)
			continue;
		if (image->notes == NW_NOTES_FOUND)
			list_image(image, list);
		else
			nw_image_free(image);
	}
	list->walking = false;
	globfree(&found);
}

/* What running processes map. */
static void list_running(struct listing *list)
{
	nw_images images = {0};
	struct nw_error err;

	if (nw_running_images(list->args->force, &images, &err) < 0)
		report_file(list, &err);
	list->walking = true;
	nw_vec_each (&images, image)
		list_image(*image, list);
	list->walking = false;
	nw_vec_free(&images); /* list_image() has taken them */
}

static void list_place(struct listing *list, const char *place)
{
	struct stat st;
	struct nw_error err;

	if (strcmp(place, "*") == 0) {
		list_running(list);
		return;
	}
	if (stat(place, &st) < 0 && nw_has_glob(place)) {
		list_globbed(list, place);
		return;
	}
	if (stat(place, &st) < 0 || !S_ISDIR(st.st_mode)) {
		list_file(list, place);
		return;
	}
	list->walking = true;
	if (nw_walk(place, list->args->force, list_image, list, &err) < 0 &&
	    !list->sink.closed && !list->full) {
		nw_report_error(list->err.code ? &list->err : &err);
		list->failed = true;
	}
	list->walking = false;
}

static void list_process(struct listing *list, pid_t pid)
{
	nw_images images = {0};
	struct nw_error err;

	if (nw_process_images(pid, false, list->args->force, &images, &err) < 0) {
		nw_report_error(&err);
		list->failed = true;
	}
	nw_vec_each (&images, image)
		list_image(*image, list);
	nw_vec_free(&images); /* list_image() has taken them */
}

/* ---- the command line --------------------------------------------------------------- */

static int add_pattern(struct listing *list, const char *word, struct nw_error *err)
{
	struct nw_spec spec, *slot;
	int ret = nw_spec_parse(word, &spec, err);

	if (ret < 0)
		return ret;
	if (spec.kind != NW_SPEC_USDT) {
		nw_spec_free(&spec);
		return nw_fail_usage(err, "'%s': only USDT probes can be listed", word);
	}
	bool scoped = list->args->pids.count || list->args->file;
	if (*spec.path)
		ret = nw_strings_add(&list->places, spec.path, strlen(spec.path));
	else if (spec.any_path && !scoped)
		ret = nw_strings_add(&list->places, "*", 1);
	slot = ret == 0 ? nw_vec_add(&list->patterns) : NULL;
	if (!slot) {
		nw_spec_free(&spec);
		return nw_no_memory(err);
	}
	*slot = spec;
	return 0;
}

/* A word is a file if there is one, or if it can only be one; else a pattern. */
static int add_word(struct listing *list, const char *word, struct nw_error *err)
{
	bool elsewhere = list->args->pids.count || list->args->file;
	char *located;
	struct stat st;

	bool is_spec = strncmp(word, "usdt:", 5) == 0;
	if (!is_spec && (stat(word, &st) == 0 || (strchr(word, '/') && !strchr(word, ':'))))
		return nw_strings_add(&list->places, word, strlen(word)) < 0
			       ? nw_no_memory(err)
			       : 0;
	if (strchr(word, ':') || nw_has_glob(word) || elsewhere ||
	    nw_locate(word, &located, NULL) < 0)
		return add_pattern(list, word, err);
	int ret = nw_strings_add(&list->places, located, strlen(located));
	free(located);
	return ret < 0 ? nw_no_memory(err) : 0;
}

static int read_words(struct listing *list, struct nw_error *err)
{
	int ret = 0;

	if (list->args->file)
		ret = nw_strings_add(&list->places, list->args->file,
				     strlen(list->args->file));
	nw_vec_each (&list->args->words, word)
		if (ret == 0)
			ret = add_word(list, *word, err);
	if (ret == 0 && !list->places.count && !list->args->pids.count)
		ret = nw_fail_usage(
			err, "nothing to look into: give files, directories or -p PID");
	return ret;
}

/* Bare names in specs: programs and libraries. */
static void locate_places(struct listing *list)
{
	nw_vec_each (&list->places, place) {
		struct nw_error err;
		struct stat st;
		char *path;
		if (strchr(*place, '/') || nw_has_glob(*place) || stat(*place, &st) == 0)
			continue;
		if (nw_locate(*place, &path, &err) < 0)
			continue; /* list_file() says that there is no such file */
		free(*place);
		*place = path;
	}
}

static void say_nothing_matched(struct listing *list)
{
	struct nw_error err;

	nw_vec_each (&list->patterns, spec) {
		nw_no_match(spec, &list->kept, &err);
		nw_report_error(&err);
	}
	if (!list->patterns.count && !list->failed)
		nw_note("no USDT notes found");
}

static void print_table(struct listing *list)
{
	if (list->table.cells.count > list->table.columns)
		nw_table_print(&list->table, nw_use_color(list->args, stdout),
			       &list->output.text);
	nw_table_free(&list->table);
	flush(list);
}

static void print_all(struct listing *list)
{
	static const char *const headers[] = {"PROBE", "SITES", "SEMAPHORE", "ARGS"};
	static const bool left[NW_COUNT(headers)] = {true};

	list->table = (struct nw_table){.columns = NW_COUNT(headers), .left = left};
	for (size_t i = 0; i < NW_COUNT(headers); i++)
		nw_table_text(&list->table, headers[i]);
	locate_places(list);
	nw_vec_each (&list->places, place)
		if (!list->sink.closed && !list->full)
			list_place(list, *place);
	nw_vec_each (&list->args->pids, pid)
		if (!list->sink.closed && !list->full)
			list_process(list, *pid);
	print_table(list);
	if (!list->matched && !list->sink.closed)
		say_nothing_matched(list);
}

static int open_result(struct listing *list, struct nw_error *err)
{
	if (nw_output_make(list->args->format, &list->output) < 0)
		return nw_no_memory(err);
	return nw_sink_open(list->args, &list->sink, err);
}

static int run(const struct nw_args *args)
{
	struct listing list = {.args = args};
	struct nw_error err;
	int status;

	if (read_words(&list, &err) < 0 || nw_load_types(args, &list.types, &err) < 0) {
		status = nw_failure(&nw_cmd_list, &err);
	} else if (open_result(&list, &err) < 0) {
		nw_report_error(&err);
		status = NW_EXIT_FAILED;
	} else {
		nw_sink_page(&list.sink, args);
		print_all(&list);
		if (nw_sink_close(&list.sink, &err) < 0 && !list.sink.closed) {
			nw_report_error(&err);
			list.failed = true;
		}
		status = list.failed || (!list.matched && !list.sink.closed)
				 ? NW_EXIT_FAILED
				 : NW_EXIT_OK;
	}
	nw_vec_each (&list.patterns, spec)
		nw_spec_free(spec);
	nw_vec_free(&list.patterns);
	nw_strings_free(&list.places);
	nw_images_free(&list.kept);
	nw_types_free(&list.types);
	nw_output_free(&list.output);
	return status;
}

const struct nw_command nw_cmd_list = {
	.name = "list",
	.summary = "what can be probed",
	.usage = "[-p PID | FILE...] [PATTERN...]",
	.details = "Lists the USDT probes of files, of all files below a directory, or of "
		   "all files\n"
		   "that a process maps. FILE may be a glob; usdt:*: are the files that "
		   "running processes\n"
		   "map. PATTERN is PROVIDER:NAME or NAME, with * and ?. "
		   "With -v, one\n"
		   "block a site: address, file offset, semaphore, kind of nop, function, "
		   "and every\n"
		   "argument with the fetch argument it becomes. What it prints is a SPEC "
		   "for the\n"
		   "other commands. Needs neither root nor tracefs.",
	.options = "pid exe types format json output quiet verbose force color "
		   "no-pager",
	.run = run,
};
