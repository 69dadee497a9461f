#include "modelgen/dependencies/token_uses.h"

#include <stdlib.h>

void token_uses_free(struct token_uses *uses) {
    for (size_t p = 0; p < uses->pools.count; p++)
        free(uses->pools.items[p].name);
    for (size_t t = 0; t < uses->n_threads; t++)
        free(uses->threads[t].items);
    free(uses->pools.items);
    free(uses->threads);
    *uses = (struct token_uses){0};
}
