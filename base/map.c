#include "base/map.h"

#include <stdlib.h>

#include "base/memory.h"

uint64_t map_mix(uint64_t hash, uint64_t value) {
    /* The finaliser of splitmix64: every input bit reaches every output bit. */
    uint64_t z = hash * 0x9e3779b97f4a7c15u + value + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t map_mix_text(uint64_t hash, const char *text) {
    for (; text && *text; text++)
        hash = map_mix(hash, (unsigned char)*text);
    return map_mix(hash, 0);
}

/* The slot that holds `key`, or the free one where it would go. Linear probing. */
static size_t find_slot(const struct map *map, uint64_t key) {
    size_t mask = map->capacity - 1;
    size_t slot = map_mix(0, key) & mask;
    while (map->used[slot] && map->keys[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

int map_get(const struct map *map, uint64_t key, int missing) {
    if (map->capacity == 0)
        return missing;
    size_t slot = find_slot(map, key);
    return map->used[slot] ? map->values[slot] : missing;
}

static void grow(struct map *map) {
    struct map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->keys = memory_alloc(map->capacity, sizeof *map->keys);
    map->values = memory_alloc(map->capacity, sizeof *map->values);
    map->used = memory_alloc(map->capacity, sizeof *map->used);
    map->count = 0;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.used[i])
            map_put(map, old.keys[i], old.values[i]);
    map_free(&old);
}

void map_put(struct map *map, uint64_t key, int value) {
    if (map->count * 4 >= map->capacity * 3)
        grow(map);
    size_t slot = find_slot(map, key);
    if (!map->used[slot]) {
        map->used[slot] = true;
        map->keys[slot] = key;
        map->count++;
    }
    map->values[slot] = value;
}

void map_free(struct map *map) {
    free(map->keys);
    free(map->values);
    free(map->used);
    *map = MAP_EMPTY;
}
