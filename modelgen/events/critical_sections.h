/* Critical sections: what happened between each lock and unlock of a mutex.
 *
 * A mutex totally orders its sections, and probes time the lock after it is got and the unlock
 * before it is given, so the order of the acquire times is the order of the truth. */
#ifndef PERSIK_MODELGEN_EVENTS_CRITICAL_SECTIONS_H
#define PERSIK_MODELGEN_EVENTS_CRITICAL_SECTIONS_H

#include "modelgen/events/critical_section.h"

/* Reads the whole trace. `pool_of` gives each thread's pool: the same call site is another place in
 * another pool. sections_free() ends it. */
struct sections sections_find(const struct trace *trace, const int *pool_of);

/* Says of each object where it comes from; until then all count as recorded. */
void sections_set_origins(struct sections *sections, const struct object_origins *origins);

void sections_free(struct sections *sections, const struct trace *trace);

/* Whether objects of this kind are followed: locks, conditions, semaphores, barriers. */
bool sections_is_object(enum api_object kind);

/* Index of the object a record works on; -1: the call has none, or one that is never used. */
int sections_object(const struct sections *sections, const struct trace_record *record);

/* When the section's thread went on: after its last wait. */
uint64_t section_passed_ns(const struct sections *sections, const struct section *section);

/* Did nothing but its time limit end the section's wait? Then it was a sleep. */
bool section_wait_timed_out(const struct trace *trace, const struct section *section,
                            const struct section_wait *wait);

/* The sections, by index, of the mutex and of those that it stands for. */
const size_t *sections_of(const struct sections *sections, int mutex, size_t *n);

/* Objects that cannot be told apart by who uses them: the first one stands for all. */
int sections_first_like(const struct sections *sections, int object);

#endif
