// SPDX-License-Identifier: MIT
/* See http.h. */
#include "http.h"

#include <errno.h>

#ifdef NW_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/library.h"

enum {
	MOST_CONNECTIONS = 16,
	REQUEST_BYTES = 16 << 10,
	IDLE_SECONDS = 10,
	MOST_STEPS = 64 /* of nw_http_run() */
};
#define DEADLINE_NS  (UINT64_C(30) * 1000000000)
#define LEAST_AGE_NS (UINT64_C(20) * 1000000)

/* ---- the library -------------------------------------------------------------------- */

#define FUNCTIONS(each)                                                                  \
	each(MHD_start_daemon) each(MHD_stop_daemon) each(MHD_run) each(MHD_get_timeout) \
		each(MHD_get_daemon_info) each(MHD_get_connection_info)                  \
			each(MHD_lookup_connection_value)                                \
				each(MHD_create_response_from_buffer)                    \
					each(MHD_add_response_header)                    \
						each(MHD_queue_response)                 \
							each(MHD_destroy_response)

struct library {
#define POINTER(name) __typeof__(&(name)) name;
	FUNCTIONS(POINTER)
};

static bool open_library(struct library *out)
{
#ifdef NW_LINKED_MICROHTTPD
#define ADDRESS(name) (void (*)(void))(name)
#else
#define ADDRESS(name) NULL
#endif
#define ROW(name) {#name, offsetof(struct library, name), ADDRESS(name)},
	static const struct nw_library_function functions[] = {FUNCTIONS(ROW)};

	return nw_library_open(NW_MICROHTTPD_LIBRARY, functions, NW_COUNT(functions), out);
}

/* ---- the server --------------------------------------------------------------------- */

struct connection {
	int fd; /* of an open connection; -1: the place is free */
	uint64_t since;
};

/* An answer that was made; the library keeps it as long as somebody still reads it. */
struct made {
	struct MHD_Response *response; /* NULL: none */
	uint64_t at, took;
};

struct nw_http {
	struct library lib;
	nw_http_answer *answer;
	void *arg;
	const char *const *names; /* of the caller */
	size_t name_count;
	int listener, epoll;
	struct MHD_Daemon *daemon;
	char url[96];
	bool is_public;
	struct made made[NW_EXPOSITIONS];
	struct connection connections[MOST_CONNECTIONS];
};

/* Makes a response of bytes that it owns from then on. NULL: no memory. */
static struct MHD_Response *response_of(const struct nw_http *http, char *bytes, size_t len,
					const char *type)
{
	struct MHD_Response *response = http->lib.MHD_create_response_from_buffer(
		len, bytes, MHD_RESPMEM_MUST_FREE);

	if (!response) {
		free(bytes);
		return NULL;
	}
	http->lib.MHD_add_response_header(response, "Content-Type", type);
	http->lib.MHD_add_response_header(response, "Connection", "close");
	http->lib.MHD_add_response_header(response, "Cache-Control", "no-store");
	/* A browser must not take it for anything else, nor show it to pages of others. */
	http->lib.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	http->lib.MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
					  "same-origin");
	return response;
}

static void forget(struct nw_http *http, struct made *made)
{
	if (made->response)
		http->lib.MHD_destroy_response(made->response);
	*made = (struct made){0};
}

/* Returns the answer in a format; an old one if it was made a moment ago. NULL: it cannot be made. */
static struct MHD_Response *metrics(struct nw_http *http, enum nw_exposition what)
{
	struct made *made = &http->made[what];
	uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
	struct nw_buf text = {0};

	if (made->response && now - made->at < nw_max64(LEAST_AGE_NS, 20 * made->took))
		return made->response;
	forget(http, made);
	if (http->answer(http->arg, what, &text) < 0 || text.failed) {
		nw_buf_free(&text);
		return NULL;
	}
	made->at = nw_clock_ns(CLOCK_MONOTONIC);
	made->took = made->at - now;
	size_t len = text.len;
	char *bytes = nw_buf_take(&text);
	made->response = bytes ? response_of(http, bytes, len, nw_exposition_type(what))
			       : NULL;
	return made->response;
}

/* Answers with a sentence. */
static enum MHD_Result say(const struct nw_http *http, struct MHD_Connection *connection,
			   unsigned int status, const char *sentence)
{
	char *copy = strdup(sentence);
	struct MHD_Response *response = copy ? response_of(http, copy, strlen(copy),
							   "text/plain; charset=utf-8")
					     : NULL;
	enum MHD_Result result = MHD_NO;

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		http->lib.MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (response) {
		result = http->lib.MHD_queue_response(connection, status, response);
		http->lib.MHD_destroy_response(response);
	}
	return result;
}

/*
 * May the server be asked by this Host (RFC 9110, section 7.2)? A page in a browser reaches this machine's addresses by a name of its own
 * that it lets point here (DNS rebinding), and could read the answer as its own. So a name has to be localhost or one that the
 * user has given; an address is no name. Clients of HTTP/1.0, which no browser is, send none.
 */
static bool is_our_name(const struct nw_http *http, const char *host)
{
	char name[256], *end = name;
	struct in6_addr address;

	if (!host)
		return true;
	const bool v6 = *host == '[';
	snprintf(name, sizeof(name), "%.255s", v6 ? host + 1 : host);
	end += strcspn(name, v6 ? "]" : ":");
	const bool whole = !v6 || *end;
	*end = '\0';
	if (whole && inet_pton(v6 ? AF_INET6 : AF_INET, name, &address) == 1)
		return true;
	if (end > name && end[-1] == '.')
		end[-1] = '\0';
	if (strcasecmp(name, "localhost") == 0)
		return true;
	for (size_t i = 0; i < http->name_count; i++)
		if (strcasecmp(name, http->names[i]) == 0)
			return true;
	return false;
}

/* MHD_NO closes the connection. */
static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_len, void **state)
{
	struct nw_http *http = arg;

	(void)version;
	(void)body;
	(void)body_len;
	(void)state;
	/* A body is not waited for: the answer is queued at once, and the connection closed behind it. */
	if (!is_our_name(http, http->lib.MHD_lookup_connection_value(
				       connection, MHD_HEADER_KIND, "Host")))
		return say(
			http, connection, MHD_HTTP_FORBIDDEN,
			"not by this name: ask by an address, or start nopwatch serve with --host NAME\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return say(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			   "only GET and HEAD\n");
	if (strcmp(url, "/") == 0)
		return say(http, connection, MHD_HTTP_OK,
			   "nopwatch: the metrics are at /metrics\n");
	if (strcmp(url, "/metrics") != 0)
		return say(http, connection, MHD_HTTP_NOT_FOUND,
			   "the metrics are at /metrics\n");
	const char *accept = http->lib.MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, "Accept");
	struct MHD_Response *response = metrics(http, nw_exposition_accept(accept));
	if (!response)
		return say(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "the metrics cannot be made now\n");
	return http->lib.MHD_queue_response(connection, MHD_HTTP_OK, response);
}

/* If all places are taken, ends the connection that has its place for the longest time: whoever opens many and says nothing
 * does not keep others out, who are answered at once. */
static void end_oldest(const struct nw_http *http)
{
	const struct connection *oldest = http->connections;

	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		if (http->connections[i].fd < 0)
			return;
		if (http->connections[i].since < oldest->since)
			oldest = &http->connections[i];
	}
	shutdown(oldest->fd, SHUT_RDWR);
}

/* Keeps the time at which each connection began. */
static void notice(void *arg, struct MHD_Connection *connection, void **state,
		   enum MHD_ConnectionNotificationCode code)
{
	struct nw_http *http = arg;
	const union MHD_ConnectionInfo *info = http->lib.MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *place = *state;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (place)
			place->fd = -1;
		return;
	}
	for (size_t i = 0; info && i < MOST_CONNECTIONS; i++) {
		if (http->connections[i].fd >= 0)
			continue;
		http->connections[i] = (struct connection){info->connect_fd,
							   nw_clock_ns(CLOCK_MONOTONIC)};
		*state = &http->connections[i];
		end_oldest(http);
		return;
	}
}

/* Ends connections that take too long; the library then sees that they have ended. */
static void end_slow(struct nw_http *http)
{
	uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		if (http->connections[i].fd >= 0 &&
		    now - http->connections[i].since > DEADLINE_NS)
			shutdown(http->connections[i].fd, SHUT_RDWR);
}

/* ---- the address -------------------------------------------------------------------- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int bad_address(const char *text, struct nw_error *err)
{
	nw_fail_usage(err, "--listen '%s': not an address and a port", text);
	nw_error_hint(err, "write --listen 127.0.0.1:9876, or --listen '[::1]:9876'");
	return -EINVAL;
}

/* Parses "127.0.0.1:9876" or "[::1]:9876". Returns the length of the address; 0: it is none. */
static socklen_t parse_address(const char *text, union address *out)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;

	memset(out, 0, sizeof(*out));
	if (!len || len >= sizeof(host) || nw_parse_u64(colon + 1, &port) < 0 ||
	    port > 65535)
		return 0;
	memcpy(host, text, len);
	host[len] = '\0';
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		out->v6.sin6_family = AF_INET6;
		out->v6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host + 1, &out->v6.sin6_addr) == 1
			       ? sizeof(out->v6)
			       : 0;
	}
	out->v4.sin_family = AF_INET;
	out->v4.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &out->v4.sin_addr) == 1 ? sizeof(out->v4) : 0;
}

/* Writes the URL of the address that the listener has got. */
static void name_address(struct nw_http *http)
{
	union address got = {.any = {0}};
	socklen_t len = sizeof(got);
	char host[INET6_ADDRSTRLEN] = "?";

	if (getsockname(http->listener, &got.any, &len) < 0)
		return;
	bool v6 = got.any.sa_family == AF_INET6;
	inet_ntop(got.any.sa_family,
		  v6 ? (const void *)&got.v6.sin6_addr : (const void *)&got.v4.sin_addr,
		  host, sizeof(host));
	http->is_public = v6 ? !IN6_IS_ADDR_LOOPBACK(&got.v6.sin6_addr)
			     : ntohl(got.v4.sin_addr.s_addr) >> 24 != 127;
	snprintf(http->url, sizeof(http->url),
		 v6 ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", host,
		 ntohs(v6 ? got.v6.sin6_port : got.v4.sin_port));
}

static int listen_at(struct nw_http *http, const char *text, struct nw_error *err)
{
	union address address;
	socklen_t len = parse_address(text, &address);
	int on = 1;

	if (!len)
		return bad_address(text, err);
	http->listener = socket(address.any.sa_family,
				SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* so that serve can begin again while old connections still close */
	if (http->listener < 0 ||
	    setsockopt(http->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(http->listener, &address.any, len) < 0 ||
	    listen(http->listener, MOST_CONNECTIONS) < 0) {
		int code = errno;
		nw_fail(err, code, "cannot listen on %s: %s", text, nw_strerror(code));
		if (code == EADDRINUSE)
			nw_error_hint(
				err,
				"another program listens there; choose another port with --listen");
		return -code;
	}
	name_address(http);
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int start(struct nw_http *http, struct nw_error *err)
{
	http->daemon = http->lib.MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET,
		http->listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MOST_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, notice, http, MHD_OPTION_END);
	const union MHD_DaemonInfo *info = http->daemon ? http->lib.MHD_get_daemon_info(
								  http->daemon,
								  MHD_DAEMON_INFO_EPOLL_FD)
							: NULL;
	if (!info)
		return nw_fail(err, EIO, "libmicrohttpd cannot serve %s", http->url);
	http->epoll = info->epoll_fd;
	return 0;
}

int nw_http_open(const char *address, const char *const *names, size_t name_count,
		 nw_http_answer *answer, void *arg, struct nw_http **out,
		 struct nw_error *err)
{
	struct nw_http *http = calloc(1, sizeof(*http));

	if (!http)
		return nw_no_memory(err);
	http->names = names;
	http->name_count = name_count;
	http->answer = answer;
	http->arg = arg;
	http->listener = http->epoll = -1;
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		http->connections[i].fd = -1;
	int ret = listen_at(http, address, err);
	if (ret == 0 && !open_library(&http->lib)) {
		ret = nw_fail(err, ENOPKG,
			      "serve needs libmicrohttpd, which is not installed");
		nw_error_hint(
			err,
			"install it (Debian: libmicrohttpd12), or write a file: nopwatch stat -f openmetrics -i 15 -o FILE.prom");
	}
	if (ret == 0)
		ret = start(http, err);
	if (ret < 0)
		nw_http_close(http);
	else
		*out = http;
	return ret;
}

const char *nw_http_url(const struct nw_http *http)
{
	return http->url;
}

bool nw_http_is_public(const struct nw_http *http)
{
	return http->is_public;
}

const int *nw_http_fd(const struct nw_http *http)
{
	return &http->epoll;
}

void nw_http_run(struct nw_http *http)
{
	MHD_UNSIGNED_LONG_LONG wait = 0;

	end_slow(http);
	/* Connections of which the library knows that they are ready are in no descriptor. */
	for (int i = 0; i < MOST_STEPS; i++) {
		http->lib.MHD_run(http->daemon);
		if (http->lib.MHD_get_timeout(http->daemon, &wait) != MHD_YES || wait)
			return;
	}
}

void nw_http_forget(struct nw_http *http)
{
	for (size_t i = 0; i < NW_COUNT(http->made); i++)
		forget(http, &http->made[i]);
}

void nw_http_close(struct nw_http *http)
{
	if (http->daemon) /* closes the listener, too */
		http->lib.MHD_stop_daemon(http->daemon);
	else if (http->listener >= 0)
		close(http->listener);
	nw_http_forget(http);
	free(http);
}

#else /* without libmicrohttpd */

int nw_http_open(const char *address, const char *const *names, size_t name_count,
		 nw_http_answer *answer, void *arg, struct nw_http **out,
		 struct nw_error *err)
{
	(void)address;
	(void)names;
	(void)name_count;
	(void)answer;
	(void)arg;
	(void)out;
	nw_fail(err, ENOPKG,
		"this nopwatch was built without libmicrohttpd, which serve needs");
	nw_error_hint(
		err,
		"write a file for node_exporter: nopwatch stat -f openmetrics -i 15 -o FILE.prom");
	return -ENOPKG;
}

const char *nw_http_url(const struct nw_http *http)
{
	(void)http;
	return "";
}

bool nw_http_is_public(const struct nw_http *http)
{
	(void)http;
	return false;
}

const int *nw_http_fd(const struct nw_http *http)
{
	(void)http;
	return NULL;
}

void nw_http_run(struct nw_http *http)
{
	(void)http;
}

void nw_http_forget(struct nw_http *http)
{
	(void)http;
}

void nw_http_close(struct nw_http *http)
{
	(void)http;
}
#endif
