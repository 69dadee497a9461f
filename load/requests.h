/* What is sent: one text, or one of a list, drawn for each request. */
#ifndef PERSIK_LOAD_REQUESTS_H
#define PERSIK_LOAD_REQUESTS_H

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "load/target.h"

struct request_text {
    char *bytes;
    size_t n;
};

struct load_requests {
    struct {
        struct request_text *items;
        size_t count, capacity;
    } texts;
    gsl_ran_discrete_t *weights; /* NULL: there is one text */
    gsl_rng *random;
};

struct request_options {
    const char *send;      /* of LOAD_LINES and LOAD_DATAGRAMS, with escapes */
    const char *list_file; /* NULL: the target's path, or `send` */
    bool keep_alive;
    uint64_t seed;
};

/* Of a list, each line is a path or a text to send, and, behind a tab, a weight (1). 0, or -1 and
 * `error`. */
int load_requests_init(struct load_requests *requests, const struct target *target,
                       const struct request_options *options, struct error *error);
void load_requests_free(struct load_requests *requests);

/* The number of the next request's text. */
size_t load_requests_draw(struct load_requests *requests);

/* \r \n \t \0 \\ \xHH become what they mean, in place; any other character behind a backslash is
 * itself. `*n` gets the length. 0, or -1 for a \x without two digits and a backslash at the end. */
int unescape(char *text, size_t *n);

#endif
