// SPDX-License-Identifier: MIT
/* Why a probe does not fire, for other programs. */
#include <stdlib.h>

#include "api.h"

struct nopwatch_answer {
	struct nw_diagnosis diagnosis;
};

/* Hands the answer to the caller, or frees it. */
static int finish(int ret, struct nopwatch_answer *made, struct nopwatch_answer **out,
		  const struct nw_error *err, struct nopwatch_error **error)
{
	if (ret == 0)
		*out = made;
	else
		nopwatch_answer_free(made);
	return nw_api_done(ret, err, error);
}

int nopwatch_why(struct nopwatch_request *request, const char *spec,
		 struct nopwatch_answer **answer, struct nopwatch_error **error)
{
	struct nopwatch_answer *made = calloc(1, sizeof(*made));
	struct nw_error err;
	int ret = made ? nw_api_request(request, &err) : nw_no_memory(&err);

	if (ret == 0)
		ret = nw_find_out_why(&request->request, spec, NULL, &made->diagnosis,
				      &err);
	return finish(ret, made, answer, &err, error);
}

int nopwatch_why_error(const char *message, struct nopwatch_answer **answer,
		       struct nopwatch_error **error)
{
	struct nopwatch_answer *made = calloc(1, sizeof(*made));
	struct nw_error err;
	int ret = made ? nw_diagnose_error(message, &made->diagnosis, &err)
		       : nw_no_memory(&err);

	return finish(ret, made, answer, &err, error);
}

int nopwatch_answer_fires(const struct nopwatch_answer *answer)
{
	return answer->diagnosis.fires;
}

const char *nopwatch_answer_text(const struct nopwatch_answer *answer)
{
	return answer->diagnosis.text;
}

size_t nopwatch_answer_causes(const struct nopwatch_answer *answer)
{
	return answer->diagnosis.reasons.count;
}

const char *nopwatch_answer_cause(const struct nopwatch_answer *answer, size_t cause)
{
	return cause < answer->diagnosis.reasons.count
		       ? nw_cause_table[answer->diagnosis.reasons.item[cause].cause].key
		       : NULL;
}

const char *nopwatch_answer_cause_text(const struct nopwatch_answer *answer, size_t cause)
{
	return cause < answer->diagnosis.reasons.count
		       ? answer->diagnosis.reasons.item[cause].text
		       : NULL;
}

const char *nopwatch_answer_remedy(const struct nopwatch_answer *answer, size_t remedy)
{
	return remedy < answer->diagnosis.remedy.count
		       ? answer->diagnosis.remedy.item[remedy]
		       : NULL;
}

char *nopwatch_answer_json(const struct nopwatch_answer *answer)
{
	struct nw_output output;

	if (nw_output_make(nw_output_find("json"), &output) < 0)
		return NULL;
	output.format->diagnosis(&output, &answer->diagnosis, NULL, false);
	char *text = nw_buf_take(&output.text);
	nw_output_free(&output);
	return text;
}

void nopwatch_answer_free(struct nopwatch_answer *answer)
{
	if (answer)
		nw_diagnosis_free(&answer->diagnosis);
	free(answer);
}
