/* What explains who waits under a mutex. All explanations of a run stand in one array of struct
 * monitors, whatever they are:
 *
 *   counter     critical sections of some classes add to it or take from it, and a waiting class
 *               goes on only while it is positive (guards.h)
 *   pattern     a well-known object that no counter tells: a barrier, a read-write lock, turns
 *               (templates.h, ticket_replay.h, in_order_completion_replay.h, wavefront_replay.h)
 *   statements  the source's own words, carried out as they are (statement_search.h)
 *
 * Each was held against the run: the threads must have waited exactly where it makes them wait. */
#ifndef PERSIK_MODELGEN_SYNC_EXPLANATION_H
#define PERSIK_MODELGEN_SYNC_EXPLANATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/sync/tally.h"

enum explained_by { BY_COUNTER, BY_PATTERN, BY_STATEMENTS };

enum guard_kind {
    GUARD_QUEUE,  /* takes one; nothing there at the start: items */
    GUARD_TOKENS, /* permits, free slots, idle workers; or takes many at once: "all N parts done" */
    GUARD_LEVEL,  /* waits for the level without taking: all done, event happened */
    GUARD_FIRST,  /* one permit for ever: who comes first brings about what the others wait for */
};

struct counter {
    enum guard_kind kind;
    int condition;      /* that waiters wait on; -1: nobody did, they only tried, or never had to */
    bool tries;         /* the waiters do not wait, they fail */
    bool as_one;        /* mutexes that are alike are in use one after the other: as good as one */
    bool worked_out;    /* how many some call sites add at once follows from the trace alone */
    bool conjoined;     /* with another counter that must let them go on as well */
    bool by_source;     /* the source's word decided between it and what few waits seemed to tell */
    double take;        /* how many a waiter takes at once; 1 for GUARD_LEVEL */
    double *units;      /* per section (index into sections): how many it takes or gives of what the
                         * weights count as one; NULL: one */
    bool unknown_units; /* they differ, and are taken for one */
    double initial;     /* tokens at the start ... */
    const struct trace_value *seen; /* ... as this shows; NULL: who waited does, or the source */
    int *weight;           /* per class (index into monitors.classes): what a section adds */
    bool *early;           /* per class: it does so before it waits for something else itself */
    bool *waits;           /* per class: evaluates the counter */
    int close_class;       /* closes it for good; -1 none */
    double most;           /* that the counter reached */
    enum outcome *outcome; /* per section (index into sections): OUTCOME_ANY = not evaluated */
};

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
        kind; /* BARRIER, RWLOCK, HAND_OVER, or EVENT: results fetched in order, or rounds */
    size_t n_objects;     /* mutexes */
    unsigned short *acts; /* per section: of enum pattern_act */
    bool *conditions;     /* per sync object: sections wait on it as the pattern says */
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
};

struct statements {
    int *section_of; /* per section of the trace: the proposal's; MODEL_NONE: none, or another mutex
                      */
    enum outcome *outcome; /* per section of the trace: which way its thread goes on; OUTCOME_ANY:
                            * that is not told */
    int *answer; /* per section of the proposal: the step whose guard tells it; MODEL_NONE */
    int *number; /* per section of the proposal: among those that the run came to; MODEL_NONE */
    bool *asked; /* per variable: it matters to who waits and who signals */
};

/* By which candidates compete: select.h. */
struct score {
    double contradictions; /* decisions of the run that go against it */
    double unexplained;    /* sections that waited, of which it says nothing */
    double complexity;     /* what has to be believed: classes, or commands */
    bool is_said;          /* by the source */
};

struct explanation {
    enum explained_by by;                 /* which of the union's */
    int mutex;                            /* one of them, when there are several that are alike */
    const struct facts_monitor *proposal; /* of the source; NULL: found in the trace alone */
    struct tally tally;                   /* counter: a decision each time it is evaluated */
    struct score score;                   /* by which it was chosen, with those beside it */
    int object;                           /* of the model; MODEL_NONE until lower/ makes it */
    union {
        struct counter counter;
        struct pattern pattern;
        struct statements statements;
    };
};

/* Frees what it owns. */
void explanation_free(struct explanation *explanation);

/* Does the run contradict what was accepted, more than clocks and races make it? It is alike then,
 * not the truth. */
bool explanation_is_doubtful(const struct explanation *explanation);

/* A mutex tells the order of all that happens under it: there is hardly room for contradictions. Is
 * it a counter with some, so that something else may explain the waits better? */
bool explanation_is_contradicted(const struct explanation *explanation);

/* ---- patterns ---- */

/* Pieces of work that all go through the same steps under one mutex. */
static inline bool pattern_has_pieces(const struct pattern *pattern) {
    return pattern->in_steps && pattern->n_objects == 1;
}

#define PATTERN_NO_SECTION SIZE_MAX

/* ---- statements ---- */

/* May a thread wait in this section? */
bool statements_wait(const struct facts_section *section);

/* Does the step make a difference to who waits? Counters that nobody asks need not be kept. */
bool statements_matter(const struct statements *statements, const struct facts_step *step);

#endif
