/* What of a pool's nodes is a share of a total, corrected by what the whole graph shows: each
 * function changes the model for one kind of pool, while its rule is decided. */
#ifndef PERSIK_MODELGEN_SCALING_POOL_SHARES_H
#define PERSIK_MODELGEN_SCALING_POOL_SHARES_H

#include <stdbool.h>

#include "formats/model.h"

/* Items that others make, so many however many threads there are, do not become smaller with more
 * threads, whatever the source seems to say of loops in between. */
void pool_shares_keep_items(struct model *model, int pool);

/* Of a share, only the rounds are: what a thread computes outside of them (`outside_ns`) is its
 * own. */
void pool_shares_keep_outside(struct model *model, int pool, double outside_ns);

/* Commands of which each thread gets one, however many threads there are, share out what a round is
 * about: of what the source says nothing about, too, each is a part, which is noted. True: there
 * are such. */
bool pool_shares_split_commands(struct model *model, int pool);

/* Rounds times size is the total: are the pool's threads made in each round of a loop of another
 * one's of which there are fewer with more threads? Then what a thread does in a round is the same,
 * and of what is handed out before it there is more. True: they are. */
bool pool_shares_grow_handed_out(struct model *model, int pool);

#endif
