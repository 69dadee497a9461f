#include "modelgen/events/excluded_time.h"

#include <stdlib.h>

static int compare_losses(const void *a, const void *b) {
    const struct excluded_interval *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void excluded_time_sort(struct excluded_time *losses) {
    if (losses->count)
        qsort(losses->items, losses->count, sizeof *losses->items, compare_losses);
}
