#include "modelgen/form_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/build.h"
#include "modelgen/events/events_check.h"
#include "modelgen/events/sections_check.h"
#include "modelgen/graph/graph_check.h"
#include "modelgen/scaling/scaling_check.h"
#include "modelgen/threads/threads_check.h"

static int check_events(const struct build *build, struct error *error) {
    return events_check(&build->log, error);
}

static int check_threads(const struct build *build, struct error *error) {
    return threads_check(build->trace, &build->pools, error);
}

static int check_sections(const struct build *build, struct error *error) {
    return sections_check(build->trace, &build->sections, error);
}

static void use(bool *is_used, int object, size_t n) {
    if (object >= 0 && (size_t)object < n)
        is_used[object] = true;
}

/* By steps, as there may be no nodes yet; what others wait on is used with them. The caller frees.
 */
static bool *find_used(const struct build *build) {
    const struct model *model = build->model;
    bool *is_used = memory_alloc(model->n_objects, sizeof *is_used);
    for (size_t t = 0; t < build->trace->n_threads; t++)
        for (size_t s = 0; s < build->streams.streams[t].n_steps; s++) {
            const struct step *step = &build->streams.streams[t].steps[s];
            use(is_used, step_object(step), model->n_objects);
            use(is_used, step_mutex(step), model->n_objects);
        }
    for (size_t o = 0; o < model->n_objects; o++)
        use(is_used, model->objects[o].condition_of, model->n_objects);
    return is_used;
}

static int check_steps(const struct build *build, struct error *error) {
    return steps_check(build->streams.streams, build->trace, build->model, error);
}

static int check_objects(const struct build *build, struct error *error) {
    bool *is_used = find_used(build);
    int status = objects_check(build->model, is_used, error);
    free(is_used);
    return status;
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
