// SPDX-License-Identifier: MIT
/*
 * calls COUNT CHILDREN: closes COUNT files that are not open, 1000000 and so on, and has so many
 * children, one after the other, which call themselves kid-0, kid-1, ... and end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, children = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < count; i++)
		close(1000000 + i);
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			char name[16];
			snprintf(name, sizeof(name), "kid-%d", i);
			prctl(PR_SET_NAME, name);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
