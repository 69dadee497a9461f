#include "cli/report/chrome_simulated.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report/chrome_run.h"

/* JSON string literals. */
struct texts {
    char **names, **places; /* by node */
    char **objects;
    char **pools;
};

struct source {
    const struct model *model;
    const struct simulated_run *run;
    struct texts texts;
};

/* "get in slot_main" of a get at "slot_main (pool.c:31)". */
static char *node_title(const struct node *node) {
    const char *place = simulated_place(node);
    const char *brackets = strstr(place, " (");
    size_t length = brackets ? (size_t)(brackets - place) : strlen(place);
    return memory_format("%s in %.*s", node_kind_name(node->kind), (int)length, place);
}

static struct texts texts_of(const struct model *model) {
    struct texts texts = {.names = memory_alloc(model->n_nodes, sizeof *texts.names),
                          .places = memory_alloc(model->n_nodes, sizeof *texts.places),
                          .objects = memory_alloc(model->n_objects, sizeof *texts.objects),
                          .pools = memory_alloc(model->n_pools, sizeof *texts.pools)};
    for (size_t i = 0; i < model->n_nodes; i++) {
        texts.names[i] = chrome_quote_own(node_title(&model->nodes[i]));
        texts.places[i] = chrome_quote(simulated_place(&model->nodes[i]));
    }
    for (size_t i = 0; i < model->n_objects; i++)
        texts.objects[i] = chrome_quote(model->objects[i].name);
    for (size_t i = 0; i < model->n_pools; i++)
        texts.pools[i] = chrome_quote(model->pools[i].name);
    return texts;
}

static void free_all(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void texts_free(struct texts *texts, const struct model *model) {
    free_all(texts->names, model->n_nodes);
    free_all(texts->places, model->n_nodes);
    free_all(texts->objects, model->n_objects);
    free_all(texts->pools, model->n_pools);
}

static void write_arguments(const struct source *source,
                            const struct simulated_operation *operation, FILE *out) {
    const struct node *node = &source->model->nodes[operation->node];
    fprintf(out, "\"place\":%s,\"outcome\":\"%s\"", source->texts.places[operation->node],
            operation->is_yes ? "yes" : "no");
    if (node->object != MODEL_NONE)
        fprintf(out, ",\"object\":%s", source->texts.objects[node->object]);
    if (node->kind == NODE_CREATE || node->kind == NODE_JOIN)
        fprintf(out, ",\"pool\":%s", source->texts.pools[node->target_pool]);
}

/* As of a recorded run, what took no time is left out. */
static void write_operations(const void *context, const struct trace_thread *thread,
                             struct trace_span span, FILE *out) {
    const struct source *source = context;
    const struct simulated_operations *operations = &source->run->operations[thread->index];
    for (size_t i = 0; i < operations->count; i++) {
        const struct simulated_operation *operation = &operations->items[i];
        if (operation->end_ns == operation->start_ns ||
            !chrome_is_inside(span, operation->start_ns, operation->end_ns))
            continue;
        chrome_begin(out, CHROME_THREADS, thread->index, source->texts.names[operation->node],
                     operation->start_ns, operation->end_ns - operation->start_ns);
        write_arguments(source, operation, out);
        chrome_end(out);
    }
}

void chrome_write_simulated(const struct model *model, const struct simulated_run *run,
                            struct trace_span span, FILE *out) {
    struct source source = {.model = model, .run = run, .texts = texts_of(model)};
    const struct chrome_run all = {
        .trace = run->trace, .calls = write_operations, .context = &source};
    chrome_write_run(&all, span, out);
    texts_free(&source.texts, model);
}
