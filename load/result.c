#include "load/result.h"

const char *load_failure_name(enum load_failure failure) {
    static const char *const names[LOAD_FAILURES] = {
        [LOAD_NO_CONNECTION] = "not connected", [LOAD_CLOSED] = "closed early",
        [LOAD_TIMEOUT] = "timed out",           [LOAD_BAD_STATUS] = "refused by status",
        [LOAD_MALFORMED] = "malformed",         [LOAD_NOT_SENT] = "not sent",
    };
    return names[failure];
}

uint64_t load_failed(const struct load_result *result) {
    uint64_t sum = 0;
    for (int i = 0; i < LOAD_FAILURES; i++)
        sum += result->failures[i];
    return sum;
}

void load_result_free(struct load_result *result) {
    latency_free(result->response);
    latency_free(result->service);
    latency_free(result->lateness);
    *result = (struct load_result){0};
}
