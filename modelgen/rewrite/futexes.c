#include "modelgen/rewrite/futexes.h"

#include <stdlib.h>

void futexes_left_out(struct event_log *log) {
    bool **dropped = event_log_flags(log);
    for (size_t t = 0; t < log->trace.n_threads; t++)
        for (size_t r = 0; r < log->trace.threads[t].n_records; r++)
            dropped[t][r] = api_catalog[log->trace.threads[t].records[r].api].object == ON_FUTEX;
    event_log_drop_all(log, dropped);
}
