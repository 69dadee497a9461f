/* What the part of the model's graph that a pool's threads walk tells of the pool's rule: what they
 * take, and what of it is a share. Changes nothing. */
#ifndef PERSIK_MODELGEN_SCALING_POOL_CONTENTS_H
#define PERSIK_MODELGEN_SCALING_POOL_CONTENTS_H

#include <stdbool.h>

#include "formats/model.h"

struct pool_contents {
    bool supply; /* they take work that is there for all */
    bool share;  /* they do shares of a total */
    bool part;   /* only a part of some computation is a share */
};

/* `cpu_ns`: what each of the pool's threads computed, on average, in its life. What each thread
 * takes once, as the word to begin, is no supply. */
struct pool_contents pool_contents_find(struct model *model, int pool, double cpu_ns);

/* A pool that takes, a number of times that does not follow the threads, what only this pool's
 * threads give in their rounds: then the rounds are a fixed total too. MODEL_NONE: none. */
int pool_contents_fixed_taker(struct model *model, int pool);

/* A flag, which stands for a predicate that is not known, for which the pool waits and a thread
 * that does not follow --threads gives the signal: what that one hands out may be work. MODEL_NONE:
 * none. */
int pool_contents_awaited_flag(const struct model *model, int pool);

/* Do threads of both pools take from one object? Then each of them finds what others have left. */
bool pool_contents_share_supply(const struct model *model, int pool, int other);

/* Is there as much of something as the pool has threads? */
bool pool_contents_is_amount(const struct model *model, int pool);

#endif
