// SPDX-License-Identifier: MIT
/* JSON lines of a summary, as `report` reads them: an error, or rows that can be merged and printed. */
#include "show/json/json_result.h"
#include "fuzz.h"
#include "show/formats.h"

/* The output for hostile lines agrees with itself, so it is read again. */
static void read_again(const struct nw_output *output)
{
	static const char end[] = "{\"type\":\"end\"}\n";
	struct nw_json_result result;
	struct nw_error err = {0};
	struct nw_buf text = {0};

	nw_buf_add(&text, output->text.data, output->text.len);
	nw_buf_add(&text, end, strlen(end));
	PROMISE(!text.failed);
	PROMISE(nw_json_result_read("again", text.data, text.len, &result, &err) == 0);
	nw_json_result_free(&result);
	nw_buf_free(&text);
}

static void print(const struct nw_json_result *result, const struct nw_merged *merged)
{
	const struct nw_report report = {
		.selection = &merged->selection,
		.summary = merged->summary,
		.spans = merged->spans.item,
		.span_count = merged->spans.count,
		.group_by = result->group_by,
		.runs = 2,
	};

	for (size_t i = 0; i < nw_output_format_count; i++) {
		const struct nw_output_format *format = nw_output_formats[i];
		struct nw_output output;
		if (!format->shows[NW_SHOWS_REPORTS] || format->bins || format->only_stacks)
			continue;
		PROMISE(nw_output_make(format, &output) == 0);
		nw_output_report(&output, &report);
		PROMISE(!output.text.failed);
		if (format == &nw_output_json)
			read_again(&output);
		nw_output_free(&output);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct nw_json_result result;
	struct nw_merged merged;
	struct nw_error err = {0};
	int ret = nw_json_result_read("fuzzed", text, size, &result, &err);

	if (ret < 0) {
		fuzz_error(ret, &err);
	} else {
		const struct nw_merge_part part = {
			.selection = &result.rows.selection,
			.spans = result.rows.spans.item,
			.span_count = result.rows.spans.count,
			.summary = result.rows.summary,
			.host = "host",
		};
		const struct nw_merge_part parts[] = {part, part};
		PROMISE(nw_merge(parts, 2, result.keys, 0, &merged, &err) == 0);
		nw_merged_free(&merged);
		PROMISE(nw_merge(parts, 2, result.keys, NW_MERGE_NO_HOST, &merged, &err) ==
			0);
		print(&result, &merged);
		nw_merged_free(&merged);
	}
	nw_json_result_free(&result);
	free(text);
	return 0;
}
