// SPDX-License-Identifier: MIT
/*
 * The reader's side: open files, and answers about them. Hostile files are parsed here and nowhere else, in a process
 * that can be given up (reader.c). The most recently used files stay open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "demangle.h"
#include "find/elf/symbol.h"
#include "reader.h"
#include "rule.h"

enum {
	MOST_OPEN = 256,
	LEAST_OPEN = 4,
	/* The file, debug files for symbols, lines and frames, and shared ones. */
	DESCRIPTORS_EACH = 6,
	ROOM = 16
	       << 20, /* bytes that malloc() can provide as long as memory is not short */
	LONGEST_NAME = 8192,
	MOST_NAMES = 96 << 10 /* limit in bytes of names in an answer */
};

struct open_file {
	uint32_t number;
	uint64_t used; /* time of its last question */
	struct nw_image *image;
	/* NULL: not searched yet, or there are none; likewise the fields below */
	struct nw_lines *lines;
	struct nw_cfi *cfi;
	struct nw_exidx *exidx;
	struct nw_frame_table *frames;
	bool lines_looked, tables_looked;
	int shortage; /* -errno: why the answer to this question may lack something; 0: it does not */
};

struct nw_served {
	struct nw_descriptors descriptors;
	struct nw_debug_files debug_files;
	struct nw_demangler demangler;
	NW_VEC(struct open_file) files;
	size_t most;
	uint64_t time;
};

/* ---- files -------------------------------------------------------------------------- */

static int open_debug_file(void *arg, enum nw_debug_place place, const char *name)
{
	const struct nw_served *served = arg;

	return served->descriptors.get(served->descriptors.arg, (unsigned int)place, name);
}

struct nw_served *nw_served_open(const struct nw_descriptors *descriptors)
{
	struct nw_served *served = calloc(1, sizeof(*served));
	struct rlimit files;

	if (!served)
		return NULL;
	served->descriptors = *descriptors;
	served->debug_files = (struct nw_debug_files){open_debug_file, served};
	served->most = MOST_OPEN;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_max < MOST_OPEN * DESCRIPTORS_EACH)
		served->most = (size_t)files.rlim_max / DESCRIPTORS_EACH;
	if (served->most < LEAST_OPEN)
		served->most = LEAST_OPEN;
	return served;
}

static void close_file(struct open_file *file)
{
	nw_lines_free(file->lines);
	nw_cfi_free(file->cfi);
	nw_exidx_free(file->exidx);
	nw_frames_free(file->frames);
	nw_image_free(file->image);
	*file = (struct open_file){0};
}

/* Notes why something could not be read, if that is a shortage: anything else is a fact about the file. */
static void note(struct open_file *file, int ret)
{
	if (!file->shortage && nw_is_shortage(-ret))
		file->shortage = ret;
}

static void close_all(struct nw_served *served)
{
	nw_vec_each (&served->files, file)
		close_file(file);
	served->files.count = 0;
}

void nw_served_free(struct nw_served *served)
{
	if (!served)
		return;
	close_all(served);
	nw_vec_free(&served->files);
	nw_demangler_close(&served->demangler);
	free(served);
}

void nw_served_prepare(struct nw_served *served, bool names)
{
	(void)nw_unwind_tables_lack();
	if (!names)
		return;
	nw_debug_data_prepare();
	nw_demangler_open(&served->demangler);
}

/* Makes room for another file by closing the least recently used one. NULL: no memory. */
static struct open_file *make_room(struct nw_served *served)
{
	struct open_file *oldest = NULL;

	if (served->files.count < served->most)
		return nw_vec_add(&served->files);
	nw_vec_each (&served->files, file)
		if (!oldest || file->used < oldest->used)
			oldest = file;
	close_file(oldest);
	return oldest;
}

/* Returns the file of that number; NULL: it cannot be read, and *code tells why. */
static struct open_file *find_file(struct nw_served *served, uint32_t number, int *code)
{
	struct nw_image *image = NULL;
	struct nw_error why = {0};

	served->time++;
	nw_vec_each (&served->files, file)
		if (file->image && file->number == number) {
			file->used = served->time;
			return file;
		}
	struct open_file *file = make_room(served);
	if (!file) {
		*code = ENOMEM;
		return NULL;
	}
	int fd = served->descriptors.get(served->descriptors.arg, NW_WANT_FILE, "");
	if (fd < 0 || nw_image_open_fd(fd, "", false, &image, &why) < 0) {
		*code = fd < 0 ? -fd : why.code;
		return NULL;
	}
	image->debug_files = &served->debug_files;
	*file = (struct open_file){.number = number, .used = served->time, .image = image};
	return file;
}

/* ---- answers ------------------------------------------------------------------------ */

static int answer_file(const struct nw_image *image, struct nw_buf *out)
{
	char identity[NW_IDENTITY];
	uint32_t count = 0;
	int ret = nw_image_identity(image, identity);

	if (ret < 0)
		return -ret;
	nw_vec_each (&image->segments, segment)
		count += segment->exec;
	nw_put(out, image->machine, 4);
	nw_put(out, image->elf64, 1);
	nw_put(out, image->big_endian, 1);
	nw_put_text(out, identity, strlen(identity));
	nw_put(out, count, 4);
	nw_vec_each (&image->segments, segment) {
		if (!segment->exec)
			continue;
		nw_put(out, segment->vaddr, 8);
		nw_put(out, segment->offset, 8);
		nw_put(out, segment->filesz, 8);
	}
	return 0;
}

static void put_rule(struct open_file *file, uint64_t vaddr, const struct nw_symbol *symbol,
		     struct nw_buf *out)
{
	struct nw_buf frame = {0}, code = {0};
	unsigned int flags = 0;

	if (!file->tables_looked) {
		note(file, nw_cfi_open(file->image, &file->cfi));
		errno = 0;
		nw_exidx_open(file->image, &file->exidx);
		note(file, nw_shortage());
	}
	file->tables_looked = true;
	if (file->cfi)
		note(file, nw_cfi_rule(file->cfi, vaddr, &flags, &frame));
	errno = 0;
	if (file->exidx)
		flags |= nw_exidx_rule(file->exidx, vaddr, &code);
	note(file, nw_shortage());
	if (symbol &&
	    (vaddr == symbol->value || vaddr == symbol->value + symbol->local_entry))
		flags |= NW_RULE_ENTERED;
	out->failed |= frame.failed || code.failed;
	nw_put(out, 1 + frame.len + code.len, 4);
	nw_put(out, flags, 1);
	if (frame.len)
		nw_buf_add(out, frame.data, frame.len);
	if (code.len)
		nw_buf_add(out, code.data, code.len);
	nw_buf_free(&frame);
	nw_buf_free(&code);
}

static void put_cut(struct nw_buf *out, const char *text)
{
	nw_put_text(out, text, text ? strnlen(text, LONGEST_NAME) : 0);
}

/* Writes a function's name without the version of its symbol, as in "f@@GLIBC_2.34". demangler NULL: the linker's
 * name. */
static void put_name(struct nw_demangler *demangler, const char *name, struct nw_buf *out)
{
	nw_cleanup(nw_free_ptr) char *source = demangler ? nw_demangle(demangler, name)
							 : NULL;

	if (source)
		put_cut(out, source);
	else
		nw_put_text(out, name, nw_min64(strcspn(name, "@"), LONGEST_NAME));
}

static void put_line(const struct nw_source_line *line, struct nw_buf *out)
{
	put_cut(out, line->file);
	nw_put(out, line->line, 4);
}

/* Returns NULL if the file has no DWARF. */
static struct nw_lines *lines_of(struct open_file *file)
{
	errno = 0;
	if (!file->lines_looked)
		note(file, nw_lines_open(file->image, &file->lines));
	file->lines_looked = true;
	return file->lines;
}

static void put_names(struct nw_demangler *demangler, const struct nw_source_lines *lines,
		      const struct nw_symbol *symbol, struct nw_buf *out)
{
	size_t count = 0;

	nw_put(out, symbol != NULL, 1);
	nw_put(out, symbol ? symbol->value : 0, 8);
	put_name(demangler, symbol ? symbol->name : "", out);
	put_line(&lines->line, out);
	size_t place = out->len;
	nw_put(out, 0, 1);
	for (; count < lines->count && out->len - place < MOST_NAMES; count++) {
		put_name(demangler, lines->inlined[count].function, out);
		put_line(&lines->inlined[count].line, out);
	}
	if (!out->failed)
		out->data[place] = (char)count;
}

static void answer_place(struct nw_served *served, struct open_file *file,
			 struct nw_wire *question, struct nw_buf *out)
{
	const unsigned int depth = (unsigned int)nw_take(question, 1);
	struct nw_demangler *demangler = nw_take(question, 1) ? NULL : &served->demangler;
	uint64_t vaddr = nw_take(question, 8);
	struct nw_source_lines lines = {0};
	struct nw_symbol symbol;
	bool known = nw_image_function(file->image, vaddr, &symbol) == 0;

	put_rule(file, vaddr, known ? &symbol : NULL, out);
	if (depth >= NW_PLACE_LINES && lines_of(file))
		nw_lines_at(file->lines, vaddr, &lines);
	if (depth >= NW_PLACE_NAME)
		put_names(demangler, &lines, known ? &symbol : NULL, out);
}

static void answer_frames(struct open_file *file, struct nw_wire *question,
			  struct nw_buf *out)
{
	size_t count = nw_min64(nw_take(question, 4), NW_MOST_FRAMES_ASKED);

	if (!file->frames)
		file->frames = nw_frames_open(file->image);
	for (size_t i = 0; file->frames && i < count; i++) {
		struct nw_frame_numbers frame;
		nw_frame_at(file->frames, nw_take(question, 8), &frame);
		nw_put(out, frame.function, 8);
		nw_put(out, frame.size, 8);
		nw_put(out, frame.next, 8);
		nw_put(out, frame.reg, 4);
		nw_put(out, (uint64_t)frame.offset, 8);
	}
	out->failed |= !file->frames;
}

static void answer_variables(struct open_file *file, struct nw_wire *question,
			     struct nw_buf *out)
{
	struct nw_variable_place place = {.vaddr = nw_take(question, 8)};
	struct nw_frame_numbers frame = {.reg = NW_NO_REGISTER};
	struct nw_lines *lines = lines_of(file);

	place.is_entry = nw_take(question, 1);
	uint64_t count = nw_min64(nw_take(question, 4), NW_MOST_VARIABLES);
	nw_put(out, lines != NULL, 1);
	if (!lines)
		return;
	if (!file->frames)
		file->frames = nw_frames_open(file->image);
	out->failed |= !file->frames;
	if (file->frames)
		nw_frame_at(file->frames, place.vaddr, &frame);
	place.cfa = frame.reg;
	place.cfa_offset = frame.offset;
	for (uint64_t i = 0; i < count; i++) {
		struct nw_variable found = {0};
		struct nw_buf error = {0}, type = {0}, names = {0};
		nw_lines_variable(lines, &place, nw_take_text(question), &found, &error,
				  &type, &names);
		out->failed |= error.failed || type.failed || names.failed;
		put_cut(out, nw_buf_str(&error));
		put_cut(out, nw_buf_str(&type));
		/* Without room for names, the values are shown as numbers. */
		nw_put_text(out, nw_buf_str(&names),
			    out->len + names.len < MOST_NAMES ? names.len : 0);
		nw_buf_add(out, &found, sizeof(found));
		nw_buf_free(&error);
		nw_buf_free(&type);
		nw_buf_free(&names);
	}
}

static void put_places(const nw_source_places *places, struct nw_buf *out)
{
	nw_put(out, places->count, 4);
	nw_vec_each (places, place)
		nw_put(out, place->vaddr, 8);
}

static void answer_inlined(struct open_file *file, struct nw_wire *question,
			   struct nw_buf *out)
{
	const char *name = nw_take_text(question);
	struct nw_lines *lines = lines_of(file);
	struct nw_inlined_copies copies = {.count = -1};

	out->failed |= lines && nw_lines_inlined(lines, name, &copies) < 0;
	nw_put(out, (uint32_t)copies.count, 4);
	put_places(&copies.entries, out);
	nw_vec_free(&copies.entries);
}

static void answer_line(struct open_file *file, struct nw_wire *question,
			struct nw_buf *out)
{
	const char *source = nw_take_text(question);
	unsigned int line = (unsigned int)nw_take(question, 4);
	struct nw_lines *lines = lines_of(file);
	struct nw_line_places found;

	nw_put(out, lines != NULL, 1);
	if (!lines)
		return;
	out->failed |= nw_lines_places(lines, source, line, &found) < 0;
	put_cut(out, found.file);
	put_cut(out, found.other);
	nw_put(out, found.next, 4);
	nw_put(out, found.more, 1);
	nw_put(out, found.again, 4);
	put_places(&found.places, out);
	nw_vec_free(&found.places);
}

/* Answers as many names as there is room for. */
static void answer_names(struct nw_served *served, struct nw_wire *question,
			 struct nw_buf *out)
{
	uint32_t count = (uint32_t)nw_take(question, 4), done = 0;
	size_t place = out->len;

	nw_put(out, 0, 4);
	for (; done < count && !question->bad && out->len < MOST_NAMES; done++) {
		nw_cleanup(nw_free_ptr) char *source = nw_demangle(&served->demangler,
								   nw_take_text(question));
		put_cut(out, source);
	}
	if (!out->failed)
		memcpy(out->data + place, &done, sizeof(done));
}

/* Libraries do not report that they got no memory, so this checks whether there is any left. */
static bool is_memory_short(void)
{
	void *room = malloc(ROOM);
	bool is_short = !room;

	free(room);
	return is_short;
}

static int answer_once(struct nw_served *served, const void *question, size_t len,
		       struct nw_buf *out)
{
	struct nw_wire wire = {question, (const unsigned char *)question + len, false};
	enum nw_question kind = (enum nw_question)nw_take(&wire, 1);
	uint32_t number = (uint32_t)nw_take(&wire, 4);
	int code = 0;
	const bool of_file = kind != NW_ASK_NAMES;
	struct open_file *file = of_file ? find_file(served, number, &code) : NULL;

	nw_buf_clear(out);
	if (of_file && !file)
		return code;
	errno = 0;
	nw_put(out, NW_ANSWER, 1);
	if (kind == NW_ASK_FILE)
		code = answer_file(file->image, out);
	else if (kind == NW_ASK_PLACE)
		answer_place(served, file, &wire, out);
	else if (kind == NW_ASK_FRAMES)
		answer_frames(file, &wire, out);
	else if (kind == NW_ASK_VARIABLES)
		answer_variables(file, &wire, out);
	else if (kind == NW_ASK_NAMES)
		answer_names(served, &wire, out);
	else if (kind == NW_ASK_LINE)
		answer_line(file, &wire, out);
	else
		answer_inlined(file, &wire, out);
	/* Libraries report neither that they got no memory nor that a read has failed, but errno does, or a test. */
	int shortage = nw_shortage();
	if (file) {
		note(file, shortage);
		note(file, file->image->failed);
		shortage = file->shortage;
	}
	if (out->failed || shortage == -ENOMEM || is_memory_short())
		return ENOMEM;
	return code ? code : -shortage;
}

/* Closes files after a shortage, so that what they lack is read anew: the file of the last question, or all, which may be
 * what takes the memory. */
static void close_some(struct nw_served *served, int code)
{
	if (code == ENOMEM)
		close_all(served);
	nw_vec_each (&served->files, file)
		if (file->used == served->time)
			close_file(file);
}

void nw_served_answer(struct nw_served *served, const void *question, size_t len,
		      struct nw_buf *answer)
{
	int code = answer_once(served, question, len, answer);

	/* A shortage may be over. */
	if (nw_is_shortage(code)) {
		close_some(served, code);
		nw_buf_free(answer);
		code = answer_once(served, question, len, answer);
	}
	if (!code)
		return;
	if (nw_is_shortage(code))
		close_some(served, code);
	nw_buf_free(answer);
	nw_put(answer, NW_ANSWER_ERROR, 1);
	nw_put(answer, (uint32_t)code, 4);
}
