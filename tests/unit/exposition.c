// SPDX-License-Identifier: MIT
/* show: which format a scraper gets that sends such a header. */
#include "show/exposition.h"
#include "unit.h"

START_TEST(the_header_chooses_the_format)
{
	static const struct {
		const char *accept;
		enum nw_exposition what;
	} cases[] = {
		{NULL, NW_EXPOSITION_TEXT},
		{"", NW_EXPOSITION_TEXT},
		{"*/*", NW_EXPOSITION_TEXT},
		{"image/png", NW_EXPOSITION_TEXT},
		/* as Prometheus 2.42 sends it, without and with native histograms */
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 NW_EXPOSITION_OPENMETRICS},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
		 "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 NW_EXPOSITION_PROTOBUF},
		/* as Prometheus 3 sends it */
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		 "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,"
		 "text/plain;version=1.0.0;q=0.5,*/*;q=0.2",
		 NW_EXPOSITION_PROTOBUF},
		{"text/plain, application/openmetrics-text", NW_EXPOSITION_TEXT},
		{"text/plain;q=0.9 , Application/OpenMetrics-Text ; q=0.901",
		 NW_EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;q=0,text/plain;q=0.1", NW_EXPOSITION_TEXT},
		{"application/openmetrics-text;q=1.0;version=1.0.0",
		 NW_EXPOSITION_OPENMETRICS},
		/* protobuf in another encoding is not what we write */
		{"application/vnd.google.protobuf;encoding=text,application/openmetrics-text;q=0.1",
		 NW_EXPOSITION_OPENMETRICS},
		{"application/vnd.google.protobuf", NW_EXPOSITION_TEXT},
		{"text/*;q=0.3,application/openmetrics-text;q=0.2", NW_EXPOSITION_TEXT},
		/* what is wrong in it does not count */
		{"application/openmetrics-text;q=x", NW_EXPOSITION_OPENMETRICS},
		{",,;;=;q=,application/openmetrics-text;;q", NW_EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text-2", NW_EXPOSITION_TEXT},
		{"application/openmetrics-text;q=99999999999999999999,text/plain",
		 NW_EXPOSITION_OPENMETRICS},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_msg(nw_exposition_accept(cases[i].accept) == cases[i].what, "%s",
			      cases[i].accept);
}
END_TEST

UNIT_MAIN("exposition", the_header_chooses_the_format)
