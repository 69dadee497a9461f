#include "modelgen/events/blocked_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/catalog.h"
#include "modelgen/events/source_correlation.h"

/* Fewer samples tell nothing. */
#define ENOUGH_SAMPLES 5

/* Is the frame in the program's own source, neither in a header of the system nor in a library
 * whose source was elsewhere? */
static bool is_own(const struct sample_node *node) {
    return node->file && node->file[0] == '/' && strncmp(node->file, "/usr/", strlen("/usr/")) != 0;
}

/* The innermost frame of the program's own on the way to node `n`, -1 if there is none or a call of
 * the catalog is further in. */
static int own_frame(const struct sample *sample, size_t n) {
    for (int at = (int)n; at >= 0; at = sample->nodes[at].parent) {
        const struct sample_node *node = &sample->nodes[at];
        if (api_find_internal(node->function) >= 0)
            return -1;
        if (is_own(node))
            return at;
    }
    return -1;
}

/* What the frame had called on the way to node `n`; NULL: nothing. */
static const char *called_by(const struct sample *sample, int frame, size_t n) {
    const char *called = NULL;
    for (int at = (int)n; at != frame; at = sample->nodes[at].parent)
        called = sample->nodes[at].function;
    return called;
}

struct blocked_place blocked_place_find(const struct sample *sample, const char *root) {
    struct blocked_place place = {0};
    uint64_t *blocked = memory_alloc(sample->n_nodes, sizeof *blocked); /* per frame */
    int most = -1;
    for (size_t n = 0; n < sample->n_nodes; n++) {
        bool counts = sample->nodes[n].blocked > 0 && (!root || source_under_root(sample, n, root));
        int frame = counts ? own_frame(sample, n) : -1;
        if (frame < 0)
            continue;
        blocked[frame] += sample->nodes[n].blocked;
        if (most >= 0 && blocked[frame] < blocked[most])
            continue;
        most = frame;
        place.called = called_by(sample, frame, n);
    }
    if (most >= 0 && blocked[most] >= ENOUGH_SAMPLES)
        place.frame = &sample->nodes[most];
    free(blocked);
    return place;
}
