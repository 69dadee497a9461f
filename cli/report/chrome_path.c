#include "cli/report/chrome_path.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/report/chrome_run.h"
#include "cli/report/path_tables.h"
#include "critical-path/critical_path.h"

static const struct chrome_arrow_kind hand_over = {CHROME_PATH, "path", "handed over"};

/* What is said again and again, as JSON string literals. */
struct texts {
    char **places, **objects, **threads;
};

static struct texts texts_of(const struct dependencies *all) {
    struct texts texts = {memory_alloc(all->n_places, sizeof(char *)),
                          memory_alloc(all->n_objects, sizeof(char *)),
                          memory_alloc(all->n_threads, sizeof(char *))};
    for (size_t p = 0; p < all->n_places; p++)
        texts.places[p] = chrome_quote_own(path_place_name(&all->places[p]));
    for (size_t o = 0; o < all->n_objects; o++)
        texts.objects[o] = chrome_quote_own(path_object_name(&all->objects[o]));
    for (size_t t = 0; t < all->n_threads; t++)
        texts.threads[t] = memory_format("%s %zu", all->threads[t].name, t);
    return texts;
}

static void free_all(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void texts_free(struct texts *texts, const struct dependencies *all) {
    free_all(texts->places, all->n_places);
    free_all(texts->objects, all->n_objects);
    free_all(texts->threads, all->n_threads);
}

static char *title_of(const struct path_piece *piece) {
    bool is_handed = piece->subject == PATH_HAND_OVER;
    return chrome_quote_own(memory_format("%s%s%s", path_subject_name(piece->subject),
                                          is_handed ? " " : "", is_handed ? piece->link : ""));
}

static void write_piece(const struct texts *texts, const struct path_piece *piece, FILE *out) {
    char *title = title_of(piece);
    chrome_begin(out, CHROME_PATH, (int)piece->thread, title, piece->from_ns,
                 piece->to_ns - piece->from_ns);
    fprintf(out, "\"place\":%s",
            piece->place == DEPENDENCIES_NONE ? "\"?\"" : texts->places[piece->place]);
    if (piece->object != DEPENDENCIES_NONE)
        fprintf(out, ",\"object\":%s", texts->objects[piece->object]);
    chrome_end(out);
    free(title);
}

/* From the last moment of the giver's piece, which ends where this one begins, so that the arrow
 * has something to start from. */
static void write_arrow(const struct path_piece *piece, unsigned number, FILE *out) {
    uint64_t from_ns = piece->from_ns > 0 ? piece->from_ns - 1 : 0;
    chrome_arrow(out, &hand_over, number, piece->giver, from_ns, piece->thread, piece->from_ns);
}

void chrome_path_write(const struct dependencies *all, struct trace_span span, FILE *out) {
    size_t n;
    unsigned arrows = 0;
    struct path_piece *pieces = critical_path_pieces(all, &n);
    struct texts texts = texts_of(all);
    bool *is_named = memory_alloc(all->n_threads, sizeof *is_named);
    chrome_name(out, "process_name", CHROME_PATH, 0, "critical path");
    for (size_t i = 0; i < n; i++) {
        const struct path_piece *piece = &pieces[i];
        if (!chrome_is_inside(span, piece->from_ns, piece->to_ns))
            continue;
        if (!is_named[piece->thread])
            chrome_name(out, "thread_name", CHROME_PATH, (int)piece->thread,
                        texts.threads[piece->thread]);
        is_named[piece->thread] = true;
        if (piece->to_ns > piece->from_ns)
            write_piece(&texts, piece, out);
        if (piece->giver != DEPENDENCIES_NONE)
            write_arrow(piece, ++arrows, out);
    }
    free(is_named);
    texts_free(&texts, all);
    free(pieces);
}

void chrome_path_print(const struct dependencies *all, FILE *out) {
    chrome_open(out);
    chrome_path_write(all, (struct trace_span){0, UINT64_MAX}, out);
    chrome_close(out, CHROME_PATH, "critical path");
}
