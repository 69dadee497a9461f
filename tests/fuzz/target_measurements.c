#include "cli/validation/measurement.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct measurements measurements;
    int status = measurements_load(fuzz_file(data, size), &measurements, &error);
    for (size_t i = 0; i < measurements.count; i++)
        measurement_run_ns(&measurements.items[i]);
    fuzz_done(status == 0);
    measurements_free(&measurements);
    return 0;
}
