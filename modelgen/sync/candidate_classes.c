#include "modelgen/sync/candidate_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/sync/operation_classes.h"

/* What a hypothesis cannot do without comes first: who waits and who wakes; then the most frequent.
 */
struct class_order {
    const struct section_class *classes;
    int waiter_entry, condition;
};

static int compare_classes(const void *a, const void *b, void *context) {
    const struct class_order *order = context;
    const struct section_class *x = &order->classes[*(const int *)a];
    const struct section_class *y = &order->classes[*(const int *)b];
    bool needs_x = x->entry == order->waiter_entry || class_signals(x, order->condition);
    bool needs_y = y->entry == order->waiter_entry || class_signals(y, order->condition);
    if (needs_x != needs_y)
        return needs_x ? -1 : 1;
    return (x->count < y->count) - (x->count > y->count);
}

/* The condition that sections of this entry wait for; -1: they do not wait, or for several. */
static int waited_for(const struct monitors *monitors, int entry) {
    int condition = -1;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->entry != entry || class->waits == 0)
            continue;
        if (class->mixed_waits || (condition >= 0 && class->waits_on != condition))
            return -1;
        condition = class->waits_on;
    }
    return condition;
}

bool candidate_classes_are_alike(const struct monitors *monitors, int a, int b) {
    const struct section_class *x = &monitors->classes[a], *y = &monitors->classes[b];
    if (x->entry == y->entry || strcmp(x->function, y->function) != 0)
        return x->entry == y->entry;
    int condition = waited_for(monitors, x->entry);
    return condition >= 0 && condition == waited_for(monitors, y->entry);
}

/* Does one of them have the weight of this one, too? */
static bool has_alike(const struct monitors *monitors, const int *classes, int n, int class,
                      bool by_operation) {
    for (int i = 0; i < n; i++)
        if (candidate_classes_are_alike(monitors, classes[i], class) ||
            (by_operation &&
             class_is_same_operation(&monitors->classes[classes[i]], &monitors->classes[class])))
            return true;
    return false;
}

int candidate_classes_choose(const struct monitors *monitors, int mutex, int waiter_entry,
                             int condition, int close_class, bool by_operation,
                             int chosen[CLASS_LIMIT]) {
    struct {
        int *items;
        size_t count, capacity;
    } all = {0};
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && (int)c != close_class)
            *VECTOR_ADD(&all) = (int)c;
    struct class_order order = {monitors->classes, waiter_entry, condition};
    if (all.count)
        qsort_r(all.items, all.count, sizeof *all.items, compare_classes, &order);
    int n = 0, entries = 0;
    for (size_t i = 0; n < CLASS_LIMIT && i < all.count; i++) {
        bool known = has_alike(monitors, chosen, n, all.items[i], by_operation);
        if (!known && entries == FREE_LIMIT)
            continue;
        entries += !known;
        chosen[n++] = all.items[i];
    }
    free(all.items);
    return n;
}

int candidate_classes_that_close(const struct monitors *monitors, int mutex, int condition,
                                 int found[CLOSE_LIMIT]) {
    int n = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->count != 1 || !class->broadcasts ||
            !class_signals(class, condition))
            continue;
        int at = n < CLOSE_LIMIT ? n++ : CLOSE_LIMIT;
        for (; at > 0 && monitors->classes[found[at - 1]].first_ns < class->first_ns; at--)
            if (at < CLOSE_LIMIT)
                found[at] = found[at - 1];
        if (at < CLOSE_LIMIT)
            found[at] = (int)c;
    }
    return n;
}
