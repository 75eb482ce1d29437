// SPDX-License-Identifier: MIT
/* Shows a result that is longer than the screen in the user's pager, as git does. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sink.h"

struct nw_screen nw_screen_of(FILE *stream)
{
	struct winsize size;

	if (!stream || isatty(fileno(stream)) != 1 ||
	    ioctl(fileno(stream), TIOCGWINSZ, &size) < 0)
		return (struct nw_screen){0};
	return (struct nw_screen){size.ws_col, size.ws_row};
}

/* Returns $PAGER, as users set it for man and git; NULL: none. */
static const char *pager(void)
{
	const char *wanted = getenv("PAGER");

	if (!wanted)
		return "less";
	return *wanted && strcmp(wanted, "cat") != 0 ? wanted : NULL;
}

void nw_sink_page(struct nw_sink *sink)
{
	const char *term = getenv("TERM");

	sink->page = sink->file == stdout && sink->format->for_people && pager() && term &&
		     strcmp(term, "dumb") != 0 && isatty(STDIN_FILENO) == 1 &&
		     nw_screen_of(stdout).rows > 0;
}

static size_t count_rows(const struct nw_buf *text, size_t columns)
{
	size_t rows = 0, line = 0;

	for (size_t i = 0; i < text->len; i++) {
		line = text->data[i] == '\n' ? 0 : line + 1;
		rows += text->data[i] == '\n' || (columns && line > columns);
		line = columns && line > columns ? 1 : line;
	}
	return rows;
}

/* In the child: executes the pager, with signals as a shell would set them. It ends with nopwatch. */
static void become_pager(int input, pid_t parent)
{
	sigset_t none;

	nw_end_with_parent(parent, SIGTERM);
	nw_close_own_files(&input, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	/* The options that git uses: colours, and no clearing of the screen. */
	setenv("LESS", "FRX", 0);
	if (dup2(input, STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", pager(), (char *)NULL);
	_exit(127);
}

/* Writes the text to the pager. It is no error if the user quits before the end. */
static void feed(int output, const struct nw_buf *text)
{
	for (size_t at = 0; at < text->len;) {
		ssize_t done = write(output, text->data + at, text->len - at);
		if (done < 0 && errno != EINTR)
			return;
		at += done > 0 ? (size_t)done : 0;
	}
}

/* Returns false if the pager cannot be started. Nothing is armed any more, so signals may end nopwatch while it waits. */
static bool page(const struct nw_buf *text)
{
	const pid_t parent = getpid();
	int ends[2], status = 0;
	sigset_t end, before;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	fflush(stdout);
	/* The pager handles Ctrl-C, and may stop reading at any time. */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*broken)(int) = signal(SIGPIPE, SIG_IGN);
	sigemptyset(&end);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &end, &before);
	pid_t child = fork();
	if (child == 0)
		become_pager(ends[0], parent);
	close(ends[0]);
	if (child > 0)
		feed(ends[1], text);
	close(ends[1]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGINT, interrupt);
	signal(SIGPIPE, broken);
	return child > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) >= 126);
}

void nw_sink_show(struct nw_sink *sink)
{
	struct nw_screen screen = nw_screen_of(stdout);
	bool has_room = count_rows(&sink->held, screen.columns) < screen.rows;

	sink->page = false;
	if (sink->held.len && (has_room || !page(&sink->held)))
		nw_sink_put(sink, sink->held.data, sink->held.len);
	nw_buf_free(&sink->held);
}
