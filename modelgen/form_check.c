#include "modelgen/form_check.h"

#include <stddef.h>
#include <string.h>

#include "modelgen/build.h"
#include "modelgen/events/events_check.h"

static int check_events(const struct build *build, struct error *error) {
    return events_check(&build->log, error);
}

/* One line a form, in the order of passes.def. */
static const struct {
    const char *form;
    int (*check)(const struct build *build, struct error *error);
} checks[] = {
    {"events", check_events},
};

int form_check(const char *form, const struct build *build, struct error *error) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].form, form) == 0)
            return checks[i].check(build, error);
    return 0;
}
