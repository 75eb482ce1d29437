// SPDX-License-Identifier: MIT
/* Errors: a code for programs, a sentence for people. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* The kernel's own ENOTSUPP (include/linux/errno.h), which errno.h does not have. uprobe_register() returns it to user
 * space when an instruction cannot be probed. */
#define KERNEL_ENOTSUPP 524

const char *nw_strerror(int code)
{
	if (code == KERNEL_ENOTSUPP)
		return "Operation is not supported by the kernel (524)";
	const char *text = strerror(code);
	return text ? text : "Unknown error";
}

static void fill(struct nw_error *err, int code, bool usage, const char *fmt, va_list args)
{
	if (!err)
		return;
	err->code = code;
	err->usage = usage;
	err->hint[0] = '\0';
	vsnprintf(err->what, sizeof(err->what), fmt, args);
}

int nw_fail(struct nw_error *err, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(err, code, false, fmt, args);
	va_end(args);
	return -code;
}

int nw_fail_usage(struct nw_error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(err, EINVAL, true, fmt, args);
	va_end(args);
	return -EINVAL;
}

int nw_no_memory(struct nw_error *err)
{
	return nw_fail(err, ENOMEM, "out of memory");
}

bool nw_is_shortage(int code)
{
	return code == ENOMEM || code == EMFILE || code == ENFILE || code == EIO ||
	       code == EINTR || code == EAGAIN;
}

int nw_shortage(void)
{
	return nw_is_shortage(errno) ? -errno : 0;
}

void nw_error_hint(struct nw_error *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
}

int nw_error_context(struct nw_error *err, const char *fmt, ...)
{
	char reason[sizeof(err->what)];
	va_list args;

	if (!err)
		return -EINVAL;
	memcpy(reason, err->what, sizeof(reason));
	va_start(args, fmt);
	vsnprintf(err->what, sizeof(err->what), fmt, args);
	va_end(args);
	/* text that does not fit is cut */
	strncat(err->what, ": ", sizeof(err->what) - strlen(err->what) - 1);
	strncat(err->what, reason, sizeof(err->what) - strlen(err->what) - 1);
	return -err->code;
}
