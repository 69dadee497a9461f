#include "modelgen/lower/object_selection.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/lower/wake_policy.h"
#include "modelgen/notes.h"
#include "modelgen/sync/source_monitors.h"

int objects_pool_of_amount(const struct writer *writer, const struct explanation *guard,
                           double amount) {
    const struct thread_pools *pools = writer->in->pools;
    const struct sections *sections = writer->in->sections;
    for (size_t s = 0; s < sections->n_sections; s++) {
        int class_index = writer->in->monitors->class_of[s];
        int pool = pools->pool_of[sections->sections[s].thread];
        if (sections->sections[s].mutex == guard->mutex && guard->counter.weight[class_index] > 0 &&
            pools->pools[pool].scales && pools->pools[pool].size == (int)amount)
            return pool;
    }
    return MODEL_NONE;
}

static char *guard_name(const struct writer *writer, const struct explanation *guard) {
    const char *what = guard->counter.take > 1               ? "completion of a batch"
                       : guard->counter.kind == GUARD_QUEUE  ? "queue"
                       : guard->counter.kind == GUARD_TOKENS ? "free slots"
                       : guard->counter.kind == GUARD_FIRST  ? "first to come"
                                                             : "level";
    if (guard->proposal && guard->proposal->name) {
        char *name = objects_name(writer, guard->mutex, what);
        char *with_type = memory_format("%s [%s]", name, guard->proposal->name);
        free(name);
        return with_type;
    }
    return objects_name(writer, guard->mutex, what);
}

/* Is `amount` what the trace shows? Up to `missing` of it may be gone before the replay counts. */
static bool amount_fits(const struct writer *writer, const struct explanation *guard,
                        const struct facts_amount *amount, double missing, struct linear *result) {
    const struct thread_pools *pools = writer->in->pools;
    double observed = guard->counter.initial;
    for (size_t p = 0; amount->follows_threads && p < pools->n_pools; p++) {
        const struct thread_pool *pool = &pools->pools[p];
        double more = amount->factor * thread_pools_asked(pool) + amount->offset - observed;
        bool unused = guard->tally.waited == 0 && !guard->counter.seen && more > 0;
        if (!thread_pools_follows(pools, p) ||
            !(fabs(more) < 0.5 || unused || (more > 0 && more <= missing)))
            continue;
        bool fits = fabs(more) < 0.5; /* as it is: what a division leaves is rounded away */
        double missed = fits || unused ? 0 : more;
        *result = model_builder_asked(pools, p, amount->offset - missed, amount->factor);
        return true;
    }
    if (amount->constant && fabs(amount->offset - observed) < 0.5) {
        *result = model_builder_constant(observed);
        return true;
    }
    return false;
}

/* Is the guard's object made by the call of the choice? Of several under one mutex, each with a
 * condition, each is made with its own. */
static bool is_made_by(const struct writer *writer, const struct explanation *guard,
                       const struct facts_amount *amount, size_t choice) {
    const struct sync_object *objects = writer->in->sections->objects;
    const struct trace *trace = writer->in->trace;
    int condition = guard->counter.condition;
    return source_monitors_made_by(trace, objects[guard->mutex].context, amount, choice) ||
           (condition >= 0 &&
            source_monitors_made_by(trace, objects[condition].context, amount, choice));
}

/* Those choices that are said of this very object (`placed`), or of any; that follow the threads,
 * or do not. */
static bool choice_of_kind_fits(const struct writer *writer, const struct explanation *guard,
                                const struct facts_amount *amount, bool placed, bool follows,
                                double missing, struct linear *result) {
    for (size_t c = 0; c < amount->n_choices; c++) {
        const struct facts_choice *choice = &amount->choices[c];
        if ((choice->place.file != NULL) == placed && choice->amount.follows_threads == follows &&
            (!placed || is_made_by(writer, guard, amount, c)) &&
            amount_fits(writer, guard, &choice->amount, missing, result))
            return true;
    }
    return false;
}

/* The choices that are said of this very object, then those of any; of what fits, that which
 * follows the threads: another number of them shows a limit that does not. What fits as it is
 * comes before what somebody must have taken some of. */
static bool choice_fits(const struct writer *writer, const struct explanation *guard,
                        const struct facts_amount *amount, struct linear *result) {
    const double held_for_good = 2; /* by who takes it once, before the threads are there */
    for (int placed = 1; placed >= 0; placed--)
        for (int follows = 1; follows >= 0; follows--)
            if (choice_of_kind_fits(writer, guard, amount, placed, follows, 0, result) ||
                (placed && choice_of_kind_fits(writer, guard, amount, placed, follows,
                                               held_for_good, result)))
                return true;
    return false;
}

/* What the source says the amount is made of, when that is what the trace shows; or what a
 * variable starts with which the object's operations ask. */
static bool amount_of_source(const struct writer *writer, const struct explanation *guard,
                             struct linear *result) {
    const struct facts_monitor *proposal = guard->proposal;
    if (!proposal)
        return false;
    if (choice_fits(writer, guard, &proposal->amount, result) ||
        amount_fits(writer, guard, &proposal->amount, 0, result))
        return true;
    for (size_t v = 0; v < proposal->n_variables; v++)
        if (choice_fits(writer, guard, &proposal->variables[v].initial, result))
            return true;
    for (size_t v = 0; v < proposal->n_variables; v++)
        if (proposal->variables[v].initial.follows_threads &&
            amount_fits(writer, guard, &proposal->variables[v].initial, 0, result))
            return true;
    return false;
}

/* An object that is there already and whose waiters sleep on the guard's condition too. */
static int same_condition(const struct writer *writer, const struct explanation *guard) {
    const struct monitors *monitors = writer->in->monitors;
    for (struct explanation *other = NULL;
         guard->counter.condition >= 0 &&
         (other = explanation_next(monitors, BY_COUNTER, other));) {
        if (other == guard || other->object < 0 ||
            other->counter.condition != guard->counter.condition)
            continue;
        int owner = writer->model->objects[other->object].condition_of;
        return owner == MODEL_NONE ? other->object : owner;
    }
    return MODEL_NONE;
}

static char *guard_evidence(const struct explanation *guard) {
    char *replayed =
        memory_format("replayed: %.0f evaluations, %.0f waited or failed, %.0f violations%s",
                      guard->tally.decisions, guard->tally.waited, guard->tally.violations,
                      guard->proposal ? "; proposed by the source" : "");
    if (!guard->counter.seen)
        return replayed;
    char *text = memory_format("%s; %s held %lld when first seen", replayed,
                               guard->counter.seen->name, (long long)guard->counter.seen->value);
    free(replayed);
    return text;
}

int objects_guard(struct writer *writer, struct explanation *guard) {
    if (guard->object != MODEL_NONE)
        return guard->object;
    size_t index = explanation_index(writer->in->monitors, guard);
    enum object_kind kind = guard->counter.kind == GUARD_QUEUE ? OBJECT_QUEUE : OBJECT_TOKENS;
    int result = model_add_object(writer->model, kind, guard_name(writer, guard));
    struct object *object = &writer->model->objects[result];
    object->evidence = guard_evidence(guard);
    if (guard->counter.kind == GUARD_TOKENS && guard->counter.take == 1 &&
        amount_of_source(writer, guard, &object->amount)) {
        /* told */
    } else if (guard->counter.kind == GUARD_TOKENS) {
        int pool = guard->counter.initial > 0
                       ? objects_pool_of_amount(writer, guard, guard->counter.initial)
                       : MODEL_NONE;
        object->amount = pool == MODEL_NONE ? model_builder_constant(guard->counter.initial)
                                            : model_builder_per_thread(0, pool, 1);
    } else if (guard->counter.kind == GUARD_LEVEL) {
        /* initial = 1 - level: one round per thread of a pool, when it is as many; or as many
         * are there at the start, as idle threads */
        int rounds = objects_pool_of_amount(writer, guard, 1 - guard->counter.initial);
        int idle = guard->counter.initial > 0
                       ? objects_pool_of_amount(writer, guard, guard->counter.initial)
                       : MODEL_NONE;
        object->amount = rounds != MODEL_NONE ? model_builder_per_thread(1, rounds, -1)
                         : idle != MODEL_NONE ? model_builder_per_thread(0, idle, 1)
                                              : model_builder_constant(guard->counter.initial);
    } else if (guard->counter.kind == GUARD_FIRST) {
        object->amount = model_builder_constant(1);
    }
    object->items_in_all = writer->self_feeding[index];
    if (object->items_in_all > 0)
        notes_add(
            writer->model,
            "%s: its takers fill it again; in all %.0f items are taken, which of them leads to "
            "which is not known",
            object->name, object->items_in_all);
    int waited_on = guard->counter.condition >= 0 ? guard->counter.condition : guard->mutex;
    object->condition = writer->in->sections->objects[waited_on].of_libc;
    object->wakes_all = wake_policy_is_broadcast(writer, guard);
    object->when_empty = writer->when_empty[index];
    object->wakes_all |= object->when_empty;
    object->when_enough =
        object->wakes_all && !object->when_empty && wake_policy_when_enough(writer, guard);
    object->condition_of = same_condition(writer, guard);
    guard->object = result;
    return result;
}
