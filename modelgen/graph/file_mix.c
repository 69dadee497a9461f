#include "modelgen/graph/file_mix.h"

#include <math.h>
#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "modelgen/events/thread_numbers.h"
#include "modelgen/evidence.h"

/* What a thread did from behind the end of a request up to the end of the next one. */
struct piece {
    size_t thread, first, end; /* its steps [first, end) */
    uint64_t from_ns, to_ns;
    size_t kind;  /* of the mix; its number of kinds: none of these */
    bool is_kept; /* so far */
};

struct pieces {
    struct piece *items; /* by thread, then by time */
    size_t count, capacity;
};

/* How many requests of a kind there are. */
struct kind_count {
    size_t recorded, kept;
    double factor, share; /* of the recorded ones, that are to be kept */
};

uint64_t file_mix_key(uint32_t device, uint64_t inode) {
    return map_mix(map_mix(1, device), inode);
}

/* ---- which requests there are ---- */

static struct pieces find_pieces(const struct trace *trace, const struct stream *streams,
                                 size_t kind) {
    struct pieces pieces = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct stream *stream = &streams[t];
        size_t first = 0;
        uint64_t from_ns = 0;
        for (size_t s = 0; s < stream->n_steps; s++) {
            const struct step *step = &stream->steps[s];
            if (step->kind != NODE_TASK_END)
                continue;
            *VECTOR_ADD(&pieces) =
                (struct piece){t, first, s + 1, from_ns, step->start_ns, kind, true};
            first = s + 1;
            from_ns = step->start_ns;
        }
    }
    return pieces;
}

/* NULL: none. */
static struct piece *find_piece(const struct pieces *pieces, size_t thread, uint64_t time_ns) {
    struct bisection at = bisection_of(0, pieces->count);
    while (bisection_next(&at)) {
        const struct piece *piece = &pieces->items[at.middle];
        bisection_tell(&at, piece->thread < thread ||
                                (piece->thread == thread && piece->to_ns < time_ns));
    }
    bool found = at.low < pieces->count && pieces->items[at.low].thread == thread;
    return found ? &pieces->items[at.low] : NULL;
}

/* Which files each request read: the first kind of the mix counts that it read one of. Gives the
 * share of the reads that were for no request. */
static double find_kinds(const struct file_mix *mix, const struct trace *trace,
                         const struct pieces *pieces) {
    struct thread_numbers numbers = thread_numbers_find(trace);
    double reads = 0, outside = 0;
    for (size_t i = 0; i < trace->n_pages; i++) {
        const struct trace_pages *pages = &trace->pages[i];
        int thread = thread_numbers_owner(&numbers, pages->tid, pages->time_ns);
        if (thread < 0 || pages->kind == PAGES_ADDED)
            continue;
        struct piece *piece = find_piece(pieces, (size_t)thread, pages->time_ns);
        reads++;
        outside += !piece;
        int kind = map_get(&mix->kind_of, file_mix_key(pages->device, pages->file), (int)mix->n);
        if (piece && (size_t)kind < piece->kind)
            piece->kind = (size_t)kind;
    }
    thread_numbers_free(&numbers);
    return reads > 0 ? outside / reads : 0;
}

/* ---- which ones stay ---- */

struct request_end {
    uint64_t time_ns;
    size_t piece;
};

static int compare_ends(const void *left, const void *right) {
    const struct request_end *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

/* A thread's first one stays: behind it the thread is where the others end. */
static void choose(const struct pieces *pieces, struct kind_count *counts) {
    struct request_end *ends = memory_alloc(pieces->count, sizeof *ends);
    for (size_t i = 0; i < pieces->count; i++)
        ends[i] = (struct request_end){pieces->items[i].to_ns, i};
    qsort(ends, pieces->count, sizeof *ends, compare_ends);
    for (size_t i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->items[ends[i].piece];
        struct kind_count *count = &counts[piece->kind];
        double before = (double)count->recorded++ * count->share;
        bool is_first = piece == pieces->items || piece[-1].thread != piece->thread;
        piece->is_kept = is_first || round(before + count->share) > round(before);
        count->kept += piece->is_kept;
    }
    free(ends);
}

static double find_shares(const struct pieces *pieces, struct kind_count *counts, size_t n) {
    double most = 0;
    bool *is_there = memory_alloc(n, sizeof *is_there);
    for (size_t i = 0; i < pieces->count; i++)
        is_there[pieces->items[i].kind] = true;
    for (size_t k = 0; k < n; k++)
        most = is_there[k] ? fmax(most, counts[k].factor) : most;
    for (size_t k = 0; k < n && most > 0; k++)
        counts[k].share = counts[k].factor / most;
    free(is_there);
    return most;
}

static const char *name_of(const struct file_mix *mix, size_t kind) {
    return kind < mix->n ? mix->kinds[kind].name : "all other files";
}

/* Are there too few requests of the kind, or too many that must stay? The caller frees; NULL: no.
 */
static char *refuse_count(const struct file_mix *mix, size_t kind, const struct kind_count *count) {
    const char *name = name_of(mix, kind);
    double recorded = (double)count->recorded, wanted = count->share * recorded;
    if (count->recorded == 0 && kind < mix->n)
        return memory_format("no recorded request read a file of %s: files are told by their "
                             "inodes, which must be those of the recorded run",
                             name);
    if (wanted > 0 && wanted < evidence.little)
        return memory_format("of the %zu recorded requests for %s this mix has %.0f: too few to "
                             "say: record more of them",
                             count->recorded, name, wanted);
    if ((double)count->kept - wanted > 1 + evidence.matters * recorded)
        return memory_format(
            "the threads that answer requests for %s answer few each: what they do "
            "cannot be left out request by request",
            name);
    return NULL;
}

static char *refuse(const struct file_mix *mix, const struct trace *trace,
                    const struct pieces *pieces, struct kind_count *counts) {
    if (!trace->meta.has_pages)
        return memory_format("the recording does not tell which files were read: %s",
                             trace->meta.no_pages ? trace->meta.no_pages
                                                  : "record again as root, on Linux 6.13 or later");
    if (pieces->count == 0)
        return memory_strdup("no requests are recognised that the program answers");
    double outside = find_kinds(mix, trace, pieces);
    if (outside > evidence.matters)
        return memory_format("%.0f %% of the reads of files are made by threads that end no "
                             "request: for which one they were is not known",
                             100 * outside);
    if (find_shares(pieces, counts, mix->n + 1) == 0)
        return memory_strdup("this mix has no requests at all");
    choose(pieces, counts);
    char *refused = NULL;
    for (size_t k = 0; k <= mix->n && !refused; k++)
        refused = refuse_count(mix, k, &counts[k]);
    return refused;
}

/* ---- the steps ---- */

/* The step before stands for what is left out behind it: no computing lies between it and the next
 * one that stays. */
static void leave_out(struct stream *stream, const struct piece *piece, size_t n) {
    size_t kept = 0;
    for (size_t s = 0; s < stream->n_steps; s++) {
        const struct step *step = &stream->steps[s];
        while (n > 0 && s >= piece->end) {
            piece++;
            n--;
        }
        if (n == 0 || piece->is_kept) {
            stream->steps[kept++] = *step;
            continue;
        }
        stream->steps[kept - 1].left_out += step->records + step->left_out;
        stream->steps[kept - 1].end_ns = step->end_ns;
    }
    stream->n_steps = kept;
}

static void leave_out_all(const struct pieces *pieces, struct stream *streams,
                          struct mixed_run *run) {
    for (size_t from = 0, to; from < pieces->count; from = to) {
        size_t thread = pieces->items[from].thread;
        for (to = from; to < pieces->count && pieces->items[to].thread == thread; to++) {
            const struct piece *piece = &pieces->items[to];
            run->kept += piece->is_kept;
            if (!piece->is_kept)
                *VECTOR_ADD(&run->left_out) =
                    (struct left_out){thread, piece->from_ns, piece->to_ns};
        }
        leave_out(&streams[thread], &pieces->items[from], to - from);
    }
}

struct mixed_run file_mix_apply(const struct file_mix *mix, const struct trace *trace,
                                struct stream *streams) {
    struct pieces pieces = find_pieces(trace, streams, mix->n);
    struct mixed_run run = {.recorded = pieces.count};
    struct kind_count *counts = memory_alloc(mix->n + 1, sizeof *counts);
    for (size_t k = 0; k <= mix->n; k++)
        counts[k].factor = k < mix->n ? mix->kinds[k].factor : 1;
    run.refused = refuse(mix, trace, &pieces, counts);
    if (!run.refused)
        leave_out_all(&pieces, streams, &run);
    free(counts);
    free(pieces.items);
    return run;
}

void mixed_run_free(struct mixed_run *run) {
    free(run->left_out.items);
    free(run->refused);
    *run = (struct mixed_run){0};
}

bool mixed_run_lacks(const struct mixed_run *run, size_t thread, uint64_t time_ns) {
    const struct left_out *items = run->left_out.items;
    struct bisection at = bisection_of(0, run->left_out.count);
    while (bisection_next(&at)) {
        const struct left_out *left_out = &items[at.middle];
        bisection_tell(&at, left_out->thread < thread ||
                                (left_out->thread == thread && left_out->to_ns < time_ns));
    }
    return at.low < run->left_out.count && items[at.low].thread == thread &&
           items[at.low].from_ns < time_ns;
}
