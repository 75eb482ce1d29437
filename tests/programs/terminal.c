// SPDX-License-Identifier: MIT
/*
 * terminal KEYS COMMAND...: runs a command in a terminal of 100 x 30, types the keys, one every 300 ms ('~' is a pause of 2 s, '^' is
 * Enter, '!' is Ctrl-C), and prints everything that the command writes. Ends with its status.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	KEY_MS = 300,
	PAUSE_MS = 2000
};

static void run(int terminal, char **command)
{
	const int side = open(ptsname(terminal), O_RDWR);

	setsid();
	if (side < 0 || ioctl(side, TIOCSCTTY, 0) < 0)
		_exit(126);
	for (int fd = 0; fd < 3; fd++)
		dup2(side, fd);
	close(terminal);
	execvp(command[0], command);
	_exit(127);
}

/* Prints what comes until the time is over. Returns 0 if nothing will come any more. */
static int show(int terminal, int ms)
{
	char text[4096];

	while (ms > 0) {
		struct pollfd wait = {.fd = terminal, .events = POLLIN};
		const int ready = poll(&wait, 1, 50);
		ms -= 50;
		if (ready <= 0)
			continue;
		const ssize_t got = read(terminal, text, sizeof(text));
		if (got <= 0)
			return 0;
		fwrite(text, 1, (size_t)got, stdout);
	}
	return 1;
}

int main(int argc, char **argv)
{
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	const struct winsize size = {.ws_row = 30, .ws_col = 100};
	int status, goes_on = 1;

	if (argc < 3 || terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0 ||
	    ioctl(terminal, TIOCSWINSZ, &size) < 0) {
		perror("terminal");
		return 1;
	}
	const pid_t child = fork();
	if (child == 0)
		run(terminal, argv + 2);
	for (const char *key = argv[1]; *key && goes_on; key++) {
		const char typed = *key == '^' ? '\r' : *key == '!' ? 3 : *key;
		if (*key != '~' && write(terminal, &typed, 1) != 1)
			break;
		goes_on = show(terminal, *key == '~' ? PAUSE_MS : KEY_MS);
	}
	while (goes_on)
		goes_on = show(terminal, PAUSE_MS);
	fflush(stdout);
	if (waitpid(child, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
