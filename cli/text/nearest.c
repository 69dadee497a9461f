#include "cli/text/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Of an error's line, and of a person's patience. */
enum { MOST_LETTERS = 500, MOST_NAMES = 5 };

static bool same_letter(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t nearest_distance(const char *wanted, const char *name) {
    size_t n = strlen(name);
    /* changes[j]: least for the part of `wanted` so far to end at letter j of `name`; it may begin
     * anywhere. */
    size_t *changes = memory_alloc(n + 1, sizeof *changes);
    for (; *wanted; wanted++) {
        size_t diagonal = changes[0]++;
        for (size_t j = 1; j <= n; j++) {
            size_t replaced = diagonal + !same_letter(*wanted, name[j - 1]);
            diagonal = changes[j];
            changes[j] = least_of(replaced, least_of(changes[j], changes[j - 1]) + 1);
        }
    }
    size_t least = changes[0];
    for (size_t j = 1; j <= n; j++)
        least = least_of(least, changes[j]);
    free(changes);
    return least;
}

struct candidate {
    const char *name;
    size_t distance, length, index;
};

static int compare_candidates(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->length != b->length) /* of two that have it as a part, the one that has less besides */
        return a->length < b->length ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

char *nearest_list(const char *wanted, const char *const *names, size_t n) {
    struct candidate *candidates = memory_alloc(n + 1, sizeof *candidates);
    for (size_t i = 0; i < n; i++)
        candidates[i] =
            (struct candidate){names[i], nearest_distance(wanted, names[i]), strlen(names[i]), i};
    qsort(candidates, n, sizeof *candidates, compare_candidates);
    char *list = memory_strdup("");
    size_t shown = 0;
    for (; shown < n && shown < MOST_NAMES; shown++) {
        if (shown > 0 && strlen(list) + strlen(candidates[shown].name) > MOST_LETTERS)
            break;
        char *longer = memory_format("%s%s'%s'", list, shown ? ", " : "", candidates[shown].name);
        free(list);
        list = longer;
    }
    if (shown < n) {
        char *longer = memory_format("%s and %zu others", list, n - shown);
        free(list);
        list = longer;
    }
    free(candidates);
    return list;
}
