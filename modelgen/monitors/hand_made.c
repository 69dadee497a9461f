#include "modelgen/monitors/hand_made.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/draft.h"
#include "modelgen/graph/names.h"
#include "modelgen/monitors/commands.h"
#include "modelgen/monitors/patterns.h"
#include "modelgen/monitors/search.h"
#include "modelgen/monitors/statements.h"
#include "modelgen/pools/slots.h"

#define UNEXPLAINED_SHARE 0.05 /* of an object's waiting may stay unexplained */
/* Confidence in what the source alone says: of what the trace could not confirm ... */
#define UNCONFIRMED 0.3
#define UNWAITED    0.5 /* ... or had no reason to */

/* ---- lists of the model's monitor ---- */

__attribute__((format(printf, 3, 4))) static void add_text(char ***texts, size_t *n,
                                                           const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = memory_vformat(format, arguments);
    va_end(arguments);
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

/* What the trace found and what the source said, as one kind. A queue whose putters never waited
 * for room may be bounded all the same, but one with room that ran out is not unbounded.
 * `is_confirmed`: the source's own commands explain the traced run. `most` items were there at
 * once: what is more than one at a time has happened or not is no event. */
static enum hand_made_kind kind_with_source(const struct facts_monitor *proposal,
                                            enum hand_made_kind found, bool is_confirmed,
                                            double most) {
    enum hand_made_kind said = proposal ? kinds_of_source[proposal->kind] : HAND_MADE_OTHER;
    if (proposal && proposal->users_word)
        return said;
    if (said == HAND_MADE_OTHER ||
        (found == HAND_MADE_BOUNDED_QUEUE && said == HAND_MADE_UNBOUNDED_QUEUE))
        return found;
    bool queue_of_one = found == HAND_MADE_UNBOUNDED_QUEUE && most < 2;
    if (is_confirmed || (is_counter(said) && is_counter(found)) ||
        (is_state(said) && (is_state(found) || queue_of_one)))
        return said;
    return found;
}

static enum hand_made_kind kind_of_group(const struct monitors *monitors,
                                         const struct group *group) {
    const struct guard *items = group->items;
    return group->n_rooms                                          ? HAND_MADE_BOUNDED_QUEUE
           : items->take > 1                                       ? HAND_MADE_COMPLETION
           : items->kind == GUARD_QUEUE                            ? HAND_MADE_UNBOUNDED_QUEUE
           : items->kind == GUARD_TOKENS                           ? HAND_MADE_SEMAPHORE
           : goes_both_ways(monitors, items) || items->initial < 0 ? HAND_MADE_COMPLETION
                                                                   : HAND_MADE_EVENT;
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

/* Waits that something else would explain as well do not tell. */
static double confidence_in(const struct guard *guard) {
    return confidence_of(guard->evaluations, guard->by_source ? 0 : guard->waited,
                         guard->violations, guard->proposal);
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

/* By the type or variable that the source says it is, or by what is locked. */
static char *name_of(const struct stream_input *input, int mutex,
                     const struct facts_monitor *proposal, enum hand_made_kind kind) {
    return name_of_object(input, mutex, hand_made_kind_name(kind),
                          proposal ? proposal->name : NULL);
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

static void write_found(const struct stream_input *input, const struct group *group,
                        struct hand_made *monitor) {
    write_guard(input, group->items, group->n_rooms ? "items" : "count", monitor);
    double sure = confidence_in(group->items);
    for (size_t i = 0; i < group->n_rooms; i++) {
        write_guard(input, group->rooms[i], "room", monitor);
        double other = confidence_in(group->rooms[i]);
        sure = sure > other ? sure : other;
    }
    monitor->confidence = monitor->confidence > sure ? monitor->confidence : sure;
}

/* Of what the trace shows alone. */
static void write_group(const struct stream_input *input, const struct group *group,
                        struct model *model) {
    struct hand_made monitor = {.kind = kind_of_group(input->monitors, group)};
    const struct guard *items = group->items;
    monitor.name = name_of(input, items->mutex, NULL, monitor.kind);
    write_operations(input->monitors, items, &monitor);
    write_found(input, group, &monitor);
    if (group->n_rooms)
        write_amount(group->rooms[0], model, &monitor);
    else if (monitor.kind == HAND_MADE_SEMAPHORE)
        write_amount(items, model, &monitor);
    monitor.how = MODELLED_EXACTLY;
    monitor.why = memory_strdup("found in the trace");
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
    case ACT_ADVANCE:
        return AS_SIGNAL;
    default:
        return AS_WAIT;
    }
}

static void write_acts(const struct stream_input *input, const struct pattern *pattern,
                       struct hand_made *monitor) {
    const unsigned told = ~(unsigned)ACT_DRAW; /* that is no operation of the object */
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        const struct section_class *class = &input->monitors->classes[input->monitors->class_of[s]];
        for (unsigned act = 1; act <= ACT_ADVANCE; act *= 2)
            if (pattern->acts[s] & act & told)
                add_operation(monitor, role_of(act), class->function);
    }
}

/* What the replay of the pattern showed; its amount too. */
static void write_replayed(const struct stream_input *input, const struct pattern *pattern,
                           const struct model *model, bool is_proposed, struct hand_made *monitor) {
    const struct tally_of_replay *tally = &pattern->tally;
    monitor->replayed += tally->replayed;
    monitor->violations += tally->violations;
    monitor->confidence =
        confidence_of(tally->replayed, tally->waited, tally->violations, is_proposed);
    add_part(monitor, pattern->object);
    if (pattern->kind == HAND_MADE_BARRIER)
        monitor->amount = pattern->object >= 0
                              ? copy_linear(&model->objects[pattern->object].amount)
                              : draft_constant(pattern->parties);
    if (pattern->in_steps)
        add_text(&monitor->evidence, &monitor->n_evidence,
                 "%zu of them, each with a mutex of its own; number n follows number n - %d, which "
                 "must be %d steps ahead or have passed",
                 pattern->n_objects, pattern->distance, pattern->lead);
    else if (pattern->n_objects > 1)
        add_text(&monitor->evidence, &monitor->n_evidence,
                 "%zu of them, each with a mutex of its own; one thread waits for one after the "
                 "other",
                 pattern->n_objects);
    add_text(&monitor->evidence, &monitor->n_evidence,
             "%.0f critical sections replayed, %.0f of them waited; %.0f contradict it",
             tally->replayed, tally->waited, tally->violations);
    for (size_t i = 0; i < tally->n_contradictions; i++)
        write_contradiction(input, &tally->contradictions[i], monitor);
}

static void write_pattern(const struct stream_input *input, const struct pattern *pattern,
                          struct model *model) {
    struct hand_made monitor = {.kind = pattern->kind, .how = MODELLED_EXACTLY};
    monitor.name = name_of(input, pattern->mutex, NULL, monitor.kind);
    write_acts(input, pattern, &monitor);
    write_replayed(input, pattern, model, false, &monitor);
    monitor.why = memory_strdup("found in the trace");
    add_monitor(model, monitor);
}

/* ---- what the source proposes, held against the trace ---- */

/* One proposal for one mutex, with what the trace found of it. */
struct proposed {
    const struct facts_monitor *proposal;
    int mutex;
    struct commands_verdict verdict;
    const struct pattern *pattern;       /* NULL: none */
    const struct statements *statements; /* by which it is modelled; NULL */
    bool is_part;                        /* of another one: not an object of its own */
    struct {
        const struct guard **items;
        size_t count, capacity;
    } guards;
};

struct proposed_list {
    struct proposed *items;
    size_t count, capacity;
};

static bool is_in(const struct stream_input *input, const struct section_class *class,
                  const struct facts_place *place) {
    if (class->context == TRACE_NO_CONTEXT)
        return false;
    const struct trace_context *calls = &input->trace->contexts[class->context];
    for (size_t i = 0; i < calls->n_frames && i < COMMANDS_FRAMES; i++)
        if (calls->frames[i].line == place->line &&
            strcmp(calls->frames[i].function, place->function) == 0)
            return true;
    return false;
}

static bool role_waits(const struct facts_monitor *proposal, enum facts_role role) {
    switch (role) {
    case FACTS_CLOSE:
    case FACTS_RELEASE:
    case FACTS_SIGNAL:
    case FACTS_UNLOCK:
        return false;
    case FACTS_ARRIVE:
        return proposal->kind == MONITOR_BARRIER;
    default:
        return true;
    }
}

/* Does the proposal say that these sections act so, waiting if `waits`? */
static bool class_acts(const struct stream_input *input, const struct facts_monitor *proposal,
                       const struct section_class *class, bool waits) {
    for (size_t i = 0; i < proposal->n_operations; i++)
        if ((!waits || role_waits(proposal, proposal->operations[i].role)) &&
            is_in(input, class, &proposal->operations[i].place))
            return true;
    return false;
}

/* Is the mutex locked where the proposal says that somebody may wait? Other functions may be used
 * of what has several. */
static bool is_used(const struct stream_input *input, const struct facts_monitor *proposal,
                    int mutex) {
    for (size_t c = 0; c < input->monitors->n_classes; c++)
        if (input->monitors->classes[c].mutex == mutex &&
            class_acts(input, proposal, &input->monitors->classes[c], true))
            return true;
    return false;
}

/* Do the proposal's statements wait in these sections? One function may wait for another object of
 * the same mutex than it reports to. */
static bool class_waits(const struct stream_input *input, const struct facts_monitor *proposal,
                        const struct section_class *class) {
    const struct facts_section *section = commands_section(input->trace, class->context, proposal);
    return section && statements_wait(section);
}

/* How well the proposal says what the guard found: its waiters count most. */
static double fit_of(const struct stream_input *input, const struct facts_monitor *proposal,
                     const struct guard *guard) {
    double fit = 0;
    for (size_t c = 0; c < input->monitors->n_classes; c++) {
        const struct section_class *class = &input->monitors->classes[c];
        if (class->mutex != guard->mutex)
            continue;
        if (guard->waits[c] && class_acts(input, proposal, class, true))
            fit += class_waits(input, proposal, class) ? 8 : 4;
        else if (guard->weight[c] != 0 && class_acts(input, proposal, class, false))
            fit += 1;
    }
    return fit;
}

static void find_proposed(const struct stream_input *input, int mutex, struct proposed_list *list) {
    const struct facts *facts = input->facts;
    const struct facts_monitor *best = input->monitors->proposal_of[mutex];
    const struct statements *statements = statements_of(input->monitors, mutex);
    for (size_t m = 0; best && m < facts->n_monitors; m++) {
        const struct facts_monitor *proposal = &facts->monitors[m];
        bool same = facts_same_mutex(proposal, best);
        bool carried_out = statements && statements->proposal == proposal;
        if (!same ||
            (!carried_out && (proposal->kind == MONITOR_OTHER || !is_used(input, proposal, mutex))))
            continue;
        *VECTOR_ADD(list) =
            (struct proposed){.proposal = proposal,
                              .mutex = mutex,
                              .statements = carried_out ? statements : NULL,
                              .verdict = commands_replay(input->trace, input->sections, proposal,
                                                         mutex, pools_count(input->pools), NULL)};
    }
}

/* Time that the proposal's sections waited on conditions, and how much of it nothing explains. */
static void waiting_of(const struct stream_input *input, const struct proposed *proposed,
                       double *waited_ns, double *unexplained_ns) {
    const struct sections *sections = input->sections;
    int class_id = sections->objects[proposed->mutex].class_id;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (section->n_waits == 0 || sections->objects[section->mutex].class_id != class_id ||
            !class_acts(input, proposed->proposal,
                        &input->monitors->classes[input->monitors->class_of[s]], true))
            continue;
        for (size_t w = 0; w < section->n_waits; w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            double time = (double)(wait->end_ns - wait->start_ns);
            *waited_ns += time;
            *unexplained_ns += monitors_explain(input->monitors, s) ? 0 : time;
        }
    }
}

/* Where the statements of one proposal carry out all waits of the mutex, another one that waits
 * with them is a view of it; one that nobody waited for is an object of its own. */
static void join_carried_out(const struct stream_input *input, struct proposed_list *list,
                             size_t first) {
    for (size_t p = first; p < list->count; p++) {
        struct proposed *proposed = &list->items[p];
        double waited_ns = 0, unexplained_ns = 0;
        waiting_of(input, proposed, &waited_ns, &unexplained_ns);
        proposed->is_part = !proposed->statements && waited_ns > 0 && unexplained_ns == 0 &&
                            statements_of(input->monitors, proposed->mutex);
    }
}

/* Gives every finding on this mutex to the proposal that says it best; what no proposal knows stays
 * by itself. */
static void share_findings(const struct stream_input *input, struct proposed_list *list,
                           size_t first, bool *guard_done, bool *pattern_done) {
    const struct monitors *monitors = input->monitors;
    for (size_t g = 0; g < monitors->n_guards; g++) {
        const struct guard *guard = &monitors->guards[g];
        if (guard->kind == GUARD_FIRST)
            continue; /* part of what it stands beside */
        struct proposed *best = NULL;
        double best_fit = 0;
        for (size_t p = first; p < list->count; p++) {
            double fit = guard->mutex == list->items[p].mutex
                             ? fit_of(input, list->items[p].proposal, guard)
                             : 0;
            if (fit > best_fit)
                best = &list->items[p];
            best_fit = fit > best_fit ? fit : best_fit;
        }
        if (!best)
            continue;
        *VECTOR_ADD(&best->guards) = guard;
        guard_done[g] = true;
    }
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (list->count > first && monitors->patterns[p].mutex == list->items[first].mutex) {
            list->items[first].pattern = &monitors->patterns[p];
            pattern_done[p] = true;
        }
}

/* What the source takes for two objects may be the two sides of one. */
static void join_sides(const struct stream_input *input, struct proposed *a, struct proposed *b) {
    for (size_t i = 0; i < a->guards.count; i++)
        for (size_t j = 0; j < b->guards.count; j++) {
            const struct guard *mine = a->guards.items[i], *other = b->guards.items[j];
            if (!are_two_sides(input->monitors, mine, other))
                continue;
            struct proposed *items = mine->initial > other->initial ? b : a;
            struct proposed *rooms = items == a ? b : a;
            for (size_t g = 0; g < rooms->guards.count; g++)
                *VECTOR_ADD(&items->guards) = rooms->guards.items[g];
            rooms->guards.count = 0;
            rooms->is_part = true;
            return;
        }
}

static void join_all_sides(const struct stream_input *input, struct proposed_list *list,
                           size_t first) {
    for (size_t a = first; a < list->count; a++)
        for (size_t b = a + 1; b < list->count; b++)
            join_sides(input, &list->items[a], &list->items[b]);
}

static bool is_confirmed(const struct commands_verdict *verdict) {
    return verdict->decisions >= 3 && violations_are_few(verdict->violations, verdict->decisions);
}

static void write_verdict(const struct stream_input *input, const struct proposed *proposed,
                          struct hand_made *monitor) {
    const struct commands_verdict *verdict = &proposed->verdict;
    if (proposed->proposal->why)
        add_text(&monitor->evidence, &monitor->n_evidence, "the source: %s",
                 proposed->proposal->why);
    if (verdict->decisions == 0)
        return;
    add_text(&monitor->evidence, &monitor->n_evidence,
             "its statements carried out in the order of the run: %.0f decisions known, %.0f to "
             "wait; %.0f contradict it",
             verdict->decisions, verdict->waited, verdict->violations);
    if (!is_confirmed(verdict))
        for (size_t i = 0; i < verdict->n_contradictions; i++)
            write_contradiction(input, &verdict->contradictions[i], monitor);
    double sure = confidence_of(verdict->decisions, verdict->waited, verdict->violations, true);
    monitor->confidence = monitor->confidence > sure ? monitor->confidence : sure;
}

/* Of the guards, the one with the most evidence names the object; another one that feeds it and is
 * fed by it is its other side. */
static struct group group_of(const struct stream_input *input, const struct proposed *proposed) {
    struct group group = {.rooms =
                              memory_alloc(proposed->guards.count + 1, sizeof(struct guard *))};
    const struct guard **guards = proposed->guards.items;
    for (size_t a = 0; a < proposed->guards.count && group.n_rooms == 0; a++)
        for (size_t b = a + 1; b < proposed->guards.count; b++)
            if (are_two_sides(input->monitors, guards[a], guards[b])) {
                bool swap = guards[a]->initial > guards[b]->initial;
                group.items = guards[swap ? b : a];
                group.rooms[group.n_rooms++] = guards[swap ? a : b];
                break;
            }
    for (size_t i = 0; i < proposed->guards.count && group.n_rooms == 0; i++)
        if (!group.items || guards[i]->waited > group.items->waited)
            group.items = guards[i];
    return group;
}

static bool is_what_the_source_says(const struct hand_made *monitor,
                                    const struct facts_monitor *proposal) {
    return monitor->kind == kinds_of_source[proposal->kind];
}

static enum hand_made_kind kind_of_proposed(const struct stream_input *input,
                                            const struct proposed *proposed,
                                            const struct group *group) {
    const struct facts_monitor *proposal = proposed->proposal;
    bool confirmed = is_confirmed(&proposed->verdict);
    if (proposed->pattern)
        return kind_with_source(proposal, proposed->pattern->kind, confirmed, 0);
    if (group->items)
        return kind_with_source(proposal, kind_of_group(input->monitors, group),
                                confirmed || guard_is_doubtful(group->items), group->items->most);
    return kinds_of_source[proposal->kind];
}

static void write_proposed_operations(const struct stream_input *input,
                                      const struct proposed *proposed, const struct group *group,
                                      struct hand_made *monitor) {
    const struct facts_monitor *proposal = proposed->proposal;
    if (is_what_the_source_says(monitor, proposal))
        for (size_t i = 0; i < proposal->n_operations; i++)
            add_operation(monitor, (enum hand_made_role)proposal->operations[i].role,
                          proposal->operations[i].place.function);
    else if (proposed->pattern)
        write_acts(input, proposed->pattern, monitor);
    else if (group->items)
        write_operations(input->monitors, group->items, monitor);
}

/* Unless the pattern had one. */
static void write_proposed_amount(const struct stream_input *input,
                                  const struct facts_monitor *proposal, const struct group *group,
                                  const struct model *model, struct hand_made *monitor) {
    if (monitor->amount.base != 0 || monitor->amount.n_terms > 0)
        return;
    if (group->n_rooms)
        write_amount(group->rooms[0], model, monitor);
    else if (group->items &&
             (monitor->kind == HAND_MADE_SEMAPHORE || monitor->kind == HAND_MADE_TOKEN_POOL))
        write_amount(group->items, model, monitor);
    else if (is_what_the_source_says(monitor, proposal))
        monitor->amount = draft_said(&proposal->amount, input->pools);
}

/* How well it is modelled, why, and how sure that is. */
static void write_trust(const struct stream_input *input, const struct proposed *proposed,
                        const struct group *group, struct hand_made *monitor) {
    const struct commands_verdict *verdict = &proposed->verdict;
    double waited_ns = 0, unexplained_ns = 0;
    waiting_of(input, proposed, &waited_ns, &unexplained_ns);
    bool unexplained = unexplained_ns > UNEXPLAINED_SHARE * waited_ns;
    bool found = proposed->pattern || group->items || proposed->statements;
    bool doubtful = proposed->statements ? statements_are_doubtful(proposed->statements)
                                         : group->items && guard_is_doubtful(group->items);
    monitor->how = unexplained || doubtful ? MODELLED_BY_FALLBACK
                   : found                 ? MODELLED_EXACTLY
                                           : MODELLED_NOT;
    monitor->why = memory_strdup(
        proposed->statements && proposed->proposal->statements
            ? "by the user's word its statements are simulated"
        : proposed->statements
            ? "no counter or pattern that the model knows: its statements are simulated"
        : unexplained ? "proposed by the source; its waits follow no counter and no pattern that "
                        "the model knows"
        : doubtful    ? "proposed by the source; a counter tells most of its waits, not all"
        : found || is_confirmed(verdict)
            ? "proposed by the source, confirmed by the trace"
            : "proposed by the source; nobody waited for it in the traced run");
    if (!found || proposed->statements) {
        monitor->replayed = verdict->decisions;
        monitor->violations = verdict->violations;
    }
    if (!found && verdict->decisions == 0)
        monitor->confidence = waited_ns > 0 ? UNCONFIRMED : UNWAITED;
}

static void write_proposed(const struct stream_input *input, const struct proposed *proposed,
                           struct model *model) {
    struct group group = group_of(input, proposed);
    struct hand_made monitor = {.kind = kind_of_proposed(input, proposed, &group)};
    monitor.name = name_of(input, proposed->mutex, proposed->proposal, monitor.kind);
    if (proposed->pattern)
        write_replayed(input, proposed->pattern, model, true, &monitor);
    if (group.items)
        write_found(input, &group, &monitor);
    for (size_t i = 0; i < proposed->guards.count; i++)
        add_part(&monitor, proposed->guards.items[i]->object);
    if (proposed->statements)
        add_part(&monitor, proposed->statements->object);
    write_verdict(input, proposed, &monitor);
    write_proposed_operations(input, proposed, &group, &monitor);
    write_proposed_amount(input, proposed->proposal, &group, model, &monitor);
    write_trust(input, proposed, &group, &monitor);
    free(group.rooms);
    add_monitor(model, monitor);
}

/* ---- command slots ---- */

/* What the records on the slots say; those that stand for the creator's own part of the work do not
 * count. */
static void write_slot_records(const struct stream_input *input, uint64_t address, double *waited,
                               struct hand_made *monitor) {
    const struct trace *trace = input->trace;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        bool is_part = thread->creator >= 0 && trace->threads[thread->creator].tid == thread->tid;
        for (size_t r = 0; r < thread->n_records && !is_part; r++) {
            const struct trace_record *record = &thread->records[r];
            enum api_op op = api_catalog[record->api].op;
            if (record->object != address || record->context == TRACE_NO_CONTEXT ||
                (op != OP_PUT && op != OP_GET && op != OP_ACQUIRE))
                continue;
            enum hand_made_role as = op == OP_PUT ? AS_SUBMIT : op == OP_GET ? AS_RUN : AS_WAIT;
            add_operation(monitor, as, trace->contexts[record->context].frames[0].function);
            monitor->replayed += op != OP_PUT;
            *waited += op != OP_PUT && record->duration_ns > 0;
        }
    }
}

static int object_named(const struct model *model, const char *name) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (strcmp(model->objects[o].name, name) == 0)
            return (int)o;
    return MODEL_NONE;
}

/* The threads with their slots are a pool that carries out commands. */
static void write_slots(const struct stream_input *input, struct model *model) {
    const struct sections *sections = input->sections;
    for (size_t o = 0; o < sections->n_objects; o++) {
        if (!slots_are_object(sections->objects[o].address) ||
            sections->objects[o].kind != ON_ITEMS)
            continue;
        struct hand_made monitor = {.kind = HAND_MADE_THREAD_POOL, .how = MODELLED_EXACTLY};
        double waited = 0;
        monitor.name =
            name_of_object(input, (int)o, hand_made_kind_name(HAND_MADE_THREAD_POOL), NULL);
        write_slot_records(input, sections->objects[o].address, &waited, &monitor);
        monitor.confidence = confidence_of(monitor.replayed, waited, 0, false);
        for (size_t other = 0; other < sections->n_objects; other++) {
            if (sections->objects[other].address != sections->objects[o].address)
                continue;
            const char *what = other == o ? "queue" : "completion";
            char *name = name_of_object(input, (int)other, what, NULL);
            add_part(&monitor, object_named(model, name));
            free(name);
        }
        monitor.why = memory_strdup(
            "each thread has a mutex of its own, under which its creator leaves it a command and "
            "waits until it is done; the traced run followed that step by step");
        add_monitor(model, monitor);
    }
}

/* ---- all of them ---- */

/* Of two sides, the one with nothing there at the start is the items. */
static void write_with_other_sides(const struct stream_input *input, size_t first, bool *done,
                                   struct model *model) {
    const struct monitors *monitors = input->monitors;
    struct group group = {.items = &monitors->guards[first],
                          .rooms = memory_alloc(monitors->n_guards, sizeof(struct guard *))};
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

void hand_made_write(const struct stream_input *input, struct model *model) {
    const struct monitors *monitors = input->monitors;
    bool *guard_done = memory_alloc(monitors->n_guards, sizeof *guard_done);
    bool *pattern_done = memory_alloc(monitors->n_patterns, sizeof *pattern_done);
    struct proposed_list list = {0};
    for (size_t o = 0; o < input->sections->n_objects; o++) {
        const struct sync_object *object = &input->sections->objects[o];
        if (object->kind != ON_MUTEX || object->class_id != (int)o)
            continue;
        size_t first = list.count;
        find_proposed(input, (int)o, &list);
        join_carried_out(input, &list, first);
        share_findings(input, &list, first, guard_done, pattern_done);
        join_all_sides(input, &list, first);
    }
    for (size_t i = 0; i < list.count; i++) {
        if (!list.items[i].is_part)
            write_proposed(input, &list.items[i], model);
        free(list.items[i].guards.items);
    }
    free(list.items);
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (!pattern_done[p])
            write_pattern(input, &monitors->patterns[p], model);
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (!guard_done[g] && monitors->guards[g].kind != GUARD_FIRST)
            write_with_other_sides(input, g, guard_done, model);
    write_slots(input, model);
    free(guard_done);
    free(pattern_done);
}
