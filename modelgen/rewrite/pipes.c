#include "modelgen/rewrite/pipes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define WAITED_NS 10000 /* a read that takes longer has waited */
#define CAPACITY  65536 /* bytes in a pipe of Linux, unless the program asks for more */

/* A record that makes a pipe or works on a descriptor. */
struct use {
    uint64_t time_ns;
    size_t thread, record;
    int end; /* of a pipe: 2 * its number, + 1 to write; -1 none */
};

struct uses {
    struct use *items;
    size_t count, capacity;
};

struct pipe {
    int item_bytes; /* 0: nothing written yet */
    bool is_queue;  /* nothing contradicts it */
    bool waits;     /* who reads, not who polls it first */
    size_t puts, gets;
    uint64_t queue; /* of the log, once it is believed */
};

struct pipes {
    struct pipe *items;
    size_t count, capacity;
};

static int compare_uses(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static bool makes_pipe(const struct trace_record *record) {
    return (record->api == API_pipe || record->api == API_pipe2) && record->value >= 0 &&
           !(record->flags & TRACE_FAILED);
}

static struct uses find_uses(const struct trace *trace) {
    struct uses uses = {0};
    bool any = false;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            bool makes = makes_pipe(record);
            any |= makes;
            if (makes || (api_catalog[record->api].object == ON_FILE &&
                          api_catalog[record->api].object_argument >= 0))
                *VECTOR_ADD(&uses) =
                    (struct use){record->start_ns + (makes ? record->duration_ns : 0), t, r, -1};
        }
    if (any)
        qsort(uses.items, uses.count, sizeof *uses.items, compare_uses);
    else
        uses.count = 0;
    return uses;
}

/* What is written and read at once must be as large each time. */
static void note_use(struct pipe *pipe, const struct trace_record *record, bool writes) {
    bool transfers = record->api == (writes ? API_write : API_read);
    if (record->api == API_close || (transfers && !writes && record->value == 0))
        return;
    if (pipe->item_bytes == 0)
        pipe->item_bytes = record->value;
    pipe->is_queue &= transfers && record->value > 0 && record->value == pipe->item_bytes;
    pipe->waits |= !writes && record->duration_ns > WAITED_NS;
    *(writes ? &pipe->puts : &pipe->gets) += 1;
}

/* Follows the descriptors, which are used again, in the order of time. */
static struct pipes find_pipes(const struct trace *trace, struct uses *uses) {
    struct pipes pipes = {0};
    struct map end_of = MAP_EMPTY;
    for (size_t u = 0; u < uses->count; u++) {
        struct use *use = &uses->items[u];
        const struct trace_thread *thread = &trace->threads[use->thread];
        const struct trace_record *record = &thread->records[use->record];
        uint64_t process = map_mix(23, (uint64_t)thread->pid);
        if (makes_pipe(record)) {
            int number = (int)pipes.count;
            use->end = 2 * number;
            map_put(&end_of, map_mix(process, (uint64_t)(record->value & 0xffff)), 2 * number);
            map_put(&end_of, map_mix(process, (uint64_t)record->value >> 16), 2 * number + 1);
            *VECTOR_ADD(&pipes) = (struct pipe){.is_queue = true};
            continue;
        }
        uint64_t descriptor = map_mix(process, record->object);
        use->end = map_get(&end_of, descriptor, -1);
        if (use->end < 0)
            continue;
        assert(pipes.items); /* the map knows only what is in the list */
        note_use(&pipes.items[use->end / 2], record, use->end % 2);
        if (record->api == API_close)
            map_put(&end_of, descriptor, -1);
    }
    map_free(&end_of);
    return pipes;
}

static void show_as_queue(struct trace_record *record, const struct use *use,
                          const struct pipe *pipe) {
    bool writes = use->end % 2;
    if (makes_pipe(record)) {
        record->api = ROLE_create_queue;
        record->value = CAPACITY / pipe->item_bytes;
    } else if (record->api == API_close) {
        if (!writes)
            return;
        record->api = ROLE_close_queue;
    } else {
        bool ended = !writes && record->value == 0;
        record->api = writes ? ROLE_put : ROLE_get;
        record->flags |= TRACE_WAITED | (ended ? TRACE_FAILED : 0);
    }
    record->object = pipe->queue;
}

void pipes_as_queues(struct event_log *log) {
    struct uses uses = find_uses(&log->trace);
    struct pipes pipes = find_pipes(&log->trace, &uses);
    for (size_t p = 0; p < pipes.count; p++) {
        struct pipe *pipe = &pipes.items[p];
        pipe->is_queue &= pipe->puts > 0 && pipe->gets > 0 && pipe->waits;
        if (pipe->is_queue)
            pipe->queue = event_log_new_object(log, ORIGIN_PIPE);
    }
    for (size_t u = 0; u < uses.count; u++) {
        const struct use *use = &uses.items[u];
        if (use->end >= 0 && pipes.items[use->end / 2].is_queue)
            show_as_queue(event_log_change(log, use->thread, use->record), use,
                          &pipes.items[use->end / 2]);
    }
    free(uses.items);
    free(pipes.items);
}
