#include "modelgen/candidates.h"

#include <string.h>

struct candidates left_out;

static const struct row {
    const char *name;
    bool *left_out;
    const char *what;
} rows[] = {
#define CANDIDATE(name, what) {#name, &left_out.name, what},
#include "modelgen/candidates.def"
#undef CANDIDATE
};

#define N_ROWS (sizeof rows / sizeof *rows)

bool candidates_leave_out(const char *name) {
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return *rows[i].left_out = true;
    return false;
}

void candidates_tell_left_out(void (*tell)(const char *name, void *context), void *context) {
    for (size_t i = 0; i < N_ROWS; i++)
        if (*rows[i].left_out)
            tell(rows[i].name, context);
}

void candidates_list(FILE *out) {
    for (size_t i = 0; i < N_ROWS; i++)
        fprintf(out, "  %s (candidate of monitor_search)\n    %s\n", rows[i].name, rows[i].what);
}
