// SPDX-License-Identifier: MIT
/*
 * What `report` and `trace` do with a file, whatever it is: the engine over a recording or a text, with all that its table
 * says of processes, costs, times and threads (run/sources/recording.c), the summary with states, stacks and what the probes
 * have cost, and a format. The first byte says how it is asked for.
 */
#include "fuzz.h"
#include "run/consumers/reports.h"
#include "show/formats.h"

enum {
	NET = 1,
	STATES = 2,
	SLOWER = 4,
	BY_COMM = 8,
	FORMAT_SHIFT = 4, /* which of the formats that have reports */
	BY_LINE = 0x80	  /* in place of a report, a line a hit */
};

LIBELF_LEAKS

/* What is written is not looked at: that it is text is the formats' tests to see. */
static int drop(void *arg, struct nw_buf *text, struct nw_error *err)
{
	(void)arg;
	(void)err;
	PROMISE(!text->failed);
	nw_buf_clear(text);
	return 0;
}

static int use_reports(const struct nw_request *request, uint8_t how, struct nw_error *err)
{
	size_t format = (how >> FORMAT_SHIFT) % nw_output_format_count;
	struct nw_reports_options options = {
		.measure = {.net = how & NET,
			    .states = how & STATES,
			    .by = how & BY_COMM ? "comm" : NULL,
			    .costs = NW_COSTS_WANTED},
		.format = nw_output_formats[format],
		.recorded = true,
		.source = "fuzzed",
		.write = drop,
	};
	struct nw_run_result result = {0};
	struct nw_reports reports;

	if (!options.format->shows[NW_SHOWS_REPORTS])
		options.format = nw_output_find("json");
	if (how & SLOWER && options.format->slow)
		options.measure.slower.ns = 1;
	int ret = nw_reports_open(&options, &reports, err);
	if (ret < 0)
		return ret;
	const struct nw_consumer consumer = nw_reports_consumer(&reports);
	ret = nw_run(request, &consumer, &result, err);
	if (ret == 0) {
		nw_reports_ended(&reports, &result);
		ret = nw_reports_finish(&reports, err);
	}
	nw_reports_free(&reports);
	nw_result_free(&result);
	return ret;
}

static int use_lines(const struct nw_request *request, uint8_t how, struct nw_error *err)
{
	const struct nw_printer_options options = {
		.format = nw_output_find(how & NET ? "json" : "text"),
		.wall = how & STATES,
		.write = drop};
	struct nw_run_result result = {0};
	struct nw_printer printer;
	int ret = nw_printer_open(&options, &printer, err);
	const struct nw_consumer consumer = nw_printer_consumer(&printer);

	if (ret == 0)
		ret = nw_run(request, &consumer, &result, err);

	if (ret == 0)
		ret = nw_printer_finish(&printer, &result, err);
	nw_printer_free(&printer);
	nw_result_free(&result);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nw_error err = {0};

	if (size < 1)
		return 0;
	char *bytes = fuzz_text(data + 1, size - 1);
	const struct nw_request request = {.source_name = "fuzzed",
					   .source_bytes = bytes,
					   .source_len = size - 1,
					   .source_fd = -1};
	int ret = data[0] & BY_LINE ? use_lines(&request, data[0], &err)
				    : use_reports(&request, data[0], &err);
	if (ret < 0)
		fuzz_error(ret, &err);
	free(bytes);
	return 0;
}
