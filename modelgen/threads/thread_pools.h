/* Thread pools: threads of the same start routine, created at the same place by the same pool. */
#ifndef PERSIK_MODELGEN_THREADS_THREAD_POOLS_H
#define PERSIK_MODELGEN_THREADS_THREAD_POOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/rewrite/openmp_teams.h"

struct thread_pool {
    char *name; /* owned, unique */
    const char *start_routine;
    uint32_t creation_context; /* of the first thread */
    int creator;      /* pool whose threads create these; -1 for the program's first thread */
    size_t n_threads; /* over the whole run */
    size_t *threads;  /* owned; trace thread indexes, by start */
    int size;         /* the most that lived at one time: T0 */
    double cpu_ns;
    const struct team *team; /* NULL: threads of their own */
    bool with_creator;       /* one of the threads is their creator's part (openmp_teams.h,
                                participating_creator.h) */
    bool per_task;           /* each was made for a task, see task_threads.h ... */
    bool per_connection;     /* ... or for a connection */
    uint64_t limit;          /* of a pool `per_task` of which `size` may live at a time: the object
                              * that has the permits, see alive_limit.h; 0: none is seen */
    bool scales;             /* follows --threads ... */
    bool divides_work;       /* each thread gets a part of its creator's work */
    bool in_tree;            /* its threads make each other, each for a part of its own work */
    const char *uncounted;   /* why its number need not be the thread count; NULL */
    const char *capped;      /* why it may never have more threads than there are cores; NULL */
    const char *one_thread;  /* by what the program goes another way with one thread; NULL */
    int most, least;         /* ... within these bounds; 0: none */
    double factor, offset;   /* ... so many for each, and so many besides: 1 and 0, or what the
                              * source says */
    const char *why;         /* how we know that it scales, or not */
    char *fixed;             /* owned; its number as the source has it, whatever --threads says;
                              * NULL: not told */
};

struct thread_pools {
    size_t n_pools;
    struct thread_pool *pools;           /* a creator stands before those it creates */
    int *pool_of;                        /* per trace thread */
    const struct thread_origin *origins; /* the same; NULL: all threads are as recorded */
    bool guessed;                        /* no source said which pool follows the thread count */
};

/* `teams` and `origins`, which may be NULL, are of this trace and must outlive the pools. */
struct thread_pools thread_pools_find(const struct trace *trace, const struct teams *teams,
                                      const struct thread_origin *origins,
                                      const struct facts *facts, const double *thread_cpu_ns);

/* Is the thread its creator's part of the pool's work (openmp_teams.h, participating_creator.h)? */
bool thread_pools_is_creators(const struct thread_pools *pools, size_t thread);

/* Does the pool follow --threads as no other does better? One with bounds only where all have some.
 */
bool thread_pools_follows(const struct thread_pools *pools, size_t p);

/* What --threads was in the recorded run, as the first such pool's size shows; 1: there is none. */
double thread_pools_count(const struct thread_pools *pools);

/* What --threads was, by the size of this pool that follows it. */
double thread_pools_asked(const struct thread_pool *pool);

void thread_pools_free(struct thread_pools *pools);

#endif
