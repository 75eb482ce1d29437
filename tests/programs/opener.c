// SPDX-License-Identifier: MIT
/*
 * Somebody else with root who opens what nopwatch has in the kernel:
 *
 *	opener events TRACEFS SECONDS	by perf, every event of nopwatch's sessions, over and over
 *	opener files TRACEFS SECONDS	the files of its instances, to read them and to list them
 *	opener top TRACEFS SECONDS	but for those that are further down, whose readers hang Linux up to 5.5
 *					when an instance is removed (src/kernel/steps/journal.h)
 *	opener site FILE OFFSET SEMAPHORE
 *					by perf, without an event in tracefs, until it is killed
 *
 * These three print how often they got one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "nopwatch_";

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

static int perf_open(uint32_t type, uint64_t config, const char *file, uint64_t offset)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config};

	attr.config1 = (uint64_t)(uintptr_t)file; /* uprobe_path */
	attr.config2 = offset;			  /* probe_offset */
	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

/* Call each() with every entry of a directory that has the prefix; the sum of what it returns. */
static long with_all(const char *dir, const char *start, long (*each)(const char *path))
{
	DIR *list = opendir(dir);
	const struct dirent *entry;
	char path[1024];
	long sum = 0;

	while (list && (entry = readdir(list))) {
		if (*entry->d_name == '.' ||
		    strncmp(entry->d_name, start, strlen(start)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		sum += each(path);
	}
	if (list)
		closedir(list);
	return sum;
}

static long open_event(const char *event)
{
	char path[1100];

	snprintf(path, sizeof(path), "%s/id", event);
	long id = read_number(path);
	int fd = id < 0 ? -1 : perf_open(PERF_TYPE_TRACEPOINT, (uint64_t)id, NULL, 0);
	if (fd < 0)
		return 0;
	usleep(1000); /* held for a moment */
	close(fd);
	return 1;
}

static long open_group(const char *group)
{
	return with_all(group, "", open_event);
}

static const char *const files[] = {"trace", "set_event", "tracing_on",
				    "per_cpu/cpu0/trace_pipe_raw"};

static long open_files(const char *instance, size_t count)
{
	char path[1100], byte[64];
	long got = 0;

	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", instance, files[i]);
		int fd = open(path, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			continue;
		got++;
		(void)!read(fd, byte, sizeof(byte));
		usleep(200);
		close(fd);
	}
	return got;
}

static long open_instance(const char *instance)
{
	return open_files(instance, sizeof(files) / sizeof(*files));
}

static long open_top(const char *instance)
{
	return open_files(instance, sizeof(files) / sizeof(*files) - 1);
}

static int loop(const char *tracefs, const char *below, long (*each)(const char *path),
		double seconds)
{
	double end = now() + seconds;
	char dir[512];
	long got = 0;

	snprintf(dir, sizeof(dir), "%s/%s", tracefs, below);
	while (now() < end) {
		long some = with_all(dir, prefix, each);
		got += some;
		if (!some)
			usleep(200);
	}
	printf("%ld\n", got);
	return 0;
}

/* The semaphore's offset is in the upper half of config. */
static int hold_site(const char *file, const char *offset, const char *semaphore)
{
	uint64_t config = strtoull(semaphore, NULL, 0) << 32;
	long type = read_number("/sys/bus/event_source/devices/uprobe/type");
	int fd = type < 0 ? -1
			  : perf_open((uint32_t)type, config, file,
				      strtoull(offset, NULL, 0));

	if (fd < 0) {
		fprintf(stderr, "opener: %s\n", strerror(type < 0 ? ENODEV : errno));
		return 77;
	}
	printf("open\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "events") == 0)
		return loop(argv[2], "events", open_group, atof(argv[3]));
	if (argc == 4 && strcmp(argv[1], "files") == 0)
		return loop(argv[2], "instances", open_instance, atof(argv[3]));
	if (argc == 4 && strcmp(argv[1], "top") == 0)
		return loop(argv[2], "instances", open_top, atof(argv[3]));
	if (argc == 5 && strcmp(argv[1], "site") == 0)
		return hold_site(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: opener events|files|top TRACEFS SECONDS | site FILE OFFSET "
			"SEMAPHORE\n");
	return 2;
}
