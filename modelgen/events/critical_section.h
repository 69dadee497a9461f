/* What happened between a lock and an unlock of a mutex, and the objects that were used. */
#ifndef PERSIK_MODELGEN_EVENTS_CRITICAL_SECTION_H
#define PERSIK_MODELGEN_EVENTS_CRITICAL_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/events/object_origin.h"
#include "modelgen/events/object_users.h"

/* A synchronisation object seen in the trace, by kind and address. */
struct sync_object {
    enum api_object kind;
    uint64_t address;
    enum object_origin origin;
    int class_id; /* objects used by the same call sites share a class, unless users tell them apart
                   */
    int own_pool; /* uses it and nothing like it: tells it apart; -1: no such pool */
    int whole; /* the mutex that this is a part of, one of several monitors under it; or itself */
    bool of_libc;          /* not GLib's own */
    bool alone;            /* the only one of its class: its identity is known */
    uint32_t context;      /* of the first call on it */
    uint32_t used_context; /* of the first call that does more than make it */
    int parties; /* barrier: parties, semaphore: permits, queue: capacity, when seen; else -1 */
    bool spins;  /* waiting for it burns CPU, by the user's or the source's word */
    double operations; /* locks, waits ... */
    double waits;
    double wait_ns; /* total time spent waiting for it */
    double hold_ns; /* mutex, rwlock for writing, spin */
};

struct section_wait {
    size_t record;
    int condition; /* object index */
    uint64_t start_ns, end_ns;
};

struct section_signal {
    size_t record;
    int condition;
    bool broadcast;
};

struct section {
    int thread;
    int mutex; /* object index: the mutex, or its part */
    size_t lock_record, unlock_record;
    uint64_t acquire_ns, release_ns;
    size_t first_wait, n_waits;     /* in sections.waits */
    size_t first_signal, n_signals; /* in sections.signals; also those right after the unlock */
    bool cut; /* the program ended while it waited: it never went on, and has no unlock */
};

struct sections {
    size_t n_objects;
    struct sync_object *objects;
    struct object_users users; /* of the objects that threads wait for until others do something */
    struct map object_of;      /* hash of (kind, address) -> object index */
    size_t n_sections;         /* all threads, ordered by thread, then by unlock */
    struct section *sections;
    struct section_wait *waits;
    struct section_signal *signals;
    int **section_of_lock;             /* [thread][record]: section that this lock opened; -1 */
    size_t *of_mutex, *first_of_mutex; /* sections_of() */
};

#endif
