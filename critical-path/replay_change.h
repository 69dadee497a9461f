/* What a replay is to do otherwise. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_REPLAY_CHANGE_H
#define PERSIK_CRITICAL_PATH_REPLAY_CHANGE_H

#include "critical-path/longest_path.h"

/* What is not as in the run. */
struct replay_change {
    step_weight *weight;  /* of steps */
    void *context;        /* of `weight` */
    int cores;            /* 0: as many as in the run */
    const double *limits; /* per object: permits at first, or room in it; NAN: as in the run. NULL:
                           * all are */
    bool without_pools;   /* a mutex under which threads wait for conditions keeps its order */
};

#endif
