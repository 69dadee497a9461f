#include "modelgen/sync/generation_replay.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/operation_classes.h"

#define FEWEST 8 /* rounds, and waits for them */

/* The sections of one mutex gone through in their order. */
struct walk {
    const struct finder *finder;
    const struct section_class *site; /* that waits for the next round */
    size_t *gone;                     /* by thread: rounds in which it went on */
    uint64_t *opened_ns;              /* by round */
    size_t opened;
    double early; /* waits for the next round while others had not gone on by this one */
};

static bool waits_at(const struct walk *walk, size_t section) {
    return class_is_same_operation(class_at(walk->finder, section), walk->site);
}

static bool opens(const struct walk *walk, size_t section) {
    return class_tells(class_at(walk->finder, section), walk->site);
}

/* When the thread could go on for the `round`-th time, counted from 0; UINT64_MAX: never. */
static uint64_t opening_ns(const struct walk *walk, size_t round) {
    return round < walk->opened ? walk->opened_ns[round] : UINT64_MAX;
}

static void find_openings(struct walk *walk) {
    const struct order_list *history = &walk->finder->history;
    walk->opened_ns = memory_alloc(history->count, sizeof *walk->opened_ns);
    for (size_t i = 0; i < history->count; i++)
        if (opens(walk, history->items[i]))
            walk->opened_ns[walk->opened++] =
                section_at(walk->finder, history->items[i])->release_ns;
}

static bool somebody_is_behind(const struct walk *walk, size_t round) {
    for (size_t t = 0; t < walk->finder->trace->n_threads; t++)
        if (walk->gone[t] > 0 && walk->gone[t] < round)
            return true;
    return false;
}

static void judge(struct walk *walk, size_t index, struct pattern *pattern) {
    const struct section *section = section_at(walk->finder, index);
    size_t round = walk->gone[section->thread];
    pattern_judge_wait(walk->finder, pattern, index, section->acquire_ns, opening_ns(walk, round));
    pattern->acts[index] |= ACT_TURN;
    walk->early += section->n_waits > 0 && somebody_is_behind(walk, round);
}

/* Sections that wait go on when their waits are over, not in the order in which they came. */
static int compare_passes(const void *a, const void *b, void *context) {
    const struct finder *finder = context;
    uint64_t x = section_passed_ns(finder->sections, section_at(finder, *(const size_t *)a));
    uint64_t y = section_passed_ns(finder->sections, section_at(finder, *(const size_t *)b));
    return (x > y) - (x < y);
}

/* Judges each section when it begins; it has gone on when its wait is over. */
static void walk_sections(struct walk *walk, struct pattern *pattern) {
    const struct finder *finder = walk->finder;
    struct order_list passes = {0};
    for (size_t i = 0; i < finder->history.count; i++)
        if (waits_at(walk, finder->history.items[i]))
            *VECTOR_ADD(&passes) = finder->history.items[i];
    if (passes.count)
        qsort_r(passes.items, passes.count, sizeof *passes.items, compare_passes, (void *)finder);
    size_t next = 0;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        for (; next < passes.count; next++) {
            const struct section *passed = section_at(finder, passes.items[next]);
            if (section_passed_ns(finder->sections, passed) >= section->acquire_ns)
                break;
            walk->gone[passed->thread]++;
        }
        if (waits_at(walk, index))
            judge(walk, index, pattern);
        else if (opens(walk, index))
            pattern->acts[index] |= ACT_PASS;
    }
    free(passes.items);
}

/* Does nobody else wait on the condition? */
static bool is_condition_own(const struct walk *walk) {
    const struct finder *finder = walk->finder;
    for (size_t i = 0; i < finder->history.count; i++) {
        const struct section *section = section_at(finder, finder->history.items[i]);
        for (size_t w = 0; w < section->n_waits; w++)
            if (finder->sections->waits[section->first_wait + w].condition ==
                    walk->site->waits_on &&
                !waits_at(walk, finder->history.items[i]))
                return false;
    }
    return true;
}

static bool find_at(const struct finder *finder, const struct section_class *site) {
    struct walk walk = {.finder = finder, .site = site};
    if (!is_condition_own(&walk))
        return false;
    find_openings(&walk);
    walk.gone = memory_alloc(finder->trace->n_threads, sizeof *walk.gone);
    struct pattern pattern = pattern_empty(finder, HAND_MADE_EVENT);
    pattern.in_rounds = true;
    if (walk.opened >= FEWEST)
        walk_sections(&walk, &pattern);
    free(walk.gone);
    free(walk.opened_ns);
    bool is_said = finder->monitors->own_numbers[site - finder->monitors->classes] &&
                   pattern.tally.violations == 0;
    if (pattern.tally.waited >= FEWEST && pattern_holds(&pattern) &&
        (walk.early > pattern.tally.violations || is_said))
        return pattern_add(finder, pattern);
    free(pattern.acts);
    return false;
}

bool generation_replay_find(const struct finder *finder) {
    for (size_t c = 0; c < finder->monitors->n_classes; c++) {
        const struct section_class *class = &finder->monitors->classes[c];
        if (class->mutex == finder->mutex && class->waits > 0 && !class->mixed_waits &&
            find_at(finder, class))
            return true;
    }
    return false;
}
