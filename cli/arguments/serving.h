/* Options of the commands that run a server: how it is asked, and how it is told to end. */
#ifndef PERSIK_CLI_ARGUMENTS_SERVING_H
#define PERSIK_CLI_ARGUMENTS_SERVING_H

#include <argp.h>
#include <stdbool.h>

#include "host/served_run.h"

/* Parses into a struct served_plan, with the usual values where an option is not given; bad values
 * and what contradicts each other end the command with its usage's status. load_argp has those
 * options only that go with a load. */
extern const struct argp serving_argp;
extern const struct argp load_argp;

/* Is it said that the program is a server? Else it may be any. */
bool serving_is_planned(const struct served_plan *plan);

/* Is the server asked by hand, until Ctrl-C? */
bool serving_is_by_hand(const struct served_plan *plan);

#endif
