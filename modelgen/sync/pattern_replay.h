/* What the modules for each kind of pattern share: the sections of one mutex, or of several that
 * are alike, and the replay of a pattern on them. */
#ifndef PERSIK_MODELGEN_SYNC_PATTERN_REPLAY_H
#define PERSIK_MODELGEN_SYNC_PATTERN_REPLAY_H

#include "modelgen/sync/patterns.h"

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
};

static inline const struct section *section_at(const struct finder *finder, size_t index) {
    return &finder->sections->sections[index];
}

static inline const struct section_class *class_at(const struct finder *finder, size_t index) {
    return &finder->monitors->classes[finder->monitors->class_of[index]];
}

/* A pattern without acts; pattern_add() takes it over, or free its acts. */
struct pattern pattern_empty(const struct finder *finder, enum hand_made_kind kind);

/* Notes a decision to wait or to go on, and whether the pattern says the same. */
void pattern_judge(struct pattern *pattern, size_t section, uint64_t time_ns, bool waited,
                   bool is_right);

/* The same for a section that began at `asked_ns` to wait for what was free from `free_ns` on: was
 * it so that it had to wait, or need not, and did it go on only then? */
void pattern_judge_wait(const struct finder *finder, struct pattern *pattern, size_t section,
                        uint64_t asked_ns, uint64_t free_ns);
bool pattern_holds(const struct pattern *pattern);

/* Takes the pattern over and marks the conditions that it explains. False: too little speaks for
 * it; what it has is freed. */
bool pattern_add(const struct finder *finder, struct pattern pattern);

/* A number's way through. */
struct passage {
    size_t wait_section; /* that waited for it */
    size_t pass_section; /* in which it passed */
    int thread;          /* that held it */
    uint64_t asked_ns;   /* when somebody wanted to go on by it */
    uint64_t passed_ns;
    uint64_t after_ns; /* the passage before it by the same mutex */
};

struct passages {
    struct passage *items;
    size_t count, capacity;
};

/* Waiting must end with the passage before it (turns), or with its own (results). */
void passages_judge(const struct finder *finder, const struct passages *passages, bool of_own,
                    struct pattern *pattern);

/* Looks for the place where the order is decided, judges, and adds the pattern if it holds; else
 * frees its acts. */
bool passages_add(const struct finder *finder, const struct passages *passages, bool of_own,
                  struct pattern *pattern);

#endif
