#include "cli/prediction/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct thread_choice own = {.label = "own"};

bool recorded_is(const struct thread_choice *choice, const struct model *model) {
    struct error unused;
    int *threads = thread_choice_resolve(choice, model, &unused);
    int *recorded = thread_choice_resolve(&own, model, &unused);
    bool same =
        threads && recorded && memcmp(threads, recorded, model->n_pools * sizeof *threads) == 0;
    free(threads);
    free(recorded);
    return same;
}

/* Of one number for all: what some pool that follows it must have been asked for. */
static char *label_for_all(const struct model *model) {
    for (size_t i = 0; i < model->n_pools; i++) {
        const struct pool *pool = &model->pools[i];
        double asked = pool->asked_factor > 0
                           ? (pool->profiled_threads - pool->asked_offset) / pool->asked_factor
                           : pool->profiled_threads;
        struct thread_choice choice = {.all = (int)lround(asked)};
        if (pool->scales && choice.all > 0 && recorded_is(&choice, model))
            return memory_format("%d", choice.all);
    }
    return NULL;
}

static const struct pool *find_pool(const struct model *model, const char *name) {
    int pool = model_find_pool(model, name);
    return pool == MODEL_NONE ? NULL : &model->pools[pool];
}

static char *label_by_names(const struct thread_choice *like, const struct model *model) {
    char *label = NULL;
    size_t bytes;
    FILE *out = open_memstream(&label, &bytes);
    bool known = true;
    for (size_t i = 0; i < like->n_named; i++) {
        const struct pool *pool = find_pool(model, like->names[i]);
        known = known && pool && pool->profiled_threads > 0;
        if (known)
            fprintf(out, "%s%s=%d", i ? "," : "", like->names[i], pool->profiled_threads);
    }
    fclose(out);
    if (known)
        return label;
    free(label);
    return NULL;
}

char *recorded_label(const struct thread_choice *like, const struct model *model) {
    if (like->all)
        return label_for_all(model);
    return like->n_named ? label_by_names(like, model) : memory_strdup(own.label);
}
