/* What the sections of a mutex are together where no counter tells: a barrier, a read-write lock,
 * threads that take turns, results that are fetched in order. Like the guards these are found by
 * replaying the trace: the threads must have waited exactly when such an object makes them wait. */
#ifndef PERSIK_MODELGEN_SYNC_PATTERNS_H
#define PERSIK_MODELGEN_SYNC_PATTERNS_H

#include <stdint.h>

#include "formats/model.h"
#include "modelgen/sync/monitor.h"

/* What a section does with the pattern's object. Bits: it may wait first and pass at its end. */
enum pattern_act {
    ACT_ARRIVE = 1, /* barrier */
    ACT_READ = 2,   /* rwlock */
    ACT_WRITE = 4,
    ACT_UNLOCK = 8,
    ACT_TURN = 16, /* waits for its turn */
    ACT_PASS = 32, /* lets the next one */
    ACT_DRAW = 64, /* the order of the turns is decided here */
    ACT_COLLECT = 128,
    ACT_ADVANCE = 256, /* in_steps: has made one more */
    ACT_LED = 512,     /* in_groups: another one's turn was its own, too */
};

struct pattern {
    enum hand_made_kind
        kind;  /* BARRIER, RWLOCK, HAND_OVER, or EVENT: results fetched in order, or rounds */
    int mutex; /* one of them, when there are several */
    size_t n_objects;     /* mutexes */
    unsigned short *acts; /* per section: of enum pattern_act */
    int parties;          /* barrier */
    bool writers_first;   /* rwlock */
    bool in_steps;        /* hand-over: each number follows the `distance`-th before it, which
                           * must be `lead` steps ahead, see modelgen/sync/wavefront_replay.h */
    int distance, lead;
    bool in_rounds;    /* event: a thread's n-th turn comes with the n-th pass */
    bool in_groups;    /* hand-over: whose turn it is leads all who have come, see
                        * template_group_commit in modelgen/sync/templates.h */
    unsigned *led;     /* ... per section: how many others it leads; NULL: not in groups */
    double led_cpu_ns; /* ... CPU time that each of them costs the leader */
    bool is_proposed;  /* nobody ever waited: the source says what it is */
    bool
        draws_when_passing; /* a thread has its next number when it is started and when it passed */
    const struct trace_record *drawn_after; /* numbers are drawn at calls like this one; NULL */
    struct tally tally;
    int object; /* model object; filled by the stream */
};

/* Frees what it owns. */
void pattern_free(struct pattern *pattern);

void patterns_free(struct monitors *monitors);

void patterns_drop(struct monitors *monitors, size_t index);

/* Forgets those of the mutex. */
void patterns_forget(struct monitors *monitors, int mutex);

/* Pieces of work that all go through the same steps under one mutex. */
static inline bool pattern_has_pieces(const struct pattern *pattern) {
    return pattern->in_steps && pattern->n_objects == 1;
}

#define PATTERN_NO_SECTION SIZE_MAX

/* The thread's first section that does `act`, as an index into sections; or PATTERN_NO_SECTION. */
size_t pattern_first(const struct monitors *monitors, const struct pattern *pattern, size_t thread,
                     enum pattern_act act);

#endif
