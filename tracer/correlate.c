#include "tracer/correlate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "tracer/lag_search.h"

/* A wrong lag costs more than a refusal: a trace without disk requests says so. */
#define MOST_CHANCE           1e-3
#define MOST_CHANCE_TO_FOLLOW 0.05

/* FFT points that a search may take for all pairs; of more sources the busiest are compared. */
#define SEARCH_COST (1u << 26)
/* And for one: lags of more than an hour, at the coarsest bins, are not searched. */
#define MOST_POINTS           (1u << 22)
#define MOST_WINDOWS_SEARCHED 4

/* The lag is searched in windows of the users' signals: 8 s in bins of 1 ms, as in the paper, for
 * clocks that drift by 100 ppm part by less than a bin in it. Then longer, for programs with few
 * requests, and finer, for those that always have one. */
static const struct resolution {
    double bin_ns;
    size_t bins;
} resolutions[] = {{1e6, 8192}, {1e6, 32768}, {1e5, 8192}};

/* Where the lag is looked up again to follow it: windows of so many spans. */
#define FOLLOWED_WINDOWS 24
#define LEAST_SPANS      40
#define MOST_SPANS       400

/* A thread goes to sleep a little after its request is queued, and awakes after it is done. */
#define WIDER_NS 1e5
/* Of an issuer, the threads that may be its: those with the highest correlations. */
#define JUDGED_USERS 8

#define LEAST_DECOY_NS 37e6 /* no multiple of a usual period */
#define DECOYS         24   /* wrong lags, which show how high a correlation is by chance */

struct search {
    const struct correlate_input *input;
    struct busy any_user, any_block;
    double from_ns, to_ns; /* of the users' signals */
};

/* ---- which sources are compared ---- */

struct ranked {
    size_t source, spans;
};

static int compare_ranked(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    return (a->spans < b->spans) - (a->spans > b->spans);
}

/* The busiest sources, at most `most`, and what all of them do together: of more than one source,
 * the last of the array. Shares the spans. */
static struct busy *busiest(const struct busy *all, size_t n_all, struct busy any, size_t most,
                            size_t *n) {
    struct ranked *ranked = memory_alloc(n_all + 1, sizeof *ranked);
    for (size_t i = 0; i < n_all; i++)
        ranked[i] = (struct ranked){i, all[i].count};
    if (n_all > 0)
        qsort(ranked, n_all, sizeof *ranked, compare_ranked);
    struct busy *chosen = memory_alloc(n_all + 1, sizeof *chosen);
    *n = 0;
    for (size_t i = 0; i < n_all && *n + 1 < most && ranked[i].spans > 0; i++)
        chosen[(*n)++] = all[ranked[i].source];
    if (*n != 1)
        chosen[(*n)++] = any;
    free(ranked);
    return chosen;
}

/* ---- where the lag is searched ---- */

static size_t spans_between(const struct busy *busy, double from_ns, double to_ns) {
    size_t first = busy_first_after(busy, from_ns), last = busy_first_after(busy, to_ns);
    return last - first;
}

struct chunk {
    double from_ns;
    size_t spans;
};

static int compare_chunks(const void *left, const void *right) {
    const struct chunk *a = left, *b = right;
    return (a->spans < b->spans) - (a->spans > b->spans);
}

static struct lag_peak search_chunk(const struct search *search, double from_ns,
                                    struct resolution resolution) {
    const struct correlate_input *input = search->input;
    struct lag_window window = {
        from_ns, fmin(from_ns + (double)resolution.bins * resolution.bin_ns, search->to_ns),
        input->least_lag_ns, input->most_lag_ns, resolution.bin_ns};
    double points = (window.most_lag_ns - window.least_lag_ns) / resolution.bin_ns +
                    2 * (double)resolution.bins;
    if (!(points < MOST_POINTS))
        return (struct lag_peak){.chance = 1};
    size_t pairs = (size_t)fmax(1, SEARCH_COST / points), most = (size_t)sqrt((double)pairs);
    struct lag_sides sides;
    struct busy *users =
        busiest(input->users, input->n_users, search->any_user, most + 1, &sides.n_users);
    struct busy *blocks =
        busiest(input->blocks, input->n_blocks, search->any_block, most + 1, &sides.n_blocks);
    sides.users = users;
    sides.blocks = blocks;
    struct lag_peak peak = lag_search(&sides, &window);
    free(users);
    free(blocks);
    return peak;
}

/* The windows in which most happens come first. `at_ns` gets the middle of the one that told. */
static struct lag_peak search_lag(const struct search *search, struct resolution resolution,
                                  double *at_ns) {
    double length_ns = (double)resolution.bins * resolution.bin_ns;
    size_t n = (size_t)ceil((search->to_ns - search->from_ns) / length_ns);
    struct chunk *chunks = memory_alloc(n, sizeof *chunks);
    for (size_t i = 0; i < n; i++) {
        double from_ns = search->from_ns + (double)i * length_ns;
        chunks[i] =
            (struct chunk){from_ns, spans_between(&search->any_user, from_ns, from_ns + length_ns)};
    }
    qsort(chunks, n, sizeof *chunks, compare_chunks);
    struct lag_peak best = {.chance = 1};
    for (size_t i = 0; i < n && i < MOST_WINDOWS_SEARCHED; i++) {
        struct lag_peak peak = search_chunk(search, chunks[i].from_ns, resolution);
        if (i == 0 || peak.chance < best.chance) {
            best = peak;
            double to_ns = fmin(chunks[i].from_ns + length_ns, search->to_ns);
            *at_ns = (chunks[i].from_ns + to_ns) / 2;
        }
        if (best.chance < MOST_CHANCE / 10)
            break;
    }
    free(chunks);
    return best;
}

/* ---- pairs ---- */

struct candidate {
    size_t user, block; /* user == n_users: all of them */
    double correlation, confidence;
};

static struct clock_line shifted(struct clock_line line, double by_ns) {
    line.offset_ns += by_ns;
    return line;
}

/* The correlation of both, and how sure it is that it is no chance: wrong lags to both sides show
 * what chance gives. They are further from each other than a call and a request usually last. Each
 * is held against its neighbours, the right one, too, for the phases in which a program does much
 * or nothing let all correlations near the right lag rise. */
static struct candidate judge_pair(const struct busy *user, const struct busy *block,
                                   struct clock_line line, double from_ns, double to_ns) {
    struct candidate candidate = {.correlation =
                                      busy_correlation(user, block, line, from_ns, to_ns)};
    if (candidate.correlation <= 0)
        return candidate;
    double heights[2 * DECOYS + 1], wrong[2 * DECOYS], right = 0;
    double step_ns = fmax(LEAST_DECOY_NS, 2 * (busy_mean_ns(user) + busy_mean_ns(block)));
    for (int i = -DECOYS; i <= DECOYS; i++)
        heights[i + DECOYS] =
            busy_fisher(busy_correlation(user, block, shifted(line, i * step_ns), from_ns, to_ns));
    size_t n = 0;
    for (int i = 1; i < 2 * DECOYS; i++) {
        double rise = heights[i] - (heights[i - 1] + heights[i + 1]) / 2;
        if (i == DECOYS)
            right = rise;
        else if (abs(i - DECOYS) > 1)
            wrong[n++] = rise;
    }
    double spread = gsl_stats_sd(wrong, 1, n);
    double beyond = right - gsl_stats_mean(wrong, 1, n);
    if (spread > 0)
        candidate.confidence =
            gsl_cdf_tdist_P(beyond / (spread * sqrt(1 + 1.0 / (double)n)), (double)n - 1);
    return candidate;
}

struct correlate_pair correlate_at(const struct busy *user, const struct busy *block,
                                   struct clock_line line, double from_ns, double to_ns) {
    struct candidate judged = judge_pair(user, block, line, from_ns, to_ns);
    return (struct correlate_pair){.correlation = judged.correlation,
                                   .confidence = judged.confidence};
}

static int compare_candidates(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? 1 : -1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return (a->user > b->user) - (a->user < b->user);
}

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

/* Of an issuer, the threads with the highest correlations, unjudged: `n` of them at most. */
static size_t best_users(const struct search *search, size_t block, struct clock_line line,
                         struct busy_span window, size_t most, struct candidate *best) {
    const struct correlate_input *input = search->input;
    size_t n = 0;
    for (size_t i = 0; i < input->n_users; i++) {
        struct candidate found = {.user = i,
                                  .block = block,
                                  .correlation =
                                      busy_correlation(&input->users[i], &input->blocks[block],
                                                       line, window.from_ns, window.to_ns)};
        if (found.correlation <= 0 || (n == most && found.correlation <= best[n - 1].correlation))
            continue;
        size_t at = n < most ? n++ : n - 1;
        for (; at > 0 && best[at - 1].correlation < found.correlation; at--)
            best[at] = best[at - 1];
        best[at] = found;
    }
    return n;
}

static struct candidates find_candidates(const struct search *search, struct clock_line line,
                                         struct busy_span window, double most_chance) {
    const struct correlate_input *input = search->input;
    struct candidates candidates = {0};
    for (size_t j = 0; j < input->n_blocks; j++) {
        struct candidate best[JUDGED_USERS + 1];
        /* A log with one issuer only does not tell whose requests it has. */
        bool untold = input->n_blocks == 1;
        size_t n = untold ? 0 : best_users(search, j, line, window, JUDGED_USERS, best);
        if (input->n_users > 1 || untold)
            best[n++].user = input->n_users;
        for (size_t i = 0; i < n; i++) {
            size_t user = best[i].user;
            struct candidate judged =
                judge_pair(user < input->n_users ? &input->users[user] : &search->any_user,
                           &input->blocks[j], line, window.from_ns, window.to_ns);
            judged.user = user;
            judged.block = j;
            if (judged.confidence > 1 - most_chance)
                *VECTOR_ADD(&candidates) = judged;
        }
    }
    VECTOR_SORT(&candidates, compare_candidates);
    return candidates;
}

static double next_best(const struct candidates *candidates, const struct candidate *chosen,
                        size_t n_users) {
    for (size_t c = 0; c < candidates->count; c++) {
        const struct candidate *other = &candidates->items[c];
        if (other->block == chosen->block && other->user != chosen->user && other->user < n_users)
            return other->correlation;
    }
    return 0;
}

/* What of each thread's waiting no paired issuer explains yet; the last: of all threads. */
static struct busy *copy_users(const struct search *search) {
    const struct correlate_input *input = search->input;
    struct busy *copies = memory_alloc(input->n_users + 1, sizeof *copies);
    for (size_t i = 0; i <= input->n_users; i++) {
        const struct busy *user = i < input->n_users ? &input->users[i] : &search->any_user;
        for (size_t s = 0; s < user->count; s++)
            *VECTOR_ADD(&copies[i]) = user->items[s];
    }
    return copies;
}

static void explain(struct busy *rests, size_t n_users, const struct candidate *taken,
                    const struct busy *block, struct clock_line line) {
    for (size_t i = 0; i < n_users; i++)
        if (i == taken->user || taken->user == n_users)
            busy_explain(&rests[i], block, line, WIDER_NS);
    busy_free(&rests[n_users]);
    rests[n_users] = busy_any(rests, n_users);
}

/* Greedy, the highest correlation first. A thread whose waiting its issuer explains has no other
 * one: who has the same disk waits when it is busy with others' requests, too, and correlates with
 * them. But there may be several threads of the kernel that issue for it, or for all. */
static void choose_pairs(const struct search *search, const struct candidates *candidates,
                         struct busy_span window, double most_chance, struct correlation *result) {
    const struct correlate_input *input = search->input;
    struct busy *rests = copy_users(search);
    bool *block_taken = memory_alloc(input->n_blocks, sizeof *block_taken);
    bool any_taken = false, *user_taken = memory_alloc(input->n_users + 1, sizeof *user_taken);
    result->pairs = memory_alloc(input->n_blocks, sizeof *result->pairs);
    result->n_pairs = 0;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct candidate *candidate = &candidates->items[c];
        const struct busy *block = &input->blocks[candidate->block];
        bool all = candidate->user == input->n_users;
        if (block_taken[candidate->block])
            continue;
        if ((all && any_taken) || user_taken[candidate->user] || user_taken[input->n_users]) {
            struct candidate rest = judge_pair(&rests[candidate->user], block, result->line,
                                               window.from_ns, window.to_ns);
            if (rest.confidence <= 1 - most_chance)
                continue;
        }
        block_taken[candidate->block] = user_taken[candidate->user] = any_taken = true;
        explain(rests, input->n_users, candidate, block, result->line);
        result->pairs[result->n_pairs++] =
            (struct correlate_pair){.block = candidate->block,
                                    .user = all ? CORRELATE_NONE : candidate->user,
                                    .correlation = candidate->correlation,
                                    .next = next_best(candidates, candidate, input->n_users),
                                    .confidence = candidate->confidence};
    }
    for (size_t i = 0; i <= input->n_users; i++)
        busy_free(&rests[i]);
    free(rests);
    free(user_taken);
    free(block_taken);
}

static void pair_up(const struct search *search, struct busy_span window, double most_chance,
                    struct correlation *result) {
    struct candidates candidates = find_candidates(search, result->line, window, most_chance);
    free(result->pairs);
    choose_pairs(search, &candidates, window, most_chance, result);
    free(candidates.items);
}

/* ---- the lag through the log ---- */

static double height_of(const struct search *search, const struct correlation *result,
                        struct clock_line line, double from_ns, double to_ns) {
    double sum = 0;
    for (size_t p = 0; p < result->n_pairs; p++) {
        const struct correlate_pair *pair = &result->pairs[p];
        const struct busy *user =
            pair->user == CORRELATE_NONE ? &search->any_user : &search->input->users[pair->user];
        sum += fmax(
            0, busy_correlation(user, &search->input->blocks[pair->block], line, from_ns, to_ns));
    }
    return sum;
}

struct followed {
    double at_ns, lag_ns; /* lag: what the line lacks there */
    double height;
};

/* Where in a window the correlation is highest. Calls last longer than their requests, so that some
 * lags are equally good: the middle of them. */
static struct followed follow(const struct search *search, const struct correlation *result,
                              double from_ns, double to_ns, double range_ns, double step_ns) {
    size_t middle = (size_t)(range_ns / step_ns), n = 2 * middle + 1;
    double *heights = memory_alloc(n, sizeof *heights);
    struct followed best = {.at_ns = (from_ns + to_ns) / 2, .height = -1};
    size_t peak = 0;
    for (size_t i = 0; i < n; i++) {
        double by_ns = ((double)i - (double)middle) * step_ns;
        heights[i] = height_of(search, result, shifted(result->line, by_ns), from_ns, to_ns);
        if (heights[i] > heights[peak])
            peak = i;
    }
    size_t left = peak, right = peak;
    double equal = heights[peak] * (1 - 1e-3);
    while (left > 0 && heights[left - 1] >= equal)
        left--;
    while (right + 1 < n && heights[right + 1] >= equal)
        right++;
    best.height = heights[peak];
    best.lag_ns = ((double)(left + right) / 2 - (double)middle) * step_ns;
    free(heights);
    return best;
}

/* Windows of some dozens to hundreds of spans of all threads, spread over the log. */
static size_t choose_windows(const struct search *search, struct busy_span *windows) {
    const struct correlate_input *input = search->input;
    size_t count = 0;
    for (size_t i = 0; i < input->n_users; i++)
        count += input->users[i].count;
    struct busy_span *all = memory_alloc(count, sizeof *all);
    count = 0;
    for (size_t i = 0; i < input->n_users; i++)
        for (size_t s = 0; s < input->users[i].count; s++)
            all[count++] = input->users[i].items[s];
    qsort(all, count, sizeof *all, busy_compare_spans);
    size_t n = count / LEAST_SPANS;
    n = n < 1 ? 1 : n > FOLLOWED_WINDOWS ? FOLLOWED_WINDOWS : n;
    for (size_t w = 0; w < n; w++) {
        size_t first = count * w / n, last = count * (w + 1) / n - 1;
        if (last - first > MOST_SPANS)
            last = first + MOST_SPANS;
        windows[w] = (struct busy_span){all[first].from_ns, all[last].to_ns};
    }
    free(all);
    return n;
}

static double median_of(double *values, size_t n) {
    gsl_sort(values, 1, n);
    return gsl_stats_median_from_sorted_data(values, 1, n);
}

/* A line through the windows' lags that outliers do not bend: the median of all slopes (Theil and
 * Sen). Returns the median distance from it. */
static double fit_line(const struct followed *followed, size_t n, double most_drift,
                       struct clock_line *line) {
    double *slopes = memory_alloc(n * n, sizeof *slopes), *rests = memory_alloc(n, sizeof *rests);
    size_t n_slopes = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (followed[i].at_ns != followed[j].at_ns)
                slopes[n_slopes++] = (followed[i].lag_ns - followed[j].lag_ns) /
                                     (followed[i].at_ns - followed[j].at_ns);
    double slope = n_slopes > 0 ? median_of(slopes, n_slopes) : 0;
    slope = fmin(fmax(slope, -2 * most_drift - line->drift), 2 * most_drift - line->drift);
    for (size_t i = 0; i < n; i++)
        rests[i] = followed[i].lag_ns - slope * followed[i].at_ns;
    double offset_ns = median_of(rests, n);
    for (size_t i = 0; i < n; i++)
        rests[i] = fabs(followed[i].lag_ns - slope * followed[i].at_ns - offset_ns);
    double spread_ns = median_of(rests, n);
    /* `at` is user time: to block time and back the difference is of second order in the drift. */
    line->offset_ns += offset_ns + slope * line->offset_ns;
    line->drift += slope;
    free(slopes);
    free(rests);
    return spread_ns;
}

static int compare_heights(const void *left, const void *right) {
    const struct followed *a = left, *b = right;
    return (a->height < b->height) - (a->height > b->height);
}

/* Moves the line to where the windows have their peaks; the worse half of them may lie where
 * the logs have nothing to compare. */
static void follow_line(const struct search *search, double at_ns, double range_ns, double drift,
                        double step_ns, struct correlation *result) {
    struct busy_span windows[FOLLOWED_WINDOWS];
    struct followed followed[FOLLOWED_WINDOWS];
    size_t n = choose_windows(search, windows), n_good = 0;
    for (size_t w = 0; w < n; w++) {
        double middle_ns = (windows[w].from_ns + windows[w].to_ns) / 2;
        followed[w] = follow(search, result, windows[w].from_ns, windows[w].to_ns,
                             range_ns + drift * fabs(middle_ns - at_ns), step_ns);
    }
    qsort(followed, n, sizeof *followed, compare_heights);
    while (n_good < n && followed[n_good].height > followed[0].height / 2)
        n_good++;
    result->n_windows = n_good;
    result->spread_ns = fit_line(followed, n_good, search->input->most_drift, &result->line);
}

/* ---- all of it ---- */

/* Pairs first where the lag was found, which is not exact yet: these pairs serve to follow the lag
 * only, and a wrong one among them does no harm. */
static void align(const struct search *search, struct resolution resolution, double at_ns,
                  struct correlation *result) {
    const struct correlate_input *input = search->input;
    double bin_ns = resolution.bin_ns, half_ns = (double)resolution.bins / 2 * bin_ns;
    struct busy_span all = {search->from_ns, search->to_ns};
    struct busy_span near = {fmax(at_ns - half_ns, all.from_ns), fmin(at_ns + half_ns, all.to_ns)};
    pair_up(search, near, MOST_CHANCE_TO_FOLLOW, result);
    if (result->n_pairs == 0)
        return;
    follow_line(search, at_ns, 2 * bin_ns, input->most_drift, bin_ns / 20, result);
    pair_up(search, all, MOST_CHANCE_TO_FOLLOW, result);
    follow_line(search, at_ns, bin_ns / 5, 0, bin_ns / 200, result);
    pair_up(search, all, MOST_CHANCE / (double)((input->n_users + 1) * input->n_blocks), result);
}

struct correlation correlate(const struct correlate_input *input) {
    struct correlation result = {0};
    struct search search = {.input = input,
                            .any_user = busy_any(input->users, input->n_users),
                            .any_block = busy_any(input->blocks, input->n_blocks)};
    if (search.any_user.count > 1 && search.any_block.count > 1) {
        search.from_ns = search.any_user.items[0].from_ns;
        search.to_ns = search.any_user.items[search.any_user.count - 1].to_ns;
        for (size_t i = 0; i < sizeof resolutions / sizeof *resolutions && !result.found; i++) {
            double at_ns = 0;
            struct lag_peak peak = search_lag(&search, resolutions[i], &at_ns);
            result.lag_confidence = 1 - peak.chance;
            result.lag_height = peak.height;
            result.lag_next = peak.next;
            result.line = (struct clock_line){.offset_ns = peak.lag_ns};
            if (peak.chance < MOST_CHANCE)
                align(&search, resolutions[i], at_ns, &result);
            result.found = result.n_pairs > 0;
        }
    }
    busy_free(&search.any_user);
    busy_free(&search.any_block);
    return result;
}

void correlation_free(struct correlation *correlation) {
    free(correlation->pairs);
    *correlation = (struct correlation){0};
}
