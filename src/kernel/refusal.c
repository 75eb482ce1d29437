// SPDX-License-Identifier: MIT
/*
 * What the kernel means by an error number, step by step. error_log, where there is one (5.2),
 * says more about a definition; about enabling it says nothing.
 */
#include <errno.h>

#include "nopwatch/kernel.h"

static const struct {
	enum nw_refusal what;
	int code;
	const char *text;
} refusals[] = {
	{NW_REFUSED_DEFINITION, EINVAL,
	 "it cannot make sense of the place or of an argument, or another tool has a probe "
	 "at this place with another semaphore"},
	{NW_REFUSED_DEFINITION, ENOENT, "it does not find the file by this path"},
	{NW_REFUSED_DEFINITION, EEXIST,
	 "an event of this name exists, with other arguments or at this very place"},
	{NW_REFUSED_DEFINITION, EBUSY, "an event of this name exists and is in use"},
	{NW_REFUSED_DEFINITION, ENOSPC,
	 "an argument is longer than the 63 characters it may have"},
	{NW_REFUSED_DEFINITION, E2BIG,
	 "there are too many arguments, or they are too long"},
	{NW_REFUSED_DEFINITION, EPERM,
	 "it is locked down (cat /sys/kernel/security/lockdown)"},
	{NW_REFUSED_DEFINITION, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_ENABLING, 524 /* the kernel's own ENOTSUPP */,
	 "the instruction there cannot be probed, or holds a breakpoint already"},
	{NW_REFUSED_ENABLING, EINVAL,
	 "another tool has a probe at this place with another semaphore, or the file has "
	 "become shorter"},
	{NW_REFUSED_ENABLING, EIO,
	 "the file system has no page cache to probe (an old overlayfs?)"},
	{NW_REFUSED_ENABLING, EINTR, "perf is using the event"},
	{NW_REFUSED_ENABLING, EBUSY, "somebody else is changing the event"},
	{NW_REFUSED_ENABLING, EOPNOTSUPP, "code of this kind cannot be probed"},
	{NW_REFUSED_ENABLING, EPERM,
	 "it is locked down (cat /sys/kernel/security/lockdown)"},
	{NW_REFUSED_ENABLING, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_DELETION, EBUSY, "perf or another tracer is using it"},
	{NW_REFUSED_DELETION, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_INSTANCE, EBUSY, "somebody reads from it"},
	{NW_REFUSED_INSTANCE, EEXIST, "there is one of this name"},
	{NW_REFUSED_INSTANCE, EPERM, "it is locked down, or this is a container"},
	{NW_REFUSED_INSTANCE, EROFS, "tracefs is mounted read-only"},
	{NW_REFUSED_INSTANCE, ENOMEM, "there is not enough memory for its ring buffer"},
};

const char *nw_refusal_text(enum nw_refusal what, int code)
{
	for (size_t i = 0; i < NW_COUNT(refusals); i++)
		if (refusals[i].what == what && refusals[i].code == code)
			return refusals[i].text;
	return nw_strerror(code);
}
