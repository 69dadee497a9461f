#include "formats/sample.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct sample *sample = sample_load(fuzz_file(data, size), &error);
    fuzz_done(sample != NULL);
    sample_free(sample);
    return 0;
}
