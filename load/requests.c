#include "load/requests.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_DATAGRAM_BYTES 65507 /* of UDP over IPv4 */

/* ---- escapes ---- */

static int hex_digit(char digit) {
    if (isdigit((unsigned char)digit))
        return digit - '0';
    return isxdigit((unsigned char)digit) ? tolower((unsigned char)digit) - 'a' + 10 : -1;
}

/* What stands behind the backslash at *from, which moves behind it. -1: nothing that is known. */
static int escaped(const char **from) {
    char letter = *(*from)++;
    switch (letter) {
    case 'r':
        return '\r';
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '0':
        return 0;
    case 'x': {
        int high = hex_digit((*from)[0]), low = high < 0 ? -1 : hex_digit((*from)[1]);
        *from += 2;
        return low < 0 ? -1 : high * 16 + low;
    }
    case '\0':
        return -1;
    default:
        return (unsigned char)letter;
    }
}

int unescape(char *text, size_t *n) {
    const char *from = text;
    char *to = text;
    while (*from) {
        int byte = (unsigned char)*from++;
        if (byte == '\\') {
            byte = escaped(&from);
            if (byte < 0)
                return -1;
        }
        *to++ = (char)byte;
    }
    *n = (size_t)(to - text);
    return 0;
}

/* ---- texts ---- */

static int add_path(struct load_requests *requests, const struct target *target, const char *path,
                    bool keep_alive, struct error *error) {
    if (*path != '/' || path[strcspn(path, " \t\r\n")])
        return error_set(error, "'%s' is no path: it begins with a slash and has no spaces", path);
    char *text = memory_format("GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: persik\r\n"
                               "Accept: */*\r\n%s\r\n",
                               path, target->authority, keep_alive ? "" : "Connection: close\r\n");
    *VECTOR_ADD(&requests->texts) = (struct request_text){text, strlen(text)};
    return 0;
}

static int add_send(struct load_requests *requests, const struct target *target, const char *send,
                    struct error *error) {
    struct request_text text = {.bytes = memory_strdup(send)};
    int status = 0;
    if (unescape(text.bytes, &text.n) < 0)
        status = error_set(error, "'%s': a backslash is followed by r, n, t, 0, \\ or xHH", send);
    else if (text.n == 0)
        status = error_set(error, "there is nothing to send: give --send TEXT");
    else if (target->protocol == LOAD_DATAGRAMS && text.n > MOST_DATAGRAM_BYTES)
        status = error_set(error, "a datagram has at most %d bytes", MOST_DATAGRAM_BYTES);
    if (status < 0)
        free(text.bytes);
    else
        *VECTOR_ADD(&requests->texts) = text;
    return status;
}

static int add_text(struct load_requests *requests, const struct target *target, const char *text,
                    bool keep_alive, struct error *error) {
    return target->protocol == LOAD_HTTP ? add_path(requests, target, text, keep_alive, error)
                                         : add_send(requests, target, text, error);
}

/* ---- a list ---- */

struct weights {
    double *items;
    size_t count, capacity;
};

/* Cuts the weight off the line. -1: that is no number above 0. */
static double take_weight(char *line) {
    char *tab = strrchr(line, '\t');
    if (!tab)
        return 1;
    *tab = '\0';
    char *end;
    double weight = strtod(tab + 1, &end);
    return end == tab + 1 || *end || !isfinite(weight) || weight <= 0 ? -1 : weight;
}

static int add_line(struct load_requests *requests, struct weights *weights,
                    const struct target *target, char *line, bool keep_alive, struct error *error) {
    double weight = take_weight(line);
    if (weight < 0)
        return error_set(error, "what follows the tab is no weight: give a number above 0");
    *VECTOR_ADD(weights) = weight;
    return add_text(requests, target, line, keep_alive, error);
}

static int read_lines(struct load_requests *requests, struct weights *weights, FILE *file,
                      const struct target *target, const struct request_options *options,
                      struct error *error) {
    char *line = NULL;
    size_t room = 0, number = 0;
    int status = 0;
    while (status == 0 && getline(&line, &room, file) >= 0) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (!*line)
            continue;
        status = add_line(requests, weights, target, line, options->keep_alive, error);
        if (status < 0)
            error_prefix(error, "%s:%zu", options->list_file, number);
    }
    free(line);
    if (status == 0 && ferror(file))
        return error_set(error, "cannot read %s: %s", options->list_file, strerror(errno));
    if (status == 0 && requests->texts.count == 0)
        return error_set(error, "%s is empty: give one request a line", options->list_file);
    return status;
}

static int read_list(struct load_requests *requests, const struct target *target,
                     const struct request_options *options, struct error *error) {
    FILE *file = fopen(options->list_file, "re");
    if (!file)
        return error_set(error, "cannot read %s: %s", options->list_file, strerror(errno));
    struct weights weights = {0};
    int status = read_lines(requests, &weights, file, target, options, error);
    fclose(file);
    if (status == 0)
        requests->weights = gsl_ran_discrete_preproc(weights.count, weights.items);
    free(weights.items);
    return status;
}

int load_requests_init(struct load_requests *requests, const struct target *target,
                       const struct request_options *options, struct error *error) {
    /* Another generator than the schedule's: with the same numbers, long gaps would come before
     * certain requests. */
    *requests = (struct load_requests){.random = gsl_rng_alloc(gsl_rng_taus2)};
    gsl_rng_set(requests->random, options->seed);
    if (options->list_file)
        return read_list(requests, target, options, error);
    const char *text = target->protocol == LOAD_HTTP ? target->path : options->send;
    return add_text(requests, target, text ? text : "", options->keep_alive, error);
}

void load_requests_free(struct load_requests *requests) {
    for (size_t i = 0; i < requests->texts.count; i++)
        free(requests->texts.items[i].bytes);
    free(requests->texts.items);
    if (requests->weights)
        gsl_ran_discrete_free(requests->weights);
    gsl_rng_free(requests->random);
    *requests = (struct load_requests){0};
}

size_t load_requests_draw(struct load_requests *requests) {
    return requests->weights ? gsl_ran_discrete(requests->random, requests->weights) : 0;
}
