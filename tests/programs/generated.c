/*
 * generated WHEN: calls hit() from a function that is generated at run time, whose name is "made at run time" in
 * /tmp/perf-PID.map. WHEN says how long the program and its list are there:
 *	gate	the list is written first; the program ends, and removes it, when its standard input does
 *	end	the list is written first; the program ends at once, and the list stays
 *	late	the list is written 0.7 s after the call; its name is printed, and it stays
 *	never	no list is written
 *	loop	no list is written; the function is at 0x10000000 and is called every 10 ms for ever
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void hit(void)
{
	__asm__ volatile("");
}

static void write_list(const char *name, const void *page, size_t size)
{
	FILE *list = fopen(name, "w");

	fprintf(list, "%lx %zx made at run time\n", (long)page, size);
	fclose(list);
}

int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp,%rbp; mov $hit,%rax; call *%rax; pop %rbp; ret */
	unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,	  0,	0,
				0,    0,    0,	  0,	0,    0xff, 0xd0, 0x5d, 0xc3};
	const char *when = argc > 1 ? argv[1] : "never";
	void (*target)(void) = hit, (*made)(void);
	char name[64], byte;

	memcpy(code + 6, &target, 8);
	void *page = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, code, sizeof(code));
	memcpy(&made, &page, sizeof(made));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	bool first = strcmp(when, "gate") == 0 || strcmp(when, "end") == 0;
	if (first)
		write_list(name, page, sizeof(code));
	made();
	while (strcmp(when, "loop") == 0) {
		usleep(10000);
		made();
	}
	if (strcmp(when, "late") == 0) {
		usleep(700000);
		write_list(name, page, sizeof(code));
		puts(name);
	}
	if (strcmp(when, "gate") != 0)
		return 0;
	return read(0, &byte, 1) < 0 || unlink(name) < 0;
}
