/* SPDX-License-Identifier: MIT */
/* Ask why a probe does not fire with libnopwatch. As root:
 *
 *	ask usdt:./server:app:request__start [PID] */
#include <stdio.h>
#include <stdlib.h>

#include <nopwatch/nopwatch.h>

static void print_answer(const struct nopwatch_answer *answer)
{
	const char *remedy;

	printf("%s\n", nopwatch_answer_text(answer));
	for (size_t i = 0; i < nopwatch_answer_causes(answer); i++)
		printf("%s: %s\n", nopwatch_answer_cause(answer, i),
		       nopwatch_answer_cause_text(answer, i));
	for (size_t i = 0; (remedy = nopwatch_answer_remedy(answer, i)); i++)
		printf("try: %s\n", remedy);
}

int main(int argc, char **argv)
{
	struct nopwatch_request *request = nopwatch_request_new();
	struct nopwatch_answer *answer = NULL;
	struct nopwatch_error *error = NULL;
	int ret = request ? 0 : -1;

	if (argc < 2)
		return 2;
	if (ret == 0 && argc > 2)
		ret = nopwatch_request_add_pid(request, (pid_t)atoi(argv[2]), &error);
	if (ret == 0)
		ret = nopwatch_why(request, argv[1], &answer, &error);
	if (ret == 0)
		print_answer(answer);
	else
		fprintf(stderr, "ask: %s\n",
			error ? nopwatch_error_text(error) : "out of memory");
	nopwatch_answer_free(answer);
	nopwatch_error_free(error);
	nopwatch_request_free(request);
	return ret == 0 ? 0 : 1;
}
