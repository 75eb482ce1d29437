// SPDX-License-Identifier: MIT
/*
 * Runs a command that hostile files might keep, and says what it cost: bounded FILE SECONDS COMMAND...
 * It, and what it started, is killed after so many seconds, and by the kernel after 60 s of processor time each. FILE: the
 * status, then seconds of processor time and MiB that the largest process had, both with its children's.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void hand_on(int number)
{
	if (number == SIGALRM)
		kill(-child, SIGKILL);
	else
		kill(child, number);
}

static void run(char **command)
{
	const struct rlimit most = {60, 60};

	setpgid(0, 0);
	setrlimit(RLIMIT_CPU, &most);
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = hand_on, .sa_flags = SA_RESTART};
	struct rusage used;
	int status;

	if (argc < 4)
		return 2;
	child = fork();
	if (child == 0)
		run(argv + 3);
	setpgid(child, child); /* the child does it, too: the alarm may come before that */
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	alarm((unsigned int)atoi(argv[2]));
	if (child < 0 || wait4(child, &status, 0, &used) < 0)
		return 2;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	FILE *out = fopen(argv[1], "w");
	if (!out)
		return 2;
	fprintf(out, "%d %ld %ld\n", status,
		(long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec), used.ru_maxrss / 1024);
	return fclose(out) ? 2 : status;
}
