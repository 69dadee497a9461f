#include "modelgen/build_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/lower/object_names.h"
#include "modelgen/report/recognised_draft.h"

char *build_log_object_name(const struct build *build, int object) {
    const struct sync_object *seen = &build->sections.objects[object];
    char *place = source_place(build->trace, seen->used_context);
    char *name = memory_format("%s %#llx, first used in %s", api_object_names[seen->kind],
                               (unsigned long long)seen->address, place);
    free(place);
    return name;
}

static const char *guard_kind_name(enum guard_kind kind) {
    switch (kind) {
    case GUARD_QUEUE:
        return "queue";
    case GUARD_TOKENS:
        return "tokens";
    case GUARD_LEVEL:
        return "level";
    case GUARD_FIRST:
        return "first";
    }
    return "?";
}

const char *build_log_verdict(const struct explanation *explanation) {
    switch (explanation->by) {
    case BY_COUNTER:
        return guard_kind_name(explanation->counter.kind);
    case BY_PATTERN:
        return hand_made_kind_name(explanation->pattern.kind);
    case BY_STATEMENTS:
        return "statements";
    }
    return "?";
}

/* The caller frees. */
static char *what_explains(const struct explanation *explanation) {
    switch (explanation->by) {
    case BY_COUNTER:
        return memory_format("a counter from %g", explanation->counter.initial);
    case BY_PATTERN:
        return memory_strdup("a pattern");
    case BY_STATEMENTS:
        return memory_strdup("carrying out what the source says");
    }
    return NULL;
}

/* By which the candidates of a mutex compete; the caller frees. */
static char *score_text(const struct score *score) {
    return memory_format("%.0f contradictions and %.0f waits unexplained, complexity %g%s",
                         score->contradictions, score->unexplained, score->complexity,
                         score->is_said ? ", the source's word" : "");
}

/* The first of what speaks against an explanation that was taken all the same. */
static void log_contradictions(const char *pass, const char *name, struct build *build,
                               const struct tally *tally) {
    struct lower_input input = build_lower_input(build);
    for (size_t i = 0; i < tally->n_contradictions; i++) {
        char *text = recognised_contradiction(&input, &tally->contradictions[i]);
        decision(pass, name, "contradicted", "%s", text);
        free(text);
    }
}

void build_log_explanations(const char *pass, struct build *build, size_t first) {
    for (size_t i = first; i < build->monitors.explanations.count; i++) {
        const struct explanation *explanation = &build->monitors.explanations.items[i];
        const struct tally *tally = &explanation->tally;
        char *name = build_log_object_name(build, explanation->mutex);
        char *what = what_explains(explanation), *score = score_text(&explanation->score);
        decision(pass, name, build_log_verdict(explanation),
                 "%s explains %.0f of %.0f decisions, %.0f of them waits%s; score: %s", what,
                 tally->decisions - tally->violations, tally->decisions, tally->waited,
                 explanation->proposal ? ", and the source proposes it" : "", score);
        free(score);
        log_contradictions(pass, name, build, tally);
        free(what);
        free(name);
    }
}

/* Why it is not what the mutex is; the caller frees. */
static char *reason_against(struct build *build, const struct rejected *rejected) {
    struct lower_input input = build_lower_input(build);
    const struct tally *tally = &rejected->tally;
    if (rejected->is_outdone)
        return score_text(&rejected->score);
    char *first =
        tally_is_acceptable(tally)    ? memory_strdup("nothing tells it from something simpler")
        : tally->n_contradictions > 0 ? recognised_contradiction(&input, &tally->contradictions[0])
                                      : memory_strdup("too many");
    char *text = memory_format("%.0f of the first %.0f decisions contradict it: %s",
                               tally->violations, tally->decisions, first);
    free(first);
    return text;
}

void build_log_rejected(const char *pass, struct build *build, size_t first) {
    for (size_t i = first; i < build->monitors.rejected.count; i++) {
        const struct rejected *rejected = &build->monitors.rejected.items[i];
        char *name = build_log_object_name(build, rejected->mutex);
        char *verdict = memory_format("no %s", rejected->name);
        char *reason = reason_against(build, rejected);
        decision(pass, name, verdict, "%s%s", rejected->is_outdone ? "outdone, with " : "", reason);
        free(reason);
        free(verdict);
        free(name);
    }
}

void build_log_suspects(const char *pass, const struct build *build) {
    for (size_t i = 0; i < build->doubts->n_suspects; i++) {
        char *name = build_log_object_name(build, build->doubts->suspects[i]);
        decision(pass, name, "suspect", "%g waits, or fewer, tell what it is", evidence.little);
        free(name);
    }
}

void build_log_objects(const char *pass, const struct build *build) {
    for (size_t o = 0; o < build->model->n_objects; o++) {
        const struct object *object = &build->model->objects[o];
        decision(pass, object->name, object_kind_name(object->kind), "%s",
                 object->evidence ? object->evidence : "as the program calls it");
    }
}

/* ---- names ---- */

static void name_as(const struct build *build, int object, const char *name) {
    char *subject = build_log_object_name(build, object);
    decision_alias(subject, name);
    free(subject);
}

static void name_as_model_object(const struct build *build, int object, int of_model) {
    if (of_model >= 0)
        name_as(build, object, build->model->objects[of_model].name);
}

/* Is `name` what name_of_object() gave, or that with what lower/ may add to it: the type in the
 * source, or which one of many? */
static bool begins_with(const char *name, const char *with) {
    size_t length = strlen(with);
    return strncmp(name, with, length) == 0 &&
           (!name[length] || strncmp(name + length, " [", 2) == 0 ||
            strncmp(name + length, ", number ", 9) == 0);
}

/* `object` has become all objects of the model that are called as `named`, with `what` before it.
 */
static void name_by_text(struct build *build, int object, int named, const char *what) {
    struct lower_input input = build_lower_input(build);
    char *name = name_of_object(&input, named, what, NULL);
    for (size_t o = 0; o < build->model->n_objects; o++)
        if (begins_with(build->model->objects[o].name, name))
            name_as(build, object, build->model->objects[o].name);
    free(name);
}

/* Is anything decided on the mutex? */
static bool *mutexes_decided_on(const struct build *build) {
    const struct monitors *monitors = &build->monitors;
    bool *decided = memory_alloc(build->sections.n_objects + 1, sizeof *decided);
    for (size_t i = 0; i < monitors->explanations.count; i++)
        decided[monitors->explanations.items[i].mutex] = true;
    return decided;
}

/* Conditions whose predicate is not known have become flags. */
static void name_conditions(struct build *build) {
    const struct sections *sections = &build->sections;
    bool *named = memory_alloc(sections->n_objects + 1, sizeof *named);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits; w++) {
            int condition = sections->waits[section->first_wait + w].condition;
            int root = sections->objects[condition].class_id;
            if (!named[root] &&
                !monitors_explain_condition(&build->monitors, sections, condition, false))
                name_by_text(build, section->mutex, root, "condition");
            named[root] = true;
        }
    }
    free(named);
}

/* A filter's object goes by its address in the filter's decision. */
static void name_made_up(struct build *build) {
    for (size_t o = 0; o < build->sections.n_objects; o++) {
        const struct sync_object *object = &build->sections.objects[o];
        if (object->origin == ORIGIN_RECORDED || object->class_id != (int)o)
            continue;
        struct lower_input input = build_lower_input(build);
        char *address = event_counts_object_name(object->address);
        char *end = name_of_object(&input, (int)o, "", NULL);
        for (size_t m = 0; m < build->model->n_objects; m++) {
            const char *found = strstr(build->model->objects[m].name, end);
            if (found && begins_with(found, end))
                decision_alias(address, build->model->objects[m].name);
        }
        free(end);
        free(address);
    }
}

void build_log_name_objects(struct build *build) {
    const struct monitors *monitors = &build->monitors;
    for (size_t i = 0; i < monitors->explanations.count; i++)
        name_as_model_object(build, monitors->explanations.items[i].mutex,
                             monitors->explanations.items[i].object);
    bool *decided = mutexes_decided_on(build);
    for (size_t o = 0; o < build->sections.n_objects; o++)
        if (decided[o])
            name_by_text(build, (int)o, (int)o, "mutex");
    free(decided);
    name_conditions(build);
    name_made_up(build);
}

/* Of all that is in the model for it there is only the name: its parts do not lead to it. */
static bool is_left_out(const struct hand_made *made) {
    return made->n_made_of == 0;
}

/* `end` is how the mutex is called, but for the kind of thing that it is. */
static void name_left_out(const struct build *build, int mutex, const char *end) {
    for (size_t m = 0; m < build->model->n_monitors; m++) {
        const struct hand_made *made = &build->model->monitors[m];
        char *name = memory_format("%s%s", hand_made_kind_name(made->kind), end);
        if (is_left_out(made) && strcmp(made->name, name) == 0)
            name_as(build, mutex, made->name);
        free(name);
    }
}

void build_log_name_recognised(struct build *build) {
    struct lower_input input = build_lower_input(build);
    bool any = false;
    for (size_t m = 0; m < build->model->n_monitors; m++)
        any |= is_left_out(&build->model->monitors[m]);
    for (size_t o = 0; o < build->sections.n_objects && any; o++) {
        const struct facts_monitor *proposal = build->monitors.proposal_of[o];
        const struct sync_object *object = &build->sections.objects[o];
        if (object->kind != ON_MUTEX || object->class_id != (int)o)
            continue;
        char *plain = name_of_object(&input, (int)o, "", NULL);
        char *proposed = name_of_object(&input, (int)o, "", proposal ? proposal->name : NULL);
        name_left_out(build, (int)o, plain);
        if (strcmp(plain, proposed) != 0)
            name_left_out(build, (int)o, proposed);
        free(plain);
        free(proposed);
    }
}

/* ---- pools ---- */

static void log_pool(const char *pass, const struct thread_pool *pool) {
    decision(pass, pool->name,
             pool->scales     ? "follows --threads"
             : pool->per_task ? "follows the tasks"
                              : "stays as it is",
             "%zu threads, %d at a time%s%s%s: %s", pool->n_threads, pool->size,
             pool->team ? ", an OpenMP team" : "",
             pool->with_creator ? ", one is the creator itself" : "",
             pool->fixed ? ", a number that the source has" : "", pool->why ? pool->why : "?");
}

void build_log_pools(const char *pass, const struct build *build) {
    for (size_t p = 0; p < build->pools.n_pools; p++)
        log_pool(pass, &build->pools.pools[p]);
}

/* ---- the graph ---- */

struct graph_counts build_log_count_graph(const struct build *build) {
    struct graph_counts counts = {.nodes = build->model->n_nodes};
    for (size_t n = 0; n < build->model->n_nodes; n++)
        counts.edges += build->model->nodes[n].n_edges;
    return counts;
}

void build_log_graph(const char *pass, const struct build *build, struct graph_counts before) {
    struct graph_counts after = build_log_count_graph(build);
    if (after.nodes != before.nodes || after.edges != before.edges)
        decision(pass, "graph", "rewritten", "%zu nodes with %zu edges became %zu with %zu",
                 before.nodes, before.edges, after.nodes, after.edges);
}

void build_log_recognised(const char *pass, const struct build *build) {
    for (size_t m = 0; m < build->model->n_monitors; m++) {
        const struct hand_made *made = &build->model->monitors[m];
        decision(pass, made->name, hand_made_kind_name(made->kind),
                 "modelled %s: %.0f of %.0f decisions agree, confidence %.2f: %s",
                 modelled_name(made->how), made->replayed - made->violations, made->replayed,
                 made->confidence, made->why);
    }
}

void build_log_rules(const char *pass, const struct build *build) {
    for (size_t p = 0; p < build->model->n_pools; p++) {
        const struct pool *pool = &build->model->pools[p];
        decision(pass, pool->name, partition_names[pool->partition], "confidence %.2f: %s",
                 pool->confidence, pool->rule ? pool->rule : "no rule");
    }
}
