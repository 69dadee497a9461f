#include "cli/prediction/recorded_change.h"

#include <stdlib.h>

#include "cli/text/nearest.h"

static enum scale_of scale_of(enum change_kind kind) {
    switch (kind) {
    case CHANGE_HOLD:
        return SCALE_HOLDING;
    case CHANGE_IO:
        return SCALE_DEVICE;
    case CHANGE_SLEEP:
        return SCALE_SLEEPS;
    case CHANGE_CAPACITY:
        return SET_CAPACITY;
    case CHANGE_PERMITS:
        return SET_PERMITS;
    default:
        return SCALE_COMPUTING;
    }
}

struct scale recorded_change(const struct change *change) {
    return (struct scale){
        .of = scale_of(change->kind), .name = change->name, .factor = change->value};
}

static const char *const relations[] = {
    [SCALE_COMPUTING] = "computes in",
    [SCALE_SLEEPS] = "sleeps in",
    [SCALE_DEVICE] = "waits for a disk in",
    [SCALE_HOLDING] = "is done under",
    [SET_CAPACITY] = "is a bounded queue known as",
    [SET_PERMITS] = "is a semaphore known as",
};

int recorded_change_check(const struct change *change, const struct scale *scale,
                          const struct dependencies *all, struct error *error) {
    if (scale->n_steps > 0)
        return 0;
    size_t n;
    const char **names = scale_names(all, scale->of, &n);
    char *near = nearest_list(scale->name, names, n);
    error_set(error, "%s: nothing was recorded that %s '%s': there %s%s", change->text,
              relations[scale->of], scale->name, n > 0 ? "are " : "is nothing of the kind",
              n > 0 ? near : "");
    free(near);
    free(names);
    return -1;
}
