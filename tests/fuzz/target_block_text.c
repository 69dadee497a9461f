#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tracer/block_text.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct block_events events = {0};
    struct block_requests requests = {0};
    int status = block_text_read(&events, fuzz_file(data, size), &error);
    requests_pair(&requests, &events);
    fuzz_done(status == 0);
    free(requests.items);
    free(events.items);
    return 0;
}
