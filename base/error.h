/* One error, told once: what went wrong and what to do about it.
 *
 * Every function that can fail takes a `struct error *` as its last argument
 * and returns -1 or NULL after filling it. The command prints it as
 * `persik: <text>` and exits 1; libraries never print. */
#ifndef PERSIK_BASE_ERROR_H
#define PERSIK_BASE_ERROR_H

#include <stdarg.h>

struct error {
    char text[1024]; /* one line, no newline: "what went wrong: what to do" */
    int exit_status; /* with which the command ends; 0: the usual one */
};

/* Fills `error` (NULL is allowed and ignored). Always returns -1, so that
 * `return error_set(error, ...)` is the whole failure path. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, where the command is to end with an exit status of its own. */
int error_set_exit(struct error *error, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts `prefix: ` before the text already there. Always returns -1. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
