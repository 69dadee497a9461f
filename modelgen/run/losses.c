#include "modelgen/run/losses.h"

#include <stdlib.h>

static int compare_losses(const void *a, const void *b) {
    const struct loss *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void losses_sort(struct losses *losses) {
    if (losses->count)
        qsort(losses->items, losses->count, sizeof *losses->items, compare_losses);
}
