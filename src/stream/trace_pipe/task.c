// SPDX-License-Identifier: MIT
/* Births, deaths and execs of threads, from lines of kernel events for which a script has asked. */
#include <stdlib.h>
#include <string.h>

#include "text.h"

void nw_text_tasks_init(struct nw_text_tasks *tasks)
{
	static const struct nw_field_format born[] = {
		{.offset = offsetof(struct nw_text_birth, tid), .size = 4},
		{.offset = offsetof(struct nw_text_birth, comm), .size = 16},
		{.offset = offsetof(struct nw_text_birth, flags), .size = 8},
	};

	memcpy(tasks->fields, born, sizeof(born));
	tasks->format[NW_TEXT_BIRTH].kind = NW_EVENT_NEWTASK;
	tasks->format[NW_TEXT_BIRTH].fields.item = tasks->fields;
	tasks->format[NW_TEXT_BIRTH].fields.count = NW_COUNT(born);
	tasks->format[NW_TEXT_DEATH].kind = NW_EVENT_EXIT;
	tasks->old_tid_field = (struct nw_field_format){.size = 4};
	tasks->format[NW_TEXT_EXEC].kind = NW_EVENT_EXEC;
	tasks->format[NW_TEXT_EXEC].fields.item = &tasks->old_tid_field;
	tasks->format[NW_TEXT_EXEC].fields.count = 1;
}

bool nw_text_task_kind(const struct nw_text_line *parsed, enum nw_text_task *kind)
{
	static const char *const names[] = {[NW_TEXT_BIRTH] = "task_newtask",
					    [NW_TEXT_DEATH] = "sched_process_exit",
					    [NW_TEXT_EXEC] = "sched_process_exec"};

	for (unsigned int i = 0; i < NW_COUNT(names); i++)
		if (strlen(names[i]) == parsed->event_len &&
		    memcmp(parsed->event, names[i], parsed->event_len) == 0) {
			*kind = (enum nw_text_task)i;
			return true;
		}
	return false;
}

/* Returns the text behind the last " NAME=", because a thread's name may contain one, too. NULL: there is none. */
static const char *last_field(const char *args, size_t len, const char *name)
{
	const char *found = NULL, *at = args;
	size_t name_len = strlen(name);

	while ((at = memmem(at, len - (size_t)(at - args), name, name_len))) {
		at += name_len;
		found = at;
	}
	return found;
}

/* Parses "pid=1234 comm=app clone_flags=3d0f00 oom_score_adj=0". */
static bool read_birth(const char *args, size_t len, struct nw_text_birth *out)
{
	static const char comm[] = " comm=";
	const char *name = memmem(args, len, comm, sizeof(comm) - 1);
	const char *flags = last_field(args, len, " clone_flags=");
	char digits[24] = {0};
	uint64_t tid;

	if (len < 4 || memcmp(args, "pid=", 4) != 0 || !name || !flags || flags < name ||
	    !nw_text_number(args + 4, (size_t)(name - args) - 4, &tid) || tid > INT32_MAX)
		return false;
	memset(out, 0, sizeof(*out));
	out->tid = (int32_t)tid;
	name += sizeof(comm) - 1;
	size_t comm_len = (size_t)(flags - name) - strlen(" clone_flags=");
	memcpy(out->comm, name,
	       comm_len < sizeof(out->comm) ? comm_len : sizeof(out->comm) - 1);
	size_t rest = (size_t)(args + len - flags);
	memcpy(digits, flags, rest < sizeof(digits) ? rest : sizeof(digits) - 1);
	out->flags = strtoull(digits, NULL, 16);
	return true;
}

/* Parses "filename=/bin/app pid=1234 old_pid=1235". */
static bool read_exec(const char *args, size_t len, int32_t *old_tid)
{
	const char *number = last_field(args, len, " old_pid=");
	uint64_t tid;

	if (!number || !nw_text_number(number, (size_t)(args + len - number), &tid) ||
	    tid > INT32_MAX)
		return false;
	*old_tid = (int32_t)tid;
	return true;
}

bool nw_text_task_record(struct nw_text_tasks *tasks, enum nw_text_task kind,
			 const char *args, size_t len, struct nw_record *out)
{
	out->kind = NW_RECORD_TASK;
	out->format = &tasks->format[kind];
	if (kind == NW_TEXT_DEATH)
		return true;
	if (kind == NW_TEXT_EXEC) {
		out->data = (const unsigned char *)&tasks->old_tid;
		out->size = sizeof(tasks->old_tid);
		return read_exec(args, len, &tasks->old_tid);
	}
	out->data = (const unsigned char *)&tasks->birth;
	out->size = sizeof(tasks->birth);
	return read_birth(args, len, &tasks->birth);
}
