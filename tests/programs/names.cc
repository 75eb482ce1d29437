// SPDX-License-Identifier: MIT
/* names N: functions whose names a C++ compiler decorates, each called N times. */
#include <cstdio>
#include <cstdlib>

namespace app
{
volatile int sink;

__attribute__((noinline)) int handler(int i)
{
	sink += i;
	return sink;
}

__attribute__((noinline)) int handler(double d)
{
	sink += (int)d;
	return sink;
}

template <typename T> __attribute__((noinline)) T twice(T t)
{
	sink += (int)t;
	return t + t;
}

struct Server {
	int port;
	int serve(const char *what, long size) const;
};

__attribute__((noinline)) int Server::serve(const char *what, long size) const
{
	sink += what[0] + (int)size;
	return port;
}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, sum = 0;

	for (int i = 0; i < n; i++) {
		app::Server server = {i};
		sum += app::handler(i) + app::handler(i * 1.5) + server.serve("abc", i);
		sum += app::twice(i) + (int)app::twice(i / 2.0);
	}
	printf("%d\n", sum != 0);
	return 0;
}
