// SPDX-License-Identifier: MIT
/*
 * The kernel's error numbers and their meaning for uprobe events. 524 is ENOTSUPP, which has no name in user space. Where a
 * file that cannot be opened, or a signal, gives the same number, the text begins with the number's own words.
 */
#include <errno.h>

#include "refusal.h"

/*
 * If a tracer is killed while it disables a probe, the signal ends uprobe_unregister() halfway, and the place keeps
 * its semaphore as long as the inode lives (kernel/events/uprobes.c, "leaking uprobe").
 */
#define OR_HAD \
	" (or had when it was killed: then dmesg has 'leaking uprobe', and a copy helps)"

static const struct {
	enum nw_refusal what;
	int code;
	const char *text;
} known[] = {
	{NW_REFUSED_DEFINITION, EEXIST,
	 "an event of that name is there already, with other arguments or at this place"},
	{NW_REFUSED_DEFINITION, EINVAL,
	 "it cannot be written so, or another tool has a probe at this place with another semaphore" OR_HAD},
	{NW_REFUSED_DEFINITION, ENOENT, "the file is not there"},
	{NW_REFUSED_DEFINITION, ENOSPC,
	 "the kernel has no room for it, or an argument is too long"},
	{NW_REFUSED_DEFINITION, E2BIG, "it has too many or too long arguments"},
	{NW_REFUSED_DEFINITION, EPERM, "the kernel is locked down, or we are not root"},
	{NW_REFUSED_DEFINITION, EBUSY,
	 "an event of that name is in use, and this kernel would replace it"},
	{NW_REFUSED_DEFINITION, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_FUNCTION, ENOENT, "it has no function of this name that can be probed"},
	{NW_REFUSED_FUNCTION, EINVAL,
	 "the function must not be probed (`nopwatch why` tells whether it is blacklisted), or an argument cannot be had"},
	{NW_REFUSED_FUNCTION, EADDRNOTAVAIL, "several functions have this name"},
	{NW_REFUSED_FUNCTION, EPERM, "the kernel is locked down, or we are not root"},
	{NW_REFUSED_ENABLING, 524,
	 "the instruction there cannot be probed, or holds a breakpoint already"},
	{NW_REFUSED_ENABLING, EINVAL,
	 "another tool has a probe at this place with another semaphore" OR_HAD
	 ", or the file has become shorter"},
	{NW_REFUSED_ENABLING, EIO,
	 "Input/output error (the file system may have no page cache to probe: an old overlayfs)"},
	{NW_REFUSED_ENABLING, EINTR,
	 "Interrupted system call (perf may be using the event)"},
	{NW_REFUSED_ENABLING, EBUSY, "somebody else is changing the event"},
	{NW_REFUSED_ENABLING, EOPNOTSUPP, "code of this kind cannot be probed"},
	{NW_REFUSED_ENABLING, EPERM, "the kernel is locked down, or we are not root"},
	{NW_REFUSED_ENABLING, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_DELETION, EBUSY, "perf or another tracer is using it"},
	{NW_REFUSED_DELETION, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_INSTANCE, EBUSY, "Device or resource busy (somebody reads from it)"},
	{NW_REFUSED_INSTANCE, EAGAIN, "others look at all instances without a pause"},
	{NW_REFUSED_INSTANCE, EEXIST, "there is one of this name"},
	{NW_REFUSED_INSTANCE, EPERM, "the kernel is locked down, or this is a container"},
	{NW_REFUSED_INSTANCE, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_INSTANCE, ENOMEM, "there is no memory for its ring buffer"},
};

const char *nw_refusal_text(enum nw_refusal what, int code)
{
	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (known[i].what == what && known[i].code == code)
			return known[i].text;
	return nw_strerror(code);
}
