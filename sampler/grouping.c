#include "sampler/grouping.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sampler/pools.h"

#define NONE (-1)

/* Per trie node: numbers of routines, a routine being a function of a module. */
struct routines {
    int *own;   /* the node's */
    int *start; /* of the outermost call that leads to the node */
    int *entry; /* of the first call on the way that is in the program's own binary; NONE */
    size_t count;
};

struct thread {
    int start; /* routine; NONE: the thread was never seen */
    int group; /* threads of equal groups are a pool; NONE */
    uint64_t running, blocked;
};

struct grouping {
    const struct profile_calls *calls;
    struct routines routines;
    struct thread *threads;
    int n_groups;
};

/* ---- routines ---- */

static const struct symbol *symbol_of(const struct profile_calls *calls, int node) {
    return &calls->symbols[calls->trie.items[node].location];
}

static bool in_program(const struct profile_calls *calls, int node) {
    return strcmp(symbol_of(calls, node)->module, calls->program) == 0;
}

struct numbered {
    const struct symbol *symbol;
    int node;
};

static int compare_routines(const void *left, const void *right) {
    const struct symbol *a = ((const struct numbered *)left)->symbol;
    const struct symbol *b = ((const struct numbered *)right)->symbol;
    int order = strcmp(a->function, b->function);
    return order ? order : strcmp(a->module, b->module);
}

static struct routines number_routines(const struct profile_calls *calls) {
    size_t n = calls->trie.count;
    struct routines routines = {memory_alloc(n, sizeof(int)), memory_alloc(n, sizeof(int)),
                                memory_alloc(n, sizeof(int)), 0};
    struct numbered *order = memory_alloc(n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct numbered){symbol_of(calls, (int)i), (int)i};
    qsort(order, n, sizeof *order, compare_routines);
    for (size_t i = 0; i < n; i++) {
        routines.count += i == 0 || compare_routines(&order[i - 1], &order[i]) != 0;
        routines.own[order[i].node] = (int)routines.count - 1;
    }
    free(order);
    for (size_t i = 0; i < n; i++) { /* parents come first */
        int parent = calls->trie.items[i].parent;
        routines.start[i] = parent == TRIE_ROOT ? routines.own[i] : routines.start[parent];
        routines.entry[i] = parent == TRIE_ROOT ? NONE : routines.entry[parent];
        if (routines.entry[i] == NONE && in_program(calls, (int)i))
            routines.entry[i] = routines.own[i];
    }
    return routines;
}

/* The routine with most samples of `counts`, NONE when all are 0. */
static int most_seen(const uint64_t *counts, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (counts[i] > counts[best])
            best = i;
    return n > 0 && counts[best] > 0 ? (int)best : NONE;
}

/* ---- threads ---- */

/* A thread's start routine is the outermost function it is most often seen in: before and after it
 * there may be others (destructors, libc's own clean-up). */
static void find_start(struct grouping *grouping, int thread) {
    const struct trie *trie = &grouping->calls->trie;
    uint64_t *counts = memory_alloc(grouping->routines.count, sizeof *counts);
    struct thread *found = &grouping->threads[thread];
    for (size_t i = 0; i < trie->count; i++) {
        for (size_t j = 0; j < trie->items[i].n_counts; j++) {
            const struct trie_count *count = &trie->items[i].counts[j];
            if (count->thread != thread)
                continue;
            found->running += count->running;
            found->blocked += count->blocked;
            counts[grouping->routines.start[i]] += count->running + count->blocked;
        }
    }
    found->start = most_seen(counts, grouping->routines.count);
    free(counts);
}

static bool starts_in_program(const struct grouping *grouping, int routine) {
    for (size_t i = 0; i < grouping->calls->trie.count; i++)
        if (grouping->routines.own[i] == routine)
            return in_program(grouping->calls, (int)i);
    return false;
}

/* The tuples of the threads that start in `routine`. */
static struct pools_tuples collect_tuples(const struct grouping *grouping, int routine) {
    const struct trie *trie = &grouping->calls->trie;
    struct pools_tuples tuples = {NULL, 0, 0};
    int *members = memory_alloc(grouping->calls->n_threads, sizeof *members);
    for (size_t i = 0; i < trie->count; i++) {
        size_t n = 0;
        uint64_t count = 0;
        for (int thread = 0; thread < (int)grouping->calls->n_threads; thread++) {
            for (size_t j = 0; j < trie->items[i].n_counts; j++) {
                const struct trie_count *here = &trie->items[i].counts[j];
                if (here->thread != thread || grouping->threads[thread].start != routine)
                    continue;
                members[n++] = thread;
                count += here->running + here->blocked;
            }
        }
        if (n > 0)
            sample_pools_add(&tuples, members, n, count);
    }
    free(members);
    return tuples;
}

static void group_routine(struct grouping *grouping, int routine) {
    size_t n_threads = grouping->calls->n_threads;
    int *pool_of = memory_alloc(n_threads, sizeof *pool_of); /* all in pool 0 */
    size_t n_pools = 1;
    if (!starts_in_program(grouping, routine)) {
        struct pools_tuples tuples = collect_tuples(grouping, routine);
        sample_pools_assign(&tuples, pool_of);
        n_pools = tuples.count;
        sample_pools_free(&tuples);
    }
    for (size_t i = 0; i < n_threads; i++)
        if (grouping->threads[i].start == routine)
            grouping->threads[i].group = grouping->n_groups + pool_of[i];
    grouping->n_groups += (int)n_pools;
    free(pool_of);
}

/* ---- pools ---- */

/* The program's own function through which most of the group's samples go; the start routine, where
 * that is the program's own or there is none. */
static char *name_group(const struct grouping *grouping, int group, int start) {
    const struct trie *trie = &grouping->calls->trie;
    uint64_t *counts = memory_alloc(grouping->routines.count, sizeof *counts);
    for (size_t i = 0; i < trie->count; i++) {
        for (size_t j = 0; j < trie->items[i].n_counts; j++) {
            const struct trie_count *count = &trie->items[i].counts[j];
            if (grouping->threads[count->thread].group == group &&
                grouping->routines.entry[i] != NONE && grouping->routines.start[i] == start)
                counts[grouping->routines.entry[i]] += count->running + count->blocked;
        }
    }
    int entry = most_seen(counts, grouping->routines.count);
    int named = entry == NONE ? start : entry;
    size_t node = 0;
    while (grouping->routines.own[node] != named)
        node++;
    free(counts);
    return memory_strdup(symbol_of(grouping->calls, (int)node)->function);
}

static void add_thread(const struct grouping *grouping, struct sample *sample, int *pool_of_group,
                       int thread) {
    const struct thread *member = &grouping->threads[thread];
    int *index = &pool_of_group[member->group];
    if (*index == NONE) {
        *index = (int)sample->n_pools++;
        struct sample_pool *pool = &sample->pools[*index];
        pool->name = name_group(grouping, member->group, member->start);
        pool->threads = memory_alloc(grouping->calls->n_threads, sizeof *pool->threads);
    }
    struct sample_pool *pool = &sample->pools[*index];
    pool->threads[pool->n_threads++] = thread;
    pool->running += member->running;
    pool->blocked += member->blocked;
}

static void describe_groups(const struct grouping *grouping, struct sample *sample) {
    int *pool_of_group = memory_alloc((size_t)grouping->n_groups, sizeof *pool_of_group);
    for (int i = 0; i < grouping->n_groups; i++)
        pool_of_group[i] = NONE;
    sample->pools = memory_alloc((size_t)grouping->n_groups, sizeof *sample->pools);
    for (int i = 0; i < (int)grouping->calls->n_threads; i++)
        if (grouping->threads[i].group != NONE)
            add_thread(grouping, sample, pool_of_group, i);
    free(pool_of_group);
}

void grouping_describe(const struct profile_calls *calls, struct sample *sample) {
    struct grouping grouping = {
        .calls = calls,
        .routines = number_routines(calls),
        .threads = memory_alloc(calls->n_threads, sizeof *grouping.threads),
    };
    for (int i = 0; i < (int)calls->n_threads; i++) {
        grouping.threads[i].group = NONE;
        find_start(&grouping, i);
    }
    for (int i = 0; i < (int)calls->n_threads; i++)
        if (grouping.threads[i].start != NONE && grouping.threads[i].group == NONE)
            group_routine(&grouping, grouping.threads[i].start);
    describe_groups(&grouping, sample);
    free(grouping.routines.own);
    free(grouping.routines.start);
    free(grouping.routines.entry);
    free(grouping.threads);
}
