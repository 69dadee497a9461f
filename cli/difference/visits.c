#include "cli/difference/visits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"

static uint64_t key_of(const char *place) {
    return map_mix_text(1, place);
}

const struct visited *visits_find(const struct visits *fragments, const char *place) {
    int found = map_get(&fragments->index, key_of(place), -1);
    return found < 0 ? NULL : &fragments->items[found];
}

static size_t add_place(struct visits *fragments, const char *place) {
    int found = map_get(&fragments->index, key_of(place), -1);
    if (found >= 0)
        return (size_t)found;
    map_put(&fragments->index, key_of(place), (int)fragments->count);
    *VECTOR_ADD(fragments) = (struct visited){.place = memory_strdup(place), .first_ns = INFINITY};
    return fragments->count - 1;
}

void visits_free(struct visits *fragments) {
    for (size_t i = 0; i < fragments->count; i++) {
        free(fragments->items[i].place);
        for (int part = 0; part < VISIT_PARTS; part++)
            free(fragments->items[i].parts[part].items);
    }
    free(fragments->items);
    map_free(&fragments->index);
    *fragments = (struct visits){.index = MAP_EMPTY};
}

/* ---- one thread's way ---- */

struct way {
    struct visits *fragments;
    const struct trace_thread *thread;
    size_t place; /* where it is ... */
    uint64_t since_ns;
    uint64_t in_calls_ns; /* ... and how long it has been in calls since then */
    uint64_t call_end_ns; /* of the last operation */
    size_t slice;         /* the first that has not ended at since_ns */
    double cpu_factor;
};

/* On a core from since_ns to `until_ns`. Without slices all that is outside of calls. */
static double cpu_until(struct way *way, uint64_t until_ns) {
    const struct trace_thread *thread = way->thread;
    if (thread->n_slices == 0)
        return fmax((double)(until_ns - way->since_ns) - (double)way->in_calls_ns, 0);
    double cpu_ns = 0;
    for (; way->slice < thread->n_slices; way->slice++) {
        const struct trace_slice *slice = &thread->slices[way->slice];
        double from = fmax((double)slice->on_ns, (double)way->since_ns);
        double to = fmin((double)slice->off_ns, (double)until_ns);
        cpu_ns += fmax(to - from, 0);
        if (slice->off_ns > until_ns)
            break;
    }
    return cpu_ns;
}

/* The visit is over. */
static void leave(struct way *way, uint64_t at_ns) {
    if (at_ns < way->since_ns)
        at_ns = way->since_ns;
    struct visited *fragment = &way->fragments->items[way->place];
    double cpu_ns = cpu_until(way, at_ns);
    fragment->first_ns = fmin(fragment->first_ns, (double)way->since_ns);
    *VECTOR_ADD(&fragment->parts[VISIT_COMPUTES]) = cpu_ns * way->cpu_factor;
    *VECTOR_ADD(&fragment->parts[VISIT_WAITS]) = fmax((double)(at_ns - way->since_ns) - cpu_ns, 0);
    way->since_ns = at_ns;
    way->in_calls_ns = 0;
}

static struct way way_of(struct visits *fragments, const struct trace_thread *thread,
                         double cpu_factor) {
    return (struct way){.fragments = fragments,
                        .thread = thread,
                        .place = add_place(fragments, "(begin)"),
                        .since_ns = thread->start_ns,
                        .cpu_factor = cpu_factor};
}

/* An operation at a place. What only ends what was begun there (`ends`), and what comes at once,
 * is of the same visit. */
static void come(struct way *way, size_t place, bool ends, uint64_t start_ns, uint64_t end_ns) {
    bool is_same = place == way->place && (ends || start_ns <= way->call_end_ns);
    if (!is_same) {
        leave(way, start_ns);
        way->place = place;
    }
    way->in_calls_ns += end_ns - start_ns;
    way->call_end_ns = end_ns;
}

static void end_way(struct way *way) {
    leave(way, way->thread->end_ns);
    way->fragments->threads_ns += (double)(way->thread->end_ns - way->thread->start_ns);
}

/* ---- recorded ---- */

/* As the nodes of a model have it: "worker (bank.c:40)", "0x58c2 (httpd:0)". */
static char *place_of(const struct trace_frame *frame) {
    const char *function = frame->function ? frame->function : "?";
    if (frame->file && frame->line > 0)
        return memory_format("%s (%s:%d)", function, path_name(frame->file), frame->line);
    return memory_format("%s (%s:0)", function, frame->module ? frame->module : "?");
}

enum { NOWHERE = -1 };

/* Where calls of a context are. */
struct site {
    int place; /* NOWHERE: at the place before */
    bool is_innermost;
};

static struct site site_of(struct visits *fragments, const struct trace_context *context,
                           const struct visits *known) {
    for (size_t i = 0; i < context->n_frames; i++) {
        char *place = place_of(&context->frames[i]);
        bool is_known = !known || visits_find(known, place);
        struct site site = {is_known ? (int)add_place(fragments, place) : NOWHERE, i == 0};
        free(place);
        if (is_known)
            return site;
    }
    return (struct site){NOWHERE, false};
}

/* A wait for a condition is within what its lock began. */
static bool only_ends(const struct trace_record *record) {
    enum api_op op = trace_op(record);
    return op == OP_UNLOCK || op == OP_RWUNLOCK || op == OP_RELEASE ||
           trace_is_condition_wait(record) || trace_is_condition_signal(record);
}

/* A wait within a lock's section is at the lock's place, not at that of the function's caller. */
static int place_of_record(const struct trace_record *record, const struct site *sites) {
    if (record->context == TRACE_NO_CONTEXT)
        return NOWHERE;
    const struct site *site = &sites[record->context];
    return only_ends(record) && !site->is_innermost ? NOWHERE : site->place;
}

static void add_thread(struct visits *fragments, const struct trace_thread *thread,
                       const struct site *sites, double cpu_factor) {
    struct way way = way_of(fragments, thread, cpu_factor);
    for (size_t i = 0; i < thread->n_records; i++) {
        const struct trace_record *record = &thread->records[i];
        int place = place_of_record(record, sites);
        if (place == NOWHERE)
            way.in_calls_ns += record->duration_ns;
        else
            come(&way, (size_t)place, only_ends(record), record->start_ns, trace_end_ns(record));
    }
    end_way(&way);
}

struct visits visits_of_trace(const struct trace *trace, const struct visits *known,
                              double cpu_factor) {
    struct visits fragments = {.index = MAP_EMPTY, .run_ns = (double)trace->meta.run_ns};
    struct site *sites = memory_alloc(trace->n_contexts, sizeof *sites);
    for (size_t i = 0; i < trace->n_contexts; i++)
        sites[i] = site_of(&fragments, &trace->contexts[i], known);
    for (size_t i = 0; i < trace->n_threads; i++)
        add_thread(&fragments, &trace->threads[i], sites, cpu_factor);
    free(sites);
    return fragments;
}

/* ---- simulated ---- */

static bool node_only_ends(enum node_kind kind) {
    return kind == NODE_UNLOCK || kind == NODE_RWUNLOCK || kind == NODE_RELEASE ||
           kind == NODE_SIGNAL;
}

static bool is_mark(enum node_kind kind) {
    return kind == NODE_TASK_BEGIN || kind == NODE_TASK_END;
}

struct visits visits_of_simulated(const struct model *model, const struct simulated_run *run) {
    struct visits fragments = {.index = MAP_EMPTY, .run_ns = (double)run->trace->meta.run_ns};
    for (size_t i = 0; i < model->n_nodes; i++)
        if (!simulated_is_silent(model->nodes[i].kind))
            add_place(&fragments, simulated_place(&model->nodes[i]));
    for (size_t i = 0; i < run->trace->n_threads; i++) {
        if (run->trace->threads[i].n_slices == 0)
            continue; /* it never ran */
        struct way way = way_of(&fragments, &run->trace->threads[i], 1);
        for (size_t j = 0; j < run->operations[i].count; j++) {
            const struct simulated_operation *operation = &run->operations[i].items[j];
            const struct node *node = &model->nodes[operation->node];
            if (!is_mark(node->kind))
                come(&way, add_place(&fragments, simulated_place(node)), node_only_ends(node->kind),
                     operation->start_ns, operation->end_ns);
        }
        end_way(&way);
    }
    return fragments;
}
