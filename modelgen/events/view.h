/* The trace as the model is made of it: calls that stand for others, such as those on a pipe for a
 * queue's, are shown as these. The trace itself stays as it was recorded. */
#ifndef PERSIK_MODELGEN_EVENTS_VIEW_H
#define PERSIK_MODELGEN_EVENTS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"
#include "modelgen/events/object_origin.h"

struct view {
    struct trace trace; /* what is shown */
    const struct trace *recorded;
    struct object_origins origins; /* of the objects that only the view has */
    size_t n_edits; /* how often something was given out to be changed: none more, nothing has */
};

/* Shows `recorded`, which must outlive it, as it is. End it with view_free(). */
struct view view_of(const struct trace *recorded);

/* A thread, of which what it holds itself may be changed, but not what it points at. */
struct trace_thread *view_thread(struct view *view, size_t thread);

/* A thread's record, to be changed. Its thread's records are the view's own from now on. */
struct trace_record *view_record(struct view *view, size_t thread, size_t record);

/* Shows the thread without these of its records, one flag for each. Their numbers are others from
 * now on: view_record() must not be called for it again. */
void view_drop(struct view *view, size_t thread, const bool *dropped);

/* The flags for all threads, none set yet: per thread and record. view_drop_all() ends them. */
bool **view_flags(const struct view *view);

/* view_drop() for all threads. Frees the flags. */
void view_drop_all(struct view *view, bool **dropped);

/* A call that is shown though it was not recorded. */
struct view_insertion {
    size_t after; /* number of a record of the thread */
    struct trace_record record;
};

/* Shows the thread with these, which are in the order of the records that they follow. Records'
 * numbers are others from now on. */
void view_insert(struct view *view, size_t thread, const struct view_insertion *added, size_t n);

/* The address of an object that no record of the view works on yet. */
uint64_t view_new_object(struct view *view, enum object_origin origin);

void view_free(struct view *view);

#endif
