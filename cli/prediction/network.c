#include "cli/prediction/network.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/arguments/scope.h"
#include "cli/judgement.h"
#include "cli/text/quantity.h"

enum { KEY_LATENCY = 0x9800, KEY_BANDWIDTH };

static const struct argp_option options_list[] = {
    {"network-latency", KEY_LATENCY, "TIME", 0,
     "the clients are that far away: each request and each reply takes so long, such as 200us "
     "(default: no time)",
     1},
    {"network-bandwidth", KEY_BANDWIDTH, "RATE", 0,
     "each way their network carries so much, such as 1Gbit/s or 100MB/s, one thing after the "
     "other (default: no limit)",
     1},
    {0},
};

static double positive(const char *option, const char *text, enum unit unit, const char *example) {
    double value;
    if (quantity_parse(text, unit, &value) < 0 || !(value > 0))
        usage_error("%s %s: give a value above 0, such as %s", option, text, example);
    return value;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct network *network = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *network = (struct network){0};
        return 0;
    case KEY_LATENCY:
        network->latency_ns = positive("--network-latency", argument, UNIT_TIME, "200us");
        return 0;
    case KEY_BANDWIDTH:
        network->bytes_per_s = positive("--network-bandwidth", argument, UNIT_BANDWIDTH, "1Gbit/s");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp network_argp = {.options = options_list, .parser = parse};

/* ---- the model with it ---- */

static bool is_from_outside(const struct object *object) {
    return object->interarrival_ns.kind != DIST_NONE || object->clients > 0;
}

static const char *option_of(const struct network *network) {
    return network->latency_ns > 0 ? "--network-latency" : "--network-bandwidth";
}

static int check(const struct network *network, const struct model *model, struct error *error) {
    for (size_t i = 0; i < model->n_objects; i++) {
        const struct object *object = &model->objects[i];
        if (object->kind == OBJECT_LINK)
            return error_set(error,
                             "%s: the model has a network of its own, %s: leave the option "
                             "out, or edit the model",
                             option_of(network), object->name);
        if (!is_from_outside(object))
            continue;
        bool has_bytes =
            object->request_bytes.kind != DIST_NONE && object->reply_bytes.kind != DIST_NONE;
        if (network->bytes_per_s > 0 && !has_bytes)
            return error_set(error,
                             "--network-bandwidth: how many bytes come and go is not known of %s: "
                             "run `persik build-model` again, or leave the option out",
                             object->name);
    }
    char *why = scope_no_outside(model);
    if (!why)
        return 0;
    error_set(error, "%s: %s: leave the option out", option_of(network), why);
    free(why);
    return -1;
}

static int add_link(struct model *model, const struct network *network, const char *name) {
    int index = model_add_object(model, OBJECT_LINK, memory_strdup(name));
    model->objects[index].latency_ns = network->latency_ns;
    model->objects[index].bytes_per_s = network->bytes_per_s;
    return index;
}

bool network_is_given(const struct network *network) {
    return network->latency_ns > 0 || network->bytes_per_s > 0;
}

int network_apply(const struct network *network, struct model *model, struct error *error) {
    if (!network_is_given(network))
        return 0;
    if (check(network, model, error) < 0)
        return -1;
    size_t n = model->n_objects;
    int there = add_link(model, network, "network to the server");
    int back = add_link(model, network, "network to the clients");
    for (size_t i = 0; i < n; i++) {
        if (!is_from_outside(&model->objects[i]))
            continue;
        model->objects[i].comes_by = there;
        model->objects[i].goes_by = back;
    }
    return 0;
}

const struct object *network_full_link(const struct model *model, const struct sim_result *result) {
    for (size_t i = 0; i < result->n_objects; i++)
        if (model->objects[i].kind == OBJECT_LINK &&
            result->objects[i].utilisation.mean > judgement.link_full)
            return &model->objects[i];
    return NULL;
}
