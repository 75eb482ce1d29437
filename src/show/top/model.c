// SPDX-License-Identifier: MIT
/* The data of each row of a live view: the last interval, the whole run, and the course of the last minute. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "show/top/top.h"

enum {
	MINUTE = 60,
	FIRST_POWER = 6 /* power of two of the first bin */
};

unsigned int nw_top_bin(uint64_t ns)
{
	unsigned int power = ns ? 63 - (unsigned int)__builtin_clzll(ns) : 0;

	if (power < FIRST_POWER)
		return 0;
	unsigned int bin = 2 * (power - FIRST_POWER) +
			   (unsigned int)(ns >> (power - 1) & 1);
	return bin < NW_TOP_BINS ? bin : NW_TOP_BINS - 1;
}

uint64_t nw_top_bin_start(unsigned int bin)
{
	uint64_t power = (uint64_t)1 << (bin / 2 + FIRST_POWER);

	return bin % 2 ? power + power / 2 : power;
}

uint8_t nw_top_shade(uint64_t count)
{
	double shade = count ? round(8 * log2((double)count + 1)) : 0;

	return shade > 255 ? 255 : (uint8_t)shade;
}

uint64_t nw_top_unshade(uint8_t shade)
{
	return (uint64_t)(exp2(shade / 8.0) - 0.5);
}

void nw_top_open(struct nw_top *top, uint64_t began, uint64_t interval_ns, uint64_t all_ns)
{
	uint64_t length = all_ns ? all_ns + NW_TOP_SLOTS - 1
				 : (uint64_t)MINUTE * 1000000000;

	*top = (struct nw_top){
		.slot_ns = nw_max64(length / NW_TOP_SLOTS, interval_ns),
		.whole = all_ns > 0,
		.slot = 1,
		.start = began,
		.end = began,
		.began = began,
		.cost = -1,
	};
}

static void free_row(struct nw_top_row *row)
{
	nw_histogram_free(&row->last.times);
	nw_histogram_free(&row->total.times);
	free(row->name);
	free(row->group_name);
	free(row->slots);
	free(row);
}

void nw_top_free(struct nw_top *top)
{
	nw_vec_each (&top->rows, row)
		free_row(*row);
	nw_vec_free(&top->rows);
	nw_hash_table_free(&top->table);
	*top = (struct nw_top){0};
}

/* ---- copies ------------------------------------------------------------------------- */

static struct nw_top_row *copy_row(const struct nw_top_row *from)
{
	struct nw_top_row *row = calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	*row = *from;
	row->last.times = row->total.times = (struct nw_histogram){0};
	nw_histogram_merge(&row->last.times, &from->last.times);
	nw_histogram_merge(&row->total.times, &from->total.times);
	row->name = strdup(from->name);
	row->group_name = strdup(from->group_name);
	row->slots = from->slots ? malloc(NW_TOP_SLOTS * sizeof(*row->slots)) : NULL;
	if (row->slots)
		memcpy(row->slots, from->slots, NW_TOP_SLOTS * sizeof(*row->slots));
	if (row->name && row->group_name && !row->slots == !from->slots)
		return row;
	free_row(row);
	return NULL;
}

int nw_top_copy(const struct nw_top *from, struct nw_top *to)
{
	*to = *from;
	memset(&to->rows, 0, sizeof(to->rows));
	to->table = (struct nw_hash_table){0}; /* a copy gets no new rows */
	nw_vec_each (&from->rows, row) {
		struct nw_top_row **slot = nw_vec_add(&to->rows);
		struct nw_top_row *copy = slot ? copy_row(*row) : NULL;
		if (!copy) {
			to->rows.count -= slot != NULL;
			nw_top_free(to);
			return -ENOMEM;
		}
		*slot = copy;
	}
	return 0;
}

/* ---- finding rows ------------------------------------------------------------------- */

/* Escapes a name, which comes from the target process. The parts of a group's name are joined by commas. */
static char *escaped(const char *text)
{
	struct nw_buf out = {0};

	for (size_t len; *text; text += len) {
		const char *end = strchrnul(text, NW_GROUP_SEPARATOR);
		len = (size_t)(end - text);
		nw_buf_add_escaped(&out, text, len);
		if (*end) {
			nw_buf_addc(&out, ',');
			len++;
		}
	}
	nw_buf_adds(&out, "");
	return nw_buf_take(&out);
}

/* Makes a row, which is not in the table yet; NULL: out of memory. */
static struct nw_top_row *new_row(struct nw_top *top, const struct nw_top_entry *entry)
{
	struct nw_top_row *row = calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	row->is_span = entry->is_span;
	row->index = entry->index;
	row->group = entry->group;
	row->name = escaped(entry->name);
	row->group_name = escaped(entry->group_name ? entry->group_name : "");
	struct nw_top_row **slot = row->name && row->group_name ? nw_vec_add(&top->rows)
								: NULL;
	if (!slot) {
		free_row(row);
		return NULL;
	}
	*slot = row;
	return row;
}

/* Finds or makes a row. 0 with *out NULL: there are too many rows. */
static int find_row(struct nw_top *top, const struct nw_top_entry *entry,
		    struct nw_top_row **out)
{
	const uint64_t hash = nw_hash64(((uint64_t)entry->group << 32 | entry->index) * 2 +
					entry->is_span);

	nw_hash_each (&top->table, hash, number) {
		struct nw_top_row *row = top->rows.item[number];
		if (row->index == entry->index && row->group == entry->group &&
		    row->is_span == entry->is_span) {
			*out = row;
			return 0;
		}
	}
	if (top->rows.count >= NW_TOP_ROWS) {
		top->unwatched++;
		*out = NULL;
		return 0;
	}
	*out = new_row(top, entry);
	return *out ? nw_hash_table_add(&top->table, hash, top->rows.count - 1) : -ENOMEM;
}

/* ---- intervals ---------------------------------------------------------------------- */

static struct nw_top_slot *slot_at(const struct nw_top_row *row, uint64_t slot)
{
	return &row->slots[slot % NW_TOP_SLOTS];
}

/* Begins an interval: slots of the time since the last hit are empty. A row without hits for as long as all its slots
 * cover frees them. */
static void move_on(struct nw_top_row *row, uint64_t from, uint64_t to)
{
	nw_histogram_clear(&row->last.times);
	row->last.count = 0;
	if (!row->slots)
		return;
	if (to - row->latest >= NW_TOP_SLOTS) {
		free(row->slots);
		row->slots = NULL;
		return;
	}
	for (uint64_t slot = from + 1; slot <= to; slot++)
		*slot_at(row, slot) = (struct nw_top_slot){0};
}

void nw_top_next(struct nw_top *top, uint64_t start, uint64_t end)
{
	/* an interval belongs to the slot in which it ends */
	uint64_t passed = end > top->began ? end - top->began - 1 : 0;
	uint64_t slot = nw_max64(top->slot, passed / top->slot_ns + 1);

	nw_vec_each (&top->rows, row)
		move_on(*row, top->slot, slot);
	top->slot = slot;
	top->start = start;
	top->end = end;
	top->unwatched = 0;
}

/* A bin is half a power of two, and so are 16 buckets, but for the smallest, which are all in the first. */
static void add_bins(uint64_t counts[NW_TOP_BINS], const struct nw_histogram *times)
{
	enum {
		SOME = NW_BUCKETS / 2
	};
	const struct nw_blocks *blocks = &times->values;

	for (unsigned int i = 0; i < blocks->used; i += SOME) {
		unsigned int bucket = blocks->first + i;
		uint64_t sum = 0, low = (uint64_t)(NW_BUCKETS + bucket % NW_BUCKETS);
		for (unsigned int j = 0; j < SOME; j++)
			sum += blocks->count[i + j];
		if (sum && bucket >= NW_BUCKETS)
			counts[nw_top_bin(low << (bucket / NW_BUCKETS - 1))] += sum;
		else
			counts[0] += sum;
	}
}

static int add_to_slot(struct nw_top_row *row, const struct nw_top *top,
		       const struct nw_top_entry *entry)
{
	if (!row->slots)
		row->slots = calloc(NW_TOP_SLOTS, sizeof(*row->slots));
	if (!row->slots)
		return -ENOMEM;
	if (row->latest != top->slot)
		memset(row->counts, 0, sizeof(row->counts));
	row->latest = top->slot;
	struct nw_top_slot *slot = slot_at(row, top->slot);
	slot->count += entry->count;
	if (!entry->times->count)
		return 0;
	slot->p99 = nw_max64(slot->p99, nw_histogram_percentile(entry->times, 0.99));
	add_bins(row->counts, entry->times);
	for (unsigned int i = 0; i < NW_TOP_BINS; i++)
		slot->bins[i] = row->counts[i] ? nw_top_shade(row->counts[i]) : 0;
	return 0;
}

int nw_top_add(struct nw_top *top, const struct nw_top_entry *entry)
{
	struct nw_top_row *row;
	int ret = find_row(top, entry, &row);

	if (ret < 0 || !row)
		return ret;
	row->disabled = entry->disabled;
	row->last.count += entry->count;
	row->total.count += entry->count;
	nw_histogram_merge(&row->last.times, entry->times);
	nw_histogram_merge(&row->total.times, entry->times);
	return entry->count ? add_to_slot(row, top, entry) : 0;
}
