#include "cli/prediction/another_recording.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/recorded.h"

/* Two numbers of threads tell how work follows them, but not of what goes on for a given time. */
static bool is_told_by_two(const struct pool *pool) {
    return pool->partition == PARTITION_UNKNOWN && pool->given_ns == 0;
}

static bool is_unknown(const struct pool *pool) {
    return pool->partition == PARTITION_UNKNOWN || model_is_said(pool->one_thread) ||
           model_is_said(pool->uncounted) || model_is_said(pool->capped) ||
           model_is_said(pool->remade);
}

/* With how many it was recorded; 0: that is no one number. */
static int recorded_number(const struct model *model) {
    const struct thread_choice any = {.all = 1};
    char *label = recorded_label(&any, model);
    int number = label ? atoi(label) : 0;
    free(label);
    return number;
}

/* Far from what was recorded, and not one, for which programs often have a way of its own. */
static int other_number(int recorded) {
    return recorded > 3 ? recorded / 2 : 2 * recorded;
}

char *another_recording_advice(const struct model *model) {
    int recorded = recorded_number(model);
    size_t unknown = 0, told = 0;
    bool one = false, other = false;
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        if (!pool->scales || !is_unknown(pool))
            continue;
        unknown++;
        one |= model_is_said(pool->one_thread);
        other |= is_told_by_two(pool);
        told += model_is_said(pool->one_thread) || is_told_by_two(pool);
    }
    if (recorded <= 1 || told == 0)
        return NULL;
    char *numbers = !other ? memory_strdup("1")
                    : one  ? memory_format("1,%d", other_number(recorded))
                           : memory_format("%d", other_number(recorded));
    char *advice = memory_format("record once more with other numbers of threads, `persik profile "
                                 "--also-record threads=%s`: that tells %zu of %zu unknowns",
                                 numbers, told, unknown);
    free(numbers);
    return advice;
}
