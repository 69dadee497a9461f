#include "modelgen/graph/steps.h"

#include <stdlib.h>

void streams_free(struct stream_result *result, size_t n_threads) {
    for (size_t t = 0; t < n_threads; t++)
        free(result->streams[t].steps);
    free(result->streams);
    for (size_t p = 0; p < result->n_pools; p++)
        free(result->loop_is_tokens[p]);
    free(result->loop_is_tokens);
    free(result->loop_has_answer);
}
