// SPDX-License-Identifier: MIT
/* Sites and their arguments, for `list`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/output.h"
#include "nopwatch/plan.h"

static const char *kind_name(enum nw_operand_kind kind)
{
	static const char *const names[] = {
		[NW_OPERAND_UNKNOWN] = "unknown",   [NW_OPERAND_REGISTER] = "register",
		[NW_OPERAND_MEMORY] = "memory",	    [NW_OPERAND_GLOBAL] = "global",
		[NW_OPERAND_CONSTANT] = "constant",
	};

	return names[kind];
}

/* The arguments of a site: what its note says, and what is known beside. */
struct site_args {
	struct nw_point point; /* its operands */
	nw_named_args known;   /* one each */
};

/* Returns -ENOMEM at worst; then there are fewer. */
static int read_args(struct nw_image *image, const struct nw_site *site,
		     const struct nw_types *types, struct site_args *out)
{
	const struct nw_described *known = types ? nw_types_look_up(types, image->path,
								    site->provider,
								    site->name)
						 : NULL;
	nw_operands *operands = &out->point.operands;

	*out = (struct site_args){0};
	if (image->arch && nw_operands_parse(image->arch, site->args, operands) < 0)
		return -ENOMEM;
	nw_operands_resolve(image, site->vaddr, operands);
	while (out->known.count < operands->count) {
		if (!nw_vec_add(&out->known)) {
			operands->count = out->known.count;
			return -ENOMEM;
		}
	}
	if (known)
		nw_types_apply(known, &out->point, 1, &out->known);
	return 0;
}

static void free_args(struct site_args *args)
{
	nw_vec_free(&args->point.operands);
	nw_vec_free(&args->known);
}

/* The fetch as a kernel that has everything would take it. */
static void fetch_of(const struct nw_image *image, const struct nw_site *site,
		     const struct nw_operand *op, const struct nw_named_arg *known,
		     struct nw_fetch *out)
{
	nw_fetch_make(op, &known->type, image->arch, image->big_endian, site->vaddr,
		      &nw_caps_all, out);
}

/* Both halves of a pair of registers. */
static char *fetch_text(const struct nw_fetch *fetch)
{
	return nw_text("%s%s%s", fetch->text, *fetch->high_text ? " " : "",
		       fetch->high_text);
}

/* ---- JSON --------------------------------------------------------------------------- */

static void value_keys(const struct nw_operand *op, struct nw_json *json)
{
	if (*op->reg)
		nw_json_key_text(json, "register", op->reg);
	if (*op->reg_high)
		nw_json_key_text(json, "register_high", op->reg_high);
	if (op->kind == NW_OPERAND_MEMORY || op->kind == NW_OPERAND_GLOBAL || op->symbol) {
		nw_json_key(json, "offset");
		nw_json_i64(json, op->offset);
	}
	if (*op->index) {
		nw_json_key_text(json, "index_register", op->index);
		nw_json_key_u64(json, "scale", op->scale);
	}
	if (op->symbol) {
		nw_json_key(json, "symbol");
		nw_json_text(json, op->symbol, op->symbol_len);
	}
	if (op->kind != NW_OPERAND_CONSTANT || (op->symbol && !op->resolved))
		return;
	nw_json_key(json, "value");
	if (op->is_signed)
		nw_json_i64(json, (int64_t)op->value);
	else
		nw_json_u64(json, op->value);
}

static void arg_json(const struct nw_image *image, const struct nw_site *site,
		     const struct nw_operand *op, const struct nw_named_arg *known,
		     size_t index, struct nw_json *json)
{
	struct nw_fetch fetch;
	char type[16];

	fetch_of(image, site, op, known, &fetch);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "index", index);
	if (*known->name)
		nw_json_key_text(json, "name", known->name);
	if (known->type.base != NW_TYPE_DEFAULT) {
		nw_type_text(&known->type, type);
		nw_json_key_text(json, "type", type);
	}
	nw_json_key(json, "text");
	nw_json_text(json, op->text, op->text_len);
	nw_json_key_u64(json, "size", op->size);
	nw_json_key(json, "signed");
	nw_json_bool(json, op->is_signed);
	nw_json_key(json, "float");
	nw_json_bool(json, op->is_float);
	nw_json_key_text(json, "kind", kind_name(op->kind));
	value_keys(op, json);
	nw_json_key(json, "fetch");
	nw_cleanup(nw_free_ptr) char *text = fetch_text(&fetch);
	if (fetch.problem || !text || !*text)
		nw_json_null(json);
	else
		nw_json_text(json, text, strlen(text));
	if (fetch.problem)
		nw_json_key_text(json, "problem", fetch.problem);
	else if (fetch.remark)
		nw_json_key_text(json, "remark", fetch.remark);
	nw_json_close(json, '}');
}

static void image_keys(const struct nw_image *image, struct nw_json *json)
{
	nw_json_key_text(json, "path", image->path);
	if (*image->build_id)
		nw_json_key_text(json, "build_id", image->build_id);
	if (image->arch)
		nw_json_key_text(json, "arch", nw_arch_name(image->arch));
}

void nw_site_json(struct nw_image *image, const struct nw_site *site,
		  const struct nw_types *types, struct nw_buf *out)
{
	struct nw_json json = {.out = out};
	struct nw_symbol function;
	struct site_args args;

	if (read_args(image, site, types, &args) < 0)
		out->failed = true;
	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", "site");
	nw_json_key_text(&json, "provider", site->provider);
	nw_json_key_text(&json, "name", site->name);
	image_keys(image, &json);
	nw_json_key_u64(&json, "vaddr", site->vaddr);
	nw_json_key_u64(&json, "offset", site->offset);
	if (site->semaphore_vaddr) {
		nw_json_key_u64(&json, "semaphore_vaddr", site->semaphore_vaddr);
		nw_json_key_u64(&json, "semaphore_offset", site->semaphore_offset);
	}
	if (nw_nop_name(site->nop))
		nw_json_key_text(&json, "nop", nw_nop_name(site->nop));
	if (nw_image_function(image, site->vaddr, &function) == 0)
		nw_json_key_text(&json, "function", function.name);
	if (site->warning)
		nw_json_key_text(&json, "warning", site->warning);
	nw_json_key(&json, "args");
	nw_json_open(&json, '[');
	for (size_t i = 0; i < args.known.count; i++)
		arg_json(image, site, &args.point.operands.item[i], &args.known.item[i], i,
			 &json);
	nw_json_close(&json, ']');
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
	free_args(&args);
}

void nw_skipped_json(const struct nw_image *image, const struct nw_skipped *skipped,
		     struct nw_buf *out)
{
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", "skipped");
	nw_json_key_text(&json, "provider", skipped->provider);
	nw_json_key_text(&json, "name", skipped->name);
	image_keys(image, &json);
	nw_json_key_u64(&json, "vaddr", skipped->vaddr);
	nw_json_key_text(&json, "problem", skipped->why);
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
}

/* ---- text --------------------------------------------------------------------------- */

static void arg_text(const struct nw_image *image, const struct nw_site *site,
		     const struct nw_operand *op, const struct nw_named_arg *known,
		     size_t index, struct nw_buf *out)
{
	struct nw_fetch fetch;

	fetch_of(image, site, op, known, &fetch);
	nw_buf_printf(out, "      arg%zu  ", index);
	nw_buf_add_escaped(out, op->text, op->text_len);
	for (size_t pad = op->text_len; pad < 18; pad++)
		nw_buf_addc(out, ' ');
	if (fetch.problem) {
		nw_buf_adds(out, "  cannot be fetched: ");
		nw_buf_add_sentence(out, fetch.problem, strlen(fetch.problem));
	} else if (fetch.is_constant && op->is_signed)
		nw_buf_printf(out, "  constant %" PRId64, (int64_t)fetch.constant);
	else if (fetch.is_constant)
		nw_buf_printf(out, "  constant %" PRIu64, fetch.constant);
	else
		nw_buf_printf(out, "  %s%s%s", fetch.text, *fetch.high_text ? " " : "",
			      fetch.high_text);
	if (fetch.remark && !fetch.problem)
		nw_buf_printf(out, " (%s)", fetch.remark);
	nw_buf_printf(out, "%s%s\n", *known->name ? "  " : "", known->name);
}

void nw_site_text(struct nw_image *image, const struct nw_site *site,
		  const struct nw_types *types, struct nw_buf *out)
{
	const char *nop = nw_nop_name(site->nop);
	struct nw_symbol function;
	struct site_args args;

	nw_buf_printf(out, "    site 0x%" PRIx64 "  offset 0x%" PRIx64, site->vaddr,
		      site->offset);
	if (site->semaphore_vaddr)
		nw_buf_printf(out, "  semaphore 0x%" PRIx64 " offset 0x%" PRIx64,
			      site->semaphore_vaddr, site->semaphore_offset);
	nw_buf_printf(out, "  %s", nop ? nop : "no nop");
	if (nw_image_function(image, site->vaddr, &function) == 0) {
		nw_buf_adds(out, "  in ");
		nw_buf_add_escaped(out, function.name, strlen(function.name));
		nw_buf_printf(out, "+0x%" PRIx64, site->vaddr - function.value);
	}
	nw_buf_addc(out, '\n');
	if (site->warning)
		nw_buf_printf(out, "      warning: %s\n", site->warning);
	if (read_args(image, site, types, &args) < 0)
		out->failed = true;
	for (size_t i = 0; i < args.known.count; i++)
		arg_text(image, site, &args.point.operands.item[i], &args.known.item[i], i,
			 out);
	free_args(&args);
}
