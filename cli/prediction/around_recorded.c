#include "cli/prediction/around_recorded.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/recorded.h"

enum { MOST_NUMBERS = 8 }; /* that are listed one by one */

/* Numbers from 1 to `last`, `kept` among them. The caller frees. */
static char *list_numbers(int kept, int last) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const char *comma = "";
    int before = 0;
    for (int number = 1; before < last; number = last <= MOST_NUMBERS ? number + 1 : 2 * number) {
        if (before < kept && kept < number && kept < last) {
            fprintf(out, "%s%d", comma, kept);
            comma = ",";
        }
        before = number < last ? number : last;
        fprintf(out, "%s%d", comma, before);
        comma = ",";
    }
    fclose(out);
    return text;
}

char *around_recorded_threads(const struct model *model) {
    const struct thread_choice one_number = {.all = 1};
    char *label = recorded_label(&one_number, model);
    int threads = label ? atoi(label) : 0;
    free(label);
    return threads > 0 && threads <= SWEEP_MAX_THREADS / 2 ? list_numbers(threads, 2 * threads)
                                                           : NULL;
}

char *around_recorded_cores(const struct model *model) {
    int cores = model->machine.cores;
    return cores <= SWEEP_MAX_CORES ? list_numbers(cores, cores) : NULL;
}

char *around_recorded_rates(double saturation_hz) {
    static const double shares[] = {0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        fprintf(out, "%s%.3g/s", i ? "," : "", shares[i] * saturation_hz);
    fclose(out);
    return text;
}

bool around_recorded_is_served(const struct model *model) {
    for (size_t i = 0; i < model->n_objects; i++)
        if (model->objects[i].interarrival_ns.kind != DIST_NONE || model->objects[i].clients > 0)
            return true;
    return false;
}
