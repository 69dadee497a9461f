#include "modelgen/events/symbol_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The innermost one around the place; NULL: none. */
static const struct facts_lambda *find(const struct facts *facts, const char *file, int line) {
    const struct facts_lambda *best = NULL;
    for (size_t i = 0; file && i < facts->n_lambdas; i++) {
        const struct facts_lambda *lambda = &facts->lambdas[i];
        if (line >= lambda->first_line && line <= lambda->last_line &&
            (!best || lambda->first_line >= best->first_line) && strcmp(lambda->file, file) == 0)
            best = lambda;
    }
    return best;
}

/* The analyser's name of the function; NULL: it is none of its lambdas. */
static const char *name_of(const struct facts *facts, const char *function, const char *file,
                           int line) {
    const struct facts_lambda *lambda =
        strcmp(function, "operator()") == 0 ? find(facts, file, line) : NULL;
    return lambda ? lambda->name : NULL;
}

void symbol_names_of_lambdas(const struct facts *facts, struct trace *trace,
                             struct sample *sample) {
    if (!facts || facts->n_lambdas == 0)
        return;
    for (size_t c = 0; c < trace->n_contexts; c++)
        for (size_t f = 0; f < trace->contexts[c].n_frames; f++) {
            struct trace_frame *frame = &trace->contexts[c].frames[f];
            const char *name = name_of(facts, frame->function, frame->file, frame->line);
            if (name)
                trace_rename_function(trace, frame, name);
        }
    for (size_t n = 0; sample && n < sample->n_nodes; n++) {
        struct sample_node *node = &sample->nodes[n];
        const char *name = name_of(facts, node->function, node->file, node->line);
        if (!name)
            continue;
        free(node->function);
        node->function = memory_strdup(name);
    }
}
