/* SPDX-License-Identifier: MIT */
/*
 * The terminal that a live view has for itself, and gives back as it was: also when it is suspended,
 * when it is killed by any signal but SIGKILL and SIGSTOP, and when the program fails.
 */
#ifndef NOPWATCH_CMD_TERMINAL_TERMINAL_H
#define NOPWATCH_CMD_TERMINAL_TERMINAL_H

#include <signal.h>

#include "nopwatch/top.h"
#include "sink.h"

struct nw_terminal {
	int fd; /* of our own, not blocking: a connection that hangs must not hold us up */
	int signals; /* readable when one of those that matter has come */
	bool entered, color;
	bool gone;   /* nobody is there any more */
	bool redraw; /* it does not show what it did */
	bool ended;  /* SIGINT, SIGTERM or SIGHUP came: nw_terminal_take_ends() */
	struct nw_canvas shown; /* what it shows, once pending has been sent */
	struct nw_buf pending;
	size_t sent;
};

/* Can a live view be shown where results go? Both ends are a terminal that can move its cursor. */
bool nw_terminal_is_there(void);
/* Does the locale say UTF-8? By its name: a static program may have no locales. */
bool nw_terminal_is_utf8(void);
/* Nothing is changed yet but which signals are blocked. -errno. */
int nw_terminal_open(struct nw_terminal *terminal, bool color);
void nw_terminal_enter(struct nw_terminal *terminal);
void nw_terminal_leave(struct nw_terminal *terminal);
void nw_terminal_close(struct nw_terminal *terminal);
/* Signals that end the program come here, too, since nobody else waits for them. */
void nw_terminal_take_ends(struct nw_terminal *terminal);
/* What the terminal shows is not known any more: the next picture is drawn from the beginning. */
void nw_terminal_forget(struct nw_terminal *terminal);
/* Do what signals ask for: suspend, go on, another size. */
void nw_terminal_poll(struct nw_terminal *terminal);
/* Wait for keys and signals. */
void nw_terminal_wait(const struct nw_terminal *terminal, int timeout_ms);
/* What was typed: how many bytes; 0: nothing. */
size_t nw_terminal_read(struct nw_terminal *terminal, unsigned char *bytes, size_t size);
struct nw_screen nw_terminal_size(const struct nw_terminal *terminal);
/* Show it; what a slow terminal has not taken yet comes first, and meanwhile pictures are left out. */
void nw_terminal_show(struct nw_terminal *terminal, const struct nw_canvas *canvas);

#endif
