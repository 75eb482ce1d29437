// SPDX-License-Identifier: MIT
/* A whole trace.dat as `report` reads it: its parts, its table of probes, the formats of its
 * events, its pages, the hits and their values. */
#include "stream/recording/recording.h"
#include "fuzz.h"
#include "stream/pages/stream.h"

static unsigned int sum;

static void use_value(const struct nw_value *value)
{
	switch (value->kind) {
	case NW_VALUE_MISSING:
		PROMISE(value->text && *value->text);
		break;
	case NW_VALUE_STRING:
		for (uint32_t i = 0; i < value->len; i++)
			sum += (unsigned char)value->text[i];
		break;
	case NW_VALUE_ARRAY:
		PROMISE(value->bits);
		for (uint32_t i = 0; i < value->len; i++)
			sum += (unsigned int)nw_value_element(value, i);
		break;
	default:
		sum += (unsigned int)value->number;
	}
}

static void use_hit(const struct nw_hit *hit, const struct nw_plan *plan)
{
	PROMISE(hit->probe < plan->selection->probes.count);
	PROMISE(hit->planned < plan->points.count);
	for (size_t i = 0; hit->values && i < hit->value_count; i++)
		use_value(&hit->values[i]);
}

static void use_record(struct nw_join *join, struct nw_tasks *tasks,
		       const struct nw_record *record, const struct nw_plan *plan)
{
	struct nw_hit hit;

	switch (record->kind) {
	case NW_RECORD_HIT:
	case NW_RECORD_BOTH:
		if (nw_join_push(join, record, &hit) == 1)
			use_hit(&hit, plan);
		break;
	case NW_RECORD_LOSS:
		while (nw_join_loss(join, record, &hit) == 1)
			use_hit(&hit, plan);
		break;
	case NW_RECORD_TASK:
		nw_tasks_record(tasks, record);
		nw_record_exited(record);
		break;
	}
	PROMISE(nw_tasks_get(tasks, record->tid));
}

/* As a summary does, who takes hits many at a time where it can. */
static void use_many(const struct nw_formats *formats, struct nw_stream *stream)
{
	struct nw_record record;
	struct nw_hit hits[16];
	uint64_t before = 0;
	size_t count;

	PROMISE(nw_stream_finish(stream) == 0);
	do {
		while ((count = nw_stream_hits(stream, hits, NW_COUNT(hits))))
			for (size_t i = 0; i < count; i++) {
				PROMISE(hits[i].time >= before);
				before = hits[i].time;
				use_hit(&hits[i], formats->plan);
			}
	} while (nw_stream_next(stream, &record) == 1);
}

static void use_stream(const struct nw_formats *formats, struct nw_stream *stream)
{
	const struct nw_tasks_options options = {0};
	struct nw_tasks *tasks = NULL;
	struct nw_join *join = NULL;
	struct nw_record record;
	struct nw_hit hit;
	uint64_t before = 0;

	PROMISE(nw_tasks_open(&options, &tasks) == 0);
	PROMISE(nw_join_open(formats, true, &join) == 0);
	PROMISE(nw_stream_finish(stream) == 0);
	while (nw_stream_next(stream, &record) == 1) {
		PROMISE(record.time >= before);
		before = record.time;
		use_record(join, tasks, &record, formats->plan);
	}
	while (nw_join_rest(join, &hit) == 1)
		use_hit(&hit, formats->plan);
	nw_join_free(join);
	nw_tasks_free(tasks);
}

static int use_runs(const struct nw_recording *recording, const struct nw_formats *formats,
		    void (*use)(const struct nw_formats *, struct nw_stream *),
		    struct nw_error *err)
{
	struct nw_stream *stream = NULL;
	int ret = nw_stream_open_memory(formats, recording->runs.item,
					recording->runs.count, &stream, err);

	if (ret == 0)
		use(formats, stream);
	nw_stream_free(stream);
	return ret;
}

static void use_formats(struct nw_recording *recording, const struct nw_armed *armed)
{
	struct nw_formats formats = {0};
	struct nw_error err = {0};
	int ret = nw_formats_load(armed, true, recording->header_page,
				  recording->header_page_len, nw_recording_format,
				  recording, &formats, &err);

	if (ret == 0)
		ret = use_runs(recording, &formats, use_stream, &err);
	if (ret == 0)
		ret = use_runs(recording, &formats, use_many, &err);
	if (ret < 0)
		fuzz_error(ret, &err);
	nw_formats_free(&formats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nw_recording recording = {0};
	struct nw_selection selection = {0};
	struct nw_plan plan = {0};
	struct nw_armed armed = {0};
	struct nw_error err = {0};
	void *bytes = fuzz_bytes(data, size);
	int ret = nw_recording_is_one(bytes, size)
			  ? nw_recording_parse(bytes, size, &recording, &err)
			  : 1;

	if (ret == 0) {
		ret = nw_plan_load(recording.table, recording.table_len, &selection, &plan,
				   &armed, NULL, NULL, &err);
		if (ret == 0) {
			use_formats(&recording, &armed);
			nw_armed_free(&armed);
			nw_plan_free(&plan);
			nw_selection_free(&selection);
		}
	}
	if (ret < 0)
		fuzz_error(ret, &err);
	nw_recording_free(&recording);
	free(bytes);
	return 0;
}
