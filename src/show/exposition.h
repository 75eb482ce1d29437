/* SPDX-License-Identifier: MIT */
/* `serve` answers Prometheus in one of three formats, which the scraper chooses by its header Accept. */
#ifndef NOPWATCH_SHOW_EXPOSITION_H
#define NOPWATCH_SHOW_EXPOSITION_H

#include "show/rows/output.h"

enum nw_exposition {
	NW_EXPOSITION_TEXT, /* Prometheus's text format 0.0.4 */
	NW_EXPOSITION_OPENMETRICS,
	NW_EXPOSITION_PROTOBUF, /* MetricFamily messages of client_model, each behind its length; it has native histograms */
	NW_EXPOSITIONS
};

/*
 * Chooses a format by a header as RFC 9110 has it: "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5". The
 * highest q wins, and of several the first. Text if nothing fits, or for NULL: a scraper that asks for something else gets
 * what all of them read.
 */
enum nw_exposition nw_exposition_accept(const char *accept);
/* The value of the header Content-Type. */
const char *nw_exposition_type(enum nw_exposition what);
/* The format that writes it, which -f does not know. */
const struct nw_output_format *nw_exposition_format(enum nw_exposition what);

#endif
