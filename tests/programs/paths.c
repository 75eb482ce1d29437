/*
 * Opens files whose paths lie everywhere, and says which: paths FILE writes to FILE a line "KIND PATH" for each openat() of its
 * own. KIND is "plain", or "absent" for a path whose page was taken out of memory just before. One line "null" and one "wild" stand
 * for addresses that are none of a path. `paths -` only links "/none/b" to "/none/a", three times.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	MOST = 65536 /* the largest page of any kernel */
};

/* On a page of the file that nothing else is on, and on two of them. */
static const char absent[2 * MOST] __attribute__((aligned(MOST))) = "/none/absent";
static const char crossing[2 * MOST] __attribute__((aligned(MOST))) = {
	[MOST - 9] = '/', 'n', 'o', 'n', 'e', '/', 'c', 'r', 'o', 's', 's', 'i', 'n', 'g'};

static char said[65536];
static size_t length;

static void say(const char *kind, const char *path)
{
	length += (size_t)snprintf(said + length, sizeof(said) - length, "%s %s\n", kind,
				   path);
}

static void look(const char *kind, const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	say(kind, path);
}

static void take_out(const char *page)
{
	if (madvise((void *)(unsigned long)page, MOST, MADV_DONTNEED) < 0)
		perror("madvise");
}

int main(int argc, char **argv)
{
	char path[512];

	for (int i = 0; argc > 1 && strcmp(argv[1], "-") == 0 && i < 3; i++)
		syscall(SYS_linkat, AT_FDCWD, "/none/a", AT_FDCWD, "/none/b", 0);
	if (argc < 2 || strcmp(argv[1], "-") == 0)
		return 0;
	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "/none/%d", i);
		look("plain", path);
	}
	char *copy = strdup("/none/of the heap");
	look("plain", copy);
	look("plain", "/dev/null");
	memset(path, 'x', 150);
	memcpy(path, "/none/", 6);
	path[150] = '\0';
	look("plain", path);
	for (int i = 0; i < 3; i++) {
		take_out(absent);
		look("absent", absent);
	}
	/* The page behind the limit is not in memory, that in front of it is. */
	const char *volatile half = crossing + MOST - 9;
	say("half", half);
	take_out(crossing + MOST);
	(void)*(volatile const char *)half;
	syscall(SYS_openat, AT_FDCWD, half, O_RDONLY | O_CLOEXEC);
	syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY | O_CLOEXEC);
	syscall(SYS_openat, AT_FDCWD, 8, O_RDONLY | O_CLOEXEC);
	free(copy);
	FILE *out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fputs(said, out);
	return fclose(out) != 0;
}
