#include "modelgen/build_log.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/patterns.h"
#include "modelgen/sync/statements.h"

static const char *const object_kinds[] = {
    [ON_NONE] = "object",         [ON_MUTEX] = "mutex",         [ON_RWLOCK] = "rwlock",
    [ON_CONDITION] = "condition", [ON_SEMAPHORE] = "semaphore", [ON_BARRIER] = "barrier",
    [ON_SPIN] = "spinlock",       [ON_ONCE] = "once",           [ON_THREAD] = "thread",
    [ON_FILE] = "file",           [ON_SOCKET] = "socket",       [ON_QUEUE] = "message queue",
    [ON_ITEMS] = "queue",         [ON_EVENT] = "event",         [ON_TEAM] = "team",
    [ON_SHARE] = "shared work"};

char *build_log_object_name(const struct build *build, int object) {
    const struct sync_object *seen = &build->sections.objects[object];
    char *place = source_place(build->trace, seen->used_context);
    char *name = memory_format("%s %#llx, first used in %s", object_kinds[seen->kind],
                               (unsigned long long)seen->address, place);
    free(place);
    return name;
}

const char *build_log_guard_kind(enum guard_kind kind) {
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

void build_log_guards(const char *pass, const struct build *build, size_t first) {
    for (size_t g = first; g < build->monitors.n_guards; g++) {
        const struct guard *guard = &build->monitors.guards[g];
        char *name = build_log_object_name(build, guard->mutex);
        decision(pass, name, build_log_guard_kind(guard->kind),
                 "a counter from %g explains %.0f of %.0f decisions, %.0f of them waits%s",
                 guard->initial, guard->evaluations - guard->violations, guard->evaluations,
                 guard->waited, guard->proposal ? ", and the source proposes it" : "");
        free(name);
    }
}

void build_log_patterns(const char *pass, const struct build *build) {
    for (size_t p = 0; p < build->monitors.n_patterns; p++) {
        const struct pattern *pattern = &build->monitors.patterns[p];
        char *name = build_log_object_name(build, pattern->mutex);
        decision(pass, name, hand_made_kind_name(pattern->kind),
                 "a pattern explains %.0f of %.0f decisions, %.0f of them waits%s",
                 pattern->tally.decisions - pattern->tally.violations, pattern->tally.decisions,
                 pattern->tally.waited,
                 pattern->is_proposed ? "; nobody waited, the source proposes it" : "");
        free(name);
    }
}

static char *contradiction_text(const struct build *build, const struct contradiction *at) {
    const struct section *section = &build->sections.sections[at->section];
    const struct section_class *class =
        &build->monitors.classes[build->monitors.class_of[at->section]];
    return memory_format(": at %.6f s thread %d %s in %s (line %d)", (double)at->time_ns / 1e9,
                         build->trace->threads[section->thread].index,
                         at->waited ? "waited though it need not have"
                                    : "went on, or did not wake others, though it should have",
                         class->function, class->line);
}

void build_log_rejected(const char *pass, const struct build *build) {
    for (size_t i = 0; i < build->monitors.rejected.count; i++) {
        const struct rejected *rejected = &build->monitors.rejected.items[i];
        const struct tally *tally = &rejected->tally;
        char *name = build_log_object_name(build, rejected->mutex);
        char *first =
            tally_is_acceptable(tally) ? memory_strdup(": nothing tells it from something simpler")
            : tally->n_contradictions > 0 ? contradiction_text(build, &tally->contradictions[0])
                                          : memory_strdup("");
        char *verdict = memory_format("no %s", rejected->name);
        decision(pass, name, verdict, "%.0f of the first %.0f decisions contradict it%s",
                 tally->violations, tally->decisions, first);
        free(verdict);
        free(first);
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

void build_log_statements(const char *pass, const struct build *build) {
    for (size_t i = 0; i < build->monitors.n_statements; i++) {
        const struct statements *statements = &build->monitors.statements[i];
        char *name = build_log_object_name(build, statements->mutex);
        decision(pass, name, "statements",
                 "the source's statements explain %.0f of %.0f decisions, %.0f of them waits; what "
                 "else was found of the mutex is dropped",
                 statements->verdict.decisions - statements->verdict.violations,
                 statements->verdict.decisions, statements->verdict.waited);
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

struct graph_counts build_log_count_graph(const struct build *build) {
    struct graph_counts counts = {.nodes = build->model->n_nodes};
    for (size_t n = 0; n < build->model->n_nodes; n++) {
        const struct node *node = &build->model->nodes[n];
        counts.edges += node->n_edges;
        for (size_t e = 0; e < node->n_edges; e++)
            counts.left_to_last += node->edges[e].taker == TAKER_LAST;
    }
    return counts;
}

void build_log_graph(const char *pass, const struct build *build, struct graph_counts before) {
    struct graph_counts after = build_log_count_graph(build);
    if (after.nodes != before.nodes || after.edges != before.edges ||
        after.left_to_last != before.left_to_last)
        decision(
            pass, "graph", "rewritten",
            "%zu nodes with %zu edges, %zu of them the last thread's, became %zu with %zu, %zu "
            "of them the last thread's",
            before.nodes, before.edges, before.left_to_last, after.nodes, after.edges,
            after.left_to_last);
}

void build_log_recognised(const char *pass, const struct build *build) {
    for (size_t m = 0; m < build->model->n_monitors; m++) {
        const struct hand_made *made = &build->model->monitors[m];
        decision(pass, made->name, hand_made_kind_name(made->kind),
                 "modelled %s: %.0f of %.0f decisions agree, confidence %.2f: %s",
                 modelled_name(made->how), made->replayed - made->violations, made->replayed,
                 made->confidence, made->why);
        for (size_t i = 0; i < made->n_rejected; i++)
            decision(pass, made->name, "rejected", "%s", made->rejected[i]);
    }
}

void build_log_rules(const char *pass, const struct build *build) {
    for (size_t p = 0; p < build->model->n_pools; p++) {
        const struct pool *pool = &build->model->pools[p];
        decision(pass, pool->name, partition_names[pool->partition], "confidence %.2f: %s",
                 pool->confidence, pool->rule ? pool->rule : "no rule");
    }
}
