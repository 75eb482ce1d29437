// SPDX-License-Identifier: MIT
/*
 * From an operand to a fetch argument (Documentation/trace/uprobetracer.rst).
 *
 * What the kernel can do is load from registers and memory, and cut to a size; everything
 * else is done here or said to be impossible:
 *
 *  - Constants are never fetched: the tool knows them, kernels before 5.4 do not.
 *  - Globals are read as +DELTA(%ip), DELTA being the distance from the site: @+OFFSET, made
 *    for this, reads the wrong place on 4.20..2026 kernels.
 *  - %ah is a bitfield of %ax; bitfields are unsigned, so the sign is restored afterwards.
 *  - base + index * scale is no address to it. Where a hist trigger can add them up, an event probe reads what is there; else
 *    the elements at the base are fetched, and the index, and the reader takes the one that is meant, if it is among them.
 *  - A value is never fetched wider than the note says it is: what lies beside it in memory,
 *    or above it in a register, belongs to something else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

const struct nw_caps nw_caps_all = {.memory = true,
				    .ref_ctr = true,
				    .multi_site = true,
				    .hex = true,
				    .arrays = true,
				    .maxactive = true,
				    .partial = true,
				    .key_sums = true};

void nw_type_text(const struct nw_type *type, char out[16])
{
	static const char letters[] = {
		[NW_TYPE_DEFAULT] = '?', [NW_TYPE_UNSIGNED] = 'u', [NW_TYPE_SIGNED] = 's',
		[NW_TYPE_HEX] = 'x',	 [NW_TYPE_STRING] = '?',   [NW_TYPE_FLOAT] = 'f',
	};
	char array[8] = "";

	if (type->array)
		snprintf(array, sizeof(array), "[%u]", type->array & 127);
	if (type->base == NW_TYPE_STRING || type->base == NW_TYPE_CHAR)
		snprintf(out, 16, "%s%s", type->base == NW_TYPE_CHAR ? "char" : "string",
			 array);
	else
		snprintf(out, 16, "%c%u%s", letters[type->base], type->bits & 127, array);
}

static const char too_long[] = "longer than the 63 characters a fetch argument can have";
static const char narrow_pointer[] =
	"a pointer in memory: 64-bit kernels read 8 bytes of it, and a 32-bit program has 4";

/* ---- places ------------------------------------------------------------------------- */

/* Writes where the operand is, without a type: "%di", "-16(%bp)", "+8204(%ip)", "@0x601040". */
static bool place_text(const struct nw_operand *op, const struct nw_arch *arch,
		       uint64_t vaddr, struct nw_fetch *out, char *text, size_t room)
{
	const char *pc = arch->pc;
	const char sigil = op->carried ? '$' : '%';
	int64_t offset = op->offset;

	/* sym(,%rax,4): but for the index a global */
	switch (op->kind == NW_OPERAND_MEMORY && !*op->reg ? NW_OPERAND_GLOBAL : op->kind) {
	case NW_OPERAND_REGISTER:
		snprintf(text, room, "%c%s", sigil, op->reg);
		return true;
	case NW_OPERAND_MEMORY:
		if (op->resolved)
			offset = (int64_t)op->address;
		snprintf(text, room, "%+" PRId64 "(%c%s)", offset, sigil, op->reg);
		return true;
	case NW_OPERAND_GLOBAL:
		if (!pc) {
			out->problem =
				"a global: the kernel of this architecture cannot name the program counter it would be relative to";
			return false;
		}
		snprintf(text, room, "%+" PRId64 "(%%%s)", (int64_t)(op->address - vaddr),
			 pc);
		return true;
	default:
		out->problem = "not an operand";
		return false;
	}
}

/* Puts the loads of further pointers around a place: "+8(+16(%di))". */
static bool add_loads(const struct nw_operand *op, const struct nw_arch *arch,
		      const struct nw_caps *caps, struct nw_fetch *out, char *text,
		      size_t room)
{
	char inner[64];

	for (unsigned int i = 0; i < op->loads && i < NW_MOST_THEN; i++) {
		snprintf(inner, sizeof(inner), "%s", text);
		if ((size_t)snprintf(text, room, "%+" PRId64 "(%s)", op->then[i], inner) >=
		    room)
			out->problem = too_long;
	}
	if (op->loads && caps->long64 && arch->word == 4)
		out->problem = narrow_pointer;
	out->untrusted = op->loads;
	return !out->problem;
}

/* Writes TEXT:TYPE, unless it is too long for the kernel. */
static void finish(struct nw_fetch *out, const char *place, const char *type)
{
	char text[NW_MAX_EXPRESSION + 1];

	if ((size_t)snprintf(text, sizeof(text), "%s:%s", place, type) >= sizeof(text))
		out->problem = too_long;
	else
		strcpy(out->text, text);
}

/* ---- types -------------------------------------------------------------------------- */

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The type that the note gives the value; DEFAULT if no type of the kernel has room for it. */
static struct nw_type note_type(const struct nw_operand *op)
{
	struct nw_type type = {.bits = op->size * 8};

	if (op->is_float && (op->size == 4 || op->size == 8))
		type.base = NW_TYPE_FLOAT;
	else
		type.base = op->is_signed ? NW_TYPE_SIGNED : NW_TYPE_UNSIGNED;
	if (nw_is_plain_size(op->size))
		return type;
	/* a structure by value: as many words as fit its size evenly, in hexadecimal */
	unsigned int word = smaller(op->size & -op->size, 8);
	if (!word || op->size / word > 64)
		return (struct nw_type){0};
	type.base = NW_TYPE_HEX;
	type.bits = word * 8;
	type.array = op->size / word;
	return type;
}

/* The field's type as the kernel's grammar spells it. */
static void field_text(const struct nw_type *field, const struct nw_caps *caps,
		       char out[16])
{
	struct nw_type spelled = *field;

	if (spelled.base == NW_TYPE_FLOAT)
		spelled.base = NW_TYPE_HEX; /* raw bits */
	if (spelled.base == NW_TYPE_CHAR)
		spelled.base = NW_TYPE_UNSIGNED;
	if (spelled.base == NW_TYPE_HEX && !caps->hex)
		spelled.base = NW_TYPE_UNSIGNED;
	nw_type_text(&spelled, out);
}

/* ---- the kinds of values ------------------------------------------------------------ */

/* Fetches the pointee of a pointer: a string, or an array. */
static void make_pointee(const struct nw_operand *op, const struct nw_arch *arch,
			 const char *place, const struct nw_caps *caps,
			 struct nw_fetch *out)
{
	char whole[96], type[16];
	/* the kernel loads the pointer itself: of an operand in memory, and of each string */
	bool loads = op->kind != NW_OPERAND_REGISTER ||
		     (out->shown.base == NW_TYPE_STRING && out->shown.array);

	if (op->size < 4) {
		out->problem = "too small to be a pointer";
		return;
	}
	if (out->shown.array && !caps->arrays) {
		out->problem = "arrays need a kernel of 4.20 or later";
		return;
	}
	if (loads && caps->long64 && arch->word == 4) {
		out->problem = narrow_pointer;
		return;
	}
	field_text(&out->field, caps, type);
	snprintf(whole, sizeof(whole), "+0(%s)", place);
	out->untrusted = (op->kind != NW_OPERAND_REGISTER || op->loads) &&
			 out->shown.base != NW_TYPE_STRING;
	if (out->shown.base == NW_TYPE_STRING) {
		snprintf(out->place, sizeof(out->place), "%s", place);
		out->place_bits = op->size * 8;
	}
	finish(out, whole, type);
}

static void make_bitfield(const struct nw_operand *op, const char *place,
			  struct nw_fetch *out)
{
	char type[16];
	unsigned int bits = smaller(out->shown.bits, op->bits ? op->bits : 8);
	unsigned int whole = op->bits ? op->size * 8 : 16;
	/* a value that is shown wider than it is keeps the note's sign */
	bool is_signed = out->shown.bits > bits ? op->is_signed
						: out->shown.base == NW_TYPE_SIGNED;

	snprintf(type, sizeof(type), "b%u@%u/%u", bits & 127, op->shift & 63, whole & 127);
	out->field = (struct nw_type){NW_TYPE_UNSIGNED, whole, 0};
	out->sign_bits = is_signed ? bits : 0;
	finish(out, place, type);
}

static void make_pair(const struct nw_operand *op, const char *place, bool big_endian,
		      struct nw_fetch *out)
{
	char second[16];
	const char *high = big_endian ? place : second;

	/* the first register holds the half that comes first in memory */
	snprintf(second, sizeof(second), "%%%s", op->reg_high);
	out->field = (struct nw_type){NW_TYPE_UNSIGNED, 32, 0};
	finish(out, big_endian ? second : place, "u32");
	snprintf(out->high_text, sizeof(out->high_text), "%.50s:u32", high);
}

static void make_number(const struct nw_operand *op, const char *place, bool big_endian,
			const struct nw_caps *caps, struct nw_fetch *out)
{
	char type[16], moved[64], *paren;

	out->field = out->shown;
	out->field.bits = smaller(out->shown.bits, op->size * 8);
	/* a value that is shown wider than it is keeps the note's sign */
	if (out->field.bits < out->shown.bits)
		out->field.base = op->is_signed ? NW_TYPE_SIGNED : NW_TYPE_UNSIGNED;
	field_text(&out->field, caps, type);
	unsigned int cut = op->size - out->field.bits / 8;
	if (cut && big_endian && (paren = strchr(place, '('))) { /* its last bytes */
		/* addresses wrap around */
		uint64_t offset = (uint64_t)strtoll(place, NULL, 10) + cut;
		snprintf(moved, sizeof(moved), "%+" PRId64 "%s", (int64_t)offset, paren);
		place = moved;
	}
	finish(out, place, type);
}

/* Fetches a structure that is passed by value: as words, or as the array that the user asked for. */
static void make_structure(const struct nw_operand *op, const struct nw_type *want,
			   const char *place, const struct nw_caps *caps,
			   struct nw_fetch *out)
{
	bool is_array = want->array && want->base != NW_TYPE_STRING;
	char type[16];

	if (want->base != NW_TYPE_DEFAULT && !is_array) {
		out->problem = "a structure by value is neither a number nor a pointer";
	} else if (!caps->arrays) {
		out->problem =
			"a structure by value: arrays need a kernel of 4.20 or later";
	} else if (out->shown.base == NW_TYPE_DEFAULT) {
		out->problem = "a structure by value of more than 64 elements";
	} else if (out->shown.bits / 8 * out->shown.array > op->size) {
		out->problem = "larger than what it is read from";
	} else {
		out->field = out->shown;
		field_text(&out->field, caps, type);
		finish(out, place, type);
	}
}

/* Fetches the elements at the base, and the index; the reader chooses the element. */
static void make_window(const struct nw_operand *op, const struct nw_arch *arch,
			const char *place, const struct nw_caps *caps, struct nw_fetch *out)
{
	char type[16];

	out->field = (struct nw_type){op->is_signed ? NW_TYPE_SIGNED : NW_TYPE_UNSIGNED,
				      op->size * 8, NW_WINDOW};
	if (out->shown.base == NW_TYPE_FLOAT)
		out->field.base = NW_TYPE_FLOAT;
	out->scale = op->scale;
	field_text(&out->field, caps, type);
	finish(out, place, type);
	/* an index may be negative: then it is before the window, and not far behind it */
	snprintf(out->high_text, sizeof(out->high_text), "%%%s:%c%u", op->index,
		 op->index_unsigned ? 'u' : 's',
		 op->index_bits ? op->index_bits : 8 * arch->word);
}

bool nw_fetch_sum(const struct nw_operand *op, const struct nw_type *want,
		  const struct nw_arch *arch, uint64_t vaddr, const struct nw_caps *caps,
		  size_t number, struct nw_operand *out, struct nw_sum *sum)
{
	const bool has_base = *op->reg;
	const char *base = has_base ? op->reg : arch->pc;
	const unsigned int bits = 8 * arch->word & 127;

	if (!op->window || !caps->elements || !base || !nw_is_plain_size(op->size) ||
	    want->array || (op->symbol && !op->resolved))
		return false;
	*sum = (struct nw_sum){.scale = op->scale, .field = -1};
	snprintf(sum->base, sizeof(sum->base), "%%%.11s:u%u", base, bits);
	snprintf(sum->index, sizeof(sum->index), "%%%.11s:%c%u", op->index,
		 op->index_unsigned ? 'u' : 's',
		 op->index_bits ? op->index_bits & 127 : bits);
	*out = *op;
	out->kind = NW_OPERAND_MEMORY;
	out->carried = true;
	out->problem = NULL;
	out->window = out->resolved = false;
	out->symbol = NULL;
	out->index[0] = '\0';
	snprintf(out->reg, sizeof(out->reg), "e%zu", number % 1000);
	if (op->resolved)
		out->offset = (int64_t)(has_base ? op->address : op->address - vaddr);
	return true;
}

static void make_constant(const struct nw_operand *op, const struct nw_type *want,
			  struct nw_fetch *out)
{
	unsigned int bits = smaller(out->shown.bits, 64);

	if (out->shown.base == NW_TYPE_STRING || out->shown.array) {
		out->problem = "a constant: it points nowhere";
		return;
	}
	out->is_constant = true;
	out->constant = op->value;
	if (want->base != NW_TYPE_DEFAULT && bits < 64) {
		out->constant &= ((uint64_t)1 << bits) - 1;
		out->sign_bits = out->shown.base == NW_TYPE_SIGNED ? bits : 0;
	}
}

/*
 * An event probe takes an address for one of the kernel, unless it is marked as the program's: +u8($k0), ustring. Where it
 * cannot read, it leaves a number's bytes as they were, and says so of strings.
 */
static void read_program(struct nw_fetch *out)
{
	char text[2 * NW_MAX_EXPRESSION];
	size_t len = 0;

	out->carried = true;
	for (const char *at = out->text; *at && len + 2 < sizeof(text); at++) {
		text[len++] = *at;
		if ((*at == '+' || *at == '-') && (at == out->text || at[-1] == '('))
			text[len++] = 'u';
	}
	text[len] = '\0';
	char *string = strstr(text, ":string");
	if (string)
		strcpy(string, ":ustring");
	if (strlen(text) > NW_MAX_EXPRESSION)
		out->problem = too_long;
	else
		strcpy(out->text, text);
	out->untrusted = !string && strchr(text, '(');
}

static void make(const struct nw_operand *op, const struct nw_type *want,
		 const struct nw_arch *arch, bool big_endian, uint64_t vaddr,
		 const struct nw_caps *caps, struct nw_fetch *out)
{
	struct nw_operand low_half = *op;
	char place[64];

	if (op->half) { /* the value has two words, and the register holds one of them */
		low_half.size /= 2;
		op = &low_half;
	}
	*out = (struct nw_fetch){.problem = op->problem};
	if (op->half)
		out->remark =
			"the low half of it: the note does not say where the other is";
	const bool element = op->window && nw_is_plain_size(op->size) && !want->array;
	const bool window = element && caps->arrays && want->base != NW_TYPE_STRING;
	if (window)
		out->problem = NULL;
	else if (element)
		out->problem =
			"base + index * scale: a fetch argument cannot add two registers (stat, trace and record can, where `nopwatch features` has elements)";
	if (op->symbol && !op->resolved && !out->problem)
		out->problem = "its symbol has not been looked up";
	out->shown = want->base == NW_TYPE_DEFAULT ? note_type(op) : *want;
	bool plain = nw_is_plain_size(op->size);
	if (!out->problem && plain && out->shown.base == NW_TYPE_FLOAT &&
	    !out->shown.array) {
		/* a floating-point value is as wide as the note says; where the note does not know that it
		 * is one, as the user says, as far as it has so many bits */
		unsigned int bits = op->size * 8;
		if (!op->is_float)
			bits = smaller(bits, out->shown.bits);
		if (bits == 32 || bits == 64)
			out->shown.bits = bits;
		else
			out->problem = "a floating-point value has 4 or 8 bytes";
	}
	if (out->problem)
		return;
	if (op->kind == NW_OPERAND_CONSTANT) {
		make_constant(op, want, out);
		return;
	}
	if (!place_text(op, arch, vaddr, out, place, sizeof(place)) ||
	    !add_loads(op, arch, caps, out, place, sizeof(place)))
		return;
	out->field = out->shown;
	plain = plain && !op->in_place;
	bool pointee = plain && (want->base == NW_TYPE_STRING || want->array);
	if (!caps->memory && (pointee || op->kind != NW_OPERAND_REGISTER))
		out->problem =
			"it is in memory: this kernel's probes only read registers (before 3.14)";
	else if (window)
		make_window(op, arch, place, caps, out);
	else if (!plain)
		make_structure(op, want, place, caps, out);
	else if (pointee)
		make_pointee(op, arch, place, caps, out);
	else if (op->reg_high[0])
		make_pair(op, place, big_endian, out);
	else if (op->shift || op->bits)
		make_bitfield(op, place, out);
	else
		make_number(op, place, big_endian, caps, out);
}

void nw_fetch_make(const struct nw_operand *op, const struct nw_type *want,
		   const struct nw_arch *arch, bool big_endian, uint64_t vaddr,
		   const struct nw_caps *caps, struct nw_fetch *out)
{
	make(op, want, arch, big_endian, vaddr, caps, out);
	if (op->carried && !out->problem)
		read_program(out);
}

const char *nw_fetch_remark(const struct nw_fetch *fetch)
{
	if (fetch->scale && !fetch->problem)
		return "an element of an array: where `nopwatch features` has elements, the kernel reads it at any index; else the reader picks it from these 64";
	return fetch->remark;
}
