#include "modelgen/instances.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/draft.h"

/* The waiting for a class matters from this share of all threads' time on. */
#define NOTE_SHARE 0.01
/* So much of it must be for a few ... */
#define COVERED_SHARE 0.9
/* ... which are no more than so many: each makes nodes of its own. */
#define INSTANCES_LIMIT 8

/* The one with the longest waiting that is not chosen yet; -1: none. */
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

/* Do threads wait for something else with such a lock in their hands? Then it belongs to what they
 * wait for. */
static bool is_monitor(const struct sections *sections, int class_id) {
    for (size_t s = 0; s < sections->n_sections; s++)
        if (sections->sections[s].n_waits > 0 &&
            sections->objects[sections->sections[s].mutex].class_id == class_id)
            return true;
    return false;
}

static bool is_lock(const struct sync_object *object) {
    return object->kind == ON_MUTEX;
}

static void choose(const struct sections *sections, int class_id, double life_ns, bool *chosen,
                   struct model *model) {
    double all_ns = 0, covered_ns = 0;
    size_t n = 0;
    int few[INSTANCES_LIMIT], n_few = 0, next;
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].class_id == class_id) {
            all_ns += sections->objects[o].wait_ns;
            n++;
        }
    if (n < 2 || all_ns <= NOTE_SHARE * life_ns)
        return;
    while (!is_monitor(sections, class_id) && covered_ns < COVERED_SHARE * all_ns &&
           n_few < INSTANCES_LIMIT && (next = hottest(sections, class_id, chosen)) >= 0) {
        covered_ns += sections->objects[next].wait_ns;
        chosen[next] = true;
        few[n_few++] = next;
    }
    if (covered_ns >= COVERED_SHARE * all_ns) {
        draft_note(model,
                   "%zu locks are used at the same place; %d of them, with %.0f %% of the waiting, "
                   "are modelled each on its own, however many threads there are; waiting for the "
                   "others is left out",
                   n, n_few, 100 * covered_ns / all_ns);
        return;
    }
    for (int i = 0; i < n_few; i++)
        chosen[few[i]] = false;
    draft_note(model, "several locks are used at the same place and cannot be told apart; waiting "
                      "for them is left out");
}

bool *instances_find(const struct sections *sections, double life_ns, struct model *model) {
    bool *chosen = memory_alloc(sections->n_objects + 1, sizeof *chosen);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].class_id == (int)o && is_lock(&sections->objects[o]))
            choose(sections, (int)o, life_ns, chosen, model);
    return chosen;
}
