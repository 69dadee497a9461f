/* When requests are to be sent. Open load: at times of its own, whatever the server does. Closed
 * load: each of a number of clients when it has its answer and has thought. */
#ifndef PERSIK_LOAD_SCHEDULE_H
#define PERSIK_LOAD_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum load_arrivals {
    LOAD_POISSON,  /* gaps, or think times, are exponential */
    LOAD_CONSTANT, /* they are all the same */
    LOAD_RECORDED, /* times are read from a file */
};

struct schedule_options {
    enum load_arrivals arrivals;
    double rate_hz;            /* open; 0: closed, or as recorded */
    const char *recorded_file; /* of LOAD_RECORDED: a time in seconds a line, ascending */
    int clients;               /* closed */
    double think_ns;           /* mean */
    uint64_t seed;
};

struct schedule;

/* NULL and `error` where the file cannot be read. */
struct schedule *schedule_new(const struct schedule_options *options, struct error *error);
void schedule_free(struct schedule *schedule);

/* When the next request is to be sent, in nanoseconds since the beginning. False: there is none,
 * in a closed load not before an answer. */
bool schedule_next(const struct schedule *schedule, uint64_t *intended_ns);

/* That request is taken. */
void schedule_take(struct schedule *schedule);

/* Nothing comes any more, whatever is answered. */
bool schedule_is_over(const struct schedule *schedule);

/* A request is over, answered or not: in a closed load its client thinks. */
void schedule_answered(struct schedule *schedule, uint64_t now_ns);

#endif
