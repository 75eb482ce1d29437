// SPDX-License-Identifier: MIT
/* One event a line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "nopwatch/output.h"

/* ---- values ------------------------------------------------------------------------- */

static void print_number(enum nw_value_kind kind, uint64_t number, struct nw_buf *out)
{
	if (kind == NW_VALUE_SIGNED)
		nw_buf_printf(out, "%" PRId64, (int64_t)number);
	else if (kind == NW_VALUE_HEX)
		nw_buf_printf(out, "0x%" PRIx64, number);
	else
		nw_buf_printf(out, "%" PRIu64, number);
}

static void print_real(double real, unsigned int bits, struct nw_buf *out)
{
	nw_buf_printf(out, "%.*g", bits == 32 ? 9 : 17, real);
}

static void print_array(const struct nw_value *value, struct nw_buf *out)
{
	nw_buf_addc(out, '{');
	for (uint32_t i = 0; i < value->len; i++) {
		nw_buf_adds(out, i ? "," : "");
		if (value->element == NW_VALUE_FLOAT)
			print_real(nw_value_real(value, i), value->bits, out);
		else
			print_number(value->element, nw_value_element(value, i), out);
	}
	nw_buf_addc(out, '}');
}

void nw_value_print(const struct nw_value *value, struct nw_buf *out)
{
	switch (value->kind) {
	case NW_VALUE_MISSING:
		nw_buf_adds(out,
			    strcmp(value->text, "(fault)") == 0 ? "(fault)" : "(none)");
		break;
	case NW_VALUE_STRING:
		nw_buf_addc(out, '"');
		nw_buf_add_escaped(out, value->text, value->len);
		nw_buf_adds(out, value->cut ? "\"..." : "\"");
		break;
	case NW_VALUE_NULL:
		nw_buf_adds(out, "NULL");
		break;
	case NW_VALUE_ARRAY:
		print_array(value, out);
		break;
	case NW_VALUE_FLOAT:
		print_real(value->real, value->bits, out);
		break;
	default:
		print_number(value->kind, value->number, out);
	}
	if (value->untrusted) /* could be left over from an earlier event */
		nw_buf_addc(out, '?');
}

static void json_element(const struct nw_value *value, uint32_t i, struct nw_json *json)
{
	uint64_t number = nw_value_element(value, i);

	if (value->element == NW_VALUE_FLOAT)
		nw_json_real(json, nw_value_real(value, i));
	else if (value->element == NW_VALUE_SIGNED)
		nw_json_i64(json, (int64_t)number);
	else
		nw_json_u64(json, number);
}

void nw_value_json(const struct nw_value *value, struct nw_json *json)
{
	switch (value->kind) {
	case NW_VALUE_MISSING:
	case NW_VALUE_NULL:
		nw_json_null(json);
		break;
	case NW_VALUE_STRING:
		nw_json_text(json, value->text, value->len);
		break;
	case NW_VALUE_ARRAY:
		nw_json_open(json, '[');
		for (uint32_t i = 0; i < value->len; i++)
			json_element(value, i, json);
		nw_json_close(json, ']');
		break;
	case NW_VALUE_FLOAT:
		nw_json_real(json, value->real);
		break;
	case NW_VALUE_SIGNED:
		nw_json_i64(json, (int64_t)value->number);
		break;
	default:
		nw_json_u64(json, value->number);
	}
}

/* ---- text --------------------------------------------------------------------------- */

/* Widths of the columns; long names push the rest of their line. */
#define LINE_FORMAT "%-15s %3s %-23s "

void nw_event_header(bool bold, struct nw_buf *out)
{
	nw_buf_printf(out, "%s" LINE_FORMAT "%s%s\n", bold ? "\033[1m" : "", "TIME", "CPU",
		      "COMM-TID", "PROBE", bold ? "\033[0m" : "");
}

static void time_text(const struct nw_event_line *line, char out[32])
{
	uint64_t time = line->hit->time;

	if (line->wall && line->wall_ns) {
		uint64_t wall = time + (uint64_t)line->wall_ns;
		time_t seconds = (time_t)(wall / 1000000000);
		struct tm local;
		localtime_r(&seconds, &local);
		strftime(out, 16, "%H:%M:%S", &local);
		snprintf(out + 8, 24, ".%06u", (unsigned int)(wall % 1000000000 / 1000));
		return;
	}
	uint64_t since = time > line->start ? time - line->start : 0;
	snprintf(out, 32, "%8" PRIu64 ".%06u", since / 1000000000,
		 (unsigned int)(since % 1000000000 / 1000));
}

static void print_text(const struct nw_event_line *line, struct nw_buf *out)
{
	char time[32], cpu[16];
	struct nw_buf who = {0};

	time_text(line, time);
	snprintf(cpu, sizeof(cpu), "%u", line->hit->cpu);
	nw_buf_add_escaped(&who, line->task->comm, strlen(line->task->comm));
	nw_buf_printf(&who, "-%d", line->hit->tid);
	nw_buf_printf(out, LINE_FORMAT, time, cpu, nw_buf_str(&who));
	nw_buf_free(&who);
	nw_buf_add_escaped(out, line->probe->label, strlen(line->probe->label));
	for (size_t i = 0; i < line->hit->value_count; i++) {
		char name[32];
		nw_arg_name(line->probe, i, name);
		nw_buf_addc(out, ' ');
		nw_buf_add_escaped(out, name, strlen(name));
		nw_buf_addc(out, '=');
		nw_value_print(&line->hit->values[i], out);
	}
	nw_buf_addc(out, '\n');
}

/* ---- JSON --------------------------------------------------------------------------- */

/* What values alone do not tell: lists of arguments' names, left out where they are empty. */
static bool is_untrusted(const struct nw_value *value)
{
	return value->untrusted;
}

static bool is_cut(const struct nw_value *value)
{
	return value->kind == NW_VALUE_STRING && value->cut;
}

static bool is_fault(const struct nw_value *value)
{
	return value->kind == NW_VALUE_MISSING && strcmp(value->text, "(fault)") == 0;
}

static const struct {
	const char *key;
	bool (*has)(const struct nw_value *value);
} marks[] = {{"untrusted", is_untrusted}, {"cut", is_cut}, {"fault", is_fault}};

static void print_marks(const struct nw_event_line *line, struct nw_json *json)
{
	const struct nw_hit *hit = line->hit;

	for (size_t mark = 0; mark < NW_COUNT(marks); mark++) {
		bool any = false;
		for (size_t i = 0; i < hit->value_count; i++) {
			char name[32];
			if (!marks[mark].has(&hit->values[i]))
				continue;
			if (!any) {
				nw_json_key(json, marks[mark].key);
				nw_json_open(json, '[');
			}
			any = true;
			nw_arg_name(line->probe, i, name);
			nw_json_text(json, name, strlen(name));
		}
		if (any)
			nw_json_close(json, ']');
	}
}

static void print_json(const struct nw_event_line *line, struct nw_buf *out)
{
	const struct nw_hit *hit = line->hit;
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", "event");
	nw_json_key_u64(&json, "time_ns", hit->time);
	if (line->wall && line->wall_ns)
		nw_json_key_u64(&json, "wall_ns", hit->time + (uint64_t)line->wall_ns);
	nw_json_key_u64(&json, "cpu", hit->cpu);
	nw_json_key(&json, "pid");
	nw_json_i64(&json, line->task->pid);
	nw_json_key(&json, "tid");
	nw_json_i64(&json, hit->tid);
	nw_json_key_text(&json, "comm", line->task->comm);
	nw_json_key_text(&json, "probe", line->probe->label);
	nw_json_key(&json, "args");
	nw_json_open(&json, '{');
	for (size_t i = 0; i < hit->value_count; i++) {
		char name[32];
		nw_arg_name(line->probe, i, name);
		nw_json_key(&json, name);
		nw_value_json(&hit->values[i], &json);
	}
	nw_json_close(&json, '}');
	print_marks(line, &json);
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
}

void nw_event_print(const struct nw_event_line *line, enum nw_form form, struct nw_buf *out)
{
	if (form == NW_FORM_JSON)
		print_json(line, out);
	else
		print_text(line, out);
}
