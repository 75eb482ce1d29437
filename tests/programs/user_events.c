// SPDX-License-Identifier: MIT
/*
 * Registers events through user_events_data of tracefs (the second argument) and writes them: user_events ROUNDS DIRECTORY.
 *
 *    nwtest_start  id, and a string of variable length
 *    nwtest_done   id, status, and a string of 16 bytes
 *    NwTest_L4K1   EventHeader: "Request" with one field of nearly every kind, then "Reply" with two
 *
 * It says "ready", and waits until all three are enabled. Then it writes each of them in every round, says "written ROUNDS", and
 * waits for a signal. With 0 rounds, it writes for ever whatever is enabled. Status 2: the kernel has no user_events.
 * The ABI is that of include/uapi/linux/user_events.h, which few machines have.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

struct user_reg {
	uint32_t size;
	uint8_t enable_bit, enable_size;
	uint16_t flags;
	uint64_t enable_addr, name_args;
	uint32_t write_index;
} __attribute__((packed));

#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg *)

enum {
	START,
	DONE,
	HEADER,
	EVENTS
};

static struct {
	const char *definition;
	uint32_t index, enabled;
} events[EVENTS] = {
	{.definition = "nwtest_start u32 id; __rel_loc char[] path"},
	{.definition = "nwtest_done u32 id; s32 status; char[16] by"},
	{.definition =
		 "NwTest_L4K1 u8 eventheader_flags; u8 version; u16 id; u16 tag; u8 opcode; u8 level"},
};

static int fd;

static void write_event(int event, const void *data, size_t len)
{
	struct iovec parts[] = {{&events[event].index, sizeof(events[event].index)},
				{(void *)(uintptr_t)data, len}};

	/* EBADF: it is not enabled */
	if (*(volatile uint32_t *)&events[event].enabled)
		(void)!writev(fd, parts, 2);
}

/* ---- plain events ------------------------------------------------------------------- */

static void write_plain(uint32_t round)
{
	struct {
		uint32_t id, path;
		char text[32];
	} start = {.id = round};
	struct {
		uint32_t id;
		int32_t status;
		char by[16];
	} done = {round, -(int32_t)(round % 3), "a worker"};
	int len = snprintf(start.text, sizeof(start.text), "/request/%u", (unsigned)round) +
		  1;

	/* where it begins behind this field, and its length */
	start.path = (uint32_t)len << 16;
	write_event(START, &start, 8 + (size_t)len);
	write_event(DONE, &done, sizeof(done));
}

/* ---- EventHeader --------------------------------------------------------------------- */

struct bytes {
	unsigned char data[1024];
	size_t len;
};

static void add(struct bytes *to, const void *data, size_t len)
{
	memcpy(to->data + to->len, data, len);
	to->len += len;
}

static void add8(struct bytes *to, unsigned value)
{
	const uint8_t number = (uint8_t)value;

	add(to, &number, sizeof(number));
}

static void add16(struct bytes *to, unsigned value)
{
	const uint16_t number = (uint16_t)value;

	add(to, &number, sizeof(number));
}

static void add32(struct bytes *to, uint32_t value)
{
	add(to, &value, sizeof(value));
}

/* Defines a field: its encoding, and its format unless that is 0. */
static void define(struct bytes *meta, const char *name, unsigned encoding, unsigned format)
{
	add(meta, name, strlen(name) + 1);
	add8(meta, encoding | (format ? 0x80 : 0));
	if (format)
		add8(meta, format);
}

static unsigned flags(void)
{
	const uint16_t one = 1;

	return (sizeof(void *) == 8 ? 1 : 0) | (*(const uint8_t *)&one ? 2 : 0) | 4;
}

/* Writes the header, an activity, the metadata and the payload. */
static void write_header(unsigned id, unsigned opcode, uint32_t round,
			 const struct bytes *meta, const struct bytes *data)
{
	struct bytes all = {.len = 0};
	unsigned char activity[16] = "nopwatch-test-";

	memcpy(activity + 12, &round, sizeof(round));
	add8(&all, flags());
	add8(&all, 3); /* version */
	add16(&all, id);
	add16(&all, 0x1234); /* tag */
	add8(&all, opcode);
	add8(&all, 4);
	add16(&all, sizeof(activity));
	add16(&all, 0x8000 | 2);
	add(&all, activity, sizeof(activity));
	add16(&all, (unsigned)meta->len);
	add16(&all, 1);
	add(&all, meta->data, meta->len);
	add(&all, data->data, data->len);
	write_event(HEADER, all.data, all.len);
}

static void write_request(uint32_t round)
{
	static const uint16_t wide[] = {'g', 'r', 0xfc, 'n', 0xd83d, 0xde00};
	static const unsigned char uuid[16] = {0, 1, 2,	 3,  4,	 5,  6,	 7,
					       8, 9, 10, 11, 12, 13, 14, 15};
	static const uint8_t address[] = {192, 0, 2, 7}, port[] = {0x1f, 0x90};
	struct bytes meta = {.len = 0}, data = {.len = 0};
	const double took = round / 4.0;
	const int64_t least = INT64_MIN;

	add(&meta, "Request;color=red", 18);
	define(&meta, "id", 4, 0);
	add32(&data, round);
	define(&meta, "path;attribute=x", 7, 0);
	add(&data, "/a\n\"b\"", 7);
	define(&meta, "wide", 11, 0);
	add16(&data, 6);
	add(&data, wide, sizeof(wide));
	define(&meta, "took", 5, 8);
	add(&data, &took, sizeof(took));
	define(&meta, "flags", 3, 3);
	add16(&data, 0xbeef);
	define(&meta, "ok", 2, 7);
	add8(&data, round & 1);
	define(&meta, "from", 4, 17);
	add(&data, address, sizeof(address));
	define(&meta, "port", 3, 16);
	add(&data, port, sizeof(port));
	define(&meta, "uuid", 6, 15);
	add(&data, uuid, sizeof(uuid));
	define(&meta, "least", 5, 2);
	add(&data, &least, sizeof(least));
	define(&meta, "counts", 3 | 0x40, 0);
	add16(&data, 3);
	add16(&data, 7);
	add16(&data, 8);
	add16(&data, round);
	define(&meta, "who", 1, 2);
	define(&meta, "uid", 4, 2);
	add32(&data, (uint32_t)-5);
	define(&meta, "group", 10, 0);
	add16(&data, 5);
	add(&data, "wheel", 5);
	define(&meta, "none", 1 | 0x40, 1);
	define(&meta, "deep", 4, 0);
	add16(&data, 0);
	define(&meta, "last", 8, 0);
	add16(&data, 'z');
	add16(&data, 0);
	write_header(7, 1, round, &meta, &data);
}

static void write_reply(uint32_t round)
{
	struct bytes meta = {.len = 0}, data = {.len = 0};

	add(&meta, "Reply", 6);
	define(&meta, "id", 4, 0);
	add32(&data, round);
	define(&meta, "status", 4, 2);
	add32(&data, (uint32_t) - (int32_t)(round % 3));
	write_header(8, 2, round, &meta, &data);
}

/* ---- the whole ---------------------------------------------------------------------- */

static void write_round(uint32_t round)
{
	write_plain(round);
	write_request(round);
	write_reply(round);
}

static int all_enabled(void)
{
	for (int i = 0; i < EVENTS; i++)
		if (!*(volatile uint32_t *)&events[i].enabled)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	char path[256];
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;

	snprintf(path, sizeof(path), "%s/user_events_data", argc > 2 ? argv[2] : ".");
	fd = open(path, O_RDWR);
	if (fd < 0) {
		perror(path);
		return 2;
	}
	for (int i = 0; i < EVENTS; i++) {
		struct user_reg reg = {.size = sizeof(reg),
				       .enable_size = sizeof(events[i].enabled),
				       .enable_addr = (uintptr_t)&events[i].enabled,
				       .name_args = (uintptr_t)events[i].definition};
		if (ioctl(fd, DIAG_IOCSREG, &reg) < 0) {
			perror(events[i].definition);
			return 1;
		}
		events[i].index = reg.write_index;
	}
	printf("ready\n");
	fflush(stdout);
	alarm(600);
	for (uint32_t round = 0; !rounds; round++) {
		write_round(round);
		usleep(20000);
	}
	while (!all_enabled())
		usleep(20000);
	for (uint32_t round = 0; round < rounds; round++)
		write_round(round);
	printf("written %u\n", (unsigned)rounds);
	fflush(stdout);
	pause();
	return 0;
}
