// SPDX-License-Identifier: MIT
/* Which of the kernel's events a spec selects, where somebody knows which there are. */
#include <errno.h>

#include "elf_select.h"

static int list_names(void *arg, nw_strings *out, struct nw_error *err)
{
	static const char *const names[] = {
		"sched:sched_wakeup",	     "sched:sched_waking",
		"sched:sched_switch",	     "syscalls:sys_enter_write",
		"app:query__start",	     "broken",
		"user_events:request",	     "user_events:My_L4K1",
		"syscalls:sys_enter_openat", "syscalls:sys_exit_getcwd"};

	if (arg)
		return nw_fail(err, EACCES, "may not look");
	for (size_t i = 0; i < NW_COUNT(names); i++)
		ck_assert_int_eq(nw_strings_addf(out, "%s", names[i]), 0);
	return 0;
}

static void add(nw_named_args *out, const char *name, enum nw_base_type base,
		unsigned int array)
{
	struct nw_named_arg *slot = nw_vec_add(out);

	snprintf(slot->name, sizeof(slot->name), "%s", name);
	slot->type = (struct nw_type){base, 32, array};
}

static int list_fields(void *arg, const char *system, const char *event, nw_named_args *out,
		       struct nw_error *err)
{
	(void)arg;
	(void)err;
	if (strcmp(event, "My_L4K1") == 0) {
		add(out, "event", NW_TYPE_STRING, 0);
		add(out, "fields", NW_TYPE_STRING, 0);
		add(out, "activity", NW_TYPE_STRING, 0);
		add(out, "eventheader_flags", NW_TYPE_UNSIGNED, 0);
	} else if (strcmp(event, "request") == 0) {
		add(out, "id", NW_TYPE_UNSIGNED, 0);
	} else if (strcmp(event, "sched_switch") == 0) {
		add(out, "prev_comm", NW_TYPE_STRING, 0);
		add(out, "next_pid", NW_TYPE_SIGNED, 0);
	} else if (strcmp(event, "sys_enter_openat") == 0) {
		add(out, "__syscall_nr", NW_TYPE_SIGNED, 0);
		add(out, "dfd", NW_TYPE_SIGNED, 0);
		add(out, "filename", NW_TYPE_HEX, 0);
		out->item[2].type.bits = sizeof(long) * 8;
		add(out, "flags", NW_TYPE_SIGNED, 0);
		add(out, "mode", NW_TYPE_UNSIGNED, 0);
		add(out, "__filename_val", NW_TYPE_STRING, 0);
	} else if (strcmp(event, "sys_exit_getcwd") == 0) {
		add(out, "__syscall_nr", NW_TYPE_SIGNED, 0);
		add(out, "ret", NW_TYPE_SIGNED, 0);
	} else if (strcmp(system, "sched") == 0) {
		add(out, "pid", NW_TYPE_SIGNED, 0);
		add(out, "mask", NW_TYPE_HEX, 1);
	}
	return 0;
}

static int has_user_events(void *arg, struct nw_error *err)
{
	return arg ? nw_fail(err, EOPNOTSUPP, "this kernel has no user_events") : 0;
}

static int list_none(void *arg, nw_strings *out, struct nw_error *err)
{
	(void)arg;
	(void)err;
	return nw_strings_addf(out, "sched:sched_switch");
}

static const struct nw_kernel_events events = {.names = list_names,
					       .user_events = has_user_events,
					       .fields = list_fields};
static const struct nw_scope scope = {.events = &events},
			     all = {.events = &events, .want_operands = true};

START_TEST(events_are_selected_by_system_and_name)
{
	static const struct {
		const char *specs[4], *wanted;
	} cases[] = {
		{{"tracepoint:sched:sched_switch"}, "sched:sched_switch@0[]"},
		{{"tracepoint:sched:sched_wak*"},
		 "sched:sched_wakeup@0[] sched:sched_waking@0[]"},
		{{"tracepoint:s*:*w*e*"},
		 "sched:sched_wakeup@0[] syscalls:sys_enter_write@0[]"},
		{{"tracepoint:sched:sched_switch", "tracepoint:*:sched_switch"},
		 "sched:sched_switch@0[]"},
		{{"tracepoint:sched:sched_switch(next_pid)"},
		 "sched:sched_switch@0(next_pid)"},
		{{"tracepoint:sched:sched_switch(next_pid:x32, prev_comm:string)"},
		 "sched:sched_switch@0(next_pid:x32,prev_comm:string)"},
		{{"tracepoint:sched:sched_switch()"}, "sched:sched_switch@0()"},
		/* of several, each as far as it has them */
		{{"tracepoint:sched:*(pid)"},
		 "sched:sched_wakeup@0(pid) sched:sched_waking@0(pid) "
		 "sched:sched_switch@0()"},
		/* the last names win */
		{{"tracepoint:sched:sched_switch(prev_comm)",
		  "tracepoint:sched:sched_switch(next_pid)"},
		 "sched:sched_switch@0(next_pid)"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		eb_check_selected(cases[i].specs, &scope, cases[i].wanted);
}
END_TEST

START_TEST(all_fields_come_where_they_are_wanted)
{
	eb_check_selected((const char *const[4]){"tracepoint:sched:sched_switch"}, &all,
			  "sched:sched_switch@0[prev_comm,next_pid]");
	eb_check_selected((const char *const[4]){"tracepoint:sched:sched_switch(next_pid)",
						 "tracepoint:sched:*"},
			  &all,
			  "sched:sched_switch@0(next_pid) sched:sched_wakeup@0[pid,mask] "
			  "sched:sched_waking@0[pid,mask]");
	eb_check_selected((const char *const[4]){"tracepoint:sched:sched_wakeup",
						 "tracepoint:sched:sched_wakeup(mask)"},
			  &all, "sched:sched_wakeup@0(mask)");
	eb_check_selected((const char *const[4]){"tracepoint:syscalls:*write"}, &all,
			  "syscalls:sys_enter_write@0[]");
}
END_TEST

/* Each record of an EventHeader event names its fields: so any name may be one. */
START_TEST(events_of_programs_have_their_fields_or_any)
{
	int arg;
	const struct nw_kernel_events lacking = {.arg = &arg,
						 .names = list_none,
						 .user_events = has_user_events,
						 .fields = list_fields};
	const struct nw_scope without = {.events = &lacking};

	eb_check_selected(
		(const char *const[4]){"user_events:*"}, &all,
		"user_events:request@0[id] user_events:My_L4K1@0[event:string32,fields:string32]");
	eb_check_selected(
		(const char *const[4]){"user_events:My_L4K1(x, who.uid:u32, activity)"},
		&scope, "user_events:My_L4K1@0(x,who.uid:u32,activity:string32)");
	eb_check_refused("user_events:request(x)", &scope, EINVAL,
			 "'user_events:request(x)': the event has no field 'x'",
			 "its fields are id");
	eb_check_refused(
		"user_events:My_L4K1(event:u8)", &scope, EINVAL,
		"'user_events:My_L4K1(event:u8)': the field 'event' is a string and cannot be had as another type",
		"");
	eb_check_refused("user_events:reqest", &scope, ENOENT,
			 "no program has registered an event 'user_events:reqest'",
			 "did you mean user_events:request?");
	eb_check_refused("user_events:request", &without, EOPNOTSUPP,
			 "'user_events:request': this kernel has no user_events", "");
}
END_TEST

START_TEST(what_is_not_there_is_said_with_what_is_near)
{
	eb_check_refused("tracepoint:sched:sched_wakup", &scope, ENOENT,
			 "the kernel has no event 'tracepoint:sched:sched_wakup'",
			 "did you mean tracepoint:sched:sched_wakeup, "
			 "tracepoint:sched:sched_waking, tracepoint:sched:sched_switch?");
	eb_check_refused("tracepoint:x:nothing_like_it", &scope, ENOENT,
			 "the kernel has no event 'tracepoint:x:nothing_like_it'",
			 "available_events in tracefs lists those there are");
	eb_check_refused("tracepoint:sched:sched_switch(pid)", &scope, EINVAL,
			 "'tracepoint:sched:sched_switch(pid)': the event has no field "
			 "'pid'",
			 "its fields are prev_comm, next_pid");
	eb_check_refused(
		"tracepoint:syscalls:sys_exit_getcwd(buf:string)", &scope, EINVAL,
		"'tracepoint:syscalls:sys_exit_getcwd(buf:string)': the event has no field "
		"'buf': a call's arguments are those of its begin, and a text that the call "
		"has written cannot be read at its end",
		"its fields are __syscall_nr, ret; "
		"tracepoint:syscalls:sys_enter_getcwd has the arguments, and "
		"func:libc.so.6:getcwd(buf:string@return) the text, where programs call it by the C library");
	eb_check_refused("tracepoint:sched:*(nothing)", &scope, EINVAL,
			 "'tracepoint:sched:*(nothing)': none of the events has a field "
			 "'nothing'",
			 "");
	eb_check_refused("tracepoint:sched:sched_switch(,next_pid)", &scope, EINVAL,
			 "'tracepoint:sched:sched_switch(,next_pid)': a tracepoint's "
			 "fields have names of their own: one is empty",
			 "");
}
END_TEST

START_TEST(types_cannot_be_what_the_field_is_not)
{
	static const struct {
		const char *arg, *what;
	} cases[] = {
		{"sched_switch(prev_comm:u32)", "prev_comm' is a string"},
		{"sched_switch(next_pid:string)", "next_pid' is a number"},
		{"sched_switch(next_pid:f64)", "next_pid' is a number"},
		{"sched_switch(next_pid:u8[4])", "next_pid' is a number"},
		{"sched_wakeup(mask:u32)", "mask' is an array"},
		{"sched_wakeup(mask:string)", "mask' is an array"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		nw_cleanup(nw_free_ptr) char *spec = nw_text("tracepoint:sched:%s",
							     cases[i].arg);
		nw_cleanup(nw_free_ptr) char *what = nw_text(
			"'%s': the field '%s and cannot be had as another type", spec,
			cases[i].what);
		eb_check_refused(spec, &scope, EINVAL, what, "");
	}
}
END_TEST

/* A pointer of a system call is a string where the user says that it is: which argument of the call it is, is noted. */
START_TEST(addresses_of_system_calls_can_be_strings)
{
	static const char *const specs[] = {
		"tracepoint:sys*:sys_enter_openat(mode, filename:string, dfd)"};
	struct nw_selection selection;
	struct nw_error err = {0};

	ck_assert_int_eq(nw_select_words(specs, 1, &scope, &selection, &err), 0);
	const struct nw_probe *probe = selection.probes.item[0];
	ck_assert_uint_eq(probe->args.count, 3);
	ck_assert_uint_eq(probe->call_args.count, 3);
	ck_assert_uint_eq(probe->call_args.item[0].number, 3);
	ck_assert_uint_eq(probe->call_args.item[1].number, 1);
	ck_assert_uint_eq(probe->call_args.item[2].number, 0);
	ck_assert(probe->call_args.item[1].copied && !probe->call_args.item[2].copied);
	ck_assert_int_eq(probe->call_args.item[2].type.base, NW_TYPE_SIGNED);
	nw_selection_free(&selection);
	eb_check_selected((const char *const[4]){"tracepoint:syscalls:sys_enter_openat("
						 "filename)"},
			  &scope, "syscalls:sys_enter_openat@0(filename)");
	eb_check_refused(
		"tracepoint:syscalls:sys_enter_openat(flags:string)", &scope, EINVAL,
		"'tracepoint:syscalls:sys_enter_openat(flags:string)': the field 'flags' is "
		"a number and cannot be had as another type",
		"");
	eb_check_refused(
		"tracepoint:syscalls:sys_enter_openat(filename:string,common_pid)", &scope,
		EINVAL,
		"'tracepoint:syscalls:sys_enter_openat(filename:string,common_pid)': "
		"'common_pid' is no argument of the system call, and cannot be had together "
		"with a string of the call's",
		"");
	eb_check_refused(
		"tracepoint:syscalls:sys_enter_openat(filename:string,__syscall_nr)",
		&scope, EINVAL,
		"'tracepoint:syscalls:sys_enter_openat(filename:string,__syscall_nr)': "
		"'__syscall_nr' is no argument of the system call, and cannot be had "
		"together with a string of the call's",
		"");
}
END_TEST

START_TEST(where_nobody_knows_names_are_believed)
{
	static const struct nw_scope nowhere = {.want_operands = true};

	eb_check_selected((const char *const[4]){"tracepoint:any:thing(a, b:x8)"}, &nowhere,
			  "any:thing@0(a,b:x8)");
	eb_check_selected((const char *const[4]){"tracepoint:any:thing"}, &nowhere,
			  "any:thing@0[]");
	eb_check_refused("tracepoint:any:*", &nowhere, EINVAL,
			 "'tracepoint:any:*': which events the kernel has cannot be told "
			 "here: name them one by one",
			 "");
}
END_TEST

START_TEST(whoever_knows_may_fail)
{
	int arg;
	const struct nw_kernel_events closed = {.arg = &arg,
						.names = list_names,
						.user_events = has_user_events,
						.fields = list_fields};
	const struct nw_scope shut = {.events = &closed};

	eb_check_refused("tracepoint:sched:sched_switch", &shut, EACCES, "may not look",
			 "");
}
END_TEST

/* A USDT probe may be called the same: both say then where they are. */
START_TEST(labels_tell_an_event_from_a_probe)
{
	char dir[64];
	struct eb b;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	eb_program(&b, EM_X86_64, true, false);
	eb_note(&b, EB_TEXT, 0, 0, "app", "query__start", "");
	eb_notes(&b);
	eb_write(&b, dir, "one");
	eb_check_selected((const char *const[4]){"usdt:./one:app:*", "tracepoint:app:*"},
			  &scope,
			  "./one:app:query__start@200[] tracepoint:app:query__start@0[]");
}
END_TEST

UNIT_MAIN("selection of kernel events", events_of_programs_have_their_fields_or_any,
	  events_are_selected_by_system_and_name, all_fields_come_where_they_are_wanted,
	  what_is_not_there_is_said_with_what_is_near,
	  types_cannot_be_what_the_field_is_not, addresses_of_system_calls_can_be_strings,
	  where_nobody_knows_names_are_believed, whoever_knows_may_fail,
	  labels_tell_an_event_from_a_probe)
