/* Goes over events in their order, of one thread, or of the whole run thread by thread:
 *
 *     for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
 *         use(at.thread, at.event);
 */
#ifndef PERSIK_MODELGEN_EVENTS_EVENT_CURSOR_H
#define PERSIK_MODELGEN_EVENTS_EVENT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

struct event_cursor {
    const struct trace_record *event; /* where it is; NULL before the first one */
    size_t number;                    /* of the event in its thread, from 0 */
    size_t thread;                    /* of the run whose event it is; 0 where it goes over one */
    const struct trace_thread *threads;
    size_t n_threads;
    size_t next, end; /* numbers of the event that follows, and of the first that it leaves out */
};

/* In front of the first event of the run. */
static inline struct event_cursor event_cursor_of_run(const struct trace *trace) {
    return (struct event_cursor){
        .threads = trace->threads, .n_threads = trace->n_threads, .end = SIZE_MAX};
}

/* In front of the thread's events with the numbers [first, end). */
static inline struct event_cursor event_cursor_between(const struct trace_thread *thread,
                                                       size_t first, size_t end) {
    return (struct event_cursor){.threads = thread, .n_threads = 1, .next = first, .end = end};
}

/* In front of the thread's event with this number. */
static inline struct event_cursor event_cursor_from(const struct trace_thread *thread,
                                                    size_t number) {
    return event_cursor_between(thread, number, SIZE_MAX);
}

/* In front of the thread's first event. */
static inline struct event_cursor event_cursor_of_thread(const struct trace_thread *thread) {
    return event_cursor_from(thread, 0);
}

/* Goes to the next event. False: there is none. */
static inline bool event_cursor_next(struct event_cursor *at) {
    for (; at->thread < at->n_threads; at->thread++, at->next = 0)
        if (at->next < at->threads[at->thread].n_records && at->next < at->end) {
            at->number = at->next++;
            at->event = &at->threads[at->thread].records[at->number];
            return true;
        }
    return false;
}

/* The next event is the one behind the one with this number, of the same thread. */
static inline void event_cursor_skip(struct event_cursor *at, size_t number) {
    at->next = number + 1;
}

#endif
