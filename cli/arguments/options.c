#include "cli/arguments/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/text/links.h"
#include "cli/text/text_page.h"

void usage_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_verror(format, arguments);
    va_end(arguments);
    exit(EXIT_USAGE);
}

int command_failed(const struct error *error) {
    log_error("%s", error->text);
    int number = interrupt_signal();
    if (number)
        return EXIT_SIGNAL + number;
    return error->exit_status ? error->exit_status : EXIT_FAILED;
}

long option_integer(const char *option, const char *text, long minimum, long maximum) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < minimum || value > maximum)
        usage_error("%s %s: give a whole number from %ld to %ld", option, text, minimum, maximum);
    return value;
}

double option_number(const char *option, const char *text, double minimum, double maximum) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value) || value < minimum || value > maximum)
        usage_error("%s %s: give a number from %g to %g", option, text, minimum, maximum);
    return value;
}

char **option_program(struct argp_state *state) {
    char **program = &state->argv[state->next - 1];
    state->next = state->argc;
    return program;
}

/* ---- how --help looks ---- */

#define HELP_FORMAT "ARGP_HELP_FMT"

static bool has_own_format; /* which programs that are recorded must not see */

void options_begin(void) {
    has_own_format = !getenv(HELP_FORMAT);
    setenv(HELP_FORMAT, "dup-args-note=0", 0);
}

static void options_end(void) {
    if (has_own_format)
        unsetenv(HELP_FORMAT);
}

/* ---- -i, -o, -q, -v ---- */

static error_t parse_common(int key, char *argument, struct argp_state *state) {
    struct common_options *options = state->input;
    const char *environment = getenv("PERSIK_DATA");
    switch (key) {
    case ARGP_KEY_INIT:
        options->directory = environment && *environment ? environment : "persik.data";
        links_directory(options->directory);
        return 0;
    case 'i':
    case 'o':
        if (!*argument)
            usage_error("-%c: give a folder", key);
        options->directory = argument;
        links_directory(argument);
        return 0;
    case 'q':
        log_set_level(LOG_QUIET);
        return 0;
    case 'v':
        log_set_level(LOG_VERBOSE);
        return 0;
    case ARGP_KEY_FINI:
        options_end();
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option common_list[] = {
    {"output", 'o', "DIR", 0, "folder of the recording (default: persik.data, or $PERSIK_DATA)",
     90},
    {"input", 'i', NULL, OPTION_ALIAS, NULL, 90},
    {"quiet", 'q', NULL, 0, "warnings and errors only", 91},
    {"verbose", 'v', NULL, 0, "say what is being done", 91},
    {0},
};
const struct argp common_argp = {.options = common_list, .parser = parse_common};

/* ---- --format ---- */

enum { KEY_FORMAT = 0x1000 };

static error_t parse_format(int key, char *argument, struct argp_state *state) {
    enum table_format *format = state->input;
    if (key == ARGP_KEY_INIT) {
        *format = FORMAT_TABLE;
        return 0;
    }
    if (key == ARGP_KEY_SUCCESS) {
        if (*format == FORMAT_TABLE)
            text_page_begin();
        return 0;
    }
    if (key != KEY_FORMAT)
        return ARGP_ERR_UNKNOWN;
    if (table_format_parse(argument, format) < 0)
        usage_error("--format %s: give table, json or csv", argument);
    return 0;
}

static const struct argp_option format_list[] = {
    {"format", KEY_FORMAT, "table|json|csv", 0, "how to print (default: table)", 80},
    {0},
};
static const struct argp_child format_children[] = {{&wide_argp, 0, NULL, 0}, {0}};
const struct argp format_argp = {
    .options = format_list, .parser = parse_format, .children = format_children};
