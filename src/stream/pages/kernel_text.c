// SPDX-License-Identifier: MIT
/*
 * Prints kernel events as the kernel does, with libtraceevent, which interprets their print formats. The library
 * trusts a format, and trusts an event to match it, so only events of the running kernel are printed here, never
 * those of a recording.
 */
#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#include "stream/pages/stream.h"

struct nw_kernel_texts {
	struct tep_handle *tep;
	struct trace_seq text;
	NW_VEC(const struct nw_event_format *) known; /* events that it can print */
};

static int add_event(struct nw_kernel_texts *texts, const struct nw_event_format *format,
		     nw_format_reader *read, void *arg)
{
	const struct nw_event *event = format->event;
	struct tep_event *parsed = NULL;
	struct nw_buf text = {0};
	int ret = read(arg, event->system, event->name, &text);

	if (ret == 0 && text.failed)
		ret = -ENOMEM;
	if (ret == 0)
		tep_parse_format(texts->tep, &parsed, nw_buf_str(&text), text.len,
				 event->system);
	nw_buf_free(&text);
	/* The library does not support the format; then the fields are shown, as for a recording. */
	if (!parsed || (unsigned int)parsed->flags & TEP_EVENT_FL_FAILED)
		return ret;
	const struct nw_event_format **slot = nw_vec_add(&texts->known);
	if (!slot)
		return -ENOMEM;
	*slot = format;
	return 0;
}

int nw_kernel_texts_open(const struct nw_formats *formats, nw_format_reader *read,
			 void *arg, struct nw_kernel_texts **out)
{
	struct nw_kernel_texts *texts = NULL;
	int ret = 0;

	*out = NULL;
	nw_vec_each (&formats->events, format) {
		bool of_kernel = (*format)->event && *(*format)->event->system;
		/* The kernel prints nothing of a payload that defines its own fields. */
		if (!of_kernel || (*format)->eventheader)
			continue;
		if (!texts && !(texts = calloc(1, sizeof(*texts))))
			return -ENOMEM;
		if (!texts->tep) {
			texts->tep = tep_alloc();
			trace_seq_init(&texts->text);
			if (!texts->tep) {
				ret = -ENOMEM;
				break;
			}
			tep_set_loglevel(TEP_LOG_NONE);
			tep_set_long_size(texts->tep, (int)formats->page.commit_size);
			tep_set_file_bigendian(texts->tep,
					       tep_is_local_bigendian(texts->tep)
						       ? TEP_BIG_ENDIAN
						       : TEP_LITTLE_ENDIAN);
		}
		ret = add_event(texts, *format, read, arg);
		if (ret < 0)
			break;
	}
	if (ret < 0)
		nw_kernel_texts_free(texts);
	else
		*out = texts;
	return ret;
}

const char *nw_kernel_text(struct nw_kernel_texts *texts, const struct nw_record *record)
{
	struct tep_record event = {
		.ts = record->time,
		.size = (int)record->size,
		.record_size = (int)record->size,
		.data = (void *)record->data, /* the library only reads it */
		.cpu = (int)record->cpu};
	bool known = false;

	nw_vec_each (&texts->known, format)
		known |= *format == record->format;
	if (!known || record->size < record->format->size)
		return NULL;
	trace_seq_reset(&texts->text);
	tep_print_event(texts->tep, &texts->text, &event, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&texts->text);
	if (texts->text.state != TRACE_SEQ__GOOD)
		return NULL;
	while (texts->text.len && strchr(" \n", texts->text.buffer[texts->text.len - 1]))
		texts->text.buffer[--texts->text.len] = '\0';
	return texts->text.buffer;
}

void nw_kernel_texts_free(struct nw_kernel_texts *texts)
{
	if (!texts)
		return;
	if (texts->text.buffer)
		trace_seq_destroy(&texts->text);
	tep_free(texts->tep);
	nw_vec_free(&texts->known);
	free(texts);
}
