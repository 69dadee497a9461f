#include "critical-path/critical_path.h"
#include "formats/dependencies.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

/* What is accepted must be good for a path. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct dependencies *all = dependencies_load(fuzz_file(data, size), &error);
    fuzz_done(all != NULL);
    if (all) {
        critical_path_free(critical_path_find(all, &error));
        task_path_free(critical_path_of_tasks(all, 0.99, &error));
    }
    dependencies_free(all);
    return 0;
}
