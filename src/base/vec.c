// SPDX-License-Identifier: MIT
/* Growable arrays, the hash table, the string index, and cleanup of variables. */
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

static void put(struct nw_hash_table *table, struct nw_hash_table_slot item)
{
	size_t at = item.hash & (table->slots - 1);

	while (table->slot[at].number)
		at = (at + 1) & (table->slots - 1);
	table->slot[at] = item;
}

int nw_hash_table_add(struct nw_hash_table *table, uint64_t hash, size_t number)
{
	if (number >= UINT32_MAX)
		return -ENOMEM;
	if (2 * table->count >= table->slots) {
		struct nw_hash_table more = {.slots = table->slots ? 2 * table->slots : 64,
					     .count = table->count};
		more.slot = calloc(more.slots, sizeof(*more.slot));
		if (!more.slot)
			return -ENOMEM;
		for (size_t i = 0; i < table->slots; i++)
			if (table->slot[i].number)
				put(&more, table->slot[i]);
		free(table->slot);
		*table = more;
	}
	put(table, (struct nw_hash_table_slot){(uint32_t)hash, (uint32_t)number + 1});
	table->count++;
	return 0;
}

static struct nw_hash_table_slot *slot_of(const struct nw_hash_table *table, uint64_t hash,
					  size_t number)
{
	size_t at = (uint32_t)hash & (table->slots - 1);

	while (table->slot[at].number != number + 1)
		at = (at + 1) & (table->slots - 1);
	return &table->slot[at];
}

void nw_hash_table_remove(struct nw_hash_table *table, uint64_t hash, size_t number,
			  uint64_t last_hash, size_t last)
{
	const size_t mask = table->slots - 1;
	size_t gap = (size_t)(slot_of(table, hash, number) - table->slot);

	slot_of(table, last_hash, last)->number = (uint32_t)number + 1;
	/* Items behind the gap move up if their search would end there. */
	for (size_t at = (gap + 1) & mask; table->slot[at].number; at = (at + 1) & mask) {
		if (((at - table->slot[at].hash) & mask) < ((at - gap) & mask))
			continue;
		table->slot[gap] = table->slot[at];
		gap = at;
	}
	table->slot[gap].number = 0;
	table->count--;
}

void nw_hash_table_free(struct nw_hash_table *table)
{
	free(table->slot);
	*table = (struct nw_hash_table){0};
}

static int64_t find(const struct nw_index *index, const char *text, size_t len,
		    uint64_t hash)
{
	nw_hash_each (&index->table, hash, number) {
		const char *stored = index->text.item[number];
		if (strncmp(stored, text, len) == 0 && stored[len] == '\0')
			return (int64_t)number;
	}
	return -ENOENT;
}

int64_t nw_index_find(const struct nw_index *index, const char *text, size_t len)
{
	return find(index, text, len, nw_hash_text(text, len));
}

int64_t nw_index_add(struct nw_index *index, const char *text, size_t len)
{
	/* A stored string ends at its first NUL; a key that holds one would never match. */
	len = strnlen(text, len);
	uint64_t hash = nw_hash_text(text, len);
	int64_t known = find(index, text, len, hash);
	if (known >= 0)
		return known;
	size_t number = index->text.count;
	if (nw_strings_add(&index->text, text, len) < 0)
		return -ENOMEM;
	if (nw_hash_table_add(&index->table, hash, number) == 0)
		return (int64_t)number;
	free(index->text.item[--index->text.count]);
	return -ENOMEM;
}

void nw_index_free(struct nw_index *index)
{
	nw_strings_free(&index->text);
	nw_hash_table_free(&index->table);
	*index = (struct nw_index){0};
}
