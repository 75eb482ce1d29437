// SPDX-License-Identifier: MIT
/* Plans as text: what is written is read back, and nothing but what was written. */
#include <errno.h>

#include "plan_builder.h"

/* All kinds of points and sources, in two files. */
static void make_selection(struct nw_selection *s)
{
	struct nw_image *image = pb_image(s, "/opt/my app/x%y"),
			*other = pb_image(s, "/lib/y.so");
	struct nw_probe *a = pb_probe(s, image, "app", "query__start",
				      "sql:string,id,name:string");
	struct nw_probe *e = pb_probe(s, NULL, "sched", "sched_switch",
				      "prev_comm,prev_state:x16");
	struct nw_probe *b = pb_probe(s, other, "-", "caf\xc3\xa9 \n%", NULL);
	struct nw_probe *c = pb_probe(s, image, "uretprobe", "main", "ret:f64");
	struct nw_probe *d = pb_probe(s, other, "p", "structs", "");

	ck_assert(nw_strings_add(&a->enums, "", 0) == 0 &&
		  nw_strings_add(&a->enums, "7=RED,-70=DARK \x1b,70=X", 21) == 0);
	pb_point(a, 0x1010, "8@%rdi -4@%esi 8@8(%rsp) -1@%ah");
	pb_point(a, 0x1020, "8@%rdi -4@$-5 8@%rdx 1@%xmm0");
	pb_point(b, 0x1030, "");
	pb_point(b, UINT64_MAX, "8@%rdi");
	pb_point(c, 0x2010, "8@%rax")->is_return = true;
	pb_point(d, 0x3010, "16@(%rax) 3@(%rax) 65@(%rax) 0@%rax 1024@(%rax) 4f@%eax");
	pb_point(d, 0x3020, "16@(%rax)");
	e->kind = NW_SPEC_TRACEPOINT;
	pb_point(e, 0, "");
}

static struct nw_plan make_plan(struct nw_selection *s)
{
	static const struct nw_plan_options options = {.session = "rec",
						       .all_args = true,
						       .caps = {.memory = true,
								.ref_ctr = true,
								.multi_site = true,
								.hex = true,
								.arrays = true}};

	make_selection(s);
	return pb_plan(s, &options);
}

/* As the kernel would have it. */
static struct nw_armed arm(const struct nw_plan *plan)
{
	struct nw_armed armed;

	ck_assert_int_eq(nw_armed_make(plan, &armed), 0);
	nw_armed_assume(&armed);
	return armed;
}

static char *save_armed(const struct nw_armed *armed)
{
	struct nw_buf out = {0};

	nw_plan_save(armed, &out);
	return nw_buf_take(&out);
}

static char *save(const struct nw_plan *plan)
{
	struct nw_armed armed = arm(plan);
	char *text = save_armed(&armed);

	nw_armed_free(&armed);
	return text;
}

static bool same_type(const struct nw_type *a, const struct nw_type *b)
{
	return a->base == b->base && a->bits == b->bits && a->array == b->array;
}

static void compare_selections(const struct nw_selection *a, const struct nw_selection *b)
{
	ck_assert_uint_eq(a->images.count, b->images.count);
	for (size_t i = 0; i < a->images.count; i++)
		ck_assert_str_eq(a->images.item[i]->path, b->images.item[i]->path);
	ck_assert_uint_eq(a->probes.count, b->probes.count);
	for (size_t i = 0; i < a->probes.count; i++) {
		const struct nw_probe *p = a->probes.item[i], *q = b->probes.item[i];
		ck_assert_str_eq(p->provider, q->provider);
		ck_assert_str_eq(p->name, q->name);
		ck_assert_str_eq(p->label, q->label);
		ck_assert_int_eq(!p->image, !q->image);
		if (p->image)
			ck_assert_str_eq(p->image->path, q->image->path);
		ck_assert(p->kind == q->kind && p->has_args == q->has_args);
		ck_assert_uint_eq(p->args.count, q->args.count);
		for (size_t j = 0; j < p->args.count; j++) {
			ck_assert_str_eq(p->args.item[j].name, q->args.item[j].name);
			ck_assert(same_type(&p->args.item[j].type, &q->args.item[j].type));
		}
		ck_assert_uint_eq(p->enums.count, q->enums.count);
		for (size_t j = 0; j < p->enums.count; j++)
			ck_assert_str_eq(p->enums.item[j], q->enums.item[j]);
		ck_assert_uint_eq(p->points.count, q->points.count);
		for (size_t j = 0; j < p->points.count; j++) {
			const struct nw_point *x = &p->points.item[j],
					      *y = &q->points.item[j];
			ck_assert(x->vaddr == y->vaddr && x->offset == y->offset &&
				  x->is_return == y->is_return);
			ck_assert_ptr_eq(y->image, q->image);
		}
	}
}

static void compare_points(const struct nw_planned_point *p,
			   const struct nw_planned_point *q)
{
	ck_assert(p->probe == q->probe && p->point == q->point && p->parts == q->parts);
	ck_assert_uint_eq(p->args.count, q->args.count);
	for (size_t i = 0; i < p->args.count; i++) {
		const struct nw_source *x = &p->args.item[i], *y = &q->args.item[i];
		ck_assert(x->part == y->part && x->field == y->field &&
			  x->high_field == y->high_field);
		ck_assert(same_type(&x->fetch.field, &y->fetch.field));
		ck_assert(same_type(&x->fetch.shown, &y->fetch.shown));
		ck_assert(x->fetch.sign_bits == y->fetch.sign_bits &&
			  x->fetch.is_constant == y->fetch.is_constant &&
			  x->fetch.constant == y->fetch.constant &&
			  x->fetch.untrusted == y->fetch.untrusted);
		ck_assert_pstr_eq(x->fetch.problem, y->fetch.problem);
	}
}

static void compare_events(const struct nw_event *p, const struct nw_event *q)
{
	ck_assert_str_eq(p->name, q->name);
	ck_assert_str_eq(p->system, q->system);
	ck_assert(p->is_return == q->is_return);
	ck_assert_uint_eq(p->fields.count, q->fields.count);
	for (size_t i = 0; i < p->fields.count; i++)
		ck_assert_str_eq(p->fields.item[i], q->fields.item[i]);
	ck_assert_uint_eq(p->places.count, q->places.count);
	for (size_t i = 0; i < p->places.count; i++)
		ck_assert(p->places.item[i].planned == q->places.item[i].planned &&
			  p->places.item[i].part == q->places.item[i].part);
	ck_assert_mem_eq(p->by_low_bits, q->by_low_bits, sizeof(p->by_low_bits));
}

/* The second argument of the first point has a part of its own, which was refused. */
static const char *problem_of(const struct nw_armed *armed)
{
	struct nw_source source = {.part = 1};

	return nw_armed_problem(armed, 0, &source);
}

START_TEST(a_number_has_the_name_of_its_enumeration)
{
	static const struct {
		size_t arg;
		int64_t number;
		bool is_signed;
		const char *name;
	} cases[] = {{1, 7, true, "RED"}, {1, 7, false, "RED"},
		     {1, 70, true, "X"},  {1, -70, true, "DARK \x1b"},
		     {1, -70, false, ""}, {1, 0, true, ""},
		     {0, 7, true, ""},	  {2, 7, true, ""}};
	struct nw_selection s = {0};

	make_selection(&s);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const char *word = "";
		size_t len = nw_arg_word(s.probes.item[0], cases[i].arg,
					 (uint64_t)cases[i].number, cases[i].is_signed,
					 &word);
		ck_assert_uint_eq(len, strlen(cases[i].name));
		ck_assert(memcmp(word, cases[i].name, len) == 0);
	}
	nw_selection_free(&s);
}
END_TEST

START_TEST(a_plan_that_is_saved_and_loaded_is_the_same)
{
	struct nw_selection s = {0}, again;
	struct nw_plan plan = make_plan(&s), loaded;
	struct nw_armed armed = arm(&plan), loaded_armed;
	armed.points.item[0].refused = 0x2;
	armed.events.item[0]->id = 1789;
	armed.shifted_states = true;
	armed.events.item[0]->order = 3;
	char *text = save_armed(&armed);
	struct nw_error err;

	ck_assert_msg(nw_plan_load(text, strlen(text), &again, &loaded, &loaded_armed, NULL,
				   NULL, &err) == 0,
		      "%s\n%s", err.what, text);
	ck_assert_str_eq(loaded.group, "nopwatch_rec");
	ck_assert_ptr_eq(loaded.selection, &again);
	compare_selections(&s, &again);
	ck_assert_uint_eq(plan.points.count, loaded.points.count);
	for (size_t i = 0; i < plan.points.count; i++) {
		if (i > 0) /* the refusal is a problem of the arguments, now */
			compare_points(&plan.points.item[i], &loaded.points.item[i]);
		ck_assert_uint_eq(armed.points.item[i].refused,
				  loaded_armed.points.item[i].refused);
	}
	ck_assert_uint_eq(plan.events.count, loaded.events.count);
	for (size_t i = 0; i < plan.events.count; i++) {
		compare_events(plan.events.item[i], loaded.events.item[i]);
		ck_assert_uint_eq(armed.events.item[i]->defined,
				  loaded_armed.events.item[i]->defined);
		ck_assert_uint_eq(armed.events.item[i]->id,
				  loaded_armed.events.item[i]->id);
		ck_assert_uint_eq(armed.events.item[i]->order,
				  loaded_armed.events.item[i]->order);
	}
	ck_assert(loaded_armed.shifted_states);
	ck_assert_str_eq(problem_of(&armed), "the kernel refused to fetch it");
	ck_assert_str_eq(problem_of(&loaded_armed), problem_of(&armed));
	char *twice = save_armed(&loaded_armed);
	ck_assert_str_eq(twice, text);
	free(twice);
	free(text);
	nw_armed_free(&armed);
	nw_armed_free(&loaded_armed);
	pb_free(&again, &loaded);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(the_text_is_this)
{
	static const struct nw_plan_options options = {
		.session = "s",
		.string_size = 72,
		.caps = {.memory = true, .multi_site = true, .arrays = true}};
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/a b");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", "sql:string,n:s16,");
	struct nw_probe *b = pb_probe(&s, image, "p", "b", NULL);

	pb_point(a, 0x10, "8@8(%rsp) -4@$-2 8@%xmm0");
	pb_point(b, 0x20, "");
	pb_point(b, 0x30, "");
	struct nw_plan plan = pb_plan(&s, &options);
	struct nw_armed armed = arm(&plan);
	armed.events.item[0]->id = 4294967295;
	armed.events.item[1]->defined = 0; /* it was refused: it is not in the text */
	char *text = save_armed(&armed);
	nw_armed_free(&armed);
	ck_assert_str_eq(
		text,
		"nopwatch-plan 1\n"
		"group nopwatch_s\n"
		"image /a%20b\n"
		"probe 0 0 p a p:a 1\n"
		"arg sql string\n"
		"arg n s16\n"
		"arg - -\n"
		"point 4194320 16 0\n"
		"probe 0 0 p b p:b 0\n"
		"point 4194336 32 0\n"
		"point 4194352 48 0\n"
		"planned 0 0 1 0\n"
		"source 0 0 -1 string string 0 - 0 -\n"
		"string 0 1\n"
		"chunk 0 1 0 8 64\n"
		"chunk 0 2 64 64 1\n"
		"source 0 -1 -1 - s16 16 65534 0 -\n"
		"source 0 -1 -1 - u64 0 - 0 a%20floating-point%20or%20vector%20register:%20"
		"ftrace%20can%20only%20read%20general%20registers\n"
		"planned 1 0 1 0\n"
		"planned 1 1 1 0\n"
		"event es_0 0\n"
		"id 4294967295\n"
		"field a0\n"
		"field a1\n"
		"field a2\n"
		"place 0 0\n");
	free(text);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_kernel_event_is_written_like_this)
{
	static const struct nw_plan_options options = {.session = "s"};
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, NULL, "sched", "sched_switch",
				      "prev_comm,next_pid:x32");
	struct nw_probe *b = pb_probe(&s, NULL, "9p", "x", NULL);

	a->kind = b->kind = NW_SPEC_TRACEPOINT;
	pb_point(a, 0, "");
	pb_point(b, 0, "");
	struct nw_plan plan = pb_plan(&s, &options);
	ck_assert_str_eq(nw_event_group(&plan, plan.events.item[0]), "sched");
	char *text = save(&plan);
	ck_assert_str_eq(text, "nopwatch-plan 1\ngroup nopwatch_s\nimage kernel\n"
			       "probe 0 4 sched sched_switch sched:sched_switch 1\n"
			       "arg prev_comm -\narg next_pid x32\npoint 4194304 0 0\n"
			       "probe 0 4 9p x 9p:x 0\npoint 4194304 0 0\n"
			       "planned 0 0 1 0\n"
			       "source 0 0 -1 - - 0 - 0 -\n"
			       "source 0 1 -1 - x32 0 - 0 -\n"
			       "planned 1 0 1 0\n"
			       "event sched_switch 0\nsystem sched\n"
			       "field prev_comm\nfield next_pid\nplace 0 0\n"
			       "event x 0\nsystem 9p\nplace 1 0\n");
	free(text);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_system_is_no_path)
{
	static const char *const systems[] = {"-", "a/b", "..", ".", "../x"};

	for (size_t i = 0; i < NW_COUNT(systems); i++) {
		struct nw_selection s;
		struct nw_plan plan;
		char text[128];
		snprintf(text, sizeof(text), "nopwatch-plan 1\nevent x 0\nsystem %s\n",
			 systems[i]);
		ck_assert_int_eq(
			nw_plan_load(text, strlen(text), &s, &plan, NULL, NULL, NULL, NULL),
			-EBADMSG);
	}
}
END_TEST

START_TEST(words_are_escaped)
{
	static const struct {
		const char *text, *word;
	} cases[] = {
		{"plain", " plain"},	 {"", " -"},
		{"-", " %2d"},		 {"--", " --"},
		{"-1", " -1"},		 {"a b", " a%20b"},
		{"100%", " 100%25"},	 {"%20", " %2520"},
		{"a\nb\t", " a%0ab%09"}, {"caf\xc3\xa9", " caf%c3%a9"},
		{"\x7f\x01", " %7f%01"}, {"~!", " ~!"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		nw_plan_word(&out, cases[i].text);
		ck_assert_str_eq(nw_buf_str(&out), cases[i].word);
		nw_buf_free(&out);
	}
}
END_TEST

static void collect(void *arg, char *const *words, size_t count)
{
	struct nw_buf *out = arg;

	for (size_t i = 0; i < count; i++)
		nw_buf_printf(out, "[%s]", words[i]);
	nw_buf_addc(out, '\n');
}

START_TEST(lines_of_others_are_handed_on)
{
	static const char text[] = "before 1\n"
				   "nopwatch-plan 1\n"
				   "\n"
				   "mine a%20b - %2d %zz %4 %\n"
				   "group g\n"
				   "a b c d e f g h i j k l m n\n"
				   "  two\n"
				   "last";
	struct nw_selection s;
	struct nw_buf out = {0};
	struct nw_plan plan;

	ck_assert_int_eq(
		nw_plan_load(text, sizeof(text) - 1, &s, &plan, NULL, collect, &out, NULL),
		0);
	ck_assert_str_eq(nw_buf_str(&out), "[before][1]\n"
					   "[mine][a b][][-][%zz][%4][%]\n"
					   "[a][b][c][d][e][f][g][h][i][j][k][l]\n"
					   "[][][two]\n"
					   "[last]\n");
	ck_assert_str_eq(plan.group, "g");
	nw_buf_free(&out);
	pb_free(&s, &plan);
	ck_assert_int_eq(
		nw_plan_load(text, sizeof(text) - 1, &s, &plan, NULL, NULL, NULL, NULL), 0);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_point_with_very_many_arguments_can_be_loaded)
{
	static const struct nw_plan_options options = {
		.session = "s",
		.all_args = true,
		.caps = {.memory = true, .multi_site = true}};
	struct nw_selection s = {0}, again;
	struct nw_buf args = {0};
	struct nw_plan loaded;

	for (int i = 0; i < 6000; i++)
		nw_buf_adds(&args, i % 2 ? "8@%rdi " : "4@$7 ");
	pb_point(pb_probe(&s, pb_image(&s, "/x"), "p", "a", NULL), 1, nw_buf_str(&args));
	struct nw_plan plan = pb_plan(&s, &options);
	char *text = save(&plan);
	ck_assert_int_eq(
		nw_plan_load(text, strlen(text), &again, &loaded, NULL, NULL, NULL, NULL),
		0);
	compare_points(&plan.points.item[0], &loaded.points.item[0]);
	free(text);
	nw_buf_free(&args);
	pb_free(&again, &loaded);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("plan as text", a_number_has_the_name_of_its_enumeration,
	  a_plan_that_is_saved_and_loaded_is_the_same, the_text_is_this,
	  a_kernel_event_is_written_like_this, a_system_is_no_path, words_are_escaped,
	  lines_of_others_are_handed_on, a_point_with_very_many_arguments_can_be_loaded)
