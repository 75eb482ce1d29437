// SPDX-License-Identifier: MIT
/* Arguments by the names that they have in the source, and the types of results: from DWARF to operands. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "find/arch/arch.h"

static const char *const lacks[] = {
#define LACK(name, why) [NW_LACK_##name] = (why),
	NW_LACKS(LACK)};

/* Finds the register of one of the integers that are passed, unless the compiler may have changed the function. */
static const char *take_passed(const struct nw_source_function *function, uint64_t number,
			       struct nw_operand *op)
{
	const struct nw_image *image = function->image;
	nw_operands all = {0};
	const char *problem = lacks[NW_LACK_PASSED];

	if (image->go || strchr(function->symbol, '.') || !image->arch->call_args)
		return problem;
	if (nw_operands_parse(image->arch, image->arch->call_args, &all) == 0 &&
	    number < all.count && all.item[number].kind == NW_OPERAND_REGISTER) {
		memcpy(op->reg, all.item[number].reg, sizeof(op->reg));
		problem = NULL;
	}
	nw_vec_free(&all);
	return problem;
}

/* Sets the base of the operand. Returns why it cannot. */
static const char *take_base(const struct nw_source_function *function,
			     const struct nw_variable *v, struct nw_operand *op)
{
	op->kind = v->is_memory ? NW_OPERAND_MEMORY : NW_OPERAND_REGISTER;
	switch (v->base) {
	case NW_BASE_REGISTER:
		return nw_arch_dwarf_register(function->image->arch, v->number, op->reg)
			       ? NULL
			       : lacks[NW_LACK_REGISTER];
	case NW_BASE_PASSED:
		return take_passed(function, v->number, op);
	case NW_BASE_ADDRESS:
		op->kind = NW_OPERAND_GLOBAL;
		op->address = v->number + (uint64_t)v->add[0];
		op->resolved = true;
		return NULL;
	default:
		op->kind = NW_OPERAND_CONSTANT;
		op->value = nw_operand_cut(v->number + (uint64_t)v->add[0], v->size,
					   v->is_signed);
		return NULL;
	}
}

static struct nw_operand operand_of(const struct nw_source_function *function,
				    const struct nw_variable *v)
{
	struct nw_operand op = {.text = "",
				.size = v->size ? v->size : function->image->arch->word,
				.is_signed = v->is_signed,
				.is_float = v->is_float,
				.in_place = v->elements,
				.bits = v->bits,
				.shift = v->shift,
				.loads = v->loads,
				.offset = v->add[0],
				.problem = lacks[v->lack]};

	memcpy(op.then, v->add + 1, sizeof(op.then));
	if (!op.problem)
		op.problem = take_base(function, v, &op);
	return op;
}

/* The type that a value has in the source, unless the operand says it. */
static struct nw_type type_of(const struct nw_variable *v)
{
	struct nw_type type = {.array = v->elements};

	if (v->lack || !(v->is_string || v->is_pointer || v->elements))
		return (struct nw_type){0};
	if (v->is_string && !v->elements)
		return (struct nw_type){.base = NW_TYPE_STRING};
	type.bits = v->size * 8 / (v->elements ? v->elements : 1);
	type.base = v->is_string    ? NW_TYPE_CHAR
		    : v->is_pointer ? NW_TYPE_HEX
		    : v->is_float   ? NW_TYPE_FLOAT
		    : v->is_signed  ? NW_TYPE_SIGNED
				    : NW_TYPE_UNSIGNED;
	return type;
}

/* Do the names mean the source's variables? If one of them cannot mean anything else, the others do, too. */
static int judge_names(const struct nw_spec *spec, bool inside,
		       const struct nw_variable *found, bool known, bool *by_name,
		       char **warning, struct nw_error *err)
{
	size_t wrong = spec->args.count;
	bool paths = inside;

	for (size_t i = spec->args.count; i-- > 0;) {
		if (known && *found[i].error)
			wrong = i;
		paths |= strpbrk(spec->args.item[i].name, ".->[") != NULL;
	}
	*by_name = known && wrong == spec->args.count;
	if (*by_name || (!known && !paths))
		return 0;
	const char *name = spec->args.item[wrong % spec->args.count].name;
	if (!paths) {
		*warning = nw_text(
			"'%s' of '%s': %s: the names are given to the arguments in their order",
			name, spec->text, found[wrong].error);
		return *warning ? 0 : nw_no_memory(err);
	}
	nw_fail_usage(err, "'%s' of '%s' cannot be found: %s", name, spec->text,
		      known ? found[wrong].error
			    : "there is no debugging information (DWARF) for the file");
	if (!known)
		nw_error_hint(
			err,
			"arguments by name need the file's debugging information: build with -g, or install its -dbgsym or -debuginfo package");
	return -EINVAL;
}

/*
 * Adds the lengths of strings of Go as further arguments, "NAME.len". `out` has an operand for each of the probe's
 * arguments.
 */
static int add_lengths(const struct nw_source_function *function,
		       const struct nw_variable *found, struct nw_probe *probe,
		       nw_operands *out, struct nw_error *err)
{
	const size_t count = probe->args.count;

	for (size_t i = 0; i < count; i++) {
		struct nw_named_arg *arg = &probe->args.item[i];
		struct nw_variable length = {.error = ""};
		bool known;
		if (!found[i].is_counted || arg->type.base != NW_TYPE_STRING)
			continue;
		nw_cleanup(nw_free_ptr) char *name = nw_text("%s.len", arg->name);
		const char *const asked = name;
		if (!name)
			return nw_no_memory(err);
		if (strlen(name) >= sizeof(arg->length)) {
			out->item[i].problem =
				"its name is longer than 27 characters: name its .str and .len";
			continue;
		}
		strcpy(arg->length, name);
		if (nw_arg_find(probe, name) >= 0)
			continue;
		int ret = nw_image_variables(function->reader, function->image,
					     function->vaddr, !function->inside, &asked, 1,
					     &length, &known, err);
		struct nw_named_arg *slot = ret == 0 ? nw_vec_add(&probe->args) : NULL;
		struct nw_operand *op = slot ? nw_vec_add(out) : NULL;
		if (!op || nw_strings_add(&probe->enums, "", 0) < 0)
			return ret < 0 ? ret : nw_no_memory(err);
		strcpy(slot->name, name);
		*op = operand_of(function, &length);
		if (!known || *length.error) /* only in a damaged file */
			op->problem = lacks[NW_LACK_TYPE];
		if (op->problem)
			out->item[i].problem = op->problem;
	}
	return 0;
}

int nw_source_operands(const struct nw_source_function *function,
		       const struct nw_spec *spec, struct nw_probe *probe, nw_operands *out,
		       bool *found, char **warning, struct nw_error *err)
{
	struct nw_variable variables[NW_MOST_VARIABLES] = {0};
	const char *names[NW_MOST_VARIABLES];
	struct nw_error why = {0};
	size_t count = spec->args.count;
	bool known = false;

	*found = false;
	if (!count || count > NW_MOST_VARIABLES)
		return 0;
	for (size_t i = 0; i < count; i++)
		names[i] = spec->args.item[i].name;
	if (nw_image_variables(function->reader, function->image, function->vaddr,
			       !function->inside, names, count, variables, &known,
			       &why) < 0) {
		*warning = nw_text("the source of '%s' cannot be read: %s",
				   function->symbol, why.what);
		if (!*warning)
			return nw_no_memory(err);
	}
	int ret = judge_names(spec, function->inside, variables, known, found, warning,
			      err);
	if (ret < 0 || !*found)
		return ret;
	nw_vec_free(&probe->args);
	nw_strings_free(&probe->enums);
	nw_vec_free(out);
	for (size_t i = 0; i < count; i++) {
		struct nw_named_arg *arg = nw_vec_add(&probe->args);
		struct nw_operand *op = nw_vec_add(out);
		const struct nw_type *given = &spec->args.item[i].type;
		const char *values = given->base == NW_TYPE_DEFAULT ? variables[i].names
								    : "";
		if (!arg || !op ||
		    nw_strings_add(&probe->enums, values, strlen(values)) < 0)
			return nw_no_memory(err);
		*op = operand_of(function, &variables[i]);
		*arg = spec->args.item[i];
		/* The characters of an array are there, not a pointer to them. */
		bool in_place = variables[i].is_string && variables[i].elements;
		if (arg->type.base == NW_TYPE_DEFAULT ||
		    (arg->type.base == NW_TYPE_STRING && in_place))
			arg->type = type_of(&variables[i]);
	}
	return add_lengths(function, variables, probe, out, err);
}

int nw_source_result(const struct nw_source_function *function, struct nw_operand *op,
		     char **warning)
{
	static const char *const result = NW_RESULT;
	struct nw_variable found = {0};
	struct nw_error why = {0};
	bool known;

	if (nw_image_variables(function->reader, function->image, function->vaddr, true,
			       &result, 1, &found, &known, &why) < 0) {
		*warning = nw_text("the types of %s are not known: %s",
				   function->image->path, why.what);
		return *warning ? 0 : -ENOMEM;
	}
	if (!known || *found.error || found.lack == NW_LACK_TYPE)
		return 0;
	if (found.lack == NW_LACK_STRUCTURE)
		op->problem =
			"the function returns a structure, which is in memory or in several registers";
	else if (found.lack == NW_LACK_REGISTER)
		op->problem = function->image->arch->float_result;
	else if (found.lack)
		op->problem = lacks[found.lack];
	else if (found.size > op->size)
		op->problem =
			"the function returns a number that does not fit into one register";
	if (op->problem || found.lack)
		return 0;
	op->size = found.size;
	op->is_signed = found.is_signed;
	return 0;
}

/* Asks for the names and then for what they mean, since an answer is valid until the next question. */
int nw_source_arguments_find(struct nw_reader *reader, struct nw_image *image,
			     const char *symbol, uint64_t vaddr, nw_source_arguments *out,
			     struct nw_error *err)
{
	static const char *const all = NW_ARGUMENTS;
	const struct nw_source_function function = {reader, image, symbol, vaddr, false};
	struct nw_variable found[NW_MOST_VARIABLES] = {0};
	const char *names[NW_MOST_VARIABLES];
	size_t count = 0;
	bool known;
	int ret = nw_image_variables(reader, image, vaddr, true, &all, 1, found, &known,
				     err);
	nw_cleanup(nw_free_ptr) char *text = strdup(ret == 0 && known ? found[0].names
								      : "");

	if (!text)
		return nw_no_memory(err);
	for (char *rest = text; ret == 0 && *text && rest && count < NW_MOST_VARIABLES;)
		names[count++] = strsep(&rest, ",");
	if (count)
		ret = nw_image_variables(reader, image, vaddr, true, names, count, found,
					 &known, err);
	for (size_t i = 0; ret == 0 && i < count; i++) {
		struct nw_source_argument *one = nw_vec_add(out);
		if (!one)
			return nw_no_memory(err);
		const struct nw_operand operand = operand_of(&function, &found[i]);
		*one = (struct nw_source_argument){strdup(names[i]), strdup(found[i].type),
						   operand.problem};
		if (!one->name || !one->type)
			return nw_no_memory(err);
	}
	return ret;
}

void nw_source_arguments_free(nw_source_arguments *arguments)
{
	nw_vec_each (arguments, one) {
		free(one->name);
		free(one->type);
	}
	nw_vec_free(arguments);
}
