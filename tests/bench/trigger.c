// SPDX-License-Identifier: MIT
/*
 * trigger KIND MS [perf]: hits one site as often as it can for MS milliseconds, and prints "KIND NS COUNTED HITS CODE", where NS are
 * nanoseconds of each round and CODE is what the site's first eight bytes in memory are then. KIND is what the probe is at: nop, nop5,
 * nop10, push or ret. perf: with a probe there of perf_event_open(), which counts its hits.
 *
 * The loop and the sites are those of the producers of Linux's tools/testing/selftests/bpf/benchs/bench_trigger.c (uprobe-nop,
 * uprobe-nop5, uprobe-nop10, uprobe-push, uprobe-ret), whose probe has a BPF program and this one has none.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
/* A function whose first instruction is the site: no compiler puts anything in front of it. */
#define TARGET(name, code)                                                \
	__asm__(".pushsection .text\n\t.balign 64\n\t.globl target_" name \
		"\n.type target_" name ", @function\ntarget_" name ":\n"  \
		"	" code "\n\tret\n"                                \
		".size target_" name ", .-target_" name "\n.popsection\n")

TARGET("nop", "nop");
TARGET("nop5", ".byte 0x0f, 0x1f, 0x44, 0, 0");
TARGET("nop10", ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0");
TARGET("push", "push %rbp\n\tpop %rbp");
TARGET("ret", "");
void target_nop(void);
void target_nop5(void);
void target_nop10(void);
void target_push(void);
void target_ret(void);

static const struct {
	const char *kind;
	void (*hit)(void);
} targets[] = {
	{"nop", target_nop},   {"nop5", target_nop5}, {"nop10", target_nop10},
	{"push", target_push}, {"ret", target_ret},
};

static volatile sig_atomic_t over;

static void end(int number)
{
	(void)number;
	over = 1;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Where an address of this program is in its file, as /proc/self/maps tells; 0: nowhere. */
static uint64_t offset_of(uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t from, to, offset, found = 0;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to,
			   &offset) == 3 &&
		    address >= from && address < to)
			found = address - from + offset;
	if (maps)
		fclose(maps);
	return found;
}

/* Opens a probe of this process that counts. Returns a descriptor, or -1. */
static int probe(uint64_t offset)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");

	if (!file || fscanf(file, "%" SCNu32, &attr.type) != 1 || !offset)
		return -1;
	fclose(file);
	attr.uprobe_path = (uintptr_t) "/proc/self/exe";
	attr.probe_offset = offset;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int measure(const char *kind, void (*hit)(void), long ms, int fd)
{
	struct itimerspec when = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
	uint64_t hits = 0, counted = 0;
	timer_t timer;

	signal(SIGALRM, end);
	/* what the first hits of a site pay for alone */
	for (int i = 0; i < 1000; i++)
		hit();
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_RESET, 0) < 0)
		return 1;
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) < 0 ||
	    timer_settime(timer, 0, &when, NULL) < 0)
		return 1;
	const uint64_t from = now();
	for (; !over; hits++)
		hit();
	const uint64_t took = now() - from;
	if (fd >= 0 && read(fd, &counted, sizeof(counted)) != sizeof(counted))
		return 1;
	unsigned char code[8];
	memcpy(code, (const void *)(uintptr_t)hit, sizeof(code));
	printf("%s %.1f %" PRIu64 " %" PRIu64 " ", kind, (double)took / (double)hits,
	       counted, hits);
	for (size_t i = 0; i < sizeof(code); i++)
		printf("%02x", code[i]);
	printf("\n");
	return fd >= 0 && counted != hits;
}

int main(int argc, char **argv)
{
	const long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	for (size_t i = 0; ms > 0 && i < sizeof(targets) / sizeof(*targets); i++) {
		if (strcmp(targets[i].kind, argv[1]) != 0)
			continue;
		int fd = -1;
		if (argc > 3 && (fd = probe(offset_of((uintptr_t)targets[i].hit))) < 0) {
			perror("perf_event_open");
			return 1;
		}
		return measure(targets[i].kind, targets[i].hit, ms, fd);
	}
	fprintf(stderr, "usage: trigger nop|nop5|nop10|push|ret MS [perf]\n");
	return 2;
}
#else
int main(void)
{
	fprintf(stderr, "trigger: its sites are those of x86_64\n");
	return 2;
}
#endif
