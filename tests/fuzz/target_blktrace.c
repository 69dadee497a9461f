#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tracer/blktrace.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct blktrace log = {0};
    struct block_requests requests = {0};
    int status = blktrace_read(&log, fuzz_file(data, size), &error);
    blktrace_name_events(&log);
    requests_pair(&requests, &log.events);
    fuzz_done(status == 0);
    free(requests.items);
    blktrace_free(&log);
    return 0;
}
