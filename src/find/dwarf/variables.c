// SPDX-License-Identifier: MIT
/*
 * Finds where the parameters and variables of the source are at an address, from DWARF, by libdw. An expression such as
 * "request->id" becomes a base (register or address) and offsets of loads.
 */
#include "variables.h"

#ifdef NW_HAVE_LIBDW

#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find/elf/symbol.h"

enum {
	MOST_STEPS =
		64, /* of one walk through types, which may lead in circles in hostile files */
	MOST_ELEMENTS = 64,  /* of an array: the kernel's limit */
	MOST_FIELDS = 65536, /* that are looked at for one name */
	LONGEST_NAME = 128,
	MOST_ENUMERATORS = 4096,     /* that are looked at */
	MOST_ENUMERATION = 16 << 10, /* bytes of their names and values */
};

bool nw_lacks(struct nw_finding *s, enum nw_lack lack)
{
	s->out->lack = lack;
	return false;
}

static const char *name_of(const struct nw_finding *s, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return nw_attribute_text(&s->lines->info.sections,
				 dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

bool nw_is_named(const struct nw_finding *s, Dwarf_Die *die, const char *name)
{
	const char *its = name_of(s, die);

	return its && strcmp(its, name) == 0;
}

/* ---- types -------------------------------------------------------------------------- */

bool nw_type_of(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die;

	return dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attribute), out);
}

/* Goes to the type behind typedefs and qualifiers. Returns false if there is none, as behind `const void`. */
static bool peel(Dwarf_Die *type)
{
	for (int i = 0; i < MOST_STEPS; i++) {
		Dwarf_Die at = *type;
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			if (!nw_type_of(&at, type))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

bool nw_find_type(Dwarf_Die *die, Dwarf_Die *out)
{
	return nw_type_of(die, out) && peel(out);
}

static bool is_reference(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_reference_type ||
	       dwarf_tag(type) == DW_TAG_rvalue_reference_type;
}

static bool is_structure(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* Writes a type as the source has it. */
static void write_type(struct nw_finding *s, Dwarf_Die *type, struct nw_buf *out,
		       unsigned int depth)
{
	const char *name = name_of(s, type);
	const char *before = "", *behind = "";
	Dwarf_Die next;

	/* Names of Go's types are whole: "*main.Request" */
	if (name && nw_is_go_unit(s)) {
		nw_buf_adds(out, name);
		return;
	}

	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		before = "struct ";
		break;
	case DW_TAG_union_type:
		before = "union ";
		break;
	case DW_TAG_enumeration_type:
		before = "enum ";
		break;
	case DW_TAG_const_type:
		before = "const ";
		break;
	case DW_TAG_volatile_type:
		before = "volatile ";
		break;
	case DW_TAG_pointer_type:
		behind = " *";
		break;
	case DW_TAG_reference_type:
		behind = " &";
		break;
	case DW_TAG_rvalue_reference_type:
		behind = " &&";
		break;
	case DW_TAG_array_type:
		behind = "[]";
		break;
	default:
		break;
	}
	nw_buf_adds(out, before);
	if (name)
		nw_buf_adds(out, name);
	else if (!is_structure(type) && depth < 8 && nw_type_of(type, &next))
		write_type(s, &next, out, depth + 1);
	else
		nw_buf_adds(out, is_structure(type) ? "{...}" : "void");
	nw_buf_adds(out, behind);
}

/* Reads a number that the entry must have. A place that is an expression is none. */
static bool required_number(Dwarf_Die *die, unsigned int name, uint64_t *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value) != 0)
		return false;
	*out = value;
	return true;
}

/* ---- loads and offsets -------------------------------------------------------------- */

unsigned int nw_word_of(struct nw_finding *s)
{
	Dwarf_Off next;
	size_t header;
	uint8_t address = 0;

	/* The first unit's addresses are as wide as all others'. */
	dwarf_nextcu(s->lines->info.dwarf, 0, &next, &header, NULL, &address, NULL);
	return address;
}

/* Goes from a pointer to what it points to. */
static bool follow(struct nw_finding *s)
{
	struct nw_variable *v = s->out;
	Dwarf_Die pointer = s->type;

	if (!nw_take_piece(s, nw_word_of(s)))
		return false;
	if (!nw_find_type(&pointer, &s->type))
		return nw_lacks(s, NW_LACK_TYPE);
	if (!v->is_memory) {
		v->is_memory = true;
		return true;
	}
	if (v->loads == NW_MOST_LOADS)
		return nw_lacks(s, NW_LACK_DEEP);
	v->add[++v->loads] = 0;
	return true;
}

/* Goes through references, which the source does not show. */
static bool settle(struct nw_finding *s)
{
	if (!peel(&s->type))
		return nw_lacks(s, NW_LACK_TYPE);
	for (int i = 0; is_reference(&s->type); i++)
		if (i == MOST_STEPS || !follow(s))
			return nw_lacks(s, s->out->lack ? s->out->lack : NW_LACK_TYPE);
	return true;
}

bool nw_add_offset(struct nw_finding *s, uint64_t bytes)
{
	int64_t *add = &s->out->add[s->out->loads];

	if (s->pieces.count)
		return !nw_add_overflows(s->pieces.at, bytes, &s->pieces.at) ||
		       nw_lacks(s, NW_LACK_TYPE);
	if (!s->out->is_memory) /* several fields in one register, or a constant */
		return nw_lacks(s, NW_LACK_PIECES);
	return !nw_add_overflows_signed(*add, (int64_t)bytes, add) ||
	       nw_lacks(s, NW_LACK_TYPE);
}

/* ---- fields ------------------------------------------------------------------------- */

/* Sets the bits of a bit field: the smallest aligned number that holds all of them. */
static bool take_bits(struct nw_finding *s, Dwarf_Die *field, uint64_t bits)
{
	uint64_t first = 0, storage, from_top;

	if (s->lines->info.sections.big_endian)
		return nw_lacks(s, NW_LACK_TYPE);
	if (!required_number(field, DW_AT_data_bit_offset, &first)) {
		/* DWARF 3 counts from the highest bit of the field's storage. */
		if (!required_number(field, DW_AT_bit_offset, &from_top) ||
		    dwarf_aggregate_size(&s->type, &storage) != 0 || storage > 8 ||
		    from_top > 64 || bits > 64 || from_top + bits > storage * 8)
			return nw_lacks(s, NW_LACK_TYPE);
		first = storage * 8 - from_top - bits;
	}
	for (uint64_t size = 1; bits && bits <= 64 && size <= 8; size *= 2) {
		uint64_t begin = first / 8 / size * size;
		if (first + bits > (begin + size) * 8)
			continue;
		s->out->bits = (unsigned int)bits;
		s->out->shift = (unsigned int)(first - begin * 8);
		s->out->size = (unsigned int)size;
		return nw_add_offset(s, begin);
	}
	return nw_lacks(s, NW_LACK_WIDE);
}

static bool take_field(struct nw_finding *s, Dwarf_Die *field)
{
	Dwarf_Attribute attribute;
	uint64_t offset = 0, bits;

	if (dwarf_attr(field, DW_AT_data_member_location, &attribute) &&
	    !required_number(field, DW_AT_data_member_location, &offset))
		return nw_lacks(s, NW_LACK_COMPUTED);
	if (!nw_type_of(field, &s->type))
		return nw_lacks(s, NW_LACK_TYPE);
	if (!nw_add_offset(s, offset))
		return false;
	return !required_number(field, DW_AT_bit_size, &bits) || take_bits(s, field, bits);
}

/* Finds a field of this name, also in base classes and in structures without a name. Returns true if s is the field
 * now, or lacks a value. */
static bool find_field(struct nw_finding *s, const char *name)
{
	enum {
		DEEPEST = 16
	};
	const struct nw_variable before = *s->out;
	Dwarf_Die structure = s->type, field;
	Dwarf_Attribute attribute;

	if (s->depth == DEEPEST || dwarf_child(&structure, &field) != 0)
		return false;
	s->depth++;
	do {
		int tag = dwarf_tag(&field);
		bool is_base = tag == DW_TAG_inheritance &&
			       !dwarf_attr(&field, DW_AT_virtuality, &attribute);
		bool is_field = tag == DW_TAG_member &&
				!dwarf_attr(&field, DW_AT_external, &attribute);
		if (!s->fields)
			break;
		s->fields--;
		bool named = is_field && nw_is_named(s, &field, name);
		if (!named && !is_base && (!is_field || name_of(s, &field)))
			continue;
		bool taken = take_field(s, &field);
		if (named || (taken && peel(&s->type) && find_field(s, name))) {
			s->depth--;
			return true;
		}
		*s->out = before;
	} while (dwarf_siblingof(&field, &field) == 0);
	s->type = structure;
	s->depth--;
	return false;
}

bool nw_wrong(struct nw_finding *s, const char *what, const char *name)
{
	nw_buf_printf(s->error, "%s '%s'", what, name);
	return false;
}

/* Steps from a structure, or a pointer to one, to its field. */
static bool step_to_field(struct nw_finding *s, const char *name)
{
	Dwarf_Attribute attribute;

	if (!settle(s))
		return false;
	if (dwarf_tag(&s->type) == DW_TAG_pointer_type && (!follow(s) || !settle(s)))
		return false;
	if (!is_structure(&s->type))
		return nw_wrong(s,
				"what stands before it is no structure, so it has no field",
				name);
	if (dwarf_attr(&s->type, DW_AT_declaration, &attribute))
		return nw_lacks(s, NW_LACK_INCOMPLETE);
	s->fields = MOST_FIELDS;
	if (!find_field(s, name))
		return nw_wrong(s, "the structure has no field", name);
	return !s->out->lack;
}

static bool step_to_element(struct nw_finding *s, uint64_t index)
{
	Dwarf_Word size;
	Dwarf_Die array;

	if (!settle(s))
		return false;
	array = s->type;
	if (dwarf_tag(&array) == DW_TAG_pointer_type) {
		if (!follow(s))
			return false;
	} else if (dwarf_tag(&array) != DW_TAG_array_type) {
		return nw_wrong(s, "only arrays and pointers have elements, not", "[");
	} else if (!nw_find_type(&array, &s->type)) {
		return nw_lacks(s, NW_LACK_TYPE);
	} else {
		Dwarf_Die bound, second;
		if (dwarf_child(&array, &bound) == 0 &&
		    dwarf_siblingof(&bound, &second) == 0)
			return nw_lacks(s, NW_LACK_TYPE); /* several dimensions */
	}
	if (dwarf_aggregate_size(&s->type, &size) != 0 || size > UINT32_MAX)
		return nw_lacks(s, NW_LACK_INCOMPLETE);
	return nw_add_offset(s, index * size);
}

static bool find_result(struct nw_finding *s)
{
	Dwarf_Attribute attribute;

	if (!s->function)
		return nw_lacks(s, NW_LACK_TYPE);
	nw_set_base(s, NW_BASE_RESULT, 0, 0, false);
	if (nw_type_of(s->function, &s->type))
		return peel(&s->type) || nw_lacks(s, NW_LACK_TYPE);
	/* Assemblers do not tell types. */
	bool is_void = !dwarf_attr_integrate(s->function, DW_AT_type, &attribute) &&
		       nw_die_number(&s->unit, DW_AT_language) != DW_LANG_Mips_Assembler;
	return nw_lacks(s, is_void ? NW_LACK_VOID : NW_LACK_TYPE);
}

/* ---- values ------------------------------------------------------------------------- */

static bool take_number(struct nw_finding *s, Dwarf_Die *type)
{
	struct nw_variable *v = s->out;
	Dwarf_Word size;

	if (dwarf_aggregate_size(type, &size) != 0 ||
	    !nw_is_plain_size((unsigned int)size) || size > 8)
		return nw_lacks(s, NW_LACK_WIDE);
	v->size = v->bits ? v->size : (unsigned int)size;
	switch (nw_die_number(type, DW_AT_encoding)) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		v->is_signed = true;
		return true;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
	case DW_ATE_UTF:
		return true;
	case DW_ATE_float:
		v->is_float = true;
		/* Registers for integers hold floating point in no convention that ftrace could follow. */
		return (v->is_memory && size >= 4) || nw_lacks(s, NW_LACK_REGISTER);
	default:
		return nw_lacks(s, NW_LACK_TYPE);
	}
}

static bool take_pointer(struct nw_finding *s, Dwarf_Die *type)
{
	Dwarf_Die target;

	s->out->size = nw_word_of(s);
	s->out->is_pointer = true;
	s->out->is_string = nw_find_type(type, &target) &&
			    dwarf_tag(&target) == DW_TAG_base_type &&
			    nw_is_named(s, &target, "char");
	return nw_is_plain_size(s->out->size) || nw_lacks(s, NW_LACK_TYPE);
}

/* An array's first elements. */
static bool take_array(struct nw_finding *s, Dwarf_Die *type)
{
	Dwarf_Word whole;
	Dwarf_Die element;

	if (!s->out->is_memory || !nw_find_type(type, &element) ||
	    dwarf_aggregate_size(type, &whole) != 0)
		return nw_lacks(s, NW_LACK_TYPE);
	if (dwarf_tag(&element) == DW_TAG_pointer_type) {
		s->out->size = nw_word_of(s);
		s->out->is_pointer = true;
	} else if (dwarf_tag(&element) != DW_TAG_base_type || !take_number(s, &element)) {
		return nw_lacks(s,
				is_structure(&element) ? NW_LACK_STRUCTURE : NW_LACK_TYPE);
	}
	s->out->is_string = nw_is_named(s, &element, "char");
	if (!s->out->size || !(whole / s->out->size))
		return nw_lacks(s, NW_LACK_TYPE);
	s->out->elements = (unsigned int)nw_min64(whole / s->out->size, MOST_ELEMENTS);
	s->out->size *= s->out->elements;
	return true;
}

/* An enumeration has the sign of the type below it; one without such a type does not tell. */
static bool take_enumeration(struct nw_finding *s, Dwarf_Die *type)
{
	Dwarf_Die below;

	if (!nw_find_type(type, &below) || dwarf_tag(&below) != DW_TAG_base_type)
		return nw_lacks(s, NW_LACK_TYPE);
	return take_number(s, &below);
}

bool nw_is_go_unit(struct nw_finding *s)
{
	return nw_die_number(&s->unit, DW_AT_language) == DW_LANG_Go;
}

/* Takes a string of Go, a structure of a pointer `str` and a length `len`. Its text has no end of its own. */
static bool take_go_string(struct nw_finding *s)
{
	const Dwarf_Die string = s->type;
	Dwarf_Die type;

	if (!step_to_field(s, "str") || !peel(&s->type))
		return nw_lacks(s, s->out->lack ? s->out->lack : NW_LACK_TYPE);
	type = s->type;
	if (dwarf_tag(&type) != DW_TAG_pointer_type || !nw_take_piece(s, nw_word_of(s)) ||
	    !take_pointer(s, &type))
		return nw_lacks(s, s->out->lack ? s->out->lack : NW_LACK_TYPE);
	s->out->is_string = s->out->is_counted = true;
	s->type = string;
	return true;
}

/* Goes to the piece that holds the whole number or pointer. */
static bool take_whole(struct nw_finding *s)
{
	Dwarf_Word size = s->out->size; /* of what holds a bit field */

	if (!s->pieces.count || is_structure(&s->type))
		return true;
	if (dwarf_tag(&s->type) == DW_TAG_array_type)
		return nw_lacks(s, NW_LACK_PIECES);
	if (dwarf_tag(&s->type) == DW_TAG_pointer_type || is_reference(&s->type))
		size = nw_word_of(s);
	else if (!s->out->bits && dwarf_aggregate_size(&s->type, &size) != 0)
		return nw_lacks(s, NW_LACK_TYPE);
	return nw_take_piece(s, size) &&
	       (!s->out->bits || s->out->is_memory || nw_lacks(s, NW_LACK_PIECES));
}

static bool take_value(struct nw_finding *s)
{
	Dwarf_Die *type = &s->type;

	if (is_structure(type) && nw_is_go_unit(s) && nw_is_named(s, type, "string"))
		return take_go_string(s);
	if (!take_whole(s))
		return false;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return take_number(s, type);
	case DW_TAG_enumeration_type:
		return take_enumeration(s, type);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type: /* only a result is still one */
	case DW_TAG_rvalue_reference_type:
		return take_pointer(s, type);
	case DW_TAG_array_type:
		return take_array(s, type);
	default:
		return nw_lacks(s, is_structure(type) ? NW_LACK_STRUCTURE : NW_LACK_TYPE);
	}
}

/* Returns a length, 0 if the text is no identifier, or a longer one than any in a source should be. */
static size_t identifier_length(const char *text)
{
	size_t len = 0;

	while (len < LONGEST_NAME &&
	       (isalnum((unsigned char)text[len]) || text[len] == '_'))
		len++;
	return len == LONGEST_NAME || text[len] || isdigit((unsigned char)*text) ? 0 : len;
}

/* Writes "VALUE=NAME". Compilers write a value as a signed number only if it is negative, or if the form says so. */
static void write_enumerator(const struct nw_finding *s, Dwarf_Die *die, struct nw_buf *out)
{
	const char *name = name_of(s, die);
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0;
	Dwarf_Sword negative = 0;

	if (!name || !identifier_length(name) ||
	    !dwarf_attr(die, DW_AT_const_value, &attribute))
		return;
	const unsigned int form = dwarf_whatform(&attribute);
	const bool is_signed = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
	if (is_signed ? dwarf_formsdata(&attribute, &negative) != 0
		      : dwarf_formudata(&attribute, &number) != 0)
		return;
	number = is_signed ? (Dwarf_Word)negative : number;
	nw_buf_adds(out, out->len ? "," : "");
	if (s->out->is_signed)
		nw_buf_printf(out, "%" PRId64 "=%s", (int64_t)number, name);
	else
		nw_buf_printf(out, "%" PRIu64 "=%s", (uint64_t)number, name);
}

/* Writes the names of an enumeration's values, as many as there is room for: the others are shown as numbers. */
static void write_enumerators(const struct nw_finding *s, struct nw_buf *out)
{
	Dwarf_Die type = s->type, child;
	unsigned int left = MOST_ENUMERATORS;

	if (dwarf_tag(&type) != DW_TAG_enumeration_type || dwarf_child(&type, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_enumerator)
			write_enumerator(s, &child, out);
	} while (--left && out->len < MOST_ENUMERATION &&
		 dwarf_siblingof(&child, &child) == 0);
}

/* Writes the names of the function's arguments. The function as it was written has also those that the compiler removed. */
static void write_arguments(struct nw_finding *s, struct nw_buf *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Die written, child;
	unsigned int left = NW_MOST_VARIABLES;

	if (!dwarf_formref_die(dwarf_attr(s->function, DW_AT_abstract_origin, &attribute),
			       &written))
		written = *s->function;
	if (dwarf_child(&written, &child) != 0)
		return;
	do {
		const char *name = dwarf_tag(&child) == DW_TAG_formal_parameter
					   ? name_of(s, &child)
					   : NULL;
		if (!s->scopes.entries)
			return;
		s->scopes.entries--;
		if (!name || !identifier_length(name))
			continue;
		nw_buf_printf(out, "%s%s", out->len ? "," : "", name);
		left--;
	} while (left && dwarf_siblingof(&child, &child) == 0);
}

/* Makes of a computed value what a fetch can be: a load if it ends with one. */
static bool make_fetchable(struct nw_finding *s)
{
	struct nw_variable *v = s->out;

	if (v->base == NW_BASE_CONSTANT)
		return (!v->is_memory && !v->loads) || nw_lacks(s, NW_LACK_COMPUTED);
	if (v->is_memory)
		return true;
	if (v->loads && !v->add[v->loads] && !s->lines->info.sections.big_endian) {
		v->loads--;
		v->is_memory = true;
		return true;
	}
	return (!v->loads && !v->add[0] && v->base != NW_BASE_ADDRESS) ||
	       nw_lacks(s, NW_LACK_COMPUTED);
}

/* ---- expressions -------------------------------------------------------------------- */

/* Takes a name off the text. Returns false if there is none. */
static bool take_name(const char **at, char out[LONGEST_NAME])
{
	size_t len = 0;

	while (isalnum((unsigned char)(*at)[len]) || (*at)[len] == '_')
		len++;
	if (!len || len >= LONGEST_NAME || isdigit((unsigned char)**at))
		return false;
	memcpy(out, *at, len);
	out[len] = '\0';
	*at += len;
	return true;
}

/* Follows ".field", "->field" and "[3]" behind a name. */
static bool follow_path(struct nw_finding *s, const char *at)
{
	char name[LONGEST_NAME];

	while (*at) {
		char *end = NULL;
		if (*at == '[') {
			uint64_t index = strtoul(at + 1, &end, 10);
			if (end == at + 1 || *end != ']' || index > UINT32_MAX)
				return nw_wrong(s, "an index is a number, not", at);
			at = end + 1;
			if (!step_to_element(s, index))
				return false;
			continue;
		}
		at += at[0] == '-' && at[1] == '>' ? 2 : 1;
		if (!take_name(&at, name))
			return nw_wrong(s, "a field's name is missing at", at);
		if (!step_to_field(s, name))
			return false;
	}
	return true;
}

static bool evaluate(struct nw_finding *s, const char *expression)
{
	const char *at = expression;
	char name[LONGEST_NAME];

	if (strcmp(expression, NW_RESULT) == 0)
		return find_result(s) && take_value(s);
	if (!take_name(&at, name))
		return nw_wrong(s, "a name is missing in", expression);
	if (!nw_find_variable(s, name) || !follow_path(s, at) || !settle(s))
		return false;
	return take_value(s) && make_fetchable(s);
}

/* Finds the scopes around the address. At an entry, functions that are inlined there have not begun. */
static bool find_scopes(struct nw_finding *s)
{
	size_t depth;

	s->scopes.vaddr = s->place->vaddr;
	s->scopes.entries = nw_debug_size(s->lines->info.elf);
	s->scopes.entered = !s->place->is_entry;
	if (!nw_find_unit(s->lines, s->place->vaddr, &s->unit))
		return false;
	nw_find_scopes(&s->unit, &s->scopes);
	for (depth = s->scopes.depth; depth > 0 && !s->function; depth--)
		if (dwarf_tag(&s->scopes.die[depth - 1]) == DW_TAG_subprogram)
			s->function = &s->scopes.die[depth - 1];
	if (s->place->is_entry && s->function)
		s->scopes.depth = depth + 1;
	return s->function != NULL;
}

void nw_lines_variable(struct nw_lines *lines, const struct nw_variable_place *place,
		       const char *expression, struct nw_variable *out,
		       struct nw_buf *error, struct nw_buf *type, struct nw_buf *names)
{
	struct nw_finding *s = calloc(1, sizeof(*s));

	*out = (struct nw_variable){0};
	if (!s) {
		error->failed = true;
		return;
	}
	*s = (struct nw_finding){
		.lines = lines, .place = place, .out = out, .error = error};
	if (!find_scopes(s))
		nw_buf_adds(error, "its source is not known");
	else if (strcmp(expression, NW_ARGUMENTS) == 0)
		write_arguments(s, names);
	else if ((evaluate(s, expression) || out->lack) && s->type.addr)
		write_type(s, &s->type, type, 0);
	if (s->type.addr && !out->lack)
		write_enumerators(s, names);
	free(s);
}

#else

void nw_lines_variable(struct nw_lines *lines, const struct nw_variable_place *place,
		       const char *expression, struct nw_variable *out,
		       struct nw_buf *error, struct nw_buf *type, struct nw_buf *names)
{
	(void)lines, (void)place, (void)expression, (void)error, (void)type, (void)names;
	*out = (struct nw_variable){0};
}

#endif
