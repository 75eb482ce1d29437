// SPDX-License-Identifier: MIT
/* plan: events of ours in the place of those of system calls, of which strings are wanted. */
#include "plan_builder.h"

/* A probe of renameat2(olddfd, oldname, newdfd, newname, flags) with its last four arguments. */
static struct nw_probe *make_probe(struct nw_selection *s, const char *attached,
				   const char *names, const char *const places[4])
{
	static const struct nw_call_arg args[] = {
		{.number = 1, .type = {NW_TYPE_HEX, 64, 0}},
		{.number = 2, .type = {NW_TYPE_SIGNED, 32, 0}},
		{.number = 3, .type = {NW_TYPE_HEX, 64, 0}},
		{.number = 4, .type = {NW_TYPE_HEX, 32, 0}}};
	struct nw_probe *probe = pb_probe(s, NULL, "syscalls", "sys_enter_renameat2",
					  names);

	probe->kind = NW_SPEC_TRACEPOINT;
	pb_point(probe, 0, "");
	for (size_t i = 0; i < 4; i++) {
		struct nw_call_arg *arg = nw_vec_add(&probe->call_args);
		*arg = args[i];
		arg->copied = *attached != '_';
		ck_assert_int_eq(
			nw_strings_add(&probe->places, places[i], strlen(places[i])), 0);
	}
	probe->attached = strdup(attached);
	return probe;
}

static const char paths[] = "oldname:string,newdfd,newname:string,flags";
static const char buffers[] = "one:string,newdfd,two:string,flags";

static void check_line(const char *attached, const char *names, const char *const places[4],
		       const struct nw_plan_options *options, const char *wanted)
{
	struct nw_selection s = {0}, again;
	struct nw_buf line = {0}, text = {0}, twice = {0};
	struct nw_armed armed, loaded_armed;
	struct nw_error err = {0};

	make_probe(&s, attached, names, places);
	struct nw_plan plan = pb_plan(&s, options), loaded;
	ck_assert_uint_eq(plan.events.count, 1);
	ck_assert_uint_eq(plan.points.item[0].parts, 1);
	const struct nw_event *event = plan.events.item[0];
	nw_plan_define(&plan, event, event->places.item, "", true, &line);
	ck_assert_str_eq(nw_buf_str(&line), wanted);
	ck_assert_str_eq(nw_event_group(&plan, event), "nopwatch_s");
	ck_assert(nw_event_in_function(&plan, event) == (*attached == '_'));
	/* a recording has the same */
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_assume(&armed);
	nw_plan_save(&armed, &text);
	ck_assert_msg(nw_plan_load(nw_buf_str(&text), text.len, &again, &loaded,
				   &loaded_armed, NULL, NULL, &err) == 0,
		      "%s: %s", err.what, nw_buf_str(&text));
	ck_assert_str_eq(loaded.events.item[0]->attached, attached);
	const struct nw_source *name = &loaded.points.item[0].args.item[0];
	if (strstr(wanted, "string"))
		ck_assert(!name->chunks.count && name->field >= 0);
	else
		ck_assert(name->in_kernel == (*attached == '_') && name->chunks.count &&
			  name->whole);
	nw_plan_save(&loaded_armed, &twice);
	ck_assert_str_eq(nw_buf_str(&twice), nw_buf_str(&text));
	nw_buf_free(&line);
	nw_buf_free(&text);
	nw_buf_free(&twice);
	nw_armed_free(&armed);
	nw_armed_free(&loaded_armed);
	pb_free(&again, &loaded);
	pb_free(&s, &plan);
}

START_TEST(an_event_is_behind_an_event_or_in_a_function)
{
	static const struct nw_plan_options options = {
		.session = "s",
		.string_size = 80,
		.caps = {.memory = true, .multi_site = true, .arrays = true, .hex = true}};
	static const struct nw_plan_options old = {
		.session = "s", .string_size = 8, .caps = {.memory = true}};
	static const char *const fields[4] = {"$oldname", "$newdfd", "$newname", "$flags"};
	static const char *const regs[4] = {"%si", "%dx", "%cx", "%r8"};

	check_line(
		"syscalls.sys_enter_renameat2", buffers, fields, &options,
		"e:nopwatch_s/es_0 syscalls.sys_enter_renameat2 a0=$newdfd:s32 a1=$flags:x32 "
		"a2=$oldname:x64 a3=+0($oldname):x8[64] a4=+64($oldname):x64[2] "
		"a5=$newname:x64 a6=+0($newname):x8[64] a7=+64($newname):x64[2]");
	check_line("__x64_sys_renameat2", paths, regs, &old,
		   "p:nopwatch_s/es_0 __x64_sys_renameat2 a0=%dx:s32 a1=%r8:u32 a2=%si:u64 "
		   "a3=+0(%si):u8 a4=+1(%si):u8 a5=+2(%si):u8 a6=+3(%si):u8 a7=+4(%si):u8 "
		   "a8=+5(%si):u8 a9=+6(%si):u8 a10=+7(%si):u8 a11=%cx:u64 a12=+0(%cx):u8 "
		   "a13=+1(%cx):u8 a14=+2(%cx):u8 a15=+3(%cx):u8 a16=+4(%cx):u8 "
		   "a17=+5(%cx):u8 a18=+6(%cx):u8 a19=+7(%cx):u8");
	/* Paths are the kernel's own strings where these say that they could not be read. */
	check_line(
		"syscalls.sys_enter_renameat2", paths, fields, &options,
		"e:nopwatch_s/es_0 syscalls.sys_enter_renameat2 a0=$newdfd:s32 a1=$flags:x32 "
		"a2=+0($oldname):ustring a3=+0($newname):ustring");
	check_line("__x64_sys_renameat2", paths, regs, &options,
		   "p:nopwatch_s/es_0 __x64_sys_renameat2 a0=%dx:s32 a1=%r8:x32 "
		   "a2=+0(%si):string a3=+0(%cx):string");
}
END_TEST

/* Such an event has one part: what does not fit is shorter, so that the string is cut, and nothing is missing. */
START_TEST(strings_that_do_not_fit_are_shorter)
{
	static const char *const fields[4] = {"$oldname", "$newdfd", "$newname", "$flags"};
	struct nw_plan_options options = {
		.session = "s", .string_size = NW_MAX_STRING_SIZE, .caps = nw_caps_all};

	for (int arrays = 0; arrays < 2; arrays++) {
		struct nw_selection s = {0};
		options.caps.arrays = arrays;
		make_probe(&s, "syscalls.sys_enter_renameat2", buffers, fields);
		struct nw_plan plan = pb_plan(&s, &options);
		const struct nw_planned_point *planned = &plan.points.item[0];
		ck_assert_uint_eq(plan.events.count, 1);
		ck_assert_uint_eq(planned->parts, 1);
		nw_vec_each (&planned->args, source) {
			uint32_t bytes = 0;
			ck_assert_ptr_null(source->fetch.problem);
			ck_assert_int_ge(source->field, 0);
			nw_vec_each (&source->chunks, chunk)
				bytes += nw_chunk_bytes(chunk);
			if (source->fetch.shown.base == NW_TYPE_STRING)
				ck_assert_uint_ge(bytes, arrays ? 1024 : 32);
		}
		pb_free(&s, &plan);
	}
}
END_TEST

/* Before Linux 4.20 a string is read in words, and a recording's have long names. A line that names no file has room for all of them. */
START_TEST(a_path_of_a_recording_is_whole)
{
	static const char *const places[4] = {"+104(%di)", "+112(%di)", "", ""};
	struct nw_plan_options options = {.session = "s",
					  .naming = NW_NAMES_PROBES,
					  .caps = {.memory = true, .hex = true}};
	struct nw_selection s = {0};
	uint32_t bytes = 0;

	make_probe(&s, "__x64_sys_renameat2", "oldname:string,newdfd", places);
	struct nw_plan plan = pb_plan(&s, &options);
	nw_vec_each (&plan.points.item[0].args.item[0].chunks, chunk)
		bytes += nw_chunk_bytes(chunk);
	ck_assert_uint_eq(bytes, NW_STRING_SIZE);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("attached events", an_event_is_behind_an_event_or_in_a_function,
	  strings_that_do_not_fit_are_shorter, a_path_of_a_recording_is_whole)
