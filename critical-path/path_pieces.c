/* The path, piece by piece. */
#include <stdlib.h>

#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "critical-path/longest_path.h"

/* The piece of the path that ends with this step; no time: it only passes. */
static struct path_piece piece_of(const struct longest_path *path, uint32_t index) {
    const struct dependency_step *steps = path->all->steps, *step = &steps[index];
    bool crosses = path->via[index] == VIA_CAUSE;
    bool has_weight =
        crosses || (path->via[index] != VIA_LIMIT && step->cause == DEPENDENCIES_NONE);
    double took_ns = crosses      ? longest_path_latency(path->all, index)
                     : has_weight ? longest_path_lasted(path, index)
                                  : 0;
    uint32_t previous = longest_path_previous(path, index);
    bool is_handed = previous != DEPENDENCIES_NONE && steps[previous].thread != step->thread;
    return (struct path_piece){.thread = step->thread,
                               .subject = path_subject_of(step),
                               .link = path_link_name(step),
                               .place = step->place,
                               .object = step->object,
                               .giver = is_handed ? steps[previous].thread : DEPENDENCIES_NONE,
                               .from_ns = step->end_ns - (uint64_t)took_ns,
                               .to_ns = step->end_ns};
}

struct path_piece *critical_path_pieces(const struct dependencies *all, size_t *n) {
    struct longest_path path = longest_path_find(all, longest_path_as_it_lasted, NULL);
    struct {
        struct path_piece *items;
        size_t count, capacity;
    } pieces = {0};
    for (uint32_t at = path.end; at != DEPENDENCIES_NONE; at = longest_path_previous(&path, at)) {
        struct path_piece piece = piece_of(&path, at);
        if (piece.to_ns > piece.from_ns || piece.giver != DEPENDENCIES_NONE)
            *VECTOR_ADD(&pieces) = piece;
    }
    for (size_t i = 0; i < pieces.count / 2; i++) {
        struct path_piece *a = &pieces.items[i], *b = &pieces.items[pieces.count - 1 - i], c = *a;
        *a = *b;
        *b = c;
    }
    longest_path_free(&path);
    *n = pieces.count;
    return pieces.items;
}
