// SPDX-License-Identifier: MIT
/*
 * Arguments of a function that are read when it returns. The registers that passed them have other values by then, so the
 * base of an argument's place is kept at the entry: the register, or the word on the stack, since the function may use
 * the stack's arguments for something else. What lies behind the base is read at the return.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "find/arch/arch.h"

enum {
	MOST_KEPT =
		6 /* a hist trigger has room for 16 variables, and for as many references to others */
};

bool nw_spec_carries(const struct nw_spec *spec)
{
	nw_vec_each (&spec->args, arg)
		if (arg->at_return)
			return true;
	return false;
}

const struct nw_probe *nw_selection_carries(const struct nw_selection *selection)
{
	nw_vec_each (&selection->probes, probe)
		nw_vec_each (&(*probe)->args, arg)
			if (arg->at_return)
				return *probe;
	return NULL;
}

/* Returns why the operand cannot be carried; NULL: it can. */
static const char *problem_of(const struct nw_arch *arch, const struct nw_operand *op)
{
	const bool on_stack = op->kind == NW_OPERAND_MEMORY &&
			      strcmp(op->reg, arch->stack) == 0;

	if (op->problem)
		return op->problem;
	if (op->kind != NW_OPERAND_REGISTER && op->kind != NW_OPERAND_MEMORY)
		return "at the return only arguments are read, no globals and no constants";
	if (!*op->reg || *op->reg_high || *op->index || op->half ||
	    (op->kind == NW_OPERAND_REGISTER && op->shift))
		return "it is not passed as one word, which could be kept until the return";
	if (on_stack && !op->loads && (op->in_place || op->bits || op->size > arch->word))
		return "it is passed on the stack, and larger or smaller than a word";
	return NULL;
}

/* Writes the word that is kept at the entry, and makes the operand begin with it. */
static void keep_base(const struct nw_arch *arch, struct nw_operand *op, char out[32])
{
	if (op->kind == NW_OPERAND_REGISTER || strcmp(op->reg, arch->stack) != 0) {
		snprintf(out, 32, "%%%s", op->reg);
		return;
	}
	snprintf(out, 32, "%+" PRId64 "(%%%s)", op->offset, op->reg);
	if (!op->loads) {
		op->kind = NW_OPERAND_REGISTER;
		return;
	}
	op->offset = op->then[0];
	op->loads--;
	memmove(op->then, op->then + 1, sizeof(op->then) - sizeof(op->then[0]));
}

/* Adds a word to those that are kept, unless it is there. Returns its number; -1: there are too many; -ENOMEM. */
static int number_of(nw_strings *kept, const char *word)
{
	for (size_t i = 0; i < kept->count; i++)
		if (strcmp(kept->item[i], word) == 0)
			return (int)i;
	if (kept->count == MOST_KEPT)
		return -1;
	return nw_strings_add(kept, word, strlen(word)) < 0 ? -ENOMEM
							    : (int)kept->count - 1;
}

/* Makes the operand of a return from that of the entry. */
static int carry_operand(const struct nw_point *at, const struct nw_operand *from,
			 nw_strings *kept, struct nw_operand *out)
{
	const struct nw_arch *arch = at->image->arch;
	char base[32];

	*out = *from;
	out->problem =
		at->jumps
			? "the function is left by a jump into another one, which has not returned yet"
			: problem_of(arch, from);
	if (out->problem)
		return 0;
	keep_base(arch, out, base);
	int number = number_of(kept, base);
	if (number == -1)
		out->problem = "one of too many arguments that are read at the return";
	else if (number >= 0)
		snprintf(out->reg, sizeof(out->reg), "k%d", number);
	out->carried = !out->problem;
	return number < -1 ? number : 0;
}

static int copy_kept(const nw_strings *from, nw_strings *to)
{
	nw_strings_free(to);
	nw_vec_each (from, word)
		if (nw_strings_add(to, *word, strlen(*word)) < 0)
			return -ENOMEM;
	return 0;
}

/* Adds argument i of the entry to the returns. */
static int add_argument(const struct nw_probe *entry, size_t i, struct nw_probe *returns)
{
	static const struct nw_operand none = {
		.text = "", .size = 8, .problem = "where it is passed is not known"};
	const nw_operands *operands = &entry->points.item[0].operands;
	const char *words = i < entry->enums.count ? entry->enums.item[i] : "";
	struct nw_named_arg *arg = nw_vec_add(&returns->args);

	if (!arg)
		return -ENOMEM;
	*arg = entry->args.item[i];
	while (returns->enums.count + 1 < returns->args.count)
		if (nw_strings_add(&returns->enums, "", 0) < 0)
			return -ENOMEM;
	if (nw_strings_add(&returns->enums, words, strlen(words)) < 0)
		return -ENOMEM;
	nw_vec_each (&returns->points, point) {
		while (point->operands.count + 1 < returns->args.count) {
			struct nw_operand *gap = nw_vec_add(&point->operands);
			if (!gap)
				return -ENOMEM;
			*gap = none;
		}
		struct nw_operand *op = nw_vec_add(&point->operands);
		if (!op ||
		    carry_operand(point, i < operands->count ? &operands->item[i] : &none,
				  &returns->points.item[0].kept, op) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Takes argument i away from a probe. */
static void drop_argument(struct nw_probe *probe, size_t i)
{
	memmove(&probe->args.item[i], &probe->args.item[i + 1],
		(--probe->args.count - i) * sizeof(*probe->args.item));
	if (i < probe->enums.count) {
		free(probe->enums.item[i]);
		memmove(&probe->enums.item[i], &probe->enums.item[i + 1],
			(--probe->enums.count - i) * sizeof(*probe->enums.item));
	}
	nw_vec_each (&probe->points, point) {
		nw_operands *operands = &point->operands;
		if (i >= operands->count)
			continue;
		operands->count--;
		memmove(&operands->item[i], &operands->item[i + 1],
			(operands->count - i) * sizeof(*operands->item));
	}
	if (probe->named > i)
		probe->named--;
}

static int check(const struct nw_spec *spec, const struct nw_probe *entry,
		 const struct nw_probe *returns, struct nw_error *err)
{
	if (!entry || !returns || !entry->image->arch || !entry->image->arch->stack) {
		nw_fail(err, EOPNOTSUPP,
			"'%s': how this file's functions are called is not known",
			spec->text);
		return -EOPNOTSUPP;
	}
	if (!entry->image->go)
		return 0;
	nw_fail(err, EOPNOTSUPP,
		"'%s': arguments of Go functions cannot be read at the return, since Go moves calls to other threads and stacks",
		spec->text);
	nw_error_hint(err, "leave @return out: then they are read at the entry");
	return -EOPNOTSUPP;
}

/* The length of a string is the result, which is called "ret", or another argument that is read at the return. */
static int check_lengths(const struct nw_spec *spec, const struct nw_probe *returns,
			 struct nw_error *err)
{
	nw_vec_each (&returns->args, arg) {
		if (!*arg->length || nw_arg_find(returns, arg->length) >= 0)
			continue;
		nw_fail_usage(
			err,
			"'%s': the length of '%s' is to be '%s', which is not known at the return",
			spec->text, arg->name, arg->length);
		nw_error_hint(
			err,
			"the result of the call is 'ret'; another argument needs @return, too: %s@return",
			arg->length);
		return -EINVAL;
	}
	return 0;
}

int nw_carry_arguments(const struct nw_spec *spec, struct nw_probe *entry,
		       struct nw_probe *returns, struct nw_error *err)
{
	int ret = check(spec, entry, returns, err);

	if (ret < 0)
		return ret;
	/* Another spec may have named the function before. */
	while (returns->args.count && returns->args.item[returns->args.count - 1].at_return)
		drop_argument(returns, returns->args.count - 1);
	if (returns->args.count && nw_arg_find(entry, "ret") < 0)
		strcpy(returns->args.item[0].name, "ret");
	for (size_t i = 0; ret == 0 && i < entry->args.count;) {
		if (!entry->args.item[i].at_return) {
			i++;
			continue;
		}
		ret = add_argument(entry, i, returns);
		drop_argument(entry, i);
	}
	returns->has_args = true;
	returns->named = returns->args.count;
	for (size_t i = 1; ret == 0 && i < returns->points.count; i++)
		ret = copy_kept(&returns->points.item[0].kept,
				&returns->points.item[i].kept);
	nw_vec_each (&entry->points, point)
		if (ret == 0)
			ret = copy_kept(&returns->points.item[0].kept, &point->kept);
	return ret < 0 ? nw_no_memory(err) : check_lengths(spec, returns, err);
}
