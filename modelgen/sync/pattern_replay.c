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

/* ---- numbers that pass one after the other ---- */

enum { PASSED, AWAITS }; /* at one moment a number passes before it is asked for */

static const char variables[] = "passed";
static const char *const operations[] = {
    [PASSED] = "passed = 1", [AWAITS] = "wait while passed == 0"};

/* Each number is an instance of the program. Not in order yet. */
static struct object_history history_of(const struct finder *finder,
                                        const struct passages *passages, bool of_own) {
    struct object_history history = {.n_instances = passages->count};
    for (size_t i = 0; i < passages->count; i++) {
        const struct passage *passage = &passages->items[i];
        object_history_add(
            &history, finder->sections,
            (struct history_event){.section = (unsigned)passage->wait_section,
                                   .instance = (unsigned)(of_own ? i : i - 1),
                                   .role = of_own || i > 0 ? AWAITS : HISTORY_NO_ROLE});
        object_history_add_effect(&history,
                                  (struct history_event){.time_ns = passage->passed_ns,
                                                         .section = (unsigned)passage->pass_section,
                                                         .instance = (unsigned)i,
                                                         .role = PASSED});
    }
    return history;
}

struct tally passages_replay(const struct finder *finder, const struct passages *passages,
                             bool of_own) {
    return replay_text(finder->sections, history_of(finder, passages, of_own), variables,
                       operations, sizeof operations / sizeof *operations);
}
