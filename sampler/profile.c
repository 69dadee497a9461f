#include "sampler/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sampler/grouping.h"

static const struct symbol *symbol_of(const struct profile_calls *calls, int node) {
    return &calls->symbols[calls->trie.items[node].location];
}

/* ---- nodes ---- */

static void describe_nodes(const struct profile_calls *calls, struct sample *sample) {
    sample->n_nodes = calls->trie.count;
    sample->nodes = memory_alloc(sample->n_nodes, sizeof *sample->nodes);
    for (size_t i = 0; i < sample->n_nodes; i++) {
        const struct trie_node *node = &calls->trie.items[i];
        const struct symbol *symbol = symbol_of(calls, (int)i);
        sample->nodes[i] = (struct sample_node){
            .parent = node->parent,
            .function = memory_strdup(symbol->function),
            .file = memory_strdup(symbol->file),
            .line = symbol->line,
            .module = memory_strdup(symbol->module),
            .running = trie_running(node),
            .blocked = trie_blocked(node),
        };
        sample->samples += sample->nodes[i].running + sample->nodes[i].blocked;
    }
}

/* ---- functions ---- */

static int compare_functions(const void *left, const void *right) {
    const struct symbol *a = left, *b = right;
    int order = strcmp(a->function, b->function);
    if (order == 0 && (!a->file || !b->file))
        return !a->file - !b->file; /* the one with a file speaks for its name */
    return order ? order : strcmp(a->file, b->file);
}

static void describe_functions(const struct profile_calls *calls, struct sample *sample) {
    size_t n = calls->trie.count;
    struct symbol *reached = memory_alloc(n, sizeof *reached);
    for (size_t i = 0; i < n; i++)
        reached[i] = *symbol_of(calls, (int)i);
    qsort(reached, n, sizeof *reached, compare_functions);
    sample->functions = memory_alloc(n, sizeof *sample->functions);
    sample->function_files = memory_alloc(n, sizeof *sample->function_files);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && strcmp(reached[i].function, reached[i - 1].function) == 0)
            continue;
        sample->functions[sample->n_functions] = memory_strdup(reached[i].function);
        sample->function_files[sample->n_functions] = memory_strdup(reached[i].file);
        sample->n_functions++;
    }
    free(reached);
}

struct call {
    const char *callee, *caller;
};

static int compare_calls(const void *left, const void *right) {
    const struct call *a = left, *b = right;
    int order = strcmp(a->callee, b->callee);
    return order ? order : strcmp(a->caller, b->caller);
}

/* Functions with more than one distinct caller; a function that calls itself is not one. */
static void describe_library_functions(const struct profile_calls *calls, struct sample *sample) {
    struct call *pairs = memory_alloc(calls->trie.count, sizeof *pairs);
    size_t n = 0;
    for (size_t i = 0; i < calls->trie.count; i++) {
        int parent = calls->trie.items[i].parent;
        if (parent == TRIE_ROOT)
            continue;
        struct call call = {symbol_of(calls, (int)i)->function, symbol_of(calls, parent)->function};
        if (strcmp(call.callee, call.caller) != 0)
            pairs[n++] = call;
    }
    qsort(pairs, n, sizeof *pairs, compare_calls);
    sample->library_functions = memory_alloc(n, sizeof *sample->library_functions);
    for (size_t i = 1; i < n; i++) {
        size_t known = sample->n_library_functions;
        if (strcmp(pairs[i].callee, pairs[i - 1].callee) == 0 &&
            strcmp(pairs[i].caller, pairs[i - 1].caller) != 0 &&
            (known == 0 || strcmp(sample->library_functions[known - 1], pairs[i].callee) != 0))
            sample->library_functions[sample->n_library_functions++] =
                memory_strdup(pairs[i].callee);
    }
    free(pairs);
}

void profile_describe(const struct profile_calls *calls, struct sample *sample) {
    sample->version = SAMPLE_VERSION;
    sample->n_threads = calls->n_threads;
    describe_nodes(calls, sample);
    describe_functions(calls, sample);
    describe_library_functions(calls, sample);
    grouping_describe(calls, sample);
}
