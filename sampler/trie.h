/* A call trie: chains of calls with, at the end of each, who was seen there and how often.
 *
 * Used twice: while the program runs with code addresses as locations (cheap), and afterwards with
 * source locations, several addresses and inlined calls folded into what the source says. */
#ifndef PERSIK_SAMPLER_TRIE_H
#define PERSIK_SAMPLER_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TRIE_ROOT (-1) /* the parent of the outermost calls; no node of its own */

struct trie_count {
    int thread;
    uint64_t running, blocked; /* samples */
};

struct trie_node {
    int parent;   /* index, always below the node's own; TRIE_ROOT */
    int location; /* the caller's numbering, from 0 */
    struct trie_count *counts;
    size_t n_counts, counts_room;
};

struct trie {
    struct trie_node *items;
    size_t count, capacity;
    struct map children; /* (parent, location) -> node */
};

#define TRIE_EMPTY ((struct trie){NULL, 0, 0, MAP_EMPTY})

/* The node reached from `parent` through `location`, made when new. */
int trie_child(struct trie *trie, int parent, int location);

/* `samples` more of `thread` that ended in `node`. */
void trie_add(struct trie *trie, int node, int thread, bool blocked, uint64_t samples);

/* Sums over the node's threads. */
uint64_t trie_running(const struct trie_node *node);
uint64_t trie_blocked(const struct trie_node *node);

void trie_free(struct trie *trie);

#endif
