#include "modelgen/scaling/given_time.h"

#include <math.h>

#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"
#include "modelgen/threads/command_numbers.h"

/* When the first of the pool's threads began, and when the first and the last one ended. */
struct lives {
    uint64_t begin_ns, first_end_ns, last_end_ns;
};

static struct lives lives_of(const struct trace *trace, const struct thread_pool *pool) {
    struct lives lives = {UINT64_MAX, UINT64_MAX, 0};
    for (size_t i = 0; i < pool->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        if (thread->start_ns < lives.begin_ns)
            lives.begin_ns = thread->start_ns;
        if (thread->end_ns < lives.first_end_ns)
            lives.first_end_ns = thread->end_ns;
        if (thread->end_ns > lives.last_end_ns)
            lives.last_end_ns = thread->end_ns;
    }
    return lives;
}

/* Did all threads run while it slept, and end soon after it? */
static bool ends(const struct trace_record *sleep, const struct lives *lives) {
    uint64_t end_ns = trace_end_ns(sleep);
    double after = (double)lives->last_end_ns - (double)end_ns;
    double life = (double)(lives->last_end_ns - lives->begin_ns);
    return lives->first_end_ns >= end_ns &&
           after <= evidence.matters * (double)sleep->duration_ns &&
           (double)sleep->duration_ns >= evidence.majority * life;
}

double given_time_of(const struct trace *trace, const struct thread_pool *pool) {
    const struct lives lives = lives_of(trace, pool);
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_SLEEP && ends(at.event, &lives))
            return (double)at.event->duration_ns;
    return 0;
}

/* To start and to end takes a program some time besides. */
static bool took(double run_ns, double given_ns) {
    return run_ns >= given_ns &&
           run_ns <= given_ns * (1 + evidence.given_rest) + evidence.given_rest_ns;
}

double given_time_named(const struct trace_meta *meta) {
    double given_ns = floor((double)meta->run_ns / 1e9) * 1e9;
    if (given_ns <= 0 || meta->n_untraced == 0 || !took((double)meta->run_ns, given_ns) ||
        !command_names_number(meta, (int)(given_ns / 1e9)))
        return 0;
    for (size_t i = 0; i < meta->n_untraced; i++)
        if (!took((double)meta->untraced[i].run_ns, given_ns))
            return 0;
    return given_ns;
}
