// SPDX-License-Identifier: MIT
/*
 * Code of an image. A breakpoint inside an instruction corrupts the program, so a place is only accepted if the
 * function can be decoded from its begin to its end, and every jump in it leads to the begin of an instruction. Data
 * in the code, or hand-written tricks, do not pass this test.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code.h"

enum {
	/* Limit in bytes, including all parts; compilers make no function as large. Each byte may be an instruction,
	 * which takes 50 bytes here. */
	FUNCTION_MOST = 4 << 20,
	PARTS_MOST = 16
};

/* A stretch of code: a function, or a part of it that the compiler has put elsewhere (NAME.cold). */
struct stretch {
	uint64_t start, size;
	/* Begin of the code that .eh_frame describes next; 0: unknown. */
	uint64_t next;
	nw_insns insns;
};

struct function {
	struct nw_image *image;
	const char *name;
	NW_VEC(struct stretch) stretches; /* the first one is the function */
	uint64_t bytes;			  /* of all stretches */
	struct nw_reader *reader;	  /* NULL: not needed yet */
	/* The frame at the begin of the function; valid if there is a reader. */
	struct nw_frame entry;
	struct nw_error *err;
	int failed; /* -errno: memory or descriptors are short; `err` tells which */
};

static void free_function(struct function *f)
{
	nw_reader_free(f->reader);
	nw_vec_each (&f->stretches, stretch)
		nw_vec_free(&stretch->insns);
	nw_vec_free(&f->stretches);
}

/* ---- taking apart ------------------------------------------------------------------- */

/* Decodes a stretch and adds it. Returns the reason for a failure; NULL: none. */
static const char *take_apart(struct function *f, uint64_t start, uint64_t size)
{
	int64_t offset = nw_image_offset(f->image, start, true);
	int64_t last = nw_image_offset(f->image, start + size - 1, true);
	/* symbols of a hostile file may name a thousand parts in one place */
	if (f->stretches.count == PARTS_MOST)
		return "it has too many parts";
	struct stretch *stretch = nw_vec_add(&f->stretches);

	if (!stretch)
		return "out of memory";
	*stretch = (struct stretch){.start = start, .size = size};
	if (size == 0 || size > FUNCTION_MOST - f->bytes)
		return "it is too large to be a function";
	f->bytes += size;
	if (offset < 0 || last < 0 || (uint64_t)(last - offset) != size - 1)
		return "its code is not in the file";
	unsigned char *code = malloc(size);
	ssize_t got = code ? pread(f->image->fd, code, size, (off_t)offset) : -1;
	const char *why = !code ? "out of memory"
			  : got != (ssize_t)size
				  ? "its code cannot be read"
				  : nw_insns_decode(f->image->arch, code, size, start,
						    &stretch->insns);
	free(code);
	return why;
}

static const struct nw_insn *insn_at(const nw_insns *insns, uint64_t vaddr)
{
	size_t low = nw_vec_lower_bound(insns, insn, insn->vaddr < vaddr);

	return low < insns->count && insns->item[low].vaddr == vaddr ? &insns->item[low]
								     : NULL;
}

static const struct stretch *stretch_of(const struct function *f, uint64_t vaddr)
{
	nw_vec_each (&f->stretches, stretch)
		if (vaddr - stretch->start < stretch->size)
			return stretch;
	return NULL;
}

/* Does every jump within the function lead to the begin of an instruction? A jump may also skip a lock prefix. */
static bool is_consistent(const struct function *f)
{
	nw_vec_each (&f->stretches, stretch)
		nw_vec_each (&stretch->insns, insn) {
			bool jumps = insn->kind == NW_INSN_JUMP ||
				     insn->kind == NW_INSN_BRANCH;
			const struct stretch *to = jumps && insn->goal == NW_GOAL_TARGET
							   ? stretch_of(f, insn->target)
							   : NULL;
			if (!to || insn_at(&to->insns, insn->target))
				continue;
			const struct nw_insn *before = insn_at(&to->insns,
							       insn->target - 1);
			if (!before || !before->locked)
				return false;
		}
	return true;
}

/* ---- beginnings --------------------------------------------------------------------- */

static bool is_site(const struct nw_image *image, uint64_t vaddr)
{
	nw_vec_each (&image->sites, site)
		if (site->vaddr == vaddr)
			return true;
	return false;
}

/* Checks the address if all instructions have the same length. */
static char *doubt_width(const struct nw_image *image, uint64_t vaddr)
{
	unsigned int width = image->arch->insn_width;

	if (vaddr % width == 0)
		return NULL;
	return nw_text("instructions of %s begin at multiples of %u, and 0x%" PRIx64
		       " is none",
		       image->arch->name, width, vaddr);
}

static char *doubt_within(struct nw_image *image, const struct nw_symbol *symbol,
			  uint64_t vaddr)
{
	struct function f = {.image = image, .name = symbol->name};
	const char *why = take_apart(&f, symbol->value, symbol->size);
	char *text = NULL;

	if (!why && !is_consistent(&f))
		why = "its jumps lead into what was taken for instructions";
	if (why) {
		text = nw_text("where the instructions of '%s' begin cannot be shown: %s",
			       symbol->name, why);
	} else if (!insn_at(&f.stretches.item[0].insns, vaddr)) {
		const struct nw_insn *in = NULL;
		nw_vec_each (&f.stretches.item[0].insns, insn)
			if (vaddr - insn->vaddr < insn->size)
				in = insn;
		text = nw_text(
			"it is inside an instruction: '%s' has one of %u bytes at +0x%" PRIx64,
			symbol->name, in ? in->size : 0,
			in ? in->vaddr - symbol->value : 0);
	}
	free_function(&f);
	return text;
}

/* Finds the function around the address in .eh_frame, which stripped files have, too. Returns 1; 0: there is none; or
 * -errno. */
static int find_described(const struct nw_image *image, uint64_t vaddr,
			  struct nw_symbol *out)
{
	struct nw_reader *reader = NULL;
	struct nw_frame frame = {0};
	int ret = nw_reader_open(&reader);

	if (ret == 0)
		ret = nw_image_frames(reader, image, &vaddr, 1, &frame, NULL);
	nw_reader_free(reader);
	*out = (struct nw_symbol){.value = frame.function, .size = frame.size};
	if (ret < 0)
		return nw_is_shortage(-ret) ? ret : 0;
	return frame.function && vaddr - frame.function < frame.size;
}

/* Checks an address in code without symbols. */
static int doubt_unnamed(struct nw_image *image, uint64_t vaddr, char **why)
{
	struct nw_symbol there;
	int ret = find_described(image, vaddr, &there);

	if (ret <= 0 || there.value == vaddr)
		return ret;
	nw_cleanup(nw_free_ptr) char *name = nw_text("0x%" PRIx64, there.value);
	there.name = name ? name : "";
	*why = doubt_within(image, &there, vaddr);
	return ret;
}

int nw_code_doubt(struct nw_image *image, uint64_t vaddr, char **why)
{
	struct nw_symbol symbol;

	*why = NULL;
	if (!image->arch || is_site(image, vaddr))
		return 0;
	if (image->arch->insn_width) {
		*why = doubt_width(image, vaddr);
		return 0;
	}
	int ret = nw_image_function(image, vaddr, &symbol);
	if (ret == 0 && symbol.value == vaddr)
		return 0;
	const bool named = ret == 0, sized = named && symbol.size;
	ret = sized ? 0 : doubt_unnamed(image, vaddr, why);
	if (ret)
		return ret < 0 ? ret : 0;
	if (!named)
		*why = nw_text(
			"no function is known to be there, so where its instructions begin cannot be shown");
	else if (!sized)
		*why = nw_text(
			"'%s', which is before it, does not say how long it is, so where its instructions begin cannot be shown",
			symbol.name);
	else
		*why = doubt_within(image, &symbol, vaddr);
	return 0;
}

/* ---- exits -------------------------------------------------------------------------- */

/* "f.cold", "f.cold.1" and "f.constprop.0.cold" are parts of f, f and f.constprop.0. */
static bool is_part(const char *name, const char *of)
{
	size_t len = strlen(of);

	return strncmp(name, of, len) == 0 && strncmp(name + len, ".cold", 5) == 0;
}

static bool is_plt_entry(const struct function *f, uint64_t vaddr)
{
	unsigned char code[16];
	int64_t offset = nw_image_offset(f->image, vaddr, true);

	return f->image->arch->is_plt_entry && offset >= 0 &&
	       pread(f->image->fd, code, sizeof(code), (off_t)offset) ==
		       (ssize_t)sizeof(code) &&
	       f->image->arch->is_plt_entry(code);
}

enum outside {
	OUTSIDE_FUNCTION, /* the begin of another function */
	OUTSIDE_PART,	  /* a part of the same function */
	OUTSIDE_UNKNOWN,
};

/* Looks up the frame of an address in .eh_frame. Returns false if .eh_frame has none. */
static bool ask_frame(struct function *f, uint64_t vaddr, struct nw_frame *out)
{
	const uint64_t start = f->stretches.item[0].start;

	if (!f->reader && !f->failed) {
		f->failed = nw_reader_open(&f->reader) < 0
				    ? nw_no_memory(f->err)
				    : nw_image_frames(f->reader, f->image, &start, 1,
						      &f->entry, f->err);
		f->stretches.item[0].next = f->entry.next;
	}
	if (!f->failed && f->entry.function == start)
		f->failed = nw_image_frames(f->reader, f->image, &vaddr, 1, out, f->err);
	return !f->failed && f->entry.function == start && out->function;
}

/* Is this the frame of a call that has just begun? If a function has made room on the stack, its parts begin with
 * another frame. */
static bool is_entry(const struct function *f, const struct nw_frame *frame)
{
	return frame->reg && f->entry.reg && strcmp(frame->reg, f->entry.reg) == 0 &&
	       frame->offset == f->entry.offset;
}

/* Does .eh_frame describe this code directly behind the function's code, as compilers write it for parts of a
 * function? */
static bool is_described_next(const struct function *f, uint64_t start)
{
	nw_vec_each (&f->stretches, stretch)
		if (stretch->next == start)
			return true;
	return false;
}

/*
 * Decides about a jump target in a stripped file, where only .eh_frame helps: it has an entry for each function, and
 * for each part of a function. Code does not jump into the middle of another function. The next entry may also be
 * another function that this one ends with; then its returns are taken for this one's, and they do end this call.
 */
static enum outside find_unnamed(struct function *f, uint64_t target,
				 struct nw_frame *frame)
{
	if (!ask_frame(f, target, frame))
		return OUTSIDE_UNKNOWN;
	return frame->function != target || !is_entry(f, frame) ||
			       is_described_next(f, target)
		       ? OUTSIDE_PART
		       : OUTSIDE_FUNCTION;
}

static const char *take_part(struct function *f, uint64_t start, uint64_t size,
			     uint64_t next)
{
	const char *why = take_apart(f, start, size);

	if (!why)
		f->stretches.item[f->stretches.count - 1].next = next;
	return why;
}

/* Where a jump leads; what belongs to the function is taken apart. Returns why not. */
static const char *find_outside(struct function *f, uint64_t target, enum outside *out)
{
	struct nw_frame frame;
	struct nw_symbol there;
	int ret = nw_image_function(f->image, target, &there);

	*out = OUTSIDE_FUNCTION;
	if (ret == 0 && there.size && is_part(there.name, f->name)) {
		*out = OUTSIDE_PART;
		return take_part(f, there.value, there.size, 0);
	}
	if ((ret == 0 && there.value == target) || is_plt_entry(f, target))
		return NULL;
	/* A symbol without a size, such as _init, precedes everything that has no symbol. */
	*out = ret == 0 && there.size ? OUTSIDE_UNKNOWN : find_unnamed(f, target, &frame);
	if (*out == OUTSIDE_PART)
		return take_part(f, frame.function, frame.size, frame.next);
	return *out == OUTSIDE_UNKNOWN
		       ? "it jumps to code that neither a symbol nor .eh_frame assigns to a function"
		       : NULL;
}

static int add_exit(nw_exits *out, uint64_t vaddr, bool jump)
{
	struct nw_exit *slot = nw_vec_add(out);

	if (slot)
		*slot = (struct nw_exit){vaddr, jump};
	return slot ? 0 : -ENOMEM;
}

/* Handles a jump with a known target. Returns why the exits are unknown; NULL: go on. */
static const char *follow(struct function *f, const struct nw_insn *insn, nw_exits *out)
{
	enum outside outside;

	if (stretch_of(f, insn->target))
		return NULL;
	const char *why = find_outside(f, insn->target, &outside);
	if (why || outside == OUTSIDE_PART)
		return why;
	if (insn->kind == NW_INSN_BRANCH)
		return "a conditional jump leads out of it, where a probe cannot tell whether it is taken";
	return add_exit(out, insn->vaddr, true) < 0 ? "out of memory" : NULL;
}

/* Does an array of pointers lead back into the function (a switch), or to other functions (calls by number)? */
static bool leads_within(const struct function *f, uint64_t array)
{
	unsigned char bytes[8] = {0};
	size_t word = f->image->elf64 ? 8 : 4;
	int64_t offset = nw_image_offset(f->image, array, false);
	uint64_t first = 0;

	if (offset < 0 || pread(f->image->fd, bytes, word, (off_t)offset) != (ssize_t)word)
		return false;
	for (size_t i = 0; i < word; i++)
		first |= (uint64_t)bytes[i] << 8 * i;
	return stretch_of(f, first) != NULL;
}

static const char *leave(struct function *f, const struct nw_insn *insn, nw_exits *out)
{
	bool jump = insn->kind == NW_INSN_JUMP || insn->kind == NW_INSN_BRANCH;

	if (insn->kind == NW_INSN_RETURN)
		return add_exit(out, insn->vaddr, false) < 0 ? "out of memory" : NULL;
	if (!jump || insn->goal == NW_GOAL_TABLE ||
	    (insn->goal == NW_GOAL_ARRAY && leads_within(f, insn->target)))
		return NULL;
	if (insn->goal == NW_GOAL_TARGET)
		return follow(f, insn, out);
	if (insn->goal == NW_GOAL_POINTER || insn->goal == NW_GOAL_ARRAY)
		return add_exit(out, insn->vaddr, true) < 0 ? "out of memory" : NULL;
	return "it has a jump whose target cannot be told";
}

/* Finds the exits. Parts are appended during the walk. */
static const char *find_exits(struct function *f, nw_exits *out)
{
	const char *why = NULL;

	for (size_t i = 0; !why && i < f->stretches.count; i++) {
		enum nw_insn_kind last = NW_INSN_PLAIN;
		for (size_t j = 0; !why && j < f->stretches.item[i].insns.count; j++) {
			const struct nw_insn insn = f->stretches.item[i].insns.item[j];
			why = leave(f, &insn, out);
			last = insn.kind;
		}
		if (!why && (last == NW_INSN_PLAIN || last == NW_INSN_BRANCH))
			why = "it runs on into what stands behind it";
	}
	if (!why && !is_consistent(f))
		why = "its jumps lead into what was taken for instructions";
	if (!why && !out->count)
		why = "it has no return instruction";
	/* entry and return would be one place, so their order would be unknown */
	nw_vec_each (out, exit)
		if (!why && exit->vaddr == f->stretches.item[0].start)
			why = "its first instruction leaves it already";
	return why;
}

static int by_address(const void *a, const void *b)
{
	const struct nw_exit *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

int nw_code_exits(struct nw_image *image, const struct nw_symbol *function, nw_exits *out,
		  char **text, struct nw_error *err)
{
	struct function f = {.image = image, .name = function->name, .err = err};
	const char *why;

	*text = NULL;
	if (!image->arch || !image->arch->insn_kinds)
		why = "which instructions leave a function is not known for this architecture";
	else if (!function->size)
		why = "its symbol does not say how long it is";
	else
		why = take_apart(&f, function->value, function->size);
	if (!why)
		why = find_exits(&f, out);
	free_function(&f);
	if (f.failed || why)
		nw_vec_free(out);
	if (f.failed)
		return f.failed;
	if (why) {
		*text = nw_text("the return instructions of '%s' cannot be told: %s",
				function->name, why);
		return *text ? 0 : nw_no_memory(err);
	}
	qsort(out->item, out->count, sizeof(*out->item), by_address);
	return 0;
}
