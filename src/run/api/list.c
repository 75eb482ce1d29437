// SPDX-License-Identifier: MIT
/* Lists probes as JSON. */
#include <errno.h>
#include <stdlib.h>

#include "api.h"

struct listing {
	const struct nw_request *request;
	struct nw_search search;
	struct nw_output output;
	nopwatch_found_fn *found;
	void *arg;
	bool stopped;
	bool failed; /* there was no memory */
};

/* Hands out the object that the format has written. */
static void hand_out(struct listing *list)
{
	struct nw_buf *text = &list->output.text;

	list->failed |= text->failed;
	if (text->len && !list->failed && !list->stopped) {
		nw_buf_cut(text, text->len - 1); /* the end of the line */
		list->stopped = list->found(list->arg, nw_buf_str(text)) != 0;
	}
	nw_buf_clear(text);
}

static void failed(void *arg, struct nw_error *err, bool file)
{
	const struct listing *list = arg;

	(void)file;
	if (list->request->notice)
		list->request->notice(list->request->notice_arg, err->what);
}

static int found(void *arg, struct nw_image *image, bool of_many)
{
	struct listing *list = arg;
	struct nw_error err;

	(void)of_many;
	nw_vec_each (&image->sites, site) {
		if (!nw_search_wants(&list->search, site->provider, site->name))
			continue;
		list->output.format->site(&list->output, image, site, list->request->types);
		hand_out(list);
	}
	/* Symbols are read on first use, so reading them may fail only now. */
	if (nw_image_check(image, &err) < 0)
		failed(list, &err, true);
	nw_image_free(image);
	return list->stopped || list->failed;
}

static int list_functions(struct listing *list, const struct nw_spec *spec,
			  struct nw_error *err)
{
	struct nw_functions functions = {0};
	struct nw_image *image = NULL;
	int ret = nw_functions_of_spec(spec, list->request->force, &image, &functions, err);

	for (size_t i = 0; ret == 0 && i < functions.symbols.count && !list->stopped; i++) {
		list->output.format->function(&list->output, image,
					      functions.symbols.item[i],
					      functions.names.item[i], NULL);
		hand_out(list);
	}
	nw_functions_free(&functions);
	nw_image_free(image);
	return ret == -ENOENT ? 0 : ret;
}

static int list_word(struct listing *list, const char *word, struct nw_error *err)
{
	const struct nw_finder finder = {list, found, failed};
	struct nw_spec spec = {0};
	bool functions = word && nw_names_functions(word);
	int ret = functions ? nw_spec_parse(word, &spec, err)
			    : nw_search_add(&list->search, &word, word ? 1 : 0, err);

	if (ret == 0 && functions)
		ret = list_functions(list, &spec, err);
	else if (ret == 0)
		nw_search_run(&list->search, &finder);
	nw_spec_free(&spec);
	return ret == 0 && list->failed ? nw_no_memory(err) : ret;
}

int nopwatch_list(struct nopwatch_request *request, const char *word,
		  nopwatch_found_fn *take, void *arg, struct nopwatch_error **error)
{
	struct nopwatch_request *own = request ? NULL : nopwatch_request_new();
	struct nopwatch_request *used = request ? request : own;
	struct nw_error err;
	int ret = used ? nw_api_request(used, &err) : nw_no_memory(&err);

	if (ret == 0) {
		struct listing list = {
			.request = &used->request,
			.search = {.file = used->file,
				   .pids = used->pids.item,
				   .pid_count = used->pids.count,
				   .force = used->request.force},
			.found = take,
			.arg = arg,
		};
		ret = nw_output_make(nw_output_find("json"), &list.output) < 0
			      ? nw_no_memory(&err)
			      : list_word(&list, word, &err);
		nw_output_free(&list.output);
		nw_search_free(&list.search);
	}
	nopwatch_request_free(own);
	return nw_api_done(ret, &err, error);
}
