#include "modelgen/sync/barrier_replay.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/operation_classes.h"

static bool thread_met(const struct finder *finder, const struct order_list *round, int thread) {
    for (size_t i = 0; i < round->count; i++)
        if (section_at(finder, round->items[i])->thread == thread)
            return true;
    return false;
}

/* Does it tell anybody before its wait is over? Who leaves last may tell the next round to come in.
 */
static bool tells_before(const struct finder *finder, const struct section *section) {
    const struct trace_record *records = finder->trace->threads[section->thread].records;
    uint64_t passed_ns = section_passed_ns(finder->sections, section);
    for (size_t i = 0; i < section->n_signals; i++) {
        size_t record = finder->sections->signals[section->first_signal + i].record;
        if (records[record].start_ns < passed_ns)
            return true;
    }
    return false;
}

/* One round: the last in it is the one that did not wait. All come to it at the same place: else it
 * may be somebody who waits for somebody else. */
static void judge_round(const struct finder *finder, const struct order_list *round, size_t parties,
                        struct pattern *pattern) {
    size_t last = round->items[round->count - 1];
    uint64_t complete_ns = section_at(finder, last)->acquire_ns;
    bool has_size = round->count == parties && class_at(finder, last)->n_signals > 0;
    for (size_t i = 0; i < round->count; i++) {
        size_t index = round->items[i];
        const struct section *section = section_at(finder, index);
        bool waited = section->n_waits > 0;
        bool is_right = has_size &&
                        class_is_same_operation(class_at(finder, index), class_at(finder, last)) &&
                        (!waited || (section_passed_ns(finder->sections, section) >= complete_ns &&
                                     !tells_before(finder, section)));
        pattern->acts[index] = ACT_ARRIVE;
        pattern_judge(pattern, index, section->acquire_ns, waited, is_right);
    }
}

/* Goes through the rounds of a call site, NULL: of the mutex, wherever its threads come to it;
 * `pattern` NULL only counts how many have each size. */
static size_t walk_rounds(const struct finder *finder, const struct section_class *site,
                          size_t parties, struct pattern *pattern, size_t *sizes) {
    struct order_list round = {0};
    size_t rounds = 0;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        if (site && !class_is_same_operation(class_at(finder, index), site))
            continue;
        bool twice = thread_met(finder, &round, section->thread);
        *VECTOR_ADD(&round) = index;
        if (section->n_waits > 0 && !twice)
            continue;
        if (sizes && round.count <= finder->trace->n_threads)
            sizes[round.count]++;
        if (pattern)
            judge_round(finder, &round, parties, pattern);
        rounds++;
        round.count = 0;
    }
    free(round.items);
    return rounds;
}

static bool find_barrier_at(const struct finder *finder, const struct section_class *site) {
    size_t *sizes = memory_alloc(finder->trace->n_threads + 1, sizeof *sizes);
    size_t rounds = walk_rounds(finder, site, 0, NULL, sizes), parties = 0;
    for (size_t n = 2; n <= finder->trace->n_threads; n++)
        if (sizes[n] > (parties ? sizes[parties] : 0))
            parties = n;
    free(sizes);
    if (parties == 0 || rounds < 2)
        return false;
    struct pattern pattern = pattern_empty(finder, HAND_MADE_BARRIER);
    walk_rounds(finder, site, parties, &pattern, NULL);
    pattern.parties = (int)parties;
    if (pattern_holds(&pattern))
        return pattern_add(finder, pattern);
    free(pattern.acts);
    return false;
}

/* A macro is written out wherever the program has it, perhaps for one round each. */
bool barrier_replay_find(const struct finder *finder) {
    if (find_barrier_at(finder, NULL))
        return true;
    for (size_t c = 0; c < finder->monitors->n_classes; c++) {
        const struct section_class *class = &finder->monitors->classes[c];
        if (class->mutex == finder->mutex && class->waits > 0 && find_barrier_at(finder, class))
            return true;
    }
    return false;
}
