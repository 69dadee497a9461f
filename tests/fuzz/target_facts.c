#include "formats/facts.h"
#include "tests/fuzz/fuzz.h"

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

/* Reading alone does not parse the expressions. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct facts *facts = facts_load(fuzz_file(data, size), &error);
    for (size_t i = 0; facts && i < facts->n_monitors; i++)
        facts_monitor_in_units(&facts->monitors[i]);
    fuzz_done(facts != NULL);
    facts_free(facts);
    return 0;
}
