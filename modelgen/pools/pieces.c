#include "modelgen/pools/pieces.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/pools/forks.h"
#include "modelgen/pools/slot_group.h"

/* So many of a creator's calls in its pieces are made by the functions that are its threads' work.
 */
#define MOST_CALLS 0.95

/* ---- the creator's pieces ---- */

/* What the threads' commands go through; 0: there is no such thing, or not one for all. */
static uint64_t find_commands(const struct trace *trace, const size_t *members, size_t n_members,
                              struct pieces *pieces) {
    uint64_t commands = 0;
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *thread = &trace->threads[members[m]];
        for (size_t r = 0; r < thread->n_records; r++) {
            const struct trace_record *record = &thread->records[r];
            if (!slots_are_object(record->object) ||
                (trace_op(record) != OP_GET && trace_op(record) != OP_RELEASE))
                continue;
            if (commands && record->object != commands)
                return 0;
            commands = record->object;
            bool ends = record->flags & (TRACE_FAILED | TRACE_UNFINISHED);
            struct piece_calls *kind = trace_op(record) == OP_RELEASE ? &pieces->done
                                       : ends                         ? &pieces->end
                                                                      : &pieces->take;
            *kind = kind->count ? *kind : (struct piece_calls){record, 1};
        }
    }
    return pieces->take.count && pieces->done.count ? commands : 0;
}

static void find_pieces(const struct trace_thread *creator, struct pieces *pieces) {
    size_t last_put = creator->n_records;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (record->object != pieces->commands)
            continue;
        if (trace_op(record) == OP_PUT)
            last_put = r;
        if (trace_op(record) == OP_ACQUIRE && last_put < creator->n_records) {
            *VECTOR_ADD(pieces) =
                (struct piece){.first = last_put + 1,
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
static bool calls_are_theirs(const struct trace *trace, size_t creator, const struct pieces *pieces,
                             size_t *calls) {
    const struct trace_record *records = trace->threads[creator].records;
    size_t fits = 0;
    for (size_t p = 0; p < pieces->count; p++)
        for (size_t r = pieces->items[p].first; r < pieces->items[p].last; r++) {
            if (records[r].context == TRACE_NO_CONTEXT)
                continue;
            fits += duties_make(&pieces->duties, &trace->contexts[records[r].context]);
            ++*calls;
        }
    return (double)fits >= MOST_CALLS * (double)*calls;
}

/* Of the time that a thread spends on commands, how much has the creator for its pieces? */
static bool is_worth_it(const struct trace *trace, const size_t *members, size_t n_members,
                        const struct pieces *pieces) {
    double own_ns = 0, their_ns = 0;
    for (size_t p = 0; p < pieces->count; p++)
        own_ns += (double)(pieces->items[p].end_ns - pieces->items[p].begin_ns);
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *thread = &trace->threads[members[m]];
        uint64_t taken_ns = UINT64_MAX;
        for (size_t r = 0; r < thread->n_records; r++) {
            const struct trace_record *record = &thread->records[r];
            if (record->object != pieces->commands)
                continue;
            if (trace_op(record) == OP_RELEASE && taken_ns < record->start_ns)
                their_ns += (double)(record->start_ns - taken_ns);
            taken_ns = trace_op(record) == OP_GET ? trace_end_ns(record) : UINT64_MAX;
        }
    }
    return own_ns >= DUTIES_PART_SHARE * their_ns / (double)n_members;
}

/* Calls show what it does; where it makes none, samples of its stack do. */
static bool does_their_work(const struct trace *trace, const struct sample *sample, size_t creator,
                            const size_t *members, size_t n_members, const struct pieces *pieces) {
    size_t calls = 0;
    if (!calls_are_theirs(trace, creator, pieces, &calls))
        return false;
    if (!sample)
        return calls > 0;
    return duties_creator_has(&pieces->duties, trace, sample, creator, members, n_members);
}

static void add_functions(const struct trace *trace, const struct piece_calls *calls,
                          struct duties *functions) {
    for (size_t i = 0; i < calls->count; i++) {
        uint32_t context = calls->items[i].context;
        for (size_t f = 0; context != TRACE_NO_CONTEXT && f < trace->contexts[context].n_frames;
             f++)
            duties_add(functions, trace->contexts[context].frames[f].function);
    }
}

/* What the threads call between taking a command and having carried it out. */
static struct duties find_forked(const struct trace *trace, const struct sample *sample,
                                 const size_t *members, size_t n_members,
                                 const struct pieces *pieces) {
    struct duties around = {0};
    add_functions(trace, &pieces->take, &around);
    add_functions(trace, &pieces->done, &around);
    add_functions(trace, &pieces->done_last, &around);
    struct duties duties = duties_find(trace, sample, members, n_members, &around);
    duties_free(&around);
    return duties;
}

struct pieces pieces_find(const struct trace *trace, const struct sample *sample, size_t creator,
                          const size_t *members, size_t n_members) {
    struct pieces pieces = {0};
    pieces.commands = find_commands(trace, members, n_members, &pieces);
    if (pieces.commands) {
        find_pieces(&trace->threads[creator], &pieces);
        if (!is_worth_it(trace, members, n_members, &pieces))
            pieces.count = 0;
        if (pieces.count > 0)
            pieces.duties = duties_find(trace, sample, members, n_members, NULL);
    } else {
        pieces = (struct pieces){0};
        forks_find(trace, creator, members, n_members, &pieces);
        if (pieces.count > 0)
            pieces.duties = find_forked(trace, sample, members, n_members, &pieces);
    }
    if (pieces.count > 0 && !does_their_work(trace, sample, creator, members, n_members, &pieces))
        pieces.count = 0;
    return pieces;
}

void pieces_free(struct pieces *pieces) {
    free(pieces->items);
    duties_free(&pieces->duties);
}
