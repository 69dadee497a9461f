/* What writes the streams: the state of it, and the steps themselves. Internal to it, shared by the
 * modules that know one kind of thing: which objects there are (object_selection*.c,
 * self_scheduled_loops.c), and what one kind of call becomes (lower_*.c). */
#ifndef PERSIK_MODELGEN_LOWER_STEP_WRITER_H
#define PERSIK_MODELGEN_LOWER_STEP_WRITER_H

#include "base/map.h"
#include "modelgen/calibrate/request_streams.h"
#include "modelgen/graph/steps.h"
#include "modelgen/lower/lock_instances.h"
#include "modelgen/lower/lower_input.h"
#include "modelgen/lower/poison_pills.h"
#include "modelgen/lower/polling_queues.h"
#include "modelgen/lower/scatter.h"
#include "modelgen/lower/self_feeding_queue.h"

#define UNDECIDED  (-2)
#define OPEN_LIMIT 16

struct step_list {
    struct step *items;
    size_t count, capacity;
};

/* A section that the thread is in. */
struct open_section {
    int section;
    enum outcome answer; /* of the guard evaluated in it */
    bool is_told;        /* what it changes has been written, with its first signal */
};

/* The call after which a thread enters a loop that is entered again and again, or passes it by. */
struct loop_entrance {
    uint32_t place; /* TRACE_NO_CONTEXT: none */
    enum api api;
};

/* A loop whose rounds the threads of a pool draw from one supply. */
struct self_scheduled_loop {
    int loop; /* of the facts */
    int pool;
    int object;         /* tokens */
    uint32_t header;    /* context of the deciding lock */
    bool works_at_last; /* its last round is work like the others */
    struct loop_entrance entrance;
};

struct writer {
    const struct lower_input *in;
    struct model *model;
    double life_ns;          /* of all threads */
    int *object_of;          /* per sync object: model object, MODEL_NONE, UNDECIDED */
    bool *is_shared;         /* per sync object: used by several threads */
    bool *is_multiplied;     /* per sync object: used by threads that --threads multiplies */
    bool *is_instance;       /* per sync object: see lock_instances_find() */
    bool *is_flag;           /* per sync object: a condition modelled as a flag */
    bool *is_met_at;         /* per sync object: a mutex whose waiters are woken all at once */
    bool *writers_first;     /* per sync object: a read-write lock that prefers writers */
    int **section_of_unlock; /* per thread and record */
    struct {
        struct self_scheduled_loop *items;
        size_t count, capacity;
    } works;
    struct map kept_sites;     /* (context, api) of timed calls worth keeping */
    struct map device_of_site; /* of those that reached a block device */
    struct map disk_of;        /* device -> model object */
    struct map journal_of;     /* the same, of its file system's journal */
    struct request_streams streams;
    struct {
        double byte_ns;    /* in which a dirty byte is written back; 0: no call waited for that */
        double room_bytes; /* that may be dirty before calls are held up */
        double covered;    /* of the time for which they were, requests were under way */
        int object;
    } later;
    struct map share_of;           /* supply of a team -> model object */
    bool *feeds_tasks;             /* per explanation: the task pool takes from it */
    struct polling_queues polling; /* queues that functions of the program's own work on */
    struct poison_pills poison_pills;
    double *self_feeding;  /* per explanation: self_feeding_queue_total() */
    enum scatter *scatter; /* per explanation: scatter_of() */
    bool *when_empty;      /* per explanation: wake_policy_when_empty() */
    int *created, *joined; /* per pool, to find the first of each generation */
    int *join_standing;    /* per pool: which join of the generation stands for all */
    size_t *creation;      /* per pool: the step in `list` that creates the present generation */
    int task_pool;
    /* the thread being written */
    size_t thread;
    struct step_list list;
    size_t last_step_record; /* records before this one belong to earlier steps */
    struct open_section open[OPEN_LIMIT];
    int n_open;
    uint64_t held, phase; /* see struct step */
    bool in_task;
    bool retrying;         /* see struct step */
    bool succeeded;        /* in an attempt that can fail, with nothing put since */
    int pending_work;      /* work whose decision follows the unlock being written; -1 */
    int n_open_around;     /* sections that the thread was in when it met the deciding lock */
    size_t last_round_end; /* records before this one are in a loop's last round */
};

/* Where the call is, numbered. */
static inline uint32_t writer_place(const struct writer *writer,
                                    const struct trace_record *record) {
    return record->context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT
                                               : writer->in->places[record->context];
}

/* Appends a step at the record's place in the code; `record` is an index of the thread's, or their
 * number where it has none. The caller fills in the rest, before the next one is added. */
struct step *writer_add_step(struct writer *writer, enum node_kind kind, size_t record,
                             uint64_t start_ns, uint64_t end_ns);

/* A call on an object of the model, nothing where that is MODEL_NONE; `try` never waits and tells
 * by its result whether it got it. */
void writer_add_call(struct writer *writer, size_t index, const struct trace_record *record,
                     int object, enum node_kind kind, bool try);

/* CPU that the thread being written used from one time to another. */
double writer_cpu_inside(const struct writer *writer, uint64_t start_ns, uint64_t end_ns);

/* The same of a call that waits, less what going to sleep and coming back costs: the simulator has
 * a thread pay for that whenever it has slept. */
double writer_cpu_of_wait(const struct writer *writer, uint64_t start_ns, uint64_t end_ns);

/* How long it was blocked inside of a call: neither ran nor waited for a core. */
double writer_blocked_inside(const struct writer *writer, const struct trace_record *record);

/* Is the thread of the pool whose tasks are counted? */
bool writer_does_tasks(const struct writer *writer);

/* Marks the end of the task before, and the beginning of the next one. `take` is the step that
 * takes it, the last one written; it may have moved afterwards. */
void writer_mark_task(struct writer *writer, size_t record, uint64_t time_ns,
                      const struct step *take);

#endif
