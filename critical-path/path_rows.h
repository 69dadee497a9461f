/* What the rows of a report are about, each once: by what is done and where. Private to this room.
 */
#ifndef PERSIK_CRITICAL_PATH_PATH_ROWS_H
#define PERSIK_CRITICAL_PATH_PATH_ROWS_H

#include "base/map.h"
#include "critical-path/path_subject.h"
#include "formats/dependencies.h"

struct path_rows {
    const struct dependencies *all;
    struct {
        struct path_row_name {
            enum path_subject subject;
            char *name; /* "parse (parse.c:31)"; owned; NULL: another one has taken it over */
        } * items;
        size_t count, capacity;
    } names;
    struct map numbers;           /* of subject and name -> its row */
    int *of_place[PATH_SUBJECTS]; /* per place: 1 + its row; 0: none yet */
};

struct path_rows path_rows_of(const struct dependencies *all);

/* The number of the step's row, which may be a new one, behind all others. */
uint32_t path_rows_find(struct path_rows *rows, const struct dependency_step *step);

void path_rows_free(struct path_rows *rows);

#endif
