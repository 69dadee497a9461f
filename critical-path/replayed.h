/* What a replay tells. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_REPLAYED_H
#define PERSIK_CRITICAL_PATH_REPLAYED_H

#include <stdint.h>

struct replayed {
    double end_ns;      /* from the start of the work to its end */
    uint64_t taken;     /* so often something was taken */
    uint64_t reordered; /* of these, by another one than in the run */
    uint64_t forced;    /* waits that had no end by these rules, and were ended */
    double *waited_ns;  /* per object, and behind them for cores: of all threads */
};

#endif
