/* Queues that functions of the program's own work on, as the user's catalog names them.
 *
 * Attempts that never wait are often made over and over until one succeeds: such a run of attempts
 * is one wait, and when nothing lies between them but more attempts, it burns CPU. */
#ifndef PERSIK_MODELGEN_LOWER_POLLING_QUEUES_H
#define PERSIK_MODELGEN_LOWER_POLLING_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/events/critical_sections.h"

struct polling_queue {
    double puts, gets, failures;
    double initial;       /* items that must have been there before the first was put */
    double most;          /* at once */
    double capacity;      /* 0: no limit */
    bool spins;           /* waiting burns CPU */
    bool feeds_tasks;     /* the task pool takes from it */
    uint64_t last_put_ns; /* the start of the last that did not fail */
    int closer_thread; /* who knows that nothing more will be put, when consumers give up; -1 none
                        */
    size_t closer_record;
};

/* One attempt in a run of them; a run of one where others are longer. */
struct poll {
    uint64_t start_ns; /* of the run */
    bool goes_on;      /* another attempt follows */
};

struct polling_queues {
    struct polling_queue *queues; /* per sync object */
    struct {
        size_t *items;
        size_t count, capacity;
    } closed;           /* sync objects of which somebody knows that nothing more will be put */
    struct map poll_of; /* (thread, record) -> index of its poll */
    struct {
        struct poll *items;
        size_t count, capacity;
    } polls;
};

/* `task_pool` is the pool whose takings are tasks. polling_queues_free() ends it. */
struct polling_queues polling_queues_find(const struct trace *trace,
                                          const struct sections *sections, const int *pool_of,
                                          int task_pool);
void polling_queues_free(struct polling_queues *items);

/* The run of attempts that the record is part of; NULL: no attempt, or nobody repeats it there. */
const struct poll *polling_queues_poll(const struct polling_queues *items, size_t thread,
                                       size_t record);

#endif
