/* SPDX-License-Identifier: MIT */
/*
 * OTLP's JSON encoding (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"; messages of opentelemetry-proto 1.x): one
 * request a line, as the collector's otlpjsonfile receiver reads it. Numbers of 64 bits are decimal strings, enumerations
 * are numbers, identifiers are hexadecimal.
 */
#ifndef NOPWATCH_SHOW_OTLP_OTLP_H
#define NOPWATCH_SHOW_OTLP_OTLP_H

#include "base/json_writer.h"
#include "show/rows/output.h"

/* Begins a line: {"resourceKIND":[{"resource":...,"scopeKIND":[{"scope":...,"LIST":[ */
struct nw_json nw_otlp_begin(struct nw_output *output, const char *resources,
			     const char *scopes, const char *list);
void nw_otlp_end(struct nw_json *json);
/* A number of 64 bits. */
void nw_otlp_u64(struct nw_json *json, uint64_t value);
void nw_otlp_key_u64(struct nw_json *json, const char *key, uint64_t value);
void nw_otlp_key_i64(struct nw_json *json, const char *key, int64_t value);
/* An attribute: {"key":KEY,"value":{"stringValue":...}} */
void nw_otlp_text(struct nw_json *json, const char *key, const char *text, size_t len);
void nw_otlp_int(struct nw_json *json, const char *key, int64_t value);
/* An attribute with the value of an argument. */
void nw_otlp_value(struct nw_json *json, const char *key, const struct nw_value *value);

/* The metrics of a report, a line. */
void nw_otlp_report(struct nw_output *output, const struct nw_report *report);
/* A slow span as a span of a trace, a line. */
void nw_otlp_span(struct nw_output *output, const struct nw_slow_span *slow);
/* Returns the attributes of the resource, as text of JSON; "[]": nothing is known. */
const char *nw_otlp_resource(const struct nw_output *output);

#endif
