/* A model at one configuration, compiled for walking: flat arrays, indices instead of pointers,
 * everything that depends on thread counts already evaluated. Read-only while simulations run,
 * shared by all workers. */
#ifndef PERSIK_SIMULATOR_PLAN_H
#define PERSIK_SIMULATOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"
#include "model/guarded_commands.h"
#include "simulator/simulator.h"

#define PLAN_NONE (-1)

/* A distribution. Empirical ones own `n_values` of the plan's values from `first_value`. */
struct plan_draw {
    enum dist_kind kind;
    double mean;
    double low, high; /* uniform */
    size_t first_value, n_values;
    double common; /* share that a round's threads have in common (struct dist) */
    size_t first_round, n_round_values; /* `values` of that share: one per round */
    int rounds; /* number among the draws with a share; PLAN_NONE: it has none */
};

/* What a drawn value is multiplied by: (value + less) * factor - less, where factor is `whole`
 * plus, for shares that are dealt out in whole items, `per_item` times the items of the thread. */
struct plan_factor {
    double whole, per_item, less;
    enum rest rest;
    double total; /* items */
    int threads, first_thread;
};

struct plan_edge {
    int to;
    int cpu; /* draw, or PLAN_NONE */
    int runs;
    struct plan_factor cpu_factor;
    struct plan_factor runs_factor;
    size_t n_cpu_by_place; /* the model's */
    const double *cpu_by_place;
};

struct plan_choice {
    int edge;
    int item_kind; /* of the items that lead there; 0: none in particular */
    double weight;
    double first_weight; /* for a thread's first choice where it keeps runs */
};

/* Of a node's course: the edge that a thread takes so often in a row. */
struct plan_leg {
    int edge;
    double times;
};

/* The edges that fit one outcome of a node. */
struct plan_group {
    int first; /* choice; those that leave the loop stand behind the others */
    int n;     /* without those that leave */
    int n_leaving;
    int run;          /* index of the run each thread keeps here; PLAN_NONE = memoryless */
    int stay;         /* index of the run that counts down to leaving; PLAN_NONE = no such edges */
    int deck;         /* index of the first card count; PLAN_NONE = with replacement */
    int for_one;      /* the choice that one thread makes in each round; PLAN_NONE = no such */
    enum taker taker; /* of that: which thread */
    bool by_item;     /* the choice is told by the kind of the item just taken */
    bool counted;     /* the loop around it is left by `stays`, not by one of these choices */
    double weight;    /* sums over the choices that stay */
    double first_weight; /* 0: the first choice is like all others */
};

/* What a call asks a disk for; see struct node. */
struct plan_request {
    double sector, sectors;
    bool with_previous;
    bool ahead; /* nobody waits for it now */
};

struct plan_call {
    int first, n; /* requests */
    int next;     /* the call of the same row behind it; PLAN_NONE */
    bool goes_on; /* it is the next one of another */
};

struct plan_distance {
    double least; /* sectors */
    int service;  /* draw */
};

/* Of a monitor. */
struct plan_section {
    int first; /* command */
    int n;
};

struct plan_node {
    enum node_kind kind;
    int object, mutex, target_pool;
    int section; /* of the plan's */
    int item_kind;
    double count;                             /* may be fractional; 0: for nobody */
    int counts;                               /* draw; PLAN_NONE: `count` */
    bool by_clock;                            /* `wait`: from when the last one was due */
    bool ahead;                               /* its threads ask for what they will want later */
    bool gives_back;                          /* what the thread took by `counts` last */
    double timeout_ns;                        /* negative: for ever */
    int cpu, wait, operations, service, near; /* draws */
    int stream;
    int stays;
    struct plan_factor stays_factor;
    int course; /* number among the nodes that have one; PLAN_NONE: it has none */
    int first_leg, n_legs;
    int first_call, n_calls; /* of an IO node; none: `operations` */
    int first_task_call; /* what each of the recorded tasks asks for there; PLAN_NONE: not known */
    int rows;            /* number of the node among those that have calls in a row; PLAN_NONE */
    bool says_no;        /* some edge is only for OUTCOME_NO */
    struct plan_group yes, no;
};

struct plan_object {
    enum object_kind kind;
    double amount;         /* tokens; capacity (INFINITY unless bounded); parties */
    double refilled_after; /* attempts in vain; INFINITY: never */
    bool spins;
    long initial_items;
    int item_kind;       /* of what comes from outside; 0: no particular, and nothing is put back */
    double items_in_all; /* INFINITY: no end */
    double arrivals;     /* INFINITY = no end */
    double servers;      /* disk; INFINITY: no limit */
    double room_ns;      /* disk: so much may be asked of it before anybody waits; 0: all do */
    bool writers_first;  /* rwlock */
    bool in_steps;       /* order: each number follows another: ... */
    double distance;     /* ... so many below, ... */
    double lead;         /* ... which must be so many steps ahead of it */
    bool in_rounds;      /* order: a thread's n-th turn comes with the n-th pass */
    bool by_kernel;      /* order in groups: the leader needs no core until it passes */
    bool in_groups;      /* order: whose turn it is leads those who wait ... */
    double led_cpu_ns;   /* ... at this cost for each */
    int dealt_to;        /* order, queue: pool; MODEL_NONE */
    bool condition;      /* who waits sleeps on a condition variable ... */
    int condition_side;  /* ... whose state is that of these sides: its own or another's */
    int condition_next;  /* the next object that has the same, in a ring; itself: there is no other
                          */
    bool wakes_all;      /* order, tokens, queue: whoever waits to take ... */
    bool when_enough;    /* ... if there is enough for who waits longest */
    bool when_empty;     /* ... if nothing was there before */
    bool handed;         /* queue: an item is kept for whom it has woken */
    bool returned_first; /* queue: what threads put back overtakes what comes from outside */
    int order;           /* which of a thread's numbers is for this order */
    int service, interarrival, think; /* draws */
    int first_distance, n_distances;  /* disk; none: `service` */
    double least_depth, most_depth;   /* disk: as in struct object ... */
    bool never_continued;             /* ... the same ... */
    int alone;                        /* ... draw; PLAN_NONE: not known */
    const double *gaps;               /* queue: the model's, in their order, for its arrivals ... */
    size_t n_gaps;                    /* ... 0: `interarrival` */
    double gap_factor;                /* what they are multiplied by */
    int first_client, n_clients;      /* of a closed population; 0: none */
    int comes_by, goes_by;            /* queue: links; MODEL_NONE: at once ... */
    bool connects;                    /* ... each request by a connection of its own ... */
    int request_bytes, reply_bytes;   /* ... draws */
    double latency_ns, bytes_per_ns;  /* link; 0: takes no time */
    int first_side, n_sides;          /* what can be waited for, among that of all objects */
    int first_variable;               /* monitor */
    int first_section;
};

struct plan_pool {
    int threads;
    int first_thread;
    int entry;
    bool at_start, with_creator, per_task;
    bool is_kept;    /* created again, its threads are the same ones: those of a team */
    double sleep_ns; /* CPU of going to sleep and coming back, for threads created anew */
    double displaces_per_ns;
    struct refill_curve refill;   /* the model's; without points: losing its cache costs nothing */
    double cold_ns, cold_pace_ns; /* as in struct pool; cold_ns 0: sleeping costs nothing of it */
    bool awake; /* in this configuration: waits for its creation, and is joined, without sleeping */
};

struct plan {
    const struct model *model; /* for names; outlives the plan */
    int cores;
    int n_threads;
    int n_objects, n_pools, n_nodes;
    int n_orders;
    int n_runs;    /* per thread */
    int n_cards;   /* per thread */
    int n_rounds;  /* per thread: draws with something in common */
    int n_courses; /* nodes that have one */
    int n_draws;
    int n_sides;
    int n_variables; /* of all monitors */
    size_t n_commands;
    size_t n_values;
    bool signals_wait;
    double quantum_ns, tick_ns, pull_share, switch_cpu_ns, block_cpu_ns, wake_cpu_ns;
    double preempt_ns;
    int wake_latency;  /* draw */
    int brief_latency; /* draw, of cores that have idled for less than: */
    double brief_idle_ns;
    double horizon_ns; /* INFINITY = none */
    double warmup_ns;
    double patience_ns;  /* a program that should have ended long ago never will; INFINITY = none */
    bool is_open;        /* some queue has arrivals from outside, or clients */
    bool is_steady;      /* ... without an end, and the run has none: what it settles to is asked */
    double offered_hz;   /* arrivals of all queues; 0: none */
    double tasks_in_all; /* the run ends with the last of so many; INFINITY: by itself */
    int n_clients;       /* of all queues */
    bool has_tasks;      /* the model marks where they end */
    bool reads_ahead;    /* a node's requests are for later */
    struct plan_node *nodes;
    struct plan_edge *edges;
    struct plan_choice *choices;
    struct plan_leg *legs;
    struct plan_call *calls;
    int n_calls, n_rows; /* n_rows: nodes that have calls in a row */
    int n_tasks;         /* of the recorded run, of which is known what each asks disks for */
    struct plan_request *requests;
    struct plan_distance *distances;
    struct plan_object *objects;
    struct plan_pool *pools;
    struct plan_draw *draws;
    double *values;
    struct value *variables; /* at the start */
    struct plan_section *sections;
    struct command *commands;
};

#endif
