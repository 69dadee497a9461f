#include "modelgen/lower/step_writer.h"

#include <math.h>

#include "base/memory.h"

struct step *writer_add_step(struct writer *writer, enum node_kind kind, size_t record,
                             uint64_t start_ns, uint64_t end_ns) {
    const struct trace_thread *thread = &writer->in->trace->threads[writer->thread];
    bool has_record = record < thread->n_records;
    struct step *step = VECTOR_ADD(&writer->list);
    *step =
        step_new(kind, start_ns, end_ns,
                 has_record ? writer_place(writer, &thread->records[record]) : TRACE_NO_CONTEXT);
    step->retrying = writer->retrying;
    step->held = writer->held;
    step->phase = writer->phase;
    if (writer->n_open > 0)
        step->within = writer->open[writer->n_open - 1].answer;
    if (step->within == OUTCOME_ANY && record < writer->last_round_end)
        step->within = OUTCOME_NO;
    if (has_record && record + 1 > writer->last_step_record) {
        step->records = record + 1 - writer->last_step_record;
        writer->last_step_record = record + 1;
    }
    return step;
}

double writer_cpu_inside(const struct writer *writer, uint64_t start_ns, uint64_t end_ns) {
    const struct thread_states *timeline = &writer->in->timelines[writer->thread];
    return thread_states_cpu(timeline, end_ns) - thread_states_cpu(timeline, start_ns);
}

double writer_cpu_of_wait(const struct writer *writer, uint64_t start_ns, uint64_t end_ns) {
    const struct trace_thread *thread = &writer->in->trace->threads[writer->thread];
    double sleeps = (double)thread_states_sleeps(thread, start_ns, end_ns);
    double cpu_ns = writer_cpu_inside(writer, start_ns, end_ns);
    return fmax(cpu_ns - sleeps * writer->model->machine.block_cpu_ns, 0);
}

double writer_blocked_inside(const struct writer *writer, const struct trace_record *record) {
    return thread_states_blocked(&writer->in->timelines[writer->thread], record->start_ns,
                                 trace_end_ns(record));
}

bool writer_does_tasks(const struct writer *writer) {
    return writer->in->pools->pool_of[writer->thread] == writer->task_pool;
}

void writer_mark_task(struct writer *writer, size_t record, uint64_t time_ns,
                      const struct step *take) {
    if (!writer_does_tasks(writer))
        return;
    bool tokens = take->kind == NODE_ACQUIRE || take->kind == NODE_STATEMENTS;
    enum outcome outcome = take->outcome;
    if (writer->in_task) {
        /* goes before the taking step, which was just written */
        struct step taken = writer->list.items[writer->list.count - 1];
        struct step *end = &writer->list.items[writer->list.count - 1];
        end->kind = NODE_TASK_END;
        end->taking_section = step_section(&taken);
        end->end_ns = end->start_ns;
        end->outcome = end->within = OUTCOME_ANY;
        taken.records = 0;
        *VECTOR_ADD(&writer->list) = taken;
    }
    writer->in_task = outcome == OUTCOME_YES;
    if (writer->in_task && tokens)
        writer_add_step(writer, NODE_TASK_BEGIN, record, time_ns, time_ns);
}

void writer_add_call(struct writer *writer, size_t index, const struct trace_record *record,
                     int object, enum node_kind kind, bool try) {
    if (object == MODEL_NONE)
        return;
    uint64_t end = trace_end_ns(record);
    struct step *step = writer_add_step(writer, kind, index, record->start_ns, end);
    step->use.object = object;
    step->use.timeout_ns = try ? 0 : -1;
    if (try)
        step->outcome = record->flags & TRACE_FAILED ? OUTCOME_NO : OUTCOME_YES;
}
