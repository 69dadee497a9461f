/* The configurations in which a program is really run: the LISTs of --threads and --cores. */
#ifndef PERSIK_CLI_VALIDATION_MEASURED_SWEEP_H
#define PERSIK_CLI_VALIDATION_MEASURED_SWEEP_H

#include "cli/prediction/sweep_options.h"

/* Without --cores all that are allowed. More cores than that, and several numbers of threads which
 * neither `program` (its arguments) nor `load` (NULL: none) holds a place for, end the command with
 * its usage's status. End the lists as those of sweep_options_parse(). */
void measured_sweep_parse(const struct sweep_options *options, char *const *program,
                          const char *load, struct thread_sweep *threads, struct int_list *cores);

#endif
