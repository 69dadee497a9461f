#include "cli/prediction/assertions.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/command.h"

enum { KEY_ASSERT = 0xc000 };

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct assertions *assertions = state->input;
    struct error error;
    if (key == ARGP_KEY_INIT) {
        *assertions = (struct assertions){0};
        return 0;
    }
    if (key != KEY_ASSERT)
        return ARGP_ERR_UNKNOWN;
    if (assertion_parse("--assert", argument, VECTOR_ADD(assertions), &error) < 0)
        usage_error("%s", error.text);
    return 0;
}

static const struct argp_option options_list[] = {
    {"assert", KEY_ASSERT, "BOUND", 0,
     "exit 3 unless every configuration keeps it, such as 'run<5s', 'p99<5ms', 'cpu<90%', "
     "'throughput>100/s'",
     3},
    {0},
};
const struct argp assertions_argp = {.options = options_list, .parser = parse};

static void say_failed(const struct assertion *assertion, const char *verb,
                       const struct prediction *prediction, const char *why) {
    char load[LOAD_BYTES];
    fprintf(stderr, "persik: assertion '%s' %s with threads %s, cores %d%s: %s\n", assertion->text,
            verb, prediction->threads->label, prediction->cores,
            prediction_show_load(prediction, load), why);
}

/* Does the prediction keep it? If not, says why. */
static bool check(const struct assertion *assertion, const struct prediction *prediction) {
    if (prediction->no_figures) {
        say_failed(assertion, "fails", prediction, "no figures");
        return false;
    }
    const char *lack = assertion_lacks(assertion, &prediction->result);
    if (lack) {
        char *why = memory_format("the model has %s", lack);
        say_failed(assertion, "cannot be checked", prediction, why);
        free(why);
        return false;
    }
    double value;
    enum unit unit;
    if (assertion_holds(assertion, &prediction->result, &value, &unit))
        return true;
    char text[QUANTITY_BYTES];
    say_failed(assertion, "fails", prediction, quantity_show(value, unit, text));
    return false;
}

int assertions_check(const struct assertions *assertions, const struct prediction *predictions,
                     size_t n) {
    int status = 0;
    for (size_t a = 0; a < assertions->count; a++)
        for (size_t i = 0; i < n; i++)
            if (!check(&assertions->items[a], &predictions[i]))
                status = EXIT_ASSERTION;
    return status;
}
