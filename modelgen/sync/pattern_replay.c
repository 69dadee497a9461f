#include "modelgen/sync/pattern_replay.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/counter_search.h"

bool finder_has_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++)
        if (section_at(finder, finder->history.items[i])->n_waits > 0)
            return true;
    return false;
}

bool pattern_holds(const struct pattern *pattern) {
    return (pattern->tally.waited > 0 || pattern->is_proposed) &&
           tally_is_acceptable(&pattern->tally);
}

struct pattern pattern_empty(const struct finder *finder, enum hand_made_kind kind) {
    return (struct pattern){.kind = kind,
                            .mutex = finder->mutex,
                            .n_objects = 1,
                            .acts =
                                memory_alloc(finder->sections->n_sections, sizeof(unsigned short)),
                            .object = MODEL_NONE};
}

bool pattern_add(const struct finder *finder, struct pattern pattern) {
    struct monitors *monitors = finder->monitors;
    if (!monitors_prove(monitors, pattern.mutex, pattern.tally.waited)) {
        pattern_free(&pattern);
        return false;
    }
    monitors->patterns =
        memory_resize(monitors->patterns, monitors->n_patterns + 1, sizeof *monitors->patterns);
    monitors->patterns[monitors->n_patterns++] = pattern;
    const unsigned waiting = ACT_ARRIVE | ACT_READ | ACT_WRITE | ACT_TURN | ACT_COLLECT;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        bool explained = pattern.acts[index] & waiting;
        for (size_t w = 0; w < section->n_waits && explained; w++) {
            int condition = finder->sections->waits[section->first_wait + w].condition;
            monitors->condition_explained[condition] = true;
            monitors->condition_in_pattern[condition] = true;
        }
    }
    return true;
}
