#include "modelgen/lower/lower_self_scheduled.h"

#include "modelgen/lower/self_scheduled_loops.h"

static void write_attempt_at_work(struct writer *writer, size_t record, uint64_t time_ns,
                                  const struct self_scheduled_loop *work, bool succeeds) {
    struct step *step = writer_add_step(writer, NODE_ACQUIRE, record, time_ns, time_ns);
    step->use.object = work->object;
    step->use.timeout_ns = 0;
    step->outcome = succeeds ? OUTCOME_YES : OUTCOME_NO;
    writer_mark_task(writer, record, time_ns, step);
}

void lower_self_scheduled_decide(struct writer *writer, size_t record, uint64_t time_ns) {
    const struct self_scheduled_loop *work = &writer->works.items[writer->pending_work];
    writer->pending_work = -1;
    bool again = self_scheduled_loops_goes_on(writer, writer->thread, record,
                                              &writer->in->facts->loops[work->loop], work->header);
    write_attempt_at_work(writer, record, time_ns, work, again);
}

void lower_self_scheduled_entrance(struct writer *writer, size_t index,
                                   const struct trace_record *record) {
    int entered = self_scheduled_loops_entered_after(writer, record);
    if (entered < 0)
        return;
    const struct self_scheduled_loop *work = &writer->works.items[entered];
    write_attempt_at_work(writer, index, trace_end_ns(record), work,
                          self_scheduled_loops_is_inside(writer, index + 1, work));
}

void lower_self_scheduled_after(struct writer *writer, size_t record) {
    if (writer->pending_work < 0 || writer->n_open > writer->n_open_around)
        return;
    const struct self_scheduled_loop *work = &writer->works.items[writer->pending_work];
    const struct trace_record *last = &writer->in->trace->threads[writer->thread].records[record];
    if (work->works_at_last && self_scheduled_loops_ends_round(writer, record, work))
        lower_self_scheduled_decide(writer, record, trace_end_ns(last));
}

void lower_self_scheduled_begin_round(struct writer *writer, const struct trace_record *record) {
    int decided = self_scheduled_loops_decided_by(writer, writer_place(writer, record));
    writer->pending_work = decided;
    writer->n_open_around = writer->n_open;
    if (decided < 0 || !writer->works.items[decided].works_at_last || writer->in_task ||
        !writer_does_tasks(writer))
        return;
    writer->in_task = true; /* the first one, which no decision begins: it has a node of its own */
    uint64_t begin = writer->list.items[writer->list.count - 1].end_ns;
    size_t none = writer->in->trace->threads[writer->thread].n_records;
    writer_add_step(writer, NODE_TASK_BEGIN, none, begin, begin);
}
