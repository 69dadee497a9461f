#include "modelgen/report/spinning.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "modelgen/notes.h"

/* Of the CPU time: what waiting must burn to be worth a note, and how many samples must tell it. */
#define WORTH_A_NOTE   0.01
#define ENOUGH_SAMPLES 5

static bool is_in(const struct sample_node *node, const struct facts_spin *spin) {
    return node->line >= spin->first_line && node->line <= spin->last_line &&
           strcmp(node->function, spin->function) == 0;
}

static bool is_nap(const char *function) {
    int api = api_find_internal(function);
    return api >= 0 && (api_catalog[api].op == OP_YIELD || api_catalog[api].op == OP_SLEEP);
}

/* Is what the loop called there, `callee` or nothing, part of the waiting, and not what it was for?
 * Of loops that also work it is the attempt and the naps after it. */
static bool is_waiting(const struct facts_spin *spin, const struct sample_node *callee) {
    for (size_t i = 0; callee && i < spin->n_leads_to; i++)
        if (strcmp(callee->function, spin->leads_to[i]) == 0)
            return false;
    if (!spin->works)
        return true;
    return callee && ((spin->attempt && strcmp(callee->function, spin->attempt) == 0) ||
                      is_nap(callee->function));
}

/* The innermost loop around the node; -1 none. */
static int find_spin(const struct facts *facts, const struct sample *sample, size_t n) {
    int found = -1;
    const struct sample_node *callee = NULL;
    for (int at = (int)n; at >= 0 && found < 0; at = sample->nodes[at].parent) {
        for (size_t s = 0; s < facts->n_spins; s++) {
            const struct facts_spin *spin = &facts->spins[s];
            if (is_in(&sample->nodes[at], spin) && is_waiting(spin, callee) &&
                (found < 0 || spin->last_line - spin->first_line <
                                  facts->spins[found].last_line - facts->spins[found].first_line))
                found = (int)s;
        }
        callee = &sample->nodes[at];
    }
    return found;
}

/* "done, which main changes" */
static char *describe_variable(const struct facts_spin *spin) {
    if (spin->n_changed_by == 0)
        return memory_strdup(spin->variable);
    return memory_format("%s, which %s%s changes", spin->variable, spin->changed_by[0],
                         spin->n_changed_by > 1 ? " (and others)" : "");
}

/* The catalog's lines for it. */
static char *advise(const struct facts_spin *spin) {
    const char *other = spin->n_changed_by ? spin->changed_by[0] : "FUNCTION";
    for (size_t i = 0; i < spin->n_changed_by; i++) /* the other side, when there is one */
        if (strcmp(other, spin->function) == 0)
            other = spin->changed_by[i];
    switch (spin->kind) {
    case SPIN_LOCK:
        return memory_format("'lock %s spins', 'unlock %s spins'", spin->function, other);
    case SPIN_BARRIER:
        return memory_format("'barrier %s amount=PARTIES spins'", spin->function);
    case SPIN_ATTEMPT:
        return memory_format("'try-get %s fails=RESULT', 'put %s'", spin->attempt, other);
    default:
        return memory_format("'wait %s spins', 'signal %s'", spin->function, other);
    }
}

static void note_spin(const struct facts_spin *spin, double share, struct model *model) {
    char *variable = describe_variable(spin);
    char *advice = advise(spin);
    notes_add(model,
              "%.1f %% of the CPU time is burnt spinning in %s (%s:%d) on %s: taken for work. If "
              "functions of their own do this, name them in a --catalog, such as %s",
              100 * share, spin->function, path_name(spin->file), spin->first_line, variable,
              advice);
    free(variable);
    free(advice);
}

void spinning_note(const struct facts *facts, const struct sample *sample, struct model *model) {
    if (!facts || !sample || facts->n_spins == 0)
        return;
    double total = 0;
    double *burnt = memory_alloc(facts->n_spins, sizeof *burnt);
    for (size_t n = 0; n < sample->n_nodes; n++) {
        double running = (double)sample->nodes[n].running;
        total += running;
        int spin = running > 0 ? find_spin(facts, sample, n) : -1;
        if (spin >= 0)
            burnt[spin] += running;
    }
    for (size_t s = 0; s < facts->n_spins; s++)
        if (burnt[s] >= ENOUGH_SAMPLES && burnt[s] >= WORTH_A_NOTE * total)
            note_spin(&facts->spins[s], burnt[s] / total, model);
    free(burnt);
}
