#include "cli/arguments/repartition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "modelgen/modelgen.h"

int repartitions_add(struct repartitions *list, const char *text, struct error *error) {
    const char *rule = strrchr(text, '=');
    for (int i = PARTITION_SHARED; rule && rule > text && i <= PARTITION_PERTHREAD; i++)
        if (strcmp(rule + 1, partition_names[i]) == 0) {
            *VECTOR_ADD(list) =
                (struct repartition){text, (size_t)(rule - text), (enum partition)i};
            return 0;
        }
    return error_set(error, "--partition %s: give POOL=shared, POOL=fixed or POOL=perthread", text);
}

static int find_pool(const struct repartition *wanted, const struct model *model,
                     struct error *error) {
    char known[400] = "";
    size_t length = 0;
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        if (!pool->scales)
            continue;
        if (strlen(pool->name) == wanted->name_length &&
            strncmp(pool->name, wanted->text, wanted->name_length) == 0)
            return (int)p;
        if (length < sizeof known)
            length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                       length ? ", " : "", pool->name);
    }
    return error_set(error, "--partition %s: no pool of this name follows --threads; these do: %s",
                     wanted->text, *known ? known : "none");
}

int repartitions_apply(const struct repartitions *list, struct model *model, struct error *error) {
    for (size_t i = 0; i < list->count; i++) {
        int pool = find_pool(&list->items[i], model, error);
        if (pool < 0)
            return -1;
        if (modelgen_repartition(model, pool, list->items[i].rule, error) < 0)
            return error_prefix(error, "--partition");
        free(model->pools[pool].uncounted);
        model->pools[pool].uncounted = NULL;
        free(model->pools[pool].capped);
        model->pools[pool].capped = NULL;
        free(model->pools[pool].remade);
        model->pools[pool].remade = NULL;
        free(model->pools[pool].one_thread); /* the user knows what it does */
        model->pools[pool].one_thread = NULL;
        model->pools[pool].given_ns = 0;
    }
    return 0;
}

void repartitions_warn(const struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (model->pools[p].partition == PARTITION_UNKNOWN)
            log_warning("%s: %s", model->pools[p].name, model->pools[p].rule);
}
