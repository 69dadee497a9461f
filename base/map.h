/* A hash map from 64-bit keys to ints, for counting and numbering things. */
#ifndef PERSIK_BASE_MAP_H
#define PERSIK_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
    size_t count, capacity; /* capacity is a power of two */
    uint64_t *keys;
    int *values;
    bool *used;
};

#define MAP_EMPTY ((struct map){0, 0, NULL, NULL, NULL})

/* The value stored for `key`, or `missing`. */
int map_get(const struct map *map, uint64_t key, int missing);

/* Stores or replaces. */
void map_put(struct map *map, uint64_t key, int value);

void map_free(struct map *map);

/* Mixes `value` into a running hash; start with any seed. */
uint64_t map_mix(uint64_t hash, uint64_t value);
uint64_t map_mix_text(uint64_t hash, const char *text);

#endif
