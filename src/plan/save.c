// SPDX-License-Identifier: MIT
/* A plan becomes text; serial.c has the format, and makes a plan of it again. */
#include <inttypes.h>
#include <stdlib.h>

#include "plan_private.h"

/* "NAME WORD" */
static void word_line(struct nw_buf *out, const char *name, const char *word)
{
	nw_buf_adds(out, name);
	nw_plan_word(out, word);
	nw_buf_addc(out, '\n');
}

static void type_word(struct nw_buf *out, const struct nw_type *type)
{
	char text[16] = "";

	if (type->base != NW_TYPE_DEFAULT)
		nw_type_text(type, text);
	nw_plan_word(out, text);
}

/* The kernel's own events have no file; this format puts them into an image behind the last, "kernel". */
static const char kernel_name[] = "kernel";

static bool has_kernel_events(const struct nw_selection *selection)
{
	nw_vec_each (&selection->probes, probe)
		if ((*probe)->kind == NW_SPEC_TRACEPOINT)
			return true;
	return false;
}

static void save_probe(const struct nw_selection *selection, const struct nw_probe *probe,
		       struct nw_buf *out)
{
	nw_buf_printf(out, "probe %zu %d", nw_plan_image(selection, probe->image),
		      (int)probe->kind);
	nw_plan_word(out, probe->provider);
	nw_plan_word(out, probe->name);
	nw_plan_word(out, probe->label);
	nw_buf_printf(out, " %d\n", probe->has_args);
	if (probe->symbol)
		word_line(out, "linked", probe->symbol);
	nw_vec_each (&probe->args, arg) {
		nw_buf_adds(out, "arg");
		nw_plan_word(out, arg->name);
		type_word(out, &arg->type);
		nw_buf_addc(out, '\n');
		const size_t i = (size_t)(arg - probe->args.item);
		if (i < probe->enums.count && *probe->enums.item[i])
			word_line(out, "enum", probe->enums.item[i]);
	}
	nw_vec_each (&probe->points, point)
		nw_buf_printf(out, "point %" PRIu64 " %" PRIu64 " %d\n", point->vaddr,
			      point->offset, point->is_return);
}

static void save_chunks(const struct nw_source *source, struct nw_buf *out)
{
	if (source->chunks.count)
		nw_buf_printf(out, "string %d %d\n", source->big_endian, source->whole);
	if ((source->chunks.count || source->fetch.carried) && source->counted)
		nw_buf_printf(out, "length %" PRIu32 "\n", source->length);
	if (source->chunks.count && source->in_kernel)
		nw_buf_adds(out, "of_call\n");
	nw_vec_each (&source->chunks, chunk)
		nw_buf_printf(out,
			      "chunk %" PRIu32 " %d %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
			      chunk->part, chunk->field, chunk->offset, chunk->bits,
			      chunk->count);
}

static void save_stack(const struct nw_stack_field *stack, struct nw_buf *out)
{
	if (stack->field < 0)
		return;
	if (stack->function)
		nw_buf_printf(out, "frame %d %" PRIu64 " %" PRIu64 "\n", stack->field,
			      (uint64_t)-stack->pops, stack->function);
	else
		nw_buf_printf(out, "stack %d %" PRId64 " %d\n", stack->field, stack->pops,
			      stack->loose);
	if (stack->goroutine)
		nw_buf_printf(out, "goroutine %d\n", stack->goroutine);
}

static void save_planned(const struct nw_armed *armed, size_t number, struct nw_buf *out)
{
	const struct nw_planned_point *planned = &armed->plan->points.item[number];

	nw_buf_printf(out, "planned %zu %zu %u %u\n", planned->probe, planned->point,
		      planned->parts, armed->points.item[number].refused);
	if (planned->carried_part)
		nw_buf_printf(out, "carried %u\n", planned->carried_part);
	save_stack(&planned->stack, out);
	nw_vec_each (&planned->args, source) {
		const struct nw_fetch *fetch = &source->fetch;
		const char *problem = nw_armed_problem(armed, number, source);
		if (source->callers) {
			nw_buf_printf(out, "callers %u %d %s\n", source->part,
				      source->field, source->callers->name);
			save_chunks(source, out);
			continue;
		}
		nw_buf_printf(out, "source %u %d %d", source->part, source->field,
			      source->high_field);
		type_word(out, &fetch->field);
		type_word(out, &fetch->shown);
		nw_buf_printf(out, " %u", fetch->sign_bits);
		if (fetch->is_constant)
			nw_buf_printf(out, " %" PRIu64, fetch->constant);
		else
			nw_plan_word(out, "");
		nw_buf_printf(out, " %d", fetch->untrusted);
		nw_plan_word(out, problem ? problem : "");
		nw_buf_addc(out, '\n');
		if (fetch->scale)
			nw_buf_printf(out, "window %u\n", fetch->scale);
		save_chunks(source, out);
	}
}

static void save_event(const struct nw_armed_event *armed, struct nw_buf *out)
{
	const struct nw_event *event = armed->planned;

	nw_buf_adds(out, "event");
	nw_plan_word(out, armed->name);
	nw_buf_printf(out, " %d\n", event->is_return);
	if (armed->id)
		nw_buf_printf(out, "id %" PRIu32 "\n", armed->id);
	if (armed->order)
		nw_buf_printf(out, "order %" PRIu32 "\n", armed->order);
	if (*event->system)
		word_line(out, "system", event->system);
	if (*event->attached)
		word_line(out, "attached", event->attached);
	nw_vec_each (&event->fields, name)
		word_line(out, "field", *name);
	for (size_t i = 0; i < event->places.count; i++)
		if (nw_armed_holds(armed, i))
			nw_buf_printf(out, "place %" PRIu32 " %" PRIu32 "\n",
				      event->places.item[i].planned,
				      event->places.item[i].part);
}

void nw_plan_save(const struct nw_armed *armed, struct nw_buf *out)
{
	const struct nw_plan *plan = armed->plan;

	word_line(out, "nopwatch-plan 1\ngroup", plan->group);
	nw_vec_each (&plan->selection->images, image) {
		word_line(out, "image", (*image)->path);
		if (*(*image)->build_id)
			word_line(out, "build", (*image)->build_id);
	}
	if (has_kernel_events(plan->selection))
		nw_buf_printf(out, "image %s\n", kernel_name);
	nw_vec_each (&plan->selection->probes, probe)
		save_probe(plan->selection, *probe, out);
	for (size_t i = 0; i < plan->points.count; i++)
		save_planned(armed, i, out);
	nw_vec_each (&armed->events, event)
		if ((*event)->defined)
			save_event(*event, out);
	if (armed->shifted_states)
		nw_buf_adds(out, "shifted_states\n");
}
