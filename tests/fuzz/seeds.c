// SPDX-License-Identifier: MIT
/*
 * Write the seeds of the fuzz targets below the directory named: small good inputs of every
 * kind, from which the fuzzer starts. `make fuzz-seeds`.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "stream/recording/recording.h"

#include "dwarf_builder.h"
#include "elf_builder.h"
#include "page_builder.h"

static const char *top;

static void save(const char *target, const char *name, const void *bytes, size_t len)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", top, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", top, target, name);
	file = fopen(path, "wbe");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}

/* ---- images and notes --------------------------------------------------------------- */

static const struct {
	const char *name, *args;
	uint16_t machine;
	bool elf64, big_endian;
} machines[] = {
	{"x86_64", "-4@%eax 8@-8(%rbp) 4@counter(%rip)", EM_X86_64, true, false},
	{"x32", "4@%edi -4@$7", EM_X86_64, false, false},
	{"i386", "-4@8(%ebp) 4@counter", EM_386, false, false},
	{"aarch64", "8@x0 -4@[sp, 12] 4@[x1]", EM_AARCH64, true, false},
	{"arm", "4@r0 -4@[sp, #4]", EM_ARM, false, false},
	{"ppc64le", "8@9 -4@112(1)", EM_PPC64, true, false},
	{"ppc64", "8@9 -4@112(1)", EM_PPC64, true, true},
	{"ppc", "4@9 -4@12(1)", EM_PPC, false, true},
	{"s390x", "8@%r2 -4@160(%r15)", EM_S390, true, true},
	{"riscv64", "8@a0 -4@-20(s0)", EM_RISCV, true, false},
};

static void notes_of(struct eb *b, const char *args)
{
	eb_note(b, EB_TEXT + 0x10, EB_BASE, EB_DATA + 8, "prov", "start", args);
	eb_note(b, EB_TEXT + 0x20, EB_BASE, 0, "prov", "done", "");
}

static void note_seed(size_t i, const char *name)
{
	struct eb b;
	struct nw_buf bytes = {0};

	eb_program(&b, machines[i].machine, machines[i].elf64, machines[i].big_endian);
	notes_of(&b, machines[i].args);
	nw_buf_addc(&bytes,
		    (char)((machines[i].elf64 ? 1 : 0) | (machines[i].big_endian ? 2 : 0)));
	nw_buf_add(&bytes, b.notes.data, b.notes.len);
	save("note", name, bytes.data, bytes.len);
	nw_buf_free(&bytes);
	eb_notes(&b);
	struct nw_buf file = eb_finish(&b);
	nw_buf_free(&file);
}

/* With symbols, a relocation, .stapsdt.base and a build-id. */
static void image_seed(size_t i)
{
	struct eb_symbols symbols = {0};
	struct eb b;

	eb_program(&b, machines[i].machine, machines[i].elf64, machines[i].big_endian);
	notes_of(&b, machines[i].args);
	eb_notes(&b);
	eb_base(&b, EB_BASE);
	eb_build_id(&b, "0123456789abcdef0123", 20);
	eb_symbol(&b, &symbols, "counter", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1,
		  EB_DATA + 0x10, 4);
	eb_symbol(&b, &symbols, "main", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, EB_TEXT,
		  0x40);
	uint32_t table = eb_symtab(&b, &symbols, i % 2 ? SHT_SYMTAB : SHT_DYNSYM);
	eb_relocation(&b, table, EB_DATA + 0x20, 1, R_X86_64_GLOB_DAT);
	if (i == 1)
		b.type = ET_EXEC;
	struct nw_buf file = eb_finish(&b);
	save("image", machines[i].name, file.data, file.len);
	nw_buf_free(&file);
}

/* ---- call frame information, and stacks of recordings ------------------------------- */

static const struct {
	const char *name;
	uint16_t machine;
	bool elf64, big_endian, header;
	struct eb_frame_numbers numbers;
} framed[] = {
	{"x86_64", EM_X86_64, true, false, false, {16, 7, 6, 1, -8}},
	{"x86_64_table", EM_X86_64, true, false, true, {16, 7, 6, 1, -8}},
	{"i386", EM_386, false, false, true, {8, 4, 5, 1, -4}},
	{"aarch64", EM_AARCH64, true, false, true, {30, 31, 29, 4, -8}},
	{"s390x", EM_S390, true, true, false, {14, 15, 11, 2, -8}},
	{"riscv64", EM_RISCV, true, false, false, {1, 2, 8, 1, -8}},
	{"ppc64le", EM_PPC64, true, false, true, {0, 1, 31, 4, -8}},
};

static struct nw_buf framed_file(size_t i, bool extra)
{
	struct eb_symbols symbols = {0};
	struct eb b;

	eb_program(&b, framed[i].machine, framed[i].elf64, framed[i].big_endian);
	eb_frames(&b, 0x500000, &framed[i].numbers, framed[i].header);
	if (extra) {
		eb_symbol(&b, &symbols, "_ZN1a4mainEv", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			  1, EB_TEXT, 0x40);
		eb_symtab(&b, &symbols, SHT_SYMTAB);
	}
	return eb_finish(&b);
}

static const char stack_lines[] = "region 5 4096 8192 512 1\n"
				  "region 5 28672 32768 0 0\n"
				  "jit 5 28672 256 made\\040here\n"
				  "module 0 0 0 [uprobes]\n"
				  "region 5 36864 40960 0 2\n"
				  "past 5 8192 12288 512 1 9\n"
				  "unmapped 1 2\n"
				  "=\n";

/* One that is hit in the file's first function, whose callers are there, too. */
static void stack_seed(size_t i, uint8_t machine)
{
	struct nw_buf bytes = {0}, file = framed_file(i, true);
	const struct eb order = {.big_endian = framed[i].big_endian};
	const size_t count = nw_arch_by_name(framed[i].name)->unwind->count;

	nw_buf_adds(&bytes, stack_lines);
	nw_buf_addc(&bytes, (char)machine);
	eb_put(&order, &bytes, 8 * count + 256, 2);
	for (size_t r = 0; r < count; r++)
		eb_put(&order, &bytes, r == 0 ? 4096 + 0x10 : 0x20000 + 8 * r, 8);
	/* words of the stack: places in the code, and further up the stack */
	for (uint64_t w = 0; w < 256; w += framed[i].elf64 ? 8 : 4)
		eb_put(&order, &bytes, w & 8 ? 4096 + 0x20 + w / 4 : 0x20000 + w,
		       framed[i].elf64 ? 8 : 4);
	nw_buf_add(&bytes, file.data, file.len);
	save("stack", framed[i].name, bytes.data, bytes.len);
	nw_buf_free(&bytes);
	nw_buf_free(&file);
}

/* 32-bit ARM's tables: an entry in the index, one of the ABI's forms elsewhere, and a language's own. */
static void exidx_seed(void)
{
	const uint32_t elsewhere = 0x500000;
	const uint32_t table[][2] = {{EB_TEXT, 0x80028488},
				     {EB_TEXT + 0x40, elsewhere},
				     {EB_TEXT + 0x80, elsewhere + 8},
				     {EB_TEXT + 0xc0, 1}};
	const uint32_t entries[] = {0x8101b282, 0x01a8b0b0, 0x7ff00000, 0x01970cb1,
				    0x0fc983af};
	struct nw_buf bytes = {0};
	struct eb b;

	eb_program(&b, EM_ARM, false, false);
	eb_exidx(&b, 0x501000, table, NW_COUNT(table));
	for (size_t i = 0; i < NW_COUNT(entries); i++)
		eb_put(&b, &bytes, entries[i], 4);
	eb_load(&b, PF_R, elsewhere, bytes.data, bytes.len, bytes.len);
	struct nw_buf file = eb_finish(&b);
	save("cfi", "arm", file.data, file.len);
	nw_buf_free(&file);
	nw_buf_free(&bytes);
}

/* Lines and an inlined function, in every version of DWARF. */
static void line_seeds(void)
{
	for (unsigned int version = 2; version <= 5; version++) {
		struct eb_dwarf dwarf;
		char name[16];
		struct eb b;
		eb_program(&b, EM_X86_64, version != 3, false);
		eb_dwarf_make(&b, version, &dwarf);
		eb_dwarf_sections(&b, &dwarf);
		struct nw_buf file = eb_finish(&b);
		snprintf(name, sizeof(name), "dwarf%u", version);
		save("lines", name, file.data, file.len);
		nw_buf_free(&file);
	}
}

static void frame_seeds(void)
{
	for (size_t i = 0; i < NW_COUNT(framed); i++) {
		struct nw_buf file = framed_file(i, false);
		save("cfi", framed[i].name, file.data, file.len);
		nw_buf_free(&file);
	}
	exidx_seed();
	stack_seed(0, 0);
	stack_seed(2, 1);
	stack_seed(3, 0x40 | 2);
	stack_seed(5, 0x40 | 3);
	stack_seed(6, 4);
	stack_seed(4, 0xc0 | 5);
}

static void bare_images(void)
{
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	b.no_sections = true;
	struct nw_buf file = eb_finish(&b);
	save("image", "no_sections", file.data, file.len);
	nw_buf_free(&file);
	eb_program(&b, EM_X86_64, true, false);
	b.type = ET_REL;
	eb_note(&b, 0, 0, 0, "prov", "name", "");
	eb_notes(&b);
	file = eb_finish(&b);
	save("image", "object", file.data, file.len);
	nw_buf_free(&file);
}

/* ---- operands and specs ------------------------------------------------------------- */

/* The rows of tests/data/operands.tsv, a file for each 40 of an architecture. */
static void operand_seeds(void)
{
	static const char *const arches[] = {"x86_64",	"i386",	 "aarch64", "arm",
					     "ppc64le", "s390x", "riscv64", "loongarch64",
					     "x32",	"ppc64", "ppc"};
	char line[2048], name[32];

	for (size_t i = 0; i < NW_COUNT(arches); i++) {
		FILE *file = fopen("tests/data/operands.tsv", "re");
		struct nw_buf text = {0};
		unsigned int rows = 0;
		ck_assert_ptr_nonnull(file);
		while (fgets(line, sizeof(line), file)) {
			char *rest = line, *arch = strsep(&rest, "\t");
			char *row = strsep(&rest, "\t");
			if (strcmp(arch, arches[i]) != 0)
				continue;
			if (rows++ % 40 == 0)
				nw_buf_addc(&text, (char)i);
			nw_buf_printf(&text, "%s ", row);
			if (rows % 40)
				continue;
			snprintf(name, sizeof(name), "%s_%u", arches[i], rows / 40);
			save("operand", name, text.data, text.len);
			nw_buf_clear(&text);
		}
		if (!rows)
			nw_buf_printf(&text, "%c8@0(1) -4@3 4@$5 ", (char)i);
		if (text.len)
			save("operand", arches[i], text.data, text.len);
		nw_buf_free(&text);
		fclose(file);
	}
}

static void words_seeds(void)
{
	static const char *const lines[] = {
		"stat -i 15 'usdt:./my server:app:*'",
		" --filter 'a == \"b c\"'\t-j\r",
		"a'b 'c''d '' '",
	};
	char name[8];

	for (size_t i = 0; i < NW_COUNT(lines); i++) {
		snprintf(name, sizeof(name), "%02zu", i);
		save("words", name, lines[i], strlen(lines[i]));
	}
}

static void spec_seeds(void)
{
	static const char *const specs[] = {
		"usdt:/usr/lib/libc.so.6:libc:setjmp",
		"usdt:./server:myserver:*",
		"usdt::p:n",
		"postgresql:query__start(sql:string)",
		"PROVIDER:::NAME(a, b:u16, c:x8[16])",
		"%sdt_libc:memory*",
		"uprobe:/bin/bash:readline+0x10",
		"uprobe:/a:b:c:0x1234",
		"uretprobe:/bin/bash:readline(ret:s32)",
		"func:postgres:exec_simple_query()",
		"func:/bin/x:main(argc:s32),returns=insn",
		"tracepoint:sched:sched_switch",
		"U:/bin/x:p:n",
		"/opt/a(b)/lib.so:na-me(,x,)",
		"name",
		"sdt:[a-z]?*:x(f:f64)",
	};
	char name[16];

	for (size_t i = 0; i < NW_COUNT(specs); i++) {
		snprintf(name, sizeof(name), "%02zu", i);
		save("spec", name, specs[i], strlen(specs[i]));
	}
}

static void types_seeds(void)
{
	static const char *const texts[] = {
		"0#define Oid unsigned int\ntypedef char *text;\nprovider p {\n\tprobe "
		"a(Oid, "
		"text t, struct x *, int (*f)(void));\n};\n",
		"0/* c */ provider q { probe b__c(const char *s : string) : (int z); }; // "
		"end\n",
		"1probe x.y = process(\"/bin/z\").provider(\"p\").mark(\"a\") ?,\n "
		"process.mark"
		"(\"b*\") { q = $arg1; r = user_string($arg2) }\n",
		"1%( a %? global b %: %( c %? d %) %)\n@define m(x) %( { %)\nprobe "
		"process(\"y\")"
		".library(\"z\").mark(\"n\") { # x\n s = $arg3 ? user_string_n($arg3, 9) : "
		"\"\" "
		"%{ } %} }, { t = $arg64 }\n",
	};
	char name[16];

	for (size_t i = 0; i < NW_COUNT(texts); i++) {
		snprintf(name, sizeof(name), "%02zu", i);
		save("types", name, texts[i], strlen(texts[i]));
	}
}

/* ---- pages and recordings ----------------------------------------------------------- */

static void page_seeds(void)
{
	for (size_t commit = 4; commit <= 8; commit += 4) {
		struct page page = page_begin(page_layout(256, commit), 1000);
		struct nw_buf bytes = {0};
		page_event(&page, 5, "0123456789abcdef", 16);
		page_extend(&page, (uint64_t)1 << 30);
		page_long_event(&page, 7, "a long event", 13);
		page_stamp(&page, (uint64_t)1 << 40);
		page_discarded(&page, 3, 12);
		page_event(&page, 1, "last", 4);
		page_padding(&page);
		page_commit(&page, PAGE_MISSED | PAGE_STORED, 42);
		nw_buf_addc(&bytes, commit == 8);
		nw_buf_add(&bytes, page.bytes, page.layout.size);
		save("page", commit == 8 ? "long" : "short", bytes.data, bytes.len);
		nw_buf_free(&bytes);
		free(page.bytes);
	}
}

static const char string_plan[] =
	"nopwatch-plan 1\ngroup nopwatch_t\nimage /bin/app\n"
	"probe 0 0 app one app:one 1\narg s string\narg a u8[4]\narg f f64\n"
	"point 4112 4112 0\n"
	"planned 0 0 2 0\n"
	"source 0 0 -1 string string 0 - 0 -\n"
	"source 0 1 -1 u8[4] u8[4] 0 - 1 -\n"
	"source 1 0 -1 x64 f64 0 - 0 -\n"
	"event e 0\nfield a0\nfield a1\nplace 0 0\n"
	"event g 0\nfield a0\nplace 0 1\n";
static const struct fake_format string_formats[] = {{"e", 1500, "a0:string a1:u8[4]"},
						    {"g", 1501, "a0:x64"}};

/* What the engine makes of a table's other lines: times, costs, threads, stacks. `how` is for tests/fuzz/report.c. */
static const char story_lines[] =
	"start 900\nstop 3000\nwall 1700000000000000000\narmed 950\n"
	"lost 1\ncost 12 800\nhit_cost 0 40 30\nhit_cost 1 90 15\n"
	"origin host 6.1 x86_64 nopwatch\\040record\nfollow 1\nonly 7\n"
	"disabled 1 1900 too\\040often\nsymbol ffff0000 schedule\n"
	"named_threads 1\nmodule 0 1 2 /no\nidentity 0 build-id:00\nregion 7 4096 8192 0 0\n"
	"past 7 4096 8192 0 0 1500\nunmapped 1 2\n"
	"task 7 7 app\ntask 8 7 worker\n";
static const struct {
	const char *name;
	char how;
} hows[] = {{"net_json", 0x15},
	    {"states_text", 0x0e},
	    {"html", 0x5c},
	    {"lines", (char)0x81}};

/* Two CPUs of pages, made into a recording with the formats and the table of the plan, and these lines. */
static void save_recording(const char *name, struct fake *fake, struct cpu cpu[2],
			   const char *lines)
{
	struct nw_recording_parts parts = {0};
	int out = memfd_create("out", MFD_CLOEXEC);
	struct nw_error err = {0};
	struct nw_recorded_cpu written[2] = {0};

	page_header_text(&cpu[0].layout, &parts.header_page);
	nw_buf_adds(&parts.header_event, "# compressed entry header\n");
	nw_buf_adds(&parts.comms, "7 app\n");
	nw_buf_adds(&parts.clock, "[mono]");
	nw_plan_save(&fake->armed, &parts.table);
	nw_buf_adds(&parts.table, lines ? lines : "");
	for (size_t i = 0; i < fake->format_count; i++) {
		struct nw_recorded_format *format = nw_vec_add(&parts.formats);
		snprintf(format->system, sizeof(format->system), "%s", fake->plan.group);
		fake_format_text(&fake->format[i], &format->text);
	}
	for (size_t i = 0; i < 2; i++) {
		cpu_flush(&cpu[i]);
		written[i].fd = eb_memfd_of(cpu[i].pages.data, cpu[i].pages.len);
		written[i].size = cpu[i].pages.len;
		cpu_free(&cpu[i]);
	}
	ck_assert_int_eq(nw_recording_write(&(struct nw_writer){.fd = out}, &parts, 256,
					    written, 2, &err),
			 0);
	char bytes[16384];
	ssize_t len = pread(out, bytes, sizeof(bytes), 0);
	ck_assert(len > 0 && len < (ssize_t)sizeof(bytes));
	if (!lines)
		save("recording", name, bytes, (size_t)len);
	for (size_t i = 0; lines && i < NW_COUNT(hows); i++) {
		struct nw_buf seed = {0};
		nw_buf_addc(&seed, hows[i].how);
		nw_buf_add(&seed, bytes, (size_t)len);
		save("report", hows[i].name, seed.data, seed.len);
		nw_buf_free(&seed);
	}
	nw_recording_parts_free(&parts);
	close(written[0].fd);
	close(written[1].fd);
	close(out);
}

static void number_recording(void)
{
	struct nw_page_layout layout = page_layout(256, 8);
	struct cpu cpu[2] = {{.layout = layout}, {.layout = layout}};
	struct fake fake;

	fake_open_two(&fake, 256);
	for (uint64_t i = 0; i < 12; i++) {
		if (i == 7)
			cpu_lose(&cpu[1], 3);
		cpu_hit(&cpu[i % 2], 1000 + i * 100, 7, i % 3 ? FAKE_ONE : FAKE_TWO, i);
	}
	save_recording("numbers", &fake, cpu, NULL);
	fake_close(&fake);
}

/* Spans, whose starts have a second part. */
static const char span_plan[] =
	"nopwatch-plan 1\ngroup nopwatch_t\nimage /bin/app\n"
	"probe 0 0 app w__start app:w__start 1\narg n u64\narg m u64\n"
	"point 4112 4112 0\n"
	"probe 0 0 app w__done app:w__done 0\npoint 8224 8224 0\n"
	"planned 0 0 2 0\n"
	"source 0 0 -1 u64 u64 0 - 0 -\nsource 1 0 -1 u64 u64 0 - 1 -\n"
	"planned 1 0 1 0\n"
	"event e 0\norder 1\nfield a0\nplace 0 0\n"
	"event g 0\norder 2\nfield a0\nplace 0 1\n"
	"event d 0\norder 3\nplace 1 0\n";
static const struct fake_format span_formats[] = {{"e", 1500, "a0:u64"},
						  {"g", 1501, "a0:u64"},
						  {"d", 1502, ""}};

static void span_recording(void)
{
	struct nw_page_layout layout = page_layout(256, 8);
	struct cpu cpu[2] = {{.layout = layout}, {.layout = layout}};
	unsigned char hit[64];
	struct fake fake;

	fake_open(&fake, span_plan, span_formats, NW_COUNT(span_formats), layout);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t time = 1000 + 400 * i;
		int32_t tid = 7 + (int32_t)(i % 2);
		struct cpu *on = &cpu[i % 2];
		cpu_event(on, time, hit, fake_hit(hit, 1500, tid, FAKE_ONE, &i, 8));
		cpu_event(on, time + 1, hit, fake_hit(hit, 1501, tid, FAKE_ONE, &time, 8));
		if (i == 2)
			cpu_lose(on, 3);
		cpu_event(on, time + 300, hit, fake_hit(hit, 1502, tid, FAKE_TWO, NULL, 0));
	}
	save_recording("spans", &fake, cpu, story_lines);
	fake_close(&fake);
}

static void string_recording(void)
{
	struct nw_page_layout layout = page_layout(256, 8);
	struct cpu cpu[2] = {{.layout = layout}, {.layout = layout}};
	uint32_t where = 24 | 6 << 16; /* offset and length of the string */
	unsigned char hit[64], fields[14];
	double number = 1.5;
	struct fake fake;

	fake_open(&fake, string_plan, string_formats, 2, layout);
	memcpy(fields, &where, 4);
	memcpy(fields + 4, "\1\2\3\4", 4);
	memcpy(fields + 8, "hello", 6);
	cpu_event(&cpu[0], 1000, hit, fake_hit(hit, 1500, 7, FAKE_ONE, fields, 14));
	cpu_event(&cpu[0], 1001, hit, fake_hit(hit, 1501, 7, FAKE_ONE, &number, 8));
	cpu_event(&cpu[1], 1002, hit, fake_hit(hit, 1500, 8, FAKE_ONE, fields, 14));
	save_recording("strings", &fake, cpu, NULL);
	fake_close(&fake);
}

/* ---- text --------------------------------------------------------------------------- */

#define TEXT_HEADER                                                                 \
	"#nw nopwatch-plan 1\n#nw image /a\n#nw probe 0 0 a b a:b 1\n"              \
	"#nw arg s string\n#nw arg n s32\n#nw point 16 16 0\n#nw planned 0 0 1 0\n" \
	"#nw source 0 0 -1 string string 0 - 0 -\n"                                 \
	"#nw source 0 1 -1 s32 s32 0 - 0 -\n#nw event b 0\n#nw field s\n"           \
	"#nw field n\n#nw place 0 0\n#nw start 1.5\n#nw end\n"
#define TEXT_LINES                                                                   \
	"             app-77      [000] ..... 1.000001: b: (0x10) s=\"x\ny\" n=-5\n" \
	"CPU:0 [LOST 3 EVENTS]\n"                                                    \
	"          my app-78  (   77) [001] d..3 1.000000: b: (0x10) s=(fault) n=0x1\n"

/* More of them are written by hand: strings, tasks, latency, companion. */
static void text_seeds(void)
{
	static const struct {
		const char *name, *text;
	} texts[] = {{"header", TEXT_HEADER TEXT_LINES "#nw lost 4\n#nw stop 2.5\n"},
		     {"plain",
		      "# tracer: nop\n# entries-in-buffer/entries-written: 1/5 #P:1\n"
		      "#\n" TEXT_LINES},
		     {"types", "a-1 [0] 5: e: a=1 b={1,2} c=x d=\"\" e=0x1\n"
			       "a-1 [0] 6: e: a=-1 b={1} c=2 d=\"\"\" e=1\n"},
		     {"return", "a-b-1 [000] .... 5.0: g:e: (0x10 <- 0x20) rc=-1\njunk\n"}};

	for (size_t i = 0; i < NW_COUNT(texts); i++)
		save("text", texts[i].name, texts[i].text, strlen(texts[i].text));
}

/* ---- EventHeader records ------------------------------------------------------------ */

/* The field that is wanted and its type, the flags of the header, the metadata and the payload, each with its length. */
struct event_header {
	const char *name;
	char type, flags;
	const char *meta;
	size_t meta_len;
	const char *payload;
	size_t len;
};

#define EVENT_HEADER(name, type, flags, meta, payload)                                  \
	{                                                                               \
		name, type, flags, meta, sizeof(meta) - 1, payload, sizeof(payload) - 1 \
	}

static const struct event_header event_headers[] = {
	/* numbers, of both byte orders */
	EVENT_HEADER("n", 0, 7, "E;a=b\0n\0\4s\0\x83\2r\0\x85\x88\1\2",
		     "\1\2\3\4\xfe\xff\0\0\0\0\0\0\xf8\x3f"),
	EVENT_HEADER("s", 3, 5, "E\0n\0\4s\0\x83\2b\0\x82\7p\0\x83\x10",
		     "\4\3\2\1\xff\xfe\1\0\x50"),
	/* strings of every width, with a byte order mark and with half of a pair, and characters */
	EVENT_HEADER("w", 1, 7,
		     "E\0a\0\7z\0\x08"
		     "w\0\x0b"
		     "q\0\x89\x0c"
		     "u\0\x8a\x0e"
		     "l\0\x8a\x0a"
		     "c\0\x83\x0b",
		     "abc\0\x61\0\0\xd8\0\0"
		     "\1\0\xe4\0"
		     "\xff\xfe\0\0\x42\0\0\0\0\0\0\0"
		     "\4\0\xef\xbb\xbf{"
		     "\1\0\xe4"
		     "\x3d\xd8"),
	/* structs in structs, an array of structs, and one that is empty */
	EVENT_HEADER(
		"s.t.b", 2, 7,
		"E\0s\0\x81\2a\0\2t\0\x81\1b\0\2list\0\xc1\1c\0\2none\0\xc1\2d\0\2e\0\x81\1f\0\2tail\0\2",
		"\1\2\2\0\3\4\0\0\5"),
	/* arrays of a constant and of a counted length, of numbers and strings, and bytes in hexadecimal digits */
	EVENT_HEADER("v", 1, 7,
		     "E\0n\0\xa4\3\2\0v\0\x4bh\0\x8a\x09"
		     "u\0\x86\x0f",
		     "\1\0\0\0\2\0\0\0\2\0\1\0x\0\1\0y\0\3\0\xde\xad\0"
		     "0123456789abcdef"),
	/* addresses, a port and a real number */
	EVENT_HEADER("f", 5, 7,
		     "E\0i\0\x84\x11j\0\x86\x12p\0\x83\x10"
		     "f\0\x84\x08",
		     "\x7f\0\0\1"
		     "0123456789abcdef"
		     "\0\x50\0\0\xc0\x3f"),
	/* no extension */
	EVENT_HEADER("n", 0, 3, "", ""),
};

/* Two activities are in a chained extension in front of the metadata of every second record. */
static void event_header_seeds(void)
{
	for (size_t i = 0; i < NW_COUNT(event_headers); i++) {
		const struct event_header *it = &event_headers[i];
		const struct eb order = {.big_endian = !(it->flags & 2)};
		struct nw_buf bytes = {0};
		char name[16];
		nw_buf_addc(&bytes, it->type);
		nw_buf_add(&bytes, it->name, strlen(it->name) + 1);
		nw_buf_addc(&bytes, it->flags);
		nw_buf_add(&bytes, "\0\0\7\0\0\0\4", 7);
		if (i % 2) {
			eb_put(&order, &bytes, 32, 2);
			eb_put(&order, &bytes, 0x8002, 2);
			nw_buf_adds(&bytes, "an activity 0123one around it 45");
		}
		if (it->meta_len) {
			eb_put(&order, &bytes, it->meta_len, 2);
			eb_put(&order, &bytes, 1, 2);
		}
		nw_buf_add(&bytes, it->meta, it->meta_len);
		nw_buf_add(&bytes, it->payload, it->len);
		snprintf(name, sizeof(name), "%02zu", i);
		save("eventheader", name, bytes.data, bytes.len);
		nw_buf_free(&bytes);
	}
}

START_TEST(seeds)
{
	for (size_t i = 0; i < NW_COUNT(machines); i++) {
		note_seed(i, machines[i].name);
		image_seed(i);
	}
	bare_images();
	frame_seeds();
	line_seeds();
	operand_seeds();
	spec_seeds();
	words_seeds();
	types_seeds();
	page_seeds();
	event_header_seeds();
	number_recording();
	span_recording();
	string_recording();
	text_seeds();
}
END_TEST

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	top = argv[1];
	Suite *suite = suite_create("seeds");
	TCase *one = tcase_create("seeds");
	tcase_add_test(one, seeds);
	suite_add_tcase(suite, one);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
