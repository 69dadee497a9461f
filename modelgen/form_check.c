#include "modelgen/form_check.h"

#include <stddef.h>
#include <string.h>

#include "modelgen/build.h"
#include "modelgen/events/events_check.h"
#include "modelgen/events/sections_check.h"
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

/* One line a form, in the order of passes.def. */
static const struct {
    const char *form;
    int (*check)(const struct build *build, struct error *error);
} checks[] = {
    {"events", check_events},
    {"pools", check_threads},
    {"sections", check_sections},
};

int form_check(const char *form, const struct build *build, struct error *error) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].form, form) == 0)
            return checks[i].check(build, error);
    return 0;
}
