#include "cli/arguments/asked_changes.h"

#include <stdlib.h>

#include "cli/arguments/options.h"
#include "cli/arguments/sweep.h"

enum { KEY_SCALE = 0xc100, KEY_SET, KEY_CORES };

static const struct argp_option options_list[] = {
    {"scale", KEY_SCALE, "NAME=FACTOR", 0,
     "such as parse=0.5: what parse() and its callees compute takes half; sleep:NAME, io:NAME: "
     "what it "
     "sleeps, or waits for disks; lock:NAME: whatever is done holding the lock; several are made "
     "at once",
     2},
    {"set", KEY_SET, "NAME.WHAT=VALUE", 0,
     "jobs.capacity=64: as if the queue had room for so many; permits of a semaphore; or unlimited",
     2},
    {"cores", KEY_CORES, "N", 0, "on so many cores instead of as many as in the run", 2},
    {0},
};

static int parse_cores(const char *argument) {
    struct error error;
    struct int_list list = {0};
    if (int_list_parse("--cores", argument, SWEEP_MAX_CORES, &list, &error) < 0)
        usage_error("%s", error.text);
    int cores = list.count == 1 ? list.items[0] : 0;
    free(list.items);
    if (cores == 0)
        usage_error("--cores %s: give one number", argument);
    return cores;
}

static void add_scale(struct changes *changes, const char *argument) {
    struct error error;
    if (changes_add_scale(changes, argument, &error) != 0)
        usage_error("%s", error.text);
    if (changes->items[changes->count - 1].kind == CHANGE_SERVICE)
        usage_error("--scale '%s': a recorded run knows disks by who waits for them: io:NAME",
                    argument);
}

static void add_set(struct changes *changes, const char *argument) {
    struct error error;
    if (changes_add_set(changes, argument, &error) != 0)
        usage_error("%s", error.text);
    enum change_kind kind = changes->items[changes->count - 1].kind;
    if (kind != CHANGE_CAPACITY && kind != CHANGE_PERMITS)
        usage_error("--set '%s': of a recorded run only capacity and permits can be set: `persik "
                    "predict --set` asks the model",
                    argument);
}

static error_t parse_asked(int key, char *argument, struct argp_state *state) {
    struct asked_changes *asked = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *asked = (struct asked_changes){0};
        return 0;
    case KEY_SCALE:
        add_scale(&asked->changes, argument);
        return 0;
    case KEY_SET:
        add_set(&asked->changes, argument);
        return 0;
    case KEY_CORES:
        asked->cores = parse_cores(argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp asked_changes_argp = {.options = options_list, .parser = parse_asked};
