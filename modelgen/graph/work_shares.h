/* What of a node or an edge is a share of what its pool's threads do together. */
#ifndef PERSIK_MODELGEN_GRAPH_WORK_SHARES_H
#define PERSIK_MODELGEN_GRAPH_WORK_SHARES_H

#include "formats/model.h"

/* A share of what the pool's threads do together; `less`: see struct scaling. */
void work_shares_make_share(struct scaling *scaling, int pool, double less);
/* As it was measured, in each thread; who got what of a total is still known. */
void work_shares_make_own(struct scaling *scaling);
/* No share any more; it may still grow with the threads. */
void work_shares_make_no_share(struct scaling *scaling);

/* Rounds as they would be if the items had divided evenly among the `threads` profiled ones. */
void work_shares_even_out(struct dist *stays, const struct scaling *scaling, int threads);

#endif
