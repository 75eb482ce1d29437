// SPDX-License-Identifier: MIT
/* See manage.h. */
#include <errno.h>

#include "manage.h"
#include "request.h"

/* ---- opening ------------------------------------------------------------------------ */

int nw_open_kernel(const struct nw_args *args, struct nw_tracefs *fs,
		   struct nw_features *features, struct nw_error *err)
{
	const struct nw_request request = nw_kernel_request(args);

	return nw_request_kernel(&request, args->dry_run, fs, features, err);
}

int nw_management_open(struct nw_management *m, const struct nw_args *args, bool read_only,
		       struct nw_error *err)
{
	*m = (struct nw_management){.args = args,
				    .fs = {.root = -1},
				    .options = {.instance = args->instance,
						.enable = args->enable,
						.foreign = args->foreign,
						.force = args->force}};
	int ret = nw_open_kernel(args, &m->fs, &m->features, err);

	return ret < 0 ? ret
		       : nw_manager_open(&m->fs, &m->features, read_only || args->dry_run,
					 &m->manager, err);
}

void nw_management_close(struct nw_management *m)
{
	nw_manager_close(m->manager);
	nw_tracefs_close(&m->fs);
}

/* ---- words -------------------------------------------------------------------------- */

struct nw_scope nw_management_scope(const struct nw_args *args)
{
	return (struct nw_scope){.pids = args->pids.item,
				 .pid_count = args->pids.count,
				 .file = args->file,
				 .force = args->force,
				 .no_demangle = args->no_demangle,
				 .want_operands = true};
}

int nw_management_pick(const struct nw_management *m, struct nw_pick *pick,
		       struct nw_error *err)
{
	const struct nw_scope scope = nw_management_scope(m->args);

	pick->words = m->args->words.item;
	pick->count = m->args->words.count;
	pick->scope = &scope;
	pick->options = &m->options;
	int ret = nw_manager_pick(m->manager, pick, err);
	pick->scope = NULL;
	return ret;
}

int nw_management_plan(const struct nw_management *m, const struct nw_selection *selection,
		       struct nw_plan *out, struct nw_error *err)
{
	return nw_manager_plan(m->manager, selection, m->args->group,
			       (uint32_t)m->args->string_size, m->args->kernel_strings, out,
			       err);
}

/* ---- the end ------------------------------------------------------------------------ */

int nw_management_finish(struct nw_management *m, struct nw_error *err)
{
	struct nw_output output;
	struct nw_sink sink;
	int ret = nw_sink_open(m->args->output, m->args->format, &sink, err);

	if (ret < 0)
		return ret;
	if (nw_output_make(m->args->format, &output) < 0)
		ret = nw_no_memory(err);
	else if (m->args->dry_run)
		nw_manager_print(m->manager, &output.text);
	else
		ret = nw_manager_do(m->manager, err);
	if (!m->args->quiet)
		nw_vec_each (nw_manager_notes(m->manager), note)
			nw_note("%s", *note);
	bool shows = !output.format->for_people || !m->args->quiet;
	if (ret == 0 && !m->args->dry_run && shows)
		nw_vec_each (nw_manager_changes(m->manager), change)
			output.format->change(&output, change);
	ret = nw_sink_finish(&sink, ret, &output.text, err);
	nw_output_free(&output);
	if (ret == 0 && nw_manager_left(m->manager)->count) {
		ret = nw_fail(err, EBUSY, "%s", nw_manager_left(m->manager)->item[0]);
		nw_error_hint(err, "once nobody does, `nopwatch clean` takes it away");
	}
	return ret;
}
