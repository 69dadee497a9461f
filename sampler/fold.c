/* Addresses to source locations. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sampler/profile.h"

/* What calls main and the start routines. In a static program these are part of the binary. */
static const char *const starters[] = {
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_start_main_impl",
    "generic_start_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
};

static const char *const starter_modules[] = {"libc.so", "libc-", "libpthread", "ld-linux"};

static bool is_starter(const struct symbol *symbol) {
    for (size_t i = 0; i < sizeof starter_modules / sizeof *starter_modules; i++)
        if (strncmp(symbol->module, starter_modules[i], strlen(starter_modules[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
        if (strcmp(symbol->function, starters[i]) == 0)
            return true;
    return false;
}

/* The node for the chain of calls at one address below `parent`. */
static int follow(struct trie *trie, int parent, const int *locations, size_t n,
                  const struct symbols *symbols) {
    for (size_t i = 0; i < n; i++)
        if (parent != TRIE_ROOT || !is_starter(&symbols_all(symbols)[locations[i]]))
            parent = trie_child(trie, parent, locations[i]);
    return parent;
}

static void move_counts(struct trie *trie, int node, const struct trie_node *from) {
    for (size_t i = 0; i < from->n_counts; i++) {
        const struct trie_count *count = &from->counts[i];
        trie_add(trie, node, count->thread, false, count->running);
        trie_add(trie, node, count->thread, true, count->blocked);
    }
}

struct trie profile_fold(const struct trie *by_address, const uint64_t *addresses,
                         struct symbols *symbols) {
    struct trie folded = TRIE_EMPTY;
    int *node_of = memory_alloc(by_address->count, sizeof *node_of);
    for (size_t i = 0; i < by_address->count; i++) {
        const struct trie_node *from = &by_address->items[i];
        const int *locations;
        size_t n = symbols_find(symbols, addresses[from->location], &locations);
        int parent = from->parent == TRIE_ROOT ? TRIE_ROOT : node_of[from->parent];
        int node = follow(&folded, parent, locations, n, symbols);
        node_of[i] = node;
        if (from->n_counts == 0)
            continue;
        if (node == TRIE_ROOT) /* a thread that has not yet reached its start routine, or left it */
            node = trie_child(&folded, TRIE_ROOT, locations[n - 1]);
        move_counts(&folded, node, from);
    }
    free(node_of);
    return folded;
}
