#include "modelgen/rewrite/creator_commands.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/rewrite/fork_join.h"

/* ---- the creator's pieces ---- */

/* What the threads' commands go through; 0: there is no such thing, or not one for all. */
static uint64_t find_commands(const struct trace *trace, const struct object_origins *origins,
                              const size_t *members, size_t n_members,
                              struct creator_commands *found) {
    uint64_t commands = 0;
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *thread = &trace->threads[members[m]];
        for (size_t r = 0; r < thread->n_records; r++) {
            const struct trace_record *record = &thread->records[r];
            if (object_origins_get(origins, record->object) != ORIGIN_MAILBOX ||
                (trace_op(record) != OP_GET && trace_op(record) != OP_RELEASE))
                continue;
            if (commands && record->object != commands)
                return 0;
            commands = record->object;
            bool ends = record->flags & (TRACE_FAILED | TRACE_UNFINISHED);
            struct command_calls *kind = trace_op(record) == OP_RELEASE ? &found->done
                                         : ends                         ? &found->end
                                                                        : &found->take;
            *kind = kind->count ? *kind : (struct command_calls){record, 1};
        }
    }
    return found->take.count && found->done.count ? commands : 0;
}

static void find_intervals(const struct trace_thread *creator, struct creator_commands *found) {
    size_t last_put = creator->n_records;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (record->object != found->channel)
            continue;
        if (trace_op(record) == OP_PUT)
            last_put = r;
        if (trace_op(record) == OP_ACQUIRE && last_put < creator->n_records) {
            *VECTOR_ADD(found) =
                (struct creator_command){.first = last_put + 1,
                                         .last = r,
                                         .begin_ns = trace_end_ns(&creator->records[last_put]),
                                         .end_ns = record->start_ns,
                                         .after = r + 1,
                                         .on_ns = trace_end_ns(record)};
            last_put = creator->n_records;
        }
    }
}

/* Are the calls that the creator makes there, if any, those of the threads' work? */
static bool calls_are_theirs(const struct trace *trace, size_t creator,
                             const struct creator_commands *found, size_t *calls) {
    const struct trace_record *records = trace->threads[creator].records;
    size_t fits = 0;
    for (size_t p = 0; p < found->count; p++)
        for (size_t r = found->items[p].first; r < found->items[p].last; r++) {
            if (records[r].context == TRACE_NO_CONTEXT)
                continue;
            fits += worker_functions_make(&found->functions, &trace->contexts[records[r].context]);
            ++*calls;
        }
    return (double)fits >= evidence.work_calls * (double)*calls;
}

/* Of the time that a thread spends on commands, how much has the creator for its pieces? */
static bool is_worth_it(const struct trace *trace, const size_t *members, size_t n_members,
                        const struct creator_commands *found) {
    double own_ns = 0, their_ns = 0;
    for (size_t p = 0; p < found->count; p++)
        own_ns += (double)(found->items[p].end_ns - found->items[p].begin_ns);
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *thread = &trace->threads[members[m]];
        uint64_t taken_ns = UINT64_MAX;
        for (size_t r = 0; r < thread->n_records; r++) {
            const struct trace_record *record = &thread->records[r];
            if (record->object != found->channel)
                continue;
            if (trace_op(record) == OP_RELEASE && taken_ns < record->start_ns)
                their_ns += (double)(record->start_ns - taken_ns);
            taken_ns = trace_op(record) == OP_GET ? trace_end_ns(record) : UINT64_MAX;
        }
    }
    return own_ns >= evidence.creator_part * their_ns / (double)n_members;
}

/* Calls show what it does; where it makes none, samples of its stack do. */
static bool does_their_work(const struct trace *trace, const struct sample *sample, size_t creator,
                            const size_t *members, size_t n_members,
                            const struct creator_commands *found) {
    size_t calls = 0;
    if (!calls_are_theirs(trace, creator, found, &calls))
        return false;
    if (!sample)
        return calls > 0;
    return worker_functions_run_by_creator(&found->functions, trace, sample, creator, members,
                                           n_members);
}

static void add_functions(const struct trace *trace, const struct command_calls *calls,
                          struct worker_functions *functions) {
    for (size_t i = 0; i < calls->count; i++) {
        uint32_t context = calls->items[i].context;
        for (size_t f = 0; context != TRACE_NO_CONTEXT && f < trace->contexts[context].n_frames;
             f++)
            worker_functions_add(functions, trace->contexts[context].frames[f].function);
    }
}

/* What the threads call between taking a command and having carried it out. */
static struct worker_functions find_forked(const struct trace *trace, const struct sample *sample,
                                           const size_t *members, size_t n_members,
                                           const struct creator_commands *found) {
    struct worker_functions around = {0};
    add_functions(trace, &found->take, &around);
    add_functions(trace, &found->done, &around);
    add_functions(trace, &found->done_last, &around);
    struct worker_functions functions =
        worker_functions_find(trace, sample, members, n_members, &around);
    worker_functions_free(&around);
    return functions;
}

struct creator_commands creator_commands_find(const struct trace *trace,
                                              const struct object_origins *origins,
                                              const struct sample *sample, size_t creator,
                                              const size_t *members, size_t n_members) {
    struct creator_commands found = {0};
    found.channel = find_commands(trace, origins, members, n_members, &found);
    if (found.channel) {
        find_intervals(&trace->threads[creator], &found);
        if (!is_worth_it(trace, members, n_members, &found))
            found.count = 0;
        if (found.count > 0)
            found.functions = worker_functions_find(trace, sample, members, n_members, NULL);
    } else {
        found = (struct creator_commands){0};
        fork_join_find(trace, creator, members, n_members, &found);
        if (found.count > 0)
            found.functions = find_forked(trace, sample, members, n_members, &found);
    }
    if (found.count > 0 && !does_their_work(trace, sample, creator, members, n_members, &found))
        found.count = 0;
    return found;
}

void creator_commands_free(struct creator_commands *found) {
    free(found->items);
    worker_functions_free(&found->functions);
}
