/* The configurations a sweep names: --threads 1:8,16 --cores 1,2 or --threads pool=1:4,other=2.
 * Pure: no model file, no output. */
#ifndef PERSIK_CLI_ARGUMENTS_SWEEP_H
#define PERSIK_CLI_ARGUMENTS_SWEEP_H

#include <stddef.h>

#include "base/error.h"
#include "formats/model.h"

enum {
    SWEEP_MAX_THREADS = 100000,
    SWEEP_MAX_CORES = 100000,
    SWEEP_MAX_CLIENTS = 1000000,
    SWEEP_MAX_ITEMS = 10000
};

struct int_list {
    int *items;
    size_t count, capacity;
};

/* "1,2,4", "1:8", "1:32:4" (step) and mixtures. Each from 1 to `maximum`. On -1 `error` names the
 * option and the list is empty. The caller frees list->items. */
int int_list_parse(const char *option, const char *text, int maximum, struct int_list *list,
                   struct error *error);

/* How many threads the pools get in one configuration: `all` in every pool that scales, or, with
 * names, so many in the named ones and the model's own number in the others. */
struct thread_choice {
    int all; /* 0: by names, or with n_named = 0 as the model says */
    size_t n_named;
    char **names; /* shared by all choices of a sweep */
    int *counts;
    char *label; /* "4", "workers=8,writers=2", "own" */
};

struct thread_sweep {
    size_t n_names;
    char **names;
    struct thread_choice *items;
    size_t count, capacity;
};

/* A list as int_list_parse, or NAME=RANGE,... : the cross product over the names, RANGE being
 * N, a:b or a:b:step. NULL text gives the model's own configuration. */
int thread_sweep_parse(const char *option, const char *text, struct thread_sweep *sweep,
                       struct error *error);
void thread_sweep_free(struct thread_sweep *sweep);

/* What comes from outside; both 0: what the model says. */
struct load_choice {
    double rate_hz; /* open */
    int clients;    /* closed */
};

struct load_sweep {
    struct load_choice *items;
    size_t count, capacity;
};

/* `arrivals`: rates, "100/s,200/s", "100/s:1000/s:100/s" (step) and mixtures; `clients`: a list as
 * int_list_parse. At most one of them is not NULL; both NULL give the model's own load. On -1
 * `error` names the option and the sweep is empty. The caller frees sweep->items. */
int load_sweep_parse(const char *arrivals, const char *clients, struct load_sweep *sweep,
                     struct error *error);

/* Pool sizes for sim_config, one per model pool, freed by the caller. NULL and `error` for a pool
 * that the model has not (all its pools are listed) or when nothing in it scales.
 *
 * A pool that scales gets N, or what its formula says of N, or its bound where that is beyond it;
 * where its size is a formula of other pools' sizes (N - 1 helpers), that is evaluated with the
 * sizes of every pool that scales. Pools that follow others come last. */
int *thread_choice_resolve(const struct thread_choice *choice, const struct model *model,
                           struct error *error);

#endif
