#include "modelgen/sync/observed_amounts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "model/postfix.h"
#include "modelgen/sync/command_program.h"

/* Whose amount is asked for. */
struct inquiry {
    const struct trace *trace;
    const struct sections *sections;
    const struct monitors *monitors;
    const struct explanation *guard;
};

static const struct observed_amount unseen = {0};

/* ---- what the source says of a variable ---- */

/* What a critical section adds to it. */
struct change {
    double by;
    bool certain; /* whichever way it goes; else `by` at most */
};

/* `commands` NULL: the section does not touch what the proposal is about. */
static struct change change_of(const struct facts_section *commands, size_t variable) {
    struct change change = {0, true};
    for (size_t i = 0; commands && i < commands->n_steps; i++) {
        const struct facts_step *step = &commands->steps[i];
        if (step->kind != STEP_UPDATE || step->variable != variable)
            continue;
        change.certain &= step->change == CHANGE_ADD && !step->guard.text;
        change.by += step->change == CHANGE_ADD ? step->by : 0;
    }
    return change;
}

static bool is_updated(const struct facts_monitor *proposal, size_t variable) {
    for (size_t s = 0; s < proposal->n_sections; s++)
        for (size_t i = 0; i < proposal->sections[s].n_steps; i++) {
            const struct facts_step *step = &proposal->sections[s].steps[i];
            if (step->kind == STEP_UPDATE && step->variable == variable)
                return true;
        }
    return false;
}

/* Does the section wait until the variable is 1, whatever the others hold? It counts what is left
 * then: not what is out, nor what several are taken of at once. */
static bool waits_for_one(const struct facts_monitor *proposal,
                          const struct facts_section *commands, size_t variable) {
    bool waits = false, *is_own = command_program_own_variables(proposal);
    struct value *values = memory_alloc(proposal->n_variables, sizeof *values);
    for (size_t i = 0; i < commands->n_steps; i++) {
        struct postfix while_holds;
        if (commands->steps[i].kind != STEP_WAIT)
            continue;
        postfix_parse(commands->steps[i].value.postfix, proposal->n_variables, is_own,
                      &while_holds);
        values[variable] = value_of(0);
        bool stops_at_none = !value_is_false(postfix_value(&while_holds, values, values));
        values[variable] = value_of(1);
        waits |= stops_at_none && value_is_false(postfix_value(&while_holds, values, values));
        postfix_free(&while_holds);
    }
    free(values);
    free(is_own);
    return waits;
}

static const struct facts_section *commands_of_class(const struct inquiry *inquiry, size_t c) {
    return command_program_section_at(inquiry->trace, inquiry->monitors->classes[c].context,
                                      inquiry->guard->proposal);
}

/* Do all that wait by the guard wait for one, and take it from the variable? */
static bool counts_what_is_left(const struct inquiry *inquiry, size_t variable) {
    const struct monitors *monitors = inquiry->monitors;
    bool any = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        if (!inquiry->guard->counter.waits[c])
            continue;
        const struct facts_section *commands = commands_of_class(inquiry, c);
        if (!commands || change_of(commands, variable).by != -1 ||
            !waits_for_one(inquiry->guard->proposal, commands, variable))
            return false;
        any = true;
    }
    return any;
}

/* ---- what was seen ---- */

/* Was it seen under the guard's mutex, or one that it stands for? The parts of a mutex have one
 * address. */
static bool is_of_guard(const struct inquiry *inquiry, const struct trace_value *value) {
    const struct sync_object *objects = inquiry->sections->objects;
    const struct sync_object *whole = &objects[objects[inquiry->guard->mutex].whole];
    for (size_t o = 0; o < inquiry->sections->n_objects; o++)
        if (objects[o].kind == whole->kind && objects[o].address == value->mutex &&
            objects[objects[o].whole].class_id == whole->class_id)
            return true;
    return false;
}

/* What no critical section changes is the same at every look, and of all mutexes that are alike. */
static struct observed_amount limit(const struct inquiry *inquiry, const char *name) {
    struct observed_amount seen = unseen;
    for (size_t v = 0; v < inquiry->trace->n_values; v++) {
        const struct trace_value *value = &inquiry->trace->values[v];
        if (strcmp(value->name, name) != 0 || !is_of_guard(inquiry, value))
            continue;
        if (seen.value && seen.value->value != value->value)
            return unseen;
        if (!seen.value)
            seen = (struct observed_amount){value, (double)value->value};
    }
    return seen;
}

enum order { DONE_BEFORE, DONE_AFTER, LOOKS, UNCLEAR };

/* Had the section done what it does when somebody looked? Who looks has just taken the mutex. */
static enum order order_of(const struct sections *sections, const struct section *section,
                           uint64_t look_ns) {
    if (section->acquire_ns > look_ns)
        return DONE_AFTER;
    if (section->release_ns < look_ns && !section->cut)
        return DONE_BEFORE;
    bool has_waited =
        section->n_waits > 0 && sections->waits[section->first_wait].start_ns < look_ns;
    return has_waited ? UNCLEAR : LOOKS;
}

/* What the critical sections under this mutex had added before the look; NAN: not known. */
static double changed_before(const struct inquiry *inquiry, const struct trace_value *look,
                             size_t variable) {
    const struct sections *sections = inquiry->sections;
    const struct monitors *monitors = inquiry->monitors;
    const struct sync_object *mutex = &sections->objects[inquiry->guard->mutex];
    double changed = 0;
    size_t n_looking = 0;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        const struct sync_object *object = &sections->objects[section->mutex];
        if (object->kind != mutex->kind || object->address != look->mutex)
            continue;
        enum order order = order_of(sections, section, look->time_ns);
        n_looking += order == LOOKS;
        if (order == LOOKS || order == DONE_AFTER)
            continue;
        struct change change =
            change_of(commands_of_class(inquiry, (size_t)monitors->class_of[s]), variable);
        if (!change.certain || (order == UNCLEAR && change.by != 0))
            return NAN;
        changed += change.by;
    }
    return n_looking <= 1 ? changed : NAN;
}

/* By the first look at it under each mutex; those that are alike must have begun alike. */
static struct observed_amount counter(const struct inquiry *inquiry, const char *name,
                                      size_t variable) {
    struct observed_amount seen = unseen;
    struct map looked = MAP_EMPTY;
    bool known = true;
    for (size_t v = 0; v < inquiry->trace->n_values && known; v++) {
        const struct trace_value *value = &inquiry->trace->values[v];
        if (strcmp(value->name, name) != 0 || map_get(&looked, value->mutex, 0) ||
            !is_of_guard(inquiry, value))
            continue;
        map_put(&looked, value->mutex, 1);
        double start = (double)value->value - changed_before(inquiry, value, variable);
        known = !isnan(start) && (!seen.value || start == seen.number);
        if (!seen.value)
            seen = (struct observed_amount){value, start};
    }
    map_free(&looked);
    return known ? seen : unseen;
}

/* ---- the amount ---- */

/* What the variable held at the start. A counter must be one of what is left. */
static struct observed_amount at_start(const struct inquiry *inquiry, const char *name) {
    const struct facts_monitor *proposal = inquiry->guard->proposal;
    for (size_t v = 0; v < proposal->n_variables; v++) {
        if (strcmp(proposal->variables[v].name, name) != 0 || !is_updated(proposal, v))
            continue;
        return counts_what_is_left(inquiry, v) ? counter(inquiry, name, v) : unseen;
    }
    return limit(inquiry, name);
}

/* Of a variable, or of one and a number. */
static struct observed_amount of_variable(const struct inquiry *inquiry) {
    double more;
    char *name = facts_amount_variable(&inquiry->guard->proposal->amount, &more);
    struct observed_amount seen = name ? at_start(inquiry, name) : unseen;
    free(name);
    seen.number += seen.value ? more : 0;
    return seen;
}

struct observed_amount observed_amounts_of(const struct trace *trace,
                                           const struct sections *sections,
                                           const struct monitors *monitors,
                                           const struct explanation *guard) {
    const struct inquiry inquiry = {trace, sections, monitors, guard};
    const struct facts_monitor *proposal = guard->proposal;
    struct observed_amount seen = unseen;
    for (size_t v = 0; proposal->count && v < proposal->n_variables; v++)
        if (strcmp(proposal->variables[v].name, proposal->count) == 0 &&
            counts_what_is_left(&inquiry, v))
            seen = counter(&inquiry, proposal->count, v);
    return seen.value ? seen : of_variable(&inquiry);
}
