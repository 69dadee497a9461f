#include "formats/client_result.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct client_result result;
    fuzz_done(client_result_read(fuzz_file(data, size), &result, &error) == 0);
    return 0;
}
