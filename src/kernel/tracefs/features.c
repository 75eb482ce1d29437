// SPDX-License-Identifier: MIT
/*
 * Finds out what this kernel can do, by README and the content of its files. The version is never used, because
 * distributions backport features. NOPWATCH_FEATURES switches features off, so that the code for old kernels can be
 * tested on new ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "expedite.h"

const struct nw_feature_info nw_feature_table[NW_FEATURE_COUNT] = {
	[NW_FEATURE_UPROBE_EVENTS] = {"uprobe_events", "probes in user programs",
				      "file uprobe_events", "nothing works without it"},
	[NW_FEATURE_INSTANCES] = {"instances", "ring buffers of one's own",
				  "directory instances",
				  "the top-level buffer is used, saved and restored"},
	[NW_FEATURE_INSTANCE_EVENTS] = {"instance_events", "probes that record in them",
					"README: fetcharg; file set_event_pid",
					"the top-level buffer is used"},
	[NW_FEATURE_MEMORY] = {"memory", "arguments in memory, strings",
			       "README: fetcharg; file set_event_pid",
			       "only arguments in registers have values"},
	[NW_FEATURE_PATH_COLON] = {"path_colon", "files with a colon in their path",
				   "README: <path>:<offset>",
				   "they are named by an open descriptor"},
	[NW_FEATURE_REF_CTR] = {"ref_ctr", "the kernel raises USDT semaphores",
				"README: (ref_ctr_offset)",
				"semaphores are raised through /proc/PID/mem"},
	[NW_FEATURE_MULTI_SITE] = {"multi_site", "one event with several sites",
				   "README: Create/append/remove/show",
				   "an event a site: slower to disarm"},
	[NW_FEATURE_HEX] = {"hex", "x8..x64 types", "README: x8/16/32/64",
			    "unsigned types, shown as hexadecimal by nopwatch"},
	[NW_FEATURE_ARRAYS] = {"arrays", "array arguments", "README: <array-size>",
			       "arrays and structures are refused"},
	[NW_FEATURE_IMMEDIATE] = {"imm", "constants as arguments", "README: \\imm-value",
				  "not needed: nopwatch knows constants"},
	[NW_FEATURE_EVENT_PID] =
		{"set_event_pid", "recording only some threads", "file set_event_pid",
		 "all threads are recorded; other threads are filtered out (common_pid) after their first hit"},
	[NW_FEATURE_EVENT_FORK] = {"event_fork", "and what those threads create",
				   "file options/event-fork", "as without set_event_pid"},
	[NW_FEATURE_BUFFER_PERCENT] = {"buffer_percent",
				       "waking the reader when it is worth it",
				       "file buffer_percent",
				       "the reader looks 50 times a second"},
	[NW_FEATURE_SUBBUF] = {"subbuf", "larger pages in the ring buffer",
			       "file buffer_subbuf_size_kb",
			       "pages as the kernel has them: reading costs a little more"},
	[NW_FEATURE_ERROR_LOG] = {"error_log", "the kernel's reason for a refusal",
				  "file error_log", "the error number is put into words"},
	[NW_FEATURE_CLOCK_MONO] = {"mono", "trace clock mono = CLOCK_MONOTONIC",
				   "file trace_clock", "boot, else global"},
	[NW_FEATURE_CLOCK_BOOT] = {"boot", "trace clock boot = CLOCK_BOOTTIME",
				   "file trace_clock", "global"},
	[NW_FEATURE_HIST] = {"hist", "histograms and variables in the kernel",
			     "README: hist trigger",
			     "record --until reads both ends of every span"},
	[NW_FEATURE_HIST_BUCKETS] =
		{"hist_buckets", "histograms in rows of equal width",
		 "README: .buckets=size",
		 "--engine=kernel: percentiles are off by up to 12.5 %, and on x86 calls are paired by thread"},
	[NW_FEATURE_SYNTHETIC] = {"synthetic", "synthetic events", "file synthetic_events",
				  "record --until reads both ends of every span"},
	[NW_FEATURE_EVENT_PROBES] = {"event_probes",
				     "strings of system calls, by event probes",
				     "README: <attached-group>; trace tries it",
				     "kprobes fetch them, where kprobe_events is there"},
	[NW_FEATURE_RETURN_ARGS] = {"return_args", "arguments read at the return (@return)",
				    "README: <attached-group>; hist, synthetic",
				    "@return is refused: arguments are read at the entry"},
	[NW_FEATURE_ELEMENTS] =
		{"elements", "elements of arrays at any index",
		 "README: numeric_literal; return_args",
		 "the first 64 elements are fetched, no strings behind them"},
	[NW_FEATURE_NOP5_SAFE] = {"nop5_safe", "5-byte nops are not rewritten into calls",
				  "syscall 336 does not answer ENXIO",
				  "sites on a 5-byte nop are refused without --force"},
	[NW_FEATURE_NOP10] = {"nop10", "probes without a trap, at nop,nop10",
			      "syscall 336 answers EPROTO; sessions of such sites try it",
			      "such sites are armed at their first nop, by a trap"},
	[NW_FEATURE_EXPEDITE] = {"expedite",
				 "short waits for all CPUs while arming and disarming",
				 "/sys/kernel/rcu_expedited is 0, no CPU is isolated",
				 "arming takes 10 times as long, disarming twice"},
	[NW_FEATURE_FANOTIFY] = {"fanotify",
				 "being told of programs that start (for semaphores)",
				 "fanotify_init()",
				 "/proc is looked through 4 times a second"},
	[NW_FEATURE_DISARM_SAFE] = {"disarm_safe",
				    "who hits a probe that is being taken away lives on",
				    "neither s390x nor 32-bit ARM",
				    "it is said who may be killed, by SIGILL"},
	[NW_FEATURE_LONGJMP] =
		{"longjmp",
		 "who leaves a function with a return probe by longjmp() lives on",
		 "file set_event_pid, and not 32-bit ARM; else it is tried",
		 "return probes of programs that call longjmp() are refused"},
	[NW_FEATURE_STACK_TRIGGER] =
		{"stack_trigger", "the kernel's stacks of who goes to sleep",
		 "file events/sched/sched_switch/trigger; --states tries it",
		 "--states does not say where threads sleep"},
	[NW_FEATURE_SWITCH_STATE] =
		{"switch_state", "sched_switch says of threads what its prev_state means",
		 "README: \\imm-value; or --states tries it",
		 "--states takes prev_state for one bit too high"},
	[NW_FEATURE_KPROBE_EVENTS] = {"kprobe_events", "probes in the kernel's functions",
				      "file kprobe_events",
				      "kprobe: and func:kernel: are refused"},
	[NW_FEATURE_MAXACTIVE] =
		{"maxactive", "timing many calls of a kernel function at once",
		 "README: r[maxactive]",
		 "few calls at once have an end: the starts of others are unmatched"},
};

/* Features that a kernel has if README contains a text. */
static const struct {
	enum nw_feature feature;
	const char *text;
} readme_texts[] = {
	{NW_FEATURE_INSTANCE_EVENTS, "fetcharg"},
	{NW_FEATURE_MEMORY, "fetcharg"},
	{NW_FEATURE_PATH_COLON, "<path>:<offset>"},
	{NW_FEATURE_REF_CTR, "(ref_ctr_offset)"},
	{NW_FEATURE_MULTI_SITE, "Create/append/remove/show the userspace"},
	{NW_FEATURE_HEX, "x8/16/32/64"},
	{NW_FEATURE_ARRAYS, "<array-size>"},
	{NW_FEATURE_IMMEDIATE, "\\imm-value"},
	{NW_FEATURE_HIST, "hist trigger"},
	{NW_FEATURE_HIST_BUCKETS, ".buckets=size"},
	{NW_FEATURE_MAXACTIVE, "r[maxactive]"},
	{NW_FEATURE_EVENT_PROBES, "<attached-group>"},
	{NW_FEATURE_RETURN_ARGS, "<attached-group>"},
	{NW_FEATURE_ELEMENTS, "numeric_literal"},
};

static const struct {
	enum nw_feature feature;
	const char *file;
} files[] = {
	{NW_FEATURE_UPROBE_EVENTS, "uprobe_events"},
	{NW_FEATURE_INSTANCES, "instances"},
	{NW_FEATURE_EVENT_PID, "set_event_pid"},
	{NW_FEATURE_EVENT_FORK, "options/event-fork"},
	{NW_FEATURE_BUFFER_PERCENT, "buffer_percent"},
	{NW_FEATURE_SUBBUF, "buffer_subbuf_size_kb"},
	{NW_FEATURE_ERROR_LOG, "error_log"},
	{NW_FEATURE_SYNTHETIC, "synthetic_events"},
	{NW_FEATURE_KPROBE_EVENTS, NW_KPROBE_EVENTS},
	{NW_FEATURE_STACK_TRIGGER, "events/sched/sched_switch/trigger"},
};

/* Does a list of words contain this word? "mono" is not in "mono_raw". */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len) {
		bool starts = at == list || strchr(" [", at[-1]);
		/* Strchr() also finds the final NUL. */
		bool ends = strchr(" ]\n", at[len]) != NULL;
		if (starts && ends)
			return true;
	}
	return false;
}

/*
 * Linux 6.18 to 7.1 replace any 5-byte nop under a uprobe by a call, which overwrites the red zone of leaf
 * functions; 7.2 and later replace a nop of 10 bytes, and leave the red zone alone. The uprobe system call tells these
 * kernels: it returns ENXIO on the former, EPROTO on the latter, and ENOSYS before. It has no effect when it is called
 * like this. Returns the error number; 0: this architecture has no such call.
 */
static int answer_of_uprobe_call(void)
{
	const struct nw_arch *own = nw_arch_native();
	long number = own ? own->uprobe_call : 0;

	return number && syscall(number) < 0 ? errno : 0;
}

static bool fanotify_works(void)
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Finds the size of the kernel's long: header_page of the ring buffer shows that of local_t. */
static int find_long64(const struct nw_tracefs *fs, bool *long64)
{
	struct nw_buf header = {0};
	int ret = nw_tracefs_read(fs->root, "events/header_page", &header);

	const char *commit = strstr(nw_buf_str(&header), "local_t commit;");
	const char *size = commit ? strstr(commit, "size:") : NULL;
	*long64 = size ? strncmp(size, "size:8;", 7) == 0 : sizeof(long) == 8;
	nw_buf_free(&header);
	return ret;
}

static int apply_mask(const char *mask, struct nw_features *features, struct nw_error *err)
{
	while (mask && *mask) {
		size_t len = strcspn(mask, ","), i;
		const char *name = *mask == '-' ? mask + 1 : mask;
		size_t name_len = len - (size_t)(name - mask);

		for (i = 0; i < NW_FEATURE_COUNT; i++)
			if (strlen(nw_feature_table[i].name) == name_len &&
			    memcmp(nw_feature_table[i].name, name, name_len) == 0)
				break;
		if (len && (*mask != '-' || i == NW_FEATURE_COUNT)) {
			nw_fail_usage(err, "NOPWATCH_FEATURES: '%.*s' is not -FEATURE",
				      (int)len, mask);
			nw_error_hint(err, "`nopwatch features` lists the names");
			return -EINVAL;
		}
		if (len) {
			/* A masked feature is not tried either. */
			features->masked[i] = true;
			features->has[i] = false;
		}
		mask += len + (mask[len] == ',');
	}
	return 0;
}

int nw_features_detect(const struct nw_tracefs *fs, const char *mask,
		       struct nw_features *out, struct nw_error *err)
{
	struct nw_features features = {0};
	struct nw_buf readme = {0}, clocks = {0};

	nw_rights_read(features.rights);
	/* A kernel without these files has none of the features in them, so empty texts will do. */
	int read = nw_tracefs_read(fs->root, "README", &readme);
	if (read == 0 || read == -ENOENT)
		read = nw_tracefs_read(fs->root, "trace_clock", &clocks);
	for (size_t i = 0; i < NW_COUNT(files); i++)
		features.has[files[i].feature] = nw_tracefs_has(fs->root, files[i].file);
	for (size_t i = 0; i < NW_COUNT(readme_texts); i++)
		features.has[readme_texts[i].feature] = strstr(nw_buf_str(&readme),
							       readme_texts[i].text) !=
							NULL;
	features.has[NW_FEATURE_CLOCK_MONO] = has_word(nw_buf_str(&clocks), "mono");
	features.has[NW_FEATURE_CLOCK_BOOT] = has_word(nw_buf_str(&clocks), "boot");
	const int answer = answer_of_uprobe_call();
	features.has[NW_FEATURE_NOP5_SAFE] = answer != ENXIO;
	features.has[NW_FEATURE_NOP10] = answer == EPROTO;
	errno = 0;
	features.has[NW_FEATURE_EXPEDITE] = nw_expedite_possible();
	if (read == 0 || read == -ENOENT)
		read = nw_shortage();
	features.has[NW_FEATURE_FANOTIFY] = fanotify_works();
	const struct nw_arch *own = nw_arch_native();
	/* These features count as present until a trial shows that they are missing. */
	features.has[NW_FEATURE_SWITCH_STATE] = true;
	features.has[NW_FEATURE_LONGJMP] = !own || !own->keeps_left_calls;
	features.has[NW_FEATURE_DISARM_SAFE] = !own || !own->reads_trap_again;
	if (read == 0 || read == -ENOENT)
		read = find_long64(fs, &features.long64);
	nw_buf_free(&readme);
	nw_buf_free(&clocks);
	if (read < 0 && nw_is_shortage(-read))
		return nw_fail(err, -read, "cannot find out what the kernel can do: %s",
			       nw_strerror(-read));
	int ret = apply_mask(mask, &features, err);
	/* README mentions fetch arguments since 4.9. Kernels with set_event_pid (4.4) already have both features
	 * (3.15 and 3.14). Older kernels have to be tried, also a 4.4 whose set_event_pid is masked. */
	static const enum nw_feature old[] = {NW_FEATURE_INSTANCE_EVENTS,
					      NW_FEATURE_MEMORY};

	for (size_t i = 0; i < NW_COUNT(old); i++) {
		bool masked = features.masked[old[i]];
		features.has[old[i]] |= !masked && features.has[NW_FEATURE_EVENT_PID];
		features.unproven |= !masked && !features.has[old[i]];
	}
	features.has[NW_FEATURE_RETURN_ARGS] &= features.has[NW_FEATURE_HIST] &&
						features.has[NW_FEATURE_SYNTHETIC];
	/* one series (Linux 5.16) brought literals and products to hist triggers' expressions: trace_events_hist.c */
	features.has[NW_FEATURE_ELEMENTS] &= features.has[NW_FEATURE_RETURN_ARGS];
	if (ret == 0)
		*out = features;
	return ret;
}

int nw_features_assume(const char *mask, struct nw_features *out, struct nw_error *err)
{
	struct nw_features features = {0};

	for (size_t i = 0; i < NW_FEATURE_COUNT; i++)
		features.has[i] = true;
	/* where the kernel makes no calls, a probe at that nop is single-stepped, or never hit */
	features.has[NW_FEATURE_NOP10] = false;
	int ret = apply_mask(mask, &features, err);
	if (ret == 0)
		*out = features;
	return ret;
}

/*
 * Does a load of 8 bytes that runs into the end of a mapping keep the bytes before the end? Since 4.20, which added
 * arrays, a fetch is a plain copy (trace_probe_tmpl.h), and x86-64 finishes that byte by byte
 * (arch/x86/lib/copy_user_64.S). Other architectures are not known to.
 */
static bool keeps_partial_loads(void)
{
	struct utsname machine;
	const struct nw_arch *arch = uname(&machine) == 0 ? nw_arch_by_name(machine.machine)
							  : NULL;

	return arch && arch->partial_loads;
}

struct nw_caps nw_features_caps(const struct nw_features *features)
{
	return (struct nw_caps){
		.memory = features->has[NW_FEATURE_MEMORY],
		.ref_ctr = features->has[NW_FEATURE_REF_CTR],
		.multi_site = features->has[NW_FEATURE_MULTI_SITE],
		.hex = features->has[NW_FEATURE_HEX],
		.arrays = features->has[NW_FEATURE_ARRAYS],
		.maxactive = features->has[NW_FEATURE_MAXACTIVE],
		.long64 = features->long64,
		.partial = features->has[NW_FEATURE_ARRAYS] && keeps_partial_loads(),
		.elements = features->has[NW_FEATURE_ELEMENTS],
		/* 5.14 has both .buckets and keys that are sums; README tells of the former. */
		.key_sums = features->has[NW_FEATURE_IMMEDIATE] &&
			    features->has[NW_FEATURE_HIST_BUCKETS],
	};
}
