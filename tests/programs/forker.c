// SPDX-License-Identifier: MIT
/*
 * forker N: N children, one after the other, each of which renames itself and fires forker:work
 * from a thread; the parent fires once for each child, too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *arg)
{
	DTRACE_PROBE1(forker, work, (int)getpid());
	return arg;
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < children; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t thread;
			prctl(PR_SET_NAME, "kid");
			pthread_create(&thread, NULL, work, NULL);
			pthread_join(thread, NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		work(NULL);
	}
	printf("children %d\n", children);
	return 0;
}
