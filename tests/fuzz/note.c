// SPDX-License-Identifier: MIT
/* The bytes of a .note.stapsdt section; the first byte says which class and byte order. */
#include <errno.h>

#include "find/elf/note.h"
#include "fuzz.h"

static void check_note(const struct nw_note *note, const char *section, size_t end)
{
	const char *const strings[] = {note->provider, note->name, note->args};

	PROMISE(*note->provider && *note->name);
	for (size_t i = 0; i < NW_COUNT(strings); i++) {
		if (i == 2 && !*note->args)
			continue; /* may be a literal */
		PROMISE(strings[i] >= section &&
			strings[i] + strlen(strings[i]) < section + end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	bool elf64 = data[0] & 1, big_endian = data[0] & 2;
	char *section = fuzz_bytes(data + 1, size - 1);
	size_t at = 0, before = 0;
	struct nw_note note;
	const char *why = NULL;
	int ret;

	while ((ret = nw_note_next(section, size - 1, elf64, big_endian, &at, &note,
				   &why)) != 0) {
		PROMISE(at > before && at <= size - 1);
		PROMISE(ret == 1 || (ret == -EBADMSG && why && *why));
		if (ret == 1)
			check_note(&note, section, at);
		before = at;
	}
	PROMISE(at == size - 1);
	free(section);
	return 0;
}
