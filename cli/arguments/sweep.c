#include "cli/arguments/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/arguments/scope.h"
#include "cli/text/quantity.h"

/* ---- lists of numbers ---- */

static int list_failed(const char *option, const char *text, int maximum, struct int_list *list,
                       struct error *error) {
    free(list->items);
    *list = (struct int_list){0};
    return error_set(error, "%s %s: give numbers from 1 to %d: 4, 1,2,4, 1:8 or 1:32:4 (step)",
                     option, text, maximum);
}

/* A number from 1 to `maximum` at *text, which then stands behind it. 0 when there is none. */
static int read_number(const char **text, int maximum) {
    if (**text < '0' || **text > '9')
        return 0;
    char *end;
    errno = 0;
    long value = strtol(*text, &end, 10);
    *text = end;
    return errno || value < 1 || value > maximum ? 0 : (int)value;
}

/* N, a:b or a:b:step at *text. */
static bool read_range(const char **text, int maximum, struct int_list *list) {
    int first = read_number(text, maximum);
    int last = first;
    int step = 1;
    if (first && **text == ':') {
        ++*text;
        last = read_number(text, maximum);
        if (last && **text == ':') {
            ++*text;
            step = read_number(text, maximum);
        }
    }
    if (!first || !last || !step || last < first)
        return false;
    for (long value = first; value <= last; value += step) {
        if (list->count >= SWEEP_MAX_ITEMS)
            return false;
        *VECTOR_ADD(list) = (int)value;
    }
    return true;
}

int int_list_parse(const char *option, const char *text, int maximum, struct int_list *list,
                   struct error *error) {
    *list = (struct int_list){0};
    const char *place = text;
    do {
        if (!read_range(&place, maximum, list))
            return list_failed(option, text, maximum, list, error);
    } while (*place++ == ',');
    if (place[-1] != '\0')
        return list_failed(option, text, maximum, list, error);
    return 0;
}

/* ---- loads ---- */

static int rates_failed(const char *text, struct load_sweep *sweep, struct error *error) {
    free(sweep->items);
    *sweep = (struct load_sweep){0};
    return error_set(error,
                     "--arrivals %s: give rates such as 500/s, 100/s,200/s or 100/s:1000/s:100/s "
                     "(step)",
                     text);
}

/* RATE or RATE:RATE:RATE; `text` is cut to pieces. */
static bool read_rates(char *text, struct load_sweep *sweep) {
    double values[3];
    int n = 0;
    char *rest = NULL;
    for (char *part = strtok_r(text, ":", &rest); part; part = strtok_r(NULL, ":", &rest))
        if (n == 3 || quantity_parse(part, UNIT_RATE, &values[n]) < 0 || values[n++] <= 0)
            return false;
    if (n != 1 && n != 3)
        return false;
    double last = n == 3 ? values[1] : values[0], step = n == 3 ? values[2] : 1;
    double steps = floor((last - values[0]) / step + 1e-9);
    if (steps < 0 || steps + 1 > SWEEP_MAX_ITEMS - (double)sweep->count)
        return false;
    for (int i = 0; i <= steps; i++)
        *VECTOR_ADD(sweep) = (struct load_choice){.rate_hz = values[0] + i * step};
    return true;
}

static int parse_rates(const char *text, struct load_sweep *sweep, struct error *error) {
    char *copy = memory_strdup(text);
    char *rest = copy;
    bool good = *text != '\0';
    while (good && rest) {
        char *part = strsep(&rest, ",");
        good = read_rates(part, sweep);
    }
    free(copy);
    return good ? 0 : rates_failed(text, sweep, error);
}

int load_sweep_parse(const char *arrivals, const char *clients, struct load_sweep *sweep,
                     struct error *error) {
    *sweep = (struct load_sweep){0};
    if (arrivals)
        return parse_rates(arrivals, sweep, error);
    if (!clients) {
        *VECTOR_ADD(sweep) = (struct load_choice){0};
        return 0;
    }
    struct int_list list;
    if (int_list_parse("--clients", clients, SWEEP_MAX_CLIENTS, &list, error) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++)
        *VECTOR_ADD(sweep) = (struct load_choice){.clients = list.items[i]};
    free(list.items);
    return 0;
}

/* ---- thread choices ---- */

static char *label_of_names(char *const *names, const int *counts, size_t n) {
    char *label = memory_strdup("");
    for (size_t i = 0; i < n; i++) {
        char *longer = memory_format("%s%s%s=%d", label, i ? "," : "", names[i], counts[i]);
        free(label);
        label = longer;
    }
    return label;
}

static void add_plain_choices(struct thread_sweep *sweep, const struct int_list *list) {
    for (size_t i = 0; i < list->count; i++)
        *VECTOR_ADD(sweep) = (struct thread_choice){
            .all = list->items[i],
            .label = memory_format("%d", list->items[i]),
        };
}

/* The cross product, the last name varying fastest. 0, or -1 when it is too large. */
static int add_named_choices(struct thread_sweep *sweep, const struct int_list *ranges) {
    size_t total = 1;
    for (size_t i = 0; i < sweep->n_names; i++) {
        total *= ranges[i].count;
        if (total > SWEEP_MAX_ITEMS)
            return -1;
    }
    for (size_t number = 0; number < total; number++) {
        int *counts = memory_alloc(sweep->n_names, sizeof *counts);
        size_t rest = number;
        for (size_t i = sweep->n_names; i-- > 0;) {
            counts[i] = ranges[i].items[rest % ranges[i].count];
            rest /= ranges[i].count;
        }
        *VECTOR_ADD(sweep) = (struct thread_choice){
            .n_named = sweep->n_names,
            .names = sweep->names,
            .counts = counts,
            .label = label_of_names(sweep->names, counts, sweep->n_names),
        };
    }
    return 0;
}

static int names_failed(const char *option, const char *text, struct error *error) {
    return error_set(error,
                     "%s %s: give POOL=N,POOL=N with numbers from 1 to %d, each pool once and at "
                     "most %d configurations",
                     option, text, SWEEP_MAX_THREADS, SWEEP_MAX_ITEMS);
}

/* NAME=RANGE at *text: the name is appended to the sweep's, the numbers go to `range`. */
static bool read_named_range(const char **text, struct thread_sweep *sweep,
                             struct int_list *range) {
    const char *equals = strchr(*text, '=');
    if (!equals || equals == *text || memchr(*text, ',', (size_t)(equals - *text)))
        return false;
    char *name = strndup(*text, (size_t)(equals - *text));
    for (size_t i = 0; i < sweep->n_names; i++) {
        if (strcmp(sweep->names[i], name) == 0) {
            free(name);
            return false;
        }
    }
    sweep->names[sweep->n_names++] = name;
    *text = equals + 1;
    return read_range(text, SWEEP_MAX_THREADS, range);
}

static int parse_names(const char *option, const char *text, struct thread_sweep *sweep,
                       struct error *error) {
    size_t most = 1;
    for (const char *c = text; *c; c++)
        most += *c == ',';
    sweep->names = memory_alloc(most, sizeof *sweep->names);
    struct int_list *ranges = memory_alloc(most, sizeof *ranges);
    const char *place = text;
    bool good;
    do {
        good = read_named_range(&place, sweep, &ranges[sweep->n_names]);
    } while (good && *place++ == ',');
    good = good && place[-1] == '\0' && add_named_choices(sweep, ranges) == 0;
    for (size_t i = 0; i < most; i++)
        free(ranges[i].items);
    free(ranges);
    return good ? 0 : names_failed(option, text, error);
}

int thread_sweep_parse(const char *option, const char *text, struct thread_sweep *sweep,
                       struct error *error) {
    *sweep = (struct thread_sweep){0};
    if (!text) {
        *VECTOR_ADD(sweep) = (struct thread_choice){.label = memory_strdup("own")};
        return 0;
    }
    if (strchr(text, '=')) {
        if (parse_names(option, text, sweep, error) == 0)
            return 0;
        thread_sweep_free(sweep);
        return -1;
    }
    struct int_list list;
    if (int_list_parse(option, text, SWEEP_MAX_THREADS, &list, error) < 0)
        return -1;
    add_plain_choices(sweep, &list);
    free(list.items);
    return 0;
}

void thread_sweep_free(struct thread_sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++) {
        free(sweep->items[i].counts);
        free(sweep->items[i].label);
    }
    free(sweep->items);
    for (size_t i = 0; i < sweep->n_names; i++)
        free(sweep->names[i]);
    free(sweep->names);
    *sweep = (struct thread_sweep){0};
}

/* ---- against a model ---- */

static void list_pools(const struct model *model, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < model->n_pools && used < bytes; i++) {
        int length =
            snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", model->pools[i].name);
        used += length > 0 ? (size_t)length : 0;
    }
}

static int apply_names(const struct thread_choice *choice, const struct model *model, int *sizes,
                       bool *given, struct error *error) {
    for (size_t i = 0; i < choice->n_named; i++) {
        int pool = model_find_pool(model, choice->names[i]);
        if (pool == MODEL_NONE) {
            char pools[512];
            list_pools(model, pools, sizeof pools);
            return error_set(error, "--threads: the model has no pool '%s': name one of %s",
                             choice->names[i], pools);
        }
        if (model->pools[pool].per_task && !model->pools[pool].scales)
            return error_set(error,
                             "--threads: a thread of %s is made for each task, so that their "
                             "number follows the load: leave it out",
                             choice->names[i]);
        sizes[pool] = choice->counts[i];
        given[pool] = true;
    }
    return 0;
}

static int whole_threads(double threads) {
    double value = round(threads);
    return value < 1 ? 1 : value > SWEEP_MAX_THREADS ? SWEEP_MAX_THREADS : (int)value;
}

/* Sizes of the pools that follow others by a formula, from the sizes of all of them. */
static void apply_formulas(const struct model *model, const bool *given, int *sizes) {
    int *before = memory_alloc(model->n_pools, sizeof *before);
    memcpy(before, sizes, model->n_pools * sizeof *before);
    for (size_t i = 0; i < model->n_pools; i++)
        if (!given[i] && model->pools[i].threads.n_terms > 0)
            sizes[i] = whole_threads(linear_value(&model->pools[i].threads, before));
    free(before);
}

static int apply_all(const struct model *model, int threads, int *sizes, struct error *error) {
    bool any = false;
    for (size_t i = 0; i < model->n_pools; i++) {
        const struct pool *pool = &model->pools[i];
        if (pool->scales) {
            double wanted = pool->asked_factor > 0
                                ? pool->asked_factor * threads + pool->asked_offset
                                : threads;
            sizes[i] =
                model_bounded(whole_threads(wanted), pool->least_threads, pool->most_threads);
            any = true;
        }
    }
    if (any || (scope_is_single(model) && threads == 1))
        return 0;
    if (scope_is_single(model))
        return error_set(error,
                         "--threads %d: the program has one thread, there are none to have more "
                         "of: leave --threads out",
                         threads);
    for (size_t i = 0; i < model->n_pools; i++)
        if (model->pools[i].per_task)
            return error_set(error,
                             "--threads %d: the program makes a thread of %s for each task, so "
                             "that their number follows the load: leave --threads out",
                             threads, model->pools[i].name);
    for (size_t i = 0; i < model->n_pools; i++)
        if (model->pools[i].tree && *model->pools[i].tree)
            return error_set(error,
                             "--threads %d: threads of %s make each other, each for a part of its "
                             "work, in %s: how many there are with another thread count, and what "
                             "is left to each, is not known: leave --threads out",
                             threads, model->pools[i].name, model->pools[i].tree);
    char pools[512];
    list_pools(model, pools, sizeof pools);
    return error_set(error,
                     "--threads %d: no pool of the model is known to follow the number of "
                     "threads: name one, POOL=%d, of %s",
                     threads, threads, pools);
}

int *thread_choice_resolve(const struct thread_choice *choice, const struct model *model,
                           struct error *error) {
    int *sizes = memory_alloc(model->n_pools, sizeof *sizes);
    bool *given = memory_alloc(model->n_pools, sizeof *given);
    for (size_t i = 0; i < model->n_pools; i++)
        sizes[i] = model->pools[i].profiled_threads > 0
                       ? model->pools[i].profiled_threads
                       : whole_threads(linear_value(&model->pools[i].threads, sizes));
    int status = choice->all ? apply_all(model, choice->all, sizes, error)
                             : apply_names(choice, model, sizes, given, error);
    if (status == 0 && (choice->all || choice->n_named))
        apply_formulas(model, given, sizes);
    free(given);
    if (status < 0) {
        free(sizes);
        return NULL;
    }
    return sizes;
}
