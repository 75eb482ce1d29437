// SPDX-License-Identifier: MIT
/* stream: event formats as a recording may hold them. */
#include <errno.h>

#include "page_builder.h"

/* What stands behind the fields of the format in the making. */
static const char *print;

static int read_format(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	int ret = fake_read_format(arg, system, name, out);
	const char *end = strstr(nw_buf_str(out), "\nprint fmt:");

	if (ret == 0 && end)
		out->len = (size_t)(end - out->data) + 1;
	nw_buf_adds(out, print);
	return ret;
}

static int load(struct fake *fake, struct nw_formats *formats)
{
	struct nw_page_layout layout = page_layout(256, 8);
	struct nw_buf header = {0};
	struct nw_error err = {0};

	page_header_text(&layout, &header);
	int ret = nw_formats_load(&fake->plan, false, nw_buf_str(&header), header.len,
				  read_format, fake, formats, &err);
	nw_buf_free(&header);
	return ret;
}

START_TEST(how_an_event_is_printed_does_not_matter)
{
	static const char *const texts[] = {
		"",
		"print fmt: \"%d\", (REC->a0",
		"print fmt: \"",
		"print fmt: 1 ? 2",
		"print fmt: __print_flags(",
		"print fmt: \"%s\", __get_str(nothing)\n",
	};
	struct fake fake;

	fake_open_two(&fake, 256);
	for (size_t i = 0; i < NW_COUNT(texts); i++) {
		struct nw_formats formats = {0};
		print = texts[i];
		ck_assert_int_eq(load(&fake, &formats), 0);
		ck_assert_uint_eq(formats.events.count, 1);
		ck_assert_uint_eq(formats.events.item[0]->fields.count, 1);
		ck_assert_uint_eq(formats.events.item[0]->fields.item[0].offset, 16);
		ck_assert_uint_eq(formats.events.item[0]->fields.item[0].size, 8);
		nw_formats_free(&formats);
	}
	fake_close(&fake);
}
END_TEST

UNIT_MAIN("format", how_an_event_is_printed_does_not_matter)
