/* A plan while it is made: its arrays, which grow, and what nodes and objects alike put into them.
 */
#ifndef PERSIK_SIMULATOR_PLAN_BUILDER_H
#define PERSIK_SIMULATOR_PLAN_BUILDER_H

#include "simulator/plan.h"

struct plan_builder {
    const struct model *model;
    int *pool_threads;
    struct {
        struct plan_draw *items;
        size_t count, capacity;
    } draws;
    struct {
        double *items;
        size_t count, capacity;
    } values;
    struct {
        struct plan_edge *items;
        size_t count, capacity;
    } edges;
    struct {
        struct plan_choice *items;
        size_t count, capacity;
    } choices;
    struct {
        struct plan_leg *items;
        size_t count, capacity;
    } legs;
    struct {
        struct plan_call *items;
        size_t count, capacity;
    } calls;
    struct {
        struct plan_request *items;
        size_t count, capacity;
    } requests;
    struct {
        struct plan_distance *items;
        size_t count, capacity;
    } distances;
    struct {
        struct value *items;
        size_t count, capacity;
    } variables;
    struct {
        struct plan_section *items;
        size_t count, capacity;
    } sections;
    struct {
        struct command *items;
        size_t count, capacity;
    } commands;
    int n_runs, n_cards, n_rounds, n_courses, n_rows;
    size_t n_tasks;    /* as in struct plan */
    double cpu_factor; /* of all CPU demands */
};

/* Each adds a distribution to be drawn from and returns its number; PLAN_NONE of DIST_NONE. */
int plan_add_draw(struct plan_builder *builder, const struct dist *dist);

/* Of a total that threads split, as `scaling` says. */
int plan_add_draw_of_parts(struct plan_builder *builder, const struct dist *dist,
                           const struct scaling *scaling);

/* A CPU demand; `scaling` NULL: it is no part of anything. */
int plan_add_cpu_draw(struct plan_builder *builder, const struct dist *dist,
                      const struct scaling *scaling);

/* The same distribution, `factor` times as long. The caller frees its values. */
struct dist plan_multiplied(const struct dist *dist, double factor);

struct plan_factor plan_factor_of(const struct plan_builder *builder,
                                  const struct scaling *scaling);

#endif
