#include "modelgen/events/excluded_time.h"

#include "base/memory.h"

static int compare_losses(const void *a, const void *b) {
    const struct excluded_interval *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void excluded_time_sort(struct excluded_time *losses) {
    VECTOR_SORT(losses, compare_losses);
}
