// SPDX-License-Identifier: MIT
/* summary: spans that the names of probes say, and those of --span. */
#include <errno.h>

#include "measure/summary.h"
#include "plan/plan.h"
#include "unit.h"

static struct nw_selection selection;
static struct nw_plan plan;

/*
 * Probes from "PROVIDER:NAME PROVIDER:NAME ...", all of the first image; "2/PROVIDER:NAME" is of
 * the second one, and labelled with its path, as where names are ambiguous.
 */
static void setup(const char *probes)
{
	struct nw_buf text = {0};
	const char *at = probes;

	nw_buf_adds(&text,
		    "nopwatch-plan 1\nimage /usr/bin/app\nimage /opt/lib/libx.so.1\n");
	while (*at) {
		size_t len = strcspn(at, " ");
		bool second = strncmp(at, "2/", 2) == 0;
		const char *word = at + (second ? 2 : 0);
		size_t provider = strcspn(word, ":"),
		       name = len - provider - 1 - (second ? 2 : 0);
		nw_buf_printf(&text, "probe %d 0 %.*s %.*s %s%.*s 0\n", second,
			      (int)provider, word, (int)name, word + provider + 1,
			      second ? "/opt/lib/libx.so.1:" : "",
			      (int)(provider + 1 + name), word);
		at += len + (at[len] == ' ');
	}
	int ret = nw_plan_load(nw_buf_str(&text), text.len, &selection, &plan, NULL, NULL,
			       NULL, NULL);
	ck_assert_int_eq(ret, 0);
	nw_buf_free(&text);
}

static void teardown(void)
{
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

static void add_names(struct nw_buf *out, const nw_vec_u32 *list)
{
	for (size_t i = 0; i < list->count; i++)
		nw_buf_printf(out, "%s%s", i ? "|" : "",
			      selection.probes.item[list->item[i]]->label);
}

/* "NAME=START..END|END,KEY; " */
static void describe(struct nw_buf *out, const struct nw_span_def *def)
{
	nw_buf_printf(out, "%s=", def->name);
	add_names(out, &def->starts);
	nw_buf_adds(out, "..");
	add_names(out, &def->ends);
	nw_buf_printf(out, ",%s%s%s; ", def->key == NW_KEY_ARG ? "arg " : "", def->key_name,
		      def->flat ? ", flat" : "");
}

/* ---- by name ------------------------------------------------------------------------ */

struct by_name {
	const char *probes, *spans;
};

static void check_names(const struct by_name *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		nw_span_defs defs = {0};
		struct nw_buf seen = {0};
		setup(table[i].probes);
		ck_assert_int_eq(nw_spans_by_name(&selection, &defs), 0);
		nw_vec_each (&defs, def)
			describe(&seen, def);
		ck_assert_msg(strcmp(nw_buf_str(&seen), table[i].spans) == 0,
			      "%s: \"%s\", not \"%s\"", table[i].probes, nw_buf_str(&seen),
			      table[i].spans);
		nw_buf_free(&seen);
		nw_spans_free(&defs);
		teardown();
	}
}

START_TEST(every_word_of_the_table_pairs_with_its_ends)
{
	static const struct {
		const char *start, *ends;
	} words[] = {
		{"start",
		 "done end stop finish finished complete completed return commit abort "
		 "fail failed cancel cancelled error success"},
		{"begin",
		 "end done finish finished complete completed commit abort rollback"},
		{"entry", "return exit acquired success failure"},
		{"enter", "exit return leave entered"},
		{"request", "response reply done"},
		{"startup", "shutdown"},
		{"acquire", "release"},
		{"lock", "unlock"},
		{"wait", "wakeup waited"},
		{"throw", "catch"},
		{"thrown", "caught"},
		{"raise", "rescue"},
		{"suspend", "resume"},
		{"scheduled", "unscheduled"},
		{"loading", "loaded"},
		{"before", "after"},
		{"pre", "post"},
	};
	char probes[128], spans[256];

	for (size_t i = 0; i < NW_COUNT(words); i++) {
		for (const char *at = words[i].ends; *at;) {
			int len = (int)strcspn(at, " ");
			snprintf(probes, sizeof(probes), "p:q__%s p:q__%.*s",
				 words[i].start, len, at);
			snprintf(spans, sizeof(spans), "p:q=p:q__%s..p:q__%.*s,tid; ",
				 words[i].start, len, at);
			check_names(&(struct by_name){probes, spans}, 1);
			at += len + (at[len] == ' ');
		}
	}
}
END_TEST

START_TEST(words_stand_in_front_or_behind_with_any_separator)
{
	static const struct by_name table[] = {
		{"p:q_start p:q_end", "p:q=p:q_start..p:q_end,tid; "},
		{"syscalls:sys_enter_write syscalls:sys_exit_write syscalls:sys_exit_read",
		 "syscalls:write=syscalls:sys_enter_write..syscalls:sys_exit_write,tid; "},
		{"raw_syscalls:sys_enter raw_syscalls:sys_exit",
		 "raw_syscalls:sys=raw_syscalls:sys_enter..raw_syscalls:sys_exit,tid; "},
		{"irq:softirq_entry irq:softirq_exit",
		 "irq:softirq=irq:softirq_entry..irq:softirq_exit,tid; "},
		{"p:q-start p:q-end", "p:q=p:q-start..p:q-end,tid; "},
		{"p:q.start p:q.end", "p:q=p:q.start..p:q.end,tid; "},
		{"p:start_q p:end_q", "p:q=p:start_q..p:end_q,tid; "},
		{"p:begin__q__x p:end__q__x", "p:q__x=p:begin__q__x..p:end__q__x,tid; "},
		{"p:q__x__start p:q__x__end", "p:q__x=p:q__x__start..p:q__x__end,tid; "},
		{"p:throw p:catch", "p:throw-catch=p:throw..p:catch,tid; "},
		{"p:end p:start", "p:start-end=p:start..p:end,tid; "},
	};

	check_names(table, NW_COUNT(table));
}
END_TEST

START_TEST(what_does_not_fit_exactly_is_not_paired)
{
	static const struct by_name table[] = {
		{"", ""},
		{"p:q__start", ""},
		{"p:q__done", ""},
		{"p:q__start p:r__done", ""}, /* another stem */
		{"p:q__start p:q_done", ""},  /* another separator */
		{"p:q__start p:done__q", ""}, /* the other side */
		{"p:start p:q__done", ""},    /* a word, and a name with one */
		{"p:qstart p:qdone", ""},     /* no separator */
		{"p:restart p:done", ""},
		{"p:q__start p:q__start", ""},
		{"p:q__lock p:q__done", ""},	/* not an end of this word */
		{"p:_start p:_done", ""},	/* nothing left */
		{"p:q__start r:q__done", ""},	/* another provider */
		{"p:q__start 2/p:q__done", ""}, /* another file */
		{"p:q__Start p:q__Done", ""},
	};

	check_names(table, NW_COUNT(table));
}
END_TEST

START_TEST(spans_may_share_probes)
{
	static const struct by_name table[] = {
		{"p:tx__start p:tx__abort p:tx__commit",
		 "p:tx=p:tx__start..p:tx__abort|p:tx__commit,tid; "},
		{"p:q__done p:q__start p:q__begin",
		 "p:q=p:q__start..p:q__done,tid; p:q=p:q__begin..p:q__done,tid; "},
		{"p:q_enter p:q_entered p:q_exit", "p:q=p:q_enter..p:q_entered,tid; "},
		{"p:q_exit p:q_enter", "p:q=p:q_enter..p:q_exit,tid; "},
		{"p:q__start p:r__start p:r__done p:q__done",
		 "p:q=p:q__start..p:q__done,tid; p:r=p:r__start..p:r__done,tid; "},
		{"p:q__start p:q__done 2/p:q__start 2/p:q__done",
		 "p:q=p:q__start..p:q__done,tid; "
		 "/opt/lib/libx.so.1:p:q=/opt/lib/libx.so.1:p:q__start.."
		 "/opt/lib/libx.so.1:p:q__done,tid; "},
	};

	check_names(table, NW_COUNT(table));
}
END_TEST

START_TEST(a_function_goes_from_its_entry_to_its_return)
{
	static const struct by_name table[] = {
		{"uprobe:f uretprobe:f", "f=uprobe:f..uretprobe:f,tid; "},
		{"uretprobe:f uprobe:f uprobe:g uretprobe:h",
		 "f=uprobe:f..uretprobe:f,tid; "},
		{"uprobe:f 2/uretprobe:f", ""},
		{"uprobe:f uprobe:f+0x4", ""},
	};

	check_names(table, NW_COUNT(table));
}
END_TEST

/* ---- --span ------------------------------------------------------------------------- */

static const char probes[] = "app:q__start app:q__done app:q__fail app:conn app:close "
			     "uprobe:f uretprobe:f uprobe:f+0x10 uprobe:0x1234 "
			     "2/lib:go 2/lib:stop 2/app:q__start";

START_TEST(spans_are_parsed)
{
	static const struct {
		const char *text, *span;
	} table[] = {
		{"app:conn..app:close", "app:conn..app:close=app:conn..app:close,tid; "},
		{"conn..close", "conn..close=app:conn..app:close,tid; "},
		{"x=app:conn..app:close", "x=app:conn..app:close,tid; "},
		{"x=conn..close,key=pid", "x=app:conn..app:close,pid; "},
		{"x=conn..close,key=tid", "x=app:conn..app:close,tid; "},
		{"x=conn..close,key=fd", "x=app:conn..app:close,arg fd; "},
		{"x=conn..q__fail|close", "x=app:conn..app:q__fail|app:close,tid; "},
		{"x=conn..q__*", "x=app:conn..app:q__start|app:q__done|app:q__fail|"
				 "/opt/lib/libx.so.1:app:q__start,tid; "},
		{"x=app:c*..q-done", "x=app:conn|app:close..app:q__done,tid; "},
		/* each end once, however often it is named */
		{"x=conn..q__done|q__d*|q__done", "x=app:conn..app:q__done,tid; "},
		{"x=conn(a,b)..close(fd,c),key=fd", "x=app:conn..app:close,arg fd; "},
		/* whatever a spec may look like */
		{"x=usdt:/usr/bin/app:app:conn..usdt:/usr/bin/app:app:close",
		 "x=app:conn..app:close,tid; "},
		{"x=/usr/bin/app:app:conn..close", "x=app:conn..app:close,tid; "},
		{"x=usdt:app:app:conn..usdt:app:app:close", "x=app:conn..app:close,tid; "},
		{"x=usdt::app:conn..usdt::app:close", "x=app:conn..app:close,tid; "},
		{"x=app:::conn..%sdt_app:close", "x=app:conn..app:close,tid; "},
		{"x=usdt:libx.so:lib:go..usdt:libx.so:lib:stop",
		 "x=/opt/lib/libx.so.1:lib:go../opt/lib/libx.so.1:lib:stop,tid; "},
		{"x=usdt:/proc/7/root/x:lib:go..stop",
		 "x=/opt/lib/libx.so.1:lib:go../opt/lib/libx.so.1:lib:stop,tid; "},
		{"x=usdt:/usr/bin/app:app:q__start..close",
		 "x=app:q__start..app:close,tid; "}, /* not that of the other file */
		{"x=uprobe:/usr/bin/app:f..uretprobe:/usr/bin/app:f",
		 "x=uprobe:f..uretprobe:f,tid; "},
		{"x=uprobe:/usr/bin/app:f+16..uprobe:/usr/bin/app:0x1234",
		 "x=uprobe:f+0x10..uprobe:0x1234,tid; "},
		{"x=usdt:../bin/app:app:conn..usdt:/opt/../app:app:close",
		 "x=app:conn..app:close,tid; "},
		{"x=conn..close,nest=no", "x=app:conn..app:close,tid, flat; "},
		{"x=conn..close,nest=yes,key=fd", "x=app:conn..app:close,arg fd; "},
		{"x=conn..close,key=fd,nest=no", "x=app:conn..app:close,arg fd, flat; "},
		{"../app:app:conn..close",
		 "../app:app:conn..close=app:conn..app:close,tid; "},
	};

	setup(probes);
	for (size_t i = 0; i < NW_COUNT(table); i++) {
		struct nw_span_def def = {0};
		struct nw_error err = {0};
		struct nw_buf seen = {0};
		ck_assert_msg(nw_span_parse(table[i].text, &selection, &def, &err) == 0,
			      "%s", err.what);
		describe(&seen, &def);
		ck_assert_msg(strcmp(nw_buf_str(&seen), table[i].span) == 0,
			      "%s: \"%s\", not \"%s\"", table[i].text, nw_buf_str(&seen),
			      table[i].span);
		nw_buf_free(&seen);
		nw_span_def_free(&def);
	}
	teardown();
}
END_TEST

static const char hint[] =
	"write [NAME=]START..END[|END2][,key=tid|pid|cpu|ARG[+ARG2][:ENDARG]][,nest=no|outer], START and "
	"END being probes, for example --span 'conn=app:connect..app:close,key=fd'; or [NAME=]PROBE,duration=ARG[:ns|us|ms|s] if the probe hands over how long it took";

START_TEST(what_is_no_span_is_told_why)
{
	static const struct {
		const char *text, *why;
	} table[] = {
		{"", "START..END is missing"},
		{"conn", "START..END is missing"},
		{"conn.close", "START..END is missing"},
		{"../conn", "START..END is missing"},
		{"..close", "START or END is missing"},
		{"conn..", "START or END is missing"},
		{"x=..close", "START or END is missing"},
		{"conn..,key=fd", "START or END is missing"},
		{"=conn..close", "its name is empty"},
		{"conn..close,key=", "the key is not a name"},
		{"conn..close,key=a123456789012345678901234567890x",
		 "the key is not a name"},
		{"conn..close,key=a:", "the key is not a name"},
		{"conn..close,key=:a", "the key is not a name"},
		{"conn..close,key=a:b:c", "the key is not a name"},
		{"conn..close,nest=no,key=", "the key is not a name"},
		{"conn..close,key=+fd", "the key is not a name"},
		{"conn..close,key=fd+", "the key is not a name"},
		{"conn..close,key=fd++tid", "the key is not a name"},
		{"conn..close,key=a+b+c+d+e", "the key is not a name"},
		{"conn..close,key=fd+a123456789012345678901234567890x",
		 "the key is not a name"},
		{"conn..close,nest=", "nest is 'yes', 'no' or 'outer'"},
		{"conn..close,nest=never,key=fd", "nest is 'yes', 'no' or 'outer'"},
		{"nothing..close", "no probe that is traced is its START"},
		{"lib:conn..close", "no probe that is traced is its START"},
		{"conn..nothing", "no probe that is traced is its END"},
		{"conn..close|nothing", "no probe that is traced is its END"},
		{"conn..close||q__fail", "no probe that is traced is its END"},
		{"conn..close,fd", "no probe that is traced is its END"},
		{"close,duration=fd:h", "the unit of a duration is ns, us, ms or s"},
		{"close,duration=", "the duration is not an argument"},
		{"conn..close,duration=fd",
		 "a duration is handed over by one probe, not from START to END"},
		{"close,nest=no,duration=fd",
		 "a duration needs no key and does not nest: each hit is a span"},
		{"nothing,duration=fd", "no probe that is traced hands it over"},
		{",duration=fd", "START or END is missing"},
	};

	setup(probes);
	for (size_t i = 0; i < NW_COUNT(table); i++) {
		struct nw_span_def def = {0};
		struct nw_error err = {0};
		char what[256];
		snprintf(what, sizeof(what), "'%s' is not a span: %s", table[i].text,
			 table[i].why);
		ck_assert_int_eq(nw_span_parse(table[i].text, &selection, &def, &err),
				 -EINVAL);
		ck_assert_str_eq(err.what, what);
		ck_assert_str_eq(err.hint, hint);
		ck_assert(err.usage && !def.name && !def.starts.count && !def.ends.count);
	}
	teardown();
}
END_TEST

START_TEST(start_and_end_may_have_keys_of_their_own)
{
	static const struct {
		const char *keys, *shown;
		enum nw_span_key start, end;
		bool args, pids;
	} table[] = {
		{"a:b", "a:b", NW_KEY_ARG, NW_KEY_ARG, true, false},
		{"a:a", "a", NW_KEY_ARG, NW_KEY_ARG, true, false},
		{"tid:b", "tid:b", NW_KEY_TID, NW_KEY_ARG, true, false},
		{"a:pid", "a:pid", NW_KEY_ARG, NW_KEY_PID, true, true},
		{"tid", "tid", NW_KEY_TID, NW_KEY_TID, false, false},
		{"pid:tid", "pid:tid", NW_KEY_PID, NW_KEY_TID, false, true},
		{"a+tid", "a+tid", NW_KEY_SEVERAL, NW_KEY_SEVERAL, true, false},
		{"tid+pid:b", "tid+pid:b", NW_KEY_SEVERAL, NW_KEY_ARG, true, true},
		{"tid+cpu", "tid+cpu", NW_KEY_SEVERAL, NW_KEY_SEVERAL, false, false},
	};

	setup(probes);
	for (size_t i = 0; i < NW_COUNT(table); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("conn..close,key=%s",
							     table[i].keys);
		struct nw_span_def def = {0};
		char shown[NW_SPAN_KEY_TEXT];
		ck_assert_int_eq(nw_span_parse(text, &selection, &def, NULL), 0);
		nw_span_key_text(&def, shown);
		ck_assert_str_eq(shown, table[i].shown);
		ck_assert(def.key == table[i].start && def.end_key == table[i].end);
		ck_assert(nw_span_needs_args(text) == table[i].args);
		ck_assert(nw_span_needs_pids(text) == table[i].pids);
		nw_span_def_free(&def);
	}
	teardown();
}
END_TEST

START_TEST(the_specs_inside_a_span_are_found)
{
	static const struct {
		const char *text, *specs; /* separated by blanks */
	} table[] = {
		{"a..b", "a b"},
		{"x=a..b|c|d", "a b c d"},
		{"x=usdt:/p:q:a..usdt:/p:q:b,key=fd", "usdt:/p:q:a usdt:/p:q:b"},
		{"a(fd:s32,n)..b(fd,rc)|c(fd,x),key=fd", "a(fd:s32,n) b(fd,rc) c(fd,x)"},
		{"usdt:../x:p:a..usdt:../x:p:b", "usdt:../x:p:a usdt:../x:p:b"},
	};
	struct nw_error err = {0};
	nw_strings none = {0};

	for (size_t i = 0; i < NW_COUNT(table); i++) {
		nw_strings specs = {0};
		struct nw_buf seen = {0};
		ck_assert_int_eq(nw_span_specs(table[i].text, &specs, NULL), 0);
		nw_vec_each (&specs, spec)
			nw_buf_printf(&seen, "%s%s", seen.len ? " " : "", *spec);
		ck_assert_str_eq(nw_buf_str(&seen), table[i].specs);
		nw_buf_free(&seen);
		nw_strings_free(&specs);
	}
	ck_assert_int_eq(nw_span_specs("a.b", &none, &err), -EINVAL);
	ck_assert_str_eq(err.what, "'a.b' is not a span: START..END is missing");
	ck_assert_uint_eq(none.count, 0);
}
END_TEST

/* ---- the probes of well-known programs ---------------------------------------------- */

/* Add "NAME" behind a comma, with what marks its part. */
static void add_part(struct nw_buf *out, const char *before, const char *name,
		     const char *behind)
{
	nw_buf_printf(out, "%s%s%s%s", out->len ? "," : "", before, name, behind);
}

/* What a probe is in the spans, as the file has it. */
static char *part_of(const nw_span_defs *defs, uint32_t probe)
{
	struct nw_buf out = {0};

	nw_vec_each (defs, def) {
		const char *name = strchr(def->name, ':') + 1;
		nw_vec_each (&def->starts, start)
			if (*start == probe)
				add_part(&out, "", name, ">");
		nw_vec_each (&def->ends, end)
			if (*end == probe)
				add_part(&out, ">", name, "");
	}
	if (!out.len)
		nw_buf_adds(&out, "-");
	return nw_buf_take(&out);
}

/* Check the probes of one provider, of each the part it should have. */
static void check_provider(const char *names, const nw_strings *parts)
{
	nw_span_defs defs = {0};
	uint32_t number = 0;

	setup(names);
	ck_assert_uint_eq(selection.probes.count, parts->count);
	ck_assert_int_eq(nw_spans_by_name(&selection, &defs), 0);
	nw_vec_each (parts, part) {
		nw_cleanup(nw_free_ptr) char *seen = part_of(&defs, number);
		ck_assert_msg(strcmp(seen, *part) == 0, "%s is %s, not %s",
			      selection.probes.item[number]->label, seen, *part);
		number++;
	}
	nw_spans_free(&defs);
	teardown();
}

START_TEST(well_known_probes_pair_as_they_mean_it)
{
	FILE *file = fopen("tests/data/spans.tsv", "re");
	char line[256], provider[64] = "", of[64], probe[128], part[128];
	struct nw_buf names = {0};
	nw_strings parts = {0};
	size_t providers = 0;

	ck_assert_ptr_nonnull(file);
	for (bool more = true; more;) {
		more = fgets(line, sizeof(line), file) != NULL;
		if (more && *line == '#')
			continue;
		if (more)
			ck_assert_int_eq(sscanf(line, "%63[^\t]\t%127[^\t]\t%127[^\n]", of,
						probe, part),
					 3);
		if (parts.count && (!more || strcmp(of, provider) != 0)) {
			check_provider(nw_buf_str(&names), &parts);
			nw_buf_clear(&names);
			nw_strings_free(&parts);
			parts = (nw_strings){0};
			providers++;
		}
		strcpy(provider, of);
		nw_buf_printf(&names, "%s%s:%s", names.len ? " " : "", of, probe);
		ck_assert_int_eq(nw_strings_add(&parts, part, strlen(part)), 0);
	}
	ck_assert_uint_ge(providers, 28);
	fclose(file);
	nw_buf_free(&names);
	nw_strings_free(&parts);
}
END_TEST

/* As many probes as a run may have. */
START_TEST(many_probes_pair_as_few_do)
{
	enum {
		MANY = 4096
	};
	struct nw_buf names = {0};
	nw_span_defs defs = {0};

	for (int i = MANY; i-- > 0;)
		nw_buf_printf(&names, "%sp:n%d__done p:n%d__start", names.len ? " " : "", i,
			      i);
	setup(nw_buf_str(&names));
	ck_assert_int_eq(nw_spans_by_name(&selection, &defs), 0);
	ck_assert_uint_eq(defs.count, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		const struct nw_span_def *def = &defs.item[i];
		ck_assert_uint_eq(def->ends.count, 1);
		ck_assert_uint_eq(def->starts.item[0], 2 * i + 1);
		ck_assert_uint_eq(def->ends.item[0], 2 * i);
	}
	nw_spans_free(&defs);
	teardown();
	nw_buf_free(&names);
}
END_TEST

UNIT_MAIN("pairs", many_probes_pair_as_few_do, well_known_probes_pair_as_they_mean_it,
	  every_word_of_the_table_pairs_with_its_ends,
	  words_stand_in_front_or_behind_with_any_separator,
	  what_does_not_fit_exactly_is_not_paired, spans_may_share_probes,
	  a_function_goes_from_its_entry_to_its_return, spans_are_parsed,
	  what_is_no_span_is_told_why, start_and_end_may_have_keys_of_their_own,
	  the_specs_inside_a_span_are_found)
