// SPDX-License-Identifier: MIT
/* stack: names as their source has them, how often which stack was there, and lines of recordings. */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "elf_files.h"
#include "find/dwarf/demangle.h"
#include "measure/stack/modules.h"
#include "measure/stack/stack.h"
#include "measure/stack/watch.h"
#include "unit.h"

static void is(const char *name, const char *wanted)
{
	struct nw_demangler demangler = {0};
	char *got = nw_demangle(&demangler, name);

	if (wanted)
		ck_assert_str_eq(got ? got : "(null)", wanted);
	else
		ck_assert_ptr_null(got);
	free(got);
	nw_demangler_close(&demangler);
}

START_TEST(names_of_cxx)
{
	is("_ZNK3geo5Shape4areaElj", "geo::Shape::area(long, unsigned int) const");
	is("_Z3topIiET_S0_jl", "int top<int>(int, unsigned int, long)");
	is("_ZNSt6vectorIiE9push_backEi@@GLIBCXX_3.4", "std::vector<int>::push_back(int)");
	is("main", NULL);
	is("_Zwhatever", NULL);
}
END_TEST

START_TEST(names_of_rust)
{
	is("_ZN1r4leaf17h0ebc3601d769a9e5E", "r::leaf");
	is("_ZN46_$LT$r..m..S$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
	   "<r::m::S as core::clone::Clone>::clone");
	is("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	   "std::rt::lang_start::{{closure}}");
	is("_RINvCs6GmmlP4bgsG_1r4leafmEB2_", "r::leaf::<u32>");
	is("_RNvMNtCs6GmmlP4bgsG_1r1mNtB2_1S2go", "<r::m::S>::go");
	is("_RNCNvCs6GmmlP4bgsG_1r4main0B3_", "r::main::{closure#0}");
	is("_RNvXCs1_1rNtB2_1SNtNtCs2_4core5clone5Clone5clone",
	   "<r::S as core::clone::Clone>::clone");
	is("_RINvCs1_1r1fRShTmbEE", "r::f::<&[u8], (u32, bool)>");
	is("_RINvC1r1fDNtC1r1Tp6OutputlEL_E", "r::f::<dyn r::T<Output = i32>>");
	is("_RINvC1r1fDINtC1r1TuEp6Outputlp1AmEL_E",
	   "r::f::<dyn r::T<(), Output = i32, A = u32>>");
}
END_TEST

/* Whatever a file says, it ends, and soon. */
START_TEST(hostile_names)
{
	static const char *const names[] = {"_R",
					    "_RN",
					    "_RNvC",
					    "_RB_",
					    "_RNvC99999999999999999999a",
					    "_RINvC1a1bB_E",
					    "_RINvC1a1bTTTTTTTTTTTTTTTTTTTTTTTT",
					    "_RNvC3abu3abc",
					    "_RINvC1a1fB0_B0_B0_B0_E"};
	struct nw_buf deep = {0};

	for (size_t i = 0; i < NW_COUNT(names); i++)
		free(nw_demangle_rust(names[i]));
	nw_buf_adds(&deep, "_RINvC1a1f");
	for (size_t i = 0; i < 5000; i++)
		nw_buf_addc(&deep, 'R');
	is(nw_buf_str(&deep), NULL);
	nw_buf_free(&deep);
	/* each back reference doubles what came before */
	is("_RINvC1a1fTmmETB6_B6_ETBa_Ba_ETBg_Bg_ETBm_Bm_ETBs_Bs_ETBy_By_ETBE_BE_ETBK_BK_ETBQ_BQ_EE",
	   NULL);
}
END_TEST

START_TEST(stacks_are_counted_by_whose_they_are)
{
	struct nw_stack_counts counts = {0};
	nw_stack_rows rows = {0};

	for (uint32_t i = 0; i < 1000; i++)
		for (uint32_t j = 0; j <= i % 10; j++)
			ck_assert_int_eq(
				nw_stack_count(&counts,
					       (struct nw_stack_key){false, 7, 2 + j}, 5),
				0);
	ck_assert_int_eq(nw_stack_count(&counts, (struct nw_stack_key){true, 7, 2}, 9), 0);
	ck_assert_int_eq(nw_stack_count(&counts, (struct nw_stack_key){false, 6, 3}, 1), 0);
	ck_assert_int_eq(nw_stack_rows_list(&counts, &rows), 0);
	ck_assert_uint_eq(rows.count, 12);
	ck_assert(rows.item[0].key.of_span);
	ck_assert_uint_eq(rows.item[0].key.of, 7);
	ck_assert_uint_eq(rows.item[0].ns, 9);
	ck_assert(!rows.item[1].key.of_span);
	ck_assert_uint_eq(rows.item[1].key.of, 6);
	for (uint32_t i = 0; i < 10; i++) {
		ck_assert_uint_eq(rows.item[2 + i].key.of, 7);
		ck_assert_uint_eq(rows.item[2 + i].key.stack, 2 + i);
		ck_assert_uint_eq(rows.item[2 + i].count, 1000 - 100 * i);
		ck_assert_uint_eq(rows.item[2 + i].ns, 5 * rows.item[2 + i].count);
	}
	nw_vec_free(&rows);
	nw_stack_counts_free(&counts);
}
END_TEST

static bool line(struct nw_stacks *stacks, const char *text)
{
	char copy[4096], *words[12], *rest = copy, *one;
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while (count < 12 && (one = strsep(&rest, " ")))
		words[count++] = one;
	return nw_stacks_line(stacks, words, count);
}

/* What a recording says of processes may come from anybody. */
START_TEST(lines_of_recordings)
{
	static const unsigned char bytes[64 + 64] = {[0] = 0x10, [1] = 0x20, [9] = 1};
	struct nw_stacks *stacks;

	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	ck_assert(line(stacks, "module 3 0 0 x"));
	ck_assert(line(stacks, "module 0 1 2 /no/such/file"));
	ck_assert(line(stacks, "module 99 0 0 x"));
	ck_assert(line(stacks, "module 0 1 2 relative"));
	ck_assert(line(stacks, "region 5 8192 12288 0 1"));
	ck_assert(line(stacks, "region 5 8192 12288 0 77"));
	ck_assert(line(stacks, "region 5 12288 8192 0 0"));
	ck_assert(line(stacks, "region 5"));
	ck_assert(line(stacks, "jit 5 4096 16 made"));
	ck_assert(line(stacks, "module 0 1 2 /no/such/file")); /* it is the same */
	ck_assert(!line(stacks, "task 1 2 3"));
	const struct nw_stack_copy copy = {.arch = nw_arch_by_name("x86_64"),
					   .bytes = bytes,
					   .len = sizeof(bytes),
					   .process = 5,
					   .thread = 5};
	int64_t number = nw_stacks_add(stacks, &copy);
	ck_assert_int_gt(number, 1);
	ck_assert_int_eq(nw_stacks_add(stacks, &copy), number);
	const struct nw_stack stack = nw_stacks_get(stacks, (uint32_t)number);
	ck_assert_uint_eq(stack.count, 1);
	ck_assert_int_eq(stack.end, NW_STACK_UNREAD);
	ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[0]).text,
			 "0x2010 (/no/such/file)");
	ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[0]).function, "[file]");
	nw_stacks_free(stacks);
}
END_TEST

static void is_nameless(const char *path, uintmax_t dev, uintmax_t ino)
{
	static const unsigned char bytes[64 + 64] = {[0] = 0x10, [1] = 0x10, [9] = 1};
	struct nw_stacks *stacks;
	char module[300], wanted[300];

	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	snprintf(module, sizeof(module), "module 0 %ju %ju %s", dev, ino, path);
	ck_assert(line(stacks, "module 3 0 0 x"));
	ck_assert(line(stacks, module));
	ck_assert(line(stacks, "region 5 4096 8192 0 1"));
	const struct nw_stack_copy copy = {.arch = nw_arch_by_name("x86_64"),
					   .bytes = bytes,
					   .len = sizeof(bytes),
					   .process = 5,
					   .thread = 5};
	int64_t number = nw_stacks_add(stacks, &copy);
	ck_assert_int_gt(number, 1);
	const struct nw_stack stack = nw_stacks_get(stacks, (uint32_t)number);
	snprintf(wanted, sizeof(wanted), "0x1010 (%s)", path);
	ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[0]).text, wanted);
	nw_stacks_free(stacks);
}

/* Files that a recording names are opened: a pipe must not hold report up, a device must not be touched, and a file that is
 * another one is not read. */
START_TEST(files_that_a_recording_names)
{
	char directory[] = "/tmp/nopwatch-stack.XXXXXX", pipe[64];
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(pipe, sizeof(pipe), "%s/pipe", directory);
	ck_assert_int_eq(mkfifo(pipe, 0600), 0);
	ck_assert_int_eq(stat(pipe, &st), 0);
	is_nameless(pipe, st.st_dev, st.st_ino);
	ck_assert_int_eq(stat("/dev/zero", &st), 0);
	is_nameless("/dev/zero", st.st_dev, st.st_ino);
	is_nameless("/dev/tty", 5, 5);
	is_nameless(directory, 1, 1);
	ck_assert_int_eq(stat("/proc/self/exe", &st), 0);
	is_nameless("/proc/self/exe", st.st_dev, st.st_ino + 1);
	ck_assert_int_eq(unlink(pipe), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* A copy of this program at `path`, whose last byte of code is another if `changed`. Returns its inode. */
static uintmax_t copy_program(const char *path, bool changed)
{
	struct nw_image *image;
	struct nw_buf bytes = {0};
	struct nw_error err = {0};
	struct stat st;
	uint64_t last = 0;

	ck_assert_msg(nw_image_open("/proc/self/exe", false, &image, &err) == 0, "%s",
		      err.what);
	nw_vec_each (&image->segments, segment)
		if (segment->exec)
			last = segment->offset + segment->filesz - 1;
	ck_assert_int_eq(nw_buf_read(&bytes, image->fd), 0);
	ck_assert_uint_gt(bytes.len, last);
	/* without the note of its build ID, which would be the same in both */
	char *note = memmem(bytes.data, bytes.len, "GNU", 4);
	for (; note;
	     note = memmem(note + 4, bytes.len - (size_t)(note + 4 - bytes.data), "GNU", 4))
		memcpy(note, "Gnu", 3);
	bytes.data[last] ^= changed;
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_eq(nw_write_all(fd, bytes.data, bytes.len), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	nw_buf_free(&bytes);
	nw_image_free(image);
	return st.st_ino;
}

/* Is `path` read as the file of a recording that knows its inode and its identity (NULL: it does not)? */
static bool is_taken(const char *path, uintmax_t ino, const char *identity)
{
	const struct nw_unread *unread;
	struct nw_stacks *stacks;
	char text[400];

	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	ck_assert(line(stacks, "module 3 0 0 x"));
	snprintf(text, sizeof(text), "module 0 1 %ju %s", ino, path);
	ck_assert(line(stacks, text));
	snprintf(text, sizeof(text), "identity 1 %s", identity ? identity : "");
	if (identity) {
		ck_assert(line(stacks, text));
		ck_assert(
			line(stacks, "identity 1 build-id:no")); /* the first one counts */
	}
	ck_assert(line(stacks, "identity 77 build-id:no")); /* no such module */
	const struct nw_region region = {4096, 8192, 0, 1};
	nw_module_open(stacks, nw_maps_of(stacks, 5), &region);
	bool taken = stacks->modules.item[1]->read;
	ck_assert_uint_eq(nw_stacks_unread(stacks, &unread), !taken);
	if (!taken)
		ck_assert_str_eq(unread->why, "it is not the file that was recorded");
	nw_stacks_free(stacks);
	return taken;
}

/* Names come from the file that was recorded, wherever that is now; of older recordings the inode is all that is known. */
START_TEST(another_file_at_the_path)
{
	char directory[] = "/tmp/nopwatch-stack.XXXXXX", path[64], identity[NW_IDENTITY];
	struct nw_image *image;
	struct nw_error err;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/program", directory);
	uintmax_t ino = copy_program(path, false);
	ck_assert_int_eq(nw_image_open(path, false, &image, &err), 0);
	ck_assert_int_eq(nw_image_identity(image, identity), 0);
	ck_assert_msg(strncmp(identity, "code:", 5) == 0, "%s", identity);
	nw_image_free(image);
	ck_assert(is_taken(path, ino, identity));
	ck_assert(is_taken(path, ino + 1, identity));
	ck_assert(is_taken(path, ino, NULL));
	ck_assert(!is_taken(path, ino + 1, NULL));
	ck_assert_uint_eq(copy_program(path, true), ino);
	ck_assert(!is_taken(path, ino, identity));
	ck_assert(is_taken(path, ino, NULL));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* What is mapped over something leaves its two ends, and what was there before is known for hits of then. */
START_TEST(regions_over_regions)
{
	static const char *const lines[] = {"module 3 0 0 x",
					    "module 0 1 2 /no/first",
					    "module 0 1 3 /no/other",
					    "past 5 8192 12288 0 1 100",
					    "past 5 8192 12288 0",
					    "past 5 8192 12288 0 77 100",
					    "unmapped 7 8",
					    "needed 8100",
					    "needed"};
	static const struct nw_region regions[] = {{4096, 16384, 0, 1},
						   {8192, 12288, 4096, 2}};
	static const struct {
		unsigned char page;
		uint64_t time;
		const char *text;
	} hits[] = {{0x10, 200, "0x1010 (/no/first)"},
		    {0x20, 200, "0x2010 (/no/other)"},
		    {0x20, 99, "0x2010 (/no/first)"},
		    {0x30, 200, "0x3010 (/no/first)"}};
	struct nw_stacks *stacks;
	struct nw_buf saved = {0};

	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	for (size_t i = 0; i < NW_COUNT(lines); i++)
		ck_assert(line(stacks, lines[i]));
	for (size_t i = 0; i < NW_COUNT(regions); i++)
		ck_assert_int_eq(nw_maps_put(stacks, nw_maps_of(stacks, 5), &regions[i]),
				 0);
	for (size_t i = 0; i < NW_COUNT(hits); i++) {
		unsigned char bytes[64 + 64] = {0x10, hits[i].page, [9] = 1};
		const struct nw_stack_copy copy = {.arch = nw_arch_by_name("x86_64"),
						   .bytes = bytes,
						   .len = sizeof(bytes),
						   .process = 5,
						   .thread = 5,
						   .time = hits[i].time};
		int64_t number = nw_stacks_add(stacks, &copy);
		ck_assert_int_gt(number, 1);
		const struct nw_stack stack = nw_stacks_get(stacks, (uint32_t)number);
		ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[0]).text,
				 hits[i].text);
	}
	ck_assert_uint_eq(nw_stacks_losses(stacks).changes, 7);
	ck_assert_uint_eq(nw_stacks_losses(stacks).stacks, 8);
	ck_assert_uint_eq(nw_stacks_needed(stacks), 8100);
	nw_stacks_save(stacks, &saved);
	ck_assert_ptr_nonnull(strstr(nw_buf_str(&saved), "\nregion 5 4096 8192 0 1\n"
							 "region 5 8192 12288 4096 2\n"
							 "region 5 12288 16384 8192 1\n"
							 "past 5 8192 12288 0 1 100\n"
							 "needed 8100\n"
							 "unmapped 7 8\n"));
	nw_buf_free(&saved);
	nw_stacks_free(stacks);
}
END_TEST

/* ---- much of it --------------------------------------------------------------------- */

static int deepest, nodes;

static void measure(const void *node, VISIT visit, int depth)
{
	(void)node;
	if (visit == preorder || visit == leaf)
		nodes++;
	if (depth > deepest)
		deepest = depth;
}

/* A recording may name as many as it likes, in any order: each is found in some steps, and the oldest go. */
START_TEST(many_processes)
{
	struct nw_stacks *stacks;
	struct nw_maps *last = NULL;

	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	ck_assert(line(stacks, "module 0 1 2 /no/such/file"));
	for (int pid = 70000; pid > 0; pid--) {
		char text[64];
		snprintf(text, sizeof(text), "region %d 4096 8192 0 0",
			 pid % 2 ? pid : 1000000 - pid);
		ck_assert(line(stacks, text));
		ck_assert(line(stacks, text));
	}
	ck_assert_uint_eq(stacks->maps.count, 65536);
	ck_assert_ptr_null(nw_maps_find(stacks, 65537));
	ck_assert_ptr_nonnull(nw_maps_find(stacks, 65535));
	ck_assert_ptr_nonnull(nw_maps_find(stacks, 1000000 - 65536));
	nodes = deepest = 0;
	twalk(stacks->maps.by_pid, measure);
	ck_assert_int_eq(nodes, 65536);
	ck_assert_int_le(deepest, 2 * 17);
	nodes = 0;
	for (struct nw_maps *it = stacks->maps.oldest; it; it = it->newer, nodes++) {
		ck_assert_ptr_eq(it->older, last);
		ck_assert_uint_eq(it->regions.count, 1);
		last = it;
	}
	ck_assert_int_eq(nodes, 65536);
	ck_assert_ptr_eq(stacks->maps.newest, last);
	/* the oldest goes to make room for its own child, which has nothing of it then */
	const struct nw_map_change fork = {.kind = NW_CHANGE_FORKED,
					   .pid = 2000000,
					   .parent = stacks->maps.oldest->pid};
	ck_assert_int_eq(nw_maps_change(stacks, &fork), 0);
	ck_assert_ptr_null(nw_maps_find(stacks, fork.parent));
	ck_assert(nw_maps_find(stacks, fork.pid)->stale);
	ck_assert_uint_eq(nw_maps_find(stacks, fork.pid)->regions.count, 0);
	nw_stacks_free(stacks);
}
END_TEST

/* Regions are saved in order: a recording that goes back makes no room in the middle, line by line. */
/* What hostile processes map is kept up to a bound for all of them, and it is said once that there is more. */
START_TEST(files_and_regions_without_end)
{
	enum {
		PATH = 4000
	};
	const struct nw_unread *unread;
	struct nw_stacks *stacks;
	char path[PATH + 1];

	/* many files, and then few with long paths */
	for (size_t len = 20; len <= PATH; len += PATH - 20) {
		ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
		memset(path, 'x', len);
		path[len] = '\0';
		for (uint64_t i = 0; i < 70000; i++) {
			struct nw_mapping mapping = {.ino = i + 1, .path = path};
			snprintf(path, sizeof(path), "/%010ju", (uintmax_t)i);
			path[11] = 'x';
			ck_assert_int_ge(nw_module_of(stacks, &mapping), 0);
		}
		ck_assert_uint_le(stacks->modules.count, NW_MOST_MODULES);
		ck_assert_uint_ge(
			stacks->modules.count,
			nw_min64(NW_MOST_MODULES, NW_MOST_MODULE_BYTES / (3 * len)));
		ck_assert_uint_le(stacks->module_bytes, NW_MOST_MODULE_BYTES);
		ck_assert_uint_eq(nw_stacks_unread(stacks, &unread), 1);
		ck_assert_msg(strstr(unread->why, "65,536 files") != NULL, "%s",
			      unread->why);
		nw_stacks_free(stacks);
	}
	/* regions of many processes; those that are forgotten make room */
	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	struct nw_mapping mapping = {.ino = 1, .path = path};
	int64_t module = nw_module_of(stacks, &mapping);
	for (pid_t pid = 1; pid <= 300; pid++) {
		struct nw_maps *maps = nw_maps_of(stacks, pid);
		for (uint64_t i = 1; i <= 4096; i++) {
			const struct nw_region region = {i << 20, (i << 20) + 4096, 0,
							 (uint32_t)module};
			ck_assert_int_eq(nw_maps_put(stacks, maps, &region), 0);
		}
		ck_assert_uint_eq(maps->regions.count, pid <= 256 ? 4096 : 0);
	}
	ck_assert_uint_eq(stacks->maps.regions, NW_MOST_ALL_REGIONS);
	ck_assert_uint_eq(nw_stacks_unread(stacks, &unread), 1);
	ck_assert_msg(strstr(unread->why, "1,048,576") != NULL, "%s", unread->why);
	for (pid_t pid = 1; pid <= 300; pid++) {
		const struct nw_map_change change = {.kind = NW_CHANGE_ENDED, .pid = pid};
		ck_assert_int_eq(nw_maps_change(stacks, &change), 0);
	}
	ck_assert_uint_eq(stacks->maps.regions, 0);
	nw_stacks_free(stacks);
}
END_TEST

START_TEST(regions_that_go_back)
{
	struct nw_stacks *stacks;

	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	ck_assert(line(stacks, "module 0 1 2 /no/such/file"));
	for (int page = 2000; page > 0; page--) {
		char text[64];
		snprintf(text, sizeof(text), "region 5 %d %d 0 0", page * 4096,
			 (page + 1) * 4096);
		ck_assert(line(stacks, text));
	}
	ck_assert_uint_eq(nw_maps_of(stacks, 5)->regions.count, 1);
	nw_stacks_free(stacks);
}
END_TEST

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* What was there is found as if each were looked at: the first, by time, that was there until later. */
static const struct nw_region *look_at_each(const nw_past_regions *past, uint64_t address,
					    uint64_t now)
{
	const struct nw_past_region *best = NULL;

	nw_vec_each (past, it)
		if (it->until > now && it->region.start <= address &&
		    address < it->region.end && (!best || it->until < best->until))
			best = it;
	return best ? &best->region : NULL;
}

/* In any order, over each other, beside each other, the same again and again. */
START_TEST(regions_of_the_past)
{
	static const struct {
		uint64_t places, longest, times;
		bool ordered;
	} kinds[] = {{100000, 64, 100000, true}, /* here and there */
		     {300, 300, 100000, true},	 /* one over the other */
		     {3, 1, 100000, true},	 /* opened and closed */
		     {300, 20, 5, false}, /* many at once, from anybody's recording */
		     {1, 1, 2, true}};
	uint64_t seed = 7;

	for (size_t i = 0; i < NW_COUNT(kinds); i++) {
		nw_past_regions past = {0};
		struct nw_past_tree *tree = NULL;
		size_t found = 0;

		ck_assert_ptr_null(nw_past_find(&past, &tree, 4096, 0));
		for (uint64_t n = 0; n < 700; n++) {
			uint64_t start = next_random(&seed) % kinds[i].places;
			uint64_t len = 1 + next_random(&seed) % kinds[i].longest;
			uint64_t until = kinds[i].ordered
						 ? n * kinds[i].times / 700
						 : next_random(&seed) % kinds[i].times;
			*(struct nw_past_region *)nw_vec_add(
				&past) = (struct nw_past_region){
				{4096 * start, 4096 * (start + len), n, 0}, until};
			if (n % 50 && n + 1 < 700) /* it is asked while it grows */
				continue;
			for (uint64_t asks = 0; asks < 400; asks++) {
				uint64_t address = 4096 * (next_random(&seed) %
							   (kinds[i].places + 2)) +
						   (asks % 3 ? asks : 0);
				uint64_t now = next_random(&seed) % (kinds[i].times + 1);
				const struct nw_region *wanted = look_at_each(&past,
									      address, now);
				ck_assert_ptr_eq(nw_past_find(&past, &tree, address, now),
						 wanted);
				found += wanted != NULL;
			}
		}
		ck_assert_uint_gt(found, 100);
		nw_past_tree_free(tree);
		nw_vec_free(&past);
	}
}
END_TEST

#if defined(__x86_64__) && defined(NW_HAVE_LIBDW)

/* ---- this process ------------------------------------------------------------------- */

struct captured {
	unsigned char bytes[64 + 8192];
	struct nw_stack_copy copy;
};

/* What the kernel would have fetched here. */
static __attribute__((noinline, noclone)) void capture(struct captured *out)
{
	static const int wanted[] = {REG_RIP, REG_RSP, REG_RBP, REG_RBX,
				     REG_R12, REG_R13, REG_R14, REG_R15};
	ucontext_t here;

	getcontext(&here);
	for (size_t i = 0; i < NW_COUNT(wanted); i++)
		memcpy(out->bytes + 8 * i, &here.uc_mcontext.gregs[wanted[i]], 8);
	/* as far as there is a stack */
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t got = pread(memory, out->bytes + 64, sizeof(out->bytes) - 64,
			    (off_t)here.uc_mcontext.gregs[REG_RSP]);
	close(memory);
	ck_assert_int_gt(got, 512);
	out->copy = (struct nw_stack_copy){.arch = nw_arch_by_name("x86_64"),
					   .bytes = out->bytes,
					   .len = 64 + (size_t)got,
					   .process = getpid(),
					   .thread = getpid(),
					   .time = UINT64_MAX};
}

static __attribute__((noinline, noclone)) int descend(struct captured *out, int depth)
{
	volatile int left = depth;

	if (left)
		return descend(out, depth - 1) + left;
	capture(out);
	return left;
}

static void is_called_so(struct nw_stacks *stacks, const struct captured *captured)
{
	int64_t number = nw_stacks_add(stacks, &captured->copy);

	ck_assert_int_gt(number, 1);
	const struct nw_stack stack = nw_stacks_get(stacks, (uint32_t)number);
	ck_assert_uint_gt(stack.count, 9);
	ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[0]).function, "capture");
	for (size_t i = 1; i <= 8; i++)
		ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[i]).function,
				 "descend");
	ck_assert_str_eq(nw_stacks_frame(stacks, stack.frames[stack.count - 1]).function,
			 "_start");
	ck_assert_int_eq(stack.end, NW_STACK_WHOLE);
}

START_TEST(callers_in_this_process_and_from_a_recording)
{
	static struct captured captured;
	struct nw_stacks *live, *recorded;
	struct nw_buf lines = {0};

	ck_assert_int_eq(descend(&captured, 7), 28);
	ck_assert_int_eq(nw_stacks_open("/proc", &live), 0);
	is_called_so(live, &captured);
	nw_stacks_save(live, &lines);
	nw_stacks_free(live);
	ck_assert_int_eq(nw_stacks_open(NULL, &recorded), 0);
	for (char *rest = lines.data, *one; (one = strsep(&rest, "\n"));)
		ck_assert(!*one || line(recorded, one));
	is_called_so(recorded, &captured);
	nw_stacks_free(recorded);
	nw_buf_free(&lines);
}
END_TEST

#else

START_TEST(callers_in_this_process_and_from_a_recording)
{
}
END_TEST

#endif

/* ---- lists of code that a process has made ------------------------------------------ */

static bool has_openat2(void)
{
#ifdef SYS_openat2
	return syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == EINVAL;
#else
	return false;
#endif
}

/* A process with this directory as its root, until `ends[1]` is closed. */
static pid_t process_with_root(const char *root, int ends[2])
{
	char byte;
	int ready[2];

	ck_assert(pipe(ends) == 0 && pipe(ready) == 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(ends[1]);
		if (chroot(root) != 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ends[0]);
	return pid;
}

static void write_list(const char *dir, pid_t pid, const char *name)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/perf-%d.map", dir, (int)pid);
	FILE *list = fopen(path, "w");

	ck_assert_ptr_nonnull(list);
	fprintf(list, "1000 10 %s\n", name);
	ck_assert_int_eq(fclose(list), 0);
}

static char proc[] = "/proc";

/* After a loss of changes all processes are looked at again. One that has ended meanwhile has no memory any more, but what is
 * known of it still holds. */
START_TEST(a_process_that_has_ended_keeps_its_regions)
{
	struct nw_stacks *stacks;
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(nw_stacks_open(proc, &stacks), 0);
	struct nw_maps *maps = nw_maps_of(stacks, pid);
	const uint64_t address = (uint64_t)(uintptr_t)&nw_maps_of;
	const struct nw_region *region = nw_maps_region(stacks, maps, address);
	ck_assert_ptr_nonnull(region);
	size_t regions = maps->regions.count;
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	maps->stale = true;
	region = nw_maps_region(stacks, maps, address);
	ck_assert_ptr_nonnull(region);
	ck_assert_uint_le(region->start, address);
	ck_assert_uint_eq(maps->regions.count, regions);
	/* then its number is free */
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	maps->stale = true;
	ck_assert_ptr_nonnull(nw_maps_region(stacks, maps, address));
	nw_stacks_free(stacks);
}
END_TEST

static void is_made(pid_t pid, const char *name)
{
	struct nw_maps maps = {.pid = pid};
	struct nw_stacks stacks = {.proc = proc};

	ck_assert_int_eq(nw_reader_open(&stacks.reader), 0);
	const struct nw_jit_name *found = nw_jit_find(&stacks, &maps, 0x1008);

	ck_assert_msg(name ? found && strcmp(found->name, name) == 0 : !found, "%s",
		      found ? found->name : "none");
	nw_reader_free(stacks.reader);
	nw_vec_each (&maps.jit, it)
		free(it->name);
	nw_vec_free(&maps.jit);
}

/* What a process calls /tmp may be a link: it leads to where it does for the process, and not to ours. */
START_TEST(lists_below_the_root_of_a_process)
{
	char dir[64], link[96];
	int ends[2], status;

	if (geteuid() != 0) {
		unit_skip("only root can give a process another root");
		return;
	}
	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert(mkdir("root", 0755) == 0 && mkdir("root/tmp", 0755) == 0 &&
		  mkdir("root/inside", 0755) == 0 && mkdir("outside", 0755) == 0);
	pid_t pid = process_with_root("root", ends);
	write_list("root/tmp", pid, "plain");
	is_made(pid, "plain");
	/* a list of another user than the process's, and what is no plain file, are not read */
	nw_cleanup(nw_free_ptr) char *list = nw_text("root/tmp/perf-%d.map", (int)pid);
	ck_assert_int_eq(chown(list, 4711, 4711), 0);
	is_made(pid, NULL);
	ck_assert(chown(list, 0, 0) == 0 && rename(list, "root/tmp/list") == 0);
	ck_assert_int_eq(symlink("list", list), 0);
	is_made(pid, NULL);
	ck_assert(unlink(list) == 0 && mkfifo(list, 0600) == 0);
	is_made(pid, NULL);
	ck_assert_int_eq(rename("root/tmp/list", list), 0);
	is_made(pid, "plain");
	ck_assert_int_eq(rename("root/tmp", "root/other"), 0);
	write_list("outside", pid, "ours");
	snprintf(link, sizeof(link), "%s/outside", dir);
	ck_assert_int_eq(symlink(link, "root/tmp"), 0);
	is_made(pid, NULL);
	ck_assert(unlink("root/tmp") == 0 && symlink("../outside", "root/tmp") == 0);
	is_made(pid, NULL);
	write_list("root/inside", pid, "its own");
	ck_assert(unlink("root/tmp") == 0 && symlink("/inside", "root/tmp") == 0);
	is_made(pid, has_openat2() ? "its own" : NULL);
	close(ends[1]);
	ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
}
END_TEST

static uint64_t bytes_read(void)
{
	struct nw_buf text = {0};
	int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(nw_buf_read(&text, fd), 0);
	uint64_t bytes = strtoull(nw_buf_str(&text) + strlen("rchar: "), NULL, 10);
	nw_buf_free(&text);
	close(fd);
	return bytes;
}

static const char *made_at(struct nw_stacks *stacks, struct nw_maps *maps, uint64_t address)
{
	const struct nw_jit_name *found = nw_jit_find(stacks, maps, address);

	return found ? found->name : "";
}

/* Names are found by a word of them, as people spell functions of Java, JavaScript and Python. */
START_TEST(generated_code_is_found_by_name)
{
	static const struct {
		const char *asked, *found;
	} cases[] = {
		{"Main.work", "int Main.work(int)"},
		{"work", "int Main.work(int)"},
		{"int Main.work(int)", "int Main.work(int)"},
		{"wor", NULL},
		{"ork", NULL},
		{"slow", "JS:~slow /srv/app.js:1:14"},
		{"grow", "py::grow:/srv/grow.py"},
		{"missing", NULL},
	};
	nw_cleanup(nw_free_ptr) char *path = nw_text("/tmp/perf-%d.map", (int)getpid());
	FILE *list = fopen(path, "we");

	ck_assert_ptr_nonnull(list);
	fprintf(list, "1000 10 void Main.workers()\n2000 10 int Main.work(int)\n"
		      "3000 10 JS:~slow /srv/app.js:1:14\n4000 10 py::grow:/srv/grow.py\n");
	fclose(list);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		char *name = NULL;
		int ret = nw_generated_find(getpid(), cases[i].asked, &name);
		ck_assert_int_eq(ret, cases[i].found ? 0 : -ENOENT);
		if (cases[i].found)
			ck_assert_str_eq(name, cases[i].found);
		else
			ck_assert_ptr_null(name);
		free(name);
	}
	unlink(path);
	char *name;
	ck_assert_int_eq(nw_generated_find(getpid(), "work", &name), -ENOENT);
}
END_TEST

/* A runtime writes more and more names, and each hit of what it has made just now asks for them. */
START_TEST(a_list_that_grows_is_read_once)
{
	enum {
		LINES = 20000,
		MORE = 200
	};
	struct nw_maps maps = {.pid = getpid()};
	struct nw_stacks stacks = {.proc = proc};
	nw_cleanup(nw_free_ptr) char *path = nw_text("/tmp/perf-%d.map", (int)getpid());
	FILE *list = fopen(path, "we");

	ck_assert_ptr_nonnull(list);
	ck_assert_int_eq(nw_reader_open(&stacks.reader), 0);
	for (int i = LINES; i-- > 0;)
		fprintf(list, "%x 10 before%d\n", 0x100000 + 16 * i, i);
	fflush(list);
	ck_assert_str_eq(made_at(&stacks, &maps, 0x100008), "before0");
	uint64_t before = bytes_read();
	for (int i = 0; i < MORE; i++) {
		/* behind, in front of, and in place of what there is; the end of the line comes later */
		fprintf(list, "%x 10 behind%d\n%x 10 front%d\n%x 10 again%d",
			0x800000 + 16 * i, i, 0x80000 - 16 * i, i, 0x100000 + 16 * i, i);
		fflush(list);
		char wanted[32];
		snprintf(wanted, sizeof(wanted), "behind%d", i);
		ck_assert_str_eq(made_at(&stacks, &maps, 0x800008 + 16 * (uint64_t)i),
				 wanted);
		snprintf(wanted, sizeof(wanted), "front%d", i);
		ck_assert_str_eq(made_at(&stacks, &maps, 0x80008 - 16 * (uint64_t)i),
				 wanted);
		snprintf(wanted, sizeof(wanted), "again%d", i);
		ck_assert_str_eq(made_at(&stacks, &maps, 0x100008 + 16 * (uint64_t)i),
				 wanted);
		fprintf(list, "\n");
		fflush(list);
		ck_assert_str_eq(made_at(&stacks, &maps, 0x1), "");
	}
	ck_assert_uint_lt(bytes_read() - before, 1000000);
	ck_assert_str_eq(made_at(&stacks, &maps, 0x100008 + 16 * (LINES - 1)),
			 "before19999");
	/* one that was written anew, in the same file, and is longer */
	ck_assert_int_eq(ftruncate(fileno(list), 0), 0);
	rewind(list);
	for (int i = 0; i < 3 * LINES; i++)
		fprintf(list, "%x 10 other%d\n", 0x1000000 + 16 * i, i);
	fclose(list);
	ck_assert_str_eq(made_at(&stacks, &maps, 0x1000008), "other0");
	ck_assert_str_eq(made_at(&stacks, &maps, 0x100008), "");
	unlink(path);
	nw_reader_free(stacks.reader);
	nw_vec_each (&maps.jit, it)
		free(it->name);
	nw_vec_free(&maps.jit);
}
END_TEST

UNIT_MAIN("stack", names_of_cxx, names_of_rust, hostile_names,
	  stacks_are_counted_by_whose_they_are, lines_of_recordings, regions_over_regions,
	  files_that_a_recording_names, another_file_at_the_path, many_processes,
	  files_and_regions_without_end, regions_that_go_back, regions_of_the_past,
	  callers_in_this_process_and_from_a_recording, lists_below_the_root_of_a_process,
	  generated_code_is_found_by_name, a_list_that_grows_is_read_once,
	  a_process_that_has_ended_keeps_its_regions)
