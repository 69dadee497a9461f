#include "modelgen/graph/work_shares.h"

#include <stdlib.h>

#include "model/partition.h"

void work_shares_make_share(struct scaling *scaling, int pool, double less) {
    scaling->share = 1;
    scaling->growth = 0;
    scaling->less = less;
    scaling->pool = pool;
}

void work_shares_make_own(struct scaling *scaling) {
    scaling->share = scaling->growth = scaling->less = 0;
    if (scaling->rest == REST_NONE)
        scaling->pool = MODEL_NONE;
}

void work_shares_make_no_share(struct scaling *scaling) {
    scaling->share = 0;
    if (scaling->growth == 0)
        work_shares_make_own(scaling);
}

void work_shares_even_out(struct dist *stays, const struct scaling *scaling, int threads) {
    free(stays->values);
    *stays = (struct dist){.kind = DIST_CONSTANT, .mean = scaling->total / threads - scaling->less};
}
