/* SPDX-License-Identifier: MIT */
/* Selections of probes in made files, and selections as text. */
#ifndef NOPWATCH_TESTS_ELF_SELECT_H
#define NOPWATCH_TESTS_ELF_SELECT_H

#include "elf_files.h"
#include "find/probe/probe.h"

/* Select up to four specs (NULL: no more); returns what nw_select() does. */
static inline int eb_select(const char *const specs[4], const struct nw_scope *scope,
			    struct nw_selection *out, struct nw_error *err)
{
	static const struct nw_scope nowhere;
	struct nw_spec list[4];
	size_t count = 0;

	*err = (struct nw_error){0};
	for (; count < 4 && specs[count]; count++)
		ck_assert_msg(nw_spec_parse(specs[count], &list[count], err) == 0, "%s",
			      err->what);
	*out = (struct nw_selection){0};
	int ret = nw_select(list, count, scope ? scope : &nowhere, out, err);
	for (size_t i = 0; i < count; i++)
		nw_spec_free(&list[i]);
	return ret;
}

/* "LABEL@OFFSET,OFFSET(name:base bits[array],...)" for every probe, blanks between. */
static inline char *eb_selected(const struct nw_selection *selection)
{
	static const char *const bases[] = {"", "u", "s", "x", "string", "f"};
	struct nw_buf out = {0};

	nw_vec_each (&selection->probes, slot) {
		const struct nw_probe *probe = *slot;
		nw_buf_printf(&out, "%s%s", out.len ? " " : "", probe->label);
		nw_vec_each (&probe->points, point)
			nw_buf_printf(&out, "%c%lx",
				      point == probe->points.item ? '@' : ',',
				      point->offset);
		nw_buf_adds(&out, probe->has_args ? "(" : "[");
		for (size_t i = 0; i < probe->args.count; i++) {
			const struct nw_type *type = &probe->args.item[i].type;
			char name[NW_ARG_NAME];
			nw_arg_name(probe, i, name);
			nw_buf_printf(&out, "%s%s", i ? "," : "", name);
			if (type->base != NW_TYPE_DEFAULT)
				nw_buf_printf(&out, ":%s%.0u", bases[type->base],
					      type->bits);
		}
		nw_buf_adds(&out, probe->has_args ? ")" : "]");
	}
	return nw_buf_take(&out);
}

/* The specs select exactly this. */
static inline void eb_check_selected(const char *const specs[4],
				     const struct nw_scope *scope, const char *wanted)
{
	struct nw_selection selection;
	struct nw_error err;

	ck_assert_msg(eb_select(specs, scope, &selection, &err) == 0, "%s: %s", specs[0],
		      err.what);
	char *got = eb_selected(&selection);
	ck_assert_msg(strcmp(got, wanted) == 0, "%s: %s", specs[0], got);
	free(got);
	nw_selection_free(&selection);
}

/* The spec fails like this. */
static inline void eb_check_refused(const char *spec, const struct nw_scope *scope,
				    int code, const char *what, const char *hint)
{
	const char *const specs[4] = {spec};
	struct nw_selection selection;
	struct nw_error err;

	ck_assert_msg(eb_select(specs, scope, &selection, &err) == -code, "%s: %s", spec,
		      err.what);
	ck_assert_int_eq(err.code, code);
	ck_assert_str_eq(err.what, what);
	ck_assert_str_eq(err.hint, hint);
	ck_assert_uint_eq(selection.probes.count + selection.images.count, 0);
}

#endif
