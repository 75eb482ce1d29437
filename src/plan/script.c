// SPDX-License-Identifier: MIT
/*
 * A plan as a shell script. script.sh, which is part of the library, is the same in every script; this file writes
 * what differs: files, events, header. Names and paths are hostile, so they are quoted wherever a shell reads them.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "plan_private.h"

enum {
	DEFAULT_BUFFER_KB = 4096,
	COUNTING_BUFFER_KB = 256, /* for births and ends of threads, if at all */
	/* file descriptors that every shell can name, and that it does not use itself */
	FIRST_FD = 3,
	LAST_FD = 9,
	PATH_MOST = 1024
};

extern const char nw_script_body[];

/* Embeds the file as it is, with a NUL behind it. */
__asm__(".pushsection .rodata\n"
	".globl nw_script_body\n"
	"nw_script_body:\n"
	".incbin \"src/plan/script.sh\"\n"
	".byte 0\n"
	".popsection\n");

/* ---- files -------------------------------------------------------------------------- */

/* Can the path stand in a definition, and be read by people, as it is? */
static bool is_plain_path(const char *path)
{
	if (!nw_path_is_writable(path) || strlen(path) >= PATH_MOST)
		return false;
	for (; *path; path++)
		if (!isalnum((unsigned char)*path) && !strchr("/._+-@%=,~", *path))
			return false;
	return true;
}

static void write_id(const struct nw_script_file *file, struct nw_buf *out)
{
	if (!file->id_len) {
		nw_buf_adds(out, " -1 ''");
		return;
	}
	nw_buf_printf(out, " %" PRIu64 " '", file->id_line);
	for (size_t i = 0; i < file->id_len; i++)
		nw_buf_printf(out, "\\0%03o", file->id[i]);
	nw_buf_addc(out, '\'');
}

static int write_files(const struct nw_plan *plan, const struct nw_script_options *options,
		       struct nw_buf *out, struct nw_error *err)
{
	int fd = FIRST_FD;

	nw_buf_adds(out, "nw_files() {\n");
	for (size_t i = 0; i < plan->selection->images.count; i++) {
		const struct nw_script_file *file = &options->files[i];
		bool plain = is_plain_path(file->path);
		if (*file->path != '/')
			return nw_fail(err, EINVAL, "'%s' is not an absolute path",
				       file->path);
		if (!plain && fd > LAST_FD)
			return nw_fail(
				err, EINVAL,
				"too many files have paths with special characters; at most %d can",
				LAST_FD - FIRST_FD + 1);
		nw_buf_printf(out, "  nw_file %zu ", i);
		nw_buf_add_shell(out, file->path);
		nw_buf_printf(out, " %" PRIu64 " %" PRIu64, file->size, file->lines);
		write_id(file, out);
		nw_buf_printf(out, " %d\n", plain ? 0 : fd++);
	}
	nw_buf_adds(out, "}\n\n");
	return 0;
}

/* ---- events ------------------------------------------------------------------------- */

static void write_event(const struct nw_plan *plan, const struct nw_event *event,
			struct nw_buf *out)
{
	const struct nw_event_site *place = &event->places.item[0];
	const struct nw_point *point = nw_plan_point(plan, place);

	nw_buf_printf(out, "  nw_event %c %s %zu 0x%" PRIx64 " ",
		      event->is_return ? 'r' : 'p', event->name,
		      nw_plan_image(plan->selection, point->image), point->offset);
	if (point->semaphore_offset)
		nw_buf_printf(out, "0x%" PRIx64 " ", point->semaphore_offset);
	else
		nw_buf_adds(out, "'' ");
	nw_buf_add_shell(out, place->fetches);
	nw_buf_addc(out, '\n');
}

/* ---- counting ------------------------------------------------------------------------- */

/* Writes a word for a shell, with its own group in place of the plan's. */
static void write_word(const struct nw_plan *plan, const char *text, struct nw_buf *out)
{
	const size_t len = strlen(plan->group);

	nw_buf_addc(out, ' ');
	for (const char *at; (at = strstr(text, plan->group)); text = at + len) {
		nw_cleanup(nw_free_ptr) char *before = strndup(text, (size_t)(at - text));
		out->failed |= !before;
		if (before && *before)
			nw_buf_add_shell(out, before);
		nw_buf_adds(out, "\"$nw_group\"");
	}
	if (*text)
		nw_buf_add_shell(out, text);
}

static void write_trigger(const struct nw_plan *plan, const struct nw_hist_trigger *trigger,
			  struct nw_buf *out)
{
	nw_buf_adds(out, "  nw_hist");
	write_word(plan, trigger->synthetic ? "synthetic" : plan->group, out);
	write_word(plan, trigger->event, out);
	write_word(plan, trigger->text, out);
	nw_buf_addc(out, ' ');
	nw_buf_add_shell(out, trigger->filter);
	nw_buf_adds(out, trigger->paused ? " yes\n" : " ''\n");
}

void nw_script_triggers(const struct nw_plan *plan, const struct nw_triggers *triggers,
			const char *rows, struct nw_buf *out)
{
	nw_buf_printf(
		out,
		"# shellcheck disable=SC2016 # the kernel's variables\nnw_hists_%s() {\n",
		rows);
	nw_vec_each (&triggers->list, trigger)
		write_trigger(plan, trigger, out);
	nw_buf_adds(out, "}\n\n");
}

void nw_script_maps(const struct nw_plan *plan, const struct nw_triggers *triggers,
		    struct nw_buf *out)
{
	nw_buf_adds(out, "nw_synthetic_of_this() {\n");
	nw_vec_each (&triggers->synthetic, definition) {
		nw_buf_adds(out, "  nw_synthetic");
		write_word(plan, *definition, out);
		nw_buf_addc(out, '\n');
	}
	/* Latencies are read first, then the ends and then the starts: see nw_kernel_counts_read(). */
	nw_buf_adds(out, "}\n\nnw_maps_of_this() {\n");
	for (size_t i = triggers->synthetic.count; i-- > 1;) {
		const char *definition = triggers->synthetic.item[i];
		nw_cleanup(nw_free_ptr) char *name = strndup(definition,
							     strcspn(definition, " "));
		out->failed |= !name;
		if (!name)
			return;
		nw_buf_adds(out, "  nw_map synthetic");
		write_word(plan, name, out);
		nw_buf_printf(out, " %s\n", name);
	}
	for (size_t i = plan->events.count; i-- > 0;)
		nw_buf_printf(out, "  nw_map \"$nw_group\" %s %s\n",
			      plan->events.item[i]->name, plan->events.item[i]->name);
	nw_buf_adds(out, "}\n\n");
}

/* ---- the ring buffer ----------------------------------------------------------------- */

static void write_setting(const struct nw_script_options *options,
			  const struct nw_setting *setting, const char *value,
			  struct nw_buf *out)
{
	/* When the kernel counts, records of births say whose a thread is that has ended. */
	const bool births = options->counting && options->tasks;

	if (options->counting && setting->own && !options->tasks)
		return;
	nw_buf_printf(out, "  %s%snw_put \"$nw_dir/%s\" %s\n",
		      setting->own ? "[ -z \"$nw_instance\" ] || " : "",
		      setting->heirs && !births ? "[ -z \"$nw_heirs\" ] || " : "",
		      setting->file, value);
}

/* ---- the header --------------------------------------------------------------------- */

/* The plan's words are escaped, so no line can end the here-document early. */
static void write_header(const char *plan, struct nw_buf *out)
{
	nw_buf_adds(out, "nw_header() {\n  cat <<'NW_END'\n");
	for (size_t len; *plan; plan += len) {
		len = strcspn(plan, "\n") + 1;
		nw_buf_adds(out, "#nw ");
		nw_buf_add(out, plan, len);
	}
	nw_buf_adds(out, "NW_END\n}\n\n");
}

/* ---- the script --------------------------------------------------------------------- */

static void write_options(const struct nw_script_options *options, const char *plan,
			  struct nw_buf *out)
{
	/* the same plan makes the same script */
	nw_buf_printf(out, "nw_id=%ssh%06" PRIx64 "\n", nw_session_prefix,
		      nw_hash_text(plan, strlen(plan)) & 0xffffff);
	nw_buf_adds(out, "nw_pids='");
	for (size_t i = 0; i < options->pid_count; i++)
		nw_buf_printf(out, "%s%d", i ? " " : "", (int)options->pids[i]);
	nw_buf_adds(out, "'\n");
	/* Seconds with as many decimals as they have */
	uint64_t ms = (options->duration_ns + 999999) / 1000000;
	nw_buf_adds(out, "nw_seconds=");
	if (options->duration_ns && ms % 1000)
		nw_buf_printf(out, "%" PRIu64 ".%03" PRIu64, ms / 1000, ms % 1000);
	else if (options->duration_ns)
		nw_buf_printf(out, "%" PRIu64, ms / 1000);
	nw_buf_addc(out, '\n');
	const uint64_t usual = options->counting ? COUNTING_BUFFER_KB : DEFAULT_BUFFER_KB;
	nw_buf_printf(out, "nw_buffer_kb=%" PRIu64 "\n",
		      options->buffer_bytes ? (options->buffer_bytes + 1023) / 1024
					    : usual);
	nw_buf_printf(out, "nw_counts=%s\nnw_tasks=%s\n", options->counting ? "yes" : "",
		      options->tasks ? "yes" : "");
	nw_buf_printf(out, "nw_force=%s\n\n", options->force ? "yes" : "");
}

int nw_script_make(const struct nw_armed *armed, const struct nw_script_options *options,
		   struct nw_buf *out, struct nw_error *err)
{
	const struct nw_plan *plan = armed->plan;
	struct nw_buf saved = {0};

	nw_plan_save(armed, &saved);
	nw_buf_adds(out,
		    "#!/bin/sh\n"
		    "# Made by nopwatch " NOPWATCH_VERSION
		    ". Run as root: sh SCRIPT >FILE, then nopwatch report --from FILE;\n"
		    "# or: ssh HOST sh <SCRIPT | nopwatch report --from -\n#\n");
	nw_vec_each (&plan->selection->probes, probe) {
		nw_buf_adds(out, "#   ");
		nw_buf_add_escaped(out, (*probe)->label, strlen((*probe)->label));
		nw_buf_addc(out, '\n');
	}
	nw_buf_addc(out, '\n');
	write_options(options, nw_buf_str(&saved), out);
	int ret = write_files(plan, options, out, err);
	nw_buf_adds(out, "nw_events_of_this() {\n");
	nw_vec_each (&armed->events, event)
		if ((*event)->defined)
			write_event(armed->plan, (*event)->planned, out);
	nw_buf_adds(out, "}\n\n");
	/* Writes the settings that a session makes just before it enables, those that are put back after the last
	 * event is disabled, and those that a top-level buffer gets back, by their names in the note. */
	nw_buf_printf(out, "nw_clocks_wanted='%s'\nnw_noted='",
		      nw_settings[NW_SETTING_CLOCK].value);
	for (size_t i = 0; i < NW_SETTING_COUNT; i++)
		if (nw_settings[i].note)
			nw_buf_printf(out, " %s:%s", nw_settings[i].note,
				      nw_settings[i].file);
	nw_buf_adds(out, "'\n\nnw_before_arming() {\n");
	for (size_t i = 0; i < NW_SETTING_COUNT; i++)
		if (nw_settings[i].script)
			write_setting(options, &nw_settings[i], nw_settings[i].value, out);
	nw_buf_adds(out, "}\n\nnw_after_disarming() {\n  :\n");
	for (size_t i = 0; i < NW_SETTING_COUNT; i++)
		if (nw_settings[i].script && nw_settings[i].after)
			write_setting(options, &nw_settings[i], nw_settings[i].after, out);
	nw_buf_adds(out, "}\n\n");
	nw_buf_adds(out, options->counting ? options->counting : "");
	write_header(options->header ? options->header : nw_buf_str(&saved), out);
	nw_buf_adds(out, nw_script_body);
	bool failed = saved.failed || out->failed;
	nw_buf_free(&saved);
	return ret == 0 && failed ? nw_no_memory(err) : ret;
}
