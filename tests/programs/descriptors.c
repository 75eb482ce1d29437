// SPDX-License-Identifier: MIT
/*
 * Reads from descriptors, and says with fs_read(fd, what) which path each read was from: DIR/a, DIR/b, ... The same number leads to
 * one file after the other, by close and open, by dup2, and in a child.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[4096];
static const char *dir;

__attribute__((noinline)) void fs_read(int fd, const char *truth);
void fs_read(int fd, const char *truth)
{
	char byte;

	__asm__ volatile("" : : "r"(truth) : "memory");
	if (fd >= 0 && read(fd, &byte, 1) < 0)
		(void)byte;
}

static const char *named(char letter)
{
	snprintf(path, sizeof(path), "%s/%c", dir, letter);
	return path;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

/* The first hit makes the path be read, and the last ones know it. */
static void reads(int fd, const char *truth)
{
	for (int i = 0; i < 8; i++) {
		fs_read(fd, truth);
		nap();
	}
}

int main(int argc, char **argv)
{
	int ends[2];

	if (argc < 2)
		return 2;
	dir = argv[1];
	const int fd = open(named('a'), O_RDWR | O_CREAT, 0600);
	reads(fd, path);
	for (char letter = 'b'; letter <= 'e'; letter++) { /* the same number */
		close(fd);
		if (open(named(letter), O_RDWR | O_CREAT, 0600) != fd)
			return 1;
		reads(fd, path);
	}
	for (int i = 0; i < 2001; i++) { /* too fast to be known, or known rightly */
		close(fd);
		if (open(named((char)('f' + i % 3)), O_RDWR | O_CREAT, 0600) != fd)
			return 1;
		fs_read(fd, path);
	}
	/* redirected and restored, as a shell does it */
	const int saved = dup(fd), other = open(named('i'), O_RDWR | O_CREAT, 0600);
	dup2(other, fd);
	reads(fd, path);
	dup2(saved, fd);
	reads(fd, named('h'));
	const pid_t child = fork();
	if (child == 0) {
		close(fd);
		if (open(named('j'), O_RDWR | O_CREAT, 0600) != fd)
			_exit(1);
		reads(fd, path);
		_exit(0);
	}
	reads(fd, named('h'));
	int status;
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		return 1;
	if (pipe2(ends, O_NONBLOCK) < 0)
		return 1;
	reads(ends[0], "pipe");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		return 1;
	reads(ends[0], "socket");
	fs_read(-1, "?");
	return 0;
}
