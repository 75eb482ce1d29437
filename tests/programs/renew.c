// SPDX-License-Identifier: MIT
/*
 * Begins a span and becomes itself anew, by its second thread if it is told so: renew main|thread. What it is then ends
 * the span, begins another one and ends that.
 *
 *	renew:work__start()  renew:work__done()		twice each; one span is whole
 */
#include <pthread.h>
#include <string.h>
#include <sys/sdt.h>
#include <unistd.h>

static void *become(void *name)
{
	STAP_PROBE(renew, work__start);
	execl("/proc/self/exe", name, "again", (char *)NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2)
		return 2;
	if (strcmp(argv[1], "again") == 0) {
		STAP_PROBE(renew, work__done);
		STAP_PROBE(renew, work__start);
		STAP_PROBE(renew, work__done);
		return 0;
	}
	if (strcmp(argv[1], "thread") == 0 &&
	    pthread_create(&thread, NULL, become, argv[0]) == 0)
		pthread_join(thread, NULL);
	become(argv[0]);
	return 1;
}
