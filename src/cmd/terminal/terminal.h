/* SPDX-License-Identifier: MIT */
/*
 * The terminal of a live view, which is restored when the view is suspended, when any signal but SIGKILL and
 * SIGSTOP ends the process, and when the program fails.
 */
#ifndef NOPWATCH_CMD_TERMINAL_TERMINAL_H
#define NOPWATCH_CMD_TERMINAL_TERMINAL_H

#include <signal.h>

#include "show/top/top.h"
#include "sink.h"

struct nw_terminal {
	/* A non-blocking descriptor of our own, so that a slow connection cannot block us. */
	int fd;
	int signals; /* readable when one of the view's signals has come */
	bool entered, color;
	bool gone;   /* the connection to the terminal is closed */
	bool redraw; /* the content of the terminal is unknown */
	bool ended;  /* SIGINT, SIGTERM or SIGHUP has come: nw_terminal_take_ends() */
	struct nw_canvas shown; /* the content of the terminal after `pending` was sent */
	struct nw_buf pending;
	size_t sent;
};

/* Are input and output a terminal that can move its cursor? */
bool nw_terminal_is_there(void);
/* Does the locale's name say UTF-8? A static program may have no locales, so the name has to do. */
bool nw_terminal_is_utf8(void);
/* Opens the terminal. Changes nothing yet but the blocked signals. Returns 0 or -errno. */
int nw_terminal_open(struct nw_terminal *terminal, bool color);
void nw_terminal_enter(struct nw_terminal *terminal);
void nw_terminal_leave(struct nw_terminal *terminal);
void nw_terminal_close(struct nw_terminal *terminal);
/* Handles signals that end the program as well, when nobody else waits for them. */
void nw_terminal_take_ends(struct nw_terminal *terminal);
/* Marks the content of the terminal as unknown, so that the next picture is drawn completely. */
void nw_terminal_forget(struct nw_terminal *terminal);
/* Handles signals: suspend, continue, a new size. */
void nw_terminal_poll(struct nw_terminal *terminal);
/* Waits for keys and signals. */
void nw_terminal_wait(const struct nw_terminal *terminal, int timeout_ms);
/* Reads typed bytes. Returns their number; 0: none. */
size_t nw_terminal_read(struct nw_terminal *terminal, unsigned char *bytes, size_t size);
struct nw_screen nw_terminal_size(const struct nw_terminal *terminal);
/* Shows a picture. Bytes that a slow terminal has not taken yet come first; pictures are skipped meanwhile. */
void nw_terminal_show(struct nw_terminal *terminal, const struct nw_canvas *canvas);

#endif
