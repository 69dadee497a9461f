/* The model: what `build-model` writes and `predict` runs.
 *
 * Three tiers (Tarvo and Reiss 2017, section 3):
 *   1. objects that threads share: queues, locks, barriers, disks;
 *   2. one probabilistic execution graph (PEG) per thread pool: a node is a code
 *      fragment that does something other than compute, an edge carries the
 *      computation (c_CPU) between two of them and the rule by which it is taken;
 *   3. the machine: cores, scheduler, wake-up costs, disk service times.
 *
 * Stored as JSON, see docs/formats.md; times are nanoseconds, sizes bytes. */
#ifndef PERSIK_FORMATS_MODEL_H
#define PERSIK_FORMATS_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/pace.h"
#include "model/page_cache.h"
#include "model/partition.h"
#include "model/refill.h"

#define MODEL_VERSION 1
#define MODEL_NONE    (-1) /* "no such index" wherever an int names a node, pool or object */

/* ---- distributions ---- */

enum dist_kind {
    DIST_NONE,        /* absent: always 0 */
    DIST_CONSTANT,    /* `mean` */
    DIST_EMPIRICAL,   /* `n_values` equally likely values, ascending */
    DIST_EXPONENTIAL, /* `mean` */
    DIST_UNIFORM,     /* between values[0] and values[1] */
};

/* An empirical distribution is drawn without replacement: the values are shuffled,
 * handed out one by one, and shuffled again when used up, by all threads together.
 * A finite run then does the work that was measured, not a noisy version of it.
 *
 * What threads do in the same round is often alike: steps of a computation differ, and all threads
 * have their parts of a step. So `common` of the values are drawn for the round rather than for the
 * thread: in its first, second ... round each thread of the pool gets the same one. */
struct dist {
    enum dist_kind kind;
    double mean;
    double common; /* 0..1, empirical only */
    int sharers;   /* of `common`: how many threads had each round when it was recorded */
    size_t n_values;
    double *values; /* owned */
};

/* ---- quantities that follow the configuration ---- */

struct linear_term {
    int pool;
    double factor;
};

/* base + sum of factor * (threads of pool): barrier parties, capacities, loop counts. */
struct linear {
    double base;
    size_t n_terms;
    struct linear_term *terms; /* owned */
};

/* Its base is no number. */
#define LINEAR_UNKNOWN ((struct linear){.base = NAN})

/* How a demand or a count measured with T0 threads in `pool` changes with T threads:
 * value * ((1 - share - growth) + share * T0 / T + growth * T / T0). All 0 = per thread
 * (unchanged); share 1 = a fixed total split among the threads; growth 1 = a loop over the threads.
 * With `rest` it is known of how many items the total consists and who gets those that do not
 * divide evenly: T0 / T is T0 / total * partition_part(rest, total, T, number of the thread). */
struct scaling {
    double share;
    double growth;
    double less; /* the value is so much less than what is scaled: a loop that decides at its end
                  * is stayed in once less than it has rounds */
    enum rest rest;
    double total; /* with `rest` */
    int pool;     /* MODEL_NONE when share, growth and rest are 0 */
};

/* ---- tier 1: shared objects ---- */

enum object_kind {
    OBJECT_MUTEX, /* barging: unlock frees it and wakes one waiter, first to run gets it */
    OBJECT_RWLOCK,
    OBJECT_SPIN,    /* waiting burns CPU */
    OBJECT_TOKENS,  /* counting semaphore; also shared work ("n iterations left") */
    OBJECT_QUEUE,   /* items with birth times; put waits when full, get when empty */
    OBJECT_FLAG,    /* condition variable with memory: a signal is kept until one wait uses it */
    OBJECT_BARRIER, /* `amount` parties, cyclic */
    OBJECT_DISK,    /* `servers` at work, one queue for them, FIFO */
    OBJECT_ORDER,   /* numbers are drawn and go through in their order */
    OBJECT_MONITOR, /* variables and conditions under a mutex, and the statements that are carried
                     * out on them */
    OBJECT_LINK,    /* of a network, one way: sends one thing after the other, FIFO, each of which
                     * arrives some time after it was sent whole */
};

/* ---- a monitor as the program has it: its statements, carried out ---- */

/* NULL, NULL: there is none. */
struct expression {
    char *text;    /* as written, for the reader */
    char *postfix; /* model/postfix.h; "$I" is the monitor's variable I */
};

struct monitor_variable {
    char *name;
    struct linear initial;
    bool per_thread; /* each thread has one of its own */
};

enum statement_kind {
    STATEMENT_UPDATE, /* the variable gets the value */
    STATEMENT_WAIT,   /* on the condition while the predicate holds, with the mutex given up */
    STATEMENT_SIGNAL, /* wakes one that waits on the condition */
    STATEMENT_BROADCAST,
};

struct statement {
    enum statement_kind kind;
    /* Happens only where this holds. Statements in a row under the same one are in one branch,
     * which is decided once. */
    struct expression guard;
    int variable, condition;     /* indices into the monitor's */
    struct expression value;     /* UPDATE */
    struct expression predicate; /* WAIT */
    bool answers; /* whether the guard holds is the outcome of the node that carries it out */
};

/* What a thread does with the mutex in its hands, in this order. */
struct statement_section {
    char *name; /* where it is: "ring_put (ring.c:24)" */
    size_t n_statements;
    struct statement *statements;
};

/* How long a disk that serves one request at a time takes for one, by how far its place is from
 * where the last one ended. */
struct disk_distance {
    double least; /* sectors; up to the next one's */
    struct dist service_ns;
};

struct object {
    char *name; /* as a person would say it: "queue.mutex (pipeline.c:31)" */
    enum object_kind kind;
    /* tokens: initial count; queue: capacity (ignored unless bounded); barrier: parties;
     * others: unused. Rounded to the nearest integer when evaluated. */
    struct linear amount;
    /* tokens only: after so many attempts in vain (once all threads have found that there is
     * nothing left) the initial count is there again; 0: never. */
    struct linear refilled_after;
    bool bounded;       /* queue only */
    bool spins;         /* tokens, queue, flag, barrier: waiting burns CPU */
    bool writers_first; /* rwlock only: a waiting writer keeps readers out */
    bool condition; /* tokens, queue, flag, barrier, order: waiting is on a condition variable */
    bool wakes_all; /* order, tokens, queue: all who wait are woken at each pass, release or put, to
                     * look for themselves */
    bool when_enough; /* tokens, queue with `wakes_all`: ... if who waits longest could go on */
    bool when_empty;  /* queue with `wakes_all`: ... if nothing was there before */
    bool handed;      /* queue: what a thread that waited is woken for is kept for it */
    int condition_of; /* tokens, queue: another such object, which has none itself: it is on that
                       * one's condition variable that one waits here; all who do are woken where
                       * either `wakes_all`; MODEL_NONE */
    bool in_rounds;   /* order only: a thread's n-th turn comes with the n-th pass, and no number is
                       * drawn */
    bool in_groups; /* order only: whose turn it is leads all who wait by then: when it passes, they
                     * have passed as well, and their waits end with "no" */
    bool by_kernel; /* ... and the kernel does what it does until then, without a core for it */
    bool in_steps;  /* order only: numbers go their way step by step, each behind another: */
    double distance;   /* ... so many below (absent: 1), ... */
    double lead;       /* ... which must be so many steps ahead; may be negative */
    double led_cpu_ns; /* in_groups: the CPU time that each of those led costs the leader after its
                        * turn came */
    int dealt_to; /* order: a pool whose threads hold the first numbers from the start, in the order
                   * of their creation; queue: each arrival from outside is for one of the pool's
                   * threads, at random, and nobody else takes it; MODEL_NONE */
    int item_kind; /* queue only: of what comes from outside; 0: no particular. Else threads put
                    * back what they did of it for others, and the queue is closed when all that
                    * came is done */
    double initial_items;   /* queue only: items already there at the start of the run */
    double items_in_all;    /* queue only: it is closed when so many have been taken; 0: never.
                             * Nobody waits for ever before: see docs/formats.md */
    struct dist service_ns; /* disk only: of one request on one server */
    double servers;         /* disk only: requests served at once; 0 = all that come */
    double room_ns;     /* disk only: nobody waits for requests before they take so long in all; 0:
                         * everybody does, for his own */
    size_t n_distances; /* disk with one server; 0: it does not matter, or is not known */
    struct disk_distance *distances; /* owned; ascending, from 0 */
    double least_depth; /* disk only: hardly a recorded request, itself counted, was one of fewer;
                         * 0: it does not matter */
    double most_depth;  /* disk only: so many it nearly always had at once: how long more would take
                         * each is not known; 0: it does not matter */
    bool never_continued;        /* disk only: hardly one followed another one of its own thread */
    struct dist alone_ns;        /* disk only: of such a request as the recorded run had none of;
                                  * DIST_NONE: not known */
    struct dist interarrival_ns; /* queue only: open arrivals from outside; DIST_NONE = none */
    size_t n_gaps;   /* queue only: the time before each recorded arrival, in their order ... */
    double *gaps;    /* ... ns; owned */
    double arrivals; /* queue only: how many arrive in all; 0 = no end (until closed) */
    double clients;  /* queue only: a closed population of so many from outside; 0 = none. Each
                      * thinks, puts an item in, waits until its task ends, and begins anew */
    struct dist think_ns;  /* with clients; DIST_NONE: no time */
    int comes_by, goes_by; /* queue only: the links by which what is from outside comes to it, and
                            * by which the replies go; MODEL_NONE: at once */
    bool returned_first;   /* queue only: what threads put back does not wait behind what has come
                            * from outside, of which one is taken each time round */
    bool connects; /* queue only: each comes by a connection of its own, for which the two sides
                    * ask and answer once before */
    struct dist request_bytes, reply_bytes; /* queue only: what goes over the links; DIST_NONE: not
                                             * known */
    double latency_ns;                      /* link only */
    double bytes_per_s;                     /* link only; 0: no limit */
    size_t n_variables, n_conditions, n_sections; /* monitor only */
    struct monitor_variable *variables;
    char **conditions;
    struct statement_section *sections;
    char *evidence; /* how modelgen knows what it is; may be NULL */
};

/* What programs make themselves from a mutex, conditions and a few variables. */
enum hand_made_kind {
    HAND_MADE_BOUNDED_QUEUE,
    HAND_MADE_UNBOUNDED_QUEUE,
    HAND_MADE_SEMAPHORE,
    HAND_MADE_BARRIER,
    HAND_MADE_EVENT,      /* latch, one-shot event, flag, future */
    HAND_MADE_COMPLETION, /* wait until all work is done */
    HAND_MADE_RWLOCK,
    HAND_MADE_TOKEN_POOL,  /* a list of free buffers, ... */
    HAND_MADE_HAND_OVER,   /* wait for my turn */
    HAND_MADE_THREAD_POOL, /* a queue of tasks with its dispatcher */
    HAND_MADE_OTHER,       /* understood, but none of these */
};

enum hand_made_role {
    AS_PUT,
    AS_GET,
    AS_CLOSE,
    AS_ACQUIRE,
    AS_RELEASE,
    AS_WAIT,
    AS_SIGNAL,
    AS_ARRIVE,
    AS_READ_LOCK,
    AS_WRITE_LOCK,
    AS_UNLOCK,
    AS_SUBMIT,
    AS_RUN,
};

/* How well the model does something. */
enum modelled {
    MODELLED_EXACTLY,     /* by an object of the same semantics */
    MODELLED_BY_FALLBACK, /* by one that is only alike */
    MODELLED_NOT,         /* left out */
};

struct hand_made_operation {
    enum hand_made_role as;
    char *function;
};

struct hand_made_part {
    int object; /* of the model */
};

/* A hand-made object as a person would see it. The simulator runs the objects it is made of. */
struct hand_made {
    char *name;
    enum hand_made_kind kind;
    struct linear amount; /* capacity, initial count or parties; LINEAR_UNKNOWN: or there is none */
    size_t n_made_of, n_operations, n_evidence;
    struct hand_made_part *made_of; /* model objects; none when all of it is left out */
    struct hand_made_operation *operations;
    double replayed;   /* critical sections of the traced run held against its semantics */
    double violations; /* how many of them contradicted it */
    double confidence; /* 0..1 */
    enum modelled how;
    char *why;       /* how we know, or why it is not exact */
    char **evidence; /* one line each */
};

/* Where the program's threads waited, in all, and how well the model does that. */
struct waiting_share {
    char *what; /* object */
    enum modelled how;
    double wait_ns; /* of all threads */
};

/* ---- tier 2: thread pools and their PEGs ---- */

enum node_kind {
    NODE_START, /* s0 of a pool: does nothing */
    NODE_END,   /* thread ends */
    NODE_STEP,  /* does nothing but branch or burn `cpu_ns` */
    NODE_LOCK,  /* mutex, spin; timeout_ns 0 = try */
    NODE_UNLOCK,
    NODE_RDLOCK, /* rwlock */
    NODE_WRLOCK,
    NODE_RWUNLOCK,
    NODE_ACQUIRE, /* tokens: take `count` */
    NODE_RELEASE, /* tokens: add `count`, which may be negative: debts others must pay first */
    NODE_PUT,     /* queue */
    NODE_GET,     /* queue */
    NODE_CLOSE,   /* queue, tokens: from now on a wait that would block ends with "no" */
    NODE_WAIT,    /* flag */
    NODE_SIGNAL,  /* flag */
    NODE_BARRIER,
    NODE_DRAW,       /* order: takes the next number; one still held counts as passed */
    NODE_TURN,       /* order: waits until all lower numbers than this thread's have passed; in
                      * steps: until the one that leads has passed, or is far enough ahead */
    NODE_ADVANCE,    /* order in steps: this thread's number has made one more */
    NODE_PASS,       /* order: this thread's number has passed */
    NODE_COLLECT,    /* order: waits until the lowest number not yet collected has passed */
    NODE_STATEMENTS, /* monitor: carries out the statements of its section number `section` */
    NODE_CREATE,     /* starts all threads of `target_pool` that are not running; one per task */
    NODE_JOIN,       /* waits until all threads of `target_pool` have ended */
    NODE_SLEEP,      /* `wait_ns` of wall time off the CPU */
    NODE_IO,         /* with a disk object: `operations` requests, one after the other; without:
                      * `wait_ns` off the CPU (an undisturbed, unshared device) */
    NODE_TASK_BEGIN, /* this thread starts working on a task now */
    NODE_TASK_END,   /* task complete: counts for throughput, response = now - birth */
};

/* The outcome of a node that can fail or time out: ACQUIRE, PUT, GET, LOCK, RDLOCK, WRLOCK, WAIT
 * with a finite or zero timeout; ACQUIRE, PUT, GET on a closed object; STATEMENTS of which one
 * answers. Everything else always ends with OUTCOME_YES. */
enum outcome { OUTCOME_ANY, OUTCOME_YES, OUTCOME_NO };

/* Who takes an edge where all of a pool's threads come to its node in each round, such as after a
 * barrier, and what only one has to do is done by ... */
enum taker {
    TAKER_ANY,   /* no rounds: whoever chooses it */
    TAKER_FIRST, /* ... who comes first in the round */
    TAKER_LAST,  /* ... who comes last */
    TAKER_LEADER /* ... the pool's first thread */
};

struct edge {
    int to; /* node index */
    enum outcome when;
    /* Weight among the edges that fit the outcome (normalised). With `runs` it is the weight by
     * which the NEXT run is chosen, the edge of the run just ended being left out
     * if there is another. Whole numbers are counts: the threads deal their choices from one deck
     * of that composition, so that rare edges come exactly as often as measured. */
    double probability;
    /* With `runs`: weight for a thread's first decision at this node. All 0 = like probability. */
    double first;
    /* For how many successive decisions at this node the edge is taken before another one is
     * chosen: this is a loop's measured iteration count. DIST_NONE = memoryless (probability). */
    struct dist runs;
    struct scaling runs_scaling;
    /* Leads out of the loop that the node's other edges make up: taken when the node's `stays` are
     * used up, and never before. */
    bool leaves;
    enum taker taker;   /* nobody else takes it; at most one of the edges for an outcome has one */
    struct dist cpu_ns; /* computation on the way */
    struct scaling cpu_scaling;
    /* Of a total that is split beforehand, parts may cost more or less by their place in it: the
     * computation of each of so many equal parts, over the mean of all. The drawn value is
     * multiplied by partition_weight() of the thread. */
    size_t n_cpu_by_place; /* 0: wherever it is */
    double *cpu_by_place;  /* owned */
};

#define REQUEST_AHEAD 2      /* see the calls of struct node */
#define MOST_TASKS    0x1p26 /* ... and its tasks */

struct node {
    char *name; /* function and place: "worker (raytracer.c:120) pthread_mutex_lock" */
    enum node_kind kind;
    int pool;   /* its threads come here; MODEL_NONE: not known. Not in the file: model_load() finds
                 * it
                 */
    int object; /* MODEL_NONE where the kind has none */
    int mutex;  /* of kinds that wait for a monitor, ACQUIRE, GET, BARRIER ...: a mutex this thread
                 * holds, given up while  waiting and taken again before going on; else MODEL_NONE */
    int target_pool; /* CREATE, JOIN */
    int section;     /* STATEMENTS: of the monitor; else 0 */
    int item_kind;   /* PUT: of the items that it puts; STEP behind a GET: where those of this kind
                      * lead, whatever the edges' probabilities; 0: none in particular */
    double count;    /* ACQUIRE, RELEASE: how many; PUT: how many items, more than one only where
                      * there is no bound; SIGNAL: how many waiters; 0 is 1 */
    struct scaling count_scaling;
    struct dist counts; /* ACQUIRE: how many, each time anew; DIST_NONE: `count` */
    bool gives_back;    /* RELEASE: as many as this thread took last where it takes by `counts` */
    double timeout_ns;  /* negative: wait for ever; 0: try; else limit */
    /* The edges that each of its threads takes from the first time on, over and over: edge, how
     * often in a row, edge, ... Then none depends on the outcome or the thread. None: each thread
     * decides by what the edges say. */
    size_t n_course;
    double *course;    /* owned */
    struct dist stays; /* how often it is left by edges that do not leave, before one that does */
    struct scaling stays_scaling;
    struct dist cpu_ns;  /* computation inside the call itself (a read's copying, ...) */
    struct dist wait_ns; /* SLEEP, IO */
    bool by_clock;       /* SLEEP: counted from when the thread's last wait was due, not from now:
                          * who is late waits less */
    struct dist operations; /* IO with a disk: number of device requests, 0 = cache hit ... */
    struct dist service_ns; /* ... and the time of each; DIST_NONE: the disk's ... */
    struct dist near_ns;    /* ... behind one of the same stream; DIST_NONE: no other */
    int stream; /* IO: requests of nodes with the same number lie close together; 0: nowhere (a
                 * flush), or not known */
    bool ahead; /* IO with a disk: calls may be made ahead. Their thread waits for the one that it
                 * made so before, at most, and goes on while this one is under way; one without
                 * requests only waits */
    /* IO with a disk, in place of `operations` where it is known: what each recorded call asked the
     * disk for, in the calls' order. Of each call the number of requests, then of each request the
     * first sector, the number of sectors, and whether it was there with the one before it (1), or
     * came when that was done (0); more by REQUEST_AHEAD where it is made ahead, as all behind it
     * in its call are. What a cache still misses depends on what was read before: the n-th call of
     * a run is the n-th of these, by whichever thread; what comes after the last one is like those
     * of the second half. */
    size_t n_calls;
    double *calls;  /* owned */
    size_t n_reads; /* none, or one for each of the `calls`: which of the page cache's calls it is;
                     * -1: it read nothing of it */
    double *reads;  /* owned */
    size_t n_goes_on; /* none, or one for each of the `calls`: how many of them before this one its
                       * thread made the one whose row it goes on with, reading on where that ended;
                       * 0: it begins a row, or is in none. A thread goes on with its row */
    double *goes_on;  /* owned */
    size_t n_tasks; /* none, or one for each of the `calls`: the number of the task, in the order in
                     * which they came from outside, that its thread worked on; -1: on none. The
                     * n-th task of a run asks for what the n-th recorded one did in all its calls
                     * of this node, when it first comes there: then what one task asks for is
                     * together, however often it comes. Tasks behind the last one are like those
                     * of the second half */
    double *tasks;  /* owned */
    size_t n_edges;
    struct edge *edges; /* owned; none only at NODE_END */
};

struct pool {
    char *name;             /* the threads' function, made unique: "worker", "POOL_thread#2" */
    char *origin;           /* where they are created, for the reader */
    struct linear threads;  /* base = profiled number when nothing else is said */
    int profiled_threads;   /* T0 */
    double profiled_cpu_ns; /* of all its threads in the recorded run; 0: not known */
    bool scales;            /* --threads N changes it */
    bool at_start;          /* runs from time 0 (the main thread); others wait for NODE_CREATE */
    bool with_creator;      /* its first thread is the one that creates them, at work */
    bool per_task;          /* its creator makes one for each task, which becomes that thread's: as
                             * many as are needed, whatever `threads` says. With `scales`, permits
                             * that follow `threads` are the limit of those that live */
    bool kept;  /* created again, its threads are the same ones: those of an OpenMP team */
    bool awake; /* waits to be created again without sleeping, given a core for each thread */
    double asked_factor, asked_offset; /* --threads N changes it to factor * N + offset; factor 0:
                                        * to N */
    int most_threads, least_threads;   /* bounds of what --threads changes; 0: none */
    double cores_factor, cores_offset; /* it never has more than factor * cores + offset threads;
                                        * factor 0: whatever the cores */
    bool cores_online;   /* ... of the machine, of which it does not matter how many it may use */
    double sleep_cpu_ns; /* with awake: CPU of one that has to sleep until it is created again */
    int entry;           /* its NODE_START */
    enum partition partition; /* how its work follows the thread count ... */
    double confidence;        /* ... 1 when the source or the user says so ... */
    char *rule;               /* ... and one line on it for predict */
    char *uncounted;          /* why its size need not be the thread count of the run; NULL */
    char *capped;             /* why it may never have more threads than there are cores; NULL */
    char *remade;     /* how much making its threads anew again and again costs; NULL: little. What
                       * more of them at a time cost, and how others find cores, is not known */
    char *one_thread; /* why one thread goes another way than the recorded ones; NULL */
    char *tree; /* where its threads make each other, each for a part of its own work; NULL: they do
                 * not */
    double given_ns; /* with an unknown rule: its threads go on for so long, whatever they do in it;
                      * 0: not that is known */
    /* Of what others had in a core's cache, exp(-displaces_per_ns * t) is left when one of these
     * threads has run there for t. */
    double displaces_per_ns;
    size_t n_refill;             /* 0: it costs nothing, or that is not known */
    struct refill_point *refill; /* as in struct refill_curve */
    /* After a sleep of t: CPU cold_cpu_ns * (1 - exp(-t / cold_pace_ns)), whoever had the core. */
    double cold_cpu_ns;  /* 0: nothing, or it is not known */
    double cold_pace_ns; /* above 0 where that is */
};

/* ---- tier 3 and the rest ---- */

struct machine {
    int cores;
    double quantum_ns;    /* time slice; with tick_ns, it ends with the first tick after that */
    double tick_ns;       /* period of load balancing between the cores' queues; 0: cores are
                           * ideal, none idles while a thread is ready */
    double pull_share;    /* of the times when a core becomes idle and a thread that has not run
                           * for a while is ready on another one: it takes it */
    double switch_cpu_ns; /* CPU cost of one context switch */
    double block_cpu_ns;  /* extra CPU a thread spends to go to sleep and come back */
    double wake_cpu_ns;   /* CPU that waking a thread costs if another core has to be interrupted */
    double preempt_ns;    /* how long that takes to reach a busy core; no CPU used */
    struct dist wake_latency_ns;  /* from the wake-up to running, on an idle core; no CPU used */
    double brief_idle_ns;         /* one that has idled for less has not gone to sleep yet: ... */
    struct dist brief_latency_ns; /* ... the same there; 0 and unused where nothing differs */
    bool signals_wait;            /* who signals a condition may have to wait until those that were
                                   * woken before have run: glibc before 2.41 */
    struct pace_reading pace; /* how fast the cores were when the CPU demands were as they are here:
                               * what slows them is in these; 0: not known */
    double busy_cores;        /* by the recorded program, on average; 0: not known */
    double shared_locks_hz;   /* how often it takes locks that several threads take, in a second of
                               * its CPU time; 0: never, or there were several cores, so that the
                               * recorded run shows what that costs */
};

/* What the program read of the page cache, and what that held: from which follows what it would
 * find in one of another size (model/page_cache.h). */
struct page_cache {
    char *unknown;     /* why other sizes cannot be told; NULL: they can */
    double size_bytes; /* of the recorded run's; 0: nothing had to leave it that was read again */
    double read_bytes; /* of all that was read or brought in: more than that is never used */
    enum cache_rule rule; /* by which pages leave it */
    double agreement; /* 0..1 of the reads of pages that had been read before found them, or not, as
                       * this cache has it */
    /* Of each group of pages, which are numbered in a row: how many, whether they were there at the
     * beginning (1), and the sector that the first one is at; -1: nowhere, it is read from no disk
     */
    size_t n_groups;
    double *groups; /* owned */
    /* Of each call that read, in their order: the number of accesses, and of each access the first
     * page, the number of pages, and 1 if they are only brought in for what may follow */
    size_t n_calls;
    double *calls; /* owned */
};

struct model_check { /* one line of the self-check, filled by build-model */
    char *what;      /* "running time", "cpu utilisation", ... */
    double measured, simulated;
};

/* How the note begins that says why the program's requests are no tasks, if it serves any. */
#define MODEL_NO_REQUESTS "requests of this server are not recognised"

struct model {
    int version;
    char *program;          /* argv, joined */
    char *built;            /* ISO date */
    char *host;             /* machine description without names: "2 cores, AMD EPYC, Linux 6.18" */
    char *build_id;         /* of the program; may be empty */
    double measured_run_ns; /* of the traced run */
    double explained_share; /* 0..1 of all that ran, design invariant 2 */
    double perturbation;    /* traced / untraced running time - 1; NaN unknown */
    double probe_ns;        /* measured cost of one record */
    double cpu_correction;  /* of all CPU demands, already in them; 1: none */
    double cpu_spread;      /* of the recorded runs, all alike: most less least CPU time, over the
                             * median; 0: unknown */
    double plain_cpu_ns;    /* CPU time without probes, median of the runs; 0: unknown */
    double plain_cpu_spread; /* of these, most less least, over the median; 0: unknown */
    double one_core_cpu_ns;  /* the same of the runs with one core only; 0: unknown */
    double foreign_share;    /* of the machine's CPU time during the traced run: other processes had
                              * it; 0: next to nothing */
    double slowed_share; /* of their time, that the cores lost to others of their host, or to heat,
                          * in the recorded runs: at their fastest meanwhile they took so much
                          * less. 0: next to nothing, or not known */
    double throttled_share; /* of the traced run's time, for which a quota stopped it, on all cores
                             * together; 0: not at all */
    double one_core_cpu;    /* CPU demands where one core is busy, over those here, which hold where
                             * machine.busy_cores are; 0: no difference, or not known */
    double one_core_doubt;  /* by so much, at most, CPU demands with one core may be others without
                             * one_core_cpu: less than what runs of one configuration differ by */
    double stopped_share;   /* of the time in which its threads computed or were stopped outside of
                             * every recorded call, other than for a disk: they were stopped; 0: it
                             * does not matter, or is not known */
    char *unpredicted; /* why no configuration but the recorded one has figures; NULL: they do */
    char *standstill;  /* why not even the recorded run can be simulated; NULL: it can */
    char *file_mix;    /* with which other mix of requests it was built; NULL: the recorded one */
    char *asks_cores;  /* why the program does other work with other cores; NULL: not known */
    double lost_events;
    struct machine machine;
    struct page_cache page_cache;
    size_t n_objects, n_monitors, n_waiting, n_pools, n_nodes, n_notes, n_checks;
    struct object *objects;
    struct hand_made *monitors;
    struct waiting_share *waiting; /* the longest first */
    struct pool *pools;
    struct node *nodes;
    char **notes; /* "not modelled exactly", one line each; see MODEL_NO_REQUESTS */
    size_t n_outside;
    char *
        *outside; /* what ran, or brought the work, where the model does not look, one line each */
    struct model_check *checks;
};

/* Is a reason given, such as model->standstill? It may be NULL or empty. */
static inline bool model_is_said(const char *reason) {
    return reason && *reason;
}

/* The number of threads, kept within the bounds; 0: there is none. */
int model_bounded(int threads, int least, int most);

/* The index of the pool of that name; MODEL_NONE. */
int model_find_pool(const struct model *model, const char *name);

/* The number of threads, kept within what the program allows itself on so many cores; it was
 * recorded with `recorded_cores`. At least 1. */
int model_within_cores(const struct pool *pool, int threads, int cores, int recorded_cores);

/* Evaluates at the given pool sizes (one per model pool). Cannot fail. */
double linear_value(const struct linear *linear, const int *pool_threads);

/* False: it is LINEAR_UNKNOWN. */
bool linear_is_known(const struct linear *linear);

/* Mean of the distribution; 0 for DIST_NONE. */
double dist_mean(const struct dist *dist);

/* Mean of the observations from position `from` to `to` of `n` sorted ones; both may lie inside an
 * observation, which then counts with that share. So bins have equal weight whether or not the
 * number of observations divides evenly, and their sum is the total. */
double dist_bin_mean(const double *sorted, double from, double to, size_t n);

/* Equal-weight summary of `n` observations, at most `limit` values, each the mean of its
 * quantile bin so that the total is kept exactly. `values` is sorted in place. All equal
 * values give DIST_CONSTANT, n == 0 gives DIST_NONE. */
struct dist dist_from_values(double *values, size_t n, size_t limit);

/* Append, and give the index. `name` is taken over (freed with the model). What is new refers to
 * nothing; a pool has no entry yet. */
int model_add_object(struct model *model, enum object_kind kind, char *name);
int model_add_pool(struct model *model, char *name);
int model_add_node(struct model *model, int pool, enum node_kind kind, char *name);

/* Appends an edge that is always taken, without computation. It holds until the next one. */
struct edge *model_add_edge(struct node *node, int to);

/* Sets each node's pool, by where the edges lead from the pools' entries, which must be nodes. A
 * node that they do not lead to is in the pool that it leads into. */
void model_find_pools(struct model *model);

/* Reads and checks a model file: every index in range, weights sane, a start
 * for every pool, quantities finite. NULL and `error` on: no such file, not JSON, newer version,
 * or a violation (named with its JSON place). model_free() ends it. */
struct model *model_load(const char *path, struct error *error);

/* Writes atomically (temporary file in the same folder, then rename), mode 0600. */
int model_save(const struct model *model, const char *path, struct error *error);

/* Can a node of this kind work on an object of that one? */
bool model_works_on(enum node_kind kind, enum object_kind object);

/* The same checks as model_load, on a model in memory. 0 or -1. */
int model_check(const struct model *model, struct error *error);

void model_free(struct model *model);

/* Marks in `reached` (per node) where the edges lead from `from`, over nodes that `may_pass` only
 * (NULL: all); `from` itself if they lead back to it. What is marked already is not gone through
 * again. */
void model_mark_reached(const struct model *model, int from, const bool *may_pass, bool *reached);

/* What the node owns, for one that leaves the model before it ends. */
void model_free_node(struct node *node);
void model_free_edge(struct edge *edge);

/* From now on the node's threads decide by what its edges say. */
void model_forget_course(struct node *node);

/* The names used in the file, NULL-free: "mutex", "lock", ... */
const char *object_kind_name(enum object_kind kind);
const char *node_kind_name(enum node_kind kind);
const char *taker_name(enum taker taker);
const char *hand_made_kind_name(enum hand_made_kind kind);
const char *hand_made_role_name(enum hand_made_role role);
const char *modelled_name(enum modelled how);

/* Does one of the section's statements decide the outcome of the nodes that carry it out? */
bool statement_section_answers(const struct statement_section *section);

#endif
