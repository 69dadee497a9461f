#include "formats/disk_calibration.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct disk_probe probe;
    int status = disk_calibration_load(fuzz_file(data, size), &probe, &error);
    fuzz_done(status == 0);
    if (status == 0)
        disk_probe_free(&probe);
    return 0;
}
