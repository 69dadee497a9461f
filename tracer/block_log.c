/* Requests to disks that a trace lacks, from a log that somebody else made meanwhile: where persik
 * ran without the right to see them, another user may have it; or the log is another machine's, on
 * which the program's disk is. Where clocks and threads agree, they tell whose a request is; where
 * they do not, cross-correlation does (correlate.h). */
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "tracer/attribution.h"
#include "tracer/blktrace.h"
#include "tracer/block_text.h"
#include "tracer/correlate.h"
#include "tracer/tracer.h"

/* Clocks of machines that are looked after differ by less, and a clock by a part of itself. */
#define NEAR_NS    11e9
#define MOST_DRIFT 1e-4
#define SURE       0.999
/* Threads by which clocks are held against each other need so many requests. */
#define ENOUGH_REQUESTS 20
#define SHOWN_PAIRS     8

/* Who queued requests, as far as the log says: with its signal. */
struct issuers {
    size_t *of_request; /* number of its issuer */
    struct busy *busy;
    int *tids;
    size_t n;
};

struct block_log {
    const char *name;
    struct trace *trace;
    struct blktrace events;
    struct block_requests requests;
    struct issuers issuers;
    struct attribution_run run;
    struct busy *users; /* per thread of the trace: when it waited in I/O calls */
    bool has_guess;     /* both clocks are said to be known: */
    double start_ns;    /* the run's beginning by the log's clock */
};

/* ---- the files ---- */

/* `name` and all that may follow it; what has a meaning in patterns stands for itself in `name`. */
static char *pattern_of(const char *name) {
    char *literal = memory_alloc(2 * strlen(name) + 1, 1);
    char *end = literal;
    for (; *name; name++) {
        if (strchr("*?[\\", *name))
            *end++ = '\\';
        *end++ = *name;
    }
    char *pattern = memory_format("%s.blktrace.*", literal);
    free(literal);
    return pattern;
}

/* One text, of all CPUs, if there are no files of blktrace. */
static int read_text(struct block_log *log, struct error *error) {
    FILE *file = fopen(log->name, "re");
    if (!file)
        return error_set(error,
                         "no files %s.blktrace.*, and no %s: give the NAME of `blktrace -o NAME`, "
                         "or of a text of ftrace's blk tracer or of blkparse",
                         log->name, log->name);
    fclose(file);
    return block_text_read(&log->events.events, log->name, error);
}

static int read_all(struct block_log *log, struct error *error) {
    char *pattern = pattern_of(log->name);
    glob_t files = {0};
    int status = 0;
    if (glob(pattern, 0, NULL, &files) != 0)
        status = read_text(log, error);
    for (size_t i = 0; i < files.gl_pathc && status == 0; i++)
        status = blktrace_read(&log->events, files.gl_pathv[i], error);
    if (files.gl_pathc > 0)
        blktrace_name_events(&log->events);
    globfree(&files);
    free(pattern);
    return status;
}

/* ---- both sides ---- */

static void find_issuers(struct block_log *log) {
    struct issuers *issuers = &log->issuers;
    struct map numbers = MAP_EMPTY;
    issuers->of_request = memory_alloc(log->requests.count, sizeof *issuers->of_request);
    issuers->tids = memory_alloc(log->requests.count, sizeof *issuers->tids);
    for (size_t i = 0; i < log->requests.count; i++) {
        const struct trace_block *block = &log->requests.items[i].block;
        int number = map_get(&numbers, (uint64_t)block->tid, -1);
        if (number < 0) {
            number = (int)issuers->n++;
            map_put(&numbers, (uint64_t)block->tid, number);
            issuers->tids[number] = block->tid;
        }
        issuers->of_request[i] = (size_t)number;
    }
    issuers->busy = attribution_requests(&log->requests, issuers->of_request, issuers->n);
    map_free(&numbers);
}

/* ftrace's clock may be the trace's own, as that of a log of blktrace may be the machine's. */
static void guess_clock(struct block_log *log) {
    const struct trace_meta *meta = &log->trace->meta;
    uint64_t wall_ns = log->events.wall_start_ns;
    if (wall_ns && meta->start_real_ns) {
        log->start_ns = (double)(int64_t)(meta->start_real_ns - wall_ns);
        log->has_guess = true;
    } else if (!wall_ns) {
        log->start_ns = (double)meta->start_mono_ns;
        log->has_guess = meta->start_mono_ns != 0;
    }
}

static struct busy_span span_of(const struct block_log *log) {
    struct busy all = busy_any(log->issuers.busy, log->issuers.n);
    struct busy_span span = {0};
    if (all.count > 0)
        span = (struct busy_span){all.items[0].from_ns, all.items[all.count - 1].to_ns};
    busy_free(&all);
    return span;
}

/* ---- by clock and thread ---- */

struct agreement {
    size_t threads;          /* that have requests in the log, by their number */
    size_t requests;         /* theirs */
    size_t judged, agreeing; /* requests of threads with enough of them; in which calls and
                              * requests go together as the clocks say */
    double confidence;       /* the least of those that agree; 0: none */
};

static struct agreement hold_against(const struct block_log *log) {
    struct agreement agreement = {.confidence = 1};
    struct map numbers = MAP_EMPTY;
    for (size_t j = 0; j < log->issuers.n; j++)
        map_put(&numbers, (uint64_t)log->issuers.tids[j], (int)j);
    struct clock_line line = {.offset_ns = -log->start_ns};
    for (size_t t = 0; t < log->run.n_threads; t++) {
        int issuer = map_get(&numbers, (uint64_t)log->run.threads[t].tid, -1);
        if (issuer < 0)
            continue;
        const struct busy *block = &log->issuers.busy[issuer];
        agreement.threads++;
        agreement.requests += block->count;
        if (block->count < ENOUGH_REQUESTS || log->users[t].count < ENOUGH_REQUESTS)
            continue;
        agreement.judged += block->count;
        struct correlate_pair pair =
            correlate_at(&log->users[t], block, line, 0, (double)log->run.run_ns);
        if (pair.confidence < SURE)
            continue;
        agreement.agreeing += block->count;
        agreement.confidence = fmin(agreement.confidence, pair.confidence);
    }
    map_free(&numbers);
    if (agreement.agreeing == 0)
        agreement.confidence = 0;
    return agreement;
}

/* ---- what is said ---- */

/* What the recording said of its own block I/O does not hold any more. */
static bool is_of_block_io(const char *lack) {
    return strncmp(lack, "block I/O", strlen("block I/O")) == 0 ||
           strstr(lack, " block requests of the kernel's own") != NULL;
}

static void forget_lacks(struct trace_meta *meta) {
    size_t kept = 0;
    for (size_t i = 0; i < meta->n_lacks; i++)
        if (!is_of_block_io(meta->lacks[i]))
            meta->lacks[kept++] = meta->lacks[i];
        else
            free(meta->lacks[i]);
    meta->n_lacks = kept;
}

static void take(struct block_log *log, struct attribution *found) {
    struct trace *trace = log->trace;
    free(trace->blocks);
    trace->blocks = found->blocks;
    trace->n_blocks = found->n_blocks;
    trace->meta.has_blocks = true;
    found->blocks = NULL;
    char *text = block_account_tell(&found->account);
    trace_add_lack(&trace->meta, "block log: %s", text);
    free(text);
    attribution_free(found);
}

static void take_directly(struct block_log *log, const struct agreement *agreement) {
    struct trace_meta *meta = &log->trace->meta;
    forget_lacks(meta);
    if (agreement->agreeing > 0)
        trace_add_lack(
            meta,
            "block log: matched by clock and thread, confidence %.2f %%: %zu threads have %zu "
            "requests in it",
            100 * agreement->confidence, agreement->threads, agreement->requests);
    else
        trace_add_lack(
            meta,
            "block log: matched by clock and thread, unproved: %zu threads have %zu requests in "
            "it, too few in I/O calls to hold the clocks against each other",
            agreement->threads, agreement->requests);
    struct attribution found =
        attribute_directly(&log->requests, &log->run, (int64_t)log->start_ns);
    take(log, &found);
}

static void say_pairs(struct block_log *log, const struct correlation *correlation) {
    struct trace_meta *meta = &log->trace->meta;
    for (size_t p = 0; p < correlation->n_pairs && p < SHOWN_PAIRS; p++) {
        const struct correlate_pair *pair = &correlation->pairs[p];
        int issuer = log->issuers.tids[pair->block];
        if (pair->user == CORRELATE_NONE)
            trace_add_lack(
                meta,
                "block log: all threads together go with its thread %d: correlation %.3f (with "
                "one of them %.3f), confidence %.2f %%",
                issuer, pair->correlation, pair->next, 100 * pair->confidence);
        else
            trace_add_lack(
                meta,
                "block log: thread %d (%s) goes with its thread %d: correlation %.3f (next %.3f), "
                "confidence %.2f %%",
                log->run.threads[pair->user].tid, log->run.threads[pair->user].start_routine,
                issuer, pair->correlation, pair->next, 100 * pair->confidence);
    }
    if (correlation->n_pairs > SHOWN_PAIRS)
        trace_add_lack(meta, "block log: and %zu pairs more", correlation->n_pairs - SHOWN_PAIRS);
}

static void take_by_pairs(struct block_log *log, const struct correlation *correlation) {
    struct trace_meta *meta = &log->trace->meta;
    forget_lacks(meta);
    double start_ns = -correlation->line.offset_ns / (1 + correlation->line.drift);
    trace_add_lack(
        meta,
        "block log: matched by cross-correlation, confidence %.2f %% (peak %.3f, elsewhere %.3f): "
        "the run began at %.6f s of its clock, which drifts by %.1f ppm; %zu windows agree within "
        "%.0f us",
        100 * correlation->lag_confidence, correlation->lag_height, correlation->lag_next,
        start_ns / 1e9, -1e6 * correlation->line.drift, correlation->n_windows,
        correlation->spread_ns / 1e3);
    say_pairs(log, correlation);
    struct attribution found =
        attribute_by_pairs(&log->requests, log->issuers.of_request, &log->run, correlation);
    take(log, &found);
}

/* ---- which way ---- */

static struct correlation correlate_logs(const struct block_log *log, bool near) {
    struct busy_span span = span_of(log);
    struct correlate_input input = {.blocks = log->issuers.busy,
                                    .n_blocks = log->issuers.n,
                                    .least_lag_ns = near ? -log->start_ns - NEAR_NS : -span.to_ns,
                                    .most_lag_ns = near ? -log->start_ns + NEAR_NS
                                                        : (double)log->run.run_ns - span.from_ns,
                                    .most_drift = MOST_DRIFT};
    return attribution_correlate(&log->run, &log->requests, input);
}

static int refuse(const struct block_log *log, const struct correlation *correlation,
                  struct error *error) {
    const struct trace_meta *meta = &log->trace->meta;
    if (log->has_guess && log->start_ns < 0)
        return error_set(error,
                         "%s: by its clock it began %.1f s after the recorded run, and no other "
                         "clock stands out: start the log before persik",
                         log->name, -log->start_ns / 1e9);
    if (log->events.wall_start_ns && meta->start_real_ns == 0)
        return error_set(error,
                         "the recording does not say when it began, and no lag of %s stands out: "
                         "record again",
                         log->name);
    return error_set(error,
                     "%s: no lag between its clock and the recording's stands out (best "
                     "correlation %.3f, next %.3f, confidence %.0f %%): not of this run, or too "
                     "little in it",
                     log->name, correlation->lag_height, correlation->lag_next,
                     100 * correlation->lag_confidence);
}

/* The log is believed to name threads and times like the recording as long as nothing speaks
 * against it: that threads have the requests which they ask for at other times, or that others
 * have them. */
static int match(struct block_log *log, struct error *error) {
    struct agreement agreement = {0};
    if (log->has_guess)
        agreement = hold_against(log);
    if (2 * agreement.agreeing > agreement.judged) {
        take_directly(log, &agreement);
        return 0;
    }
    struct correlation correlation = {0};
    if (log->has_guess)
        correlation = correlate_logs(log, true);
    if (!correlation.found) {
        struct correlation any = correlate_logs(log, false);
        if (any.found || !log->has_guess) {
            correlation_free(&correlation);
            correlation = any;
        } else {
            correlation_free(&any);
        }
    }
    int status = 0;
    struct busy_span span = span_of(log);
    bool spans_run = log->has_guess && log->start_ns >= 0 && log->start_ns <= span.to_ns;
    if (correlation.found)
        take_by_pairs(log, &correlation);
    else if (spans_run && agreement.judged == 0 &&
             (agreement.threads > 0 || log->events.wall_start_ns))
        take_directly(log, &agreement);
    else
        status = refuse(log, &correlation, error);
    correlation_free(&correlation);
    return status;
}

static void close_log(struct block_log *log) {
    attribution_free_signals(log->issuers.busy, log->issuers.n);
    attribution_free_signals(log->users, log->run.n_threads);
    free(log->issuers.of_request);
    free(log->issuers.tids);
    free(log->requests.items);
    blktrace_free(&log->events);
}

int tracer_add_block_log(struct trace *trace, const char *name, struct error *error) {
    struct block_log log = {.name = name,
                            .trace = trace,
                            .run = {trace->threads, trace->n_threads, trace->meta.run_ns}};
    int status = read_all(&log, error);
    if (status == 0) {
        requests_pair(&log.requests, &log.events.events);
        find_issuers(&log);
        log.users = attribution_waits(&log.run, INFINITY);
        guess_clock(&log);
        status = match(&log, error);
    }
    close_log(&log);
    return status;
}
