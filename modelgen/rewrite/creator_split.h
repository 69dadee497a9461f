/* Shows what a creator does of its threads' work as threads of their own, one for each part, which
 * it creates and waits for as for the others. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_SPLIT_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_SPLIT_H

#include <stddef.h>

#include "modelgen/events/event_log.h"
#include "modelgen/rewrite/creator_contexts.h"
#include "modelgen/rewrite/creator_groups.h"

/* A part that becomes a thread. */
struct creator_split {
    const struct creator_group *group;
    const struct creator_part *part;
};

/* Splits one creator. Its parts do not meet; the new threads stand behind all others, in the order
 * in which the parts are given: the last one comes first. */
void creator_split_apply(struct event_log *log, struct context_list *contexts,
                         const struct creator_split *splits, size_t n);

#endif
