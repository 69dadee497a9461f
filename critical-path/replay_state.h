/* A replay at one moment. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_REPLAY_STATE_H
#define PERSIK_CRITICAL_PATH_REPLAY_STATE_H

#include "base/heap.h"
#include "critical-path/longest_path.h"
#include "critical-path/recorded_costs.h"
#include "critical-path/replay_change.h"
#include "critical-path/replayed.h"

enum runner_state {
    RUNNER_ASLEEP,   /* until a time, a step or an object */
    RUNNER_QUEUED,   /* ready, and no core is free */
    RUNNER_STARTING, /* has a core, and is on its way to it */
    RUNNER_ON_CORE,
    RUNNER_ENDED
};

enum runner_phase {
    PHASE_ENTER, /* the step begins */
    PHASE_TAKE,  /* it tries to take what the step's operation takes */
    PHASE_FINISH /* the step's own time is over */
};

/* Goes through the steps of one thread, or on with those of another one where both are alike. */
struct runner {
    uint32_t id, at; /* the step; DEPENDENCIES_NONE: no more */
    enum runner_state state;
    enum runner_phase phase;
    bool needs_core;   /* false: stands for a barrier */
    bool in_call;      /* `call` is known */
    bool has_paid;     /* for going to sleep */
    bool is_spinning;  /* waits on its core */
    bool has_turn;     /* the lock is kept for it */
    bool is_forced;    /* takes what it wants in any case */
    bool gives_way;    /* its slice is used up, and it has woken who comes next */
    bool wakes_freely; /* it only waited for its turn, as it would not have to */
    bool has_pooled;   /* it has taken from pools what it locks for */
    uint32_t pooling;  /* PHASE_TAKE: the step that takes from a pool, and could not;
                        * DEPENDENCIES_NONE: it wants the lock itself */
    struct taking_call call;
    uint32_t taking;    /* PHASE_TAKE: the step with the operation */
    uint32_t skips;     /* a step whose reason is gone: it takes no time */
    int n_held;         /* locks */
    double back_ns;     /* from the end of its wait, and with a core, until it runs; negative:
                         * not known */
    double left_ns;     /* to compute before it goes on */
    double debt_ns;     /* to compute with the next step */
    double since_ns;    /* on its core, up to where it is charged */
    double began_ns;    /* its slice; QUEUED: to wait */
    double vruntime_ns; /* CPU had, as the scheduler counts */
    double waits_since_ns;
    uint32_t waits_for; /* object; DEPENDENCIES_NONE */
    uint32_t next;      /* in the list that it waits in */
};

/* First come, first served. */
struct runner_list {
    uint32_t head, tail;
};

struct replay_object {
    uint32_t owner; /* runner; DEPENDENCIES_NONE: it is free */
    uint32_t depth, readers;
    uint32_t due; /* the step that took it next in the run */
    bool is_contended;
    double there; /* permits, items */
    bool is_closed;
    double room; /* INFINITY: unbounded */
    struct runner_list takers, givers;
};

struct replay_state {
    const struct dependencies *all;
    struct recorded_costs recorded;
    const struct replay_change *change;
    double now_ns;
    struct heap clock; /* runners: when something happens to them */
    struct runner *runners;
    struct replay_object *objects;
    bool *is_done;      /* per step */
    bool *is_taken;     /* per step that takes */
    uint32_t *instead;  /* per step that takes: another one did, who comes to it takes this */
    uint32_t *sleepers; /* per step: runners that wait for it */
    /* Cores. */
    int n_cores, n_free;
    struct heap queue; /* runners by the moment of the run that they have come to */
    uint32_t *running; /* those on cores */
    size_t n_running;
    double slice_ns, tick_ns;
    const struct runner *current; /* the one that goes on at this instant */
    uint32_t end;
    bool is_over;
    struct replayed *out;
};

#endif
