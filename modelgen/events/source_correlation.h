/* Places of the trace held against the facts of the source: loops and what is split among threads.
 */
#ifndef PERSIK_MODELGEN_EVENTS_SOURCE_CORRELATION_H
#define PERSIK_MODELGEN_EVENTS_SOURCE_CORRELATION_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/facts.h"
#include "formats/sample.h"
#include "formats/trace.h"

/* How many calls lead from the loop to that of the context; -1: it is not inside. */
int source_calls_from_loop(const struct trace *trace, uint32_t context,
                           const struct facts_loop *loop);

/* Is any frame of the context inside the loop? */
bool source_context_in_loop(const struct trace *trace, uint32_t context,
                            const struct facts_loop *loop);

/* Is any frame of the context in the branch? */
bool source_context_in_solo(const struct trace *trace, uint32_t context,
                            const struct facts_solo *solo);

/* Is the frame in the function of the place, and on its line, too? */
bool source_frame_is_in(const struct trace_frame *frame, const struct facts_place *place);
bool source_frame_is_at(const struct trace_frame *frame, const struct facts_place *place);

/* Is the call at `place` one of those that lead to the context, or its own? */
bool source_passes(const struct trace *trace, uint32_t context, const struct facts_place *place);

/* Is the call of this context, which is in the loop, made no more than once in each round, as there
 * is no other loop around it further in? */
bool source_once_a_round(const struct trace *trace, const struct facts *facts, uint32_t context,
                         const struct facts_loop *loop);

/* Which contexts are one place: equal functions and lines, whatever the addresses (the compiler may
 * have copied the code). Gives for each context the first one of its place; the caller frees. */
uint32_t *source_places(const struct trace *trace);

/* The same, as far as the innermost frames tell. */
uint32_t *source_places_within(const struct trace *trace, size_t n_frames);

/* "put (queue.c:31)": the innermost frame of the context, or "?". The caller frees. */
char *source_place(const struct trace *trace, uint32_t context);

/* The access path of the object that the call at `context` works on, as the source names it; NULL
 * without facts, or when they do not have it. Belongs to the facts. */
const char *source_path(const struct trace *trace, const struct facts *facts, uint32_t context,
                        enum api_object on);

/* Is the file (NULL: unknown) one of those that were analysed? */
bool source_is_analysed(const struct facts *facts, const char *file);

/* Does the source show how threads are created, or anything that they share? `facts` may be NULL.
 */
bool source_shows_threads(const struct facts *facts);

/* What is asked. */
struct source {
    const struct trace *trace;
    const struct facts *facts;   /* NULL: nothing is known */
    const struct sample *sample; /* NULL: nothing weighs */
    const bool *loop_is_visible; /* per facts loop: the graph has steps in it */
};

/* How the computation between two calls depends on the thread count. */
struct source_split {
    double share;    /* 0..1 of it is a fixed total split among the threads */
    enum rest rest;  /* of the split, when one way is told */
    const char *why; /* the source's reason; NULL when share is 0 */
    bool shared;     /* threads take from all of it, who has more time takes more */
    double growth;   /* 0..1 of it grows with the thread count (a loop over the threads) */
    bool may_grow;   /* there is such a loop, and too few samples to tell how much it is */
};

/* Computation of a thread from the call at `from` to the call at `to`. TRACE_NO_CONTEXT as `from`:
 * since the thread's start; as `to`: until its end. `root` names the thread's start routine. Loops
 * with steps of the graph in them are left out: their number of rounds follows the threads. Where
 * several loops of different kinds lie between, the stack samples weigh them; without samples
 * (or when none fell there) a split loop is taken for all of it. Without facts nothing is known:
 * all zero. */
struct source_split source_split_between(const struct source *source, const char *root,
                                         uint32_t from, uint32_t to);

/* The share of the running samples, of threads that start with `root` (NULL: of all), that fell in
 * the loop's lines and what they call; 0 without any. */
double source_sampled_share(const struct sample *sample, const char *root,
                            const struct facts_loop *loop);

/* Who gets what of a loop of kind BOUND_SHARE around a call, as far as the source says: the place
 * that calls the function with the loop knows best. */
enum rest source_rest(const struct source *source, const struct facts_loop *loop, uint32_t context);

/* Does a thread that begins with `root` lead to the node of the samples? Those of C++'s library
 * begin in the library itself (rewrite/entry_functions.h). */
bool source_under_root(const struct sample *sample, size_t node, const char *root);

#endif
