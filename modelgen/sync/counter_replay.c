#include "modelgen/sync/counter_replay.h"
#include "modelgen/evidence.h"

#include <string.h>

void replay_begin(const struct object_history *history, struct replay_table *table) {
    for (long c = table->low; c <= table->high; c++) {
        size_t at = (size_t)(c + (long)table->offset);
        table->waited[at] = table->passed[at] = 0;
    }
    memset(table->counters, 0, history->n_instances * sizeof *table->counters);
    table->next = 0;
    table->turns = 0;
    table->last_waited = false;
    table->highest_later = -(long)table->size;
    table->low = (long)table->size;
    table->high = -(long)table->size;
}

void replay_until(const struct hypothesis *hypothesis, const struct replay_event *events,
                  size_t end, struct replay_table *table) {
    for (; table->next < end; table->next++) {
        const struct replay_event *event = &events[table->next];
        int weight = event->slot < 0 ? 0 : hypothesis->weight[event->slot];
        long *counter = &table->counters[event->instance];
        if (event->decides) {
            bool waits = event->waits || (hypothesis->tries && weight == 0);
            (waits ? table->waited : table->passed)[(size_t)(*counter + (long)table->offset)]++;
            table->low = *counter < table->low ? *counter : table->low;
            table->high = *counter > table->high ? *counter : table->high;
            table->turns += waits != table->last_waited;
            table->last_waited = waits;
        } else {
            *counter += weight;
        }
        if (table->turns > 0 && *counter > table->highest_later)
            table->highest_later = *counter;
    }
}

bool hypothesis_takes(const struct monitors *monitors, const struct hypothesis *hypothesis) {
    for (int i = 0; i < hypothesis->n_classes; i++)
        if (monitors->classes[hypothesis->classes[i]].entry == hypothesis->waiter_entry &&
            hypothesis->weight[i] < 0)
            return true;
    return false;
}

struct verdict verdict_best(const struct replay_table *table, bool taking, long natural) {
    struct verdict best = {.wrong_waits = 1e300};
    double waits = 0, passes = 0;
    for (long c = table->low; c <= table->high; c++) {
        waits += table->waited[(size_t)(c + (long)table->offset)];
        passes += table->passed[(size_t)(c + (long)table->offset)];
    }
    double waits_below = 0, passes_below = 0;
    for (long c = table->low; c <= table->high; c++) {
        size_t at = (size_t)(c + (long)table->offset);
        waits_below += table->waited[at];
        passes_below += table->passed[at];
        double wrong = waits - waits_below + passes_below;
        double known = verdict_wrong(&best);
        if (wrong < known || (wrong == known && (taking ? c == natural : true)))
            best = (struct verdict){.waits = waits,
                                    .passes = passes,
                                    .wrong_waits = waits - waits_below,
                                    .wrong_passes = passes_below,
                                    .threshold = c,
                                    .turns = table->turns};
    }
    return best;
}

struct verdict verdict_strict(const struct replay_table *table) {
    struct verdict strict = {.threshold = table->low - 1, .turns = table->turns};
    for (long c = table->low; c <= table->high; c++)
        strict.passes += table->passed[(size_t)(c + (long)table->offset)];
    double passes_below = 0, explained = 0;
    for (long c = table->low; c <= table->high; c++) {
        size_t at = (size_t)(c + (long)table->offset);
        strict.waits += table->waited[at];
        passes_below += table->passed[at];
        if (passes_below <= evidence.doubtful_share * strict.passes + 0.5) {
            strict.threshold = c;
            strict.wrong_passes = passes_below;
            explained += table->waited[at];
        }
    }
    strict.wrong_waits = strict.waits - explained;
    return strict;
}

bool verdict_is_acceptable(const struct verdict *verdict) {
    return verdict->waits > 0 && verdict->passes > 0 &&
           violations_are_few(verdict_wrong(verdict), verdict->waits + verdict->passes) &&
           verdict->wrong_waits <= (1 - evidence.recall) * verdict->waits &&
           verdict->wrong_passes <= (1 - evidence.recall) * verdict->passes;
}
