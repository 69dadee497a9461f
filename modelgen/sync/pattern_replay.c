#include "modelgen/sync/pattern_replay.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/counter_search.h"
#include "modelgen/sync/replay.h"

bool finder_has_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++)
        if (section_at(finder, finder->history.items[i])->n_waits > 0)
            return true;
    return false;
}

bool pattern_holds(const struct explanation *pattern) {
    return (pattern->tally.waited > 0 || pattern->pattern.is_proposed) &&
           tally_is_acceptable(&pattern->tally);
}

struct explanation pattern_empty(const struct finder *finder, enum hand_made_kind kind) {
    const struct sections *sections = finder->sections;
    return (struct explanation){
        .by = BY_PATTERN,
        .mutex = finder->mutex,
        .object = MODEL_NONE,
        .pattern = {.kind = kind,
                    .n_objects = 1,
                    .acts = memory_alloc(sections->n_sections, sizeof(unsigned short)),
                    .conditions = memory_alloc(sections->n_objects, sizeof(bool))}};
}

/* A number is drawn, awaited and passed on. */
#define COMMANDS_IN_ORDER 3

bool pattern_add(const struct finder *finder, struct explanation pattern) {
    if (!monitors_prove(finder->monitors, pattern.mutex, pattern.tally.waited)) {
        explanation_free(&pattern);
        return false;
    }
    if (pattern.score.complexity <= 0)
        pattern.score.complexity = COMMANDS_IN_ORDER;
    pattern.score.is_said |= pattern.pattern.is_proposed;
    const unsigned waiting = ACT_ARRIVE | ACT_READ | ACT_WRITE | ACT_TURN | ACT_COLLECT;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        for (size_t w = 0; w < section->n_waits && pattern.pattern.acts[index] & waiting; w++)
            pattern.pattern.conditions[finder->sections->waits[section->first_wait + w].condition] =
                true;
    }
    explanation_add(finder->monitors, pattern);
    return true;
}

/* ---- numbers and their progress: each is an instance of one program ---- */

enum { STEPS, PASSES, WAITS }; /* at one moment a number makes its step before it is waited for */

/* A number that has passed is ahead of any. */
static const char variables[] = "progress own:number";
static const char *const operations[] = {[STEPS] = "progress = progress + 1",
                                         [PASSES] = "progress = 1000000000",
                                         [WAITS] = "wait while progress < number"};

void progress_add_step(struct object_history *history, size_t section, size_t number,
                       uint64_t time_ns, bool is_last) {
    object_history_add_effect(history, (struct history_event){.time_ns = time_ns,
                                                              .section = (unsigned)section,
                                                              .instance = (unsigned)number,
                                                              .role = is_last ? PASSES : STEPS});
}

void progress_add_wait(struct object_history *history, const struct finder *finder, size_t section,
                       size_t number, long steps) {
    object_history_add(history, finder->sections,
                       (struct history_event){.section = (unsigned)section,
                                              .instance = (unsigned)number,
                                              .number = (int)steps,
                                              .role = WAITS});
}

struct tally progress_replay(const struct finder *finder, struct object_history history) {
    return replay_text(finder->sections, history, variables, operations,
                       sizeof operations / sizeof *operations);
}

struct tally passages_replay(const struct finder *finder, const struct passages *passages,
                             bool of_own) {
    struct object_history history = {.n_instances = passages->count};
    for (size_t i = 0; i < passages->count; i++) {
        const struct passage *passage = &passages->items[i];
        if (of_own || i > 0)
            progress_add_wait(&history, finder, passage->wait_section, of_own ? i : i - 1, 1);
        progress_add_step(&history, passage->pass_section, i, passage->passed_ns, true);
    }
    return progress_replay(finder, history);
}
