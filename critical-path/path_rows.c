#include "critical-path/path_rows.h"

#include <stdlib.h>

#include "base/memory.h"

/* Takes the name over. */
static uint32_t find(struct path_rows *rows, enum path_subject subject, char *name) {
    uint64_t key = map_mix_text((uint64_t)subject + 1, name);
    int number = map_get(&rows->numbers, key, -1);
    if (number >= 0) {
        free(name);
        return (uint32_t)number;
    }
    number = (int)rows->names.count;
    map_put(&rows->numbers, key, number);
    *VECTOR_ADD(&rows->names) = (struct path_row_name){subject, name};
    return (uint32_t)number;
}

/* Where the place is not known, as the thread makes no calls, the thread is. */
static uint32_t find_place(struct path_rows *rows, enum path_subject subject,
                           const struct dependency_step *step) {
    if (step->place == DEPENDENCIES_NONE)
        return find(rows, subject, memory_strdup(rows->all->threads[step->thread].name));
    int *known = &rows->of_place[subject][step->place];
    if (*known == 0)
        *known = (int)find(rows, subject, path_place_name(&rows->all->places[step->place])) + 1;
    return (uint32_t)*known - 1;
}

uint32_t path_rows_find(struct path_rows *rows, const struct dependency_step *step) {
    enum path_subject subject = path_subject_of(step);
    switch (subject) {
    case PATH_CORE:
    case PATH_WAKING:
        return find(rows, subject, memory_strdup(""));
    case PATH_HAND_OVER:
        return find(rows, subject, memory_strdup(path_link_name(step)));
    default:
        return find_place(rows, subject, step);
    }
}

struct path_rows path_rows_of(const struct dependencies *all) {
    struct path_rows rows = {.all = all, .numbers = MAP_EMPTY};
    for (size_t s = 0; s < PATH_SUBJECTS; s++)
        rows.of_place[s] = memory_alloc(all->n_places, sizeof(int));
    return rows;
}

void path_rows_free(struct path_rows *rows) {
    for (size_t s = 0; s < PATH_SUBJECTS; s++)
        free(rows->of_place[s]);
    for (size_t r = 0; r < rows->names.count; r++)
        free(rows->names.items[r].name);
    map_free(&rows->numbers);
    free(rows->names.items);
}
