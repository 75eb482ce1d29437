// SPDX-License-Identifier: MIT
/* See semaphore_step.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "semaphore_step.h"

/* ---- as text ------------------------------------------------------------------------- */

int nw_semaphore_action(enum nw_action_kind kind, const struct nw_semaphore_step *step,
			struct nw_action *out)
{
	const struct nw_semaphore *its = &step->its;

	*out = (struct nw_action){
		.kind = kind,
		.file = nw_text("%d", (int)step->pid),
		.text = nw_text("%ju %ju %ju %ju %u %ju %s %ju", its->dev, its->ino,
				its->offset, step->at, step->before, its->size,
				*its->build_id ? its->build_id : "-", step->start),
	};
	if (out->file && out->text)
		return 0;
	nw_action_free(out);
	return -ENOMEM;
}

int nw_semaphore_step_read(const struct nw_action *action, struct nw_semaphore_step *out)
{
	struct nw_semaphore_step step = {.pid = 0};
	struct nw_semaphore *its = &step.its;
	unsigned int before;
	uint64_t pid;

	if (nw_parse_u64(action->file, &pid) < 0 || pid == 0 || pid > INT32_MAX ||
	    sscanf(action->text, "%ju %ju %ju %ju %u %ju %128[-0-9a-f] %ju", &its->dev,
		   &its->ino, &its->offset, &step.at, &before, &its->size, its->build_id,
		   &step.start) != 8)
		return -EBADMSG;
	if (*its->build_id == '-')
		its->build_id[0] = '\0';
	step.pid = (pid_t)pid;
	step.before = (uint16_t)before;
	*out = step;
	return 0;
}

/* Prints the value in the byte order of this machine. */
void nw_semaphore_print(const struct nw_action *action, struct nw_buf *out)
{
	struct nw_semaphore_step step;

	if (nw_semaphore_step_read(action, &step) < 0)
		return;
	uint16_t value = (uint16_t)(step.before + (action->kind == NW_DO_RAISE));
	unsigned char bytes[sizeof(value)];
	memcpy(bytes, &value, sizeof(value));
	nw_buf_printf(out,
		      "printf '\\%03o\\%03o' | dd of=/proc/%d/mem bs=1 seek=%" PRIu64
		      " conv=notrunc 2>/dev/null",
		      bytes[0], bytes[1], (int)step.pid, step.at);
}

/* ---- in memory ----------------------------------------------------------------------- */

uint64_t nw_semaphore_at(const struct nw_semaphore *semaphore,
			 const struct nw_process *process)
{
	const struct nw_file_id file = {semaphore->dev, semaphore->ino, semaphore->size,
					semaphore->build_id, true};

	return nw_process_variable(process, &file, semaphore->offset);
}

/* A process whose program has ended has no memory any more, so its semaphores do not exist either. */
static int went(ssize_t done)
{
	return done < 0 ? -errno : -ESRCH;
}

int nw_semaphore_load(const struct nw_process *process, uint64_t at, uint16_t *value)
{
	ssize_t done = pread(process->memory, value, sizeof(*value), (off_t)at);

	return done == (ssize_t)sizeof(*value) ? 0 : went(done);
}

static int add(const struct nw_process *process, uint64_t at, bool up)
{
	uint16_t value;
	int ret = nw_semaphore_load(process, at, &value);

	if (ret < 0)
		return ret;
	if (value == (up ? UINT16_MAX : 0))
		return -ERANGE;
	value = (uint16_t)(up ? value + 1 : value - 1);
	ssize_t done = pwrite(process->memory, &value, sizeof(value), (off_t)at);
	return done == (ssize_t)sizeof(value) ? 0 : went(done);
}

int nw_semaphore_do(const struct nw_action *action)
{
	struct nw_semaphore_step step;
	struct nw_process process;
	int ret = nw_semaphore_step_read(action, &step);

	if (ret < 0)
		return ret;
	if (action->process)
		return add(action->process, step.at, action->kind == NW_DO_RAISE);
	ret = nw_process_open(step.pid, NW_PROCESS_WRITE, &process);
	if (ret < 0)
		return ret;
	bool same = process.stat.start == step.start &&
		    nw_semaphore_at(&step.its, &process) == step.at;
	ret = same ? add(&process, step.at, action->kind == NW_DO_RAISE) : -ESRCH;
	nw_process_close(&process);
	return ret;
}
