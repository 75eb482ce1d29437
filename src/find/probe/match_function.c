// SPDX-License-Identifier: MIT
/*
 * Matches a spec with the functions of one image, by symbol or by file offset, and finds their entries and returns. A
 * kernel return probe replaces the return address on the stack. An exception that passes through the function, and
 * Go's moving stacks, then end the program; the returns of such functions are probed at their return instructions
 * instead.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "carry.h"
#include "find/arch/arch.h"
#include "find/dwarf/code.h"
#include "find/probe/probe.h"
#include "select.h"

/* The arguments of matching. */
struct matching {
	const struct nw_spec *spec;
	const struct nw_scope *scope;
	struct nw_image *image;
	struct nw_selection *selection;
	struct nw_reader *reader; /* of the image's debugging information */
	struct nw_error *err;
};

/* One function, or a place given by its offset. */
struct found {
	char *name;		 /* the name of its probe */
	struct nw_symbol symbol; /* without a name: there is no symbol */
	uint64_t vaddr, offset;	 /* of the place, which may be inside a function */
	nw_exits
		/* Its exits, if returns are probed at instructions; none: a return probe is used */
		exits;
	char *hazard; /* the harm that the return probe would do */
	bool inside; /* the place is not the function's entry, and variables have no order there */
};

/* ---- the place ---------------------------------------------------------------------- */

static int function_fail(const struct matching *m, int ret)
{
	const struct nw_spec *spec = m->spec;
	const char *path = m->image->path;

	switch (ret) {
	case -ENXIO:
		nw_fail(m->err, ENOENT, "'%s' is only imported by %s, not defined there",
			spec->name, path);
		nw_error_hint(
			m->err,
			"probe the library that defines it: nopwatch list -p PID shows what a process has loaded");
		return -ENOENT;
	case -ENOTUNIQ:
		nw_fail(m->err, ENOTUNIQ, "%s has several functions called '%s'", path,
			spec->name);
		nw_error_hint(m->err, "give the file offset: uprobe:%s:0xOFFSET", path);
		return -ENOTUNIQ;
	case -ENOMEM:
		return nw_no_memory(m->err);
	case -EFBIG:
		return nw_fail(
			m->err, EFBIG,
			"there is no function '%s' in what was read of %s: its symbol tables are larger than itself",
			spec->name, path);
	default:
		nw_fail(m->err, ENOENT, "there is no function '%s' in %s", spec->name,
			path);
		nw_error_hint(m->err,
			      "`nopwatch list --functions %s` lists those that are there",
			      path);
		return -ENOENT;
	}
}

/* Refuses code in which the kernel accepts a breakpoint without an error, but never reports a hit (Thumb). */
static int refuse_barred(const struct matching *m, const struct found *f)
{
	struct nw_symbol around = f->symbol;

	if (!around.name && nw_image_function(m->image, f->vaddr, &around) < 0)
		return 0;
	return around.barred ? nw_fail(m->err, EOPNOTSUPP, "'%s' of %s is %s", around.name,
				       m->image->path, m->image->arch->barred)
			     : 0;
}

/* Finds the linked address and the file offset of the spec in the image. */
static int find_place(const struct matching *m, struct found *f)
{
	const struct nw_spec *spec = m->spec;

	if (!f->symbol.name) { /* the spec has a file offset */
		f->offset = spec->offset;
		if (!nw_image_vaddr(m->image, spec->offset, &f->vaddr) || !f->vaddr)
			return nw_fail(m->err, EINVAL,
				       "offset 0x%" PRIx64
				       " is in no executable segment of %s",
				       spec->offset, m->image->path);
		return 0;
	}
	/* ppc64: calls from the same file skip the first instructions, which set up the TOC (table of contents) for
	 * calls from other files. */
	f->vaddr = f->symbol.value + (spec->offset ? spec->offset : f->symbol.local_entry);
	int64_t offset = nw_image_offset(m->image, f->vaddr, true);
	if (offset < 0)
		return nw_fail(m->err, EINVAL, "'%s' of %s is in no executable segment",
			       f->symbol.name, m->image->path);
	f->offset = (uint64_t)offset;
	return 0;
}

/* Sets *hazard to the harm that a breakpoint at the place would do; NULL: none. */
static int doubt_place(const struct matching *m, const struct found *f, char **hazard)
{
	nw_cleanup(nw_free_ptr) char *why = NULL;
	const struct nw_symbol *symbol = &f->symbol;
	uint64_t offset = m->spec->offset;
	int ret = 0;

	*hazard = NULL;
	if (symbol->object)
		why = nw_text("'%s' is a variable, not code", symbol->name);
	else if (symbol->name && symbol->size && offset >= symbol->size)
		why = nw_text("it lies outside of '%s', which has %" PRIu64 " bytes",
			      symbol->name, symbol->size);
	else if (!symbol->name || offset)
		ret = nw_code_doubt(m->image, f->vaddr, &why);
	if (why)
		*hazard = nw_text(
			"no instruction is shown to begin there: %s (--force arms it all the same)",
			why);
	return ret < 0 || (why && !*hazard) ? nw_no_memory(m->err) : 0;
}

/* ---- returns ------------------------------------------------------------------------ */

/* Returns the harm that return probes do to programs of this kind; NULL: none. */
static const char *return_risk(struct nw_image *image)
{
	if (image->go)
		return "a return probe in Go code crashes the program when its stack moves";
	if (nw_image_throws(image))
		return "a return probe aborts the program when an exception passes through ('terminate called')";
	return NULL;
}

/* Decides how the function's returns are probed. */
static int choose_returns(const struct matching *m, struct found *f)
{
	nw_cleanup(nw_free_ptr) char *why = NULL;
	const char *risk = return_risk(m->image);

	if (!risk && !m->spec->returns_insn)
		return 0;
	int ret = nw_code_exits(m->image, &f->symbol, &f->exits, &why, m->err);
	if (ret < 0 || !why)
		return ret;
	if (m->spec->returns_insn)
		return nw_fail(m->err, EOPNOTSUPP, "%s: %s", m->image->path, why);
	f->hazard = nw_text("%s, and %s (--force arms it all the same)", risk, why);
	return f->hazard ? 0 : nw_no_memory(m->err);
}

/* ---- points ------------------------------------------------------------------------- */

static struct nw_point *add_point(const struct matching *m, const struct nw_symbol *symbol,
				  struct nw_probe *probe, uint64_t vaddr, uint64_t offset)
{
	struct nw_point *point = nw_vec_add(&probe->points);

	if (!point)
		return NULL;
	point->image = m->image;
	point->vaddr = vaddr;
	point->offset = offset;
	point->nop = nw_image_nop(m->image, offset);
	point->goroutine = nw_call_goroutine(m->image, symbol->name);
	return point;
}

static int add_exits(const struct matching *m, const struct found *f,
		     struct nw_probe *probe)
{
	nw_vec_each (&f->exits, exit) {
		int64_t offset = nw_image_offset(m->image, exit->vaddr, true);
		struct nw_point *point = offset < 0
						 ? NULL
						 : add_point(m, &f->symbol, probe,
							     exit->vaddr, (uint64_t)offset);
		if (!point)
			return nw_no_memory(m->err);
		point->is_exit = true;
		point->jumps = exit->jump;
	}
	return 0;
}

static int add_points(const struct matching *m, const struct found *f, bool is_return,
		      struct nw_probe *probe)
{
	if (is_return && f->exits.count)
		return add_exits(m, f, probe);
	struct nw_point *point = add_point(m, &f->symbol, probe, f->vaddr, f->offset);
	if (!point)
		return nw_no_memory(m->err);
	point->is_return = is_return;
	if (!is_return)
		return doubt_place(m, f, &point->hazard);
	point->hazard = f->hazard ? strdup(f->hazard) : NULL;
	return f->hazard && !point->hazard ? nw_no_memory(m->err) : 0;
}

/* Adds a warning that may come for each function of a file. Frees the text. */
static int warn_once(const struct matching *m, char *text)
{
	nw_strings *warnings = &m->selection->warnings;
	int ret = text ? 0 : -ENOMEM;

	if (text && !nw_strings_has(warnings, text))
		ret = nw_strings_add(warnings, text, strlen(text));
	free(text);
	return ret;
}

/* Applies the type of the result in the source. A type that the user gave comes first, and Go's DWARF lists results as
 * parameters. */
static int type_result(const struct matching *m, const struct found *f,
		       const nw_named_args *types, struct nw_operand *op)
{
	bool typed = types->count && types->item[0].type.base != NW_TYPE_DEFAULT;
	const struct nw_source_function function = {m->reader, m->image, f->symbol.name,
						    f->vaddr, false};
	char *warning = NULL;

	if (typed || op->problem || m->image->go)
		return 0;
	int ret = nw_source_result(&function, op, &warning);
	return ret < 0 || !warning ? ret : warn_once(m, warning);
}

/* Finds the arguments by their names in the source, if the user gave such names. */
static int name_arguments(const struct matching *m, const struct found *f,
			  struct nw_probe *probe, bool *found)
{
	struct nw_source_function function = {m->reader, m->image, f->symbol.name, 0,
					      f->inside};
	char *warning = NULL;
	int ret = 0;

	*found = false;
	nw_vec_each (&probe->points, point) {
		function.vaddr = point->vaddr;
		if (ret == 0)
			ret = nw_source_operands(&function, m->spec, probe,
						 &point->operands, found, &warning, m->err);
	}
	/* A floating-point argument that lies in a register which the kernel cannot read is an error, whether the user names
	 * it or counts it. */
	nw_vec_each (&probe->points, point)
		for (size_t i = 0; ret == 0 && *found && i < point->operands.count; i++)
			if (point->operands.item[i].problem &&
			    probe->args.item[i].type.base == NW_TYPE_FLOAT)
				ret = nw_call_refuse_floats(m->image, f->symbol.name, false,
							    &probe->args, m->err);
	if (ret == 0 && *found) {
		probe->has_args = true;
		probe->named = m->spec->args.count;
	}
	if (ret == 0 && warning)
		return warn_once(m, warning) < 0 ? nw_no_memory(m->err) : 0;
	free(warning);
	return ret;
}

/*
 * Finds the arguments of a call or a return. They depend on the types that the user gives, so they are made again
 * when those change.
 */
static int add_arguments(const struct matching *m, const struct found *f, bool is_return,
			 size_t named, struct nw_probe *probe)
{
	nw_named_args types = probe->args;

	if (named)
		types = m->spec->args;
	if (!is_return && (m->spec->offset || !f->symbol.name))
		return 0; /* only at the entry are they where the caller has put them */
	if (named && nw_call_refuse_floats(m->image, f->symbol.name ? f->symbol.name : "",
					   is_return, &types, m->err) < 0)
		return -EINVAL;
	nw_vec_each (&probe->points, point) {
		if (point->operands.count && !named)
			continue;
		nw_vec_free(&point->operands);
		if (nw_call_operands(m->image, f->symbol.name ? f->symbol.name : "",
				     is_return, named, &types, &point->operands) < 0)
			return nw_no_memory(m->err);
		if (is_return && point->operands.count &&
		    type_result(m, f, &types, point->operands.item) < 0)
			return nw_no_memory(m->err);
		nw_vec_each (&point->operands, op)
			if (point->jumps)
				op->problem =
					"the function is left by a jump into another one, which makes the result";
		while (probe->args.count < point->operands.count)
			if (!nw_vec_add(&probe->args))
				return nw_no_memory(m->err);
	}
	return 0;
}

/* Keeps the linker's name if the probe has the name from the source. */
static int name_symbol(struct nw_probe *probe, const struct found *f)
{
	const char *symbol = f->symbol.name;
	size_t len = symbol ? strcspn(symbol, "@") : 0;

	if (!len || strncmp(f->name, symbol, len) == 0)
		return 0;
	probe->symbol = strndup(symbol, len);
	return probe->symbol ? 0 : -ENOMEM;
}

static int add_probe(const struct matching *m, const struct found *f, bool is_return)
{
	const struct nw_spec *spec = m->spec;
	const char *provider = is_return ? "uretprobe" : "uprobe";
	/* The names in func:PATH:SYMBOL(...) are those of the call's arguments. */
	bool named = spec->has_args && !(is_return && spec->kind == NW_SPEC_FUNC);
	struct nw_probe *probe = nw_probe_find(m->selection, m->image, provider, f->name);
	int ret = 0;

	if (!probe) {
		probe = nw_probe_add(m->selection, m->image, spec->kind, provider, f->name);
		ret = probe && name_symbol(probe, f) == 0
			      ? add_points(m, f, is_return, probe)
			      : nw_no_memory(m->err);
	}
	bool by_name = false;
	if (ret == 0 && m->image->arch && named && !is_return && f->symbol.name)
		ret = name_arguments(m, f, probe, &by_name);
	bool wanted = named || m->scope->want_operands || nw_spec_carries(spec);
	if (ret == 0 && m->image->arch && !by_name && wanted)
		ret = add_arguments(m, f, is_return, named ? spec->args.count : 0, probe);
	if (ret == 0 && named && !by_name)
		ret = nw_probe_name_args(spec, probe, m->err);
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

/* Warns about calls that are counted but not measured: see struct nw_point. */
static int warn_untimed(const struct matching *m, const struct found *f)
{
	const char *goroutine = nw_call_goroutine(m->image, f->symbol.name);

	if (m->spec->kind != NW_SPEC_FUNC || !goroutine || *goroutine)
		return 0;
	return nw_strings_addf(
		       &m->selection->warnings,
		       "the calls of '%s' are counted, but not timed: Go moves calls to other threads and stacks, and which goroutine it is stands in no register (on amd64 it does since Go 1.17)",
		       f->name) < 0
		       ? nw_no_memory(m->err)
		       : 0;
}

/* Adds the probes of one function or place. Returns how many, or -errno. */
static int add_found(const struct matching *m, struct found *f)
{
	bool entry = m->spec->kind != NW_SPEC_URETPROBE;
	bool back = m->spec->kind != NW_SPEC_UPROBE;
	int ret = f->name ? find_place(m, f) : nw_no_memory(m->err);

	f->inside = m->spec->offset;
	if (ret == 0)
		ret = refuse_barred(m, f);
	if (ret == 0 && back)
		ret = choose_returns(m, f);
	if (ret == 0 && entry)
		ret = add_probe(m, f, false);
	if (ret == 0 && back)
		ret = add_probe(m, f, true);
	if (ret == 0 && nw_spec_carries(m->spec))
		ret = nw_carry_arguments(
			m->spec, nw_probe_find(m->selection, m->image, "uprobe", f->name),
			nw_probe_find(m->selection, m->image, "uretprobe", f->name),
			m->err);
	if (ret == 0)
		ret = warn_untimed(m, f);
	nw_vec_free(&f->exits);
	free(f->hazard);
	free(f->name);
	return ret < 0 ? ret : entry + back;
}

/* Adds a function by the name that the user typed, with the offset. */
static int add_at_offset(const struct matching *m, const char *name, struct found *f)
{
	f->name = m->spec->offset ? nw_text("%s+0x%" PRIx64, name, m->spec->offset)
				  : strdup(name);
	return add_found(m, f);
}

/* ---- several functions ----------------------------------------------------------------------- */

enum {
	/* Limit of functions that a pattern may match without --force */
	FUNCTIONS_MOST = 256,
};

/* Is there a probe at this address already, under another name of the function? Both would count the same calls. */
static bool is_there(const struct matching *m, uint64_t vaddr, size_t first)
{
	for (size_t i = first; i < m->selection->probes.count; i++) {
		const struct nw_probe *probe = m->selection->probes.item[i];
		if (probe->image == m->image && probe->points.count &&
		    probe->points.item[0].vaddr == vaddr)
			return true;
	}
	return false;
}

/* Has another function of the pattern this name in its source? */
static bool is_taken(const struct matching *m, const char *name, size_t first)
{
	for (size_t i = first; i < m->selection->probes.count; i++)
		if (m->selection->probes.item[i]->image == m->image &&
		    strcmp(m->selection->probes.item[i]->name, name) == 0)
			return true;
	return false;
}

/* Adds one of several functions. If it cannot be probed, it is left out with a warning. */
static int add_one(const struct matching *m, const char *symbol, const char *name,
		   size_t first)
{
	struct found f = {0};
	struct nw_error why = {0};
	struct matching one = *m;

	if (nw_image_symbol(m->image, symbol, strlen(symbol), 0, &f.symbol) < 0 ||
	    is_there(m, f.symbol.value, first))
		return 0;
	one.err = &why;
	f.name = strdup(m->scope->no_demangle || is_taken(m, name, first) ? symbol : name);
	int ret = add_found(&one, &f);
	if (ret == -EOPNOTSUPP || ret == -EINVAL)
		return nw_strings_addf(&m->selection->warnings, "%s", why.what);
	if (ret < 0)
		*m->err = why;
	return ret;
}

/* Adds all functions. Names that begin with '_' come last, because most often they are second names. */
static int add_functions(const struct matching *m, const struct nw_functions *functions)
{
	size_t first = m->selection->probes.count;
	int ret = 0, added = 0;

	for (int hidden = 0; hidden < 2; hidden++)
		for (size_t i = 0; ret >= 0 && i < functions->symbols.count; i++) {
			const char *name = functions->names.item[i];
			if ((*name == '_') != (hidden == 1))
				continue;
			ret = add_one(m, functions->symbols.item[i], name, first);
			added += ret > 0 ? ret : 0;
		}
	return ret < 0 ? ret : added;
}

/* Adds the only function that a name from the source means. */
static int add_only(const struct matching *m, const struct nw_functions *functions)
{
	const char *symbol = functions->symbols.item[0];
	struct found f = {0};
	int ret = nw_image_symbol(m->image, symbol, strlen(symbol), 0, &f.symbol);

	if (ret < 0)
		return function_fail(m, ret);
	return add_at_offset(m, m->scope->no_demangle ? symbol : functions->names.item[0],
			     &f);
}

/* Tells which functions a pattern has matched: they are probed all, and the user may have thought of one. */
static void tell_matches(const struct matching *m, const nw_strings *names)
{
	const size_t shown = names->count > 8 ? 6 : names->count;
	struct nw_buf text = {0};

	for (size_t i = 0; i < shown; i++) {
		nw_buf_adds(&text, i ? ", " : " ");
		nw_buf_add_escaped(&text, names->item[i], strlen(names->item[i]));
	}
	if (shown < names->count)
		nw_buf_printf(&text, " and %zu more (nopwatch list '%s')",
			      names->count - shown, m->spec->text);
	nw_strings_tell(&m->selection->warnings, "%s matches %zu functions:%s",
			m->spec->text, names->count, nw_buf_str(&text));
	nw_buf_free(&text);
}

/* Matches a pattern, or a name from the source: C++ may have several functions of one name. */
static int match_names(const struct matching *m)
{
	struct nw_functions functions = {0};
	const struct nw_spec *spec = m->spec;
	int ret = nw_functions_find(m->image, spec->name, &functions, m->err);
	size_t count = functions.symbols.count;

	if (ret < 0) {
		nw_functions_free(&functions);
		return ret;
	}
	if (count == 1 && (spec->offset || !nw_has_glob(spec->name))) {
		ret = add_only(m, &functions);
	} else if (spec->offset) {
		ret = function_fail(m, -ENOTUNIQ);
	} else if (count > FUNCTIONS_MOST && !m->scope->force) {
		ret = nw_fail_usage(m->err, "'%s' names %zu functions of %s", spec->text,
				    count, m->image->path);
		nw_error_hint(
			m->err,
			"a probe on each slows the program much: narrow it to %d at most, or add --force",
			FUNCTIONS_MOST);
	} else {
		ret = add_functions(m, &functions);
		if (ret >= 0 && count > 1)
			tell_matches(m, m->scope->no_demangle ? &functions.symbols
							      : &functions.names);
	}
	nw_functions_free(&functions);
	return ret;
}

/* ---- lines of the source ------------------------------------------------------------- */

/* Says why a line has no place. */
static int line_fail(const struct matching *m, const struct nw_line_places *found,
		     bool known)
{
	const struct nw_spec *spec = m->spec;
	const char *path = m->image->path;
	int ret;

	if (!known) {
		ret = nw_fail(
			m->err, ENOENT,
			"there is no debugging information (DWARF) for %s, which knows the lines of the source",
			path);
		nw_error_hint(
			m->err,
			"build with -g, or install its -dbgsym or -debuginfo package");
	} else if (!*found->file) {
		ret = nw_fail(m->err, ENOENT, "no source file of %s is called '%s'", path,
			      spec->source);
		nw_error_hint(m->err,
			      "`nopwatch list --functions %s` shows the source files",
			      path);
	} else if (*found->other) {
		ret = nw_fail(m->err, ENOTUNIQ,
			      "several source files of %s are called '%s': %s and %s", path,
			      spec->source, found->file, found->other);
		nw_error_hint(m->err, "write more of its path: uprobe:%s@DIRECTORY/%s:%u",
			      path, spec->source, spec->line);
	} else if (found->more) {
		ret = nw_fail(m->err, E2BIG,
			      "line %u of %s has code at more than %d places", spec->line,
			      found->file, NW_MOST_SOURCE_PLACES);
	} else {
		ret = nw_fail(m->err, ENOENT, "line %u of %s has no code in %s", spec->line,
			      found->file, path);
		if (found->next)
			nw_error_hint(m->err, "the next line that has code is %u",
				      found->next);
	}
	return ret;
}

/* Adds places inside of functions. Functions that the linker has left out are in no segment, and so are their places. */
static int add_places(const struct matching *m, const nw_source_places *places,
		      struct nw_probe *probe)
{
	nw_vec_each (places, place) {
		int64_t offset = nw_image_offset(m->image, place->vaddr, true);
		struct found f = {.vaddr = place->vaddr, .offset = (uint64_t)offset};
		int ret = offset < 0 ? 0 : refuse_barred(m, &f);
		if (ret == 0 && offset >= 0)
			ret = add_points(m, &f, false, probe);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Adds a probe that has such places, with the variables that they see. Returns how many places it has, or -errno. */
static int add_inside(const struct matching *m, const char *name,
		      const nw_source_places *places)
{
	const struct found f = {.inside = true};
	bool by_name = false;
	struct nw_probe *probe = nw_probe_find(m->selection, m->image, "uprobe", name);
	int ret = 0;

	if (!probe) {
		probe = nw_probe_add(m->selection, m->image, m->spec->kind, "uprobe", name);
		ret = probe ? add_places(m, places, probe) : nw_no_memory(m->err);
	}
	if (ret == 0 && m->spec->args.count)
		ret = name_arguments(m, &f, probe, &by_name);
	return ret < 0 ? ret : (int)probe->points.count;
}

static int add_line(const struct matching *m, const struct nw_line_places *found)
{
	const char *name = m->spec->name;
	int ret = add_inside(m, name, &found->places);

	if (ret <= 0)
		return ret < 0 ? ret : line_fail(m, found, true);
	if (found->again)
		ret = warn_once(
			m,
			nw_text("%s begins at %u more places of the same functions, whose hits are not counted: the rest of a loop's head, or a loop that the compiler has unrolled",
				name, found->again));
	return ret < 0 ? ret : 1;
}

static int match_line(const struct matching *m)
{
	const struct nw_spec *spec = m->spec;
	struct nw_line_places found;
	struct nw_error why = {0};
	bool known;
	int ret = nw_image_line(m->reader, m->image, spec->source, spec->line, &found,
				&known, &why);

	if (ret < 0) {
		nw_fail(m->err, why.code, "cannot read the source lines of '%s': %s",
			m->image->path, why.what);
		nw_error_hint(m->err, "uprobe:%s:FUNCTION does not need them",
			      m->image->path);
	}
	if (ret == 0 && (!known || *found.other || found.more || !found.places.count))
		ret = line_fail(m, &found, known);
	else if (ret == 0)
		ret = add_line(m, &found);
	nw_vec_free(&found.places);
	return ret;
}

/* ---- inlined functions ---------------------------------------------------------------- */

/* Says why the spans of inlined copies cannot be had. */
static int inlined_fail(const struct matching *m, int copies)
{
	const struct nw_spec *spec = m->spec;
	const char *path = m->image->path;
	int ret = nw_fail(
		m->err, ENOENT,
		spec->inlined
			? "where the inlined copies of '%s' in %s end is not known (there are %d)"
			: "'%s' of %s has no code of its own, only %d inlined copies, whose ends are not known",
		spec->name, path, copies);

	nw_error_hint(
		m->err,
		"count its calls with uprobe:%s:%s%s, or measure between two lines: --span 'NAME=%s@FILE.c:LINE..%s@FILE.c:LINE'",
		path, spec->name, spec->inlined ? NW_INLINED_MARK : "", path, path);
	return ret;
}

/*
 * Adds the entries of the inlined copies of a function. Where such a copy ends is not known: compilers mix its instructions
 * with those of its caller. Returns -ENOENT with the reason in m->err unchanged if there are none.
 */
static int match_inlined(const struct matching *m)
{
	const struct nw_spec *spec = m->spec;
	nw_cleanup(nw_free_ptr) char *name = nw_text("%s" NW_INLINED_MARK, spec->name);
	struct nw_inlined_copies copies;
	int ret = nw_image_inlined(m->reader, m->image, spec->name, &copies, NULL);

	if (!name || ret == -ENOMEM) {
		ret = nw_no_memory(m->err);
	} else if (ret < 0 || !copies.entries.count) {
		ret = -ENOENT;
	} else if (spec->kind != NW_SPEC_UPROBE) {
		ret = inlined_fail(m, copies.count);
	} else {
		ret = add_inside(m, name, &copies.entries);
	}
	nw_vec_free(&copies.entries);
	return ret > 0 ? 1 : ret < 0 ? ret : -ENOENT;
}

/* Tells that a function which has code of its own has inlined copies, too, which its probe does not count. Nothing is said
 * without debugging information, or if it takes too long to read. */
static int tell_inlined(const struct matching *m)
{
	const struct nw_spec *spec = m->spec;
	struct nw_inlined_copies copies;
	int ret = nw_image_inlined(m->reader, m->image, spec->name, &copies, NULL);

	if (ret == 0 && copies.entries.count)
		ret = warn_once(
			m,
			nw_text(nw_plural(
					copies.entries.count,
					"%zu inlined copy of '%s' in %s is not counted: 'uprobe:%s:%s" NW_INLINED_MARK
					"' counts it",
					"%zu inlined copies of '%s' in %s are not counted: 'uprobe:%s:%s" NW_INLINED_MARK
					"' counts them"),
				copies.entries.count, spec->name, m->image->path,
				m->image->path, spec->name));
	nw_vec_free(&copies.entries);
	return ret == -ENOMEM ? nw_no_memory(m->err) : 0;
}

/* ---- all ----------------------------------------------------------------------------- */

/* Matches "f (inlined)". */
static int match_copies(const struct matching *m)
{
	int ret = match_inlined(m);

	if (ret == -ENOENT && m->spec->kind == NW_SPEC_UPROBE)
		nw_fail(m->err, ENOENT,
			"the debugging information (DWARF) of %s has no inlined copy of '%s'",
			m->image->path, m->spec->name);
	return ret;
}

static int match(const struct matching *m)
{
	const struct nw_spec *spec = m->spec;
	struct found f = {0};

	if (spec->source)
		return match_line(m);
	if (!*spec->name) {
		f.name = nw_text("0x%" PRIx64, spec->offset);
		return add_found(m, &f);
	}
	if (spec->inlined)
		return match_copies(m);
	const bool whole = !spec->offset && !nw_has_glob(spec->name);
	int ret = nw_image_symbol(m->image, spec->name, strlen(spec->name), 0, &f.symbol);
	if (ret == -ENOENT) {
		ret = match_names(m);
		if (ret == -ENOENT && whole)
			return match_inlined(m);
	} else {
		ret = ret < 0 ? function_fail(m, ret) : add_at_offset(m, spec->name, &f);
	}
	const int told = ret > 0 && whole && spec->kind != NW_SPEC_URETPROBE
				 ? tell_inlined(m)
				 : 0;
	return told < 0 ? told : ret;
}

int nw_match_function(const struct nw_spec *spec, const struct nw_scope *scope,
		      struct nw_image *image, struct nw_selection *selection,
		      struct nw_error *err)
{
	struct matching m = {spec, scope, image, selection, NULL, err};

	if (nw_reader_open(&m.reader) < 0)
		return nw_no_memory(err);
	int ret = match(&m);
	nw_reader_free(m.reader);
	return ret;
}
