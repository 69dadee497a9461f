/* Why a model came out as it did: the decisions of the passes, in the order in which they were
 * made.
 *
 * Whoever decides calls decision(). The build that runs owns the log; without one, as in most unit
 * tests, decisions are only told by `-v`. Not for several threads at once. */
#ifndef PERSIK_MODELGEN_DECISION_LOG_H
#define PERSIK_MODELGEN_DECISION_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct decision {
    char *pass;     /* as in passes.def */
    char *subject;  /* what was decided on: an object, a pool, a thread */
    char *verdict;  /* in a word or two: "queue", "rejected", "rewritten" */
    char *evidence; /* figures and reasons, one line */
};

/* A subject may be known by another name: a mutex is decided on before the model has an object for
 * it. */
struct decision_alias {
    char *subject, *name;
};

struct decision_log {
    struct decision *items;
    size_t count, capacity;
    struct {
        struct decision_alias *items;
        size_t count, capacity;
    } aliases;
};

/* From now on decisions go to `log`; NULL: to none. Gives the one before. */
struct decision_log *decision_log_use(struct decision_log *log);

/* Appends a decision, and tells it with log_debug(). Copies all texts. */
void decision(const char *pass, const char *subject, const char *verdict, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What is decided on `subject`, before or after, is decided on `name` as well: another subject, or
 * an object or pool of the model. Copies both. */
void decision_alias(const char *subject, const char *name);

/* Sets `on[i]` for each decision i of the log that is on `name`, an object or pool, or on a subject
 * that aliases lead from to it. */
void decision_log_mark(const struct decision_log *log, const char *name, bool *on);

/* Writes the log as JSON, private to the user: docs/formats.md. -1 and `error`: not written. */
int decision_log_save(const struct decision_log *log, const char *path, struct error *error);

/* Frees what it holds, and leaves it empty. */
void decision_log_free(struct decision_log *log);

#endif
