/* SPDX-License-Identifier: MIT */
/* Internals of plans, for plan.c, which makes one, save.c, which saves one, and serial.c, which loads one. */
#ifndef NOPWATCH_PLAN_PLAN_PRIVATE_H
#define NOPWATCH_PLAN_PLAN_PRIVATE_H

#include "plan/plan.h"

/* The fields that one part of a point needs in its event, while they are laid out. */
struct nw_layout {
	struct nw_buf shape;   /* "p a0:u64 a1:s32" */
	struct nw_buf fetches; /* "a0=%di:u64 a1=%si:s32" */
	nw_strings fields;     /* names */
	size_t bytes;	       /* of the fields */
};

typedef NW_VEC(struct nw_layout) nw_layouts;

/* The field behind the stack pointer: see nw_event_level(). */
#define NW_LEVEL_FIELD "level"

/* The point that is being laid out. */
struct nw_laying {
	const struct nw_plan_options *options;
	const struct nw_probe *probe;
	struct nw_planned_point *planned;
	bool big_endian; /* the program */
	bool stack;	 /* fetch the stack pointer, too */
	bool keeps;	 /* it is an entry: fetch what its point keeps, too */
};

/* Lays out the sources of a point: each gets its part and field, or a problem. -ENOMEM. */
int nw_lay_out(const struct nw_laying *laying, nw_layouts *parts);
void nw_layouts_free(nw_layouts *parts);

/* Add an empty event; NULL when out of memory. */
struct nw_event *nw_plan_event(struct nw_plan *plan, const char *shape, bool is_return);
/* Puts a place into an event, whose slot for it must be free. Takes over fetches. */
int nw_plan_place(struct nw_plan *plan, struct nw_event *event, uint32_t planned,
		  uint32_t part, char *fetches);

/* Plans the event of ours that takes the place of a system call's event, of which strings are wanted (attached.c). -ENOMEM */
int nw_plan_attached(struct nw_plan *plan, const struct nw_plan_options *options,
		     const struct nw_probe *probe, struct nw_planned_point *planned);

/* Is this argument of a system call text that the kernel itself reads up to its NUL, and can an event of ours read it so, too? */
bool nw_is_path_of_call(const struct nw_probe *probe, size_t arg,
			const struct nw_caps *caps);

/* Returns the number of an image in the selection, or their count if it is none of them (the kernel). */
size_t nw_plan_image(const struct nw_selection *selection, const struct nw_image *image);
/* Names the event with this number in the plan; its places must be known. */
void nw_plan_name(const struct nw_plan *plan, const struct nw_plan_options *options,
		  struct nw_event *event, size_t number);

/* Writes a C identifier of at most `most` characters, made from any text: other characters become '_'. */
void nw_identifier(const char *text, size_t most, char *out);

#endif
