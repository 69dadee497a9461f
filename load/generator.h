/* Sends requests when the schedule says so, over a transport, and measures the answers. */
#ifndef PERSIK_LOAD_GENERATOR_H
#define PERSIK_LOAD_GENERATOR_H

#include "load/codec.h"
#include "load/requests.h"
#include "load/result.h"
#include "load/schedule.h"
#include "load/transport.h"

struct generator_options {
    enum load_protocol protocol;
    const struct codec_until *until;                        /* of LOAD_LINES */
    uint64_t warm_up_ns, duration_ns, requests, timeout_ns; /* as in struct load_options */
    int connections, max_in_flight;                         /* above 0 */
    bool keep_alive;
};

/* `result` is zeros; it is filled as load_run says, but for its cpu_share. */
int generator_run(const struct generator_options *options, struct schedule *schedule,
                  struct load_requests *requests, const struct transport *transport,
                  struct load_result *result, struct error *error);

#endif
