/* Options that all subcommands share, and strict numbers. */
#ifndef PERSIK_CLI_ARGUMENTS_OPTIONS_H
#define PERSIK_CLI_ARGUMENTS_OPTIONS_H

#include <argp.h>

#include "base/error.h"
#include "cli/text/table.h"

struct common_options {
    const char *directory; /* -i or -o, else $PERSIK_DATA, else "persik.data" */
};

/* Call before a command parses its options. */
void options_begin(void);

/* Child parsers; ARGP_KEY_INIT of the parent sets state->child_inputs.
 *   common_argp   struct common_options *   -i, -o, -q, -v
 *   format_argp   enum table_format *       --format=table|json|csv, --wide; begins the page */
extern const struct argp common_argp;
extern const struct argp format_argp;

/* Prints `persik: ...` and ends the process with status 2. */
_Noreturn void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints `persik: TEXT` and returns the exit status: EXIT_FAILED, or what the error says. */
int command_failed(const struct error *error);

/* A whole number or a number in full; anything else, an overflow or a value outside
 * [minimum, maximum] is a usage error that names `option`. */
long option_integer(const char *option, const char *text, long minimum, long maximum);
double option_number(const char *option, const char *text, double minimum, double maximum);

/* A parser's ARGP_KEY_ARG when the first argument is the program to run: takes all that follows. */
char **option_program(struct argp_state *state);

#endif
