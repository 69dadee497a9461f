/* What a load measured at its clients: a JSON file that `persik load` and others write where
 * $PERSIK_LOAD_RESULT says, and `persik validate --load` compares. See docs/formats.md. */
#ifndef PERSIK_FORMATS_CLIENT_RESULT_H
#define PERSIK_FORMATS_CLIENT_RESULT_H

#include "base/error.h"

struct client_result {
    double requests, errors; /* how many were answered, and how many were not */
    double seconds;
    double throughput_hz;
    double response_ns, response_p95_ns; /* mean, and what 95 % do not exceed; NaN: not known */
};

/* 0, or -1 and `error`: no such file, or not such JSON. */
int client_result_read(const char *path, struct client_result *result, struct error *error);

#endif
