// SPDX-License-Identifier: MIT
/* Functions of the kernel: which a spec selects, and the lines that define their events. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/steps/steps.h"
#include "kernel/tracefs/event_list.h"
#include "plan_builder.h"

static const char text[] = "ffffffff81000000 T vfs_read\n"
			   "ffffffff80fffff0 t __pfx_vfs_read\n"
			   "ffffffff81000100 T vfs_readv\n"
			   "ffffffff81000200 t twice\n"
			   "ffffffff81000300 t twice\n"
			   "ffffffff81000400 t made.isra.0\n"
			   "ffffffff81000500 t made.constprop.0\n"
			   "ffffffff81000600 D jiffies\n"
			   "ffffffffc0001000 t module_read\t[module]\n";

static const struct nw_scope scope = {.kallsyms = "kallsyms"},
			     all = {.kallsyms = "kallsyms", .want_operands = true};

static int choose(const char *spec, const struct nw_scope *in, struct nw_selection *out,
		  struct nw_error *err)
{
	FILE *file = fopen("kallsyms", "w");

	fputs(text, file);
	fclose(file);
	int ret = nw_select_words(&spec, 1, in, out, err);
	remove("kallsyms");
	return ret;
}

static void check(const char *spec, const char *wanted)
{
	struct nw_selection selection = {0};
	struct nw_buf got = {0};
	struct nw_error err = {0};

	ck_assert_msg(choose(spec, &scope, &selection, &err) == 0, "%s: %s", spec,
		      err.what);
	nw_vec_each (&selection.probes, probe) {
		ck_assert(nw_probe_in_kernel(*probe));
		nw_buf_printf(&got, "%s%s", got.len ? " " : "", (*probe)->label);
	}
	ck_assert_str_eq(nw_buf_str(&got), wanted);
	nw_buf_free(&got);
	nw_selection_free(&selection);
}

START_TEST(functions_are_selected_by_name)
{
	check("kprobe:vfs_read", "kprobe:vfs_read");
	check("kretprobe:vfs_read", "kretprobe:vfs_read");
	check("func:kernel:vfs_read", "kprobe:vfs_read kretprobe:vfs_read");
	check("uprobe:kernel:module_read", "kprobe:module_read");
	check("kprobe:made.isra.0", "kprobe:made.isra.0");
	/* A pattern leaves out names that several functions have, copies, and a compiler's padding. */
	check("kprobe:*", "kprobe:vfs_read kprobe:vfs_readv kprobe:module_read");
}
END_TEST

START_TEST(what_cannot_be_selected_is_told)
{
	static const struct {
		const char *spec, *what, *hint;
	} cases[] = {
		{"kprobe:vfs_raed", "the kernel has no function 'vfs_raed'",
		 "did you mean vfs_read"},
		{"kprobe:made", "has no function 'made'", "made.isra.0, made.constprop.0"},
		{"kprobe:gone_away_far", "has no function", "it may have been inlined"},
		{"kprobe:zz*", "has no function", "/proc/kallsyms has the names"},
		{"kprobe:twice", "the kernel has 2 functions called 'twice'", ""},
		{"kprobe:jiffies", "'jiffies' is a variable of the kernel", ""},
		{"kprobe:vfs_read(a->b)", "fields of a kernel function's arguments", ""},
		{"kprobe:vfs_read+4", "by its name alone", ""},
		{"func:kernel:f,returns=insn", "of programs, not of the kernel", ""},
		{"kprobe:kernel:vfs_read", "by its name alone", ""},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_selection selection = {0};
		struct nw_error err = {0};
		ck_assert_int_lt(choose(cases[i].spec, &scope, &selection, &err), 0);
		ck_assert_msg(strstr(err.what, cases[i].what) != NULL, "%s", err.what);
		ck_assert_msg(strstr(err.hint, cases[i].hint) != NULL, "%s", err.hint);
	}
}
END_TEST

/* Each function has an event of its own, which says its name and no place. */
START_TEST(events_have_names_of_functions)
{
	struct nw_plan_options options = {
		.session = "s",
		.stacks = true,
		.caps = {.memory = true, .multi_site = true, .maxactive = true}};
	struct nw_selection selection = {0};
	struct nw_error err = {0};

	ck_assert_int_eq(choose("func:kernel:vfs_read*", &scope, &selection, &err), 0);
	selection.images.item[0]->arch = nw_arch_by_name("x86_64");
	struct nw_plan plan = pb_plan(&selection, &options);
	pb_check(&plan, "p:nopwatch_s/es_0 vfs_read sp=%sp:u64\n"
			"r512:nopwatch_s/es_1 vfs_read sp=%sp:u64\n"
			"p:nopwatch_s/es_2 vfs_readv sp=%sp:u64\n"
			"r512:nopwatch_s/es_3 vfs_readv sp=%sp:u64\n");
	nw_plan_free(&plan);
	options.caps.maxactive = options.stacks = false;
	plan = pb_plan(&selection, &options);
	ck_assert_uint_eq(plan.events.count, 4);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}
END_TEST

START_TEST(arguments_are_those_of_the_call)
{
	const struct nw_plan_options options = {.session = "s", .caps = {.memory = true}};
	struct nw_selection selection = {0};
	struct nw_error err = {0};

	ck_assert_int_eq(choose("func:kernel:vfs_read(file:x64,buf,count:u32)", &all,
				&selection, &err),
			 0);
	ck_assert_uint_eq(selection.probes.count, 2);
	ck_assert_uint_eq(selection.probes.item[0]->named, 3);
	ck_assert_uint_eq(selection.probes.item[1]->args.count, 1);
	struct nw_plan plan = pb_plan(&selection, &options);
	ck_assert_uint_eq(plan.points.item[0].args.count, 3);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}
END_TEST

/* A kprobe that cannot read leaves the bytes of an earlier hit. */
START_TEST(what_is_behind_a_pointer_is_marked)
{
	const struct nw_plan_options options = {.session = "s",
						.caps = {.memory = true, .arrays = true}};
	struct nw_selection selection = {0};
	struct nw_error err = {0};

	ck_assert_int_eq(choose("kprobe:vfs_read(file:x64,buf:u8[16],count:u32)", &all,
				&selection, &err),
			 0);
	selection.images.item[0]->arch = nw_arch_by_name("x86_64");
	struct nw_plan plan = pb_plan(&selection, &options);
	pb_check(&plan,
		 "p:nopwatch_s/es_0 vfs_read a0=%di:u64 a1=+0(%si):u8[16] a2=%dx:u32\n");
	const struct nw_planned_point *planned = &plan.points.item[0];
	for (size_t i = 0; i < planned->args.count; i++)
		ck_assert_int_eq(planned->args.item[i].fetch.untrusted, i == 1);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}
END_TEST

static int take_event(void *arg, const char *list, const char *group, const char *name)
{
	struct nw_buf *out = arg;

	(void)list;

	nw_buf_printf(out, "%s/%s ", group, name);
	return 0;
}

/* Deleting names the list that has the event. */
START_TEST(lists_of_events)
{
	struct nw_tracefs fs = {.root = open(".", O_RDONLY | O_DIRECTORY)};
	struct nw_buf got = {0};
	struct nw_steps steps = {0};
	char name[NW_MAX_NAME + 1];
	uint64_t hits, missed;

	remove(NW_KPROBE_EVENTS);
	ck_assert_int_eq(nw_kernel_event_list_read(&fs, take_event, &got), 0);
	ck_assert_uint_eq(got.len, 0);
	FILE *file = fopen(NW_KPROBE_EVENTS, "w");
	fputs("p:g/a vfs_read sp=%sp:u64\nr512:g/b vfs_read\np:h/c mod:f+4\nbad\np:/x y\n",
	      file);
	fclose(file);
	ck_assert_int_eq(nw_kernel_event_list_read(&fs, take_event, &got), 0);
	ck_assert_str_eq(nw_buf_str(&got), "g/a g/b h/c ");
	nw_buf_clear(&got);

	ck_assert_int_lt(nw_tracefs_write(fs.root, NW_KPROBE_EVENTS, "x"), 0);
	nw_steps_add(&steps, NW_DO_DELETE, NW_KPROBE_EVENTS, "g/a");
	nw_steps_add(&steps, NW_DO_DELETE, "", "g/e");
	nw_steps_print("/t", &steps, &got);
	ck_assert_str_eq(nw_buf_str(&got), "T=/t\necho -:g/a >>\"$T/kprobe_events\"\n"
					   "echo -:g/e >>\"$T/uprobe_events\"\n");
	nw_steps_free(&steps);
	nw_buf_free(&got);
	remove(NW_KPROBE_EVENTS);
	close(fs.root);

	ck_assert(
		nw_kernel_profile_line_parse("  es_1      19     3", name, &hits, &missed));
	ck_assert_str_eq(name, "es_1");
	ck_assert_uint_eq(hits, 19);
	ck_assert_uint_eq(missed, 3);
	ck_assert(!nw_kernel_profile_line_parse("es_1 19", name, &hits, &missed));
}
END_TEST

UNIT_MAIN("select_kernel", functions_are_selected_by_name, what_cannot_be_selected_is_told,
	  events_have_names_of_functions, arguments_are_those_of_the_call,
	  what_is_behind_a_pointer_is_marked, lists_of_events)
