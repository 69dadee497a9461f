#include "modelgen/lower/lock_instances.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"

/* ... which are no more than so many: each makes nodes of its own. */
#define INSTANCES_LIMIT 8

struct lock_class {
    size_t n_members;
    double wait_ns;
    bool is_monitor; /* threads wait for something else with such a lock: it belongs to that */
};

static struct lock_class *find_classes(const struct sections *sections) {
    struct lock_class *classes = memory_alloc(sections->n_objects + 1, sizeof *classes);
    for (size_t o = 0; o < sections->n_objects; o++) {
        const struct sync_object *object = &sections->objects[o];
        if (object->kind == ON_MUTEX) {
            classes[object->class_id].n_members++;
            classes[object->class_id].wait_ns += object->wait_ns;
        }
    }
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        classes[sections->objects[section->mutex].class_id].is_monitor |= section->n_waits > 0;
    }
    return classes;
}

/* The one of the class with the longest waiting that is not chosen yet; -1: none. */
static int hottest(const struct sections *sections, int class_id, const bool *chosen) {
    int best = -1;
    for (size_t o = 0; o < sections->n_objects; o++) {
        const struct sync_object *object = &sections->objects[o];
        if (object->class_id == class_id && !chosen[o] && object->wait_ns > 0 &&
            (best < 0 || object->wait_ns > sections->objects[best].wait_ns))
            best = (int)o;
    }
    return best;
}

static void choose(const struct sections *sections, int class_id, const struct lock_class *class,
                   bool *chosen, struct model *model) {
    int few[INSTANCES_LIMIT], n_few = 0, next;
    double covered_ns = 0;
    while (!class->is_monitor && covered_ns < evidence.recall * class->wait_ns &&
           n_few < INSTANCES_LIMIT && (next = hottest(sections, class_id, chosen)) >= 0) {
        covered_ns += sections->objects[next].wait_ns;
        chosen[next] = true;
        few[n_few++] = next;
    }
    if (covered_ns >= evidence.recall * class->wait_ns) {
        notes_add(model,
                  "%zu locks are used at the same place; those with %.0f %% of the waiting (%d) "
                  "are modelled each on its own, as many for any number of threads; waiting for "
                  "others is left out",
                  class->n_members, 100 * covered_ns / class->wait_ns, n_few);
        return;
    }
    for (int i = 0; i < n_few; i++)
        chosen[few[i]] = false;
    notes_add(model, "several locks are used at the same place and cannot be told apart; waiting "
                     "for them is left out");
}

bool *lock_instances_find(const struct sections *sections, double life_ns, struct model *model) {
    bool *chosen = memory_alloc(sections->n_objects + 1, sizeof *chosen);
    struct lock_class *classes = find_classes(sections);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (classes[o].n_members > 1 && classes[o].wait_ns > evidence.waiting_matters * life_ns)
            choose(sections, (int)o, &classes[o], chosen, model);
    free(classes);
    return chosen;
}
