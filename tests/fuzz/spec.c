// SPDX-License-Identifier: MIT
/* What users type: probe specs. */
#include <errno.h>

#include "find/probe/probe.h"
#include "fuzz.h"
#include "plan/plan.h"
#include "plan/plan_private.h"

static bool is_identifier(const char *name)
{
	char cleaned[32];

	nw_identifier(name, sizeof(cleaned) - 1, cleaned);
	return strcmp(name, cleaned) == 0;
}

static void check_type(const struct nw_type *type)
{
	struct nw_type again = {0};
	char text[16];

	if (type->base == NW_TYPE_DEFAULT)
		return;
	nw_type_text(type, text);
	PROMISE(nw_type_parse(text, strlen(text), &again) == 0);
	PROMISE(again.base == type->base && again.bits == type->bits &&
		again.array == type->array);
}

static void check_spec(const struct nw_spec *spec, const char *text)
{
	PROMISE(strcmp(spec->text, text) == 0);
	PROMISE(spec->kind <= NW_SPEC_TRACEPOINT);
	PROMISE(spec->path && spec->provider && spec->name);
	PROMISE(*spec->name || spec->kind == NW_SPEC_UPROBE ||
		spec->kind == NW_SPEC_URETPROBE || spec->kind == NW_SPEC_FUNC);
	PROMISE(spec->has_args || spec->args.count == 0);
	nw_vec_each (&spec->args, arg) {
		PROMISE(memchr(arg->name, '\0', sizeof(arg->name)));
		PROMISE(!*arg->name || is_identifier(arg->name));
		check_type(&arg->type);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct nw_spec spec = {0};
	struct nw_error err = {0};
	int ret = nw_spec_parse(text, &spec, &err);

	if (ret < 0) {
		fuzz_error(ret, &err);
		PROMISE(ret == -EINVAL);
	} else {
		check_spec(&spec, text);
		nw_spec_matches(&spec, "postgresql", "query__start");
	}
	nw_spec_free(&spec);
	free(text);
	return 0;
}
