// SPDX-License-Identifier: MIT
/* The text of an event's `hist` file. */
#include "kernel/tracefs/kernel_map.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	nw_kernel_maps maps = {0};

	if (nw_kernel_maps_parse(text, size, &maps) < 0) {
		PROMISE(maps.count == 0);
		free(text);
		return 0;
	}
	nw_vec_each (&maps, map) {
		PROMISE(map->info);
		PROMISE(map->keys <= NW_KERNEL_MAP_KEYS);
		nw_kernel_map_sort(map);
		for (size_t i = 0; i < map->rows.count; i++) {
			PROMISE(map->rows.item[i].key[0].low <=
				map->rows.item[i].key[0].high);
			PROMISE(!i || nw_kernel_map_compare(&map->rows.item[i - 1],
							    &map->rows.item[i]) <= 0);
		}
		(void)nw_kernel_map_find(&maps, "common_pid", "lat < 2048", ":at0=");
	}
	nw_kernel_maps_free(&maps);
	free(text);
	return 0;
}
