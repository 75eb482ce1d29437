// SPDX-License-Identifier: MIT
/* The consumer that prints a line per hit, and events between them. */
#include <errno.h>

#include "run/engine.h"

enum {
	FLUSH_AT = 1 << 16
};

static int flush(struct nw_printer *p, struct nw_error *err)
{
	struct nw_buf *text = &p->output.text;

	return text->len || text->failed ? p->write(p->arg, text, err) : 0;
}

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_printer *p = arg;

	p->run = run;
	if (nw_output_make(p->format, &p->output) < 0)
		return nw_no_memory(err);
	p->output.plain = p->plain;
	return p->start ? p->start(p->arg, err) : 0;
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_printer *p = arg;
	const struct nw_run_result *so_far = nw_run_so_far(run);
	const struct nw_begin begin = {
		.selection = &so_far->selection,
		.hidden = nw_selection_hidden(&so_far->selection),
		.sites = nw_result_sites(so_far),
		.header = p->header,
		.bold = p->bold,
	};

	nw_output_begin(&p->output, &begin);
	if (p->armed)
		p->armed(p->arg, so_far);
	return flush(p, err);
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_printer *p = arg;
	struct nw_event_line line = nw_run_event_line(p->run, hit, task);

	line.wall = p->wall;
	line.kernel_text = nw_run_kernel_text(p->run);
	nw_output_event(&p->output, &line);
	int ret = p->output.text.len >= FLUSH_AT ? flush(p, &p->failure) : 0;
	if (ret < 0)
		return ret == -EPIPE ? -EPIPE : -EIO;
	return p->count && nw_run_so_far(p->run)->hits >= p->count ? -ECANCELED : 0;
}

static void loss(void *arg, const struct nw_record *record)
{
	nw_output_loss(&((struct nw_printer *)arg)->output, record);
}

static void disabled(void *arg, uint32_t probe, uint64_t at)
{
	struct nw_printer *p = arg;
	const struct nw_disabled disabled = nw_result_disabled(nw_run_so_far(p->run), probe,
							       at);

	nw_output_disabled(&p->output, &disabled);
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	(void)run;
	return flush(arg, err);
}

struct nw_consumer nw_printer_consumer(struct nw_printer *printer)
{
	return (struct nw_consumer){
		.arg = printer,
		.needs =
			{
				.all_args = true,
				.values = true,
				.comms = true,
				.kernel_texts = true,
			},
		.start = start,
		.armed = armed,
		.hit = hit,
		.disabled = disabled,
		.loss = loss,
		.tick = tick,
	};
}

int nw_printer_finish(struct nw_printer *p, const struct nw_run_result *result,
		      struct nw_error *err)
{
	const struct nw_end end = nw_result_end(result);

	nw_output_end(&p->output, &end);
	return flush(p, err);
}

void nw_printer_free(struct nw_printer *printer)
{
	nw_output_free(&printer->output);
}
