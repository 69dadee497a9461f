#include "cli/validation/measured_sweep.h"

#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/arguments/placeholder.h"
#include "cli/recording/programs.h"

static void check_cores(const struct int_list *cores, int allowed) {
    for (size_t i = 0; i < cores->count; i++)
        if (cores->items[i] > allowed)
            usage_error("--cores %d: only %d can be measured here: leave it out", cores->items[i],
                        allowed);
}

static void check_threads_used(const struct thread_sweep *threads, char *const *program,
                               const char *load) {
    char *const loads[] = {(char *)load, NULL};
    if (threads->count > 1 && !placeholder_used(program, &threads->items[0]) &&
        !placeholder_used(loads, &threads->items[0]))
        usage_error("the program's arguments hold no {threads}: every run would be the same");
}

void measured_sweep_parse(const struct sweep_options *options, char *const *program,
                          const char *load, struct thread_sweep *threads, struct int_list *cores) {
    int allowed = programs_allowed_cores();
    sweep_options_parse(options, threads, cores);
    if (cores->count == 0)
        *VECTOR_ADD(cores) = allowed;
    check_cores(cores, allowed);
    check_threads_used(threads, program, load);
}
