/* What a run's time hangs on: the longest path through its steps (formats/dependencies.h), from the
 * start of the work to its end. Knows nothing of how a run is recorded.
 *
 * After A. Saidi, Full-System Critical-Path Analysis and Performance Prediction (2009), chapter 3:
 * a wait weighs nothing, and what ended it is followed instead, so that the longest path is what
 * the run's time hangs on, and weights that are changed give the time that it would have taken.
 *
 * As recorded: locks, items and cores go to whom they went in the run. Rescheduled: they go to who
 * comes first (replay.h). */
#ifndef PERSIK_CRITICAL_PATH_CRITICAL_PATH_H
#define PERSIK_CRITICAL_PATH_CRITICAL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "critical-path/path_subject.h"
#include "formats/dependencies.h"

/* ---- what a run's time would be ---- */

enum scale_of {
    SCALE_COMPUTING, /* of a function and of what it calls */
    SCALE_SLEEPS,    /* of a function, the times that it sleeps */
    SCALE_DEVICE,    /* of a function, the times that it waits for disks */
    SCALE_HOLDING,   /* of a lock, whatever is done while it is held */
    SET_CAPACITY,    /* no scale: of a bounded queue, for how many it has room */
    SET_PERMITS,     /* the same: permits of a semaphore, room in a queue */
};

struct scale {
    enum scale_of of;
    const char *name; /* the caller's */
    double factor;    /* from 0 up; of what is set the number itself, INFINITY: no limit */
    size_t n_steps;   /* that it applied to; of what is set, the objects */
    size_t n_objects; /* locks, queues, semaphores that are called so: all are meant */
};

/* All names that a change of this kind may have, each once; their number in `*n`. The caller frees
 * the array, but not the names. */
const char **scale_names(const struct dependencies *dependencies, enum scale_of of, size_t *n);

/* From the start of the work to its end. */
struct what_if {
    double as_recorded_ns;    /* everything in the order that it had; NAN: that order is none
                               * with these limits */
    double least_ns, most_ns; /* the same, if as little, or as much, of what is computed between two
                               * calls is of a changed function's as may be */
    double rescheduled_ns;    /* in the order that comes about; NAN: an older persik's steps,
                               * which do not say what threads do to locks */
    uint64_t taken, reordered; /* locks, permits and items; of these, by another than before */
    uint64_t forced;           /* waits that had no end there, and were ended */
    const char *parted;        /* where threads wait most differently in the first two: an
                                * object's kind ... */
    const char *parted_name;   /* ... and name; NULL: no such, or "cores" */
};

/* The time with these changes, on so many cores; 0: as many as in the run. Waits that nothing
 * explains last as long as they did. Counts in `n_steps` what each change applied to. The texts
 * are those of `dependencies`. O(steps log threads). */
struct what_if critical_path_predict(const struct dependencies *dependencies, struct scale *scales,
                                     size_t n, int cores);

/* ---- what a function computes ---- */

/* What threads of one name compute from one call to the next, or within a call. */
struct function_part {
    const char *thread; /* their name, of `dependencies` */
    uint32_t from, to;  /* places; DEPENDENCIES_NONE: the thread's start, its end */
    bool in_call;       /* within the one at `to` */
    double all_ns;      /* in all threads of the run, ... */
    double function_ns; /* ... and of that the function and what it calls */
};

/* Of the whole run, by how much of each part is likely the function's. Only calls at places that
 * count (per place) end a part. The caller frees the array. NULL and `*n` 0: the function computes
 * nowhere, or is not known. O(steps + samples). */
struct function_part *critical_path_function_parts(const struct dependencies *dependencies,
                                                   const char *function, const bool *counts,
                                                   size_t *n);

/* ---- what it hangs on ---- */

struct path_row {
    enum path_subject subject;
    char *name;            /* "parse (parse.c:31)" */
    double path_ns;        /* on the path */
    double total_ns;       /* in all threads */
    uint64_t visits;       /* steps on the path */
    double least_slack_ns; /* how much longer one of its steps may take until the end moves */
    double mean_slack_ns;  /* over its steps, by their length */
};

struct path_object {
    char *name;       /* "mutex struct queue.lock" */
    uint64_t handed;  /* the path came through it from one thread to another so often */
    uint64_t closed;  /* and to who waited for room in it, or for a permit of it, so often */
    double limit;     /* how many of these there are; NAN: no limit, or none that is known */
    double held_ns;   /* of the path, while a thread held it */
    double waited_ns; /* of all threads, for it */
    double slack_ns;  /* the least of the steps that held it; INFINITY: none did */
};

struct path_thread {
    char *name;
    double path_ns, cpu_ns;
    double slack_ns; /* the least of its steps */
};

/* What must hold of the graph before anything is believed that is drawn from it. */
struct path_checks {
    double traced_ns;      /* from the first step to the end of the work */
    double as_recorded_ns; /* the same over the graph, unchanged; what nothing explains takes no
                              time */
    double rescheduled_ns; /* the same replayed; NAN: not known */
    double blocked_ns;     /* of all threads */
    double explained_ns;   /* of these */
    double
        by_kernel_ns;  /* of the explained: the kernel names the thread, no record the operation */
    double outside_ns; /* of the explained: for what came from outside of the recorded program */
    uint64_t told, confirmed; /* links that the records tell and the kernel could confirm, did */
    char *missing; /* where most is missing between the two times; NULL: nothing is. Owned */
};

struct critical_path {
    double cpu_ns; /* of all threads */
    struct path_checks checks;
    size_t n_rows, n_objects, n_threads;
    struct path_row *rows;       /* the longest on the path first */
    struct path_object *objects; /* that the path came through, or for which threads waited */
    struct path_thread *threads;
};

/* O(steps log steps) at most. critical_path_free() ends it. NULL and `error`: there are no steps.
 * Sets `are_pools_off` if the unchanged run comes out better without counters: then predictions
 * that set none do without, too. */
struct critical_path *critical_path_find(struct dependencies *dependencies, struct error *error);
void critical_path_free(struct critical_path *path);

/* ---- piece by piece ---- */

/* What a thread did while all else waited for that. */
struct path_piece {
    uint32_t thread;
    enum path_subject subject;
    const char *link; /* of PATH_HAND_OVER, what ended the wait: "a lock" */
    uint32_t place;   /* DEPENDENCIES_NONE: not known */
    uint32_t object;  /* that it waits for, or holds; DEPENDENCIES_NONE */
    uint32_t giver;   /* the path comes from this other thread; DEPENDENCIES_NONE: it does not */
    uint64_t from_ns; /* since the run's start; equal: the path only passes */
    uint64_t to_ns;
};

/* The whole path in the order of time; there must be steps. The caller frees. */
struct path_piece *critical_path_pieces(const struct dependencies *dependencies, size_t *n);

/* ---- what tasks hang on ---- */

/* Requests, what the user has marked, or else the jobs of the queue whose takers compute most:
 * those begin when they are put, and end when who took one comes for the next. */

enum task_part {
    TASK_WAITS,   /* until a thread takes it: on its path is what others do meanwhile */
    TASK_IN_WORK, /* from then on */
};

enum task_group { TASKS_SLOWEST, TASKS_ALL, TASK_GROUPS };

/* Times are of a task of the group, on average. */
struct task_row {
    enum task_part part;
    enum path_subject subject;
    char *name; /* "parse (parse.c:31)" */
    double path_ns[TASK_GROUPS];
};

struct task_object {
    char *name;                    /* "mutex struct queue.lock" */
    double held_ns[TASK_GROUPS];   /* of the path, while a thread held it */
    double waited_ns[TASK_GROUPS]; /* of the path, until it was handed over: what that cost */
};

struct task_path {
    char *what; /* "requests" */
    size_t n_tasks, n_slowest;
    double at_least_ns; /* what the slowest take */
    struct {
        double response_ns; /* from begin to end, as calls tell it */
        double path_ns;     /* the pieces of the path between, all together: must be the same */
        double waits_ns;    /* of these, in TASK_WAITS */
    } groups[TASK_GROUPS];
    size_t n_rows, n_objects;
    struct task_row *rows; /* what matters most for the slowest first */
    struct task_object *objects;
};

/* What those tasks hang on that are slower than `quantile` of all, at least one; 0: all are the
 * slowest. O(steps + tasks log steps). task_path_free() ends it. NULL and `error`: there are no
 * tasks, or no steps. */
struct task_path *critical_path_of_tasks(const struct dependencies *dependencies, double quantile,
                                         struct error *error);
void task_path_free(struct task_path *path);

/* ---- what could take less ---- */

/* A part of the run that could take less, or that there could be more of. */
struct candidate {
    bool is_cores;    /* `of` does not count then */
    enum scale_of of; /* of functions, the innermost ones */
    const char *name; /* the dependencies', or "cores" */
    double limit;     /* how many there were, where more is better; NAN of what takes time */
    double total_ns;  /* of all threads; of a lock, on the path; of what has a limit, the run */
};

/* All whose time is a hundredth of the run's or more; the cores are the last one, if they are
 * known. The caller frees the array, but not the names. O(steps) and for each limit. */
struct candidate *critical_path_candidates(const struct critical_path *path,
                                           const struct dependencies *dependencies, size_t *n);

#endif
