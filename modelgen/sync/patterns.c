#include "modelgen/sync/patterns.h"

#include <stdlib.h>
#include <string.h>

void pattern_free(struct pattern *pattern) {
    free(pattern->acts);
    free(pattern->led);
}

size_t pattern_first(const struct monitors *monitors, const struct pattern *pattern, size_t thread,
                     enum pattern_act act) {
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++)
        if (pattern->acts[s] & act)
            return s;
    return PATTERN_NO_SECTION;
}

void patterns_drop(struct monitors *monitors, size_t index) {
    pattern_free(&monitors->patterns[index]);
    monitors->n_patterns--;
    memmove(&monitors->patterns[index], &monitors->patterns[index + 1],
            (monitors->n_patterns - index) * sizeof *monitors->patterns);
}

void patterns_forget(struct monitors *monitors, int mutex) {
    size_t kept = 0;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (monitors->patterns[p].mutex == mutex)
            pattern_free(&monitors->patterns[p]);
        else
            monitors->patterns[kept++] = monitors->patterns[p];
    monitors->n_patterns = kept;
}

void patterns_free(struct monitors *monitors) {
    for (size_t p = 0; p < monitors->n_patterns; p++)
        pattern_free(&monitors->patterns[p]);
    free(monitors->patterns);
}
