// SPDX-License-Identifier: MIT
/* Sites and their arguments, for `list`. */
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

/* The fetch as a kernel that has everything would take it. */
static void fetch_of(const struct nw_image *image, const struct nw_site *site,
		     const struct nw_operand *op, struct nw_fetch *out)
{
	struct nw_type plain = {0};

	nw_fetch_make(op, &plain, image->arch, image->big_endian, site->vaddr, &nw_caps_all,
		      out);
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
		     const struct nw_operand *op, size_t index, struct nw_json *json)
{
	struct nw_fetch fetch;

	fetch_of(image, site, op, &fetch);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "index", index);
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

void nw_site_json(struct nw_image *image, const struct nw_site *site, struct nw_buf *out)
{
	struct nw_json json = {.out = out};
	struct nw_symbol function;
	nw_operands operands = {0};
	size_t i = 0;

	if (image->arch && nw_operands_parse(image->arch, site->args, &operands) < 0)
		out->failed = true;
	nw_operands_resolve(image, site->vaddr, &operands);
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
	nw_vec_each (&operands, op)
		arg_json(image, site, op, i++, &json);
	nw_json_close(&json, ']');
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
	nw_vec_free(&operands);
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
		     const struct nw_operand *op, size_t index, struct nw_buf *out)
{
	struct nw_fetch fetch;

	fetch_of(image, site, op, &fetch);
	nw_buf_printf(out, "      arg%zu  ", index);
	nw_buf_add_escaped(out, op->text, op->text_len);
	for (size_t pad = op->text_len; pad < 18; pad++)
		nw_buf_addc(out, ' ');
	if (fetch.problem)
		nw_buf_printf(out, "  cannot be fetched: %s\n", fetch.problem);
	else if (fetch.is_constant && op->is_signed)
		nw_buf_printf(out, "  constant %" PRId64 "\n", (int64_t)fetch.constant);
	else if (fetch.is_constant)
		nw_buf_printf(out, "  constant %" PRIu64 "\n", fetch.constant);
	else
		nw_buf_printf(out, "  %s%s%s\n", fetch.text, *fetch.high_text ? " " : "",
			      fetch.high_text);
}

void nw_site_text(struct nw_image *image, const struct nw_site *site, struct nw_buf *out)
{
	const char *nop = nw_nop_name(site->nop);
	struct nw_symbol function;
	nw_operands operands = {0};
	size_t i = 0;

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
	if (image->arch && nw_operands_parse(image->arch, site->args, &operands) < 0)
		out->failed = true;
	nw_operands_resolve(image, site->vaddr, &operands);
	nw_vec_each (&operands, op)
		arg_text(image, site, op, i++, out);
	nw_vec_free(&operands);
}
