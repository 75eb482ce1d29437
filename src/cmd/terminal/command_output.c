// SPDX-License-Identifier: MIT
/* See command_output.h. */
#include "command_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/state.h"

#include "sink.h"

static void redirect(struct nw_command_output *output, int fd, int to)
{
	output->before[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (output->before[fd] >= 0 && dup2(to, fd) < 0)
		output->before[fd] = -1;
}

void nw_command_output_keep(struct nw_command_output *output)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	output->file = nw_temporary_file();
	if (output->file) {
		int fd = fileno(output->file);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, O_APPEND);
		for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
			if (isatty(i) == 1)
				redirect(output, i, fd);
	}
	/* Keys belong to the live view, so CMD reads nothing. */
	if (nothing >= 0 && isatty(STDIN_FILENO) == 1)
		redirect(output, STDIN_FILENO, nothing);
	if (nothing >= 0)
		close(nothing);
}

static void show_end(FILE *file, void (*note)(const char *fmt, ...))
{
	enum {
		MOST = 65536
	};
	nw_cleanup(nw_free_ptr) char *text = malloc(MOST);
	long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;

	if (!text || size <= 0)
		return;
	if (size > MOST)
		note("the last %d of %ld bytes that it has printed:", MOST, size);
	fseek(file, size > MOST ? size - MOST : 0, SEEK_SET);
	size_t got = fread(text, 1, MOST, file);
	nw_sink_put(&(struct nw_sink){.file = stdout}, text, got);
}

void nw_command_output_show(struct nw_command_output *output,
			    void (*note)(const char *fmt, ...))
{
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (output->before[i] < 0)
			continue;
		dup2(output->before[i], i);
		close(output->before[i]);
		output->before[i] = -1;
	}
	if (!output->file)
		return;
	show_end(output->file, note);
	fclose(output->file);
	output->file = NULL;
}
