// SPDX-License-Identifier: MIT
// thrower N [THREADS]: throws and catches N exceptions in each thread, every tenth rethrown once.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

static void once(int i)
{
	try {
		throw std::runtime_error("x");
	} catch (const std::exception &) {
		if (i % 10 == 0)
			throw;
	}
}

static void many(int n)
{
	for (int i = 0; i < n; i++) {
		try {
			once(i);
		} catch (const std::exception &) {
		}
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, threads = argc > 2 ? atoi(argv[2]) : 1;
	std::vector<std::thread> all;

	for (int i = 0; i < threads; i++)
		all.emplace_back(many, n);
	for (auto &thread : all)
		thread.join();
	printf("throws %d rethrows %d\n", n * threads, (n + 9) / 10 * threads);
}
