// SPDX-License-Identifier: MIT
/* See terminal.h. */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

/* Switch to the alternate screen (xterm's 1049) and hide the cursor (VT220's 25). */
static const char enter_text[] = "\033[?1049h\033[?25l\033[0m\033[H\033[J";
static const char leave_text[] = "\033[0m\033[H\033[J\033[?25h\033[?1049l";

/* The state that a signal handler needs to restore the terminal. */
static struct {
	volatile sig_atomic_t entered;
	int fd;
	struct termios before;
} saved;

/* ---- whatever happens --------------------------------------------------------------- */

/* The signals that would end the process. Those that the run waits for are blocked while it does. */
static const int fatal[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGILL,    SIGTRAP, SIGABRT,
			    SIGBUS,  SIGFPE,	SIGSEGV, SIGUSR1,   SIGUSR2, SIGALRM,
			    SIGTERM, SIGXCPU,	SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,
			    SIGSYS,  SIGSTKFLT, SIGPWR};

static void give_back(void)
{
	if (!saved.entered)
		return;
	saved.entered = 0;
	ssize_t done = write(saved.fd, leave_text, sizeof(leave_text) - 1);
	(void)done;
	tcsetattr(saved.fd, TCSANOW, &saved.before);
}

static void die(int number)
{
	give_back();
	raise(number); /* the handler is the default again */
}

static void catch_fatal(void)
{
	struct sigaction action = {.sa_handler = die, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < NW_COUNT(fatal); i++) {
		struct sigaction before;
		/* A signal that is ignored (nohup) stays ignored. */
		if (sigaction(fatal[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(fatal[i], &action, NULL);
	}
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		sigaction(i, &action, NULL);
	atexit(give_back);
}

/* ---- is there one? ------------------------------------------------------------------ */

bool nw_terminal_is_there(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO) == 1;
}

bool nw_terminal_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < NW_COUNT(variables); i++) {
		const char *value = getenv(variables[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

struct nw_screen nw_terminal_size(const struct nw_terminal *terminal)
{
	enum {
		MOST = 1000
	};
	struct winsize size;

	/* A serial line has no size, so it gets that of a VT100. */
	if (ioctl(terminal->fd, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
		return (struct nw_screen){80, 24};
	return (struct nw_screen){nw_min64(size.ws_col, MOST), nw_min64(size.ws_row, MOST)};
}

/* ---- entering and leaving ----------------------------------------------------------- */

static void watch(struct nw_terminal *terminal, bool ends)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGWINCH);
	if (ends) {
		sigaddset(&set, SIGINT);
		sigaddset(&set, SIGTERM);
		sigaddset(&set, SIGHUP);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(terminal->signals, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	terminal->signals = fd >= 0 ? fd : terminal->signals;
}

int nw_terminal_open(struct nw_terminal *terminal, bool color)
{
	const int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

	*terminal = (struct nw_terminal){.fd = -1, .signals = -1, .color = color};
	terminal->fd = open("/proc/self/fd/1", flags);
	if (terminal->fd < 0)
		terminal->fd = open("/dev/tty", flags);
	/* Without /dev/tty the standard output has to do, although it may block. */
	if (terminal->fd < 0)
		terminal->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal->fd < 0)
		return -errno;
	watch(terminal, false);
	if (terminal->signals >= 0)
		return 0;
	int code = errno;
	close(terminal->fd);
	terminal->fd = -1;
	return -code;
}

void nw_terminal_take_ends(struct nw_terminal *terminal)
{
	watch(terminal, true);
}

/* Delivers keys as they are typed, without echo. Ctrl-C and Ctrl-Z stay signals, which CMD gets, too. Ctrl-S is a
 * key and does not stop the output. */
static void set_modes(const struct nw_terminal *terminal)
{
	struct termios modes = saved.before;

	modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	modes.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR);
	modes.c_cc[VMIN] = 1;
	modes.c_cc[VTIME] = 0;
	tcsetattr(terminal->fd, TCSANOW, &modes);
}

/* Writes the text. Gives up if the terminal takes nothing for a second. */
static void send_now(int fd, const char *text, size_t len)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	while (len && poll(&ready, 1, 1000) > 0) {
		ssize_t done = write(fd, text, len);
		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return;
		text += done > 0 ? done : 0;
		len -= done > 0 ? (size_t)done : 0;
	}
}

void nw_terminal_enter(struct nw_terminal *terminal)
{
	if (terminal->entered || tcgetattr(terminal->fd, &saved.before) < 0)
		return;
	if (!saved.fd)
		catch_fatal();
	saved.fd = terminal->fd;
	/* A background process is stopped by this, before it draws anything. */
	set_modes(terminal);
	saved.entered = 1;
	terminal->entered = terminal->redraw = true;
	send_now(terminal->fd, enter_text, sizeof(enter_text) - 1);
}

void nw_terminal_leave(struct nw_terminal *terminal)
{
	if (!terminal->entered)
		return;
	terminal->entered = false;
	nw_buf_clear(&terminal->pending);
	nw_canvas_free(&terminal->shown);
	if (!terminal->gone)
		send_now(terminal->fd, leave_text, sizeof(leave_text) - 1);
	tcflush(terminal->fd, TCIFLUSH);
	tcsetattr(terminal->fd, TCSANOW, &saved.before);
	saved.entered = 0;
}

void nw_terminal_close(struct nw_terminal *terminal)
{
	nw_terminal_leave(terminal);
	nw_buf_free(&terminal->pending);
	nw_canvas_free(&terminal->shown);
	if (terminal->signals >= 0)
		close(terminal->signals);
	if (terminal->fd >= 0)
		close(terminal->fd);
	terminal->fd = terminal->signals = -1;
}

/* ---- what a slow terminal has not taken yet ------------------------------------------ */

static void flush(struct nw_terminal *terminal)
{
	struct nw_buf *pending = &terminal->pending;

	while (terminal->sent < pending->len) {
		ssize_t done = write(terminal->fd, pending->data + terminal->sent,
				     pending->len - terminal->sent);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN)
			return;
		terminal->gone |= done < 0;
		terminal->sent = done < 0 ? pending->len : terminal->sent + (size_t)done;
	}
	nw_buf_clear(pending);
	terminal->sent = 0;
}

/* ---- signals ------------------------------------------------------------------------ */

/* Stops the process as SIGTSTP does, with the terminal restored. */
static void suspend(struct nw_terminal *terminal)
{
	bool entered = terminal->entered;
	sigset_t set;

	nw_terminal_leave(terminal);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL); /* the process stops here until SIGCONT */
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (entered)
		nw_terminal_enter(terminal);
}

void nw_terminal_forget(struct nw_terminal *terminal)
{
	nw_canvas_free(&terminal->shown);
	terminal->redraw = true;
}

void nw_terminal_poll(struct nw_terminal *terminal)
{
	struct signalfd_siginfo info;

	if (terminal->entered && terminal->pending.len)
		flush(terminal);
	while (read(terminal->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTSTP) {
			suspend(terminal);
		} else if (info.ssi_signo == SIGCONT && terminal->entered) {
			/* After SIGSTOP the shell has changed the modes. */
			set_modes(terminal);
			nw_terminal_forget(terminal);
		} else if (info.ssi_signo == SIGWINCH) {
			/* Draws everything again even if the size is the same, because the terminal may have cut
			 * lines meanwhile. */
			nw_terminal_forget(terminal);
		} else if (info.ssi_signo != SIGCONT) {
			terminal->ended = true;
		}
	}
}

void nw_terminal_wait(const struct nw_terminal *terminal, int timeout_ms)
{
	short out = terminal->pending.len ? POLLOUT : 0;
	struct pollfd ready[] = {{.fd = terminal->fd, .events = POLLIN | out},
				 {.fd = terminal->signals, .events = POLLIN}};

	poll(ready, NW_COUNT(ready), timeout_ms);
}

/* ---- bytes -------------------------------------------------------------------------- */

size_t nw_terminal_read(struct nw_terminal *terminal, unsigned char *bytes, size_t size)
{
	struct pollfd typed = {.fd = terminal->fd, .events = POLLIN};

	if (!terminal->entered || terminal->gone || poll(&typed, 1, 0) <= 0)
		return 0;
	ssize_t got = read(terminal->fd, bytes, size);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		terminal->gone = true;
	return got > 0 ? (size_t)got : 0;
}

void nw_terminal_show(struct nw_terminal *terminal, const struct nw_canvas *canvas)
{
	if (!terminal->entered || terminal->gone)
		return;
	flush(terminal);
	terminal->redraw = terminal->pending.len > 0;
	if (terminal->redraw)
		return;
	nw_canvas_diff(&terminal->shown, canvas, terminal->color, &terminal->pending);
	size_t count = canvas->columns * canvas->rows;
	/* Without memory the next picture is drawn completely. */
	if (terminal->pending.failed ||
	    nw_canvas_reset(&terminal->shown, canvas->columns, canvas->rows) < 0)
		nw_canvas_free(&terminal->shown);
	else
		memcpy(terminal->shown.glyph, canvas->glyph,
		       count * sizeof(*canvas->glyph));
	flush(terminal);
}
