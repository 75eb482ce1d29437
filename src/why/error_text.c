// SPDX-License-Identifier: MIT
/*
 * What other tools say, and what it means. A pasted text is searched for the pattern anywhere in
 * it; * stands for what varies within a line. The first row that fits is the most special.
 */
#include <ctype.h>
#include <string.h>

#include "nopwatch/why.h"

const struct nw_error_cause nw_error_table[] = {
	{"try using shared library path instead", NW_CAUSE_SYMBOL_IMPORTED,
	 "the function is only imported by that file (its symbol has no address); it lies "
	 "in a "
	 "library",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"ambiguous match for", NW_CAUSE_SYMBOL_AMBIGUOUS,
	 "several functions have that name; the file offset says which one",
	 "nm FILE | grep -w SYMBOL"},
	{"offset outside the function bounds ('*' size is 0)", NW_CAUSE_SYMBOL_MISSING,
	 "the symbol has no size (hand-written assembly), which bpftrace takes for an "
	 "error",
	 "nopwatch stat uprobe:FILE:SYMBOL+0xOFFSET"},
	{"could not resolve address", NW_CAUSE_SYMBOL_STRIPPED,
	 "the file is stripped, and bpftrace insists on a symbol around the address",
	 "nopwatch stat uprobe:FILE:0xOFFSET"},
	{"no usdt notes section", NW_CAUSE_NO_NOTES,
	 "the file has no USDT probes: it was built without them, or they were stripped",
	 "readelf -n FILE"},
	{"the specified pid might not contain the given language's runtime",
	 NW_CAUSE_NO_NOTES,
	 "the process's runtime has no USDT probes, or lies in another mount namespace",
	 "nopwatch list -p PID"},
	{"failed to find elf program segment for", NW_CAUSE_NOTE_DAMAGED,
	 "the note's address is in no segment: the linker damaged it",
	 "nopwatch list FILE"},
	{"matched elf binary * is not executable", NW_CAUSE_NOTE_DAMAGED,
	 "the note's address is not in code: the linker damaged it", "nopwatch list FILE"},
	{"failed to find elf loadable segment with semaphore", NW_CAUSE_NOTE_DAMAGED,
	 "the semaphore's address is in no segment: the linker damaged the note",
	 "nopwatch list FILE"},
	{"semaphore * is executable", NW_CAUSE_NOTE_DAMAGED,
	 "the semaphore's address is in code: the linker damaged the note",
	 "nopwatch list FILE"},
	{"kernel doesn't support usdt semaphore refcounting", NW_CAUSE_SEMAPHORE,
	 "the kernel (before 4.20) does not count USDT semaphores; nopwatch raises them "
	 "itself",
	 "nopwatch stat -p PID usdt:FILE:PROVIDER:NAME"},
	{"sdt probe guarded by a semaphore", NW_CAUSE_SEMAPHORE,
	 "LTTng does not support probes with a semaphore; the probe itself is fine",
	 "nopwatch stat usdt:FILE:PROVIDER:NAME"},
	{"requires a pid to enable", NW_CAUSE_SEMAPHORE,
	 "the probe has a semaphore, which that tool raises only with -p; or the file has "
	 "no such "
	 "probe",
	 "nopwatch why usdt:FILE:PROVIDER:NAME"},
	{"error finding or enabling probe", NW_CAUSE_SEMAPHORE,
	 "the probe has a semaphore, which that tool raises only with -p; or the file has "
	 "no such "
	 "probe",
	 "nopwatch why usdt:FILE:PROVIDER:NAME"},
	{"without specific pid is not supported on current kernel", NW_CAUSE_BPF_MISSING,
	 "libbpf needs BPF cookies for that, which this kernel lacks; a probe in tracefs "
	 "does not",
	 "nopwatch stat usdt:FILE:PROVIDER:NAME"},
	{"within pid * memory mappings", NW_CAUSE_NOT_LOADED,
	 "the process has not loaded that file (yet), or runs another copy of it",
	 "nopwatch why -p PID usdt:FILE:PROVIDER:NAME"},
	{"32-bit elf binary * is not supported", NW_CAUSE_BITS32,
	 "libbpf refuses 32-bit programs; a probe in tracefs works",
	 "nopwatch stat usdt:FILE:PROVIDER:NAME"},
	{"unrecognized arg #", NW_CAUSE_BPF_OPERAND,
	 "libbpf does not know the form of one of the probe's arguments",
	 "nopwatch list -v FILE"},
	{"unrecognized register", NW_CAUSE_BPF_OPERAND,
	 "libbpf does not know a register that one of the probe's arguments is in",
	 "nopwatch list -v FILE"},
	{"unsupported arg #", NW_CAUSE_BPF_OPERAND,
	 "libbpf does not know the size of one of the probe's arguments",
	 "nopwatch list -v FILE"},
	{"couldn't get argument", NW_CAUSE_BPF_OPERAND,
	 "the tool could not understand that argument of the probe",
	 "nopwatch list -v FILE"},
	{"parse error:", NW_CAUSE_BPF_OPERAND, "bcc could not parse the probe's arguments",
	 "nopwatch list -v FILE"},
	{"too many usdt arguments", NW_CAUSE_BPF_OPERAND,
	 "libbpf takes at most 12 arguments a probe", "nopwatch list -v FILE"},
	{"failed to stat uprobe target file", NW_CAUSE_OTHER_NAMESPACE,
	 "there is no such file here: it may be in the mount namespace of the process",
	 "ls -l /proc/PID/root/FILE"},
	{"cannot make canonical path", NW_CAUSE_OTHER_NAMESPACE,
	 "that version of bpftrace cannot use paths below /proc/PID/root",
	 "nopwatch stat -p PID usdt:FILE:PROVIDER:NAME"},
	{"does not exist or is not executable", NW_CAUSE_FILE_MISSING,
	 "there is no such file here: it may be in the mount namespace of the process",
	 "ls -l /proc/PID/root/FILE"},
	{"ioctl(perf_event_ioc_set_bpf): invalid argument", NW_CAUSE_BPF_PROGRAM,
	 "a BPF program of another kind than the event: uprobe events in tracefs take "
	 "kprobe "
	 "programs, not tracepoint ones; name the place itself",
	 "bpftrace -e 'uprobe:FILE:SYMBOL { ... }'"},
	{"ref_ctr_offset mismatch", NW_CAUSE_PLACE_TAKEN,
	 "another event holds the place with another semaphore (or without)",
	 "nopwatch why usdt:FILE:PROVIDER:NAME"},
	{"key too big for map", NW_CAUSE_LIMIT,
	 "the tool's map of probes is full: too many sites", "nopwatch stat SPEC"},
	{"too many open files", NW_CAUSE_LIMIT,
	 "a perf probe takes a descriptor each, more than the limit; a probe in tracefs "
	 "takes none",
	 "ulimit -n 65536"},
	{"unknown error 524", NW_CAUSE_BREAKPOINT,
	 "the instruction there cannot be probed, or holds a breakpoint already",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"enotsupp", NW_CAUSE_BREAKPOINT,
	 "the instruction there cannot be probed, or holds a breakpoint already",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"device or resource busy", NW_CAUSE_STALE_EVENT,
	 "an event of that name, or at that place, is in use: by another tool, or left by "
	 "a dead "
	 "one",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"lockdown:", NW_CAUSE_LOCKDOWN, "kernel lockdown forbids it, even to root",
	 "cat /sys/kernel/security/lockdown"},
	{"uprobe_events: no such file or directory", NW_CAUSE_NO_UPROBES,
	 "tracefs is not mounted, or the kernel was built without CONFIG_UPROBE_EVENTS",
	 "mount -t tracefs nodev /sys/kernel/tracing"},
	{"uprobe_events file: -2", NW_CAUSE_NO_UPROBES,
	 "tracefs is not mounted, or the kernel was built without CONFIG_UPROBE_EVENTS",
	 "mount -t tracefs nodev /sys/kernel/tracing"},
	{"unknown caller pc", NW_CAUSE_RETURN_GO,
	 "a return probe in Go code: the return address on the moving stack was replaced",
	 "nopwatch stat uprobe:FILE:SYMBOL"},
	{"illegal instruction pc=0x7fffffffe0", NW_CAUSE_RETURN_GO,
	 "a return probe in Go code: the return address on the moving stack was replaced",
	 "nopwatch stat uprobe:FILE:SYMBOL"},
	{"sigsys", NW_CAUSE_RETURN_SECCOMP,
	 "a return probe in a process under seccomp, on a kernel whose return probes make "
	 "a "
	 "system call",
	 "nopwatch stat uprobe:FILE:SYMBOL"},
	{"failed to find the given file", NW_CAUSE_FILE_MISSING,
	 "the kernel finds no such file from here", "ls -l FILE"},
	{"invalid uprobe offset", NW_CAUSE_BAD_OFFSET, "the offset is not a number",
	 "nopwatch list -v FILE"},
	{"event name is too long", NW_CAUSE_LIMIT,
	 "the tool made an event name of more than 64 characters of a long path",
	 "ln -s FILE /tmp/x"},
	{"there is already the exact same probe event", NW_CAUSE_STALE_EVENT,
	 "the event exists already: of another tool, or left by a dead one",
	 "cat /sys/kernel/tracing/uprobe_events"},
	{"perf_event_open*input/output error", NW_CAUSE_FILESYSTEM,
	 "the file system cannot be probed (an old overlayfs), or the file is no ELF file",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"perf_event_open*operation not permitted", NW_CAUSE_BPF_PRIVILEGE,
	 "perf uprobes need CAP_SYS_ADMIN; tracefs only needs to be writable",
	 "sudo nopwatch stat SPEC"},
	{"perf_event_open*invalid argument", NW_CAUSE_PLACE_TAKEN,
	 "the place is taken with another semaphore, is past the end of the file, or an "
	 "address "
	 "was taken for an offset",
	 "nopwatch why usdt:FILE:PROVIDER:NAME"},
	{"bpftrace currently only supports running as the root user",
	 NW_CAUSE_BPF_PRIVILEGE, "bpftrace wants to be root", "sudo bpftrace ..."},
	{"operation not permitted", NW_CAUSE_NO_PRIVILEGE,
	 "it takes root (or CAP_BPF and CAP_PERFMON), unless kernel lockdown is the reason",
	 "sudo bpftrace ..."},
	{"permission denied", NW_CAUSE_NO_PRIVILEGE, "it takes root",
	 "sudo nopwatch why SPEC"},
	{"could not resolve symbol", NW_CAUSE_SYMBOL_MISSING,
	 "the file does not define that function: imported, stripped, inlined or misspelt",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"could not determine address of symbol", NW_CAUSE_SYMBOL_MISSING,
	 "the file does not define that function: imported, stripped, inlined or misspelt",
	 "nopwatch why uprobe:FILE:SYMBOL"},
	{"no probes to attach", NW_CAUSE_SYMBOL_MISSING,
	 "nothing there has that name: imported, stripped, inlined or misspelt",
	 "nopwatch why uprobe:FILE:SYMBOL"},
};
const size_t nw_error_count = NW_COUNT(nw_error_table);

/* Does text begin with pattern, whose * matches anything but a line's end? */
static bool begins_with(const char *text, const char *pattern)
{
	for (; *pattern; text++, pattern++) {
		if (*pattern == '*') {
			for (; *text && *text != '\n'; text++)
				if (begins_with(text, pattern + 1))
					return true;
			return false;
		}
		if (tolower((unsigned char)*text) != *pattern)
			return false;
	}
	return true;
}

static bool holds(const char *text, const char *pattern)
{
	for (; *text; text++)
		if (begins_with(text, pattern))
			return true;
	return false;
}

size_t nw_error_causes(const char *text, const struct nw_error_cause **out, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < nw_error_count && found < room; i++)
		if (holds(text, nw_error_table[i].pattern))
			out[found++] = &nw_error_table[i];
	return found;
}

int nw_diagnose_error(const char *text, struct nw_diagnosis *out, struct nw_error *err)
{
	const struct nw_error_cause *rows[8];
	struct nw_diagnosis diagnosis = {.fires = -1};
	size_t count = nw_error_causes(text, rows, NW_COUNT(rows));
	bool failed = false;

	for (size_t i = 0; i < count; i++) {
		struct nw_reason *reason = nw_vec_add(&diagnosis.reasons);
		if (!reason) {
			failed = true;
			break;
		}
		*reason = (struct nw_reason){.cause = rows[i]->cause,
					     .text = strdup(rows[i]->text)};
		failed = failed || !reason->text ||
			 nw_strings_addf(&diagnosis.remedy, "%s", rows[i]->remedy) < 0;
	}
	diagnosis.text = strdup(count ? rows[0]->text
				      : "this error is not known; name the probe, too");
	if (failed || !diagnosis.text) {
		nw_diagnosis_free(&diagnosis);
		return nw_no_memory(err);
	}
	*out = diagnosis;
	return 0;
}
