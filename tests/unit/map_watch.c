// SPDX-License-Identifier: MIT
/* Mappings that the kernel reports: more of them than its buffers hold, none of which may be missing without a word. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/stack/watch.h"
#include "unit.h"

enum {
	MANY = 20000, /* some 100 bytes each: several times the buffer of a CPU */
	ROUNDS = 3
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Maps a page of our own program as code, and takes it away. `at`: its address; times: between which that happened. */
struct made {
	uint64_t at, before, after;
	bool told;
};

static void map_once(int fd, struct made *made)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	made->told = false;
	made->before = now();
	void *memory = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	made->after = now();
	ck_assert(memory != MAP_FAILED);
	made->at = (uintptr_t)memory;
	munmap(memory, page);
}

struct losses {
	struct {
		uint64_t from, until;
	} item[64];
	size_t count;
	uint64_t lost;
};

/* Reads all changes there are. Those of this process are marked as told, in the order in which they were made. */
static void read_all(struct nw_map_watch *watch, struct made *made, size_t count,
		     struct losses *losses)
{
	struct nw_map_change change;
	size_t next = 0;
	uint64_t last = 0;

	while (nw_map_watch_next(watch, now(), &change) == 1) {
		ck_assert_uint_ge(change.time, last);
		last = change.time;
		if (change.kind == NW_CHANGE_LOST) {
			ck_assert_uint_lt(losses->count, NW_COUNT(losses->item));
			losses->item[losses->count].from = change.time;
			losses->item[losses->count++].until = change.until;
			losses->lost += change.lost;
			continue;
		}
		if (change.kind != NW_CHANGE_MAPPED || change.pid != getpid())
			continue;
		for (size_t i = next; i < count; i++)
			if (change.time >= made[i].before && change.time <= made[i].after) {
				made[i].told = true;
				next = i + 1;
				break;
			}
	}
}

static bool is_lost(const struct made *made, const struct losses *losses)
{
	for (size_t i = 0; i < losses->count; i++)
		if (losses->item[i].from <= made->after &&
		    losses->item[i].until >= made->before)
			return true;
	return false;
}

START_TEST(each_mapping_is_told_or_within_a_loss)
{
	static struct made made[MANY];
	struct nw_map_watch *watch;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	cpu_set_t here;

	/* Each CPU has a buffer, and counts what it has dropped when its next event finds room. */
	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(here), &here), 0);
	ck_assert_int_eq(nw_map_watch_open(CLOCK_MONOTONIC, &watch), 0);
	if (!watch) {
		unit_skip("the kernel reports no mappings to us");
		return;
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct losses losses = {0};
		size_t told = 0;
		for (size_t i = 0; i < MANY; i++)
			map_once(fd, &made[i]);
		/* The kernel counts the dropped events with the next one that has room. */
		read_all(watch, made, MANY, &losses);
		struct made later[2];
		map_once(fd, &later[0]);
		map_once(fd, &later[1]);
		read_all(watch, later, 2, &losses);

		for (size_t i = 0; i < MANY; i++) {
			told += made[i].told;
			ck_assert_msg(made[i].told || is_lost(&made[i], &losses),
				      "mapping %zu of round %d is missing", i, round);
		}
		ck_assert_uint_gt(told, 0);
		ck_assert_uint_lt(told, MANY);
		/* some may have been dropped of others, too */
		ck_assert_uint_ge(losses.lost, MANY - told);
		/* the loss begins behind what was told, and ends when the buffer has been read */
		ck_assert(made[0].told && !is_lost(&made[0], &losses));
		ck_assert(later[0].told && !is_lost(&later[0], &losses));
		ck_assert(later[1].told && !is_lost(&later[1], &losses));
	}
	nw_map_watch_free(watch);
	close(fd);
}
END_TEST

UNIT_MAIN("map_watch", each_mapping_is_told_or_within_a_loss)
