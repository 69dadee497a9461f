#include "formats/trace.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct trace *trace = trace_load(fuzz_file(data, size), &error);
    fuzz_done(trace != NULL);
    trace_free(trace);
    return 0;
}
