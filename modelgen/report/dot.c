#include "modelgen/report/dot.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"

/* Quotes for DOT and, made of it, SVG, which knows no control characters: the only special
 * characters inside "..." are the quote and the backslash. */
static void write_quoted(FILE *out, const char *text) {
    char *line = printable(text);
    fputc('"', out);
    for (const char *at = line; at && *at; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', out);
        fputc(*at, out);
    }
    fputc('"', out);
    free(line);
}

static void write_time(FILE *out, double ns) {
    if (ns >= 1e9)
        fprintf(out, "%.3g s", ns / 1e9);
    else if (ns >= 1e6)
        fprintf(out, "%.3g ms", ns / 1e6);
    else
        fprintf(out, "%.3g us", ns / 1e3);
}

/* What comes from outside, allocated. */
static char *load_of(const struct object *object) {
    if (object->clients > 0)
        return memory_format(": %.0f clients", object->clients);
    if (object->interarrival_ns.kind != DIST_NONE)
        return memory_format(": %.3g/s arrive", 1e9 / dist_mean(&object->interarrival_ns));
    return memory_strdup("");
}

/* A monitor's label has its variables, too, and a queue's its load. */
static void write_label(const struct object *object, FILE *out) {
    char *label = memory_strdup(object->name);
    for (size_t v = 0; v < object->n_variables; v++) {
        char *longer = memory_format("%s%s%s", label, v ? ", " : ": ", object->variables[v].name);
        free(label);
        label = longer;
    }
    char *load = load_of(object);
    char *whole = memory_format("%s%s", label, load);
    write_quoted(out, whole);
    free(whole);
    free(load);
    free(label);
}

static void write_objects(const struct model *model, FILE *out) {
    for (size_t o = 0; o < model->n_objects; o++) {
        const struct object *object = &model->objects[o];
        fprintf(out, "  o%zu [shape=box, style=filled, fillcolor=\"#fff2cc\", label=", o);
        write_label(object, out);
        fprintf(out, ", tooltip=");
        write_quoted(out, object->evidence ? object->evidence : object_kind_name(object->kind));
        fprintf(out, "];\n");
    }
}

static const char *node_fill(enum node_kind kind) {
    switch (kind) {
    case NODE_GET:
    case NODE_ACQUIRE:
        return "#d5e8d4";
    case NODE_PUT:
    case NODE_RELEASE:
        return "#dae8fc";
    case NODE_IO:
    case NODE_SLEEP:
        return "#f8cecc";
    case NODE_START:
    case NODE_END:
        return "#eeeeee";
    default:
        return "#ffffff";
    }
}

static void write_node(const struct model *model, size_t n, FILE *out) {
    const struct node *node = &model->nodes[n];
    const char *colon = strstr(node->name, ": ");
    fprintf(out, "    n%zu [style=filled, fillcolor=\"%s\", label=\"%s\\n", n,
            node_fill(node->kind), node_kind_name(node->kind));
    for (const char *c = colon ? colon + 2 : node->name; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        fputc(*c, out);
    }
    fprintf(out, "\"];\n");
}

static void write_edges(const struct model *model, size_t n, FILE *out) {
    const struct node *node = &model->nodes[n];
    for (size_t e = 0; e < node->n_edges; e++) {
        const struct edge *edge = &node->edges[e];
        fprintf(out, "  n%zu -> n%d [label=\"", n, edge->to);
        if (edge->when != OUTCOME_ANY)
            fprintf(out, "%s ", edge->when == OUTCOME_YES ? "yes" : "no");
        if (edge->taker != TAKER_ANY)
            fprintf(out, "%s ", taker_name(edge->taker));
        if (edge->runs.kind != DIST_NONE)
            fprintf(out, "x%.3g ", dist_mean(&edge->runs));
        if (dist_mean(&edge->cpu_ns) > 0)
            write_time(out, dist_mean(&edge->cpu_ns));
        if (edge->cpu_scaling.share > 0)
            fprintf(out, " / threads");
        fprintf(out, "\"];\n");
    }
    if (node->object != MODEL_NONE)
        fprintf(out, "  n%zu -> o%d [style=dotted, arrowhead=none, constraint=false];\n", n,
                node->object);
}

int dot_write(const struct model *model, FILE *out) {
    fprintf(out, "digraph persik {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=10];\n"
                 "  edge [fontname=\"Helvetica\", fontsize=9];\n  labelloc=t;\n  label=");
    write_quoted(out, model->program);
    fprintf(out, ";\n");
    for (size_t p = 0; p < model->n_pools; p++) {
        fprintf(out, "  subgraph cluster_%zu {\n    style=rounded;\n    label=", p);
        write_quoted(out, model->pools[p].name);
        fprintf(out, ";\n");
        for (size_t n = 0; n < model->n_nodes; n++)
            if (model->nodes[n].pool == (int)p)
                write_node(model, n, out);
        fprintf(out, "  }\n");
    }
    write_objects(model, out);
    for (size_t n = 0; n < model->n_nodes; n++)
        write_edges(model, n, out);
    fprintf(out, "  machine [shape=note, label=\"%d cores\\nquantum ", model->machine.cores);
    write_time(out, model->machine.quantum_ns);
    fprintf(out, "\\nswitch ");
    write_time(out, model->machine.switch_cpu_ns);
    fprintf(out, "\"];\n}\n");
    return ferror(out) ? -1 : 0;
}
