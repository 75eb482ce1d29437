// SPDX-License-Identifier: MIT
/* serve: stat, whose numbers Prometheus gets over HTTP while it measures. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "http.h"
#include "serve.h"
#include "stat.h"

enum {
	STAY_MS = 100 /* how soon a signal is noticed after the end of a recording */
};

struct nw_server {
	const struct nw_args *args;
	struct nw_reports *reports;
	struct nw_http *http;
};

static int answer(void *arg, enum nw_exposition what, struct nw_buf *out)
{
	struct nw_server *server = arg;

	return nw_reports_render(server->reports, nw_exposition_format(what),
				 what == NW_EXPOSITION_TEXT, out, NULL);
}

int nw_server_open(const struct nw_args *args, struct nw_reports *reports,
		   struct nw_server **out, struct nw_error *err)
{
	struct nw_server *server = calloc(1, sizeof(*server));

	if (!server)
		return nw_no_memory(err);
	server->args = args;
	server->reports = reports;
	int ret = nw_http_open(args->listen ? args->listen : "127.0.0.1:9876",
			       args->hosts.item, args->hosts.count, answer, server,
			       &server->http, err);
	if (ret < 0)
		free(server);
	else
		*out = server;
	return ret;
}

const int *nw_server_wake_fd(const struct nw_server *server)
{
	return nw_http_fd(server->http);
}

void nw_server_armed(const struct nw_server *server)
{
	if (server->args->quiet)
		return;
	nw_note("serving %s", nw_http_url(server->http));
	if (nw_http_is_public(server->http))
		nw_note("everybody who reaches this address can read the metrics, and nothing encrypts them: --listen 127.0.0.1:9876 keeps them on this machine");
}

void nw_server_tick(struct nw_server *server)
{
	nw_http_run(server->http);
}

void nw_server_stay(struct nw_server *server)
{
	struct pollfd wait = {.fd = *nw_http_fd(server->http), .events = POLLIN};
	sigset_t ends;

	/* A recording's run leaves the signals as they were. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	nw_http_forget(server->http);
	while (!nw_is_end_pending()) {
		poll(&wait, 1, STAY_MS);
		nw_http_run(server->http);
	}
}

void nw_server_close(struct nw_server *server)
{
	if (!server)
		return;
	nw_http_close(server->http);
	free(server);
}

static int run(const struct nw_args *args)
{
	return nw_stat_run(args, &nw_cmd_serve, NULL);
}

const struct nw_command nw_cmd_serve = {
	.name = "serve",
	.summary = "stat, for Prometheus to ask over HTTP",
	.usage = "[--listen ADDRESS:PORT] SPEC... [-p PID | -x FILE] [-- CMD]",
	.examples =
		"  nopwatch serve -p 4711 'postgresql:query__*'\n"
		"  nopwatch serve --listen 127.0.0.1:9100 --buckets 1ms..10s 'usdt:./server:app:*'\n"
		"  nopwatch serve --from trace.dat\n",
	.details =
		"Measures as stat does, and answers GET /metrics with everything until now. A scraper\n"
		"gets what it asks for: Prometheus's text, OpenMetrics, or protobuf, which has native\n"
		"histograms. It listens at 127.0.0.1:9876 unless --listen says otherwise, without\n"
		"encryption and passwords. At most 16 clients are served at a time, each for 30 s.\n"
		"Whoever asks by a name, and not by an address or localhost, is only answered if --host\n"
		"has the name: otherwise pages in a browser could read the metrics.\n"
		"\n"
		"The metrics have the names of probes, spans and arguments and the groups of --by, but\n"
		"no command lines, and strings only as groups. SIGTERM and SIGINT end it, remove the\n"
		"probes and print the report of stat. With --from FILE the file is read, its report\n"
		"printed, and its numbers served until a signal comes.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_STACKS NW_OPTIONS_STAT NW_OPTIONS_PRINTED "at listen host ",
	.run = run,
};
