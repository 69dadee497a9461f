#include "modelgen/form_check.h"

#include <string.h>

#include "modelgen/build.h"
#include "modelgen/events/events_check.h"
#include "modelgen/events/sections_check.h"
#include "modelgen/graph/graph_check.h"
#include "modelgen/scaling/scaling_check.h"
#include "modelgen/threads/threads_check.h"

/* Most filters find nothing to edit in most programs. */
static int check_events(const struct build *build, struct error *error) {
    bool is_counted = build->counts.routines != NULL;
    if (is_counted && build->counts.n_edits == event_log_n_edits(&build->log))
        return 0;
    return events_check(&build->log, error);
}

static int check_threads(const struct build *build, struct error *error) {
    return threads_check(build->trace, &build->pools, error);
}

static int check_sections(const struct build *build, struct error *error) {
    return sections_check(build->trace, &build->sections, error);
}

static int check_steps(const struct build *build, struct error *error) {
    return steps_check(build->streams.streams, build->trace, build->model, error);
}

static int check_objects(const struct build *build, struct error *error) {
    return objects_check(build->model, error);
}

static int check_graph(const struct build *build, struct error *error) {
    return graph_check(build->model, error);
}

static int check_scaling(const struct build *build, struct error *error) {
    return scaling_check(build->model, build->evidence, error);
}

/* One line a form, in the order of passes.def. */
static const struct {
    const char *form;
    int (*check)(const struct build *build, struct error *error);
} checks[] = {
    {"events", check_events},   {"pools", check_threads},   {"sections", check_sections},
    {"steps", check_steps},     {"objects", check_objects}, {"graph", check_graph},
    {"scaling", check_scaling},
};

int form_check(const char *form, const struct build *build, struct error *error) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].form, form) == 0)
            return checks[i].check(build, error);
    return 0;
}
