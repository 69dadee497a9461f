/* The run as the model is made of it: the calls of each thread are its events. At first they are
 * what was recorded; filters then show calls that stand for others, such as those on a pipe for a
 * queue's, as these. The recorded trace itself stays as it was.
 *
 * An event keeps its id, however many others are inserted or dropped before it, while its number in
 * its thread changes. The first ids are those of the recorded calls, thread by thread; events that
 * were inserted have the others. Each edit is kept, with the pass that made it. */
#ifndef PERSIK_MODELGEN_EVENTS_EVENT_LOG_H
#define PERSIK_MODELGEN_EVENTS_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"
#include "modelgen/events/object_origin.h"

/* There are fewer than 2^32 events: the records of so many have 128 GB. */
typedef uint32_t event_id;

enum event_edit_kind { EVENT_CHANGED, EVENT_DROPPED, EVENT_INSERTED };

struct event_edit {
    event_id event;
    uint16_t kind; /* enum event_edit_kind */
    uint16_t pass; /* index into the log's passes */
};

/* A recorded thread does its own work and, at times, a part of that of the threads that it creates.
 * Each part is shown as a thread. */
struct thread_origin {
    int recorded; /* index, in the recorded trace, of the thread that ran it */
    int part_of; /* index, in the same trace, of its creator, if that ran it; -1: another one did */
};

/* One for each thread; `origins` may be NULL: all are as they were recorded. */
static inline struct thread_origin thread_origin_of(const struct thread_origin *origins,
                                                    size_t thread) {
    return origins ? origins[thread] : (struct thread_origin){(int)thread, -1};
}

/* What the log knows of a thread's events. */
struct thread_events {
    event_id *ids; /* owned, one for each event; NULL: `first` and those behind it, in a row */
    event_id first;
    bool owns_records, owns_slices; /* these are the log's, not the recorded trace's */
};

struct event_log {
    struct trace trace; /* what is shown: its threads, records and contexts are to be read only */
    const struct trace *recorded;
    struct thread_events *threads;        /* per thread of `trace` */
    struct thread_origin *thread_origins; /* the same */
    event_id *first_recorded;      /* per recorded thread: id of its first record; one more */
    event_id n_ids;                /* of all events that there ever were */
    struct object_origins origins; /* of the objects that only the log has */
    struct {
        struct event_edit *items; /* in the order in which they were made */
        size_t count, capacity;
    } edits;
    struct {
        const char **items; /* their names, which are not owned */
        size_t count, capacity;
    } passes;              /* that may have made edits */
    size_t n_thread_edits; /* how often threads were changed, made, or given out to be changed */
};

/* Shows `recorded`, which must outlive it, as it is. End it with event_log_free(). */
struct event_log event_log_of(const struct trace *recorded);
void event_log_free(struct event_log *log);

/* All edits from now on are made by this pass. The name must outlive the log. */
void event_log_begin_pass(struct event_log *log, const char *pass);

/* How often events or threads were edited: the same number twice, nothing was between. */
static inline size_t event_log_n_edits(const struct event_log *log) {
    return log->edits.count + log->n_thread_edits;
}

/* ---- which event it is ---- */

/* The id of a thread's event with this number, from 0. */
event_id event_log_id(const struct event_log *log, size_t thread, size_t number);

/* The call that the event was recorded as, and by which thread (`thread` may be NULL). NULL: it was
 * inserted. O(log threads). */
const struct trace_record *event_log_recorded(const struct event_log *log, event_id event,
                                              size_t *thread);

/* ---- edits ---- */

/* A thread, of which what it holds itself may be changed, but not what it points at. */
struct trace_thread *event_log_thread(struct event_log *log, size_t thread);

/* The thread's event with this number, to be changed. It holds until events of the thread are
 * dropped or inserted. */
struct trace_record *event_log_change(struct event_log *log, size_t thread, size_t number);

/* Drops these of the thread's events, one flag for each. Those behind them get other numbers. */
void event_log_drop(struct event_log *log, size_t thread, const bool *dropped);

/* The flags for all threads, none set yet: per thread and event. event_log_drop_all() ends them. */
bool **event_log_flags(const struct event_log *log);

/* event_log_drop() for all threads. Frees the flags. */
void event_log_drop_all(struct event_log *log, bool **dropped);

#define EVENT_LOG_BEGIN SIZE_MAX

/* A call that is shown though it was not recorded. */
struct event_insertion {
    size_t after; /* number of an event of the thread; EVENT_LOG_BEGIN: before all of them */
    struct trace_record record;
};

/* Inserts these, which are in the order of the events that they follow. Those behind them get other
 * numbers. */
void event_log_insert(struct event_log *log, size_t thread, const struct event_insertion *added,
                      size_t n);

/* The address of an object that no event works on yet. */
uint64_t event_log_new_object(struct event_log *log, enum object_origin origin);

/* What each call site is from now on, one for each of the trace's contexts: the log takes the array
 * over. The frames stay the recorded trace's. */
void event_log_set_contexts(struct event_log *log, struct trace_context *contexts);

/* One more call site, behind all others. Its frames must outlive the log. */
void event_log_add_context(struct event_log *log, struct trace_context context);

/* ---- threads made of parts of others ---- */

/* The events of a thread in the making. {0}: none yet. Whoever makes it hands it over. */
struct event_list {
    struct trace_record *records;
    event_id *ids;
    size_t count, capacity;
};

/* Appends a thread's event, as which it is shown from now on. No other list may have it. */
void event_list_keep(struct event_list *list, struct event_log *log, size_t thread, size_t number,
                     const struct trace_record *as);

/* Appends a call that was not recorded. */
void event_list_insert(struct event_list *list, struct event_log *log, struct trace_record record);

/* A thread in the making. What it owns is the log's when it is handed over. */
struct made_thread {
    struct trace_thread thread; /* its slices are its own, its events those of the list */
    struct event_list events;
    struct thread_origin origin;
};

/* Shows one more thread, behind all others. Gives its number. */
size_t event_log_add_thread(struct event_log *log, const struct made_thread *made);

/* Shows this one in place of a thread. */
void event_log_remake_thread(struct event_log *log, size_t thread, const struct made_thread *made);

/* Shows these in place of all threads. */
void event_log_replace_threads(struct event_log *log, const struct made_thread *made, size_t n);

/* When threads have been made: what no thread shows any more, the pass has dropped. O(events). */
void event_log_settle(struct event_log *log);

#endif
