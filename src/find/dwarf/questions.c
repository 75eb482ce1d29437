// SPDX-License-Identifier: MIT
/* Questions to the reader process about images that are open here: frames, variables, inlined functions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "find/arch/arch.h"
#include "reader.h"

static int get_of_image(void *arg, unsigned int what, const char *name)
{
	const struct nw_image *image = arg;

	if (what != NW_WANT_FILE)
		return nw_debug_place_open(image->path, (enum nw_debug_place)what, name);
	int fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static struct nw_read_file file_of(const struct nw_image *image)
{
	return (struct nw_read_file){.get = get_of_image,
				     .arg = (struct nw_image *)(uintptr_t)image};
}

static void take_frame(struct nw_wire *answer, const struct nw_arch *arch,
		       struct nw_frame *out)
{
	struct nw_frame frame = {0};

	frame.function = nw_take(answer, 8);
	frame.size = nw_take(answer, 8);
	frame.next = nw_take(answer, 8);
	unsigned int number = (unsigned int)nw_take(answer, 4);
	frame.offset = (int64_t)nw_take(answer, 8);
	frame.reg = number == NW_NO_REGISTER ? NULL : nw_arch_frame_register(arch, number);
	if (!answer->bad)
		*out = frame;
}

static int ask_frames(struct nw_reader *reader, const struct nw_image *image,
		      const uint64_t *vaddrs, size_t count, struct nw_frame *out,
		      struct nw_error *err)
{
	const struct nw_read_file file = file_of(image);
	struct nw_wire answer;

	struct nw_buf *question = nw_question_begin(reader, NW_ASK_FRAMES, &file);
	nw_put(question, count, 4);
	for (size_t i = 0; i < count; i++)
		nw_put(question, vaddrs[i], 8);
	int ret = nw_question_ask(reader, &file, &answer, err);
	for (size_t i = 0; ret == 0 && i < count; i++)
		take_frame(&answer, image->arch, &out[i]);
	return ret;
}

int nw_image_frames(struct nw_reader *reader, const struct nw_image *image,
		    const uint64_t *vaddrs, size_t count, struct nw_frame *out,
		    struct nw_error *err)
{
	struct nw_error why = {0};
	int ret = 0;

	for (size_t i = 0; i < count; i++)
		out[i] = (struct nw_frame){0};
	for (size_t i = 0; image->arch && ret == 0 && i < count; i += NW_MOST_FRAMES_ASKED)
		ret = ask_frames(reader, image, vaddrs + i,
				 nw_min64(count - i, NW_MOST_FRAMES_ASKED), out + i, &why);
	return nw_is_shortage(-ret)
		       ? nw_fail(err, -ret, "cannot read '%s': %s", image->path, why.what)
		       : 0;
}

int nw_image_place(struct nw_reader *reader, const struct nw_image *image, uint64_t vaddr,
		   struct nw_place_facts *out, struct nw_error *err)
{
	const struct nw_read_file file = file_of(image);

	return nw_reader_place(reader, &file, vaddr, NW_PLACE_LINES, out, err);
}

static void take_variable(struct nw_wire *answer, struct nw_variable *out)
{
	const char *error = nw_take_text(answer), *type = nw_take_text(answer);
	const char *names = nw_take_text(answer);
	const void *bytes = nw_take_bytes(answer, sizeof(*out));

	if (!bytes)
		return;
	memcpy(out, bytes, sizeof(*out));
	answer->bad |= out->lack >= NW_LACK_COUNT || out->base >= NW_BASE_COUNT ||
		       out->loads > NW_MOST_LOADS || out->bits > 64 || out->shift > 63;
	out->error = error;
	out->type = type;
	out->names = names;
}

int nw_image_variables(struct nw_reader *reader, const struct nw_image *image,
		       uint64_t vaddr, bool is_entry, const char *const *expressions,
		       size_t count, struct nw_variable *out, bool *known,
		       struct nw_error *err)
{
	const struct nw_read_file file = file_of(image);
	struct nw_wire answer;

	*known = false;
	struct nw_buf *question = nw_question_begin(reader, NW_ASK_VARIABLES, &file);
	nw_put(question, vaddr, 8);
	nw_put(question, is_entry, 1);
	nw_put(question, count, 4);
	for (size_t i = 0; i < count; i++) {
		nw_put_text(question, expressions[i], strlen(expressions[i]));
		out[i] = (struct nw_variable){.error = "", .type = "", .names = ""};
	}
	int ret = nw_question_ask(reader, &file, &answer, err);
	if (ret < 0)
		return ret;
	*known = nw_take(&answer, 1);
	for (size_t i = 0; *known && i < count; i++)
		take_variable(&answer, &out[i]);
	*known &= !answer.bad;
	return 0;
}

static int take_places(struct nw_wire *answer, nw_source_places *out, struct nw_error *err)
{
	uint64_t count = nw_min64(nw_take(answer, 4), NW_MOST_SOURCE_PLACES);

	for (uint64_t i = 0; i < count && !answer->bad; i++) {
		struct nw_source_place *place = nw_vec_add(out);
		if (!place)
			return nw_no_memory(err);
		place->vaddr = nw_take(answer, 8);
	}
	return 0;
}

int nw_image_line(struct nw_reader *reader, const struct nw_image *image,
		  const char *source, unsigned int line, struct nw_line_places *out,
		  bool *known, struct nw_error *err)
{
	const struct nw_read_file file = file_of(image);
	struct nw_wire answer;

	*out = (struct nw_line_places){.file = "", .other = ""};
	*known = false;
	struct nw_buf *question = nw_question_begin(reader, NW_ASK_LINE, &file);
	nw_put_text(question, source, strlen(source));
	nw_put(question, line, 4);
	int ret = nw_question_ask(reader, &file, &answer, err);
	if (ret < 0)
		return ret;
	*known = nw_take(&answer, 1);
	if (!*known)
		return 0;
	out->file = nw_take_text(&answer);
	out->other = nw_take_text(&answer);
	out->next = (unsigned int)nw_take(&answer, 4);
	out->more = nw_take(&answer, 1);
	out->again = (unsigned int)nw_take(&answer, 4);
	ret = take_places(&answer, &out->places, err);
	*known = !answer.bad;
	return ret;
}

int nw_image_inlined(struct nw_reader *reader, const struct nw_image *image,
		     const char *name, struct nw_inlined_copies *out, struct nw_error *err)
{
	const struct nw_read_file file = file_of(image);
	struct nw_wire answer;

	*out = (struct nw_inlined_copies){.count = -1};
	struct nw_buf *question = nw_question_begin(reader, NW_ASK_INLINED, &file);
	nw_put_text(question, name, strlen(name));
	int ret = nw_question_ask(reader, &file, &answer, err);
	if (ret < 0)
		return ret;
	out->count = (int)(int32_t)nw_take(&answer, 4);
	return take_places(&answer, &out->entries, err);
}

int nw_count_inlined(const struct nw_image *image, const char *name)
{
	struct nw_inlined_copies copies = {.count = -1};
	struct nw_reader *reader;

	if (nw_reader_open(&reader) < 0)
		return -1;
	int ret = nw_image_inlined(reader, image, name, &copies, NULL);
	nw_vec_free(&copies.entries);
	nw_reader_free(reader);
	return ret < 0 ? -1 : copies.count;
}
