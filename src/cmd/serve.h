/* SPDX-License-Identifier: MIT */
/* Serves the numbers of a run over HTTP while stat measures. */
#ifndef NOPWATCH_CMD_SERVE_H
#define NOPWATCH_CMD_SERVE_H

#include "cmd.h"
#include "run/consumers/reports.h"

struct nw_server;

/* Listens; reports: what is served, as soon as nw_server_tick() is called. */
int nw_server_open(const struct nw_args *args, struct nw_reports *reports,
		   struct nw_server **out, struct nw_error *err);
/* Returns the descriptor for struct nw_request. */
const int *nw_server_wake_fd(const struct nw_server *server);
/* Says where it listens, once all probes are armed. */
void nw_server_armed(const struct nw_server *server);
/* Answers who asks, without waiting. */
void nw_server_tick(struct nw_server *server);
/* After the end of a recording: answers until a signal ends it. */
void nw_server_stay(struct nw_server *server);
void nw_server_close(struct nw_server *server);

#endif
