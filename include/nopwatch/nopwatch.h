/* SPDX-License-Identifier: MIT */
/*
 * libnopwatch: latencies of running programs by their USDT probes and functions, without BPF. docs/library.md and
 * libnopwatch(3) explain it; this header includes all others.
 *
 * Rules for all headers:
 *  - Times and durations are nanoseconds. Times of events are those of the trace clock.
 *  - Functions that can fail return 0 or a negative errno. If their last parameter is not NULL, it receives the reason,
 *    which nopwatch_error_free() frees; on success it is left as it is.
 *  - All text is UTF-8 or the bytes of a traced program, and is terminated by a zero. Texts that are passed in are
 *    copied. `const char *` that comes out belongs to the object that was asked. `char **` receives a text that the
 *    caller passes to free().
 *  - x_free(NULL) is allowed. Freeing an object ends the life of all texts that it gave out.
 *  - An object is used by one thread at a time; different objects may be used by different threads at once.
 *    nopwatch_request_stop() is the exception: any thread and any signal handler may call it.
 *  - Callbacks run in the thread that called the library. They may use the object that they are given, and
 *    nopwatch_request_stop(); they must not run, change or free the request or the measurement that is running.
 *  - The library never prints and never exits.
 */
#ifndef NOPWATCH_NOPWATCH_H
#define NOPWATCH_NOPWATCH_H

#include "nopwatch/error.h"
#include "nopwatch/list.h"
#include "nopwatch/measure.h"
#include "nopwatch/recording.h"
#include "nopwatch/request.h"
#include "nopwatch/run.h"
#include "nopwatch/why.h"

#endif
