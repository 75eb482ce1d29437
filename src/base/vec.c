// SPDX-License-Identifier: MIT
/* Growable arrays, the string index, and cleanup of variables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

void *nw_vec_grow(void **item, size_t *count, size_t *room, size_t size)
{
	if (*count == *room) {
		size_t more = *room ? *room * 2 : 8;
		size_t bytes;
		if (nw_size_mul_overflows(more, size, &bytes))
			return NULL;
		void *grown = realloc(*item, bytes);
		if (!grown)
			return NULL;
		*item = grown;
		*room = more;
	}
	void *last = (char *)*item + *count * size;
	memset(last, 0, size);
	(*count)++;
	return last;
}

void nw_free_ptr(void *ptr_to_ptr)
{
	free(*(void **)ptr_to_ptr);
}

int nw_strings_add(nw_strings *list, const char *text, size_t len)
{
	char **slot = nw_vec_add(list);

	if (!slot)
		return -ENOMEM;
	*slot = strndup(text, len);
	if (*slot)
		return 0;
	list->count--;
	return -ENOMEM;
}

static int add_formatted(nw_strings *list, const char *fmt, va_list args)
{
	struct nw_buf text = {0};

	nw_buf_vprintf(&text, fmt, args);
	int ret = text.failed ? -ENOMEM : nw_strings_add(list, nw_buf_str(&text), text.len);
	nw_buf_free(&text);
	return ret;
}

int nw_strings_addf(nw_strings *list, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int ret = add_formatted(list, fmt, args);
	va_end(args);
	return ret;
}

void nw_strings_tell(nw_strings *list, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (add_formatted(list, fmt, args) < 0)
		(void)!nw_strings_addf(list, "out of memory: a message is missing here");
	va_end(args);
}

bool nw_strings_has(const nw_strings *list, const char *text)
{
	nw_vec_each (list, known)
		if (strcmp(*known, text) == 0)
			return true;
	return false;
}

void nw_strings_free(nw_strings *list)
{
	nw_vec_each (list, text)
		free(*text);
	nw_vec_free(list);
}

/* FNV-1a, mixed: for short keys. */
uint64_t nw_hash_text(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return nw_hash64(hash);
}

static bool same_text(const char *stored, const char *text, size_t len)
{
	return strncmp(stored, text, len) == 0 && stored[len] == '\0';
}

/* Returns the slot that holds text, or the free slot where it would go. */
static size_t find_slot(const struct nw_index *index, const char *text, size_t len)
{
	size_t at = nw_hash_text(text, len) & (index->slots - 1);

	while (index->slot[at] &&
	       !same_text(index->text.item[index->slot[at] - 1], text, len))
		at = (at + 1) & (index->slots - 1);
	return at;
}

static int rehash(struct nw_index *index)
{
	size_t slots = index->slots ? index->slots * 2 : 64;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	free(index->slot);
	index->slot = slot;
	index->slots = slots;
	for (size_t i = 0; i < index->text.count; i++) {
		const char *text = index->text.item[i];
		slot[find_slot(index, text, strlen(text))] = (uint32_t)i + 1;
	}
	return 0;
}

int64_t nw_index_find(const struct nw_index *index, const char *text, size_t len)
{
	if (!index->slots)
		return -ENOENT;
	uint32_t number = index->slot[find_slot(index, text, len)];
	return number ? (int64_t)number - 1 : -ENOENT;
}

int64_t nw_index_add(struct nw_index *index, const char *text, size_t len)
{
	/* A stored string ends at its first NUL; a key that holds one would never match. */
	len = strnlen(text, len);
	if (!index->slots && rehash(index) < 0)
		return -ENOMEM;
	size_t at = find_slot(index, text, len);
	if (index->slot[at])
		return (int64_t)index->slot[at] - 1;
	if ((index->text.count + 1) * 2 > index->slots) {
		if (rehash(index) < 0)
			return -ENOMEM;
		at = find_slot(index, text, len);
	}
	if (index->text.count >= UINT32_MAX - 1 ||
	    nw_strings_add(&index->text, text, len) < 0)
		return -ENOMEM;
	index->slot[at] = (uint32_t)index->text.count;
	return (int64_t)index->text.count - 1;
}

void nw_index_free(struct nw_index *index)
{
	nw_strings_free(&index->text);
	free(index->slot);
	*index = (struct nw_index){0};
}
