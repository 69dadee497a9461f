/* A run as Chrome's JSON events, whoever it is of: tracks of threads and cores, arrows of wake-ups.
 * What the threads did is written by those who know (cli/report/chrome.h, chrome_simulated.h). */
#ifndef PERSIK_CLI_REPORT_CHROME_RUN_H
#define PERSIK_CLI_REPORT_CHROME_RUN_H

#include <stdio.h>

#include "formats/trace.h"

/* Groups of tracks. */
enum { CHROME_THREADS = 1, CHROME_CORES = 2, CHROME_PATH = 3 };

struct chrome_run {
    const struct trace *trace; /* its threads and their times on cores */
    /* Writes what the thread did within the span, each by chrome_begin() and chrome_end(). */
    void (*calls)(const void *context, const struct trace_thread *thread, struct trace_span span,
                  FILE *out);
    const void *context;
    /* Writes further groups of tracks; NULL: there are none. */
    void (*groups)(const void *context, struct trace_span span, FILE *out);
};

void chrome_write_run(const struct chrome_run *run, struct trace_span span, FILE *out);

bool chrome_is_inside(struct trace_span span, uint64_t from_ns, uint64_t to_ns);

/* A JSON string literal, freed by the caller. Names that are not UTF-8 become "?". The second
 * frees the text. */
char *chrome_quote(const char *text);
char *chrome_quote_own(char *text);

/* A complete event up to its args, which the caller writes and ends; `literal` is quoted. */
void chrome_begin(FILE *out, int group, int track, const char *literal, uint64_t start_ns,
                  uint64_t duration_ns);
void chrome_end(FILE *out);

/* ---- documents of one's own ---- */

/* Before the first event, and behind the last one: a last one that names the group. */
void chrome_open(FILE *out);
void chrome_close(FILE *out, int group, const char *name);

/* Names a track ("thread_name"), or a group of them ("process_name"). */
void chrome_name(FILE *out, const char *kind, int group, int track, const char *name);

struct chrome_arrow_kind {
    int group;
    const char *category, *name;
};

/* From a moment of a track to one of another; each of a kind has a number of its own. */
void chrome_arrow(FILE *out, const struct chrome_arrow_kind *kind, unsigned number, uint32_t from,
                  uint64_t from_ns, uint32_t to, uint64_t to_ns);

#endif
