#include "cli/report/path_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report/path_tables.h"
#include "cli/text/demangle.h"

/* ---- one stack ---- */

/* A frame of the file: ";" ends one there, and a line break the stack. */
static char *frame_of(const char *name) {
    char *frame = demangle_words(name);
    for (char *c = frame; *c; c++)
        if (*c == ';' || *c == '\n')
            *c = ':';
    return frame;
}

static char *done_there(const struct path_piece *piece) {
    const char *link = piece->subject == PATH_HAND_OVER ? piece->link : NULL;
    return memory_format("[%s%s%s]", path_subject_name(piece->subject), link ? " " : "",
                         link ? link : "");
}

/* Without calls, the thread is where it began. */
static struct path_stack stack_of(const struct dependencies *all, const struct path_piece *piece) {
    const struct dependency_place *place =
        piece->place == DEPENDENCIES_NONE ? NULL : &all->places[piece->place];
    size_t n_calls = place && place->n_frames > 0 ? place->n_frames : 1;
    struct path_stack stack = {n_calls + 1, memory_alloc(n_calls + 1, sizeof(char *)),
                               piece->to_ns - piece->from_ns};
    for (size_t f = 0; f < n_calls; f++)
        stack.frames[f] =
            frame_of(place && place->n_frames > 0 ? place->frames[place->n_frames - 1 - f].function
                                                  : all->threads[piece->thread].name);
    stack.frames[n_calls] = done_there(piece);
    return stack;
}

static void free_stack(struct path_stack *stack) {
    for (size_t f = 0; f < stack->n_frames; f++)
        free(stack->frames[f]);
    free(stack->frames);
}

/* ---- all of them ---- */

static int compare_stacks(const void *left, const void *right) {
    const struct path_stack *a = left, *b = right;
    for (size_t f = 0; f < a->n_frames && f < b->n_frames; f++) {
        int order = strcmp(a->frames[f], b->frames[f]);
        if (order != 0)
            return order;
    }
    return (a->n_frames > b->n_frames) - (a->n_frames < b->n_frames);
}

/* Whatever is called the same becomes one. */
static void join(struct path_stacks *stacks) {
    size_t kept = 0;
    for (size_t i = 0; i < stacks->count; i++) {
        struct path_stack *now = &stacks->items[i];
        if (kept > 0 && compare_stacks(&stacks->items[kept - 1], now) == 0) {
            stacks->items[kept - 1].path_ns += now->path_ns;
            free_stack(now);
        } else {
            stacks->items[kept++] = *now;
        }
    }
    stacks->count = kept;
}

/* Pieces of one place, thread and subject stand side by side. */
static int compare_pieces(const void *left, const void *right) {
    const struct path_piece *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->subject != b->subject)
        return a->subject < b->subject ? -1 : 1;
    return strcmp(a->link, b->link);
}

struct path_stacks path_stacks_of(const struct dependencies *all) {
    size_t n;
    struct path_piece *pieces = critical_path_pieces(all, &n);
    struct {
        struct path_stack *items;
        size_t count, capacity;
    } found = {0};
    if (n > 0)
        qsort(pieces, n, sizeof *pieces, compare_pieces);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_pieces(&pieces[i - 1], &pieces[i]) != 0)
            *VECTOR_ADD(&found) = stack_of(all, &pieces[i]);
        else
            found.items[found.count - 1].path_ns += pieces[i].to_ns - pieces[i].from_ns;
    }
    free(pieces);
    struct path_stacks stacks = {found.count, found.items};
    VECTOR_SORT(&stacks, compare_stacks);
    join(&stacks);
    return stacks;
}

void path_stacks_free(struct path_stacks *stacks) {
    for (size_t i = 0; i < stacks->count; i++)
        free_stack(&stacks->items[i]);
    free(stacks->items);
}

void path_stacks_print(const struct path_stacks *stacks, FILE *out) {
    for (size_t i = 0; i < stacks->count; i++) {
        const struct path_stack *stack = &stacks->items[i];
        if (stack->path_ns == 0)
            continue;
        for (size_t f = 0; f < stack->n_frames; f++)
            fprintf(out, "%s%s", f > 0 ? ";" : "", stack->frames[f]);
        fprintf(out, " %llu\n", (unsigned long long)stack->path_ns);
    }
}
