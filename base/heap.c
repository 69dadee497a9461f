#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ARITY 4

void heap_init(struct heap *heap, size_t capacity) {
    *heap = (struct heap){.capacity = (uint32_t)capacity};
    heap->entries = memory_alloc(capacity, sizeof *heap->entries);
    heap->position = memory_alloc(capacity, sizeof *heap->position);
    heap_clear(heap);
}

void heap_free(struct heap *heap) {
    free(heap->entries);
    free(heap->position);
}

void heap_clear(struct heap *heap) {
    memset(heap->position, 0xff, heap->capacity * sizeof *heap->position); /* HEAP_ABSENT */
    heap->count = 0;
    heap->next_order = 0;
}

static inline bool leaves_before(const struct heap_entry *a, const struct heap_entry *b) {
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

static inline void place_entry(struct heap *heap, uint32_t at, struct heap_entry entry) {
    heap->entries[at] = entry;
    heap->position[entry.id] = at;
}

/* Moves the hole at `at` towards the root until `entry` fits into it. */
static void sift_up(struct heap *heap, uint32_t at, struct heap_entry entry) {
    while (at > 0) {
        uint32_t parent = (at - 1) / ARITY;
        if (!leaves_before(&entry, &heap->entries[parent]))
            break;
        place_entry(heap, at, heap->entries[parent]);
        at = parent;
    }
    place_entry(heap, at, entry);
}

/* Moves the hole at `at` towards the leaves until `entry` fits into it. */
static void sift_down(struct heap *heap, uint32_t at, struct heap_entry entry) {
    for (;;) {
        uint32_t child = at * ARITY + 1;
        if (child >= heap->count)
            break;
        uint32_t end = child + ARITY < heap->count ? child + ARITY : heap->count;
        uint32_t best = child;
        while (++child < end) {
            if (leaves_before(&heap->entries[child], &heap->entries[best]))
                best = child;
        }
        if (!leaves_before(&heap->entries[best], &entry))
            break;
        place_entry(heap, at, heap->entries[best]);
        at = best;
    }
    place_entry(heap, at, entry);
}

static void settle(struct heap *heap, uint32_t at, struct heap_entry entry) {
    if (at > 0 && leaves_before(&entry, &heap->entries[(at - 1) / ARITY]))
        sift_up(heap, at, entry);
    else
        sift_down(heap, at, entry);
}

void heap_set(struct heap *heap, uint32_t id, double key) {
    struct heap_entry entry = {.key = key, .order = heap->next_order++, .id = id};
    uint32_t at = heap->position[id];
    if (at == HEAP_ABSENT)
        sift_up(heap, heap->count++, entry);
    else
        settle(heap, at, entry);
}

void heap_remove(struct heap *heap, uint32_t id) {
    uint32_t at = heap->position[id];
    if (at == HEAP_ABSENT)
        return;
    heap->position[id] = HEAP_ABSENT;
    struct heap_entry last = heap->entries[--heap->count];
    if (at < heap->count)
        settle(heap, at, last);
}
