/* What the guards of one mutex make together, such as the items and the room of one queue. */
#ifndef PERSIK_MODELGEN_REPORT_RECOGNISED_GUARDS_H
#define PERSIK_MODELGEN_REPORT_RECOGNISED_GUARDS_H

#include "formats/model.h"
#include "modelgen/lower/lower_input.h"

/* Guards of one mutex that are one object to the program. */
struct guard_group {
    const struct explanation *items; /* what the object is for */
    size_t n_rooms;
    const struct explanation *
        *rooms; /* its other side, for those who wait for it and those who try */
};

/* Are these the items and the room of one object? */
bool guard_group_are_sides(const struct monitors *monitors, const struct explanation *a,
                           const struct explanation *b);

/* By what the trace shows alone. */
enum hand_made_kind guard_group_kind(const struct monitors *monitors,
                                     const struct guard_group *group);

/* Appends to `monitor`, whose kind is set, the functions that change the guard or wait for it. */
void guard_group_write_operations(const struct monitors *monitors, const struct explanation *guard,
                                  struct hand_made *monitor);

/* How many the guard's object holds. */
void guard_group_write_amount(const struct explanation *guard, const struct model *model,
                              struct hand_made *monitor);

/* Parts, evidence, tally and confidence. */
void guard_group_write_found(const struct lower_input *input, const struct guard_group *group,
                             struct hand_made *monitor);

/* Appends the object of guard `first` to the model, with the guards after it that are its
 * other side. Of two sides, the one with nothing there at the start is the items. `done`, per
 * explanation: belongs to an object already. */
void guard_group_write_with_sides(const struct lower_input *input, const struct explanation *first,
                                  bool *done, struct model *model);

#endif
