/* Where a creator makes the calls of its share, and where its threads make the same: what lies
 * outside of their work differs between them, and must not tell them apart. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_CONTEXTS_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_CONTEXTS_H

#include <stddef.h>

#include "formats/trace.h"
#include "modelgen/rewrite/creator_groups.h"
#include "modelgen/rewrite/worker_functions.h"

/* A trace's contexts. */
struct context_list {
    struct trace_context *items;
    size_t count;
};

/* The function becomes the outermost one of the calls. */
void creator_contexts_cut(struct context_list *contexts, const struct trace_record *records,
                          size_t n, const char *function);

/* The functions that are the threads' work become the outermost ones of the calls. */
void creator_contexts_cut_to_work(struct context_list *contexts, const struct trace_record *records,
                                  size_t n, const struct worker_functions *functions);

/* Gives the calls of the creator's part the contexts where a member of the group makes them: those
 * of a meeting where it came to the same one, others wherever it makes such. */
void creator_contexts_move(const struct context_list *contexts, const struct creator_group *group,
                           const struct trace_thread *member, struct trace_record *part,
                           size_t n_records);

#endif
