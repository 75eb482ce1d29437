// SPDX-License-Identifier: MIT
/*
 * A stack of a recording: its lines of modules, regions and names up to a line "=", then a byte for the machine, 2 bytes
 * that say how many follow of what was fetched (registers and words of the stack), and a file, which is module 1.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "measure/stack/modules.h"
#include "plan/plan.h"

enum {
	PROCESS = 5 /* whose stack it is */
};

static const char *const machines[] = {"x86_64",  "i386",  "aarch64", "riscv64",
				       "ppc64le", "s390x", "arm"};

static void take_line(struct nw_stacks *stacks, char *line, bool ours)
{
	char *words[16], *rest = line, *word;
	size_t count = 0;

	while (count < NW_COUNT(words) && (word = strsep(&rest, " ")))
		nw_plan_unword(words[count++] = word);
	/* other files are files of this machine: not the fuzzer's business */
	bool file = count > 4 && words[4][0] == '/' && strcmp(words[4], "/no") != 0;
	if (count && (ours || !file))
		nw_stacks_line(stacks, words, count);
}

/* The lines; returns what is behind them. */
static const uint8_t *take_lines(struct nw_stacks *stacks, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;

	while (data < end) {
		const uint8_t *newline = memchr(data, '\n', (size_t)(end - data));
		size_t len = (size_t)((newline ? newline : end) - data);
		bool last = len == 1 && *data == '=';
		char *line = fuzz_text(data, len);
		if (!last)
			take_line(stacks, line, false);
		free(line);
		data += len + (newline != NULL);
		if (last)
			break;
	}
	return data;
}

static void check(const struct nw_stacks *stacks, int64_t number)
{
	PROMISE(number > 0);
	const struct nw_stack stack = nw_stacks_get(stacks, (uint32_t)number);
	PROMISE(stack.end < NW_STACK_ENDS);
	/* the last one may have functions in it */
	PROMISE(stack.count < NW_DEEPEST_STACK + NW_MOST_INLINED + 1);
	for (size_t i = 0; i < stack.count; i++) {
		const struct nw_stack_frame frame = nw_stacks_frame(stacks,
								    stack.frames[i]);
		PROMISE(*frame.text && frame.function);
	}
}

/* What is behind the lines and before what was fetched. */
struct head {
	uint8_t machine, len[2];
};

static void add_stacks(struct nw_stacks *stacks, const struct head *head,
		       const uint8_t *fetched, size_t len)
{
	struct nw_stack_copy copy = {
		.arch = nw_arch_by_name(
			machines[(head->machine & 0x3f) % NW_COUNT(machines)]),
		.big_endian = head->machine & 0x80,
		.entry = head->machine & 0x40,
		.bytes = fetched,
		.len = len,
		.process = PROCESS,
		.thread = PROCESS};
	int64_t number = nw_stacks_add(stacks, &copy);

	check(stacks, number);
	/* what was found is kept, and is the same again, but where a return probe's place has been noted */
	if (!copy.entry)
		PROMISE(nw_stacks_add(stacks, &copy) == number);
}

/* Module 1, so that regions can be in it. */
static void add_file(struct nw_stacks *stacks, int fd)
{
	char module[256];
	struct stat st;

	PROMISE(fstat(fd, &st) == 0);
	take_line(stacks, strcpy(module, "module 3 0 0 x"), true);
	snprintf(module, sizeof(module), "module 0 %ju %ju /proc/self/fd/%d",
		 (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, fd);
	take_line(stacks, module, true);
}

LIBELF_LEAKS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nw_stacks *stacks = NULL;
	const uint8_t *end = data + size;
	struct head head = {0};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	PROMISE(fd >= 0 && nw_stacks_open(NULL, &stacks) == 0);
	nw_reader_inside(stacks->reader);
	add_file(stacks, fd);
	data = take_lines(stacks, data, size);
	if ((size_t)(end - data) >= sizeof(head)) {
		memcpy(&head, data, sizeof(head));
		data += sizeof(head);
	}
	size_t len = (size_t)nw_min64((uint64_t)head.len[0] | (uint64_t)head.len[1] << 8,
				      (uint64_t)(end - data));
	void *fetched = fuzz_bytes(data, len);
	size_t file = (size_t)(end - data) - len;
	PROMISE(write(fd, data + len, file) == (ssize_t)file);
	add_stacks(stacks, &head, fetched, len);
	struct nw_buf saved = {0};
	nw_stacks_save(stacks, &saved);
	PROMISE(!saved.failed);
	nw_buf_free(&saved);
	nw_stacks_free(stacks);
	free(fetched);
	close(fd);
	return 0;
}
