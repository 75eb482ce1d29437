// SPDX-License-Identifier: MIT
/*
 * nopwatch's side of the reader process (reader.h): starts it, asks it, watches it while it reads, and gives it up.
 * Descriptors are passed to it one by one and closed here at once, so that our limit does not restrict the number of
 * files.
 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fence.h"
#include "find/arch/arch.h"

#define MS ((uint64_t)1000000)
#define S  (1000 * MS)

enum {
	SLICE_MS = 20, /* time between two checks of the limits while waiting */
	MOST_UNREAPED = 16,
	MOST_UNANSWERED = 3, /* times that a file system may not answer */
	NOT_LINKED =
		127 /* of the dynamic linker, which looks a function up at its first call */
};
static const uint64_t most_cpu = 3 * S, /* per question */
	most_wait = 10 * S, most_session_cpu = 30 * S, most_lines_cpu = 10 * S,
		      most_hurry = 500 * MS;

struct nw_reader {
	pid_t pid;  /* 0: there is none */
	int socket; /* -1: there is none */
	struct nw_opener opener;
	bool names;   /* C++ names are needed, too */
	bool linked;  /* nw_reader_linked() was called */
	uint64_t cpu; /* ns used by readers that have ended */
	/* Time in ns that readers have used for source lines and inlined functions. */
	uint64_t lines_cpu;
	bool hurried;		 /* the run is about to end */
	uint64_t hurry;		 /* ns that may still be waited then */
	struct nw_error closed;	 /* code 0: questions are answered */
	unsigned int unanswered; /* times that a file system did not answer */
	bool has_debug_file;	 /* or waits for one: since it was started */
	int debug_shortage; /* why a debug file that there may be was not opened; 0: none */
	/* A file system with debug files did not answer: none is looked for any more. */
	bool no_debug_files;
	struct nw_buf question;
	unsigned char *answer; /* NW_MOST_MESSAGE bytes */
	size_t len;
	struct nw_served *inside; /* NULL: in a process of its own */
	const struct nw_read_file *file;
	struct nw_buf inside_answer;
	pid_t unreaped[MOST_UNREAPED]; /* killed, but not gone yet; 0: free */
};

/* ---- the process -------------------------------------------------------------------- */

/* Called in the reader: the parent has ended, or memory ran out in a call on the socket. */
#define end_reader() _exit(errno == ENOMEM ? NW_ENDED_WITHOUT_MEMORY : 1)

/* Called in the reader: asks the parent for a descriptor, which comes with the reply. */
static int get_descriptor(void *arg, unsigned int what, const char *name)
{
	struct nw_buf want = {0};
	int32_t code = EIO;
	int fd;

	(void)arg;
	nw_put(&want, NW_ANSWER_WANT, 1);
	nw_put(&want, what, 1);
	nw_put_text(&want, name, strlen(name));
	if (want.failed)
		_exit(NW_ENDED_WITHOUT_MEMORY);
	if (!nw_send_message(0, want.data, want.len, -1))
		end_reader();
	nw_buf_free(&want);
	nw_fence_descriptors(true);
	ssize_t got = nw_receive_message(0, &code, sizeof(code), &fd);
	nw_fence_descriptors(false);
	if (got != sizeof(code))
		end_reader();
	if (code)
		return -code;
	return fd < 0 ? -EMFILE : fd;
}

/* Called in the reader: answers until the parent closes the socket. */
static void serve(struct nw_served *served)
{
	unsigned char *question = malloc(NW_MOST_MESSAGE);
	struct nw_buf answer = {0};

	if (!question)
		_exit(NW_ENDED_WITHOUT_MEMORY);
	for (;;) {
		ssize_t got = nw_receive_message(0, question, NW_MOST_MESSAGE, NULL);
		if (got <= 0)
			end_reader();
		nw_buf_clear(&answer);
		nw_served_answer(served, question, (size_t)got, &answer);
		if (answer.failed)
			_exit(NW_ENDED_WITHOUT_MEMORY);
		if (!nw_send_message(0, answer.data, answer.len, -1))
			end_reader();
	}
}

static void end_without_memory(void)
{
	_exit(NW_ENDED_WITHOUT_MEMORY);
}

static void become_reader(const struct nw_reader *reader, int socket, pid_t parent)
{
	static const struct nw_descriptors descriptors = {get_descriptor, NULL};
	struct nw_served *served = nw_served_open(&descriptors);

	/* Only libdw calls exit(), and only if memory runs out. */
	if (!served || atexit(end_without_memory) != 0)
		_exit(NW_ENDED_WITHOUT_MEMORY);
	errno = 0;
	nw_served_prepare(served, reader->names);
	if (nw_shortage() == -ENOMEM)
		_exit(NW_ENDED_WITHOUT_MEMORY);
	if (nw_fence_enter(socket, parent))
		serve(served);
	_exit(1);
}

/* A receive call returns after SLICE_MS at the latest, so that its caller can check for signals and for the time
 * limit. */
static bool has_slices(int socket)
{
	const struct timeval slice = {0, 1000 * SLICE_MS};

	return setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) == 0;
}

static int start(struct nw_reader *reader)
{
	int ends[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	reader->has_debug_file = false;
	reader->pid = fork();
	int code = errno;
	if (reader->pid == 0)
		become_reader(reader, ends[1], parent);
	close(ends[1]);
	reader->socket = ends[0];
	if (reader->pid > 0 && has_slices(ends[0]))
		return 0;
	close(ends[0]);
	reader->pid = 0;
	reader->socket = -1;
	return -code;
}

static uint64_t cpu_of(const struct nw_reader *reader)
{
	clockid_t clock;

	return reader->pid && clock_getcpuclockid(reader->pid, &clock) == 0
		       ? nw_clock_ns(clock)
		       : 0;
}

/* Reaps dead processes. If a file system does not answer, a killed process may live on. */
static void reap(struct nw_reader *reader)
{
	for (size_t i = 0; i < MOST_UNREAPED; i++)
		if (reader->unreaped[i] && waitpid(reader->unreaped[i], NULL, WNOHANG) != 0)
			reader->unreaped[i] = 0;
}

/*
 * Waits for the end of a process that is ending, at most for this time: if a file system does not answer, it lives on. It
 * mostly ends within 0.1 ms, for which the first event of a run would wait. Returns its number, 0, or -1.
 */
static pid_t wait_for_end(pid_t pid, int *status, int64_t most_ns)
{
	struct timespec nap = {0, 20000};
	pid_t ended = waitpid(pid, status, WNOHANG);

	for (int64_t napped = 0; !ended && napped < most_ns; napped += nap.tv_nsec) {
		nanosleep(&nap, NULL);
		ended = waitpid(pid, status, WNOHANG);
		if (nap.tv_nsec < 1000000)
			nap.tv_nsec *= 2;
	}
	return ended;
}

/* Kills one of our processes and forgets it. *status: how it has ended, if it had ended before. */
static void end_process(struct nw_reader *reader, pid_t *pid, int *socket, int *status)
{
	if (!*pid)
		return;
	kill(*pid, SIGKILL);
	pid_t ended = wait_for_end(*pid, status, 100000000);
	reap(reader);
	for (size_t i = 0; i < MOST_UNREAPED && !ended; i++)
		if (!reader->unreaped[i]) {
			reader->unreaped[i] = *pid;
			ended = *pid;
		}
	close(*socket);
	*socket = -1;
	*pid = 0;
}

static void stop(struct nw_reader *reader, int *status)
{
	int ignored;

	reader->cpu += cpu_of(reader);
	end_process(reader, &reader->opener.pid, &reader->opener.socket, &ignored);
	end_process(reader, &reader->pid, &reader->socket, status);
}

/* ---- waiting ------------------------------------------------------------------------ */

struct waiting {
	uint64_t since, cpu;
	/* Up to this time, waiting was subtracted from `hurry`. */
	uint64_t spent;
};

void nw_reader_linked(struct nw_reader *reader)
{
	reader->linked = true;
}

void nw_reader_hurry(struct nw_reader *reader)
{
	if (reader && !reader->hurried) {
		reader->hurried = true;
		reader->hurry = most_hurry;
	}
}

/* Stops the reader for good: no more files are read. */
static int close_reader(struct nw_reader *reader, int code, const char *why,
			struct nw_error *err)
{
	int status = 0;

	nw_fail(&reader->closed, code, "%s", why);
	stop(reader, &status);
	if (err)
		*err = reader->closed;
	return -code;
}

/* Does the reader neither compute nor stand still because of a signal? Then a file is not read, since our waiting for it
 * means that it does not wait for us. */
static bool waits_for_file(const struct nw_reader *reader)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("/proc/%d/stat", (int)reader->pid);
	struct nw_buf text = {0};
	bool waits = false;

	if (path && nw_buf_read_file(&text, AT_FDCWD, path) == 0) {
		const char *state = strrchr(nw_buf_str(&text), ')');
		waits = state &&
			(strncmp(state, ") D", 3) == 0 || strncmp(state, ") S", 3) == 0);
	}
	nw_buf_free(&text);
	return waits;
}

static int tell_unanswered(struct nw_error *err)
{
	return nw_fail(err, EHOSTDOWN, "its file system does not answer");
}

/* Checks the limits while waiting. Returns 0 to go on; -errno: the question is given up, or all reading is. */
static int check_wait(struct nw_reader *reader, struct waiting *wait, struct nw_error *err)
{
	uint64_t now = nw_clock_ns(CLOCK_MONOTONIC), cpu = cpu_of(reader);

	if (nw_is_end_pending())
		nw_reader_hurry(reader);
	if (reader->hurried)
		reader->hurry -= nw_min64(reader->hurry, now - wait->spent);
	wait->spent = now;
	if (reader->hurried && !reader->hurry)
		return close_reader(reader, ECANCELED,
				    "the run ended before they were read", err);
	if (reader->cpu + cpu > most_session_cpu)
		return close_reader(
			reader, ECANCELED,
			"reading files took more than 30 s of processor time altogether",
			err);
	if (cpu > wait->cpu && cpu - wait->cpu > most_cpu)
		return nw_fail(err, ETIMEDOUT,
			       "reading it took longer than 3 s of processor time");
	if (now - wait->since > most_wait)
		return waits_for_file(reader) ? tell_unanswered(err)
					      : nw_fail(err, ETIMEDOUT,
							"reading it took longer than 10 s");
	return 0;
}

/* Reports that the reader has closed its end of the socket because it has died. */
static int tell_death(struct nw_reader *reader, struct nw_error *err)
{
	int status = 0;
	pid_t ended = wait_for_end(reader->pid, &status, 200000000);

	if (ended) {
		reader->pid = 0;
		close(reader->socket);
		reader->socket = -1;
		stop(reader, &(int){0});
	}
	if (ended > 0 && WIFSIGNALED(status))
		return nw_fail(
			err, EIO,
			"the process that reads it was ended by signal %d (%s): the file is damaged, or memory is short",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (ended > 0 && WIFEXITED(status) &&
	    WEXITSTATUS(status) == NW_ENDED_WITHOUT_MEMORY)
		return nw_fail(err, ENOMEM, "out of memory in the process that reads it");
	if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_LINKED)
		return nw_fail(
			err, EIO,
			"the process that reads it was ended by the dynamic linker, which lacks memory or a function");
	return nw_fail(err, EIO, "the process that reads it has ended");
}

/* Reports that the opener has closed its end of the socket. It also ends when the reader has. */
static int tell_opener_death(struct nw_reader *reader, struct nw_error *err)
{
	struct nw_opener *opener = &reader->opener;
	int status = 0;
	pid_t ended = wait_for_end(opener->pid, &status, 200000000);

	if (ended) {
		close(opener->socket);
		*opener = (struct nw_opener){0, -1};
	}
	if (ended > 0 && WIFEXITED(status) &&
	    WEXITSTATUS(status) == NW_ENDED_WITHOUT_MEMORY)
		return nw_fail(err, ENOMEM, "out of memory in the process that opens it");
	return ended > 0 && WIFEXITED(status)
		       ? tell_death(reader, err)
		       : nw_fail(err, EIO, "the process that opens it has ended");
}

/* Returns the length of a message; 0: the other side has ended; -errno: a limit was reached, or memory ran out. */
static ssize_t wait_message(struct nw_reader *reader, int socket, void *bytes, size_t room,
			    int *fd, struct waiting *wait, struct nw_error *err)
{
	for (int ret = 0;;) {
		ssize_t got = nw_receive_message(socket, bytes, room, fd);
		if (got < 0 && errno == ENOMEM)
			return nw_no_memory(err);
		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return got > 0 ? got : 0;
		if (ret < 0)
			return ret;
		ret = check_wait(reader, wait, err);
		/* If nopwatch was stopped meanwhile, the answer may be there. */
		if (ret < 0 && ret != -EHOSTDOWN)
			return ret;
	}
}

/* ---- questions ---------------------------------------------------------------------- */

/* Has a file opened by the opener process, which passes it to the reader, or a copy to us (fd). Who gets it reports a
 * failed open(). */
static int have_opened(struct nw_reader *reader, unsigned int what, const char *name,
		       int *fd, struct waiting *wait, struct nw_error *err)
{
	int ret = reader->opener.pid ? 0 : nw_opener_start(&reader->opener, reader->socket);
	int32_t code = 0;

	if (ret < 0 || !has_slices(reader->opener.socket))
		return nw_fail(err, ret < 0 ? -ret : EIO,
			       "no process to open it can be started: %s",
			       nw_strerror(ret < 0 ? -ret : EIO));
	int asked = nw_opener_ask(&reader->opener, reader->file, what, name);
	if (asked == -ENOMEM)
		return nw_no_memory(err);
	ssize_t got = asked == 0 ? wait_message(reader, reader->opener.socket, &code,
						sizeof(code), fd, wait, err)
				 : 0;
	if (what < NW_WANT_FILE && (got < 0 || code == 0))
		reader->has_debug_file = true;
	if (what < NW_WANT_FILE && nw_is_shortage(code))
		reader->debug_shortage = code;
	if (got == -ETIMEDOUT)
		return tell_unanswered(err);
	if (got == 0)
		return tell_opener_death(reader, err);
	if (fd && got > 0 && *fd < 0)
		return nw_fail(err, code ? code : EMFILE, "%s",
			       nw_strerror(code ? code : EMFILE));
	return got < 0 ? (int)got : 0;
}

/* The question, or a descriptor, could not be sent: errno says why. */
static int tell_unsent(struct nw_reader *reader, struct nw_error *err)
{
	return errno == ENOMEM ? nw_no_memory(err) : tell_death(reader, err);
}

static int give_descriptor(struct nw_reader *reader, struct nw_wire *answer,
			   struct waiting *wait, struct nw_error *err)
{
	unsigned int what = (unsigned int)nw_take(answer, 1);
	const char *name = nw_take_text(answer);

	if (answer->bad || what > NW_WANT_FILE)
		return nw_fail(err, EIO,
			       "the process that reads the file has sent a bad request");
	const bool refused = what < NW_WANT_FILE && reader->no_debug_files;
	if (reader->file->size && !refused)
		return have_opened(reader, what, name, NULL, wait, err);
	int fd = refused ? -ENOENT : reader->file->get(reader->file->arg, what, name);
	const int32_t code = fd < 0 ? -fd : 0;
	int ret = 0;
	if (what < NW_WANT_FILE && nw_is_shortage(code))
		reader->debug_shortage = code;
	if (!nw_send_message(reader->socket, &code, sizeof(code), fd))
		ret = tell_unsent(reader, err);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Sends the question and passes descriptors until the answer comes. */
static int converse(struct nw_reader *reader, struct nw_wire *out, struct nw_error *err)
{
	const uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
	struct waiting wait = {.since = now, .cpu = cpu_of(reader), .spent = now};
	int ret = 0;

	if (!nw_send_message(reader->socket, reader->question.data, reader->question.len,
			     -1))
		return tell_unsent(reader, err);
	for (;;) {
		ssize_t got = wait_message(reader, reader->socket, reader->answer,
					   NW_MOST_MESSAGE, NULL, &wait, err);
		if (got <= 0)
			return got < 0 ? (int)got : tell_death(reader, err);
		reader->len = (size_t)got;
		*out = (struct nw_wire){reader->answer, reader->answer + reader->len,
					false};
		unsigned int kind = (unsigned int)nw_take(out, 1);
		if (kind != NW_ANSWER_WANT)
			return reader->hurried ? check_wait(reader, &wait, err) : 0;
		ret = give_descriptor(reader, out, &wait, err);
		/* The reader may ask for descriptors without end. */
		if (ret == 0)
			ret = check_wait(reader, &wait, err);
		if (ret < 0)
			return ret;
	}
}

static int get_inside(void *arg, unsigned int what, const char *name)
{
	const struct nw_reader *reader = arg;

	return reader->file->get(reader->file->arg, what, name);
}

/* Counts the file systems that have not answered. Each costs 10 s, and a user may mount any number of them. */
static int count_unanswered(struct nw_reader *reader, int ret, struct nw_error *err)
{
	if (ret != -EHOSTDOWN || ++reader->unanswered < MOST_UNANSWERED)
		return ret;
	return close_reader(reader, ECANCELED,
			    "three file systems did not answer: no other file is read",
			    err);
}

static int ask_process(struct nw_reader *reader, struct nw_wire *out, struct nw_error *err)
{
	int status, ret = reader->pid ? 0 : start(reader);

	if (ret < 0) {
		nw_fail(&reader->closed, -ret, "no process to read them can be started: %s",
			nw_strerror(-ret));
		*err = reader->closed;
		return ret;
	}
	ret = converse(reader, out, err);
	if (ret < 0)
		stop(reader, &status);
	ret = count_unanswered(reader, ret, err);
	/* The file that was asked about may be on another one. */
	if (ret != -EHOSTDOWN || !reader->has_debug_file || reader->no_debug_files)
		return ret;
	reader->no_debug_files = true;
	return ask_process(reader, out, err);
}

bool nw_reader_lacks_debug_files(const struct nw_reader *reader)
{
	return reader && reader->no_debug_files;
}

/* Asks the question in reader->question. *out: the answer behind its kind. */
int nw_question_ask(struct nw_reader *reader, const struct nw_read_file *file,
		    struct nw_wire *out, struct nw_error *err)
{
	struct nw_error ignored = {0};
	int ret = 0;

	err = err ? err : &ignored;
	reader->file = file;
	if (reader->question.failed)
		return nw_no_memory(err);
	if (reader->closed.code) {
		*err = reader->closed;
		return -err->code;
	}
	if (reader->inside) {
		struct nw_buf *answer = &reader->inside_answer;
		nw_served_answer(reader->inside, reader->question.data,
				 reader->question.len, answer);
		*out = (struct nw_wire){(unsigned char *)answer->data,
					(unsigned char *)answer->data + answer->len, false};
	} else {
		ret = ask_process(reader, out, err);
	}
	if (ret < 0)
		return ret;
	const unsigned char kind = reader->inside ? (unsigned char)nw_take(out, 1)
						  : reader->answer[0];
	if (kind == NW_ANSWER)
		return 0;
	int code = (int)nw_take(out, 4);
	if (code <= 0 || code > 4095)
		code = EIO;
	if (code == ENOMEM)
		return nw_fail(err, ENOMEM, "reading it takes more than %d MiB of memory",
			       NW_FENCE_MEMORY >> 20);
	return nw_fail(err, code, "%s", nw_strerror(code));
}

struct nw_buf *nw_question_begin(struct nw_reader *reader, enum nw_question kind,
				 const struct nw_read_file *file)
{
	nw_buf_clear(&reader->question);
	nw_put(&reader->question, kind, 1);
	nw_put(&reader->question, file->number, 4);
	return &reader->question;
}

/* Fails if the answer could not be parsed. */
static int finish(const struct nw_wire *answer, struct nw_error *err)
{
	return answer->bad
		       ? nw_fail(err, EIO,
				 "the process that reads the file has sent a bad request")
		       : 0;
}

int nw_reader_take_shortage(struct nw_reader *reader)
{
	const int code = reader->debug_shortage;

	reader->debug_shortage = 0;
	return code;
}

int nw_reader_file(struct nw_reader *reader, const struct nw_read_file *file,
		   struct nw_file_facts *out, struct nw_error *err)
{
	struct nw_wire answer;

	*out = (struct nw_file_facts){0};
	reader->names = true;
	nw_question_begin(reader, NW_ASK_FILE, file);
	int ret = nw_question_ask(reader, file, &answer, err);
	if (ret < 0)
		return ret;
	unsigned int machine = (unsigned int)nw_take(&answer, 4);
	bool elf64 = nw_take(&answer, 1) != 0, big_endian = nw_take(&answer, 1) != 0;
	out->arch = nw_arch_find(machine, elf64, big_endian);
	out->identity = nw_take_text(&answer);
	for (uint64_t left = nw_take(&answer, 4); left && !answer.bad; left--) {
		struct nw_segment *segment = nw_vec_add(&out->segments);
		if (!segment)
			return nw_no_memory(err);
		segment->vaddr = nw_take(&answer, 8);
		segment->offset = nw_take(&answer, 8);
		segment->filesz = nw_take(&answer, 8);
		segment->exec = true;
	}
	return finish(&answer, err);
}

static void take_line(struct nw_wire *answer, struct nw_source_line *out)
{
	out->file = nw_take_text(answer);
	out->line = (unsigned int)nw_take(answer, 4);
	if (!*out->file)
		out->file = NULL;
}

static void take_names(struct nw_wire *answer, struct nw_place_facts *out)
{
	out->known = nw_take(answer, 1) != 0;
	out->function = nw_take(answer, 8);
	out->name = nw_take_text(answer);
	take_line(answer, &out->lines.line);
	size_t count = (size_t)nw_take(answer, 1);
	if (count > NW_MOST_INLINED)
		answer->bad = true;
	for (size_t i = 0; i < count && !answer->bad; i++) {
		out->lines.inlined[i].function = nw_take_text(answer);
		take_line(answer, &out->lines.inlined[i].line);
		out->lines.count++;
	}
}

int nw_reader_place(struct nw_reader *reader, const struct nw_read_file *file,
		    uint64_t vaddr, enum nw_place_depth depth, struct nw_place_facts *out,
		    struct nw_error *err)
{
	struct nw_wire answer;

	*out = (struct nw_place_facts){0};
	/* Limited, so that symbols and call frames can still be read, however many files have slow lines. */
	if (depth == NW_PLACE_LINES && reader->lines_cpu > most_lines_cpu)
		return nw_fail(
			err, ETIMEDOUT,
			"reading source lines took longer than 10 s of processor time altogether");
	const uint64_t before = depth == NW_PLACE_LINES ? reader->cpu + cpu_of(reader) : 0;
	nw_question_begin(reader, NW_ASK_PLACE, file);
	nw_put(&reader->question, depth, 1);
	nw_put(&reader->question, reader->linked, 1);
	nw_put(&reader->question, vaddr, 8);
	int ret = nw_question_ask(reader, file, &answer, err);
	if (depth == NW_PLACE_LINES)
		reader->lines_cpu += nw_max64(reader->cpu + cpu_of(reader), before) -
				     before;
	if (ret < 0)
		return ret;
	out->rule_len = (size_t)nw_take(&answer, 4);
	out->rule = nw_take_bytes(&answer, out->rule_len);
	if (depth >= NW_PLACE_NAME)
		take_names(&answer, out);
	return finish(&answer, err);
}

int nw_reader_copy(struct nw_reader *reader, const struct nw_read_file *file,
		   struct nw_error *err)
{
	const uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
	struct waiting wait = {.since = now, .cpu = cpu_of(reader), .spent = now};
	int fd = -1, status;

	if (reader->inside)
		return file->get(file->arg, NW_WANT_COPY, "");
	if (reader->closed.code) {
		*err = reader->closed;
		return -err->code;
	}
	reader->file = file;
	int ret = reader->pid ? 0 : start(reader);
	if (ret < 0)
		return nw_fail(err, -ret, "no process to open it can be started: %s",
			       nw_strerror(-ret));
	ret = have_opened(reader, NW_WANT_COPY, "", &fd, &wait, err);
	if (ret == -EHOSTDOWN || ret == -EIO || ret == -ENOMEM)
		stop(reader, &status);
	ret = count_unanswered(reader, ret, err);
	return ret < 0 ? ret : fd;
}

/* ---- opening ------------------------------------------------------------------------ */

int nw_reader_open(struct nw_reader **out)
{
	struct nw_reader *reader = calloc(1, sizeof(*reader));

	*out = reader;
	if (!reader)
		return -ENOMEM;
	reader->socket = reader->opener.socket = -1;
	reader->answer = malloc(NW_MOST_MESSAGE);
	if (reader->answer)
		return 0;
	nw_reader_free(reader);
	*out = NULL;
	return -ENOMEM;
}

void nw_reader_inside(struct nw_reader *reader)
{
	const struct nw_descriptors descriptors = {get_inside, reader};

	reader->inside = nw_served_open(&descriptors);
}

void nw_reader_free(struct nw_reader *reader)
{
	int status;

	if (!reader)
		return;
	stop(reader, &status);
	reap(reader);
	nw_served_free(reader->inside);
	nw_buf_free(&reader->inside_answer);
	nw_buf_free(&reader->question);
	free(reader->answer);
	free(reader);
}

/* ---- names -------------------------------------------------------------------------- */

/* Names need no file. */
static int get_nothing(void *arg, unsigned int what, const char *name)
{
	(void)arg;
	(void)what;
	(void)name;
	return -ENOENT;
}

/* Asks about names from `first` on, as many as fit in a message, and adds the answers. Returns 0 or -errno. */
static int ask_names(struct nw_reader *reader, const nw_strings *names, size_t first,
		     nw_strings *out)
{
	static const struct nw_read_file none = {.get = get_nothing};
	struct nw_error ignored;
	struct nw_wire answer;
	size_t count = first;

	nw_question_begin(reader, NW_ASK_NAMES, &none);
	size_t place = reader->question.len;
	nw_put(&reader->question, 0, 4);
	while (count < names->count && !reader->question.failed &&
	       reader->question.len + strlen(names->item[count]) < NW_MOST_MESSAGE / 2) {
		const char *name = names->item[count++];
		nw_put_text(&reader->question, name, strlen(name));
	}
	count -= first;
	if (!count && !reader->question.failed) /* the name is too long for a message */
		return nw_strings_add(out, "", 0);
	const uint32_t asked = (uint32_t)count;
	if (!reader->question.failed)
		memcpy(reader->question.data + place, &asked, sizeof(asked));
	int ret = nw_question_ask(reader, &none, &answer, &ignored);
	if (ret < 0)
		return ret;
	size_t done = (size_t)nw_take(&answer, 4);
	for (size_t i = 0; i < done && i < count; i++) {
		const char *source = nw_take_text(&answer);
		if (nw_strings_add(out, source, strlen(source)) < 0)
			return -ENOMEM;
	}
	return answer.bad || !done ? -EIO : 0;
}

int nw_source_names(const nw_strings *names, nw_strings *out)
{
	struct nw_reader *reader;
	int ret = nw_reader_open(&reader);

	if (ret == 0)
		reader->names = true;
	while (ret == 0 && out->count < names->count)
		ret = ask_names(reader, names, out->count, out);
	nw_reader_free(reader);
	/* After a name that killed the reader or took too long, all further names are unknown, too. */
	if (!nw_is_shortage(-ret))
		ret = 0;
	while (ret == 0 && out->count < names->count)
		ret = nw_strings_add(out, "", 0);
	return ret;
}
