#include "cli/recording/disturbance.h"

#include "cli/judgement.h"
#include "host/busy.h"

#define TICKS_UNSURE 2 /* per core: a count is rounded down before and after */

static double unsure_ns(int cores) {
    return TICKS_UNSURE * BUSY_TICK_NS * cores;
}

double disturbance_share(const struct program_run *run, int cores) {
    if ((double)run->foreign_ns <= unsure_ns(cores))
        return 0;
    return (double)run->foreign_ns / ((double)run->run_ns * cores);
}

bool disturbance_matters(const struct program_run *run, int cores) {
    double limit_ns = judgement.foreign * (double)run->run_ns * cores;
    return (double)run->foreign_ns > limit_ns + unsure_ns(cores);
}
