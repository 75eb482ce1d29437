/* SPDX-License-Identifier: MIT */
/* stream: writes and reads recordings in trace-cmd's format (trace.dat). */
#ifndef NOPWATCH_STREAM_RECORDING_RECORDING_H
#define NOPWATCH_STREAM_RECORDING_RECORDING_H

#include "stream/pages/record.h"

/*
 * trace.dat, version 6 (trace-cmd.dat.v6(5)): the format of trace-cmd and kernelshark. Our own table of probes
 * (nw_plan_save() and a few more lines) is in the VERSION option, behind the terminating NUL of its text, which other
 * readers ignore.
 */
struct nw_recorded_format {
	char system[64];
	struct nw_buf text;
};

struct nw_recording_parts {
	struct nw_buf header_page, header_event;
	NW_VEC(struct nw_recorded_format) formats; /* grouped by system */
	struct nw_buf comms;			   /* "TID NAME\n" */
	struct nw_buf clock;			   /* as in trace_clock: "[mono]" */
	struct nw_buf table;
};

void nw_recording_parts_free(struct nw_recording_parts *parts);

/* The pages of a CPU: `size` bytes of a file from offset `from` on. */
struct nw_recorded_cpu {
	int fd; /* may have any value if size is 0 */
	uint64_t from, size;
	/* Events before this time are left out on purpose. Only the first page has such events. A loss that this page
	 * reports stays, unless one of its events is not younger than this time. 0: all events are wanted. */
	uint64_t since;
};

/* Writes a recording of all CPUs from 0 on. */
int nw_recording_write(struct nw_writer *to, const struct nw_recording_parts *parts,
		       size_t page_size, const struct nw_recorded_cpu *cpus, uint32_t count,
		       struct nw_error *err);

/*
 * Changes the format of an event so that trace-cmd and kernelshark show its strings as text: adds a field NAME_text,
 * and NAME="..." to its print format. The parts that nw_formats_load() needs do not change. -ENOMEM, -EBADMSG.
 */
int nw_format_show_strings(const struct nw_plan *plan, const struct nw_armed_event *event,
			   struct nw_buf *text);

struct nw_format_text {
	const char *system, *text;
	size_t len;
};

/* A recording in memory. Its pointers are valid as long as that memory. */
struct nw_recording {
	const char *header_page, *table;
	size_t header_page_len, table_len;
	NW_VEC(struct nw_format_text) formats;
	NW_VEC(struct nw_page_run) runs;
};

/* Is this the beginning of a trace.dat file? */
bool nw_recording_is_one(const void *bytes, size_t len);
/* Parses a recording. EBADMSG: damaged; ENOTSUP: made by another tool or machine. */
int nw_recording_parse(const void *bytes, size_t len, struct nw_recording *out,
		       struct nw_error *err);
void nw_recording_free(struct nw_recording *recording);
/* An nw_format_reader for nw_formats_load(). */
int nw_recording_format(void *recording, const char *system, const char *name,
			struct nw_buf *out);

#endif
