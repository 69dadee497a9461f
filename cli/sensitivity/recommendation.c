#include "cli/sensitivity/recommendation.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"

static void judge(const struct recommendation_search *search, struct tried *tried) {
    const struct load_row row = {&tried->prediction, tried->saturation};
    tried->goals = memory_alloc(search->n_goals + 1, sizeof *tried->goals);
    tried->met = GOAL_SURE;
    tried->margin = INFINITY;
    for (size_t g = 0; g < search->n_goals; g++) {
        struct goal_judgement *judgement = &tried->goals[g];
        *judgement = goal_judge(&search->goals[g], &row);
        if (judgement->met < tried->met)
            tried->met = judgement->met;
        if (judgement->margin >= tried->margin || isnan(tried->margin))
            continue; /* not one without a figure, which is less than any */
        tried->margin = judgement->margin;
        tried->alike = judgement->alike;
    }
}

/* Intervals of a load without an end depend on how near to saturation it is, those of response
 * times with one on how long its queues become. */
static int find_intervals(const struct recommendation_search *search, struct tried *tried,
                          struct error *error) {
    tried->saturation = (struct saturation){.throughput_hz = {NAN, NAN}, .share = NAN};
    if (tried->prediction.no_figures || tried->prediction.result.regime == REGIME_ENDING)
        return prediction_find_response_share(&tried->prediction, &search->config, error);
    return load_find_saturation(search->model, &tried->prediction, &search->config,
                                &tried->saturation, error);
}

/* By more than runs differ; one without figures by nothing. `b` may be NULL. */
static bool is_nearer(const struct tried *a, const struct tried *b) {
    if (!b || isnan(a->margin) || isnan(b->margin))
        return !b || !isnan(a->margin);
    return a->margin > b->margin + b->alike;
}

int recommendation_best_of(const struct recommendation *recommendation, int cores) {
    int best = -1;
    for (size_t i = 0; i < recommendation->count; i++) {
        const struct tried *tried = &recommendation->items[i];
        if (tried->prediction.cores != cores)
            continue;
        if (tried->met != GOAL_MISSED)
            return (int)i;
        if (is_nearer(tried, best < 0 ? NULL : &recommendation->items[best]))
            best = (int)i;
    }
    return best;
}

static void take_note(struct recommendation *recommendation, int index) {
    const struct tried *tried = &recommendation->items[index];
    if (tried->met >= GOAL_EXPECTED && recommendation->expected < 0)
        recommendation->expected = index;
    if (tried->met == GOAL_SURE && recommendation->sure < 0)
        recommendation->sure = index;
    if (isnan(tried->margin))
        return;
    if (is_nearer(tried, recommendation->nearest < 0
                             ? NULL
                             : &recommendation->items[recommendation->nearest]))
        recommendation->nearest = index;
}

/* Above saturation there are no response times. */
static void find_most(struct recommendation *recommendation) {
    double most = 0;
    for (size_t i = 0; i < recommendation->count; i++) {
        const struct prediction *prediction = &recommendation->items[i].prediction;
        if (!prediction->no_figures && prediction->result.throughput_hz.mean > most) {
            most = prediction->result.throughput_hz.mean;
            recommendation->nearest = (int)i;
        }
    }
}

static int try(const struct recommendation_search *search, const struct thread_choice *threads,
               int cores, struct recommendation *recommendation, struct error *error) {
    struct tried *tried = VECTOR_ADD(recommendation);
    if (prediction_make(search->model, threads, cores, &search->config, &tried->prediction, error) <
            0 ||
        find_intervals(search, tried, error) < 0)
        return -1;
    judge(search, tried);
    take_note(recommendation, (int)recommendation->count - 1);
    return 0;
}

int recommendation_find(const struct recommendation_search *search,
                        struct recommendation *recommendation, struct error *error) {
    *recommendation = (struct recommendation){.expected = -1, .sure = -1, .nearest = -1};
    size_t n_threads = search->threads->count, n = n_threads * search->cores->count;
    int status = 0;
    for (size_t i = 0; i < n && status == 0 && recommendation->sure < 0; i++) {
        progress_show("simulating", (double)i / (double)n);
        status = try(search, &search->threads->items[i % n_threads],
                     search->cores->items[i / n_threads], recommendation, error);
    }
    progress_end();
    if (recommendation->nearest < 0)
        find_most(recommendation);
    return status;
}

void recommendation_free(struct recommendation *recommendation) {
    for (size_t i = 0; i < recommendation->count; i++) {
        prediction_free(&recommendation->items[i].prediction);
        free(recommendation->items[i].goals);
    }
    free(recommendation->items);
    *recommendation = (struct recommendation){0};
}
