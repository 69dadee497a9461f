/* Private semaphores (Dijkstra's word): one thread alone waits on each, to be told that there is
 * something for it. They begin at 0, and are released again only when the thread has gone on. */
#ifndef PERSIK_MODELGEN_REWRITE_PRIVATE_SEMAPHORES_H
#define PERSIK_MODELGEN_REWRITE_PRIVATE_SEMAPHORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"

/* A call, in the order of time: when a release was made, and a take was over. */
struct call {
    uint64_t time_ns;
    size_t thread, record;
    int semaphore;       /* index of it */
    bool takes;          /* else it releases */
    uint64_t waiting_ns; /* of a release: when the take that it was for began; 0: none did */
};

struct calls {
    struct call *items;
    size_t count, capacity;
};

void calls_sort(struct calls *calls);

static inline const struct trace_record *call_record(const struct trace *trace,
                                                     const struct call *call) {
    return &trace->threads[call->thread].records[call->record];
}

struct private_semaphore {
    uint64_t address;
    size_t waiter; /* the only thread that waits on it */
    bool is_other; /* none or several do, or it is used in other ways */
    int waiting;   /* releases that are not yet taken */
};

struct private_semaphores {
    struct private_semaphore *items;
    size_t count, capacity;
    struct map of;      /* address -> index */
    struct calls calls; /* all that release or take one */
};

/* private_semaphores_free() ends it. */
struct private_semaphores private_semaphores_find(const struct trace *trace);
void private_semaphores_free(struct private_semaphores *semaphores);

/* Index of the semaphore that the record is a call on; -1: it is on something else. */
int private_semaphores_of(const struct private_semaphores *semaphores,
                          const struct trace_record *record);

bool private_semaphores_is_release(const struct trace_record *record);
bool private_semaphores_is_take(const struct trace_record *record);

/* What is called and where, by the places of contexts (source_places()). */
static inline uint64_t call_kind(const struct trace_record *record, const uint32_t *places) {
    uint32_t context = record->context;
    return map_mix(context == TRACE_NO_CONTEXT ? context : places[context], record->api);
}

#endif
