/* Why a model came out as it did: the decisions of the passes, in the order in which they were
 * made.
 *
 * Whoever decides calls decision(). The build that runs owns the log; without one, as in most unit
 * tests, decisions are only told by `-v`. Not for several threads at once. */
#ifndef PERSIK_MODELGEN_DECISION_LOG_H
#define PERSIK_MODELGEN_DECISION_LOG_H

#include <stddef.h>

#include "base/error.h"

struct decision {
    char *pass;     /* as in passes.def */
    char *subject;  /* what was decided on: an object, a pool, a thread */
    char *verdict;  /* in a word or two: "queue", "rejected", "rewritten" */
    char *evidence; /* figures and reasons, one line */
};

struct decision_log {
    struct decision *items;
    size_t count, capacity;
};

/* From now on decisions go to `log`; NULL: to none. Gives the one before. */
struct decision_log *decision_log_use(struct decision_log *log);

/* Appends a decision, and tells it with log_debug(). Copies all texts. */
void decision(const char *pass, const char *subject, const char *verdict, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes the log as JSON, private to the user: docs/formats.md. -1 and `error`: not written. */
int decision_log_save(const struct decision_log *log, const char *path, struct error *error);

/* Frees what it holds, and leaves it empty. */
void decision_log_free(struct decision_log *log);

#endif
