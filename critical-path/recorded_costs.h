/* What a recorded run tells its replay beside the steps: who comes next where, and what waiting,
 * waking and taking up a core cost. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_RECORDED_COSTS_H
#define PERSIK_CRITICAL_PATH_RECORDED_COSTS_H

#include "formats/dependencies.h"

/* Costs of one kind, ns, in the order in which they were met: handed out in turn, again and again,
 * to what did not happen in the run. */
struct costs {
    double *items;
    size_t count, capacity, next;
};

/* A call that takes something, from its first step on. */
struct taking_call {
    uint32_t done;    /* the step in which it has got it; DEPENDENCIES_NONE: it takes nothing */
    uint32_t waits;   /* the first step of its wait for that; DEPENDENCIES_NONE: it had none */
    double before_ns; /* CPU from there until it slept */
    double after_ns;  /* and from when it ran again */
    double back_ns;   /* see recorded_coming_back() */
};

struct recorded_object {
    uint32_t first_taking; /* step; DEPENDENCIES_NONE: nobody takes it */
    bool keeps_order;      /* a mutex under which threads wait for conditions, or would */
    bool is_signalled;     /* a mutex under which conditions are signalled */
    bool is_explained;     /* pools tell of waits under it */
    bool is_shared_out;    /* who takes never gives: what is taken is work */
};

struct recorded_costs {
    const struct dependencies *all;
    uint32_t *before, *after; /* per step: those of its thread */
    uint32_t *next_taking;    /* per step that takes: the next one of the same operand */
    uint32_t *pool_take;      /* per step that locks a mutex: the first step that takes from a pool
                               * under it; per step that takes from one: the next such step under
                               * the same lock. DEPENDENCIES_NONE: none; NULL: no pools */
    uint32_t *lock_of; /* per step that takes from a pool: that locks for it; NULL: no pools */
    bool *wakes;       /* per step: it is the CPU of waking who waited for what was given */
    float *kept_ns;    /* per step in which a thread is ready: while it was, the program left
                        * a core unused, which other processes had, or nobody yet */
    uint32_t *first;   /* per thread: its first step */
    uint32_t *routine; /* per thread: the same number, the same routine */
    struct recorded_object *objects;
    double behind_waking_ns; /* CPU of who has woken another one, behind `wakes`; its next step
                              * contains it */
    struct costs coming_back, waking, before_wait, after_wait;
};

struct recorded_costs recorded_costs_of(const struct dependencies *all);
void recorded_costs_free(struct recorded_costs *recorded);

double recorded_lasted(const struct recorded_costs *recorded, uint32_t step);

/* Takes from a pool, or waits for it. */
bool takes_from_pool(const struct dependencies *all, const struct dependency_step *step);

/* The first step of the thread behind this one that does more than tell a pool something. */
uint32_t recorded_behind_pools(const struct recorded_costs *recorded, uint32_t step);

/* Others may be kept waiting by this operation's being done. */
bool operation_takes(enum step_operation operation);

/* The call that the step, the first one inside it, belongs to. */
struct taking_call recorded_call(const struct recorded_costs *recorded, uint32_t step);

/* What the thread that takes from a pool in this step waited for it, as a call: `waits` is the wait
 * itself. */
struct taking_call recorded_pool_wait(const struct recorded_costs *recorded, uint32_t step);

/* From the end of the wait in this step until the thread ran, others of the program aside. */
double recorded_coming_back(const struct recorded_costs *recorded, uint32_t step);

/* The next one; 0: none was met in the run. */
double costs_next(struct costs *costs);

#endif
