/* The steps of all threads, in the order in which they end. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_STEP_LOG_H
#define PERSIK_MODELGEN_DEPENDENCIES_STEP_LOG_H

#include "formats/dependencies.h"

struct step_log {
    struct {
        struct dependency_step *items;
        size_t count, capacity;
    } steps;
    struct {
        struct dependency_thread *items;
        size_t count, capacity;
    } threads;
    struct last_step {
        uint64_t end_ns;
        uint32_t step; /* DEPENDENCIES_NONE: it has none yet */
    } * last;          /* per thread */
    size_t last_capacity;
};

/* Adds a thread that begins at `start_ns` and gives its index. The log takes the name over. */
uint32_t step_log_thread(struct step_log *log, char *name, uint64_t start_ns, bool is_made);

/* The moment up to which the thread's steps are known. */
uint64_t step_log_now(const struct step_log *log, uint32_t thread);

/* Ends the thread's next step, all of which but the end is filled in, and gives its index: that of
 * the step before it where nothing lies between the two: no time, dependence or operation. */
uint32_t step_log_end(struct step_log *log, struct dependency_step step, uint64_t end_ns);

/* What the thread does from now on depends on this one; DEPENDENCIES_NONE: it has not begun. */
uint32_t step_log_last(const struct step_log *log, uint32_t thread);

#endif
