#include "modelgen/lower/lower_sections.h"

#include "modelgen/lower/object_selection.h"
#include "modelgen/sync/monitor.h"

/* Does a section that acts so draw a number, when it begins or at its end? If it also waits for a
 * turn, that of the number that it has drawn. */
static bool draws(const struct explanation *pattern, unsigned acts, bool at_end) {
    if (pattern->pattern.in_steps)
        return !at_end && (acts & ACT_DRAW);
    if (pattern->pattern.draws_when_passing)
        return at_end && (acts & ACT_PASS);
    return (acts & ACT_DRAW) && at_end == !(acts & ACT_TURN);
}

/* What a piece of work of equal steps is about to go through says what the thread does next. */
static void follow_phase(struct writer *writer, const struct explanation *pattern,
                         enum node_kind kind) {
    if (!pattern_has_pieces(&pattern->pattern))
        return;
    if (kind == NODE_DRAW)
        writer->phase = 1;
    else if (kind == NODE_ADVANCE)
        writer->phase++;
    else if (kind == NODE_PASS)
        writer->phase = 0;
}

/* What a section does with its pattern's object when it begins, its waits included; and when it
 * ends. */
static void write_pattern(struct writer *writer, size_t record, int section_index, int mutex,
                          bool at_end, uint64_t start) {
    static const struct {
        enum pattern_act act;
        enum node_kind kind;
        bool at_end;
    } nodes[] = {{ACT_DRAW, NODE_DRAW, false},      {ACT_ARRIVE, NODE_BARRIER, false},
                 {ACT_READ, NODE_RDLOCK, false},    {ACT_WRITE, NODE_WRLOCK, false},
                 {ACT_TURN, NODE_TURN, false},      {ACT_COLLECT, NODE_COLLECT, false},
                 {ACT_UNLOCK, NODE_RWUNLOCK, true}, {ACT_ADVANCE, NODE_ADVANCE, true},
                 {ACT_PASS, NODE_PASS, true},       {ACT_DRAW, NODE_DRAW, true}};
    const struct sections *sections = writer->in->sections;
    const struct section *section = &sections->sections[section_index];
    uint64_t end = at_end ? start : section_passed_ns(sections, section);
    for (struct explanation *pattern = NULL;
         (pattern = explanation_next(writer->in->monitors, BY_PATTERN, pattern));) {
        for (size_t n = 0; n < sizeof nodes / sizeof *nodes; n++) {
            bool does = pattern->pattern.acts[section_index] & nodes[n].act;
            if (nodes[n].act == ACT_DRAW)
                does = draws(pattern, pattern->pattern.acts[section_index], at_end);
            if (!does || nodes[n].at_end != at_end)
                continue;
            int object = objects_pattern(writer, pattern);
            uint64_t until = nodes[n].kind == NODE_DRAW ? start : end;
            struct step *step = writer_add_step(writer, nodes[n].kind, record, start, until);
            step->use.object = object;
            if (!at_end && nodes[n].kind != NODE_DRAW)
                step->use.mutex = mutex;
            if (pattern->pattern.in_groups && nodes[n].kind == NODE_TURN)
                step->outcome =
                    pattern->pattern.acts[section_index] & ACT_LED ? OUTCOME_NO : OUTCOME_YES;
            follow_phase(writer, pattern, nodes[n].kind);
        }
    }
}

void lower_sections_first_draws(struct writer *writer, uint64_t time_ns) {
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    for (struct explanation *pattern = NULL;
         (pattern = explanation_next(writer->in->monitors, BY_PATTERN, pattern));) {
        if (!pattern->pattern.draws_when_passing ||
            pattern_first(writer->in->monitors, &pattern->pattern, writer->thread, ACT_PASS) ==
                PATTERN_NO_SECTION)
            continue;
        int object = objects_pattern(writer, pattern);
        if (writer->model->objects[object].dealt_to == MODEL_NONE)
            writer_add_step(writer, NODE_DRAW, none, time_ns, time_ns)->use.object = object;
    }
}

void lower_sections_draws_after(struct writer *writer, size_t index,
                                const struct trace_record *record) {
    uint64_t end = trace_end_ns(record);
    if (poison_pills_of_call(&writer->poison_pills, writer->thread, index) == POISON_PILL_TAKEN)
        return;
    for (struct explanation *pattern = NULL;
         (pattern = explanation_next(writer->in->monitors, BY_PATTERN, pattern));) {
        const struct trace_record *like = pattern->pattern.drawn_after;
        if (!like || like->api != record->api ||
            writer_place(writer, like) != writer_place(writer, record))
            continue;
        int object = objects_pattern(writer, pattern);
        writer_add_step(writer, NODE_DRAW, index, end, end)->use.object = object;
    }
}

static struct step_amount amount_taken(const struct writer *writer, const struct explanation *guard,
                                       int section_index) {
    bool several = guard->counter.take > 1;
    return (struct step_amount){
        .count = guard->counter.units ? guard->counter.units[section_index]
                 : several            ? guard->counter.take
                                      : 0,
        .in_units = guard->counter.units,
        .count_per_thread =
            several && objects_pool_of_amount(writer, guard, guard->counter.take) != MODEL_NONE};
}

static void write_takes(struct writer *writer, size_t record, int section_index, int mutex) {
    const struct sections *sections = writer->in->sections;
    const struct section *section = &sections->sections[section_index];
    struct monitors *monitors = writer->in->monitors;
    int class_index = monitors->class_of[section_index];
    uint64_t end = section_passed_ns(sections, section);
    if (poison_pills_puts(&writer->poison_pills, (size_t)section_index))
        return; /* it takes no slot */
    const struct trace_record *lock = &writer->in->trace->threads[writer->thread].records[record];
    uint64_t start = mutex == MODEL_NONE ? lock->start_ns : section->acquire_ns;
    for (struct explanation *guard = NULL;
         (guard = explanation_next(monitors, BY_COUNTER, guard));) {
        size_t g = explanation_index(monitors, guard);
        enum outcome outcome = guard->counter.outcome[section_index];
        if (!guard->counter.waits[class_index] || outcome == OUTCOME_ANY)
            continue;
        if (poison_pills_of(&writer->poison_pills, g, (size_t)section_index) == POISON_PILL_TAKEN)
            outcome = OUTCOME_NO;
        enum node_kind kind = guard->counter.kind == GUARD_QUEUE ? NODE_GET : NODE_ACQUIRE;
        int object = objects_guard(writer, guard);
        struct step *step = writer_add_step(writer, kind, record, start, end);
        step->use.object = object;
        step->use.mutex = mutex;
        step->outcome = outcome;
        step->use.timeout_ns = guard->counter.tries ? 0 : -1;
        step->use.amount = amount_taken(writer, guard, section_index);
        if (guard->counter.tries && guard->counter.kind != GUARD_FIRST) {
            writer->retrying = outcome == OUTCOME_NO;
            writer->succeeded = outcome == OUTCOME_YES;
        }
        if (writer->n_open > 0)
            writer->open[writer->n_open - 1].answer = outcome;
        if (guard->counter.kind == GUARD_QUEUE)
            writer_mark_task(writer, record, end, step);
        if (guard->counter.kind == GUARD_LEVEL && outcome == OUTCOME_YES) {
            struct step *back = writer_add_step(writer, NODE_RELEASE, record, end, end);
            back->use.object = object;
        }
    }
}

/* Does it take back what a round's threads have added, one each, before the next round? The guard's
 * object is there. */
static bool takes_all_back(const struct writer *writer, const struct explanation *guard,
                           int weight) {
    return guard->counter.kind == GUARD_LEVEL && weight < -1 &&
           weight == guard->counter.initial - 1 &&
           writer->model->objects[guard->object].amount.n_terms > 0;
}

/* What a section of the weight puts, takes or releases of the guard's object, which is there. */
static struct step_amount amount_changed(const struct writer *writer, size_t g, enum node_kind kind,
                                         int weight) {
    const struct explanation *guard = &writer->in->monitors->explanations.items[g];
    enum scatter scatter = kind == NODE_PUT ? writer->scatter[g] : SCATTER_NONE;
    return (struct step_amount){.count = kind == NODE_RELEASE || weight > 1 ? weight : 0,
                                .in_units = guard->counter.units,
                                .count_per_thread =
                                    scatter || takes_all_back(writer, guard, weight),
                                .for_others = scatter == SCATTER_FOR_OTHERS,
                                .settles = kind == NODE_PUT && writer->succeeded};
}

/* `early`: what the section changes before it waits, else what it has changed when it ends. */
static void write_effects(struct writer *writer, size_t record, int section_index,
                          enum outcome answer, bool early, uint64_t time) {
    struct monitors *monitors = writer->in->monitors;
    int class_index = monitors->class_of[section_index];
    for (struct explanation *guard = NULL;
         (guard = explanation_next(monitors, BY_COUNTER, guard));) {
        size_t g = explanation_index(monitors, guard);
        int weight = guard->counter.weight[class_index];
        enum poison_pill poison_pill =
            poison_pills_of(&writer->poison_pills, g, (size_t)section_index);
        bool closes = guard->counter.close_class == class_index || poison_pill == POISON_PILL_FIRST;
        if (poison_pill == POISON_PILL_OTHER || guard->counter.early[class_index] != early ||
            (closes && writer->self_feeding[g] > 0))
            continue;
        if (!closes && (weight == 0 || guard->counter.waits[class_index] || answer == OUTCOME_NO))
            continue;
        if (weight < 0 && poison_pills_puts(&writer->poison_pills, (size_t)section_index))
            continue; /* it takes no slot */
        enum node_kind kind = closes                               ? NODE_CLOSE
                              : guard->counter.kind != GUARD_QUEUE ? NODE_RELEASE
                              : weight > 0                         ? NODE_PUT
                                           : NODE_GET; /* what is known to be there */
        int object = objects_guard(writer, guard);
        /* A task is born when it is put where the busiest pool takes it. */
        bool born = kind == NODE_PUT && writer->feeds_tasks[g] && !writer_does_tasks(writer);
        if (born)
            writer_add_step(writer, NODE_TASK_BEGIN, record, time, time);
        struct step *step = writer_add_step(writer, kind, record, time, time);
        step->use.object = object;
        if (kind != NODE_CLOSE)
            step->use.amount = amount_changed(writer, g, kind, weight);
        if (kind == NODE_PUT)
            writer->succeeded = false;
        if (kind == NODE_GET) {
            int mutex = writer->in->sections->sections[section_index].mutex;
            step->outcome = poison_pill == POISON_PILL_TAKEN ? OUTCOME_NO : OUTCOME_YES;
            step->use.mutex = objects_lock(writer, mutex); /* elsewhere it may have to wait */
            if (poison_pill == POISON_PILL_TAKEN && writer->n_open > 0)
                writer->open[writer->n_open - 1].answer = OUTCOME_NO; /* what follows differs */
        }
    }
}

/* What a section does by its monitor's statements: all of it where it may have to wait; else where
 * it first signals, or ends. Its place is that of the lock, however the section ends. */
static void write_statements(struct writer *writer, size_t record, int section_index, bool at_lock,
                             uint64_t time) {
    const struct sections *sections = writer->in->sections;
    const struct section *section = &sections->sections[section_index];
    struct explanation *statements = statements_of(writer->in->monitors, section->mutex);
    int index = statements ? statements->statements.section_of[section_index] : MODEL_NONE;
    if (index == MODEL_NONE || statements_wait(&statements->proposal->sections[index]) != at_lock)
        return;
    const struct trace_record *lock =
        &writer->in->trace->threads[writer->thread].records[section->lock_record];
    uint64_t end = at_lock ? section_passed_ns(sections, section) : time;
    int object = objects_statements(writer, statements),
        mutex = objects_lock(writer, section->mutex);
    struct step *step = writer_add_step(writer, NODE_STATEMENTS, record, time, end);
    step->context = writer_place(writer, lock);
    step->use.object = object;
    step->use.mutex = mutex;
    step->use.section = statements->statements.number[index];
    step->outcome = statements->statements.outcome[section_index];
    for (int at = writer->n_open - 1; at >= 0; at--)
        if (writer->open[at].section == section_index)
            writer->open[at].answer = step->outcome;
    if (at_lock && statements->statements.answer[index] != MODEL_NONE)
        writer_mark_task(writer, record, end, step);
}

void lower_sections_begin(struct writer *writer, size_t record, int section, int mutex) {
    uint64_t acquire_ns = writer->in->sections->sections[section].acquire_ns;
    write_effects(writer, record, section, OUTCOME_ANY, true, acquire_ns);
    write_pattern(writer, record, section, mutex, false, acquire_ns);
    write_takes(writer, record, section, mutex);
    write_statements(writer, record, section, true, acquire_ns);
}

void lower_sections_end(struct writer *writer, size_t record, int section, enum outcome answer,
                        uint64_t time_ns) {
    size_t unlock = writer->in->sections->sections[section].unlock_record;
    write_statements(writer, record, section, false, time_ns);
    write_effects(writer, unlock, section, answer, false, time_ns);
    write_pattern(writer, unlock, section, MODEL_NONE, true, time_ns);
}
