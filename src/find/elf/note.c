// SPDX-License-Identifier: MIT
/*
 * Reads the bytes of a .note.stapsdt section (SystemTap's wiki, "UserSpaceProbeImplementation"; <sys/sdt.h>,
 * _SDT_NOTE_TYPE 3):
 *
 * 	u32 namesz = 8, u32 descsz, u32 type = 3, "stapsdt\0",
 * 	desc: pc, base, semaphore (words of the ELF class), provider\0 name\0 args\0,
 * 	padding to 4 bytes (in 64-bit files too)
 */
#include <errno.h>
#include <string.h>

#include "base/load.h"

#include "note.h"

#define STAPSDT_TYPE 3

static uint64_t load(const char *at, size_t size, bool big_endian)
{
	return nw_load_ordered((const unsigned char *)at, size, big_endian);
}

static size_t align4(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* Takes the string at *at, whose NUL must come before end; moves *at behind it. */
static const char *take_string(const char **at, const char *end)
{
	const char *text = *at;
	const char *nul = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static int parse_desc(const char *desc, size_t len, bool elf64, bool big_endian,
		      struct nw_note *note, const char **why)
{
	size_t word = elf64 ? 8 : 4;
	const char *at = desc + 3 * word, *end = desc + len;

	*why = "its descriptor is too short for three addresses";
	if (len < 3 * word)
		return -EBADMSG;
	note->pc = load(desc, word, big_endian);
	note->base = load(desc + word, word, big_endian);
	note->semaphore = load(desc + 2 * word, word, big_endian);
	*why = "its strings do not end inside the note";
	note->provider = take_string(&at, end);
	note->name = note->provider ? take_string(&at, end) : NULL;
	if (!note->name)
		return -EBADMSG;
	/* Hand-written notes may omit the arguments. */
	note->args = at < end ? take_string(&at, end) : "";
	if (!note->args)
		return -EBADMSG;
	*why = "it has no provider or no name";
	return *note->provider && *note->name ? 1 : -EBADMSG;
}

int nw_note_next(const char *data, size_t len, bool elf64, bool big_endian, size_t *at,
		 struct nw_note *note, const char **why)
{
	while (*at < len) {
		size_t left = len - *at;
		const char *head = data + *at;

		*note = (struct nw_note){.provider = "", .name = "", .args = ""};
		*at = len; /* used if the note's own sizes do not lead to the next note */
		if (left < 12) {
			*why = "its header is cut off";
			return -EBADMSG;
		}
		size_t name_len = load(head, 4, big_endian);
		size_t desc_len = load(head + 4, 4, big_endian);
		uint64_t type = load(head + 8, 4, big_endian);
		size_t desc_at = 12 + align4(name_len);
		if (name_len > left || desc_at > left || desc_len > left - desc_at) {
			*why = "its sizes reach past the end of the section";
			return -EBADMSG;
		}
		size_t whole = align4(desc_at + desc_len);
		*at = len - left + (whole < left ? whole : left);
		if (type != STAPSDT_TYPE || name_len != 8 ||
		    memcmp(head + 12, "stapsdt", 8) != 0)
			continue;
		int ret = parse_desc(head + desc_at, desc_len, elf64, big_endian, note,
				     why);
		if (ret < 0)
			*note = (struct nw_note){
				.provider = "", .name = "", .args = "", .pc = note->pc};
		return ret;
	}
	return 0;
}
