#include "modelgen/sync/template_search.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/command_text.h"
#include "modelgen/sync/replay.h"
#include "modelgen/sync/select.h"

struct search {
    const struct finder *finder;
    const struct template_row *row;
    struct command_program program;
    int *roles;             /* of the candidates at hand */
    double most_violations; /* ... with which one may hold */
    struct value *shared;   /* ... at the end of the run */
    struct explanation best;
    bool is_found;
    struct rejected rejected; /* the one that went farthest of those that do not hold */
};

static struct explanation pattern_of(const struct search *search,
                                     const struct candidate *candidate) {
    const struct finder *finder = search->finder;
    struct explanation pattern = pattern_empty(finder, search->row->kind);
    pattern.tally = candidate->tally;
    pattern.score.contradictions = candidate->tally.violations;
    for (size_t i = 0; i < search->program.n_operations; i++)
        pattern.score.complexity += search->program.operations[i].n_commands;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        if (candidate->roles[section] != HISTORY_NO_ROLE)
            pattern.pattern.acts[section] = search->row->acts[candidate->roles[section]];
    }
    if (search->row->finish)
        search->row->finish(finder, candidate, &pattern);
    return pattern;
}

static double count_waiting(const struct search *search) {
    double count = 0;
    for (size_t i = 0; i < search->finder->history.count; i++) {
        int role = search->roles[search->finder->history.items[i]];
        count += role != HISTORY_NO_ROLE && search->program.operations[role].waits;
    }
    return count;
}

/* For all values of the parameter. */
static void bind_events(struct search *search) {
    const struct finder *finder = search->finder;
    if (!finder->events->items)
        *finder->events = object_history_of(finder->sections, finder->monitors, finder->mutex);
    object_history_bind(finder->events, search->roles);
    search->most_violations = evidence.violation_share * count_waiting(search) + 0.5;
}

static void replay_candidate(struct search *search, struct candidate *candidate) {
    if (search->row->fit)
        search->program.initial[0] = value_of(candidate->parameter);
    const struct replay replay = {.sections = search->finder->sections,
                                  .history = search->finder->events,
                                  .program = &search->program,
                                  .only_waits = true,
                                  .most_violations = search->most_violations};
    candidate->tally = replay_run(&replay, search->shared);
    candidate->shared = search->shared;
}

static bool holds(const struct search *search, struct candidate *candidate) {
    double fewest = search->row->few_prove_nothing ? evidence.convincing_turns : 1;
    return candidate->tally.waited >= fewest && tally_is_acceptable(&candidate->tally) &&
           (!search->row->is_told_apart || (search->row->is_told_apart(search->finder, candidate) &&
                                            tally_is_acceptable(&candidate->tally)));
}

static void reject(struct search *search, const struct candidate *candidate) {
    if (candidate->tally.decisions > search->rejected.tally.decisions)
        search->rejected.tally = candidate->tally;
}

/* Of several that hold, the one that the run contradicts least. */
static void try_candidate(struct search *search, struct candidate candidate) {
    replay_candidate(search, &candidate);
    if (!holds(search, &candidate)) {
        reject(search, &candidate);
        return;
    }
    struct explanation found = pattern_of(search, &candidate);
    bool is_better = !search->is_found || score_is_better(&found.score, &search->best.score);
    if (search->is_found || !is_better)
        explanation_free(is_better ? &search->best : &found);
    if (is_better)
        search->best = found;
    search->is_found = true;
}

static bool bind(struct search *search, const struct section_class *site, unsigned variant) {
    size_t n;
    const size_t *of_mutex = sections_of(search->finder->sections, search->finder->mutex, &n);
    for (size_t i = 0; i < n; i++)
        search->roles[of_mutex[i]] = HISTORY_NO_ROLE;
    return search->row->bind(search->finder, site, variant, search->roles);
}

static bool find_at(struct search *search, const struct section_class *site) {
    search->is_found = false;
    for (unsigned variant = 0; bind(search, site, variant); variant++) {
        double values[TEMPLATE_PARAMETERS] = {0};
        int n = search->row->fit ? search->row->fit(search->finder, search->roles, values) : 1;
        if (n > 0)
            bind_events(search);
        for (int i = 0; i < n; i++)
            try_candidate(
                search,
                (struct candidate){.site = site, .roles = search->roles, .parameter = values[i]});
    }
    return search->is_found && pattern_add(search->finder, search->best);
}

static bool find_at_sites(struct search *search) {
    const struct monitors *monitors = search->finder->monitors;
    if (search->row->at_any_site && find_at(search, NULL))
        return true;
    for (size_t c = 0; c < monitors->n_classes && search->row->at_one_site; c++)
        if (monitors->classes[c].mutex == search->finder->mutex && monitors->classes[c].waits > 0 &&
            find_at(search, &monitors->classes[c]))
            return true;
    return false;
}

static size_t count_roles(const struct template_row *row) {
    size_t n = 0;
    while (n < TEMPLATE_ROLES && row->operations[n])
        n++;
    return n;
}

bool template_search_find(const struct finder *finder, const struct template_row *row) {
    if (!finder_has_wait(finder))
        return false;
    struct search search = {
        .finder = finder,
        .row = row,
        .rejected = {.mutex = finder->mutex, .name = row->name},
        .program = command_program_of_text(row->variables, row->operations, count_roles(row)),
        .roles = memory_alloc(finder->sections->n_sections, sizeof(int))};
    search.shared = memory_alloc(search.program.n_variables, sizeof *search.shared);
    bool found = find_at_sites(&search);
    if (!found && search.rejected.tally.decisions > 0)
        *VECTOR_ADD(&finder->monitors->rejected) = search.rejected;
    free(search.roles);
    free(search.shared);
    command_program_free(&search.program);
    return found;
}
