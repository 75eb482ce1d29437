// SPDX-License-Identifier: MIT
/*
 * The program that README's commands speak of: app N answers N requests, one each two milliseconds. A request has the spans
 * app:request (with identifier, path, status and bytes) and myserver:request, and the probes app:start and app:done; it allocates
 * memory and writes a byte to standard output. Each fifth one has the status 404 by an exception, each fortieth one takes 60 ms.
 */
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/sdt.h>
#include <unistd.h>

static std::string find(long id)
{
	if (id % 5 == 0)
		throw std::out_of_range("no such item");
	return "item " + std::to_string(id) + std::string(64, '.');
}

static void __attribute__((noinline)) request(long id)
{
	int status = 200;
	std::string answer;

	DTRACE_PROBE2(app, request__start, id, "/item");
	DTRACE_PROBE1(app, start, id);
	DTRACE_PROBE2(myserver, request__start, id, "/item");
	try {
		answer = find(id);
	} catch (const std::out_of_range &) {
		status = 404;
	}
	usleep(id % 40 == 39 ? 60000 : 100);
	if (write(STDOUT_FILENO, "", 1) != 1)
		std::exit(1);
	DTRACE_PROBE2(myserver, request__done, id, status);
	DTRACE_PROBE2(app, done, id, status);
	DTRACE_PROBE3(app, request__done, id, status, (int)answer.size());
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? std::atol(argv[1]) : 200;

	for (long id = 0; id < count; id++) {
		request(id);
		usleep(2000);
	}
	return 0;
}
