/* Indexed 4-ary heap: the event queue, and the scheduler's ready queue.
 *
 * Every source of events (a thread, a core, a disk, ...) has at most one event pending, so an
 * event is named by its source and can be moved or taken back in O(log n) instead of being left
 * behind to be recognised as stale. The heap's size is known beforehand: nothing is allocated
 * while a simulation runs. Four children share a cache line pair and halve the depth of a binary
 * heap. Equal keys leave in the order in which they were set. */
#ifndef PERSIK_BASE_HEAP_H
#define PERSIK_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
    double key;
    uint64_t order; /* breaks ties */
    uint32_t id;
};

struct heap {
    struct heap_entry *entries;
    uint32_t *position; /* by id: index into entries, or HEAP_ABSENT */
    uint32_t count;
    uint32_t capacity;
    uint64_t next_order;
};

#define HEAP_ABSENT UINT32_MAX

void heap_init(struct heap *heap, size_t capacity); /* for ids 0 .. capacity - 1 */
void heap_free(struct heap *heap);
void heap_clear(struct heap *heap);

/* Puts `id` in, or moves it, to `key`; it then leaves after all entries with the same key. */
void heap_set(struct heap *heap, uint32_t id, double key);

/* Takes `id` out; nothing happens when it is not in. */
void heap_remove(struct heap *heap, uint32_t id);

static inline bool heap_has(const struct heap *heap, uint32_t id) {
    return heap->position[id] != HEAP_ABSENT;
}

/* The entry that leaves next; only while count > 0. */
static inline const struct heap_entry *heap_first(const struct heap *heap) {
    return &heap->entries[0];
}

#endif
