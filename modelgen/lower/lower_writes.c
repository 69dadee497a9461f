#include "modelgen/lower/lower_writes.h"

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/lower/object_selection.h"

/* Stages of one call: its own requests, then those of the commit. */
enum { OWN_STAGES = 0, COMMIT_STAGES = 1000, KINDS = BLOCK_DISCARD + 1 };

/* What requests [from, to) of the list have in common, and take on average. */
static struct step_time stage_of(const struct writer *writer, struct disk_requests requests,
                                 size_t from, size_t to) {
    double sum_ns[2] = {0}; /* by whether it is near */
    int n[2] = {0};
    struct step_time stage = {.operations = (double)(to - from)};
    for (size_t i = from; i < to; i++) {
        size_t request = requests.items[i];
        bool is_near = writer->streams.is_near[request];
        sum_ns[is_near] += writer->streams.service_ns[request];
        n[is_near]++;
        stage.stream = writer->streams.stream[request];
    }
    stage.service_ns = n[false] ? sum_ns[false] / n[false] : 0;
    stage.near_ns = n[true] ? sum_ns[true] / n[true] : 0;
    return stage;
}

/* The requests in the order of their issue; those of one kind that follow each other are a stage.
 * There is one of writes at least, which may be of none. */
static void write_requests(struct writer *writer, size_t index, uint64_t time_ns, int disk,
                           struct disk_requests requests, int stage) {
    const struct trace_block *blocks = writer->in->trace->blocks;
    size_t from = 0;
    do {
        size_t to = from;
        while (to < requests.n &&
               blocks[requests.items[to]].kind == blocks[requests.items[from]].kind)
            to++;
        struct step *step = writer_add_step(writer, NODE_IO, index, time_ns, time_ns);
        step->time = stage_of(writer, requests, from, to);
        step->time.disk = disk;
        int kind = from < requests.n ? (int)blocks[requests.items[from]].kind : BLOCK_WRITE;
        step->time.stage = KINDS * stage++ + kind + 1;
        from = to;
    } while (from < requests.n);
}

/* Whose turn it is writes for all who have come by then. */
static void write_commit(struct writer *writer, size_t index, uint64_t end_ns, int disk,
                         const struct commit_call *call) {
    const struct commits *commits = writer->in->commits;
    const struct commit *commit = &commits->items[call->commit];
    int journal = objects_journal(writer, commit->device);
    writer_add_step(writer, NODE_DRAW, index, end_ns, end_ns)->use.object = journal;
    struct step *turn = writer_add_step(writer, NODE_TURN, index, end_ns, end_ns);
    turn->use.object = journal;
    turn->outcome = call->leads ? OUTCOME_YES : OUTCOME_NO;
    if (call->leads) {
        struct disk_requests requests = {&commits->requests[commit->first], commit->n};
        write_requests(writer, index, end_ns, disk, requests, COMMIT_STAGES);
        writer_add_step(writer, NODE_PASS, index, end_ns, end_ns)->use.object = journal;
    }
    writer_add_step(writer, NODE_STEP, index, end_ns, end_ns); /* where all go on */
}

bool lower_writes_sync(struct writer *writer, size_t index, const struct trace_record *record) {
    if (!trace_is_call(record, ON_FILE, OP_SYNC))
        return false;
    uint64_t end_ns = trace_end_ns(record);
    const struct commit_call *call = commits_call(writer->in->commits, writer->thread, index);
    struct disk_requests own =
        disk_service_queued(writer->in->disks, writer->thread, record->start_ns, end_ns);
    if (!call && own.n == 0)
        return false;
    uint32_t device = own.n > 0 ? writer->in->trace->blocks[own.items[0]].device
                                : writer->in->commits->items[call->commit].device;
    int disk = objects_disk(writer, device);
    size_t first = writer->list.count;
    write_requests(writer, index, end_ns, disk, own, OWN_STAGES);
    struct step *step = &writer->list.items[first];
    step->start_ns = record->start_ns;
    step->time.cpu_ns = writer_cpu_of_wait(writer, record->start_ns, end_ns);
    if (call)
        write_commit(writer, index, end_ns, disk, call);
    return true;
}
