#include "modelgen/graph/statement_nodes.h"

static const struct statement_section *section_at(const struct model *model, size_t node) {
    const struct node *at = &model->nodes[node];
    return &model->objects[at->object].sections[at->section];
}

static bool updates(const struct statement_section *section) {
    for (size_t i = 0; i < section->n_statements; i++)
        if (section->statements[i].kind == STATEMENT_UPDATE)
            return true;
    return false;
}

/* Does `giver` do this to a condition that `taker` waits for? */
static bool tells(const struct statement_section *giver, enum statement_kind how,
                  const struct statement_section *taker) {
    for (size_t g = 0; g < giver->n_statements; g++)
        for (size_t t = 0; t < taker->n_statements; t++)
            if (giver->statements[g].kind == how && taker->statements[t].kind == STATEMENT_WAIT &&
                giver->statements[g].condition == taker->statements[t].condition)
                return true;
    return false;
}

bool statement_nodes_are_handed(const struct model *model, size_t node) {
    const struct statement_section *taker = section_at(model, node);
    int pool = model->nodes[node].pool;
    bool handed = false;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *other = &model->nodes[n];
        if (other->kind != NODE_STATEMENTS || other->object != model->nodes[node].object)
            continue;
        bool signals = tells(section_at(model, n), STATEMENT_SIGNAL, taker);
        bool broadcasts = tells(section_at(model, n), STATEMENT_BROADCAST, taker);
        if (broadcasts || (signals && other->pool == pool))
            return false;
        handed |= signals;
    }
    return handed && updates(taker);
}

bool statement_nodes_meet(const struct model *model, size_t node) {
    const struct statement_section *section = section_at(model, node);
    return tells(section, STATEMENT_BROADCAST, section);
}
