#include "modelgen/lower/lower_locks.h"

#include <string.h>

#include "modelgen/lower/lower_sections.h"
#include "modelgen/lower/object_selection.h"
#include "modelgen/lower/self_scheduled_loops.h"
#include "modelgen/sync/monitor.h"

#define EVERYBODY 1e9 /* how many waiters a broadcast wakes */

/* The whole of a section that only puts a poison_pill where work is put. True: it was one. */
static bool write_poison_pill(struct writer *writer, size_t record, int section) {
    int g = section < 0 ? -1 : poison_pills_in_passing(&writer->poison_pills, (size_t)section);
    if (g >= 0 &&
        poison_pills_of(&writer->poison_pills, (size_t)g, (size_t)section) == POISON_PILL_FIRST) {
        uint64_t time_ns = writer->in->sections->sections[section].acquire_ns;
        int object = objects_guard(writer, &writer->in->monitors->explanations.items[g]);
        writer_add_step(writer, NODE_CLOSE, record, time_ns, time_ns)->use.object = object;
    }
    return g >= 0;
}

/* Takes or gives back: which of the locks that are alike a thread holds tells its steps apart. */
static void hold_instance(struct writer *writer, int section, int sync_object) {
    if (section >= 0 && writer->is_instance[sync_object])
        writer->held ^= map_mix(17, (uint64_t)sync_object);
}

void lower_locks_lock(struct writer *writer, size_t index, const struct trace_record *record,
                      int sync_object) {
    const struct api_info *info = &api_catalog[record->api];
    uint64_t end = trace_end_ns(record);
    bool failed = record->flags & TRACE_FAILED;
    int section = writer->in->sections->section_of_lock[writer->thread][index];
    if (write_poison_pill(writer, index, section))
        return;
    int mutex = objects_lock(writer, sync_object);
    if (section >= 0 && writer->pending_work < 0)
        self_scheduled_loops_begin_round(writer, record);
    if (mutex != MODEL_NONE) {
        struct step *step = writer_add_step(writer, NODE_LOCK, index, record->start_ns, end);
        step->use.object = mutex;
        step->use.timeout_ns = info->op == OP_TRYLOCK ? 0 : -1;
        step->outcome = failed ? OUTCOME_NO : info->op == OP_TRYLOCK ? OUTCOME_YES : OUTCOME_ANY;
    }
    if (section < 0)
        return;
    hold_instance(writer, section, sync_object);
    if (writer->n_open < OPEN_LIMIT)
        writer->open[writer->n_open++] = (struct open_section){.section = section};
    lower_sections_begin(writer, index, section, mutex);
}

/* Who is woken while the section goes on finds its mutex taken. */
static void tell_changes(struct writer *writer, size_t index, const struct trace_record *record) {
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
            lower_sections_end(writer, index, open->section, open->answer, record->start_ns);
            open->is_told = true;
        }
    }
}

void lower_locks_signal(struct writer *writer, size_t index, const struct trace_record *record,
                        int condition) {
    tell_changes(writer, index, record);
    if (condition < 0 || !writer->is_flag[condition])
        return;
    int flag = objects_flag(writer, condition);
    struct step *step =
        writer_add_step(writer, NODE_SIGNAL, index, record->start_ns, record->start_ns);
    step->use.object = flag;
    step->use.amount.count = trace_op(record) == OP_BROADCAST ? EVERYBODY : 1;
}

void lower_locks_unlock(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object) {
    int section = writer->section_of_unlock[writer->thread][index];
    if (section >= 0 && poison_pills_in_passing(&writer->poison_pills, (size_t)section) >= 0)
        return;
    if (section >= 0) {
        int at = writer->n_open - 1;
        while (at >= 0 && writer->open[at].section != section)
            at--;
        if (at < 0 || !writer->open[at].is_told)
            lower_sections_end(writer, index, section,
                               at >= 0 ? writer->open[at].answer : OUTCOME_ANY, record->start_ns);
    }
    int mutex = objects_lock(writer, sync_object);
    hold_instance(writer, section, sync_object);
    if (mutex != MODEL_NONE) {
        struct step *step =
            writer_add_step(writer, NODE_UNLOCK, index, record->start_ns, record->start_ns);
        step->use.object = mutex;
    }
    for (int at = writer->n_open - 1; section >= 0 && at >= 0; at--)
        if (writer->open[at].section == section) {
            memmove(&writer->open[at], &writer->open[at + 1],
                    (size_t)(writer->n_open - at - 1) * sizeof *writer->open);
            writer->n_open--;
            break;
        }
    if (writer->pending_work >= 0 && writer->n_open <= writer->n_open_around &&
        !writer->works.items[writer->pending_work].works_at_last)
        self_scheduled_loops_decide(writer, index, record->start_ns);
}

void lower_locks_wait(struct writer *writer, size_t index, const struct trace_record *record,
                      int condition) {
    uint64_t end = trace_end_ns(record);
    int section = writer->n_open ? writer->open[writer->n_open - 1].section : -1;
    if (section >= 0 && monitors_explain(writer->in->monitors, (size_t)section))
        return; /* its guard or pattern stands for all its waits */
    if (record->flags & TRACE_TIMEDOUT) {
        struct step *step = writer_add_step(writer, NODE_SLEEP, index, record->start_ns, end);
        step->time.wait_ns = (double)record->duration_ns;
        return;
    }
    if (!writer->is_flag[condition])
        return;
    int mutex = section < 0 ? MODEL_NONE
                            : objects_lock(writer, writer->in->sections->sections[section].mutex);
    int flag = objects_flag(writer, condition);
    struct step *step = writer_add_step(writer, NODE_WAIT, index, record->start_ns, end);
    step->use.object = flag;
    step->use.mutex = mutex;
}
