#include "modelgen/hand_made.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/draft.h"
#include "modelgen/patterns.h"
#include "modelgen/source.h"

/* ---- lists of the model's monitor ---- */

__attribute__((format(printf, 3, 4))) static void add_text(char ***texts, size_t *n,
                                                           const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    *texts = memory_resize(*texts, *n + 1, sizeof **texts);
    (*texts)[(*n)++] = text;
}

static void add_operation(struct hand_made *monitor, enum hand_made_role as, const char *function) {
    for (size_t i = 0; i < monitor->n_operations; i++)
        if (monitor->operations[i].as == as &&
            strcmp(monitor->operations[i].function, function) == 0)
            return;
    monitor->operations =
        memory_resize(monitor->operations, monitor->n_operations + 1, sizeof *monitor->operations);
    monitor->operations[monitor->n_operations++] =
        (struct hand_made_operation){as, memory_strdup(function)};
}

static int compare_operations(const void *a, const void *b) {
    const struct hand_made_operation *x = a, *y = b;
    if (x->as != y->as)
        return (x->as > y->as) - (x->as < y->as);
    return strcmp(x->function, y->function);
}

static void add_part(struct hand_made *monitor, int object) {
    for (size_t i = 0; i < monitor->n_made_of; i++)
        if (monitor->made_of[i].object == object)
            return;
    if (object < 0)
        return;
    monitor->made_of =
        memory_resize(monitor->made_of, monitor->n_made_of + 1, sizeof *monitor->made_of);
    monitor->made_of[monitor->n_made_of++] = (struct hand_made_part){object};
}

static struct linear copy_linear(const struct linear *from) {
    struct linear copy = *from;
    copy.terms = NULL;
    if (from->n_terms) {
        copy.terms = memory_alloc(from->n_terms, sizeof *copy.terms);
        memcpy(copy.terms, from->terms, from->n_terms * sizeof *copy.terms);
    }
    return copy;
}

/* ---- what the guards of one mutex make together ---- */

/* Guards of one mutex that are one object to the program. */
struct group {
    const struct guard *items; /* what the object is for */
    size_t n_rooms;
    const struct guard **rooms; /* its other side, for those who wait for it and those who try */
};

/* Does one guard's producer take from the other? */
static bool feeds(const struct monitors *monitors, const struct guard *from,
                  const struct guard *into) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (from->weight[c] < 0 && into->weight[c] > 0)
            return true;
    return false;
}

static bool are_two_sides(const struct monitors *monitors, const struct guard *a,
                          const struct guard *b) {
    return a != b && a->mutex == b->mutex && a->kind != GUARD_LEVEL && b->kind != GUARD_LEVEL &&
           a->take == 1 && b->take == 1 && feeds(monitors, a, b) && feeds(monitors, b, a);
}

/* One round of everything, or a happening: a level that nobody takes back. */
static bool goes_both_ways(const struct monitors *monitors, const struct guard *guard) {
    bool up = false, down = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        up |= guard->weight[c] > 0;
        down |= guard->weight[c] < 0;
    }
    return up && down;
}

static const enum hand_made_kind kinds_of_source[] = {
    [MONITOR_BOUNDED_QUEUE] = HAND_MADE_BOUNDED_QUEUE,
    [MONITOR_UNBOUNDED_QUEUE] = HAND_MADE_UNBOUNDED_QUEUE,
    [MONITOR_SEMAPHORE] = HAND_MADE_SEMAPHORE,
    [MONITOR_BARRIER] = HAND_MADE_BARRIER,
    [MONITOR_EVENT] = HAND_MADE_EVENT,
    [MONITOR_COMPLETION] = HAND_MADE_COMPLETION,
    [MONITOR_RWLOCK] = HAND_MADE_RWLOCK,
    [MONITOR_TOKEN_POOL] = HAND_MADE_TOKEN_POOL,
    [MONITOR_HAND_OVER] = HAND_MADE_HAND_OVER,
    [MONITOR_THREAD_POOL] = HAND_MADE_THREAD_POOL,
    [MONITOR_OTHER] = HAND_MADE_OTHER,
};

/* What may look alike in a trace, so that the source decides: counters that are added to and taken
 * from; and states that are waited for but not taken. */
static bool is_counter(enum hand_made_kind kind) {
    return kind == HAND_MADE_BOUNDED_QUEUE || kind == HAND_MADE_UNBOUNDED_QUEUE ||
           kind == HAND_MADE_SEMAPHORE || kind == HAND_MADE_TOKEN_POOL ||
           kind == HAND_MADE_THREAD_POOL;
}

static bool is_state(enum hand_made_kind kind) {
    return kind == HAND_MADE_EVENT || kind == HAND_MADE_COMPLETION;
}

/* `found` is the trace's answer. A queue whose putters never waited for room may be bounded all the
 * same, but one with room that ran out is not unbounded. */
static enum hand_made_kind kind_with_source(const struct facts_monitor *proposal,
                                            enum hand_made_kind found) {
    enum hand_made_kind said = proposal ? kinds_of_source[proposal->kind] : HAND_MADE_OTHER;
    bool contradicts = found == HAND_MADE_BOUNDED_QUEUE && said == HAND_MADE_UNBOUNDED_QUEUE;
    if ((is_counter(said) && is_counter(found) && !contradicts) ||
        (is_state(said) && (is_state(found) || found == HAND_MADE_UNBOUNDED_QUEUE)))
        return said;
    return found;
}

static enum hand_made_kind kind_of_group(const struct monitors *monitors,
                                         const struct group *group) {
    const struct guard *items = group->items;
    enum hand_made_kind kind = group->n_rooms                ? HAND_MADE_BOUNDED_QUEUE
                               : items->take > 1             ? HAND_MADE_COMPLETION
                               : items->kind == GUARD_QUEUE  ? HAND_MADE_UNBOUNDED_QUEUE
                               : items->kind == GUARD_TOKENS ? HAND_MADE_SEMAPHORE
                               : goes_both_ways(monitors, items) || items->initial < 0
                                   ? HAND_MADE_COMPLETION
                                   : HAND_MADE_EVENT;
    return kind_with_source(items->proposal, kind);
}

static void roles_of(enum hand_made_kind kind, enum hand_made_role *adds,
                     enum hand_made_role *takes) {
    switch (kind) {
    case HAND_MADE_BOUNDED_QUEUE:
    case HAND_MADE_UNBOUNDED_QUEUE:
        *adds = AS_PUT;
        *takes = AS_GET;
        break;
    case HAND_MADE_SEMAPHORE:
    case HAND_MADE_TOKEN_POOL:
        *adds = AS_RELEASE;
        *takes = AS_ACQUIRE;
        break;
    case HAND_MADE_THREAD_POOL:
        *adds = AS_SUBMIT;
        *takes = AS_RUN;
        break;
    default:
        *adds = AS_SIGNAL;
        *takes = AS_WAIT;
        break;
    }
}

static void write_operations(const struct monitors *monitors, const struct guard *guard,
                             struct hand_made *monitor) {
    enum hand_made_role adds, takes;
    roles_of(monitor->kind, &adds, &takes);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const char *function = monitors->classes[c].function;
        if (guard->close_class == (int)c)
            add_operation(monitor, AS_CLOSE, function);
        else if (guard->waits[c])
            add_operation(monitor, takes, function);
        else if (guard->weight[c] > 0)
            add_operation(monitor, adds, function);
        else if (guard->weight[c] < 0 && guard->kind == GUARD_LEVEL)
            add_operation(monitor, AS_ARRIVE, function);
    }
}

/* Every wait that had to be and every pass that could be speaks for the hypothesis, but many of one
 * kind do not make up for none of the other. What the source says halves the doubt. */
static double confidence_of(double replayed, double waited, double violations, bool is_proposed) {
    double passed = replayed - waited;
    double telling = waited < passed ? waited : passed;
    double doubt = 1 / (1 + telling);
    if (is_proposed)
        doubt /= 2;
    double agreement = replayed > 0 ? 1 - violations / replayed : 0;
    return agreement * (1 - doubt);
}

static double confidence_in(const struct guard *guard) {
    return confidence_of(guard->evaluations, guard->waited, guard->violations, guard->proposal);
}

static void write_contradiction(const struct stream_input *input, const struct contradiction *at,
                                struct hand_made *monitor) {
    const struct section *section = &input->sections->sections[at->section];
    const struct trace_thread *thread = &input->trace->threads[section->thread];
    const struct section_class *class =
        &input->monitors->classes[input->monitors->class_of[at->section]];
    add_text(&monitor->evidence, &monitor->n_evidence,
             "against it: at %.6f s thread %d (%s) %s in %s (line %d)", (double)at->time_ns / 1e9,
             thread->index, thread->start_routine, at->waited ? "waited" : "went on",
             class->function, class->line);
}

static void write_evidence(const struct stream_input *input, const struct guard *guard,
                           const char *what, struct hand_made *monitor) {
    const struct monitors *monitors = input->monitors;
    add_text(&monitor->evidence, &monitor->n_evidence,
             "%s: %g at the start; whoever needs %g waits until they are there", what,
             guard->initial, guard->take);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != guard->mutex || (guard->weight[c] == 0 && !guard->waits[c]))
            continue;
        add_text(&monitor->evidence, &monitor->n_evidence,
                 "%s: %+d by each of %.0f critical sections of %s (line %d)%s", what,
                 guard->weight[c], class->count, class->function, class->line,
                 guard->waits[c] ? ", which wait for it" : "");
    }
    add_text(&monitor->evidence, &monitor->n_evidence,
             "%s: %.0f decisions replayed, %.0f of them to wait; %.0f contradict it", what,
             guard->evaluations, guard->waited, guard->violations);
    for (size_t v = 0; v < guard->n_contradictions; v++)
        write_contradiction(input, &guard->contradictions[v], monitor);
}

/* "POOL_ctx", or what is locked, or nothing; and where it is used first. */
static char *name_of(const struct stream_input *input, int mutex_index,
                     const struct facts_monitor *proposal, enum hand_made_kind kind) {
    const struct sync_object *mutex = &input->sections->objects[mutex_index];
    const char *path = proposal && proposal->name
                           ? proposal->name
                           : source_path(input->trace, input->facts, mutex->context, ON_MUTEX);
    char *place = source_place(input->trace, mutex->context);
    char *name = memory_format("%s%s%s, %s", hand_made_kind_name(kind), path ? " " : "",
                               path ? path : "", place);
    free(place);
    return name;
}

static void write_guard(const struct stream_input *input, const struct guard *guard,
                        const char *what, struct hand_made *monitor) {
    write_evidence(input, guard, what, monitor);
    add_part(monitor, guard->object);
    monitor->replayed += guard->evaluations;
    monitor->violations += guard->violations;
}

static void write_amount(const struct guard *guard, const struct model *model,
                         struct hand_made *monitor) {
    monitor->amount = guard->object >= 0 && model->objects[guard->object].kind == OBJECT_TOKENS
                          ? copy_linear(&model->objects[guard->object].amount)
                          : draft_constant(guard->initial);
}

static void add_monitor(struct model *model, struct hand_made monitor) {
    if (monitor.n_operations)
        qsort(monitor.operations, monitor.n_operations, sizeof *monitor.operations,
              compare_operations);
    model->monitors =
        memory_resize(model->monitors, model->n_monitors + 1, sizeof *model->monitors);
    model->monitors[model->n_monitors++] = monitor;
}

static void write_group(const struct stream_input *input, const struct group *group,
                        struct model *model) {
    struct hand_made monitor = {.kind = kind_of_group(input->monitors, group)};
    const struct guard *items = group->items;
    monitor.name = name_of(input, items->mutex, items->proposal, monitor.kind);
    write_operations(input->monitors, items, &monitor);
    write_guard(input, items, group->n_rooms ? "items" : "count", &monitor);
    monitor.confidence = confidence_in(items);
    for (size_t i = 0; i < group->n_rooms; i++) {
        write_guard(input, group->rooms[i], "room", &monitor);
        double other = confidence_in(group->rooms[i]);
        monitor.confidence = monitor.confidence > other ? monitor.confidence : other;
    }
    if (group->n_rooms)
        write_amount(group->rooms[0], model, &monitor);
    else if (monitor.kind == HAND_MADE_SEMAPHORE || monitor.kind == HAND_MADE_TOKEN_POOL)
        write_amount(items, model, &monitor);
    monitor.how = MODELLED_EXACTLY;
    monitor.why = memory_strdup(items->proposal ? "proposed by the source, confirmed by the trace"
                                                : "found in the trace");
    add_monitor(model, monitor);
}

/* ---- patterns ---- */

static enum hand_made_role role_of(enum pattern_act act) {
    switch (act) {
    case ACT_ARRIVE:
        return AS_ARRIVE;
    case ACT_READ:
        return AS_READ_LOCK;
    case ACT_WRITE:
        return AS_WRITE_LOCK;
    case ACT_UNLOCK:
        return AS_UNLOCK;
    case ACT_PASS:
        return AS_SIGNAL;
    default:
        return AS_WAIT;
    }
}

static void write_acts(const struct stream_input *input, const struct pattern *pattern,
                       struct hand_made *monitor) {
    const unsigned told = ACT_ARRIVE | ACT_READ | ACT_WRITE | ACT_UNLOCK | ACT_TURN | ACT_PASS |
                          ACT_COLLECT; /* where numbers are drawn is no operation of the object */
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        const struct section_class *class = &input->monitors->classes[input->monitors->class_of[s]];
        for (unsigned act = 1; act <= ACT_COLLECT; act *= 2)
            if (pattern->acts[s] & act & told)
                add_operation(monitor, role_of(act), class->function);
    }
}

static void write_pattern(const struct stream_input *input, const struct pattern *pattern,
                          struct model *model) {
    const struct tally_of_replay *tally = &pattern->tally;
    struct hand_made monitor = {.kind = pattern->kind,
                                .replayed = tally->replayed,
                                .violations = tally->violations,
                                .how = MODELLED_EXACTLY};
    const struct facts_monitor *proposal = input->monitors->proposal_of[pattern->mutex];
    if (proposal && is_state(monitor.kind) && is_state(kinds_of_source[proposal->kind]))
        monitor.kind = kinds_of_source[proposal->kind];
    monitor.name = name_of(input, pattern->mutex, proposal, monitor.kind);
    monitor.confidence =
        confidence_of(tally->replayed, tally->waited, tally->violations, proposal != NULL);
    write_acts(input, pattern, &monitor);
    add_part(&monitor, pattern->object);
    if (pattern->kind == HAND_MADE_BARRIER)
        monitor.amount = pattern->object >= 0 ? copy_linear(&model->objects[pattern->object].amount)
                                              : draft_constant(pattern->parties);
    if (pattern->n_objects > 1)
        add_text(&monitor.evidence, &monitor.n_evidence,
                 "%zu of them, each with a mutex of its own; one thread waits for one after the "
                 "other",
                 pattern->n_objects);
    add_text(&monitor.evidence, &monitor.n_evidence,
             "%.0f critical sections replayed, %.0f of them waited; %.0f contradict it",
             tally->replayed, tally->waited, tally->violations);
    for (size_t i = 0; i < tally->n_contradictions; i++)
        write_contradiction(input, &tally->contradictions[i], &monitor);
    monitor.why = memory_strdup("found in the trace");
    add_monitor(model, monitor);
}

/* Of two sides, the one with nothing there at the start is the items. */
static void write_with_other_sides(const struct stream_input *input, size_t first, bool *done,
                                   struct model *model) {
    const struct monitors *monitors = input->monitors;
    struct group group = {.items = &monitors->guards[first],
                          .rooms = memory_alloc(monitors->n_guards, sizeof *group.rooms)};
    for (size_t other = first + 1; other < monitors->n_guards; other++)
        if (!done[other] && are_two_sides(monitors, group.items, &monitors->guards[other])) {
            group.rooms[group.n_rooms++] = &monitors->guards[other];
            done[other] = true;
        }
    if (group.n_rooms && group.items->initial > group.rooms[0]->initial) {
        const struct guard *items = group.rooms[0];
        group.rooms[0] = group.items;
        group.items = items;
    }
    write_group(input, &group, model);
    free(group.rooms);
}

/* ---- what the source proposes and the trace does not tell ---- */

static bool is_told(const struct stream_input *input, int mutex) {
    for (size_t g = 0; g < input->monitors->n_guards; g++)
        if (input->monitors->guards[g].mutex == mutex)
            return true;
    for (size_t p = 0; p < input->monitors->n_patterns; p++) {
        int first = input->monitors->patterns[p].mutex;
        if (first == mutex ||
            (input->monitors->patterns[p].n_objects > 1 &&
             input->sections->objects[first].class_id == input->sections->objects[mutex].class_id))
            return true;
    }
    return false;
}

/* Waits in the mutex' sections that nothing explains; its sections in `sections`. */
static double unexplained_waits(const struct stream_input *input, int mutex, double *sections) {
    double waits = 0;
    *sections = 0;
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        if (input->sections->sections[s].mutex != mutex)
            continue;
        ++*sections;
        waits += (double)input->sections->sections[s].n_waits;
    }
    return waits;
}

static void write_proposal(const struct stream_input *input, int mutex,
                           const struct facts_monitor *proposal, struct model *model) {
    double sections;
    double waits = unexplained_waits(input, mutex, &sections);
    struct hand_made monitor = {.kind = kinds_of_source[proposal->kind],
                                .how = waits > 0 ? MODELLED_BY_FALLBACK : MODELLED_NOT,
                                .confidence = waits > 0 ? 0.3 : 0.5,
                                .replayed = 0};
    monitor.name = name_of(input, mutex, proposal, monitor.kind);
    for (size_t i = 0; i < proposal->n_operations; i++)
        add_operation(&monitor, (enum hand_made_role)proposal->operations[i].role,
                      proposal->operations[i].place.function);
    if (proposal->amount.follows_threads) {
        for (size_t p = 0; p < input->pools->n_pools && monitor.amount.n_terms == 0; p++)
            if (input->pools->pools[p].scales)
                monitor.amount =
                    draft_per_thread(proposal->amount.offset, (int)p, proposal->amount.factor);
    } else if (proposal->amount.constant) {
        monitor.amount = draft_constant(proposal->amount.offset);
    }
    if (proposal->why)
        add_text(&monitor.evidence, &monitor.n_evidence, "the source: %s", proposal->why);
    add_text(waits > 0 ? &monitor.rejected : &monitor.evidence,
             waits > 0 ? &monitor.n_rejected : &monitor.n_evidence,
             "%.0f critical sections, %.0f waits%s", sections, waits,
             waits > 0 ? "; no counter and no pattern agrees with them" : "");
    monitor.why =
        memory_strdup(waits > 0 ? "proposed by the source, not confirmed by the trace"
                                : "proposed by the source; nobody waited for it in the traced run");
    add_monitor(model, monitor);
}

static void write_untold(const struct stream_input *input, struct model *model) {
    for (size_t o = 0; o < input->sections->n_objects; o++) {
        const struct facts_monitor *proposal = input->monitors->proposal_of[o];
        bool first = input->sections->objects[o].class_id == (int)o;
        if (proposal && proposal->kind != MONITOR_OTHER && first && !is_told(input, (int)o))
            write_proposal(input, (int)o, proposal, model);
    }
}

void hand_made_write(const struct stream_input *input, struct model *model) {
    const struct monitors *monitors = input->monitors;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        write_pattern(input, &monitors->patterns[p], model);
    bool *done = memory_alloc(monitors->n_guards, sizeof *done);
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (!done[g])
            write_with_other_sides(input, g, done, model);
    free(done);
    write_untold(input, model);
}
