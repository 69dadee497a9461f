#include "modelgen/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/recorded_speed.h"

struct evidence evidence = {
#define EVIDENCE(name, value, what) .name = (value),
#include "modelgen/evidence.def"
#undef EVIDENCE
};

static const struct row {
    const char *name;
    double *value;
    const char *what;
} rows[] = {
#define EVIDENCE(name, value, what) {#name, &evidence.name, what},
#include "modelgen/evidence.def"
#undef EVIDENCE
};

int evidence_set(const char *assignment, struct error *error) {
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? (size_t)(equals - assignment) : strlen(assignment);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].name) != length || strncmp(rows[i].name, assignment, length) != 0)
            continue;
        char *end = NULL;
        double value = equals ? strtod(equals + 1, &end) : 0;
        if (!end || *end || !isfinite(value) || value <= 0)
            return error_set(error, "--evidence %s: give it as %s=NUMBER, above 0", assignment,
                             rows[i].name);
        *rows[i].value = value;
        return 0;
    }
    return error_set(error, "--evidence %s: there is no such threshold: --list-evidence names them",
                     assignment);
}

void evidence_list(FILE *out) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(out, "%-22s %7g  %s\n", rows[i].name, *rows[i].value, rows[i].what);
}
