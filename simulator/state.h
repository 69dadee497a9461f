/* The state of one replication: threads, cores, shared objects, the clock. Types alone; what moves
 * them is in the modules beside, and engine.h drives them.
 *
 * Time is nanoseconds in a double: demands are means of measurements and shares of them, so
 * rounding each to a whole nanosecond would bias short ones. */
#ifndef PERSIK_SIMULATOR_STATE_H
#define PERSIK_SIMULATOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "simulator/histogram.h"
#include "simulator/plan.h"
#include "simulator/random.h"

enum thread_state { THREAD_UNBORN, THREAD_RUNNING, THREAD_READY, THREAD_BLOCKED, THREAD_ENDED };
#define N_THREAD_STATES 5

/* Where the walk goes on when the thread next runs. */
enum thread_phase {
    PHASE_ARRIVE,  /* edge computed: serve the node's own computation */
    PHASE_OPERATE, /* do what the node does */
    PHASE_RETRY,   /* woken: try the operation again */
    PHASE_RETAKE,  /* woken: first take the monitor's mutex again, then `after_retake` */
    PHASE_GRANTED, /* the operation was completed by another; its outcome is `granted` */
    PHASE_SIGNAL,  /* the operation is done, but for waking those who wait for it; in a monitor's
                    * statements, for what comes after a signal */
};

/* What came of a thread's operation. */
enum progress {
    PROGRESS_YES,   /* done, OUTCOME_YES */
    PROGRESS_NO,    /* done, OUTCOME_NO */
    PROGRESS_WAITS, /* the thread sleeps or spins; its phase says how it goes on */
    PROGRESS_ENDED, /* the thread is over */
};

/* Threads waiting for one thing, first come first served. Linked through the threads. */
struct wait_list {
    struct thread *head, *tail;
    uint32_t n;
};

/* A condition variable, see condition.h. */
struct condition {
    uint32_t first_group; /* number of the group that signals go to; the second has the next one */
    uint32_t leaving;     /* of the first: woken, but have not run since */
    struct wait_list signallers;
};

/* The run of a loop edge that a thread is in the middle of. */
struct edge_run {
    int choice; /* within the group; PLAN_NONE before the first */
    double left;
};

/* Of a quantity that is `level` at present: its mean over the last tens of milliseconds. */
struct average {
    double value, level, at_ns;
};

/* How a thread wakes others, as the kernel keeps count. */
struct wake_record {
    int last;         /* thread that it woke last; PLAN_NONE: none yet */
    double flips;     /* how often that was another one than before, lately */
    double halved_ns; /* when the count was halved last */
};

/* Of an order, until it has passed. */
struct held_number {
    double number; /* INFINITY: none */
    double steps;  /* that it has made, in an order in steps; in rounds: turns it has had */
};

/* Which of the recorded tasks a task is like; see struct node's tasks. */
struct task {
    int like;        /* PLAN_NONE: no particular one, or no task */
    uint32_t number; /* of those that have come, from 1 on */
};

#define TASK_NONE ((struct task){.like = PLAN_NONE})

struct thread {
    uint32_t id; /* also its event source and its place in the ready queue */
    int pool;
    int node;
    enum thread_state state;
    enum thread_phase phase, after_retake;
    enum outcome granted;
    bool is_spinning; /* burns CPU until it gets what it waits for */
    struct thread
        *creator;      /* whose part this thread is, see struct pool's with_creator; else NULL */
    bool is_awake;     /* will go on without having slept: see struct plan_pool */
    int core;          /* while RUNNING, or chosen and about to */
    int last_core;     /* or where it queues; PLAN_NONE before the first */
    int recent_core;   /* last_core when it was last woken while that one was busy */
    double ran_ns;     /* when it last left a core */
    int cache_core;    /* where that was; PLAN_NONE before the first */
    double displaced;  /* of that core, when it left */
    double missing_ns; /* CPU to bring back what it has lost from its cache; see caches.h */
    double demand_ns, missed_ns; /* what it computes, and what was missing before that */
    struct wake_record wakes;
    struct average load, use; /* the shares of time that it is runnable, and that it runs */
    double remaining_ns;      /* CPU to be served before the walk goes on */
    double debt_ns;           /* CPU spent waking others, served with the next demand */
    double vruntime_ns;       /* CPU had so far, as the scheduler counts */
    double deadline_ns;       /* of its slice, in vruntime; see fair.h for these */
    double protected_ns;      /* the deadline that it had when it got the core */
    double lag_ns;            /* how far behind its fair share it was when it went to sleep */
    bool is_delayed;          /* asleep, but still in its queue */
    double since_ns;          /* when the present state began */
    double arrived_ns;        /* when it came to its node */
    double time_ns[N_THREAD_STATES]; /* spent in each state since the warm-up */
    double due_ns;                   /* when the present operation's time is up */
    double waits_since_ns;           /* first wait of the present operation; negative: none */
    double locks_since_ns; /* the same for taking a mutex, which may be part of an operation */
    double wanted;         /* tokens or requests of the present operation */
    double taken;          /* tokens, the last time that it drew how many */
    struct thread
        *reads_for;   /* this reads ahead for that one, and is in no pool; NULL: it is one */
    bool is_awaited;  /* by the one that it reads for */
    int request;      /* of the plan's: the one of `wanted` that it has at a disk; PLAN_NONE */
    int ahead;        /* so many behind these are for later */
    double claim;     /* what was announced to this thread when it was woken, not yet taken */
    double clock_ns;  /* when its last wait by the clock was due; NaN: there was none */
    double birth_ns;  /* of the task it works on; NaN: none */
    struct task task; /* which one that is */
    int item_kind;    /* of the item that it took last; 0: no particular */
    int client;       /* whose task it works on; PLAN_NONE */
    int queue;        /* to which that came from outside; PLAN_NONE: to none */
    struct condition *condition; /* on which it waits, or that it is leaving; NULL: none */
    uint32_t group;
    bool is_leaving; /* its group: woken, but has not run since */
    struct wait_list *waits_in;
    struct thread *next, *previous; /* in waits_in */
    struct random_stream random;
    struct edge_run *runs;
    struct held_number *numbers;      /* one for each order */
    struct command_progress commands; /* where it is in those of a monitor */
    struct value *variables;          /* of the monitors, as far as each thread has them */
};

struct core {
    struct thread *running;
    struct thread *last;
    bool is_starting;  /* `running` has been woken and gets here after the wake-up latency */
    double charged_ns; /* up to when `running`'s vruntime is counted */
    double slice_end_ns;
    double done_ns;       /* when `running`'s demand is served */
    double entered_ns;    /* when `running` began to run */
    double displaced;     /* -ln of the share that is left of what the cache once held */
    double idle_since_ns; /* -INFINITY: nobody has run there yet */
    uint32_t idle_position;
    struct average load, use; /* runnable threads; whether there are any */
    int balance_failures;
};

/* What one core schedules, or all where cores are ideal. See fair.h. */
struct fair_queue {
    struct heap waiting; /* threads by deadline: ready ones, and those that sleep, but delayed */
    uint32_t n_delayed;
    double sum_vruntime_ns; /* of all in it */
    double average_ns; /* of the vruntimes of these and the running ones, when last looked at */
};

/* Two kinds of waiters per object; in monitors the number of the condition. */
enum { SIDE_FIRST, SIDE_SECOND };
#define SIDE_TAKERS  SIDE_FIRST /* of items, tokens, locks, ... */
#define SIDE_READERS SIDE_FIRST
#define SIDE_PUTTERS SIDE_SECOND
#define SIDE_WRITERS SIDE_SECOND

/* In a queue. */
struct item {
    double birth_ns;
    int kind;
    int client;           /* PLAN_NONE: of none */
    int queue;            /* to which it came from outside; PLAN_NONE: it did not */
    struct thread *owner; /* nobody else takes it; NULL: anyone does */
    struct task task;
};

/* On a link: a request or its reply, and what is said to make a connection for it. */
struct message {
    enum { MESSAGE_CONNECT, MESSAGE_CONNECTED, MESSAGE_REQUEST, MESSAGE_REPLY } kind;
    double birth_ns;   /* of the request; NaN: not known */
    double sending_ns; /* so long it takes the link */
    double due_ns;     /* when it arrives; while it waits: since when it does */
    int queue;         /* to which the request comes */
    int client;        /* PLAN_NONE: of none */
};

struct message_ring {
    struct message *items;
    size_t first, n, capacity;
};

struct shared {
    enum object_kind kind;
    uint32_t event; /* source number of arrivals */
    int n_sides;
    struct wait_list *waiters; /* by side, as what follows */
    struct condition *conditions;
    /* By side, but of monitors: what has been announced to woken threads that have not run yet: as
     * glibc does, no further waiter is woken for the same token, item or unlock. */
    double announced[2];
    bool is_closed;
    bool is_signalled;
    bool writers_first;   /* rwlock */
    struct thread *owner; /* mutex, spin, rwlock's writer */
    int depth;            /* of a recursive mutex */
    bool is_contended;    /* mutex: its unlock wakes a waiter */
    uint32_t readers;
    uint32_t being_served; /* disk: requests on its servers */
    double promised_ns;    /* disk with room: when it will have done all that it was asked */
    int last_stream;       /* disk: of the request that it served last; 0: of none */
    double head;           /* disk: sector at which the last request ended */
    uint32_t last_thread;  /* disk: 1 + the one whose request it served last; 0: nobody's */
    double amount;      /* tokens there; queue: capacity; barrier: parties; order: numbers drawn */
    double in_vain;     /* tokens: attempts since it was filled */
    double taken;       /* queue: items, of those in all */
    double arrived;     /* barrier; order: collected */
    double led;         /* order in groups: numbers below go with the one whose turn it was last */
    struct item *items; /* queue: ring */
    size_t first, n_items, capacity;        /* n_items: of links, too */
    double arrivals_left, arrivals_awaited; /* queue: from outside: not asked for, not come yet */
    double tasks_open; /* queue: came from outside by itself, and its task has not ended */
    struct message_ring waiting;   /* link: the first of these is being sent ... */
    double sent_ns;                /* ... until then */
    struct message_ring under_way; /* link: sent; by when they arrive */
    size_t gaps_had;               /* queue: times between arrivals */
    struct random_stream random;
    /* Statistics since the warm-up. */
    double operations, waits, wait_ns, dropped;
    double unseen;             /* disk: requests of which the recorded run had none */
    double busy_ns, length_ns; /* integrals up to touched_ns */
    double touched_ns;
    size_t items_before, least_items; /* queue, link: when they began, and the fewest since */
};

/* How far a thread has come on a node's course. */
struct course_place {
    int leg;
    double taken; /* times in a row */
};

enum stream_kind { STREAM_THREAD, STREAM_DRAW, STREAM_OBJECT, STREAM_DICE };

/* An empirical distribution being handed out: `values` in random order, `left` still to come. */
struct bag {
    double *values;
    uint32_t n, left;
    struct random_stream random;
};

/* A pool whose threads wait for their next creation spinning. */
struct awake_pool {
    double left_ns; /* sum of the moments when its threads ended since they were last created */
    double spun_ns; /* CPU burnt between these lives, all threads together */
};

/* Of a node with calls in a row: before these places all have been made, of those that begin a row
 * and of all; none could be begun when a thread came for one. */
struct call_rows {
    int begun, made;
    bool are_shared;
};

struct engine {
    const struct plan *plan;
    const struct sim_observer *observer; /* NULL: nobody watches */
    double now_ns;
    double until_ns;          /* the clock may not pass this */
    double counted_since_ns;  /* when the statistics began */
    double events;            /* node visits and clock events */
    double events_at_advance; /* `events` when the clock last moved */
    struct heap clock;        /* ids: threads, cores, objects, the tick, the clients */
    struct heap thinking;     /* clients, by when they come again */
    struct thread **turn;     /* FIFO of threads that go on at this instant */
    uint32_t turn_first, turn_n;
    struct thread *threads;
    struct thread *readers; /* two for each of them: what it reads ahead; NULL: none does */
    struct core *cores;
    int *idle_cores; /* stack */
    uint32_t n_idle;
    uint32_t n_spinning, n_ready;
    struct fair_queue *queues; /* one per core, or one */
    struct random_stream dice; /* the load balancer's */
    struct shared *objects;
    struct wait_list *joiners; /* by pool */
    int *alive;                /* by pool: threads not ended, begun or not */
    struct awake_pool *awake;  /* by pool */
    int resting_pool;          /* awake, and has had nothing to do since then; PLAN_NONE */
    double resting_since_ns;
    int alive_at_start; /* threads of the pools that the end of the run waits for */
    struct bag *bags;   /* by draw */
    double *bag_values;
    uint32_t *rounds; /* thread's id * plan->n_rounds + the draw's: how many it has had */
    struct course_place *places; /* thread's id * plan->n_courses + the node's course */
    struct edge_run *runs;
    double *cards;
    int *calls_made;     /* by node: of those that it lists */
    bool *is_made;       /* by call, of nodes with rows */
    uint32_t *made_for;  /* by call of what one task asks for: the number of the last that did; 0 */
    uint32_t tasks_come; /* from outside */
    struct call_rows *rows;
    int *last_calls; /* by thread and node with rows: the call that it made last; PLAN_NONE */
    int *comers;     /* by node with an edge for one thread: how many have come in this round */
    struct held_number *numbers;
    struct wait_list *waiters; /* of all objects */
    struct condition *conditions;
    struct value *variables;     /* of the monitors */
    struct value *own_variables; /* per thread */
    bool arrivals_ended;         /* the last open arrival of some queue has come */
    double replies_under_way;    /* on links */
    double tasks, tasks_ever;    /* ended: since the statistics began; in all */
    struct histogram response;
    struct thread *kernel_leader; /* sleeps, and its turn has come in an order that the kernel
                                   * keeps: the walk is to go on for it; NULL */
    double stalls, guessed;
    double guessed_wait_ns, guessed_since_ns; /* all waits whose end was guessed; the first end */
    char stalled_at[400];
    char failure[512]; /* why the run cannot go on; empty while it can */
};

/* What the plan says of the object. */
static inline const struct plan_object *engine_planned(const struct engine *engine,
                                                       const struct shared *object) {
    return &engine->plan->objects[object - engine->objects];
}

/* The thread goes on at this instant, after those that already wait for that. */
static inline void engine_take_turn(struct engine *engine, struct thread *thread) {
    uint32_t size = (uint32_t)engine->plan->n_threads;
    uint32_t at = engine->turn_first + engine->turn_n++;
    engine->turn[at < size ? at : at - size] = thread;
}

/* Moves the clock on, to a moment that is not before now. */
static inline void engine_advance(struct engine *engine, double to_ns) {
    if (to_ns > engine->now_ns) {
        engine->now_ns = to_ns;
        engine->events_at_advance = engine->events;
    }
}

#endif
