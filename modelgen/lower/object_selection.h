/* Which of the trace's objects become objects of the model, and as what. Each function gives the
 * index of the model's object, which it makes at the first call; some MODEL_NONE, where waiting for
 * it is not worth an object. */
#ifndef PERSIK_MODELGEN_LOWER_OBJECT_SELECTION_H
#define PERSIK_MODELGEN_LOWER_OBJECT_SELECTION_H

#include "modelgen/lower/step_writer.h"
#include "modelgen/sync/monitor.h"

/* `index`: of the sync object. */
int objects_lock(struct writer *writer, int index);
int objects_barrier(struct writer *writer, int index);
int objects_semaphore(struct writer *writer, int index);

/* Queues and events whose functions the user or the source named. */
int objects_items(struct writer *writer, int index);
/* Of what the call puts into the queue or takes from it; 0: no particular. */
int objects_item_kind(const struct writer *writer, int index, const struct trace_record *record);
int objects_event(struct writer *writer, int index);

int objects_guard(struct writer *writer, struct explanation *guard);
int objects_pattern(struct writer *writer, struct explanation *pattern);
int objects_statements(struct writer *writer, struct explanation *statements);

/* One flag per class of conditions whose predicate no guard explains. */
int objects_flag(struct writer *writer, int condition);
/* Which classes of conditions are left to flags: somebody waits, no guard explains it, and the
 * waiting takes a noticeable part of the threads' time. */
void objects_find_flags(struct writer *writer);

/* Sets writer->is_met_at: threads give the mutex up to wait, and are then woken all at once. They
 * meet at it, however shortly it is held. */
void objects_find_meetings(struct writer *writer);

int objects_disk(struct writer *writer, uint32_t device);
/* The disk as what is written back later fills it. */
int objects_write_back(struct writer *writer);
/* The turns to commit. */
int objects_journal(struct writer *writer, uint32_t device);

/* Work that the members of a team take from until it is used up: tokens. */
int objects_share(struct writer *writer, const struct trace_record *record);

/* The pool whose size equals the guard's number, when its own threads give the tokens back. */
int objects_pool_of_amount(const struct writer *writer, const struct explanation *guard,
                           double amount);

/* ---- for those that make objects ---- */

/* What the object is called: "queue struct q.mutex, init (f.c:31)". The caller frees. */
char *objects_name(const struct writer *writer, int index, const char *what);

/* `comes`, per thread of the trace: did it ever come to the barrier? `parties` 0: as many as those
 * that live at one time. Where all threads of a pool that scales come, they are parties in whatever
 * number; the rest of the parties is constant. */
struct linear objects_parties(const struct writer *writer, const bool *comes, int parties);

#endif
