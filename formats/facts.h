/* Stage 2's result, static.json: what the source says about the program.
 *
 * Places are (file, line, column) of the expansion: where the debug information of the compiled
 * program puts the call. Functions are named as the linker names them. */
#ifndef PERSIK_FORMATS_FACTS_H
#define PERSIK_FORMATS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "formats/catalog.h"

#define FACTS_VERSION 1

struct facts_place {
    char *file;     /* absolute path */
    char *function; /* enclosing */
    int line, column;
};

/* A call to a catalog function. */
struct facts_fragment {
    struct facts_place place;    /* of the expansion */
    struct facts_place spelling; /* where it is written, when a macro hides it; else the same */
    enum api api;
    char *object; /* the object as an access path by type: "struct queue.mutex", "global:lock",
                   * "local:f.m"; NULL when not nameable */
};

/* How a loop's end depends on the number of threads. */
enum facts_bound {
    BOUND_FIXED,   /* on constants, input or data: each thread that runs it does all of it */
    BOUND_SHARE,   /* on the thread's index or n / threads: a fixed total is split */
    BOUND_SHARED,  /* on state that all threads consume together (a counter or list under a
                    * lock, an atomic, a queue's answer): first come, first served */
    BOUND_THREADS, /* on the thread count itself: one round per thread (create, join, merge) */
    BOUND_UNKNOWN,
};

struct facts_loop {
    char *file;
    char *function;
    int first_line, last_line;
    enum facts_bound bound;
    bool has_fragments; /* a catalog call inside, directly or through calls */
    char *why;          /* the expression and variable that decide, for the reader */
};

/* A call statement whose callee (transitively) runs a loop of kind BOUND_SHARE without any
 * fragment inside: seen from the caller, this line's computation is split among the threads. */
struct facts_share {
    struct facts_place place;
    char *callee;
    char *why;
};

/* Where an object or a thread comes to life. */
struct facts_creation {
    struct facts_place place;
    enum api_object object;
    char *name;    /* access path as in facts_fragment.object; for threads the start routine */
    char *amount;  /* parties, permits, capacity: the expression; NULL without */
    double factor; /* amount = factor * threads + offset, when it follows the thread count... */
    double offset;
    bool follows_threads; /* ... as told by this */
    bool constant;        /* amount is the constant `offset` */
    bool per_thread;      /* created in a loop over the threads */
};

enum facts_monitor_kind {
    MONITOR_BOUNDED_QUEUE,
    MONITOR_UNBOUNDED_QUEUE,
    MONITOR_SEMAPHORE,
    MONITOR_BARRIER,
    MONITOR_LATCH, /* wait until all work is done, one-shot events */
    MONITOR_OTHER,
};

/* A proposal: this mutex with these conditions is such an object. modelgen confirms or refutes it
 * on the trace. */
struct facts_monitor {
    enum facts_monitor_kind kind;
    char *name;  /* type or variable: "struct queue" */
    char *mutex; /* access path */
    size_t n_conditions, n_puts, n_gets, n_closes;
    char **conditions;             /* access paths */
    char **puts, **gets, **closes; /* functions */
    char *count;           /* variable or predicate that counts, e.g. "struct queue.count" */
    char *capacity;        /* expression; NULL unbounded */
    double capacity_value; /* when constant, else -1 */
    char *why;             /* predicates read, for the reader */
};

struct facts {
    int version;
    char *thread_count; /* the variable that bounds the creating loop; NULL not found */
    size_t n_fragments, n_loops, n_shares, n_creations, n_monitors, n_files, n_problems;
    struct facts_fragment *fragments;
    struct facts_loop *loops;
    struct facts_share *shares;
    struct facts_creation *creations;
    struct facts_monitor *monitors;
    char **files;    /* analysed */
    char **problems; /* what could not be parsed or found, one line each */
};

struct facts *facts_load(const char *path, struct error *error);
void facts_free(struct facts *facts);

const char *facts_bound_name(enum facts_bound bound);
const char *facts_monitor_kind_name(enum facts_monitor_kind kind);

#endif
