// SPDX-License-Identifier: MIT
/* kernel_symbols: functions by address, and the wait channel of a stack. */
#include <stdio.h>

#include "find/process/kernel_symbols.h"
#include "unit.h"

static const char text[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 t pipe_read\n"
			   "ffffffff810000f0 t __pfx_pipe_read\n"
			   "ffffffff81000200 T hrtimer_nanosleep\n"
			   "ffffffff81009000 T __sched_text_start\n"
			   "ffffffff81009000 T __schedule\n"
			   "ffffffff81009100 T schedule\n"
			   "ffffffff81009200 t do_nanosleep\n"
			   "ffffffff81009300 T __sched_text_end\n"
			   "ffffffff81009400 D data_is_no_code\n"
			   "ffffffffc0001000 t module_wait\t[module]\n";

static struct nw_kernel_symbols *load(const char *what, struct nw_error *err)
{
	struct nw_kernel_symbols *symbols = NULL;
	FILE *file = fopen("kallsyms", "w");

	fputs(what, file);
	fclose(file);
	nw_kernel_symbols_load("kallsyms", &symbols, err);
	remove("kallsyms");
	return symbols;
}

START_TEST(the_first_function_behind_the_scheduler)
{
	static const uint64_t nap[] = {0xffffffff81000010, 0xffffffff81009050,
				       0xffffffff81009110, 0xffffffff81009280,
				       0xffffffff81000220, 0xffffffff81000020};
	static const uint64_t pipe[] = {0xffffffff81009050, 0xffffffff81009110,
					0xffffffff81000180};
	/* a call that is the last of its function returns to the next one */
	static const uint64_t last[] = {0xffffffff81009050, 0xffffffff81000200};
	static const uint64_t module[] = {0xffffffff81009050, 0xffffffffc0001040};
	static const uint64_t none[] = {0xffffffff81000010, 0xffffffff81009050};
	static const uint64_t below[] = {0xffffffff81009050, 0x1001};
	struct nw_error err;
	struct nw_kernel_symbols *symbols = load(text, &err);
	uint64_t start = 0;

	ck_assert_ptr_nonnull(symbols);
	ck_assert_str_eq(nw_kernel_wait_channel(symbols, nap, 6, &start),
			 "hrtimer_nanosleep");
	ck_assert_uint_eq(start, 0xffffffff81000200);
	ck_assert_str_eq(nw_kernel_wait_channel(symbols, pipe, 3, &start), "pipe_read");
	ck_assert_str_eq(nw_kernel_wait_channel(symbols, last, 2, &start), "pipe_read");
	ck_assert_str_eq(nw_kernel_wait_channel(symbols, module, 2, &start), "module_wait");
	ck_assert_ptr_null(nw_kernel_wait_channel(symbols, none, 2, &start));
	ck_assert_ptr_null(nw_kernel_wait_channel(symbols, none, 0, &start));
	ck_assert_ptr_null(nw_kernel_wait_channel(symbols, below, 2, &start));
	nw_kernel_symbols_free(symbols);
}
END_TEST

/* kernel.kptr_restrict, and kernels that do not say where their scheduler is. */
START_TEST(what_is_hidden_is_not_told)
{
	struct nw_error err;

	ck_assert_ptr_null(
		load("0000000000000000 T _stext\n0000000000000000 T schedule\n", &err));
	ck_assert_ptr_nonnull(strstr(err.what, "does not tell"));
	ck_assert_ptr_null(load("ffffffff81009100 T schedule\n", &err));
	ck_assert_ptr_null(load("", &err));
	ck_assert_ptr_null(load("not what it should be\nffffffff81009100\n", &err));
}
END_TEST

UNIT_MAIN("kernel_symbols", the_first_function_behind_the_scheduler,
	  what_is_hidden_is_not_told)
