#include "cli/prediction/sweep_options.h"

#include "cli/arguments/options.h"

bool sweep_options_take(struct sweep_options *options, int key, const char *argument) {
    if (key == KEY_SWEEP_THREADS)
        options->threads = argument;
    else if (key == KEY_SWEEP_CORES)
        options->cores = argument;
    else
        return false;
    return true;
}

void sweep_options_parse(const struct sweep_options *options, struct thread_sweep *threads,
                         struct int_list *cores) {
    struct error error;
    if (thread_sweep_parse("--threads", options->threads, threads, &error) < 0 ||
        (options->cores &&
         int_list_parse("--cores", options->cores, SWEEP_MAX_CORES, cores, &error) < 0))
        usage_error("%s", error.text);
}
