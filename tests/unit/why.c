// SPDX-License-Identifier: MIT
/* why: from facts to a verdict. The facts are made up here: nothing is looked at. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include "why/judge.h"
#include "why/why.h"

/* facts are made of literals, which nothing here writes to */
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"

/* A probe with one site, in one process that maps it: nothing is wrong, nothing is known. */
static struct nw_kernel_access kernel;
static struct nw_spec spec;
static struct nw_image image;
static struct nw_segment segment = {.vaddr = 0x401000,
				    .offset = 0x1000,
				    .filesz = 0x1000,
				    .memsz = 0x1000,
				    .exec = true};
static struct nw_site site;
static struct nw_point point;
static struct nw_probe probe;
static struct nw_probe *probes[1] = {&probe};
static struct nw_selection selection;
static struct nw_process_facts process;
static struct nw_mapping_facts mapping;
static struct nw_watch watch;
static struct nw_symbol_facts symbol;
static struct nw_facts facts;
static struct nw_diagnosis diagnosis;

static void setup(void)
{
	kernel = (struct nw_kernel_access){.root = true, .btf = true, .pmu = true};
	spec = (struct nw_spec){.text = "usdt:/bin/app:app:tick",
				.path = "/bin/app",
				.provider = "app",
				.name = "tick"};
	site = (struct nw_site){.provider = "app", .name = "tick", .args = ""};
	image = (struct nw_image){.path = "/bin/app", .fd = -1, .ino = 90, .elf64 = true};
	image.size = 0x2000;
	image.segments.item = &segment;
	image.segments.count = 1;
	image.sites.item = &site;
	image.sites.count = 1;
	image.arch = nw_arch_by_name("x86_64");
	point = (struct nw_point){.image = &image,
				  .site = &site,
				  .vaddr = 0x401100,
				  .offset = 0x1100,
				  .nop = NW_NOP_1};
	probe = (struct nw_probe){.label = "app:tick", .image = &image};
	probe.points.item = &point;
	probe.points.count = 1;
	selection = (struct nw_selection){0};
	selection.probes.item = probes;
	selection.probes.count = 1;
	process = (struct nw_process_facts){.asked = 11,
					    .process = 11,
					    .comm = "app",
					    .exe = "/bin/app",
					    .readable = true};
	mapping = (struct nw_mapping_facts){.processes = 1, .mapped = 1, .pid = 11};
	watch = (struct nw_watch){.done = true, .elapsed_ns = 5000000000, .sites = 1};
	watch.before = watch.after = (struct nw_presence){.mapped = 1, .armed = 1};
	facts = (struct nw_facts){.kernel = &kernel,
				  .nop5_safe = true,
				  .ref_ctr = true,
				  .spec = &spec,
				  .path = "/bin/app",
				  .image = &image,
				  .selection = &selection,
				  .at_function = true,
				  .process = &process,
				  .mapping = &mapping,
				  .watch = &watch};
}

static void judge(void)
{
	nw_diagnosis_free(&diagnosis);
	ck_assert_int_eq(nw_diagnose(&facts, &diagnosis, NULL), 0);
}

static enum nw_cause first_cause(void)
{
	ck_assert_uint_gt(diagnosis.reasons.count, 0);
	return diagnosis.reasons.item[0].cause;
}

static enum nw_result result_of(const char *name)
{
	nw_vec_each (&diagnosis.checks, check)
		if (strcmp(check->name, name) == 0)
			return check->result;
	ck_abort_msg("no check '%s'", name);
}

START_TEST(hits_are_a_verdict)
{
	setup();
	watch.in_target = 1532;
	watch.sites = 3;
	watch.sites_hit = 2;
	judge();
	ck_assert_int_eq(diagnosis.fires, 1);
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
	ck_assert_str_eq(
		diagnosis.text,
		"the probe fires (1,532 hits in 5 s at 2 of its 3 sites): nothing is "
		"wrong with it here; a BPF tool that shows nothing has a fault of its "
		"own");
}
END_TEST

START_TEST(silence_with_everything_in_place_is_code_not_executed)
{
	setup();
	judge();
	ck_assert_int_eq(diagnosis.fires, 0);
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert_int_eq(result_of("armed"), NW_RESULT_PASS);
	/* a call may be under way, as readline() of a shell that waits for a command: its return hits nothing */
	spec.kind = NW_SPEC_URETPROBE;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert_str_eq(
		diagnosis.text,
		"everything is in place; no call began in the last 5 s, and the kernel does "
		"not see the return of a call that began before");
}
END_TEST

/* Faults of the tool's program are told of an idle program, too; possible faults of BPF are not. */
START_TEST(faults_of_the_tool_are_told_of_silent_code)
{
	static struct nw_tool tool = {.program = (char *)"bpftrace", .word_used = 1};

	setup();
	facts.tool = &tool;
	judge();
	ck_assert_int_eq(diagnosis.fires, 0);
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert(nw_diagnosis_has(&diagnosis, NW_CAUSE_BPF_PROGRAM));
	tool.word_used = 0;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert_uint_eq(diagnosis.reasons.count, 1);
}
END_TEST

/* The words that the process was started with, of a probe that the program passes only when it is told to: the cause, and
 * a part of what is said. */
static void expect_switch(const char *provider, const char *name, const char *words,
			  enum nw_cause cause, const char *said)
{
	setup();
	probe.provider = provider;
	probe.name = name;
	process.words = words;
	judge();
	ck_assert_int_eq(first_cause(), cause);
	ck_assert_ptr_nonnull(strstr(diagnosis.reasons.item[0].text, said));
}

START_TEST(probes_that_a_program_switches_on_are_told_apart)
{
	expect_switch("ruby", "method__entry", "ruby a.rb", NW_CAUSE_SWITCHED_OFF,
		      "TracePoint");
	expect_switch("ruby", "method__return", NULL, NW_CAUSE_SWITCHED_OFF, "TracePoint");
	expect_switch("ruby", "cmethod__entry", "ruby a.rb", NW_CAUSE_NOT_EXECUTED, "");
	expect_switch("hotspot", "method__entry", "java A", NW_CAUSE_SWITCHED_OFF,
		      "DTraceMethodProbes");
	expect_switch("hotspot", "method__entry", "java -XX:+ExtendedDTraceProbes A",
		      NW_CAUSE_NOT_EXECUTED, "");
	expect_switch("php", "request__startup", "php a.php", NW_CAUSE_SWITCHED_OFF,
		      "USE_ZEND_DTRACE=1");
}
END_TEST

START_TEST(what_was_not_seen_is_unknown)
{
	setup();
	watch.before = watch.after = (struct nw_presence){.mapped = 1, .unreadable = 1};
	judge();
	ck_assert_int_eq(diagnosis.fires, -1);
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
	ck_assert_int_eq(result_of("armed"), NW_RESULT_UNKNOWN);
	ck_assert_str_eq(diagnosis.text, "not known: none of the checks found a cause");
}
END_TEST

START_TEST(armed_semaphore_and_hits_are_told_apart)
{
	setup();
	watch.before = watch.after = (struct nw_presence){.mapped = 1, .unarmed_pid = 11};
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_ARMED);
	setup();
	point.semaphore_offset = 0x1800;
	watch.before = watch.after = (struct nw_presence){
		.mapped = 1, .armed = 1, .closed = 1, .closed_pid = 11};
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_SEMAPHORE);
	ck_assert_uint_eq(diagnosis.reasons.count, 1);
	setup();
	watch.other_hits = 20;
	watch.other_pid = 12;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_OTHER_PROCESS);
	watch.in_children = 5;
	watch.child_pid = 13;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_CHILD);
	setup();
	watch.exec_seen = true;
	watch.exe_after = "/bin/other";
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_EXECED);
	setup();
	watch.ended = true;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_PROCESS_GONE);
}
END_TEST

START_TEST(the_kernels_refusals_are_named)
{
	setup();
	watch.done = false;
	strcpy(watch.refused, "x is left out: the kernel would not arm it");
	watch.refused_code = EIO;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_FILESYSTEM);
	watch.refused_code = EINVAL;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_REFUSED);
	ck_assert_int_eq(diagnosis.fires, 0);
}
END_TEST

START_TEST(a_file_that_no_probe_hits_is_named)
{
	setup();
	facts.mute = true;
	facts.watch = NULL;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_FILESYSTEM);
	ck_assert(nw_diagnosis_settled(&diagnosis));
}
END_TEST

START_TEST(the_kernel_comes_first)
{
	static const struct {
		int error;
		const char *lockdown;
		bool root;
		enum nw_cause cause;
	} cases[] = {
		{ENOENT, "", true, NW_CAUSE_NO_TRACEFS},
		{ENOSYS, "", true, NW_CAUSE_NO_UPROBES},
		{EACCES, "none", false, NW_CAUSE_NO_PRIVILEGE},
		{EPERM, "none", true, NW_CAUSE_NO_PRIVILEGE},
		{EPERM, "integrity", false, NW_CAUSE_NO_PRIVILEGE},
		{EPERM, "confidentiality", true, NW_CAUSE_LOCKDOWN},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		setup();
		facts.watch = NULL;
		kernel.tracefs = cases[i].error;
		kernel.root = cases[i].root;
		snprintf(kernel.lockdown, sizeof(kernel.lockdown), "%s", cases[i].lockdown);
		judge();
		ck_assert_int_eq(first_cause(), cases[i].cause);
		ck_assert(nw_diagnosis_settled(&diagnosis));
		ck_assert_int_eq(diagnosis.fires, 0);
	}
}
END_TEST

/* A shortage of nopwatch's own tells nothing of the kernel. */
START_TEST(a_shortage_is_no_fault_of_the_kernel)
{
	static const int errors[] = {EMFILE, ENFILE, ENOMEM, EIO, EINTR};

	for (size_t i = 0; i < NW_COUNT(errors); i++) {
		setup();
		facts.watch = NULL;
		kernel.tracefs = errors[i];
		kernel.root = true;
		judge();
		nw_vec_each (&diagnosis.reasons, reason) {
			ck_assert_int_ne(reason->cause, NW_CAUSE_NO_UPROBES);
			ck_assert_int_ne(reason->cause, NW_CAUSE_NO_PRIVILEGE);
		}
		ck_assert_int_ne(diagnosis.fires, 0);
	}
}
END_TEST

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	fclose(file);
}

/* Red Hat's kernels that count as tainted after a bpf() are not asked whether they have it. */
START_TEST(bpf_is_not_tried_where_it_taints)
{
	char dir[] = "/tmp/nopwatch-unit-XXXXXX", tainted[64], symbols[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(tainted, sizeof(tainted), "%s/tainted", dir);
	snprintf(symbols, sizeof(symbols), "%s/symbols", dir);
	write_text(tainted, "4096\n");
	write_text(symbols, "0 T mark_tech\n0 T mark_tech_preview_all\n0 t sys_bpf\n");
	ck_assert(!nw_bpf_taints(tainted, symbols));
	write_text(symbols, "0 T sys_bpf\n0 T mark_tech_preview\n");
	ck_assert(nw_bpf_taints(tainted, symbols));
	write_text(symbols, "0 T sys_bpf\n0 T mark_tech_preview\t[module]\n0 T other\n");
	ck_assert(nw_bpf_taints(tainted, symbols));
	write_text(tainted, "536875008\n"); /* it has happened: bit 29 */
	ck_assert(!nw_bpf_taints(tainted, symbols));
	unlink(tainted);
	unlink(symbols);
	rmdir(dir);

	setup();
	kernel.bpf_taints = true;
	kernel.bpf = EOPNOTSUPP;
	watch.in_target = 1;
	judge();
	ck_assert(!nw_diagnosis_has(&diagnosis, NW_CAUSE_BPF_PRIVILEGE));
	ck_assert(!nw_diagnosis_has(&diagnosis, NW_CAUSE_BPF_MISSING));
}
END_TEST

START_TEST(bpf_matters_only_where_there_are_hits)
{
	setup();
	kernel.bpf = EPERM;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert(!nw_diagnosis_has(&diagnosis, NW_CAUSE_BPF_PRIVILEGE));
	watch.in_target = 1;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BPF_PRIVILEGE);
	ck_assert_ptr_nonnull(strstr(diagnosis.text, "(1 hit in 5 s); if a BPF tool shows "
						     "nothing: bpf() is not allowed here"));
	kernel.bpf = ENOSYS;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BPF_MISSING);
}
END_TEST

START_TEST(processes_are_told_apart)
{
	setup();
	process.state = NW_PROCESS_GONE;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_PROCESS_GONE);
	process.state = NW_PROCESS_THREAD;
	process.asked = 14;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_THREAD_ID);
	ck_assert_str_eq(diagnosis.remedy.item[0],
			 "nopwatch stat -p 11 'usdt:/bin/app:app:tick'");
	ck_assert_str_eq(diagnosis.remedy.item[1],
			 "bpftrace -p 11 -e 'usdt:/bin/app:app:tick { @hits = count(); }'");
	process.state = NW_PROCESS_INNER;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_INNER_PID);
}
END_TEST

/* What a process maps instead of the file. */
START_TEST(other_files_are_told_apart)
{
	static const struct {
		enum nw_instead instead;
		bool image, deleted, mounts, overlay;
		enum nw_cause cause;
	} cases[] = {
		{NW_INSTEAD_SAME_PATH, true, true, false, false, NW_CAUSE_FILE_REPLACED},
		{NW_INSTEAD_SAME_PATH, false, true, false, false, NW_CAUSE_FILE_DELETED},
		{NW_INSTEAD_SAME_PATH, false, false, true, false, NW_CAUSE_OTHER_NAMESPACE},
		{NW_INSTEAD_SAME_PATH, true, false, true, false, NW_CAUSE_OTHER_NAMESPACE},
		{NW_INSTEAD_SAME_PATH, true, false, false, true, NW_CAUSE_OVERLAY},
		{NW_INSTEAD_SAME_NAME, true, false, true, false, NW_CAUSE_OTHER_NAMESPACE},
		{NW_INSTEAD_SAME_NAME, true, false, false, false, NW_CAUSE_OTHER_COPY},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		setup();
		mapping = (struct nw_mapping_facts){
			.processes = 1,
			.pid = 11,
			.instead = cases[i].instead,
			.other = "/proc/11/exe",
			.other_path = "/bin/app",
			.other_deleted = cases[i].deleted,
			.other_mounts = cases[i].mounts,
			.overlay = cases[i].overlay,
			.other_ino = 811,
		};
		facts.watch = NULL;
		if (!cases[i].image) {
			facts.image = NULL;
			facts.selection = NULL;
		}
		judge();
		ck_assert_int_eq(first_cause(), cases[i].cause);
		ck_assert_int_eq(diagnosis.fires, 0);
		ck_assert_str_eq(diagnosis.remedy.item[0],
				 "nopwatch stat -p 11 'usdt:/proc/11/exe:app:tick'");
	}
}
END_TEST

START_TEST(nothing_mapped_is_told_apart)
{
	setup();
	facts.watch = NULL;
	mapping = (struct nw_mapping_facts){.processes = 1};
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_OTHER_PROGRAM);
	facts.path = "/lib/libapp.so.1";
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_LOADED);
	facts.process = NULL;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_RUNNING);
	/* A process that runs another path is mentioned, and not blamed. */
	mapping = (struct nw_mapping_facts){.processes = 1,
					    .pid = 11,
					    .instead = NW_INSTEAD_SAME_NAME,
					    .other = "/proc/11/exe",
					    .other_path = "/opt/libapp.so.1",
					    .other_ino = 811};
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_RUNNING);
	ck_assert_uint_eq(diagnosis.reasons.count, 1);
	ck_assert_ptr_nonnull(
		strstr(diagnosis.reasons.item[0].text,
		       "; process 11 runs another file of this name: /opt/libapp.so.1"));
	mapping = (struct nw_mapping_facts){.processes = 1, .mapped = 1, .copied = 1};
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_TEXT_COPIED);
	mapping = (struct nw_mapping_facts){.processes = 1, .mapped = 1, .written = 1};
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_TEXT_WRITABLE);
	mapping = (struct nw_mapping_facts){.processes = 2, .mapped = 2, .copied = 1};
	judge();
	ck_assert_int_eq(diagnosis.fires, -1);
}
END_TEST

START_TEST(functions_are_told_apart)
{
	const struct nw_generated generated = {.pid = 7,
					       .name = (char *)"int Main.work(int)"};
	static const struct {
		struct nw_symbol_facts look;
		enum nw_cause cause;
	} cases[] = {
		{{.state = NW_SYMBOL_IMPORTED, .defined_in = "/lib/libc.so.6"},
		 NW_CAUSE_SYMBOL_IMPORTED},
		{{.state = NW_SYMBOL_IMPORTED}, NW_CAUSE_SYMBOL_IMPORTED},
		{{.state = NW_SYMBOL_MISSING}, NW_CAUSE_SYMBOL_MISSING},
		{{.state = NW_SYMBOL_MISSING, .inlined = 4}, NW_CAUSE_SYMBOL_MISSING},
		{{.state = NW_SYMBOL_MISSING, .stripped = true}, NW_CAUSE_SYMBOL_STRIPPED},
		{{.state = NW_SYMBOL_MISSING, .mangled = "_Z4tickv"},
		 NW_CAUSE_SYMBOL_MANGLED},
		{{.state = NW_SYMBOL_MISSING, .is_note = true}, NW_CAUSE_SYMBOL_IS_NOTE},
		{{.state = NW_SYMBOL_MISSING, .stripped = true}, NW_CAUSE_GENERATED},
		{{.state = NW_SYMBOL_MISSING, .defined_in = "/lib/x"},
		 NW_CAUSE_SYMBOL_MISSING},
		{{.state = NW_SYMBOL_AMBIGUOUS}, NW_CAUSE_SYMBOL_AMBIGUOUS},
		{{.state = NW_SYMBOL_DATA}, NW_CAUSE_SYMBOL_MISSING},
		{{.state = NW_SYMBOL_FOUND, .ifunc = true}, NW_CAUSE_SYMBOL_IFUNC},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		setup();
		spec.kind = NW_SPEC_UPROBE;
		symbol = cases[i].look;
		facts.symbol = &symbol;
		facts.watch = NULL;
		facts.generated = cases[i].cause == NW_CAUSE_GENERATED ? &generated : NULL;
		if (symbol.state != NW_SYMBOL_FOUND)
			facts.selection = NULL;
		judge();
		ck_assert_int_eq(first_cause(), cases[i].cause);
		ck_assert_int_eq(result_of("symbol"), NW_RESULT_FAIL);
		ck_assert_int_eq(diagnosis.fires, 0);
	}
	/* a copy that is left may well be hit */
	setup();
	spec.kind = NW_SPEC_UPROBE;
	symbol = (struct nw_symbol_facts){.state = NW_SYMBOL_FOUND, .inlined = 7};
	facts.symbol = &symbol;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert(nw_diagnosis_has(&diagnosis, NW_CAUSE_SYMBOL_INLINED));
	watch.in_target = 3;
	judge();
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
}
END_TEST

START_TEST(lines_without_code_are_told)
{
	const struct nw_error reason = {.what = "line 4 of x.c has no code",
					.hint = "the next one is 6"};

	setup();
	spec.kind = NW_SPEC_UPROBE;
	spec.source = "x.c";
	spec.line = 4;
	facts.selection = NULL;
	facts.watch = NULL;
	facts.select_error = &reason;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NO_SUCH_LINE);
	ck_assert_int_eq(result_of("symbol"), NW_RESULT_FAIL);
	spec.source = NULL;
}
END_TEST

START_TEST(notes_are_told_apart)
{
	struct nw_skipped skipped = {.provider = "app", .name = "tick"};

	setup();
	facts.selection = NULL;
	facts.watch = NULL;
	image.sites.count = 0;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NO_NOTES);
	image.sites.count = 1;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NO_SUCH_PROBE);
	image.skipped.item = &skipped;
	image.skipped.count = 1;
	skipped.why = "there is no nop at 0x401100: ...";
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOTE_DAMAGED);
	skipped.why = "there is a breakpoint at 0x401100: ...";
	skipped.trap = true;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BREAKPOINT);
	setup();
	site.warning = "its semaphore lies past the file's data";
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOT_EXECUTED);
	ck_assert(nw_diagnosis_has(&diagnosis, NW_CAUSE_NOTE_SEMAPHORE));
}
END_TEST

START_TEST(places_are_told_apart)
{
	setup();
	spec = (struct nw_spec){.text = "uprobe:/bin/app:0x401100",
				.kind = NW_SPEC_UPROBE,
				.path = "/bin/app",
				.provider = "uprobe",
				.name = "",
				.offset = 0x401100};
	facts.selection = NULL;
	facts.watch = NULL;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_ADDRESS_AS_OFFSET);
	ck_assert_str_eq(diagnosis.remedy.item[0],
			 "nopwatch stat -p 11 'uprobe:/bin/app:0x1100'");
	spec.offset = 0x801100;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BAD_OFFSET);
	setup();
	point.nop = NW_NOP_TRAP;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BREAKPOINT);
}
END_TEST

START_TEST(what_could_hurt_is_not_armed)
{
	setup();
	facts.watch = NULL;
	point.nop = NW_NOP_5;
	judge();
	ck_assert_int_eq(diagnosis.fires, -1);
	ck_assert(!nw_diagnosis_settled(&diagnosis));
	facts.nop5_safe = false;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_NOP5);
	ck_assert_int_eq(diagnosis.fires, -1);
	ck_assert(nw_diagnosis_settled(&diagnosis));
	facts.force = true;
	judge();
	ck_assert(!nw_diagnosis_settled(&diagnosis));
	setup();
	facts.watch = NULL;
	spec.kind = NW_SPEC_URETPROBE;
	process.seccomp = 2;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_RETURN_SECCOMP);
	ck_assert_int_eq(diagnosis.fires, -1);
	image.go = true;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_RETURN_GO);
	ck_assert_int_eq(diagnosis.fires, 0);
	spec.kind = NW_SPEC_UPROBE;
	judge();
	ck_assert(!nw_diagnosis_settled(&diagnosis));
	facts.at_function = false; /* but an instruction is shown to begin there */
	judge();
	ck_assert(!nw_diagnosis_settled(&diagnosis));
	point.hazard = "it is inside an instruction";
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_INSIDE_FUNCTION);
}
END_TEST

START_TEST(operands_that_bpf_tools_refuse_are_named)
{
	static const struct {
		const char *args;
		bool refused;
	} cases[] = {
		{"-4@%edi", false},
		{"-4@$5", false},
		{"8@-16(%rbp)", false},
		{"8f@%xmm0", true},
		{"-4@count+4(%rip)", true},
		{"8@(%rax,%rbx,8)", true},
		{"4@what is this", true},
		{"1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al "
		 "1@%al",
		 true},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		setup();
		watch.in_target = 10;
		ck_assert_int_eq(
			nw_operands_parse(image.arch, cases[i].args, &point.operands), 0);
		judge();
		ck_assert_int_eq(nw_diagnosis_has(&diagnosis, NW_CAUSE_BPF_OPERAND),
				 cases[i].refused);
		ck_assert_int_eq(diagnosis.fires, 1);
		nw_vec_free(&point.operands);
	}
}
END_TEST

/* Events of others: before and after a second of watching. */
static struct nw_foreign_event event_before, event_after;
static nw_foreign_events before, after;

static void setup_event(void)
{
	setup();
	watch.in_target = 100;
	event_before = (struct nw_foreign_event){.group = "g",
						 .name = "e",
						 .path = "/bin/app",
						 .offset = 0x1100,
						 .enabled = true,
						 .tracing_on = true,
						 .overwrite = true,
						 .hits = 1000,
						 .recorded = 900};
	event_after = event_before;
	event_after.hits = 1100;
	event_after.recorded = 1000;
	before.item = &event_before;
	after.item = &event_after;
	before.count = after.count = 1;
	facts.foreign = &before;
	facts.foreign_after = &after;
}

START_TEST(events_in_the_way_are_named)
{
	setup_event();
	watch.done = false;
	point.semaphore_offset = 0x1800;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_SEMAPHORE);
	ck_assert_int_eq(diagnosis.fires, 0);
	event_before.ref_ctr = event_after.ref_ctr = 0x1900;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_PLACE_TAKEN);
	facts.ref_ctr = false; /* before 4.20: what it does not know it does not compare */
	judge();
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
	facts.ref_ctr = true;
	event_before.dead_owner = 99;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_STALE_EVENT);
	event_before.enabled = false;
	event_before.dead_owner = 0;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_PLACE_TAKEN);
	facts.ref_ctr = false; /* before 4.20 there is no counter to differ */
	event_before.enabled = true;
	watch.done = true;
	judge();
	nw_vec_each (&diagnosis.reasons, reason)
		ck_assert(reason->cause != NW_CAUSE_PLACE_TAKEN &&
			  reason->cause != NW_CAUSE_SEMAPHORE);
	facts.ref_ctr = true;
	watch.done = false;
	setup_event();
	event_before.offset = event_after.offset = 0x401100;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_EVENT_OFFSET);
}
END_TEST

START_TEST(hits_that_nobody_records_are_told_apart)
{
	pid_t readers[1] = {5};

	setup_event();
	judge();
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
	event_after.tracing_on = false;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_TRACING_OFF);
	ck_assert_int_eq(diagnosis.fires, 1);
	setup_event();
	event_after.waits = true; /* "0*" */
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_EVENT_DISABLED);
	ck_assert_str_eq(diagnosis.remedy.item[0],
			 "echo 1 > /sys/kernel/tracing/events/g/e/enable");
	setup_event();
	event_after.pid_filter = event_after.pid_excluded = true;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_PID_FILTER);
	setup_event();
	event_after.cpus_left_out = 1;
	event_after.all_cpus = "f,ffffffff";
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_CPU_MASK);
	ck_assert_str_eq(diagnosis.remedy.item[0],
			 "echo f,ffffffff > /sys/kernel/tracing/tracing_cpumask");
	setup_event();
	event_after.buffer_kib = 4;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BUFFER_FULL);
	setup_event();
	strcpy(event_after.filter, "common_pid == 1");
	judge();
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
	event_after.recorded = event_before.recorded;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_FILTER);
	setup_event();
	event_after.pid_filter = event_after.pid_filtered = true;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_PID_FILTER);
	setup_event();
	event_after.dropped = 4;
	event_after.overwrite = false;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_BUFFER_FULL);
	setup_event();
	event_after.readers.item = readers;
	event_after.readers.count = 1;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_SECOND_READER);
	setup_event();
	event_after.enabled = event_before.enabled = false;
	event_after.hits = event_before.hits;
	judge();
	ck_assert_int_eq(first_cause(), NW_CAUSE_EVENT_DISABLED);
}
END_TEST

START_TEST(every_cause_has_its_words)
{
	for (size_t i = 0; i < NW_CAUSE_COUNT; i++) {
		const char *key = nw_cause_table[i].key;
		ck_assert_ptr_nonnull(key);
		ck_assert_ptr_nonnull(nw_cause_table[i].title);
		ck_assert_uint_eq(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789-"),
				  strlen(key));
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(key, nw_cause_table[j].key);
	}
}
END_TEST

/* A function of the kernel: is it there, does the kernel let probes in, is it called? */
static void expect_function(struct nw_kernel_function function, bool kprobes,
			    enum nw_cause cause)
{
	setup();
	spec = (struct nw_spec){
		.text = "kprobe:f", .path = "", .name = "f", .kernel = true};
	facts.function = &function;
	facts.kprobes = kprobes;
	facts.image = NULL;
	facts.process = NULL;
	judge();
	ck_assert(nw_diagnosis_has(&diagnosis, cause));
	ck_assert_uint_gt(diagnosis.remedy.count, 0);
}

START_TEST(functions_of_the_kernel_are_told_apart)
{
	static const struct {
		struct nw_kernel_function function;
		enum nw_cause cause;
	} cases[] = {
		{{.count = 0, .traceable = -1, .forbidden = -1}, NW_CAUSE_SYMBOL_MISSING},
		{{.variable = true}, NW_CAUSE_SYMBOL_MISSING},
		{{.copies = "f.isra.0, f.constprop.0"}, NW_CAUSE_SYMBOL_MISSING},
		{{.count = 2, .traceable = 1}, NW_CAUSE_SYMBOL_AMBIGUOUS},
		{{.count = 1, .traceable = 1, .forbidden = 1}, NW_CAUSE_FORBIDDEN},
		{{.count = 1, .traceable = 1, .off = true}, NW_CAUSE_KPROBES_OFF},
		{{.count = 1, .traceable = 0, .forbidden = 0}, NW_CAUSE_NOT_TRACEABLE},
		{{.count = 1, .traceable = 1, .forbidden = 0}, NW_CAUSE_NOT_EXECUTED},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		expect_function(cases[i].function, true, cases[i].cause);
	expect_function((struct nw_kernel_function){.count = 1, .traceable = 1}, false,
			NW_CAUSE_NO_KPROBES);
	expect_function((struct nw_kernel_function){.copies = "f.isra.0, f.part.0"}, true,
			NW_CAUSE_SYMBOL_MISSING);
	ck_assert_str_eq(diagnosis.remedy.item[0], "nopwatch stat kprobe:f.isra.0");
}
END_TEST

static void expect_user_event(const nw_user_events *events, const struct nw_error *lacking,
			      const struct nw_watch *seen, int fires, enum nw_cause cause)
{
	setup();
	spec = (struct nw_spec){
		.text = "user_events:a", .kind = NW_SPEC_TRACEPOINT, .name = "a"};
	facts.of_user_event = true;
	facts.user_events = events;
	facts.no_user_events = lacking;
	facts.image = NULL;
	facts.process = NULL;
	facts.watch = seen;
	judge();
	ck_assert_int_eq(diagnosis.fires, fires);
	ck_assert(fires == 1 || nw_diagnosis_has(&diagnosis, cause));
}

START_TEST(events_of_programs_are_registered_and_written)
{
	const struct nw_error lacking = {.code = EOPNOTSUPP, .what = "it has none"};
	struct nw_user_event event = {"a", "ftrace"};
	const nw_user_events none = {0}, one = {.item = &event, .count = 1};
	const struct nw_watch hit = {.done = true, .in_target = 3, .recorded = 3},
			      silent = {.done = true},
			      others = {.done = true, .recorded = 4, .other_pid = 7};

	expect_user_event(NULL, &lacking, NULL, 0, NW_CAUSE_NO_USER_EVENTS);
	ck_assert_str_eq(diagnosis.text, "it has none");
	expect_user_event(&none, NULL, NULL, 0, NW_CAUSE_NOT_REGISTERED);
	expect_user_event(&one, NULL, &hit, 1, 0);
	expect_user_event(&one, NULL, &silent, 0, NW_CAUSE_NOT_EXECUTED);
	expect_user_event(&one, NULL, &others, 0, NW_CAUSE_OTHER_PROCESS);
}
END_TEST

UNIT_MAIN("why", events_of_programs_are_registered_and_written,
	  functions_of_the_kernel_are_told_apart, hits_are_a_verdict,
	  silence_with_everything_in_place_is_code_not_executed,
	  faults_of_the_tool_are_told_of_silent_code,
	  probes_that_a_program_switches_on_are_told_apart, what_was_not_seen_is_unknown,
	  armed_semaphore_and_hits_are_told_apart, the_kernels_refusals_are_named,
	  a_file_that_no_probe_hits_is_named, the_kernel_comes_first,
	  a_shortage_is_no_fault_of_the_kernel, bpf_is_not_tried_where_it_taints,
	  bpf_matters_only_where_there_are_hits, processes_are_told_apart,
	  other_files_are_told_apart, nothing_mapped_is_told_apart,
	  functions_are_told_apart, lines_without_code_are_told, notes_are_told_apart,
	  places_are_told_apart, what_could_hurt_is_not_armed,
	  operands_that_bpf_tools_refuse_are_named, events_in_the_way_are_named,
	  hits_that_nobody_records_are_told_apart, every_cause_has_its_words)
