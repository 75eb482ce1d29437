// SPDX-License-Identifier: MIT
/*
 * Is a place armed, is its semaphore open? The test maps files of its own and writes into its
 * copy of them what the kernel would: nothing is armed.
 */
#include <sys/wait.h>

#include "elf_files.h"
#include "find/probe/probe.h"

enum {
	SITE = EB_TEXT_AT + 0x10,
	SEMAPHORE = EB_DATA_AT + 8,
};

/* A file, mapped as a dynamic linker would: code without, data with the right to write. */
struct mapped {
	struct nw_image *image;
	unsigned char *code, *data;
};

static struct mapped map_machine(uint16_t machine, bool elf64, bool big_endian)
{
	struct mapped m = {0};
	char dir[64];
	struct eb b;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	eb_program(&b, machine, elf64, big_endian);
	eb_write(&b, dir, "prog");
	ck_assert_int_eq(nw_image_open("prog", false, &m.image, NULL), 0);
	m.code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, m.image->fd, 0);
	m.data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, m.image->fd, 0);
	ck_assert(m.code != MAP_FAILED && m.data != MAP_FAILED);
	return m;
}

static void unmap(struct mapped *m)
{
	munmap(m->code, 4096);
	munmap(m->data, 4096);
	nw_image_free(m->image);
}

/* Write into code as a debugger does: into this process's copy of the page. */
static bool try_patch(const unsigned char *at, const void *bytes, size_t len)
{
	int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t written = pwrite(memory, bytes, len, (off_t)(uintptr_t)at);

	close(memory);
	return written == (ssize_t)len;
}

static void patch(const unsigned char *at, const void *bytes, size_t len)
{
	ck_assert(try_patch(at, bytes, len));
}

static struct nw_presence look(const struct mapped *m, uint64_t offset, uint64_t semaphore)
{
	const struct nw_point point = {
		.image = m->image, .offset = offset, .semaphore_offset = semaphore};
	const struct nw_point *const points[1] = {&point};
	struct nw_presence out = {.mapped = 99};
	pid_t self = getpid();
	struct nw_error err;

	ck_assert_int_eq(nw_points_presence(points, 1, &self, 1, &out, &err), 0);
	return out;
}

#define CHECK_PRESENCE(p, m, a, u, c)                 \
	do {                                          \
		ck_assert_uint_eq((p).mapped, m);     \
		ck_assert_uint_eq((p).armed, a);      \
		ck_assert_uint_eq((p).unreadable, u); \
		ck_assert_uint_eq((p).closed, c);     \
	} while (0)

START_TEST(a_breakpoint_or_what_replaces_it_is_armed)
{
	static const struct {
		const char *code;
		size_t len;
		bool armed;
	} cases[] = {
		{"\x90", 1, false},
		{"\xcc", 1, true},
		{"\xe8\x01\x02\x03\x04", 5, true},			/* call: 6.18 */
		{"\x48\x8d\x64\x24\x80\xe8\x01\x02\x03\x04", 10, true}, /* lea; call: 7.2 */
		{"\x48\x8d\x64\x24\x80\x90\x90\x90\x90\x90", 10, false}, /* only lea */
		{"\x90\xcc", 2, false},					 /* the next one */
		{"\x0f\x1f\x44\x00\x00", 5, false},
	};
	static const struct {
		uint16_t machine;
		bool elf64;
	} machines[] = {{EM_X86_64, true}, {EM_X86_64, false}, {EM_386, false}};

	for (size_t i = 0; i < NW_COUNT(cases) * NW_COUNT(machines); i++) {
		size_t n = i / NW_COUNT(machines), machine = i % NW_COUNT(machines);
		struct mapped m = map_machine(machines[machine].machine,
					      machines[machine].elf64, false);
		patch(m.code + SITE, cases[n].code, cases[n].len);
		struct nw_presence p = look(&m, SITE, 0);
		CHECK_PRESENCE(p, 1, cases[n].armed, 0, 0);
		ck_assert_int_eq(p.unarmed_pid, cases[n].armed ? 0 : getpid());
		ck_assert_int_eq(p.closed_pid, 0);
		unmap(&m);
	}
}
END_TEST

START_TEST(elsewhere_anything_but_the_nop_is_armed)
{
	static const struct {
		uint16_t machine;
		bool elf64, big_endian;
		const char *trap;
	} cases[] = {{EM_AARCH64, true, false, "\xa0\x00\x20\xd4"},
		     {EM_PPC64, true, false, "\x08\x00\xe0\x7f"},
		     {EM_PPC64, true, true, "\x7f\xe0\x00\x08"},
		     {EM_S390, true, true, "\x00\x02\x00\x00"},
		     {EM_ARM, false, false, "\xf9\x01\xf0\xe7"},
		     {EM_SPARCV9, true, true, "\x91\xd0\x20\x01"}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct mapped m = map_machine(cases[i].machine, cases[i].elf64,
					      cases[i].big_endian);
		struct nw_presence p = look(&m, SITE, 0);
		CHECK_PRESENCE(p, 1, 0, 0, 0);
		patch(m.code + SITE + 4, cases[i].trap, 4); /* the next instruction */
		p = look(&m, SITE, 0);
		CHECK_PRESENCE(p, 1, 0, 0, 0);
		patch(m.code + SITE, cases[i].trap, 4);
		p = look(&m, SITE, 0);
		CHECK_PRESENCE(p, 1, 1, 0, 0);
		unmap(&m);
	}
}
END_TEST

START_TEST(a_semaphore_of_0_is_closed)
{
	struct mapped m = map_machine(EM_X86_64, true, false);
	struct nw_presence p = look(&m, SITE, SEMAPHORE);

	CHECK_PRESENCE(p, 1, 0, 0, 1);
	ck_assert_int_eq(p.closed_pid, getpid());
	m.data[SEMAPHORE + 2] = 1; /* the next one */
	p = look(&m, SITE, SEMAPHORE);
	CHECK_PRESENCE(p, 1, 0, 0, 1);
	m.data[SEMAPHORE + 1] = 1; /* it is 16 bits wide */
	p = look(&m, SITE, SEMAPHORE);
	CHECK_PRESENCE(p, 1, 0, 0, 0);
	ck_assert_int_eq(p.closed_pid, 0);
	unmap(&m);
}
END_TEST

START_TEST(only_pages_mapped_as_code_count)
{
	struct mapped m = map_machine(EM_X86_64, true, false);
	struct nw_presence p = look(&m, 0x1000 + SITE, 0); /* another page */

	CHECK_PRESENCE(p, 0, 0, 0, 0);
	munmap(m.code, 4096);
	p = look(&m, SITE, SEMAPHORE);
	CHECK_PRESENCE(p, 0, 0, 0, 0);
	ck_assert_int_eq(p.unarmed_pid, 0);
	/* the same bytes of another file */
	ck_assert_int_eq(rename("prog", "other"), 0);
	struct nw_buf copy = {0};
	ck_assert_int_eq(nw_buf_read(&copy, m.image->fd), 0);
	eb_write_bytes(".", "prog", copy.data, copy.len);
	nw_buf_free(&copy);
	int fd = open("prog", O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	close(fd);
	p = look(&m, SITE, 0);
	CHECK_PRESENCE(p, 0, 0, 0, 0);
	munmap(code, 4096);
	munmap(m.data, 4096);
	nw_image_free(m.image);
}
END_TEST

START_TEST(memory_without_a_file_behind_it_is_unreadable)
{
	struct mapped m = map_machine(EM_X86_64, true, false);
	/* the second page lies behind the end of the file: reading it is a fault */
	void *code = mmap(NULL, 2 * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, m.image->fd,
			  0);

	ck_assert_ptr_ne(code, MAP_FAILED);
	struct nw_presence p = look(&m, 4096 + SITE, 0);
	CHECK_PRESENCE(p, 1, 0, 1, 0);
	ck_assert_int_eq(p.unarmed_pid, 0);
	munmap(code, 2 * 4096);
	unmap(&m);
}
END_TEST

/* ---- several points and processes ---------------------------------------------------- */

START_TEST(every_point_is_counted_in_every_process)
{
	struct mapped m = map_machine(EM_X86_64, true, false);
	const struct nw_point one = {
		.image = m.image, .offset = SITE, .semaphore_offset = SEMAPHORE};
	const struct nw_point two = {.image = m.image, .offset = SITE + 1};
	const struct nw_point *const points[2] = {&one, &two};
	struct nw_presence out[2];
	struct nw_error err;
	int hold[2], ready[2];
	char byte;

	ck_assert_int_eq(pipe2(hold, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	patch(m.code + SITE, "\xcc", 1); /* in both */
	pid_t child = fork();
	if (child == 0) { /* no assertions in a child: they would be the test's */
		close(hold[1]);
		m.data[SEMAPHORE] = 1;
		if (!try_patch(m.code + SITE + 1, "\xcc", 1) ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(hold[0], &byte, 1) != 0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	const pid_t pids[3] = {getpid(), child, 0x3fffffff /* nobody */};
	ck_assert_int_eq(nw_points_presence(points, 2, pids, 3, out, &err), 0);
	CHECK_PRESENCE(out[0], 2, 2, 0, 1);
	CHECK_PRESENCE(out[1], 2, 1, 0, 0);
	ck_assert_int_eq(out[0].closed_pid, getpid());
	ck_assert_int_eq(out[0].unarmed_pid, 0);
	ck_assert_int_eq(out[1].unarmed_pid, getpid());
	/* nobody else maps this file */
	ck_assert_int_eq(nw_points_presence(points, 2, NULL, 0, out, &err), 0);
	CHECK_PRESENCE(out[0], 2, 2, 0, 1);
	CHECK_PRESENCE(out[1], 2, 1, 0, 0);
	ck_assert_int_eq(nw_points_presence(points, 2, pids + 1, 1, out, &err), 0);
	CHECK_PRESENCE(out[0], 1, 1, 0, 0);
	CHECK_PRESENCE(out[1], 1, 1, 0, 0);
	ck_assert_int_eq(nw_points_presence(points, 2, pids, 0, out, &err), 0);
	CHECK_PRESENCE(out[0], 0, 0, 0, 0);
	ck_assert_int_eq(nw_points_presence(points, 0, pids, 3, NULL, &err), 0);
	close(hold[1]);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	unmap(&m);
}
END_TEST

START_TEST(the_second_nop_is_taken_if_it_can_become_a_call)
{
	struct nw_site site = {.nop = NW_NOP_PAIR, .offset = 0x1000};
	struct nw_point point = {
		.site = &site, .nop = NW_NOP_PAIR, .offset = 0x1000, .vaddr = 0x401000};

	ck_assert(nw_point_take_call(&point));
	ck_assert(point.is_call && point.nop == NW_NOP_10);
	ck_assert_uint_eq(point.offset, 0x1001);
	ck_assert_uint_eq(point.vaddr, 0x401001);
	ck_assert(!nw_point_take_call(&point)); /* once */
	ck_assert(nw_site_is_at(&site, 0x1000) && nw_site_is_at(&site, 0x1001));
	ck_assert(!nw_site_is_at(&site, 0x1002));
	/* the kernel leaves one that crosses a page a trap */
	for (uint64_t at = 0xff0; at < 0x1000; at++) {
		point = (struct nw_point){.site = &site, .nop = NW_NOP_PAIR, .offset = at};
		ck_assert_int_eq(nw_point_take_call(&point), at <= 0xff5 || at == 0xfff);
	}
	point = (struct nw_point){.site = &site, .nop = NW_NOP_1, .offset = 0x1000};
	ck_assert(!nw_point_take_call(&point));
	point = (struct nw_point){.site = &site, .nop = NW_NOP_5, .offset = 0x1000};
	ck_assert(!nw_point_take_call(&point));
	point = (struct nw_point){.nop = NW_NOP_PAIR,
				  .offset = 0x1000}; /* uprobe:FILE:0x1000 */
	ck_assert(!nw_point_take_call(&point));
	site.nop = NW_NOP_1;
	ck_assert(!nw_site_is_at(&site, 0x1001));
}
END_TEST

UNIT_MAIN("presence", the_second_nop_is_taken_if_it_can_become_a_call,
	  a_breakpoint_or_what_replaces_it_is_armed,
	  elsewhere_anything_but_the_nop_is_armed, a_semaphore_of_0_is_closed,
	  only_pages_mapped_as_code_count, memory_without_a_file_behind_it_is_unreadable,
	  every_point_is_counted_in_every_process)
