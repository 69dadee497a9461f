#include "modelgen/graph/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/draft.h"
#include "modelgen/graph/objects.h"
#include "modelgen/graph/shares.h"
#include "modelgen/graph/work.h"
#include "modelgen/graph/writer.h"
#include "modelgen/monitors/patterns.h"
#include "modelgen/monitors/statements.h"
#include "modelgen/pools/slots.h"
#include "modelgen/scaling/source.h"

#define EVERYBODY 1e9 /* how many waiters a broadcast wakes */

static double ns(uint64_t value) {
    return (double)value;
}

/* Key of a call site. */
static uint64_t site_of(const struct trace_record *record) {
    return map_mix(map_mix(7, record->context), record->api);
}

/* Does the call read or write, whatever? */
static bool moves_data(const struct api_info *info) {
    return info->api_class == CLASS_IO || info->api_class == CLASS_IN ||
           info->api_class == CLASS_OUT;
}

/* ---- writing steps ---- */

static struct step *add_step(struct writer *writer, enum node_kind kind, size_t record,
                             uint64_t start_ns, uint64_t end_ns) {
    const struct trace_thread *thread = &writer->in->trace->threads[writer->thread];
    bool has_record = record < thread->n_records;
    struct step *step = VECTOR_ADD(&writer->list);
    *step = (struct step){.start_ns = start_ns,
                          .end_ns = end_ns,
                          .kind = kind,
                          .object = MODEL_NONE,
                          .mutex = MODEL_NONE,
                          .target_pool = MODEL_NONE,
                          .timeout_ns = -1,
                          .context = has_record ? writer_place(writer, &thread->records[record])
                                                : TRACE_NO_CONTEXT};
    step->retrying = writer->retrying;
    step->held = writer->held;
    if (writer->n_open > 0)
        step->within = writer->open[writer->n_open - 1].answer;
    if (has_record && record + 1 > writer->last_step_record) {
        step->records = record + 1 - writer->last_step_record;
        writer->last_step_record = record + 1;
    }
    return step;
}

static double cpu_inside(const struct writer *writer, uint64_t start_ns, uint64_t end_ns) {
    const struct timeline *timeline = &writer->in->timelines[writer->thread];
    return timeline_cpu(timeline, end_ns) - timeline_cpu(timeline, start_ns);
}

static double blocked_inside(const struct writer *writer, const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    double blocked = ns(record->duration_ns) - cpu_inside(writer, record->start_ns, end) -
                     timeline_ready(&writer->in->timelines[writer->thread], record->start_ns, end);
    return blocked > 0 ? blocked : 0;
}

/* Is the thread of the pool whose tasks are counted? */
static bool does_tasks(const struct writer *writer) {
    return writer->in->pools->pool_of[writer->thread] == writer->task_pool;
}

/* Marks the end of the task before, and the beginning of the next one. */
static void mark_task(struct writer *writer, size_t record, uint64_t time_ns,
                      const struct step *take) {
    if (!does_tasks(writer))
        return;
    bool tokens = take->kind == NODE_ACQUIRE || take->kind == NODE_STATEMENTS;
    enum outcome outcome = take->outcome;
    if (writer->in_task) {
        /* goes before the taking step, which was just written */
        struct step taken = writer->list.items[writer->list.count - 1];
        struct step *end = &writer->list.items[writer->list.count - 1];
        end->kind = NODE_TASK_END;
        end->object = end->mutex = MODEL_NONE;
        end->end_ns = end->start_ns;
        end->outcome = end->within = OUTCOME_ANY;
        end->count = 0;
        end->timeout_ns = -1;
        taken.records = 0;
        *VECTOR_ADD(&writer->list) = taken;
    }
    writer->in_task = outcome == OUTCOME_YES;
    if (writer->in_task && tokens)
        add_step(writer, NODE_TASK_BEGIN, record, time_ns, time_ns);
}

/* Does a section that acts so draw a number, when it begins or at its end? If it also waits for a
 * turn, that of the number that it has drawn. */
static bool draws(const struct pattern *pattern, unsigned acts, bool at_end) {
    if (pattern->in_steps)
        return !at_end && (acts & ACT_DRAW);
    if (pattern->draws_when_passing)
        return at_end && (acts & ACT_PASS);
    return (acts & ACT_DRAW) && at_end == !(acts & ACT_TURN);
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
    for (size_t p = 0; p < writer->in->monitors->n_patterns; p++) {
        struct pattern *pattern = &writer->in->monitors->patterns[p];
        for (size_t n = 0; n < sizeof nodes / sizeof *nodes; n++) {
            bool does = pattern->acts[section_index] & nodes[n].act;
            if (nodes[n].act == ACT_DRAW)
                does = draws(pattern, pattern->acts[section_index], at_end);
            if (!does || nodes[n].at_end != at_end)
                continue;
            int object = objects_pattern(writer, pattern);
            uint64_t until = nodes[n].kind == NODE_DRAW ? start : end;
            struct step *step = add_step(writer, nodes[n].kind, record, start, until);
            step->object = object;
            if (!at_end && nodes[n].kind != NODE_DRAW)
                step->mutex = mutex;
        }
    }
}

/* Threads that take part in turns from their start, and do not hold a number already. */
static void write_first_draws(struct writer *writer, uint64_t time_ns) {
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    for (size_t p = 0; p < writer->in->monitors->n_patterns; p++) {
        struct pattern *pattern = &writer->in->monitors->patterns[p];
        if (!pattern->draws_when_passing ||
            pattern_first(writer->in->monitors, pattern, writer->thread, ACT_PASS) ==
                PATTERN_NO_SECTION)
            continue;
        int object = objects_pattern(writer, pattern);
        if (writer->model->objects[object].dealt_to == MODEL_NONE)
            add_step(writer, NODE_DRAW, none, time_ns, time_ns)->object = object;
    }
}

/* Threads that draw a number when they take their work from elsewhere. */
static void write_draws_after(struct writer *writer, size_t index,
                              const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    for (size_t p = 0; p < writer->in->monitors->n_patterns; p++) {
        struct pattern *pattern = &writer->in->monitors->patterns[p];
        const struct trace_record *like = pattern->drawn_after;
        if (!like || like->api != record->api ||
            writer_place(writer, like) != writer_place(writer, record))
            continue;
        int object = objects_pattern(writer, pattern);
        add_step(writer, NODE_DRAW, index, end, end)->object = object;
    }
}

static void write_takes(struct writer *writer, size_t record, int section_index, int mutex) {
    const struct sections *sections = writer->in->sections;
    const struct section *section = &sections->sections[section_index];
    struct monitors *monitors = writer->in->monitors;
    int class_index = monitors->class_of[section_index];
    uint64_t end = section_passed_ns(sections, section);
    if (farewells_puts(&writer->farewells, (size_t)section_index))
        return; /* it takes no slot */
    const struct trace_record *lock = &writer->in->trace->threads[writer->thread].records[record];
    uint64_t start = mutex == MODEL_NONE ? lock->start_ns : section->acquire_ns;
    for (size_t g = 0; g < monitors->n_guards; g++) {
        struct guard *guard = &monitors->guards[g];
        enum outcome outcome = guard->outcome[section_index];
        if (!guard->waits[class_index] || outcome == OUTCOME_ANY)
            continue;
        if (farewells_of(&writer->farewells, g, (size_t)section_index) == FAREWELL_TAKEN)
            outcome = OUTCOME_NO;
        enum node_kind kind = guard->kind == GUARD_QUEUE ? NODE_GET : NODE_ACQUIRE;
        int object = objects_guard(writer, guard);
        struct step *step = add_step(writer, kind, record, start, end);
        step->object = object;
        step->mutex = mutex;
        step->outcome = outcome;
        step->timeout_ns = guard->tries ? 0 : -1;
        step->count = guard->take > 1 ? guard->take : 0;
        step->count_per_thread =
            guard->take > 1 && objects_pool_of_amount(writer, guard, guard->take) != MODEL_NONE;
        if (guard->tries && guard->kind != GUARD_FIRST) {
            writer->retrying = outcome == OUTCOME_NO;
            writer->succeeded = outcome == OUTCOME_YES;
        }
        if (writer->n_open > 0)
            writer->open[writer->n_open - 1].answer = outcome;
        if (guard->kind == GUARD_QUEUE)
            mark_task(writer, record, end, step);
        if (guard->kind == GUARD_LEVEL && outcome == OUTCOME_YES) {
            struct step *back = add_step(writer, NODE_RELEASE, record, end, end);
            back->object = object;
        }
    }
}

/* `early`: what the section changes before it waits, else what it has changed when it ends. */
static void write_effects(struct writer *writer, size_t record, int section_index,
                          enum outcome answer, bool early, uint64_t time) {
    struct monitors *monitors = writer->in->monitors;
    int class_index = monitors->class_of[section_index];
    for (size_t g = 0; g < monitors->n_guards; g++) {
        struct guard *guard = &monitors->guards[g];
        int weight = guard->weight[class_index];
        enum farewell farewell = farewells_of(&writer->farewells, g, (size_t)section_index);
        bool closes = guard->close_class == class_index || farewell == FAREWELL_FIRST;
        if (farewell == FAREWELL_OTHER || guard->early[class_index] != early ||
            (closes && writer->refills[g] > 0))
            continue;
        if (!closes && (weight == 0 || guard->waits[class_index] || answer == OUTCOME_NO))
            continue;
        if (weight < 0 && farewells_puts(&writer->farewells, (size_t)section_index))
            continue; /* it takes no slot */
        enum node_kind kind = closes                       ? NODE_CLOSE
                              : guard->kind != GUARD_QUEUE ? NODE_RELEASE
                              : weight > 0                 ? NODE_PUT
                                           : NODE_GET; /* what is known to be there */
        int object = objects_guard(writer, guard);
        /* A task is born when it is put where the busiest pool takes it. */
        bool born = kind == NODE_PUT && writer->feeds_tasks[g] && !does_tasks(writer);
        if (born)
            add_step(writer, NODE_TASK_BEGIN, record, time, time);
        struct step *step = add_step(writer, kind, record, time, time);
        step->object = object;
        step->count = kind == NODE_RELEASE || weight > 1 ? weight : 0;
        if (kind == NODE_PUT) {
            step->settles = writer->succeeded;
            writer->succeeded = false;
        }
        if (kind == NODE_GET) {
            int mutex = writer->in->sections->sections[section_index].mutex;
            step->outcome = farewell == FAREWELL_TAKEN ? OUTCOME_NO : OUTCOME_YES;
            step->mutex = objects_lock(writer, mutex); /* elsewhere it may have to wait */
            if (farewell == FAREWELL_TAKEN && writer->n_open > 0)
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
    struct statements *statements = statements_of(writer->in->monitors, section->mutex);
    int index = statements ? statements->section_of[section_index] : MODEL_NONE;
    if (index == MODEL_NONE || statements_wait(&statements->proposal->sections[index]) != at_lock)
        return;
    const struct trace_record *lock =
        &writer->in->trace->threads[writer->thread].records[section->lock_record];
    uint64_t end = at_lock ? section_passed_ns(sections, section) : time;
    int object = objects_statements(writer, statements),
        mutex = objects_lock(writer, section->mutex);
    struct step *step = add_step(writer, NODE_STATEMENTS, record, time, end);
    step->context = writer_place(writer, lock);
    step->object = object;
    step->mutex = mutex;
    step->section = statements->number[index];
    step->outcome = statements->outcome[section_index];
    for (int at = writer->n_open - 1; at >= 0; at--)
        if (writer->open[at].section == section_index)
            writer->open[at].answer = step->outcome;
    if (at_lock && statements->answer[index] != MODEL_NONE)
        mark_task(writer, record, end, step);
}

/* ---- loops whose rounds all threads share ---- */

static void write_attempt_at_work(struct writer *writer, size_t record, uint64_t time_ns, int loop,
                                  bool succeeds) {
    struct step *step = add_step(writer, NODE_ACQUIRE, record, time_ns, time_ns);
    step->object = writer->work_of_loop[loop];
    step->timeout_ns = 0;
    step->outcome = succeeds ? OUTCOME_YES : OUTCOME_NO;
    mark_task(writer, record, time_ns, step);
}

static void write_work_decision(struct writer *writer, size_t record, uint64_t time_ns) {
    int loop = writer->pending_work;
    writer->pending_work = -1;
    bool again = work_goes_on(writer, writer->thread, record, &writer->in->facts->loops[loop],
                              writer->header_of_loop[loop]);
    write_attempt_at_work(writer, record, time_ns, loop, again);
}

/* Where a loop is entered for each new supply, the first attempt comes before it. */
static void write_entrance(struct writer *writer, size_t index, const struct trace_record *record) {
    int loop = work_entered_after(writer, record);
    if (loop >= 0)
        write_attempt_at_work(writer, index, record->start_ns + record->duration_ns, loop,
                              work_is_inside(writer, index + 1, loop));
}

/* Where every round is work, the decision on the next one follows it. */
static void write_decision_after_work(struct writer *writer, size_t record) {
    int loop = writer->pending_work;
    const struct trace_record *last = &writer->in->trace->threads[writer->thread].records[record];
    if (loop >= 0 && writer->works_at_last[loop] && writer->n_open == 0 &&
        work_ends_round(writer, record, loop))
        write_work_decision(writer, record, last->start_ns + last->duration_ns);
}

/* ---- one record ---- */

static void begin_round(struct writer *writer, const struct trace_record *record) {
    int loop = work_decided_by(writer, writer_place(writer, record));
    writer->pending_work = loop;
    if (loop < 0 || !writer->works_at_last[loop] || writer->in_task || !does_tasks(writer))
        return;
    writer->in_task = true; /* the first one, which no decision begins: it has a node of its own */
    uint64_t begin = writer->list.items[writer->list.count - 1].end_ns;
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    add_step(writer, NODE_TASK_BEGIN, none, begin, begin);
}

/* The whole of a section that only puts a farewell where work is put. True: it was one. */
static bool write_farewell(struct writer *writer, size_t record, int section) {
    int g = section < 0 ? -1 : farewells_in_passing(&writer->farewells, (size_t)section);
    if (g >= 0 && farewells_of(&writer->farewells, (size_t)g, (size_t)section) == FAREWELL_FIRST) {
        uint64_t time_ns = writer->in->sections->sections[section].acquire_ns;
        int object = objects_guard(writer, &writer->in->monitors->guards[g]);
        add_step(writer, NODE_CLOSE, record, time_ns, time_ns)->object = object;
    }
    return g >= 0;
}

/* Takes or gives back: which of the locks that are alike a thread holds tells its steps apart. */
static void hold_instance(struct writer *writer, int section, int sync_object) {
    if (section >= 0 && writer->is_instance[sync_object])
        writer->held ^= map_mix(17, (uint64_t)sync_object);
}

static void write_lock(struct writer *writer, size_t index, const struct trace_record *record,
                       int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    int mutex = objects_lock(writer, sync_object);
    uint64_t end = record->start_ns + record->duration_ns;
    bool failed = record->flags & TRACE_FAILED;
    int section = writer->in->sections->section_of_lock[writer->thread][index];
    if (write_farewell(writer, index, section))
        return;
    if (section >= 0 && writer->pending_work < 0)
        begin_round(writer, record);
    if (mutex != MODEL_NONE) {
        struct step *step = add_step(writer, NODE_LOCK, index, record->start_ns, end);
        step->object = mutex;
        step->timeout_ns = info->op == OP_TRYLOCK ? 0 : -1;
        step->outcome = failed ? OUTCOME_NO : info->op == OP_TRYLOCK ? OUTCOME_YES : OUTCOME_ANY;
    }
    if (section < 0)
        return;
    hold_instance(writer, section, sync_object);
    if (writer->n_open < OPEN_LIMIT)
        writer->open[writer->n_open++] = (struct open_section){.section = section};
    uint64_t acquire_ns = writer->in->sections->sections[section].acquire_ns;
    write_effects(writer, index, section, OUTCOME_ANY, true, acquire_ns);
    write_pattern(writer, index, section, mutex, false, acquire_ns);
    write_takes(writer, index, section, mutex);
    write_statements(writer, index, section, true, acquire_ns);
}

/* What a section has changed when it ends, at the unlock's place in the code. `record` is where it
 * is told. */
static void write_changes(struct writer *writer, size_t record, int section, enum outcome answer,
                          uint64_t time_ns) {
    size_t unlock = writer->in->sections->sections[section].unlock_record;
    write_statements(writer, record, section, false, time_ns);
    write_effects(writer, unlock, section, answer, false, time_ns);
    write_pattern(writer, unlock, section, MODEL_NONE, true, time_ns);
}

/* Who is woken while the section goes on finds its mutex taken. */
static void write_signal(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct sections *sections = writer->in->sections;
    for (int at = writer->n_open - 1; at >= 0; at--) {
        struct open_section *open = &writer->open[at];
        const struct section *section = &sections->sections[open->section];
        for (size_t i = 0; i < section->n_signals && !open->is_told; i++) {
            size_t signal = sections->signals[section->first_signal + i].record;
            bool waits_later =
                section->n_waits > 0 &&
                signal < sections->waits[section->first_wait + section->n_waits - 1].record;
            if (signal != index || waits_later)
                continue;
            write_changes(writer, index, open->section, open->answer, record->start_ns);
            open->is_told = true;
        }
    }
}

static void write_unlock(struct writer *writer, size_t index, const struct trace_record *record,
                         int sync_object) {
    int section = writer->section_of_unlock[writer->thread][index];
    if (section >= 0 && farewells_in_passing(&writer->farewells, (size_t)section) >= 0)
        return;
    if (section >= 0) {
        int at = writer->n_open - 1;
        while (at >= 0 && writer->open[at].section != section)
            at--;
        if (at < 0 || !writer->open[at].is_told)
            write_changes(writer, index, section, at >= 0 ? writer->open[at].answer : OUTCOME_ANY,
                          record->start_ns);
    }
    int mutex = objects_lock(writer, sync_object);
    hold_instance(writer, section, sync_object);
    if (mutex != MODEL_NONE) {
        struct step *step =
            add_step(writer, NODE_UNLOCK, index, record->start_ns, record->start_ns);
        step->object = mutex;
    }
    for (int at = writer->n_open - 1; section >= 0 && at >= 0; at--)
        if (writer->open[at].section == section) {
            memmove(&writer->open[at], &writer->open[at + 1],
                    (size_t)(writer->n_open - at - 1) * sizeof *writer->open);
            writer->n_open--;
            break;
        }
    if (writer->pending_work >= 0 && writer->n_open == 0 &&
        !writer->works_at_last[writer->pending_work])
        write_work_decision(writer, index, record->start_ns);
}

static void write_condition_wait(struct writer *writer, size_t index,
                                 const struct trace_record *record, int condition) {
    uint64_t end = record->start_ns + record->duration_ns;
    if (!writer->is_flag[condition])
        return;
    int section = writer->n_open ? writer->open[writer->n_open - 1].section : -1;
    if (section >= 0 && monitors_explain(writer->in->monitors, (size_t)section))
        return; /* its guard or pattern stands for all its waits */
    if (record->flags & TRACE_TIMEDOUT) {
        struct step *step = add_step(writer, NODE_SLEEP, index, record->start_ns, end);
        step->wait_ns = ns(record->duration_ns);
        return;
    }
    int mutex = section < 0 ? MODEL_NONE
                            : objects_lock(writer, writer->in->sections->sections[section].mutex);
    int flag = objects_flag(writer, condition);
    struct step *step = add_step(writer, NODE_WAIT, index, record->start_ns, end);
    step->object = flag;
    step->mutex = mutex;
}

static size_t thread_by_index(const struct trace *trace, int pid, int index) {
    size_t usual = (size_t)index; /* where a trace of one process has it */
    if (index >= 0 && usual < trace->n_threads && trace->threads[usual].index == index &&
        trace->threads[usual].pid == pid)
        return usual;
    for (size_t t = 0; t < trace->n_threads; t++)
        if (trace->threads[t].index == index && trace->threads[t].pid == pid)
            return t;
    return trace->n_threads;
}

/* The creation that stands for all, at `creation` in the list, has been found to be in a loop: what
 * has been written since then stands just before it as well. It moves before the loop, which then
 * may go round as often as it likes. */
static void move_before_loop(struct writer *writer, size_t creation) {
    struct step *steps = writer->list.items;
    if (creation >= writer->list.count || steps[creation].kind != NODE_CREATE)
        return; /* another thread's */
    size_t n = writer->list.count - creation - 1;
    if (n == 0 || n > creation)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct step *before = &steps[creation - n + i], *after = &steps[creation + 1 + i];
        if (before->kind != after->kind || before->context != after->context)
            return;
    }
    struct step moved = steps[creation];
    memmove(&steps[creation - n + 1], &steps[creation - n], n * sizeof *steps);
    moved.start_ns = moved.end_ns = steps[creation - n + 1].start_ns;
    steps[creation - n] = moved;
}

static bool waits_for(const struct stream_input *in, size_t thread, int object) {
    const struct trace_thread *waiter = &in->trace->threads[thread];
    for (size_t r = 0; r < waiter->n_records; r++) {
        enum api_op op = api_catalog[waiter->records[r].api].op;
        if ((op == OP_WAIT || op == OP_TIMEDWAIT || op == OP_ACQUIRE || op == OP_TIMEDACQUIRE) &&
            sections_object(in->sections, &waiter->records[r]) == object)
            return true;
    }
    return false;
}

/* Do those who are joined later need what the joining thread gives after this first join? Often
 * each thread is told to end and joined before the next one is. */
static bool gives_between_joins(const struct writer *writer, size_t first, int pool) {
    const struct stream_input *in = writer->in;
    const struct trace_thread *joiner = &in->trace->threads[writer->thread];
    int joined = 0;
    bool gives = false, *asked = memory_alloc(in->sections->n_objects, sizeof *asked);
    for (size_t r = first; r < joiner->n_records && joined < in->pools->pools[pool].size; r++) {
        const struct trace_record *record = &joiner->records[r];
        enum api_op op = api_catalog[record->api].op;
        if (op == OP_JOIN) {
            size_t other = thread_by_index(in->trace, joiner->pid, record->value);
            joined += other < in->trace->n_threads && in->pools->pool_of[other] == pool;
        } else if (op == OP_SIGNAL || op == OP_BROADCAST || op == OP_RELEASE) {
            int object = sections_object(in->sections, record);
            bool known = object < 0 || asked[object];
            for (size_t t = 0; !known && !gives && t < in->trace->n_threads; t++)
                gives = in->pools->pool_of[t] == pool && waits_for(in, t, object);
            if (!known)
                asked[object] = true;
        }
    }
    free(asked);
    return gives && joined == in->pools->pools[pool].size;
}

/* The first creation (join) of a generation stands for all of it; the last join, where the first
 * must not wait for all since they still need the joining thread. */
static void write_thread_call(struct writer *writer, size_t index,
                              const struct trace_record *record, enum node_kind kind, int *count) {
    const struct trace *trace = writer->in->trace;
    size_t other = thread_by_index(trace, trace->threads[writer->thread].pid, record->value);
    uint64_t end = record->start_ns + record->duration_ns;
    if (other == trace->n_threads || record->flags & TRACE_FAILED)
        return;
    int pool = writer->in->pools->pool_of[other];
    int size = writer->in->pools->pools[pool].size;
    int number = count[pool]++ % size;
    if (kind == NODE_JOIN && number == 0)
        writer->join_standing[pool] = gives_between_joins(writer, index, pool) ? size - 1 : 0;
    struct step *last = writer->list.count ? &writer->list.items[writer->list.count - 1] : NULL;
    if (number == (kind == NODE_JOIN ? writer->join_standing[pool] : 0)) {
        struct step *step = add_step(writer, kind, index, record->start_ns, end);
        step->target_pool = pool;
        if (kind == NODE_CREATE)
            writer->creation[pool] = writer->list.count - 1;
    } else if (kind == NODE_CREATE && number == 1) {
        move_before_loop(writer, writer->creation[pool]);
    } else if (kind == NODE_JOIN && last && last->kind == kind && last->target_pool == pool) {
        last->end_ns = end;
    }
}

static bool site_is_kept(const struct writer *writer, const struct trace_record *record) {
    return map_get(&writer->kept_sites, site_of(record), 0) != 0;
}

/* Is this call one whose site ever reached a block device? Then every call there is disk I/O, those
 * without requests being cache hits; else it is a wait on something outside. */
static void write_io(struct writer *writer, size_t index, const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    uint32_t device = 0;
    size_t operations =
        disks_requests(writer->in->disks, writer->thread, record->start_ns, end, &device);
    int known = map_get(&writer->device_of_site, site_of(record), -1);
    struct step *step = add_step(writer, NODE_IO, index, record->start_ns, end);
    step->cpu_ns = cpu_inside(writer, record->start_ns, end);
    if (known < 0) {
        step->wait_ns = blocked_inside(writer, record);
        return;
    }
    step->object = objects_disk(writer, operations ? device : (uint32_t)known);
    step->operations = (double)operations;
}

static void write_timed_call(struct writer *writer, size_t index, const struct trace_record *record,
                             enum node_kind kind) {
    if (!site_is_kept(writer, record))
        return;
    if (kind == NODE_IO) {
        write_io(writer, index, record);
        return;
    }
    uint64_t end = record->start_ns + record->duration_ns;
    struct step *step = add_step(writer, kind, index, record->start_ns, end);
    step->wait_ns = blocked_inside(writer, record);
    step->cpu_ns = cpu_inside(writer, record->start_ns, end);
}

/* A call on an object of the model; `try` never waits and tells by its result whether it got it. */
static void write_object_call(struct writer *writer, size_t index,
                              const struct trace_record *record, int object, enum node_kind kind,
                              bool try) {
    if (object == MODEL_NONE)
        return;
    uint64_t end = record->start_ns + record->duration_ns;
    struct step *step = add_step(writer, kind, index, record->start_ns, end);
    step->object = object;
    step->timeout_ns = try ? 0 : -1;
    if (try)
        step->outcome = record->flags & TRACE_FAILED ? OUTCOME_NO : OUTCOME_YES;
}

/* ---- commands that a creator gives and waits for ---- */

/* One more that is outstanding, or one less: the sum is what the creator looks at. */
static void write_command(struct writer *writer, size_t index, const struct trace_record *record,
                          int done) {
    struct trace_record completion = {.api = ROLE_release, .object = record->object};
    int object = sections_object(writer->in->sections, &completion);
    struct step *step = add_step(writer, NODE_RELEASE, index, record->start_ns, record->start_ns);
    step->object = objects_semaphore(writer, object);
    step->count = done;
}

/* Who has waited until all is done leaves it as it was. */
static void write_completion(struct writer *writer, size_t index, const struct trace_record *record,
                             int completion) {
    if (record->value == 0)
        return;
    uint64_t end = record->start_ns + record->duration_ns;
    int object = objects_semaphore(writer, completion);
    add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->object = object;
    add_step(writer, NODE_RELEASE, index, end, end)->object = object;
}

/* True: the record was one of a creator that waits for what it gave, or of a worker that has done
 * it. */
static bool write_slot_call(struct writer *writer, size_t index, const struct trace_record *record,
                            int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object != ON_SEMAPHORE || !slots_are_object(record->object))
        return false;
    if (info->op == OP_ACQUIRE)
        write_completion(writer, index, record, sync_object);
    else
        write_command(writer, index, record, 1);
    return true;
}

/* ---- calls that the user or the source named ---- */

static void write_items(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    const struct poll *poll = items_poll(&writer->items, writer->thread, index);
    enum api_op op = api_catalog[record->api].op;
    bool takes = op == OP_GET || op == OP_TRYGET;
    /* One that never came back: nothing more came, or will come. */
    bool failed = (record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) != 0;
    uint64_t end = record->start_ns + record->duration_ns;
    if (poll && poll->goes_on)
        return; /* part of the wait that the last attempt ends */
    int object = objects_items(writer, sync_object);
    bool born =
        !takes && !failed && writer->items.queues[sync_object].feeds_tasks && !does_tasks(writer);
    if (born)
        add_step(writer, NODE_TASK_BEGIN, index, record->start_ns, record->start_ns);
    if (slots_are_object(record->object) && op == OP_PUT)
        write_command(writer, index, record, -1);
    bool waits = op == OP_PUT || op == OP_GET || poll != NULL;
    struct step *step = add_step(writer, takes ? NODE_GET : NODE_PUT, index,
                                 poll ? poll->start_ns : record->start_ns, end);
    step->object = object;
    step->timeout_ns = waits ? -1 : 0;
    if (op == OP_GET && api_catalog[record->api].timeout_argument >= 0)
        step->timeout_ns = record->value * 1e3;
    step->outcome = failed ? OUTCOME_NO : OUTCOME_YES;
    if (takes)
        mark_task(writer, index, end, step);
}

/* Who waited for the event leaves it as it was. */
static void write_event(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    int event = objects_event(writer, sync_object);
    uint64_t end = record->start_ns + record->duration_ns;
    if (api_catalog[record->api].op == OP_WAIT)
        add_step(writer, NODE_ACQUIRE, index, record->start_ns, end)->object = event;
    else
        end = record->start_ns;
    add_step(writer, NODE_RELEASE, index, end, end)->object = event;
}

/* True: the record was of a kind that only functions of the program's own have. */
static bool write_named_call(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object == ON_EVENT)
        write_event(writer, index, record, sync_object);
    else if (info->object == ON_ITEMS && info->op == OP_CLOSE)
        write_object_call(writer, index, record, objects_items(writer, sync_object), NODE_CLOSE,
                          false);
    else if (info->object == ON_ITEMS && info->op != OP_INIT && info->op != OP_DESTROY)
        write_items(writer, index, record, sync_object);
    return info->object == ON_EVENT || info->object == ON_ITEMS;
}

/* Queues whose consumers give up when the producers are done are closed by whoever knows that. */
static void write_known_close(struct writer *writer, size_t index,
                              const struct trace_record *record) {
    uint64_t end = record->start_ns + record->duration_ns;
    for (size_t q = 0; q < writer->in->sections->n_objects; q++) {
        const struct items_queue *queue = &writer->items.queues[q];
        if (queue->closer_thread == (int)writer->thread && queue->closer_record == index)
            add_step(writer, NODE_CLOSE, index, end, end)->object = objects_items(writer, (int)q);
    }
}

static void write_record(struct writer *writer, size_t index, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    int object = sections_object(writer->in->sections, record);
    uint64_t end = record->start_ns + record->duration_ns;
    if (write_named_call(writer, index, record, object) ||
        write_slot_call(writer, index, record, object))
        return;
    switch (info->op) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
        write_lock(writer, index, record, object);
        break;
    case OP_UNLOCK:
        write_unlock(writer, index, record, object);
        break;
    case OP_WAIT:
    case OP_TIMEDWAIT:
        write_condition_wait(writer, index, record, object);
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        write_signal(writer, index, record);
        if (object >= 0 && writer->is_flag[object]) {
            int flag = objects_flag(writer, object);
            struct step *step =
                add_step(writer, NODE_SIGNAL, index, record->start_ns, record->start_ns);
            step->object = flag;
            step->count = info->op == OP_BROADCAST ? EVERYBODY : 1;
        }
        break;
    case OP_BARRIER: {
        int barrier = objects_barrier(writer, object);
        add_step(writer, NODE_BARRIER, index, record->start_ns, end)->object = barrier;
        break;
    }
    case OP_ACQUIRE:
    case OP_TRYACQUIRE:
    case OP_TIMEDACQUIRE:
        write_object_call(writer, index, record, objects_semaphore(writer, object), NODE_ACQUIRE,
                          info->op == OP_TRYACQUIRE);
        break;
    case OP_RELEASE:
        write_object_call(writer, index, record, objects_semaphore(writer, object), NODE_RELEASE,
                          false);
        break;
    case OP_FORK:
        if (record->value > 0) {
            int share = objects_share(writer, record);
            struct step *step = add_step(writer, NODE_RELEASE, index, record->start_ns, end);
            step->object = share;
            step->count = record->value;
        }
        break;
    case OP_FIRST_TAKE:
    case OP_TAKE:
        write_object_call(writer, index, record, objects_share(writer, record), NODE_ACQUIRE, true);
        break;
    case OP_RDLOCK:
    case OP_TRYRDLOCK:
    case OP_TIMEDRDLOCK:
        write_object_call(writer, index, record, objects_lock(writer, object), NODE_RDLOCK,
                          info->op == OP_TRYRDLOCK);
        break;
    case OP_WRLOCK:
    case OP_TRYWRLOCK:
    case OP_TIMEDWRLOCK:
        write_object_call(writer, index, record, objects_lock(writer, object), NODE_WRLOCK,
                          info->op == OP_TRYWRLOCK);
        break;
    case OP_RWUNLOCK:
        write_object_call(writer, index, record, objects_lock(writer, object), NODE_RWUNLOCK,
                          false);
        break;
    case OP_CREATE:
        write_thread_call(writer, index, record, NODE_CREATE, writer->created);
        break;
    case OP_JOIN:
        write_thread_call(writer, index, record, NODE_JOIN, writer->joined);
        break;
    case OP_SLEEP:
        write_timed_call(writer, index, record, NODE_SLEEP);
        break;
    default:
        if (moves_data(info))
            write_timed_call(writer, index, record, NODE_IO);
        break;
    }
}

/* ---- preparation ---- */

struct blocked_site {
    uint64_t site;
    double blocked_ns; /* all threads together */
};

/* Keeps the call sites that block threads for a noticeable share of the run, and notes the devices
 * that they reached. */
static void choose_sites(struct writer *writer) {
    const struct trace *trace = writer->in->trace;
    struct map number = MAP_EMPTY;
    struct {
        struct blocked_site *items;
        size_t count, capacity;
    } sites = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        writer->thread = t;
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            const struct api_info *info = &api_catalog[record->api];
            if (!moves_data(info) && info->api_class != CLASS_TIME)
                continue;
            uint64_t site = site_of(record);
            int at = map_get(&number, site, -1);
            if (at < 0) {
                at = (int)sites.count;
                map_put(&number, site, at);
                *VECTOR_ADD(&sites) = (struct blocked_site){.site = site};
            }
            assert(sites.items); /* the map knows only what is in the list */
            sites.items[at].blocked_ns += blocked_inside(writer, record);
            uint32_t device;
            if (disks_requests(writer->in->disks, t, record->start_ns,
                               record->start_ns + record->duration_ns, &device))
                map_put(&writer->device_of_site, site, (int)device);
        }
    }
    for (size_t i = 0; i < sites.count; i++)
        if (sites.items[i].blocked_ns > writer->in->insignificant_share * ns(trace->meta.run_ns))
            map_put(&writer->kept_sites, sites.items[i].site, 1);
    map_free(&number);
    free(sites.items);
}

/* Which queues bring the busiest pool its tasks. */
static void find_task_queues(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    const struct monitors *monitors = writer->in->monitors;
    writer->feeds_tasks = memory_alloc(monitors->n_guards, sizeof(bool));
    for (size_t s = 0; s < sections->n_sections; s++) {
        int pool = writer->in->pools->pool_of[sections->sections[s].thread];
        for (size_t g = 0; pool == writer->task_pool && g < monitors->n_guards; g++)
            writer->feeds_tasks[g] |= monitors->guards[g].waits[monitors->class_of[s]];
    }
}

static void prepare(struct writer *writer) {
    const struct stream_input *in = writer->in;
    const struct trace *trace = in->trace;
    const struct sections *sections = in->sections;
    size_t n_loops = in->facts ? in->facts->n_loops : 0;
    writer->object_of = memory_alloc(sections->n_objects, sizeof(int));
    writer->is_shared = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_multiplied = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_flag = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_met_at = memory_alloc(sections->n_objects, sizeof(bool));
    writer->work_of_loop = memory_alloc(n_loops, sizeof(int));
    writer->header_of_loop = memory_alloc(n_loops, sizeof(uint32_t));
    writer->works_at_last = memory_alloc(n_loops, sizeof(bool));
    writer->entrance_of_loop = memory_alloc(n_loops, sizeof *writer->entrance_of_loop);
    writer->created = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->joined = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->join_standing = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->creation = memory_alloc(in->pools->n_pools, sizeof(size_t));
    writer->section_of_unlock = memory_alloc(trace->n_threads, sizeof(int *));
    int *user = memory_alloc(sections->n_objects, sizeof(int));
    for (size_t o = 0; o < sections->n_objects; o++) {
        writer->object_of[o] = UNDECIDED;
        user[o] = -1;
    }
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        writer->life_ns += ns(thread->end_ns - thread->start_ns);
        writer->section_of_unlock[t] = memory_alloc(thread->n_records, sizeof(int));
        for (size_t r = 0; r < thread->n_records; r++) {
            writer->section_of_unlock[t][r] = -1;
            int object = sections_object(sections, &thread->records[r]);
            enum api_op op = api_catalog[thread->records[r].api].op;
            if (object < 0 || op == OP_INIT || op == OP_DESTROY)
                continue;
            writer->is_shared[object] |= user[object] >= 0 && user[object] != (int)t;
            writer->is_multiplied[object] |= in->pools->pools[in->pools->pool_of[t]].scales;
            user[object] = (int)t;
        }
    }
    free(user);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (!section->cut)
            writer->section_of_unlock[section->thread][section->unlock_record] = (int)s;
    }
    for (size_t p = 0; p < in->pools->n_pools; p++)
        if (in->pools->pools[p].cpu_ns > in->pools->pools[writer->task_pool].cpu_ns)
            writer->task_pool = (int)p;
    writer->is_instance = instances_find(sections, writer->life_ns, writer->model);
    writer->items = items_find(trace, sections, in->pools->pool_of, writer->task_pool);
    writer->farewells = farewells_find(in);
    writer->refills = memory_alloc(in->monitors->n_guards + 1, sizeof *writer->refills);
    for (size_t g = 0; g < in->monitors->n_guards; g++)
        writer->refills[g] = refills_total(in, &writer->farewells, g);
    choose_sites(writer);
    objects_find_flags(writer);
    objects_find_meetings(writer);
    find_task_queues(writer);
}

/* A thread that the program's end stopped in the middle of a round, between what it had taken from
 * a queue and the next: it has not left the loop, there was nothing more to be done. The round is
 * taken for the one that finds nothing. */
static void cut_last_round(struct writer *writer) {
    struct step_list *list = &writer->list;
    size_t last = 0, round = 0; /* the last one's first step; steps of the one before */
    for (size_t s = 0; s < list->count; s++)
        if ((list->items[s].kind == NODE_GET || list->items[s].kind == NODE_STATEMENTS) &&
            list->items[s].outcome == OUTCOME_YES) {
            bool again = s > 0 && list->items[last].context == list->items[s].context;
            round = again ? s - last : 0;
            last = s;
        }
    if (list->count - last > round)
        return; /* it had been elsewhere since */
    list->items[last].outcome = OUTCOME_NO;
    for (size_t s = last + 1; s < list->count; s++)
        writer->last_step_record -= list->items[s].records; /* they count for the end */
    list->count = last + 1;
    writer->in_task = false;
}

static void write_thread(struct writer *writer, size_t t) {
    const struct trace_thread *thread = &writer->in->trace->threads[t];
    writer->thread = t;
    writer->held = 0;
    writer->list = (struct step_list){0};
    writer->last_step_record = 0;
    writer->n_open = 0;
    writer->in_task = false;
    writer->retrying = writer->succeeded = false;
    writer->pending_work = -1;
    add_step(writer, NODE_START, thread->n_records, thread->start_ns, thread->start_ns);
    write_first_draws(writer, thread->start_ns);
    for (size_t r = 0; r < thread->n_records; r++) {
        write_record(writer, r, &thread->records[r]);
        write_draws_after(writer, r, &thread->records[r]);
        write_known_close(writer, r, &thread->records[r]);
        write_decision_after_work(writer, r);
        write_entrance(writer, r, &thread->records[r]);
    }
    writer->n_open = 0; /* the program ended in them */
    if (!thread->end_seen && thread->creator >= 0)
        cut_last_round(writer);
    if (writer->in_task)
        add_step(writer, NODE_TASK_END, thread->n_records, thread->end_ns, thread->end_ns);
    struct step *end =
        add_step(writer, NODE_END, thread->n_records, thread->end_ns, thread->end_ns);
    end->records = thread->n_records - writer->last_step_record;
}

/* Does the thread come to the step's place again before it leaves the loop? */
static bool comes_again(const struct trace *trace, const struct stream *stream, size_t step,
                        const struct facts_loop *loop) {
    uint32_t context = stream->steps[step].context;
    for (size_t s = step + 1; s < stream->n_steps; s++) {
        if (!source_context_in_loop(trace, stream->steps[s].context, loop))
            return false;
        if (stream->steps[s].context == context && stream->steps[s - 1].context != context)
            return true;
    }
    return false;
}

/* Which loops are left upon a "no": the last one that a place gives tells. */
static void note_answers(const struct stream_input *input, const struct stream *stream,
                         bool *loop_has_answer) {
    const struct trace *trace = input->trace;
    size_t *last = memory_alloc(trace->n_contexts, sizeof *last); /* step + 1 */
    for (size_t s = 0; s < stream->n_steps; s++)
        if (stream->steps[s].outcome == OUTCOME_NO && stream->steps[s].context != TRACE_NO_CONTEXT)
            last[stream->steps[s].context] = s + 1;
    for (size_t c = 0; input->facts && c < trace->n_contexts; c++)
        for (size_t l = 0; last[c] && l < input->facts->n_loops; l++)
            if (!loop_has_answer[l])
                loop_has_answer[l] =
                    source_context_in_loop(trace, (uint32_t)c, &input->facts->loops[l]) &&
                    !comes_again(trace, stream, last[c] - 1, &input->facts->loops[l]);
    free(last);
}

struct stream_result streams_make(const struct stream_input *input, struct model *model) {
    size_t n_loops = input->facts ? input->facts->n_loops : 0;
    struct stream_result result = {
        .streams = memory_alloc(input->trace->n_threads, sizeof *result.streams),
        .loop_is_tokens = memory_alloc(n_loops, sizeof(bool)),
        .loop_has_answer = memory_alloc(n_loops, sizeof(bool))};
    struct writer writer = {.in = input, .model = model};
    prepare(&writer);
    work_find(&writer, result.loop_is_tokens);
    for (size_t t = 0; t < input->trace->n_threads; t++) {
        write_thread(&writer, t);
        result.streams[t] = (struct stream){writer.list.count, writer.list.items};
        note_answers(input, &result.streams[t], result.loop_has_answer);
        free(writer.section_of_unlock[t]);
    }
    shares_write(input, writer.object_of, writer.is_flag, model);
    free(writer.section_of_unlock);
    free(writer.object_of);
    free(writer.is_shared);
    free(writer.is_multiplied);
    free(writer.is_flag);
    free(writer.is_instance);
    free(writer.is_met_at);
    free(writer.work_of_loop);
    free(writer.header_of_loop);
    free(writer.works_at_last);
    free(writer.entrance_of_loop);
    free(writer.created);
    free(writer.joined);
    free(writer.join_standing);
    free(writer.creation);
    free(writer.feeds_tasks);
    items_free(&writer.items);
    farewells_free(&writer.farewells);
    free(writer.refills);
    map_free(&writer.kept_sites);
    map_free(&writer.share_of);
    map_free(&writer.device_of_site);
    map_free(&writer.disk_of);
    return result;
}

void streams_free(struct stream_result *result, size_t n_threads) {
    for (size_t t = 0; t < n_threads; t++)
        free(result->streams[t].steps);
    free(result->streams);
    free(result->loop_is_tokens);
    free(result->loop_has_answer);
}
