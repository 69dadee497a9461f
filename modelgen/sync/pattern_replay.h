/* What the modules for each kind of pattern share: the sections of one mutex, or of several that
 * are alike, and the replay of a pattern on them. */
#ifndef PERSIK_MODELGEN_SYNC_PATTERN_REPLAY_H
#define PERSIK_MODELGEN_SYNC_PATTERN_REPLAY_H

#include "modelgen/sync/monitor.h"
#include "modelgen/sync/object_history.h"

/* Indexes of sections, in the order of their acquire times. */
struct order_list {
    size_t *items;
    size_t count, capacity;
};

struct finder {
    const struct trace *trace;
    const struct sections *sections;
    struct monitors *monitors;
    int mutex;
    struct order_list history;
    struct object_history *events; /* of the same sections; empty until somebody asks for them */
};

static inline const struct section *section_at(const struct finder *finder, size_t index) {
    return &finder->sections->sections[index];
}

static inline const struct section_class *class_at(const struct finder *finder, size_t index) {
    return &finder->monitors->classes[finder->monitors->class_of[index]];
}

/* When the thread of the section went on. */
static inline uint64_t passed_at(const struct finder *finder, size_t index) {
    return section_passed_ns(finder->sections, section_at(finder, index));
}

/* Is it known what threads wait for on the condition, beyond doubt? */
static inline bool finder_knows(const struct finder *finder, int condition) {
    return monitors_explain_condition(finder->monitors, finder->sections, condition, true);
}

/* Does any section of the history wait? */
bool finder_has_wait(const struct finder *finder);

/* A pattern without acts; pattern_add() takes it over, or explanation_free(). */
struct explanation pattern_empty(const struct finder *finder, enum hand_made_kind kind);

bool pattern_holds(const struct explanation *pattern);

/* Takes the pattern over and marks the conditions that it explains. False: too little speaks for
 * it; what it has is freed. */
bool pattern_add(const struct finder *finder, struct explanation pattern);

/* ---- numbers that make steps: who waits for one waits until it has made so many. Which sections
 * did what is told in any order, in a history with an instance for each number ---- */

/* `is_last`: with this step the number has passed, and nobody waits for it any more. */
void progress_add_step(struct object_history *history, size_t section, size_t number,
                       uint64_t time_ns, bool is_last);

/* The section waits for `steps` of the number. */
void progress_add_wait(struct object_history *history, const struct finder *finder, size_t section,
                       size_t number, long steps);

/* Frees the history. */
struct tally progress_replay(const struct finder *finder, struct object_history history);

/* ---- visits that wait for one number each: a turn that begins when the one before it is over, or
 * the result with the visit's own number ---- */

/* A number's way through. */
struct passage {
    size_t wait_section; /* that waited for it */
    size_t pass_section; /* in which it passed */
    int thread;          /* that held it */
    uint64_t passed_ns;
    uint64_t after_ns; /* the passage before it by the same mutex */
};

/* In the order of the numbers. */
struct passages {
    struct passage *items;
    size_t count, capacity;
};

/* Replays them: a visit waits until the passage before it is over (turns) or its own (`of_own`,
 * results). */
struct tally passages_replay(const struct finder *finder, const struct passages *passages,
                             bool of_own);

#endif
