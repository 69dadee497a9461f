/* stacks.folded: the input of flamegraph.pl, speedscope and others. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "sampler/profile.h"

struct stack {
    char *text; /* "outer;inner" */
    uint64_t count;
};

struct stacks {
    struct stack *items;
    size_t count, capacity;
};

static int compare_stacks(const void *left, const void *right) {
    return strcmp(((const struct stack *)left)->text, ((const struct stack *)right)->text);
}

/* One chain per node: its parent's with its own function behind. */
static char **write_chains(const struct sample *sample) {
    char **chains = memory_alloc(sample->n_nodes, sizeof *chains);
    for (size_t i = 0; i < sample->n_nodes; i++) {
        const struct sample_node *node = &sample->nodes[i];
        chains[i] = node->parent < 0 ? memory_strdup(node->function)
                                     : memory_format("%s;%s", chains[node->parent], node->function);
    }
    return chains;
}

static struct stacks collect_stacks(const struct sample *sample) {
    struct stacks stacks = {NULL, 0, 0};
    char **chains = write_chains(sample);
    for (size_t i = 0; i < sample->n_nodes; i++) {
        const struct sample_node *node = &sample->nodes[i];
        if (node->running > 0)
            *VECTOR_ADD(&stacks) = (struct stack){memory_strdup(chains[i]), node->running};
        if (node->blocked > 0)
            *VECTOR_ADD(&stacks) =
                (struct stack){memory_format("%s [blocked]", chains[i]), node->blocked};
    }
    for (size_t i = 0; i < sample->n_nodes; i++)
        free(chains[i]);
    free(chains);
    if (stacks.count > 1)
        VECTOR_SORT(&stacks, compare_stacks);
    return stacks;
}

/* Nodes that differ only in lines make one line. */
static void print_stacks(FILE *file, const struct stacks *stacks) {
    uint64_t sum = 0;
    for (size_t i = 0; i < stacks->count; i++) {
        sum += stacks->items[i].count;
        if (i + 1 < stacks->count && compare_stacks(&stacks->items[i], &stacks->items[i + 1]) == 0)
            continue;
        fprintf(file, "%s %" PRIu64 "\n", stacks->items[i].text, sum);
        sum = 0;
    }
}

int profile_write_folded(const struct sample *sample, const char *path, struct error *error) {
    struct stacks stacks = collect_stacks(sample);
    struct output output;
    int status = output_begin(&output, path);
    if (status == 0) {
        print_stacks(output.file, &stacks);
        status = output_commit(&output);
    }
    if (status)
        error_set(error,
                  "%s: cannot write the stacks: %s: free some space or choose another folder", path,
                  strerror(errno));
    for (size_t i = 0; i < stacks.count; i++)
        free(stacks.items[i].text);
    free(stacks.items);
    return status;
}
