// SPDX-License-Identifier: MIT
/* Provider files and tapsets; the first byte says which of them it is. */
#include <errno.h>

#include "find/probe/scan.h"
#include "fuzz.h"
#include "plan/plan.h"

/* The name is a C identifier's worth of bytes, the type one that specs have. */
static void check_arg(const struct nw_named_arg *arg)
{
	struct nw_type again = {0};
	char text[16];

	PROMISE(memchr(arg->name, '\0', sizeof(arg->name)));
	PROMISE(!strpbrk(arg->name, " \t\n:,()"));
	if (arg->type.base == NW_TYPE_DEFAULT)
		return;
	nw_type_text(&arg->type, text);
	PROMISE(nw_type_parse(text, strlen(text), &again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nw_types types = {0};
	struct nw_error err = {0};

	if (size == 0)
		return 0;
	char *text = fuzz_bytes(data + 1, size - 1);
	struct nw_scan scan = {.file = "file",
			       .at = text,
			       .end = text + size - 1,
			       .line = 1,
			       .tapset = data[0] & 1,
			       .err = &err};
	int ret = scan.tapset ? nw_types_tapset(&scan, &types)
			      : nw_types_provider_file(&scan, &types);
	if (ret < 0) {
		fuzz_error(ret, &err);
		PROMISE(strncmp(err.what, "file:", 5) == 0);
	} else {
		PROMISE(scan.at == scan.end);
	}
	nw_vec_each (&types.probes, probe) {
		nw_vec_each (&probe->args, arg)
			check_arg(arg);
		if (probe->name)
			nw_types_of(&types, "/bin/x", "p", probe->name);
	}
	nw_types_free(&types);
	free(text);
	return 0;
}
