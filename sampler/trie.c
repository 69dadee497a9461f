#include "sampler/trie.h"

#include <stdlib.h>

#include "base/memory.h"

int trie_child(struct trie *trie, int parent, int location) {
    uint64_t key = (uint64_t)(uint32_t)parent << 32 | (uint32_t)location;
    int node = map_get(&trie->children, key, -1);
    if (node >= 0)
        return node;
    node = (int)trie->count;
    *VECTOR_ADD(trie) = (struct trie_node){.parent = parent, .location = location};
    map_put(&trie->children, key, node);
    return node;
}

static struct trie_count *find_count(struct trie_node *node, int thread) {
    for (size_t i = 0; i < node->n_counts; i++)
        if (node->counts[i].thread == thread)
            return &node->counts[i];
    node->counts =
        memory_grow(node->counts, node->n_counts, &node->counts_room, sizeof *node->counts);
    struct trie_count *count = &node->counts[node->n_counts++];
    count->thread = thread;
    return count;
}

void trie_add(struct trie *trie, int node, int thread, bool blocked, uint64_t samples) {
    struct trie_count *count = find_count(&trie->items[node], thread);
    if (blocked)
        count->blocked += samples;
    else
        count->running += samples;
}

uint64_t trie_running(const struct trie_node *node) {
    uint64_t sum = 0;
    for (size_t i = 0; i < node->n_counts; i++)
        sum += node->counts[i].running;
    return sum;
}

uint64_t trie_blocked(const struct trie_node *node) {
    uint64_t sum = 0;
    for (size_t i = 0; i < node->n_counts; i++)
        sum += node->counts[i].blocked;
    return sum;
}

void trie_free(struct trie *trie) {
    for (size_t i = 0; i < trie->count; i++)
        free(trie->items[i].counts);
    free(trie->items);
    map_free(&trie->children);
    *trie = TRIE_EMPTY;
}
