/* SPDX-License-Identifier: MIT */
/* The parts of JSON lines. */
#ifndef NOPWATCH_SHOW_JSON_JSON_H
#define NOPWATCH_SHOW_JSON_JSON_H

#include "base/json_writer.h"
#include "show/rows/order.h"

/* The number of the keys' meaning (docs/schema.json), in the first line of a run: it changes if a key is removed or renamed. */
#define NW_JSON_SCHEMA 1

/* Write the beginning of a line, {"type":"...", and its end. */
struct nw_json nw_json_start(struct nw_buf *out, const char *type);
void nw_json_finish(struct nw_json *json);

/* Writes a row as keys of an object that is open; buckets: with the buckets of its distributions. */
void nw_json_row(const struct nw_report *report, const struct nw_shown *shown, bool buckets,
		 struct nw_json *json);

/* Writes "by": {"method":"GET","status":"200"} of a group's name in a summary. */
void nw_json_group_parts(const char *group_by, const char *name, struct nw_json *json);
void nw_json_diff(struct nw_output *output, const struct nw_diff_report *report);
void nw_json_site(struct nw_output *output, struct nw_image *image,
		  const struct nw_site *site, const struct nw_types *types);
void nw_json_function(struct nw_output *output, struct nw_image *image, const char *symbol,
		      const char *name, const struct nw_function_details *details);
void nw_json_skipped(struct nw_output *output, const struct nw_image *image,
		     const struct nw_skipped *skipped);
void nw_json_problem(struct nw_output *output, const struct nw_image *image,
		     const struct nw_note_problem *problem);
void nw_json_checked(struct nw_output *output, const struct nw_image *image,
		     const struct nw_checked *checked);
void nw_json_features(struct nw_output *output, const struct nw_features *features);
void nw_json_status(struct nw_output *output, const struct nw_status *status);
void nw_json_user_event(struct nw_output *output, const struct nw_user_event_row *row);
void nw_json_change(struct nw_output *output, const struct nw_change *change);
void nw_json_diagnosis(struct nw_output *output, const struct nw_diagnosis *diagnosis,
		       const char *label, bool color);

void nw_value_json(const struct nw_value *value, struct nw_json *json);

#endif
