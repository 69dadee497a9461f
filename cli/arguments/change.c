#include "cli/arguments/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/text/quantity.h"

static const struct {
    const char *word;
    enum change_kind kind;
} scaled[] = {
    {"lock", CHANGE_HOLD}, {"io", CHANGE_IO}, {"sleep", CHANGE_SLEEP}, {"disk", CHANGE_SERVICE}};

static const struct parameter {
    const char *word;
    enum change_kind kind;
    enum unit unit; /* UNIT_NONE: a whole number */
    bool may_be_unlimited;
} parameters[] = {
    {"capacity", CHANGE_CAPACITY, UNIT_NONE, true},
    {"permits", CHANGE_PERMITS, UNIT_NONE, true},
    {"parties", CHANGE_PARTIES, UNIT_NONE, false},
    {"servers", CHANGE_SERVERS, UNIT_NONE, true},
    {"service", CHANGE_SERVICE_TIME, UNIT_TIME, false},
    {"delay", CHANGE_DELAY, UNIT_TIME, false},
};

/* Of threads, permits and items: more are as good as no limit. Of factors, and of seconds: with
 * more a simulated run would never end. */
#define MOST 1e9

static void add(struct changes *list, const char *option, const char *text, const char *name,
                size_t name_length, enum change_kind kind, double value) {
    *VECTOR_ADD(list) = (struct change){
        .kind = kind,
        .text = memory_format("%s '%s'", option, text),
        .name = memory_format("%.*s", (int)name_length, name),
        .value = value,
    };
}

/* ---- --scale ---- */

/* Steps over "lock:"; a name may have colons itself, "file.c:12", "ns::parse". */
static enum change_kind skip_kind(const char **name) {
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++) {
        size_t length = strlen(scaled[i].word);
        if (strncmp(*name, scaled[i].word, length) == 0 && (*name)[length] == ':' &&
            (*name)[length + 1] != ':') {
            *name += length + 1;
            return scaled[i].kind;
        }
    }
    return CHANGE_CPU;
}

int changes_add_scale(struct changes *list, const char *text, struct error *error) {
    const char *name = text, *equals = strrchr(text, '=');
    enum change_kind kind = skip_kind(&name);
    double factor;
    if (!equals || equals <= name)
        return error_set(error,
                         "--scale '%s': give NAME=FACTOR, such as parse=0.5, or lock:, io:, sleep: "
                         "or disk:NAME=FACTOR",
                         text);
    if (quantity_parse(equals + 1, UNIT_SHARE, &factor) < 0 || factor < 0 || factor > MOST)
        return error_set(error, "--scale '%s': '%s' is no factor: give a number from 0 up, or 50%%",
                         text, equals + 1);
    add(list, "--scale", text, name, (size_t)(equals - name), kind, factor);
    return 0;
}

/* ---- --set ---- */

static const struct parameter *find_parameter(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (strlen(parameters[i].word) == length && strncmp(parameters[i].word, word, length) == 0)
            return &parameters[i];
    return NULL;
}

static int parse_value(const struct parameter *parameter, const char *text, double *value) {
    if (parameter->may_be_unlimited && strcmp(text, "unlimited") == 0) {
        *value = INFINITY;
        return 0;
    }
    if (quantity_parse(text, parameter->unit, value) < 0)
        return -1;
    if (parameter->unit == UNIT_TIME)
        return *value >= 0 && *value <= MOST * 1e9 ? 0 : -1;
    return *value >= 1 && *value <= MOST && *value == floor(*value) ? 0 : -1;
}

static const char *last_dot(const char *text, const char *end) {
    while (end > text && end[-1] != '.')
        end--;
    return end > text ? end - 1 : NULL;
}

int changes_add_set(struct changes *list, const char *text, struct error *error) {
    const char *equals = strrchr(text, '=');
    const char *dot = equals ? last_dot(text, equals) : NULL;
    const struct parameter *parameter =
        dot && dot > text ? find_parameter(dot + 1, (size_t)(equals - dot - 1)) : NULL;
    double value;
    if (!parameter)
        return error_set(error,
                         "--set '%s': give NAME.PARAMETER=VALUE with one of capacity, permits, "
                         "parties, servers, service, delay",
                         text);
    if (parse_value(parameter, equals + 1, &value) < 0)
        return error_set(
            error, "--set '%s': '%s' is no %s: give %s%s", text, equals + 1, parameter->word,
            parameter->unit == UNIT_TIME ? "a time such as 5ms" : "a whole number from 1 up",
            parameter->may_be_unlimited ? ", or unlimited" : "");
    add(list, "--set", text, text, (size_t)(dot - text), parameter->kind, value);
    return 0;
}

void changes_free(struct changes *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].text);
        free(list->items[i].name);
    }
    free(list->items);
    *list = (struct changes){0};
}
