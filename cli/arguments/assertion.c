#include "cli/arguments/assertion.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define TASKS     "no tasks"
#define RESPONSES "no tasks whose beginning and end it knows"

static const struct metric {
    const char *name;
    enum unit unit;
    size_t offset;       /* of its struct estimate in struct sim_result */
    const char *needed;  /* without which it is 0; NULL: nothing */
    bool of_ending_runs; /* only */
    enum assertion_figure figure;
} metrics[] = {
    {"run", UNIT_TIME, offsetof(struct sim_result, run_ns), NULL, true, FIGURE_RUN},
    {"mean", UNIT_TIME, offsetof(struct sim_result, response_ns), RESPONSES, false,
     FIGURE_RESPONSE},
    {"p50", UNIT_TIME, offsetof(struct sim_result, response_p50_ns), RESPONSES, false,
     FIGURE_RESPONSE},
    {"p95", UNIT_TIME, offsetof(struct sim_result, response_p95_ns), RESPONSES, false,
     FIGURE_RESPONSE},
    {"p99", UNIT_TIME, offsetof(struct sim_result, response_p99_ns), RESPONSES, false,
     FIGURE_RESPONSE},
    {"cpu", UNIT_SHARE, offsetof(struct sim_result, cpu_utilisation), NULL, false, FIGURE_CPU},
    {"disk", UNIT_SHARE, offsetof(struct sim_result, disk_utilisation), NULL, false, FIGURE_DISK},
    {"throughput", UNIT_RATE, offsetof(struct sim_result, throughput_hz), TASKS, false,
     FIGURE_THROUGHPUT},
    {"tasks", UNIT_NONE, offsetof(struct sim_result, tasks), TASKS, true, FIGURE_TASKS},
};

static int find_metric(const char *text, size_t length) {
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 4 && strncmp(text, "time", 4) == 0) /* another word for the first one */
        return 0;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strlen(metrics[i].name) == length && strncmp(metrics[i].name, text, length) == 0)
            return (int)i;
    return -1;
}

/* A value of no unit is in the metric's own. */
static int parse(const char *option, const char *text, enum unit unit, const char *examples,
                 struct assertion *assertion, struct error *error) {
    size_t name = strcspn(text, "<>");
    int metric = find_metric(text, name);
    if (metric < 0 || !text[name])
        return error_set(error,
                         "%s '%s': give METRIC<VALUE or METRIC>VALUE with one of run, mean, "
                         "p50, p95, p99, cpu, disk, throughput, tasks",
                         option, text);
    *assertion = (struct assertion){.text = text, .metric = metric, .relation = text[name]};
    const char *value = text + name + 1;
    if (*value == '=') {
        assertion->or_equal = true;
        value++;
    }
    if (quantity_parse(value, unit == UNIT_NONE ? metrics[metric].unit : unit, &assertion->bound) <
        0)
        return error_set(error, "%s '%s': '%s' is not a value of %s: write %s", option, text, value,
                         metrics[metric].name, examples);
    return 0;
}

int assertion_parse(const char *option, const char *text, struct assertion *assertion,
                    struct error *error) {
    return parse(option, text, UNIT_NONE, "5ms, 1.5s, 90% or 100/s", assertion, error);
}

int assertion_parse_ratio(const char *option, const char *text, struct assertion *assertion,
                          struct error *error) {
    return parse(option, text, UNIT_SHARE, "105%", assertion, error);
}

enum assertion_figure assertion_figure(const struct assertion *assertion) {
    return metrics[assertion->metric].figure;
}

struct estimate assertion_estimate(const struct assertion *assertion,
                                   const struct sim_result *result) {
    struct estimate estimate;
    memcpy(&estimate, (const char *)result + metrics[assertion->metric].offset, sizeof estimate);
    return estimate;
}

const char *assertion_lacks(const struct assertion *assertion, const struct sim_result *result) {
    const struct metric *metric = &metrics[assertion->metric];
    if (result->regime != REGIME_ENDING && metric->of_ending_runs)
        return "a load without an end";
    if (result->regime > REGIME_STEADY && isnan(assertion_estimate(assertion, result).mean))
        return "more to do than it can: response times grow without end";
    return assertion_estimate(assertion, result).mean > 0 ? NULL : metric->needed;
}

bool assertion_allows(const struct assertion *assertion, double value) {
    if (assertion->or_equal && value == assertion->bound)
        return true;
    return assertion->relation == '<' ? value < assertion->bound : value > assertion->bound;
}

bool assertion_holds(const struct assertion *assertion, const struct sim_result *result,
                     double *value, enum unit *unit) {
    *value = assertion_estimate(assertion, result).mean;
    *unit = metrics[assertion->metric].unit;
    return assertion_allows(assertion, *value);
}
