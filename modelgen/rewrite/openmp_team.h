/* A team of OpenMP's threads. */
#ifndef PERSIK_MODELGEN_REWRITE_OPENMP_TEAM_H
#define PERSIK_MODELGEN_REWRITE_OPENMP_TEAM_H

#include <stdbool.h>

/* The executions of a region by teams of one size. */
struct team {
    const char *function; /* that the compiler made of the region; belongs to the trace */
    int size;
    bool is_default; /* the region asks for no number of threads of its own */
    bool splits;     /* divides work by the member's number or by the size of the team */
    bool has_tasks;
    bool nests;          /* forks regions inside, of as many threads as the program says */
    bool spins;          /* between regions its members wait spinning, given a core for each */
    double sleep_cpu_ns; /* that a member burns before it sleeps, the team being larger than the
                            machine: mean; a usual value when it was not */
};

#endif
