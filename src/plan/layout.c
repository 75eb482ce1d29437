// SPDX-License-Identifier: MIT
/*
 * The fetches of a point in parts, each of which an event can hold: so many fields, so long a
 * line, and so many bytes. The numbers come first, so that they are in the first part.
 *
 * A string is its pointer and its first bytes in words. The kernel's own type `string` has no
 * bound: 4 bytes of it and 4092 of a target's make more than the page that the kernel keeps an
 * event's fields in, which it answers with a warning, a lost hit, or by writing on. Words have
 * their size whatever the target's strings are, and each of them faults by itself. Where a string
 * ends is then seen in user space (stream/pages/string.c). What does not fit into one event goes on in
 * companion events at the same place.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"

enum {
	/* Room in a line for the place, its offset, its semaphore and the event's name. */
	LINE_OVERHEAD = 64 + 64 + 64 + 1100,
	/* A function or an event of the kernel has a name (KSYM_NAME_LEN) instead of a file. */
	KERNEL_OVERHEAD = 64 + 64 + 512,
	ARRAY_MOST = 64, /* trace_probe.h: MAX_ARRAY_LEN */
	/* On kernels where a load at the end of a mapping loads nothing, it loses the bytes in front of the end, too:
	 * this many bytes are fetched one by one. */
	EXACT_BYTES = 64,
};

void nw_layouts_free(nw_layouts *list)
{
	nw_vec_each (list, layout) {
		nw_buf_free(&layout->shape);
		nw_buf_free(&layout->fetches);
		nw_strings_free(&layout->fields);
	}
	nw_vec_free(list);
}

/* The type that the kernel compares when places share an event: a bitfield's container. */
static void shape_type(const char *fetch, char out[16])
{
	const char *colon = strrchr(fetch, ':');
	const char *type = colon ? colon + 1 : "";
	const char *slash = type[0] == 'b' ? strchr(type, '/') : NULL;

	if (slash)
		snprintf(out, 16, "u%.8s", slash + 1);
	else
		snprintf(out, 16, "%.15s", type);
}

/* Returns a part with room for one more field of this many bytes: the last part, or a new one. NULL: out of memory,
 * or no further part is allowed. */
static struct nw_layout *part_for(const struct nw_laying *l, nw_layouts *parts, size_t text,
				  size_t bytes)
{
	struct nw_layout *last = parts->count ? &parts->item[parts->count - 1] : NULL;
	const struct nw_image *image = l->probe->image;
	size_t overhead = image && !image->kernel ? LINE_OVERHEAD : KERNEL_OVERHEAD;

	if (last && last->fields.count + 2 < NW_MAX_FIELDS &&
	    last->bytes + bytes <= NW_MAX_BYTES &&
	    last->fetches.len + text + 80 < NW_MAX_LINE - overhead)
		return last;
	return parts->count < NW_MAX_PARTS ? nw_vec_add(parts) : NULL;
}

/* trace_probe.c: reserved_field_names */
static bool is_reserved(const char *name)
{
	static const char *const words[] = {
		"common_type", "common_flags", "common_preempt_count", "common_pid",
		"common_tgid", "__probe_ip",   "__probe_ret_ip",       "__probe_func"};

	for (size_t i = 0; i < NW_COUNT(words); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return false;
}

/*
 * Names a field: aN, so that probes can share events, or the argument's own name, for other tools. The bytes of a
 * string are called NAME_strOFFSET if they come in words, else NAME_chrOFFSET; stream/trace_pipe/learn.c recognises
 * them by these names. A name that is taken gets a number.
 */
static void field_name(const struct nw_laying *l, const struct nw_layout *part, size_t arg,
		       const struct nw_chunk *chunk, char out[32])
{
	char name[NW_ARG_NAME], base[28], tail[12] = "";

	if (l->options->naming == NW_NAMES_PRIVATE) {
		snprintf(out, 32, "a%zu", part->fields.count % 1000);
		return;
	}
	nw_arg_name(l->probe, arg, name);
	if (chunk)
		snprintf(tail, sizeof(tail), chunk->bits == 8 ? "_chr%u" : "_str%u",
			 chunk->offset % 100000);
	nw_identifier(name, chunk ? NW_STRING_NAME : sizeof(base) - 1, base);
	snprintf(out, 32, "%s%s", base, tail);
	for (unsigned int i = 1; is_reserved(out) || nw_strings_has(&part->fields, out);
	     i++)
		snprintf(out, 32, "%.*s_%u%s", chunk ? NW_STRING_NAME - 4 : 24, base,
			 i % 1000, tail);
}

/* Appends a field of this many bytes to a part. Returns its number there, or -ENOMEM. */
static int append_field(struct nw_layout *part, const char *name, const char *fetch,
			size_t bytes)
{
	size_t number = part->fields.count;
	char type[16];

	shape_type(fetch, type);
	if (nw_strings_add(&part->fields, name, strlen(name)) < 0)
		return -ENOMEM;
	nw_buf_printf(&part->shape, " %s:%s", name, type);
	nw_buf_printf(&part->fetches, "%s%s=%s", number ? " " : "", name, fetch);
	part->bytes += bytes;
	return part->shape.failed || part->fetches.failed ? -ENOMEM : (int)number;
}

static int add_field(const struct nw_laying *l, struct nw_layout *part, size_t arg,
		     const struct nw_chunk *chunk, const char *fetch, size_t bytes)
{
	char name[32];

	field_name(l, part, arg, chunk, name);
	return append_field(part, name, fetch, bytes);
}

/* ---- numbers and arrays ------------------------------------------------------------- */

static int lay_out_number(const struct nw_laying *l, nw_layouts *parts,
			  struct nw_source *source, size_t arg)
{
	const struct nw_type *field = &source->fetch.field;
	size_t bytes = (size_t)field->bits / 8 * (field->array ? field->array : 1);
	bool pair = source->fetch.high_text[0];
	size_t more = !pair ? 0 : source->fetch.scale ? 8 : bytes;
	struct nw_layout *part = part_for(l, parts, 2 * NW_MAX_EXPRESSION, bytes + more);

	if (!part && parts->count == NW_MAX_PARTS) {
		source->fetch.problem = "one of too many arguments";
		return 0;
	}
	if (!part)
		return -ENOMEM;
	source->part = (unsigned int)(part - parts->item);
	source->field = add_field(l, part, arg, NULL, source->fetch.text, bytes);
	if (pair)
		source->high_field = add_field(l, part, arg, NULL, source->fetch.high_text,
					       more);
	return source->field == -ENOMEM || source->high_field == -ENOMEM ? -ENOMEM : 0;
}

/* ---- strings ------------------------------------------------------------------------ */

/* Returns the letter of a word's type: hexadecimal if the kernel is known to have that type. */
static char word_letter(const struct nw_laying *l)
{
	return l->options->caps.hex && !l->options->any_kernel ? 'x' : 'u';
}

/* Returns 0; 1: no further part is allowed; -ENOMEM. */
static int lay_out_pointer(const struct nw_laying *l, nw_layouts *parts,
			   struct nw_source *source, size_t arg)
{
	struct nw_layout *part = part_for(l, parts, NW_MAX_EXPRESSION, 8);
	char text[NW_MAX_EXPRESSION + 16];

	if (!part)
		return parts->count == NW_MAX_PARTS ? 1 : -ENOMEM;
	snprintf(text, sizeof(text), "%s:%c%u", source->fetch.place, word_letter(l),
		 source->fetch.place_bits & 127);
	source->part = (unsigned int)(part - parts->item);
	source->field = add_field(l, part, arg, NULL, text, source->fetch.place_bits / 8);
	return source->field < 0 ? source->field : 0;
}

/* Returns the next bytes of the string, at most `wanted`: as many as one field can hold, in elements of one size. */
static struct nw_chunk next_chunk(const struct nw_laying *l, const struct nw_layout *part,
				  uint32_t offset, uint32_t wanted, bool whole)
{
	bool bytewise = whole && offset < EXACT_BYTES;
	struct nw_chunk chunk = {.offset = offset, .bits = bytewise ? 8 : 64};
	uint32_t step = chunk.bits / 8;
	size_t room = (NW_MAX_BYTES - part->bytes) / step;

	if (bytewise && wanted > EXACT_BYTES)
		wanted = EXACT_BYTES;
	if (!l->options->caps.arrays || l->options->any_kernel)
		return chunk;
	chunk.count = (wanted - offset + step - 1) / step;
	if (chunk.count > ARRAY_MOST)
		chunk.count = ARRAY_MOST;
	if (chunk.count > room)
		chunk.count = (uint32_t)room;
	return chunk;
}

static int lay_out_chunk(const struct nw_laying *l, nw_layouts *parts,
			 struct nw_source *source, size_t arg, struct nw_chunk *chunk)
{
	struct nw_layout *part = &parts->item[parts->count - 1];
	char text[2 * NW_MAX_EXPRESSION], array[8] = "";
	struct nw_chunk *slot = nw_vec_add(&source->chunks);

	if (!slot)
		return -ENOMEM;
	if (chunk->count)
		snprintf(array, sizeof(array), "[%u]", chunk->count & 127);
	snprintf(text, sizeof(text), "+%u(%s):%c%u%s", chunk->offset, source->fetch.place,
		 word_letter(l), chunk->bits, array);
	chunk->part = (uint32_t)parts->count - 1;
	chunk->field = add_field(l, part, arg, chunk, text, nw_chunk_bytes(chunk));
	source->spread |= chunk->part != source->part;
	*slot = *chunk;
	return chunk->field < 0 ? chunk->field : 0;
}

/* Returns 0; 1: no further part is allowed, so the string is shorter than wanted; -ENOMEM. */
static int lay_out_bytes(const struct nw_laying *l, nw_layouts *parts,
			 struct nw_source *source, size_t arg, uint32_t wanted)
{
	uint32_t offset = 0;
	int ret = 0;

	while (ret == 0 && offset < wanted) {
		struct nw_layout *part = part_for(l, parts, NW_MAX_EXPRESSION, 8);
		if (!part)
			return parts->count == NW_MAX_PARTS ? 1 : -ENOMEM;
		struct nw_chunk chunk = next_chunk(l, part, offset, wanted, source->whole);
		ret = lay_out_chunk(l, parts, source, arg, &chunk);
		offset += nw_chunk_bytes(&chunk);
	}
	return ret;
}

/*
 * The kernel's own type: what says where it is has 4 bytes. A second one would make the first one's bound half a page, so it gets an
 * event of its own, except of a system call, which has one event, and whose paths are shorter.
 */
static int lay_out_kernel_string(const struct nw_laying *l, nw_layouts *parts,
				 struct nw_source *source, size_t arg)
{
	const size_t bytes = l->probe->attached ? 4 : NW_MAX_BYTES;
	struct nw_layout *part = part_for(l, parts, NW_MAX_EXPRESSION, 4);

	if (!part && parts->count == NW_MAX_PARTS)
		source->fetch.problem = "one of too many strings";
	if (!part)
		return source->fetch.problem ? 0 : -ENOMEM;
	source->part = (unsigned int)(part - parts->item);
	source->field = add_field(l, part, arg, NULL, source->fetch.text, bytes);
	return source->field < 0 ? source->field : 0;
}

/*
 * Is a string that is read at the return read in words? The kernel's own string says when it could not be read, but has no bound: of
 * a buffer without a NUL within 4 KiB, which only a length ends, there would be no record. Words keep what was in their place
 * before if they cannot be read, so such a string is marked. Where a program's addresses may be the kernel's, too (s390x), an
 * event probe's array is the kernel's: it was tried on the architectures whose calls' strings are known.
 */
static bool reads_words(const struct nw_laying *l, const struct nw_source *source)
{
	return source->counted && l->options->caps.arrays &&
	       l->probe->image->arch->syscall_prefix;
}

static int lay_out_string(const struct nw_laying *l, nw_layouts *parts,
			  struct nw_source *source, size_t arg)
{
	uint32_t wanted = l->options->string_size ? l->options->string_size
						  : NW_STRING_SIZE;
	/* the expressions of a string's later bytes are longer, by their offset */
	size_t longest = strlen(source->fetch.place) + sizeof("+16384():x64[64]") - 1;

	if (source->fetch.field.array)
		source->fetch.problem = "an array of strings: ask for the pointers, x64[N]";
	else if (longest > NW_MAX_EXPRESSION)
		source->fetch.problem =
			"longer than the 63 characters a fetch argument can have";
	if (source->fetch.problem)
		return 0;
	source->in_kernel |= l->probe->image && l->probe->image->kernel;
	if (l->options->kernel_strings ||
	    nw_is_path_of_call(l->probe, arg, &l->options->caps) ||
	    (source->fetch.carried && !reads_words(l, source)))
		return lay_out_kernel_string(l, parts, source, arg);
	source->fetch.untrusted |= source->fetch.carried;
	source->big_endian = l->big_endian;
	source->whole = !l->options->caps.partial || l->options->any_kernel;
	int ret = lay_out_pointer(l, parts, source, arg);
	if (ret == 0)
		ret = lay_out_bytes(l, parts, source, arg, wanted);
	if (ret > 0 && !source->chunks.count)
		source->fetch.problem = "one of too many strings";
	return ret < 0 ? ret : 0;
}

/* ---- the stack pointer -------------------------------------------------------------- */

/* Computes how the stack pointer at a point differs from that at the function's entry. A return probe runs after the
 * return instruction; every other probe of a return stands in front of it. */
static struct nw_stack_field stack_of(const struct nw_point *point)
{
	const struct nw_arch *arch = point->image->arch;
	struct nw_stack_field stack = {.field = -1};

	if (point->frame.function) {
		stack.pops = -point->frame.offset;
		stack.function = point->frame.function;
	} else if (point->is_return) {
		stack.pops = arch->return_pops;
		stack.loose = arch->callee_pops;
	}
	return stack;
}

/* Appends a field of our own, with a number if an argument has that name. Returns the field's number, or -ENOMEM. */
static int append_own(struct nw_layout *part, const char *base, const char *fetch,
		      unsigned int bytes)
{
	char name[32];

	snprintf(name, sizeof(name), "%s", base);
	for (unsigned int i = 1; nw_strings_has(&part->fields, name); i++)
		snprintf(name, sizeof(name), "%s_%u", base, i);
	return append_field(part, name, fetch, bytes);
}

/* Fetches which goroutine owns the stack: see struct nw_stack_field. */
static int lay_out_goroutine(struct nw_layout *part, const char *reg, unsigned int bytes,
			     struct nw_stack_field *stack)
{
	/* struct g begins with struct stack { lo, hi uintptr }, stackguard0 is behind it */
	static const char *const names[NW_GOROUTINE_FIELDS] = {"g", "g_hi", "g_guard"};
	char fetch[32];
	int field;

	for (unsigned int i = 0; i < NW_GOROUTINE_FIELDS; i++) {
		if (i)
			snprintf(fetch, sizeof(fetch), "+%u(%%%s):u%u", i * bytes, reg,
				 bytes * 8);
		else
			snprintf(fetch, sizeof(fetch), "%%%s:u%u", reg, bytes * 8);
		field = append_own(part, names[i], fetch, bytes);
		if (field < 0)
			return field;
		if (!i)
			stack->goroutine = field;
	}
	return 0;
}

/*
 * Fetches what is to be added to the register of a frame, or taken from a stack pointer, as a constant of the site. That of a frame may
 * be 0 (arm64, in a function that stores nothing): it is fetched all the same, so that all sites share an event.
 */
static int lay_out_level(const struct nw_laying *l, struct nw_layout *part,
			 const struct nw_stack_field *stack, unsigned int bytes)
{
	const int64_t level = stack->function ? -stack->pops : stack->pops;
	char fetch[32];

	if ((!stack->pops && !stack->function) || stack->loose ||
	    !l->options->caps.key_sums)
		return 0;
	snprintf(fetch, sizeof(fetch), "\\%" PRId64 ":u%u", level, bytes * 8);
	const int field = append_own(part, NW_LEVEL_FIELD, fetch, bytes);
	return field < 0 ? field : 0;
}

/* Fetches the stack pointer, behind the numbers of the first part, if there is room. */
static int lay_out_stack(const struct nw_laying *l, nw_layouts *parts)
{
	struct nw_planned_point *planned = l->planned;
	const struct nw_point *point = &l->probe->points.item[planned->point];
	const struct nw_arch *arch = point->image->arch;
	bool framed = point->frame.function;
	unsigned int bytes = arch->word;
	struct nw_layout *part = parts->item;
	size_t more = point->goroutine && *point->goroutine ? NW_GOROUTINE_FIELDS : 0;
	char fetch[32];

	if (part->fields.count + 2 + more >= NW_MAX_FIELDS ||
	    part->bytes + bytes * (1 + more) > NW_MAX_BYTES)
		return 0;
	snprintf(fetch, sizeof(fetch), "%%%s:u%u", framed ? point->frame.reg : arch->stack,
		 bytes * 8);
	planned->stack = stack_of(point);
	planned->stack.field = append_own(part, framed ? "frame" : "sp", fetch, bytes);
	if (planned->stack.field < 0)
		return planned->stack.field;
	if (l->options->levels)
		return lay_out_level(l, part, &planned->stack, bytes);
	return more ? lay_out_goroutine(part, point->goroutine, bytes, &planned->stack) : 0;
}

/* ---- what is kept of a call's entry -------------------------------------------------- */

const char nw_plan_moved[] = "kept_sp";

/* Fetches what the entry of a call keeps for its return. */
static int lay_out_kept(const struct nw_laying *l, struct nw_layout *part)
{
	struct nw_planned_point *planned = l->planned;
	const struct nw_point *point = &l->probe->points.item[planned->point];
	const unsigned int bytes = point->image->arch->word;
	char fetch[48];

	nw_vec_each (&point->kept, word) {
		snprintf(fetch, sizeof(fetch), "%.31s:u%u", *word, 8 * bytes);
		int field = append_own(part, "kept", fetch, bytes);
		if (field < 0)
			return field;
		if (planned->kept_field < 0)
			planned->kept_field = field;
	}
	return 0;
}

/* ---- what event probes read ---------------------------------------------------------- */

/*
 * Fetches both registers of each sum, in the last part: its event is the last of the hit, and its trigger fires the event probes, so
 * their records come behind all others of the hit.
 */
static int lay_out_sums(const struct nw_laying *l, nw_layouts *parts)
{
	const size_t count = l->planned->sums.count;
	struct nw_layout *part = part_for(l, parts, count * 2 * NW_MAX_EXPRESSION,
					  count * 16);

	if (part && part->fields.count + 2 * count > NW_MAX_FIELDS)
		part = parts->count < NW_MAX_PARTS ? nw_vec_add(parts) : NULL;
	if (!part && parts->count < NW_MAX_PARTS)
		return -ENOMEM;
	nw_vec_each (&l->planned->sums, sum) {
		if (!part)
			break;
		sum->field = append_own(part, "base", sum->base, 8);
		const int index = append_own(part, "index", sum->index, 8);
		if (sum->field < 0 || index < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Says of the arguments that event probes would read that there is no room for their parts. */
static void refuse_carried(struct nw_planned_point *planned)
{
	nw_vec_each (&planned->args, source)
		if (source->fetch.carried && !source->fetch.problem)
			source->fetch.problem = "one of too many arguments";
	planned->sums.count = 0;
}

static int lay_out_kind(const struct nw_laying *l, nw_layouts *parts, bool strings,
			bool carried);

/* Lays out the arguments that event probes read: the events of their parts are behind another one. */
static int lay_out_carried(const struct nw_laying *l, nw_layouts *parts)
{
	bool any = false;
	char fetch[16];

	nw_vec_each (&l->planned->args, source)
		any |= source->fetch.carried && !source->fetch.problem;
	if (!any)
		return 0;
	/* A probe of the kernel, which carries nothing, has no image. */
	const unsigned int bits = 8 * l->probe->image->arch->word;
	int ret = l->planned->sums.count ? lay_out_sums(l, parts) : 0;
	if (ret == 0 && parts->count == NW_MAX_PARTS)
		refuse_carried(l->planned);
	if (ret < 0 || parts->count == NW_MAX_PARTS)
		return ret;
	const size_t first = parts->count;
	l->planned->carried_part = (unsigned int)first;
	ret = nw_vec_add(parts) ? lay_out_kind(l, parts, false, true) : -ENOMEM;
	if (ret == 0)
		ret = lay_out_kind(l, parts, true, true);
	snprintf(fetch, sizeof(fetch), "$d:u%u", bits);
	for (size_t i = first; ret == 0 && !l->planned->sums.count && i < parts->count; i++)
		if (append_own(&parts->item[i], nw_plan_moved, fetch, bits / 8) < 0)
			ret = -ENOMEM;
	return ret;
}

/* ---- what callers are found by ------------------------------------------------------- */

static int add_chunk(struct nw_layout *part, struct nw_source *source, uint32_t number,
		     const char *name, const char *fetch, const struct nw_chunk *chunk)
{
	struct nw_chunk *slot = nw_vec_add(&source->chunks);

	if (!slot)
		return -ENOMEM;
	*slot = *chunk;
	slot->part = number;
	slot->field = append_own(part, name, fetch, nw_chunk_bytes(chunk));
	if (slot->field < 0)
		return slot->field;
	if (source->chunks.count == 1) {
		source->part = number;
		source->field = slot->field;
	}
	source->spread |= number != source->part;
	return 0;
}

/* Fetches the registers, each as one word, also of 32-bit programs. Returns 0; 1: no further part is allowed;
 * -ENOMEM. */
static int lay_out_registers(const struct nw_laying *l, nw_layouts *parts,
			     struct nw_source *source, uint32_t *offset)
{
	const struct nw_unwind *unwind = l->probe->image->arch->unwind;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < unwind->count; i++) {
		struct nw_layout *part = part_for(l, parts, NW_MAX_EXPRESSION, 8);
		const struct nw_chunk chunk = {.offset = *offset, .bits = 64};
		char name[32], fetch[32];
		if (!part)
			return parts->count == NW_MAX_PARTS ? 1 : -ENOMEM;
		snprintf(name, sizeof(name), "at_%.12s", unwind->fetched[i].name);
		snprintf(fetch, sizeof(fetch), "%%%.12s:u64", unwind->fetched[i].name);
		ret = add_chunk(part, source, (uint32_t)parts->count - 1, name, fetch,
				&chunk);
		*offset += 8;
	}
	return ret;
}

static int lay_out_callers(const struct nw_laying *l, nw_layouts *parts,
			   struct nw_source *source)
{
	uint32_t size = l->options->stack_size ? l->options->stack_size : NW_STACK_BYTES;
	uint32_t begin = 0;
	int ret = lay_out_registers(l, parts, source, &begin);
	const uint32_t wanted = begin + size;
	uint32_t offset = begin;

	while (ret == 0 && offset < wanted) {
		struct nw_layout *part = part_for(l, parts, NW_MAX_EXPRESSION, 8);
		if (!part)
			return parts->count == NW_MAX_PARTS ? 0 : -ENOMEM;
		struct nw_chunk chunk = next_chunk(l, part, offset, wanted, false);
		char name[32], fetch[64], array[8] = "";
		if (chunk.count)
			snprintf(array, sizeof(array), "[%u]", chunk.count & 127);
		snprintf(name, sizeof(name), "stack%u", (offset - begin) % 100000);
		snprintf(fetch, sizeof(fetch), "+%u(%%%s):%c64%s", offset - begin,
			 l->probe->image->arch->stack, word_letter(l), array);
		ret = add_chunk(part, source, (uint32_t)parts->count - 1, name, fetch,
				&chunk);
		offset += nw_chunk_bytes(&chunk);
	}
	return ret < 0 ? ret : 0;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int lay_out_kind(const struct nw_laying *l, nw_layouts *parts, bool strings,
			bool carried)
{
	size_t arg = 0;
	int ret = 0;

	nw_vec_each (&l->planned->args, source) {
		bool is_string = source->fetch.shown.base == NW_TYPE_STRING;
		if (ret == 0 && source->fetch.text[0] && is_string == strings &&
		    source->fetch.carried == carried)
			ret = strings ? lay_out_string(l, parts, source, arg)
				      : lay_out_number(l, parts, source, arg);
		arg++;
	}
	return ret;
}

int nw_lay_out(const struct nw_laying *l, nw_layouts *parts)
{
	int ret = nw_vec_add(parts) ? 0 : -ENOMEM;

	if (ret == 0)
		ret = lay_out_kind(l, parts, false, false);
	if (ret == 0 && l->stack)
		ret = lay_out_stack(l, parts);
	if (ret == 0 && l->keeps)
		ret = lay_out_kept(l, parts->item);
	if (ret == 0)
		ret = lay_out_kind(l, parts, true, false);
	size_t sources = l->planned->args.count;
	if (ret == 0 && nw_planned_callers(l->planned))
		ret = lay_out_callers(l, parts, &l->planned->args.item[sources - 1]);
	if (ret == 0)
		ret = lay_out_carried(l, parts);
	l->planned->parts = (unsigned int)parts->count;
	return ret;
}
