// SPDX-License-Identifier: MIT
/*
 * Where a variable of the source is at an address. Nothing is guessed. At a function's entry, a place that is one for the whole
 * function is not valid yet, but only behind the prologue, so a parameter is taken from where the calling convention passes it.
 */
#include "variables.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>

/* ---- places ------------------------------------------------------------------------- */

bool nw_set_base(struct nw_finding *s, enum nw_variable_base base, uint64_t number,
		 int64_t add, bool is_memory)
{
	s->out->base = base;
	s->out->number = number;
	s->out->loads = 0;
	s->out->add[0] = add;
	s->out->is_memory = is_memory;
	return true;
}

static bool is_between(unsigned int atom, unsigned int first, unsigned int last)
{
	return atom >= first && atom <= last;
}

static bool locate(struct nw_finding *s, Dwarf_Attribute *location, bool of_frame);

static bool take_frame_base(struct nw_finding *s, int64_t offset)
{
	Dwarf_Attribute attribute;

	if (!s->function)
		return nw_lacks(s, NW_LACK_COMPUTED);
	if (!locate(s, dwarf_attr_integrate(s->function, DW_AT_frame_base, &attribute),
		    true))
		return false;
	/* A frame base is an address, or a register that holds it. */
	if (s->out->loads || s->out->base != NW_BASE_REGISTER)
		return nw_lacks(s, NW_LACK_COMPUTED);
	s->out->is_memory = true;
	s->out->add[0] += offset;
	return true;
}

/* An address in the unit's table of addresses. */
static bool take_indexed(struct nw_finding *s, Dwarf_Attribute *location,
			 const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	if (dwarf_getlocation_attr(location, op, &attribute) != 0 ||
	    dwarf_formaddr(&attribute, &address) != 0)
		return nw_lacks(s, NW_LACK_COMPUTED);
	return nw_set_base(s, NW_BASE_ADDRESS, address, 0, true);
}

/* The first operation of a location. */
static bool begin_location(struct nw_finding *s, const Dwarf_Op *op,
			   Dwarf_Attribute *location, bool of_frame)
{
	unsigned int atom = op->atom;

	if (is_between(atom, DW_OP_reg0, DW_OP_reg31))
		return nw_set_base(s, NW_BASE_REGISTER, atom - DW_OP_reg0, 0, false);
	if (is_between(atom, DW_OP_breg0, DW_OP_breg31))
		return nw_set_base(s, NW_BASE_REGISTER, atom - DW_OP_breg0,
				   (int64_t)op->number, true);
	if (is_between(atom, DW_OP_lit0, DW_OP_lit31))
		return nw_set_base(s, NW_BASE_CONSTANT, atom - DW_OP_lit0, 0, true);
	if (is_between(atom, DW_OP_const1u, DW_OP_consts))
		return nw_set_base(s, NW_BASE_CONSTANT, op->number, 0, true);
	switch (atom) {
	case DW_OP_regx:
		return nw_set_base(s, NW_BASE_REGISTER, op->number, 0, false);
	case DW_OP_bregx:
		return nw_set_base(s, NW_BASE_REGISTER, op->number, (int64_t)op->number2,
				   true);
	case DW_OP_addr:
		return nw_set_base(s, NW_BASE_ADDRESS, op->number, 0, true);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return take_indexed(s, location, op);
	case DW_OP_fbreg:
		return of_frame ? nw_lacks(s, NW_LACK_COMPUTED)
				: take_frame_base(s, (int64_t)op->number);
	case DW_OP_call_frame_cfa:
		if (s->place->cfa == NW_NO_REGISTER)
			return nw_lacks(s, NW_LACK_COMPUTED);
		return nw_set_base(s, NW_BASE_REGISTER, s->place->cfa, s->place->cfa_offset,
				   true);
	case DW_OP_piece:
	case DW_OP_bit_piece:
		return nw_lacks(s, NW_LACK_PIECES);
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return nw_lacks(s, NW_LACK_OPTIMISED);
	default:
		return nw_lacks(s, NW_LACK_COMPUTED);
	}
}

/* A further operation. The stack of DWARF's machine has one value here. */
static bool continue_location(struct nw_finding *s, const Dwarf_Op *op, bool *is_value)
{
	struct nw_variable *v = s->out;

	if (*is_value || !v->is_memory)
		return nw_lacks(s, op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece
					   ? NW_LACK_PIECES
					   : NW_LACK_COMPUTED);
	switch (op->atom) {
	case DW_OP_plus_uconst:
		return nw_add_offset(s, op->number);
	case DW_OP_deref:
		if (v->loads == NW_MOST_LOADS)
			return nw_lacks(s, NW_LACK_DEEP);
		v->add[++v->loads] = 0;
		return true;
	case DW_OP_stack_value:
		*is_value = true;
		return true;
	case DW_OP_piece:
	case DW_OP_bit_piece:
		return nw_lacks(s, NW_LACK_PIECES);
	case DW_OP_GNU_push_tls_address:
	case DW_OP_form_tls_address:
		return nw_lacks(s, NW_LACK_THREAD);
	default:
		return nw_lacks(s, NW_LACK_COMPUTED);
	}
}

/* Evaluates the operations of one place. */
static bool take_place(struct nw_finding *s, Dwarf_Attribute *location, const Dwarf_Op *ops,
		       size_t count, bool of_frame)
{
	bool is_value = false;

	if (!begin_location(s, ops, location, of_frame))
		return false;
	for (size_t i = 1; i < count; i++)
		if (!continue_location(s, &ops[i], &is_value))
			return false;
	if (is_value)
		s->out->is_memory = false;
	/* A constant is an address of memory in no compiler's output. */
	return s->out->base != NW_BASE_CONSTANT || is_value ||
	       nw_lacks(s, NW_LACK_COMPUTED);
}

bool nw_take_piece(struct nw_finding *s, uint64_t size)
{
	const uint64_t at = s->pieces.at;
	uint64_t begin = 0;
	size_t first = 0;

	if (!s->pieces.count)
		return true;
	for (size_t i = 0; i < s->pieces.count && begin <= at; i++) {
		const Dwarf_Op *op = &s->pieces.ops[i];
		if (op->atom != DW_OP_piece)
			continue;
		if (op->number > UINT32_MAX) /* in no compiler's output */
			break;
		bool holds = size <= op->number && at >= begin &&
			     at - begin <= op->number - size;
		size_t count = i - first;
		if (holds) {
			s->pieces.count = 0;
			if (!count)
				return nw_lacks(s, NW_LACK_OPTIMISED);
			return take_place(s, &s->pieces.location, s->pieces.ops + first,
					  count, false) &&
			       (at == begin || nw_add_offset(s, at - begin));
		}
		begin += op->number;
		first = i + 1;
	}
	return nw_lacks(s, NW_LACK_PIECES);
}

/* Is the place in pieces that nw_take_piece() can choose from? */
static bool is_in_pieces(const struct nw_finding *s, const Dwarf_Op *ops, size_t count)
{
	return ops[count - 1].atom == DW_OP_piece && !s->lines->info.sections.big_endian;
}

static bool locate(struct nw_finding *s, Dwarf_Attribute *location, bool of_frame)
{
	Dwarf_Op *ops;
	size_t count;

	if (!location ||
	    dwarf_getlocation_addr(location, s->place->vaddr, &ops, &count, 1) != 1 ||
	    !count)
		return nw_lacks(s, NW_LACK_OPTIMISED);
	if (of_frame || !is_in_pieces(s, ops, count))
		return take_place(s, location, ops, count, of_frame);
	s->pieces.ops = ops;
	s->pieces.count = count;
	s->pieces.location = *location;
	return true;
}

/* ---- parameters at the entry -------------------------------------------------------- */

/* Is the type passed in one register for integers? *is_float: in one for floating point. */
static bool is_passed_simply(Dwarf_Die *die, unsigned int word, bool *is_float)
{
	Dwarf_Word size = 0;
	Dwarf_Die type;

	*is_float = false;
	if (!nw_find_type(die, &type))
		return false;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return true;
	case DW_TAG_enumeration_type:
	case DW_TAG_base_type:
		break;
	default:
		return false;
	}
	if (dwarf_aggregate_size(&type, &size) != 0 || !size || size > word)
		return false;
	switch (nw_die_number(&type, DW_AT_encoding)) {
	case DW_ATE_float:
		*is_float = size == 4 || size == 8;
		return *is_float;
	case DW_ATE_complex_float:
	case DW_ATE_imaginary_float:
	case DW_ATE_decimal_float:
		return false;
	default:
		return true;
	}
}

/* Sets the place of a parameter by the calling convention, as long as everything before it is simple. */
static bool take_passed(struct nw_finding *s, Dwarf_Die *wanted)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child, type;
	unsigned int word = nw_word_of(s);
	uint64_t integers = 0;
	bool is_float;

	/* A structure that is returned in memory shifts all parameters; clang marks functions that it has changed. */
	if (dwarf_attr_integrate(s->function, DW_AT_calling_convention, &attribute) ||
	    (nw_type_of(s->function, &type) &&
	     !is_passed_simply(s->function, word, &is_float)) ||
	    dwarf_child(s->function, &child) != 0)
		return nw_lacks(s, NW_LACK_PASSED);
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (!is_passed_simply(&child, word, &is_float))
			break;
		if (child.addr != wanted->addr)
			integers += !is_float;
		else if (is_float)
			return nw_lacks(s, NW_LACK_REGISTER);
		else
			return nw_set_base(s, NW_BASE_PASSED, integers, 0, false);
	} while (dwarf_siblingof(&child, &child) == 0);
	return nw_lacks(s, NW_LACK_PASSED);
}

/* ---- variables ---------------------------------------------------------------------- */

/* Can the place be used at a function's entry, although it is one for the whole function? What is static can, and what
 * the caller has put on the stack. */
static bool holds_at_entry(struct nw_finding *s)
{
	const struct nw_variable *v = s->out;
	const struct nw_variable_place *place = s->place;

	/* Go's callers leave room on the stack for arguments that are in registers, where the function may put them. */
	if (v->base == NW_BASE_REGISTER && nw_is_go_unit(s))
		return false;
	return v->base == NW_BASE_ADDRESS || v->base == NW_BASE_CONSTANT ||
	       (v->base == NW_BASE_REGISTER && v->is_memory && !v->loads &&
		place->cfa != NW_NO_REGISTER && v->number == place->cfa &&
		v->add[0] >= place->cfa_offset);
}

static bool take_constant(struct nw_finding *s, Dwarf_Attribute *attribute)
{
	Dwarf_Sword number;

	if (dwarf_formsdata(attribute, &number) != 0)
		return nw_lacks(s, NW_LACK_COMPUTED);
	return nw_set_base(s, NW_BASE_CONSTANT, (uint64_t)number, 0, false);
}

static bool is_expression(Dwarf_Attribute *attribute)
{
	switch (dwarf_whatform(attribute)) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		return true;
	default:
		return false;
	}
}

static bool take_variable(struct nw_finding *s, Dwarf_Die *die)
{
	bool is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
	Dwarf_Attribute attribute;

	if (!nw_type_of(die, &s->type))
		return nw_lacks(s, NW_LACK_TYPE);
	if (dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
		return take_constant(s, &attribute);
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute))
		return nw_lacks(s, NW_LACK_OPTIMISED);
	bool found = locate(s, &attribute, false);
	if (!s->place->is_entry || !is_expression(&attribute))
		return found;
	if (s->pieces.count) {
		s->pieces.count = 0;
		return nw_lacks(s, NW_LACK_LATER);
	}
	if (found && holds_at_entry(s))
		return true;
	if (!is_parameter)
		return found && nw_lacks(s, NW_LACK_LATER);
	s->out->lack = NW_LACK_NONE;
	return take_passed(s, die);
}

/* Finds a parameter or variable among the children of a scope. */
static bool find_child(struct nw_finding *s, Dwarf_Die *scope, const char *name,
		       Dwarf_Die *out)
{
	Dwarf_Attribute attribute;

	if (dwarf_child(scope, out) != 0)
		return false;
	do {
		int tag = dwarf_tag(out);
		if (!s->scopes.entries)
			return false;
		s->scopes.entries--;
		if ((tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) &&
		    !dwarf_attr(out, DW_AT_declaration, &attribute) &&
		    nw_is_named(s, out, name))
			return true;
	} while (dwarf_siblingof(out, out) == 0);
	return false;
}

bool nw_find_variable(struct nw_finding *s, const char *name)
{
	Dwarf_Attribute attribute;
	Dwarf_Die found, origin;

	for (size_t depth = s->scopes.depth; depth-- > 0;) {
		Dwarf_Die *scope = &s->scopes.die[depth];
		if (find_child(s, scope, name, &found))
			return take_variable(s, &found);
		/* A variable that the compiler has removed may only be in the function as it was written. */
		if (dwarf_formref_die(dwarf_attr(scope, DW_AT_abstract_origin, &attribute),
				      &origin) &&
		    find_child(s, &origin, name, &found))
			return nw_lacks(s, NW_LACK_OPTIMISED);
	}
	if (find_child(s, &s->unit, name, &found))
		return take_variable(s, &found);
	return nw_wrong(s, "the source has no argument or variable", name);
}

#endif
