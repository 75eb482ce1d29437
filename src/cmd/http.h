/* SPDX-License-Identifier: MIT */
/*
 * Answers GET /metrics over HTTP, through libmicrohttpd, without a thread: everything happens in nw_http_run(), which
 * never waits. Limits: 16 connections, 16 KiB for a request, 10 s without progress, 30 s for a connection at all. An answer is
 * made anew only if that takes at most a twentieth of the time, whoever asks how often.
 */
#ifndef NOPWATCH_CMD_HTTP_H
#define NOPWATCH_CMD_HTTP_H

#include "base/base.h"
#include "show/exposition.h"

/* Appends an answer. Returns 0 or < 0: it cannot be made now. */
typedef int nw_http_answer(void *arg, enum nw_exposition what, struct nw_buf *out);

struct nw_http;
/* Listens at "127.0.0.1:9876" or "[::1]:9876" (port 0: any that is free). A wrong address is a usage error. names: by which it may be asked
 * besides localhost and addresses; they have to outlive it. */
int nw_http_open(const char *address, const char *const *names, size_t name_count,
		 nw_http_answer *answer, void *arg, struct nw_http **out,
		 struct nw_error *err);
/* "http://127.0.0.1:9876/metrics" */
const char *nw_http_url(const struct nw_http *http);
/* Can others than this machine reach it? */
bool nw_http_is_public(const struct nw_http *http);
/* Returns a descriptor that is readable when there is something to do. */
const int *nw_http_fd(const struct nw_http *http);
/* Does what is to be done, without waiting. To be called also every now and then, since time passes for slow clients. */
void nw_http_run(struct nw_http *http);
/* The answers that were made are old: the next request gets new ones. */
void nw_http_forget(struct nw_http *http);
void nw_http_close(struct nw_http *http);

#endif
