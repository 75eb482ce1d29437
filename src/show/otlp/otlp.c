// SPDX-License-Identifier: MIT
/* See otlp.h: lines, attributes, and what all lines of a run have in common. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "otlp.h"

struct otlp {
	struct nw_buf resource; /* an array of attributes */
};

/* ---- values ------------------------------------------------------------------------- */

void nw_otlp_u64(struct nw_json *json, uint64_t value)
{
	char text[24];

	nw_json_text(json, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, value));
}

void nw_otlp_key_u64(struct nw_json *json, const char *key, uint64_t value)
{
	nw_json_key(json, key);
	nw_otlp_u64(json, value);
}

void nw_otlp_key_i64(struct nw_json *json, const char *key, int64_t value)
{
	char text[24];

	nw_json_key(json, key);
	nw_json_text(json, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value));
}

static void attribute(struct nw_json *json, const char *key)
{
	nw_json_open(json, '{');
	nw_json_key_text(json, "key", key);
	nw_json_key(json, "value");
	nw_json_open(json, '{');
}

static void end_attribute(struct nw_json *json)
{
	nw_json_close(json, '}');
	nw_json_close(json, '}');
}

void nw_otlp_text(struct nw_json *json, const char *key, const char *text, size_t len)
{
	attribute(json, key);
	nw_json_key(json, "stringValue");
	nw_json_text(json, text, len);
	end_attribute(json);
}

void nw_otlp_int(struct nw_json *json, const char *key, int64_t value)
{
	attribute(json, key);
	nw_otlp_key_i64(json, "intValue", value);
	end_attribute(json);
}

/* Writes the member of an AnyValue for a number. Integers have 64 bits and a sign; larger ones become text. */
static void number(struct nw_json *json, enum nw_value_kind kind, uint64_t value,
		   double real)
{
	if (kind == NW_VALUE_FLOAT) {
		nw_json_key(json, "doubleValue");
		/* proto3's JSON writes these three as text */
		if (real != real)
			nw_json_text(json, "NaN", 3);
		else if (real - real != 0)
			nw_json_text(json, real > 0 ? "Infinity" : "-Infinity",
				     real > 0 ? 8 : 9);
		else
			nw_json_real(json, real);
	} else if (kind == NW_VALUE_SIGNED) {
		nw_otlp_key_i64(json, "intValue", (int64_t)value);
	} else {
		nw_otlp_key_u64(json, value > INT64_MAX ? "stringValue" : "intValue",
				value);
	}
}

static void elements(struct nw_json *json, const struct nw_value *value)
{
	bool is_real = value->element == NW_VALUE_FLOAT;

	nw_json_key(json, "arrayValue");
	nw_json_open(json, '{');
	nw_json_key(json, "values");
	nw_json_open(json, '[');
	for (uint32_t i = 0; i < value->len; i++) {
		nw_json_open(json, '{');
		number(json, value->element, is_real ? 0 : nw_value_element(value, i),
		       is_real ? nw_value_real(value, i) : 0);
		nw_json_close(json, '}');
	}
	nw_json_close(json, ']');
	nw_json_close(json, '}');
}

void nw_otlp_value(struct nw_json *json, const char *key, const struct nw_value *value)
{
	/* OTLP has no null: an attribute without a value is an empty AnyValue. */
	attribute(json, key);
	switch (value->kind) {
	case NW_VALUE_MISSING:
	case NW_VALUE_NULL:
		break;
	case NW_VALUE_STRING:
		nw_json_key(json, "stringValue");
		nw_json_text(json, value->text, value->len);
		break;
	case NW_VALUE_ARRAY:
		elements(json, value);
		break;
	default:
		number(json, value->kind, value->number, value->real);
	}
	end_attribute(json);
}

/* ---- lines -------------------------------------------------------------------------- */

struct nw_json nw_otlp_begin(struct nw_output *output, const char *resources,
			     const char *scopes, const char *list)
{
	struct nw_json json = {.out = &output->text};
	const char *resource = nw_otlp_resource(output);

	nw_json_open(&json, '{');
	nw_json_key(&json, resources);
	nw_json_open(&json, '[');
	nw_json_open(&json, '{');
	nw_json_key(&json, "resource");
	nw_json_open(&json, '{');
	nw_json_key(&json, "attributes");
	nw_json_raw(&json, resource, strlen(resource));
	nw_json_close(&json, '}');
	nw_json_key(&json, scopes);
	nw_json_open(&json, '[');
	nw_json_open(&json, '{');
	nw_json_key(&json, "scope");
	nw_json_open(&json, '{');
	nw_json_key_text(&json, "name", "nopwatch");
	nw_json_key_text(&json, "version", NOPWATCH_VERSION);
	nw_json_close(&json, '}');
	nw_json_key(&json, list);
	nw_json_open(&json, '[');
	return json;
}

void nw_otlp_end(struct nw_json *json)
{
	nw_json_close(json, ']');
	nw_json_close(json, '}');
	nw_json_close(json, ']');
	nw_json_close(json, '}');
	nw_json_close(json, ']');
	nw_json_close(json, '}');
	nw_buf_addc(json->out, '\n');
}

/* ---- the resource ------------------------------------------------------------------- */

/* Returns the name that OpenTelemetry has for a machine of uname(); its own if it has none. */
static const char *architecture(const char *machine)
{
	static const char *const names[][2] = {{"x86_64", "amd64"}, {"i686", "x86"},
					       {"i586", "x86"},	    {"aarch64", "arm64"},
					       {"armv7l", "arm32"}, {"armv6l", "arm32"},
					       {"ppc64le", "ppc64"}};

	for (size_t i = 0; i < NW_COUNT(names); i++)
		if (strcmp(names[i][0], machine) == 0)
			return names[i][1];
	return machine;
}

static void text(struct nw_json *json, const char *key, const char *value)
{
	if (value && *value)
		nw_otlp_text(json, key, value, strlen(value));
}

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	const struct nw_resource *of = begin->resource;
	struct otlp *o = output->state;
	struct nw_json json = {.out = &o->resource};

	nw_buf_clear(&o->resource);
	nw_json_open(&json, '[');
	if (of) {
		text(&json, "service.name", of->service);
		text(&json, "process.executable.name", of->program);
		if (of->pid)
			nw_otlp_int(&json, "process.pid", of->pid);
		text(&json, "host.name", of->host);
		text(&json, "host.arch", of->machine ? architecture(of->machine) : NULL);
		text(&json, "os.type", "linux");
		text(&json, "os.version", of->kernel);
	}
	nw_json_close(&json, ']');
	output->text.failed |= o->resource.failed;
}

const char *nw_otlp_resource(const struct nw_output *output)
{
	const struct otlp *o = output->state;

	return o->resource.len ? nw_buf_str(&o->resource) : "[]";
}

static void free_state(struct nw_output *output)
{
	nw_buf_free(&((struct otlp *)output->state)->resource);
}

const struct nw_output_format nw_output_otlp = {
	.name = "otlp",
	.shows = {[NW_SHOWS_EVENTS] = true, [NW_SHOWS_REPORTS] = true},
	.cumulative = true,
	.states = true,
	.costs = true,
	.stacks = true,
	.open = true,
	.one_signal = true,
	.state_size = sizeof(struct otlp),
	.free = free_state,
	.begin = begin,
	.report = nw_otlp_report,
	.slow = nw_otlp_span,
};
