#include "modelgen/form_check.h"

#include <string.h>

#include "modelgen/build.h"
#include "modelgen/graph/graph_check.h"
#include "modelgen/scaling/scaling_check.h"

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

static const struct {
    const char *form;
    int (*check)(const struct build *build, struct error *error);
} checks[] = {
    {"steps", check_steps},
    {"objects", check_objects},
    {"graph", check_graph},
    {"scaling", check_scaling},
};

int form_check(const char *form, const struct build *build, struct error *error) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].form, form) == 0)
            return checks[i].check(build, error);
    return 0;
}
