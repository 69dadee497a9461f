#include "tracer/busy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"

void busy_add(struct busy *busy, double from_ns, double to_ns) {
    if (to_ns > from_ns)
        *VECTOR_ADD(busy) = (struct busy_span){from_ns, to_ns};
}

int busy_compare_spans(const void *left, const void *right) {
    const struct busy_span *a = left, *b = right;
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

void busy_settle(struct busy *busy) {
    if (busy->count == 0)
        return;
    VECTOR_SORT(busy, busy_compare_spans);
    size_t kept = 1;
    for (size_t i = 1; i < busy->count; i++) {
        struct busy_span *last = &busy->items[kept - 1];
        if (busy->items[i].from_ns <= last->to_ns)
            last->to_ns = fmax(last->to_ns, busy->items[i].to_ns);
        else
            busy->items[kept++] = busy->items[i];
    }
    busy->count = kept;
}

struct busy busy_any(const struct busy *all, size_t n) {
    struct busy any = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < all[i].count; s++)
            *VECTOR_ADD(&any) = all[i].items[s];
    busy_settle(&any);
    return any;
}

void busy_free(struct busy *busy) {
    free(busy->items);
    *busy = (struct busy){0};
}

size_t busy_first_after(const struct busy *busy, double time_ns) {
    struct bisection at = bisection_of(0, busy->count);
    while (bisection_next(&at))
        bisection_tell(&at, busy->items[at.middle].to_ns <= time_ns);
    return at.low;
}

void busy_explain(struct busy *user, const struct busy *block, struct clock_line line,
                  double wider_ns) {
    struct busy rest = {0};
    size_t b = 0;
    for (size_t s = 0; s < user->count; s++) {
        struct busy_span span = user->items[s];
        while (b < block->count &&
               clock_line_at(line, block->items[b].to_ns) + wider_ns <= span.from_ns)
            b++;
        for (size_t at = b; at < block->count; at++) {
            double from_ns = clock_line_at(line, block->items[at].from_ns) - wider_ns;
            if (from_ns >= span.to_ns)
                break;
            busy_add(&rest, span.from_ns, from_ns);
            span.from_ns = clock_line_at(line, block->items[at].to_ns) + wider_ns;
        }
        busy_add(&rest, span.from_ns, span.to_ns);
    }
    busy_free(user);
    *user = rest;
}

void busy_sample(const struct busy *busy, double from_ns, double bin_ns, double *bins, size_t n) {
    double until_ns = from_ns + bin_ns * (double)n;
    for (size_t s = busy_first_after(busy, from_ns); s < busy->count; s++) {
        if (busy->items[s].from_ns >= until_ns)
            break;
        double from = fmax(busy->items[s].from_ns - from_ns, 0) / bin_ns;
        double to = fmin((busy->items[s].to_ns - from_ns) / bin_ns, (double)n);
        for (size_t bin = (size_t)from; bin < n && (double)bin < to; bin++)
            bins[bin] += fmin(to, (double)bin + 1) - fmax(from, (double)bin);
    }
}

/* ---- correlation ---- */

/* The part of a signal in [from, to), its spans one after the other. */
struct reading {
    const struct busy *busy;
    struct clock_line line;
    double from_ns, to_ns;
    size_t next;
};

static struct reading read_signal(const struct busy *busy, struct clock_line line, double from_ns,
                                  double to_ns) {
    double own_ns = (from_ns - line.offset_ns) / (1 + line.drift);
    return (struct reading){busy, line, from_ns, to_ns, busy_first_after(busy, own_ns)};
}

/* An empty span at the end: none is left. */
static struct busy_span next_span(struct reading *reading) {
    if (reading->next == reading->busy->count)
        return (struct busy_span){reading->to_ns, reading->to_ns};
    struct busy_span own = reading->busy->items[reading->next++];
    double from_ns = fmax(clock_line_at(reading->line, own.from_ns), reading->from_ns);
    double to_ns = fmin(clock_line_at(reading->line, own.to_ns), reading->to_ns);
    return from_ns < reading->to_ns ? (struct busy_span){from_ns, fmax(from_ns, to_ns)}
                                    : (struct busy_span){reading->to_ns, reading->to_ns};
}

double busy_correlation(const struct busy *user, const struct busy *block, struct clock_line line,
                        double from_ns, double to_ns) {
    struct reading users = read_signal(user, (struct clock_line){0}, from_ns, to_ns);
    struct reading blocks = read_signal(block, line, from_ns, to_ns);
    struct busy_span u = next_span(&users), b = next_span(&blocks);
    double user_ns = u.to_ns - u.from_ns, block_ns = b.to_ns - b.from_ns, both_ns = 0;
    while (u.from_ns < to_ns || b.from_ns < to_ns) {
        both_ns += fmax(0, fmin(u.to_ns, b.to_ns) - fmax(u.from_ns, b.from_ns));
        bool user_ends = u.from_ns < to_ns && (u.to_ns <= b.to_ns || b.from_ns >= to_ns);
        struct busy_span *ended = user_ends ? &u : &b;
        *ended = next_span(user_ends ? &users : &blocks);
        *(user_ends ? &user_ns : &block_ns) += ended->to_ns - ended->from_ns;
    }
    double all_ns = to_ns - from_ns, user_share = user_ns / all_ns, block_share = block_ns / all_ns;
    double spread = sqrt(user_share * (1 - user_share)) * sqrt(block_share * (1 - block_share));
    return spread > 0 ? (both_ns / all_ns - user_share * block_share) / spread : 0;
}

double busy_fisher(double correlation) {
    return atanh(fmax(fmin(correlation, 1 - 1e-9), -1 + 1e-9));
}

double busy_mean_ns(const struct busy *busy) {
    double sum_ns = 0;
    for (size_t i = 0; i < busy->count; i++)
        sum_ns += busy->items[i].to_ns - busy->items[i].from_ns;
    return busy->count > 0 ? sum_ns / (double)busy->count : 0;
}
