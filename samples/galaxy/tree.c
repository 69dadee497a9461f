#include "tree.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>

enum {
    DEPTH_MAX = 40, /* squares so small that the bodies in them are one */
    STACK_MAX = 4 * DEPTH_MAX,
};

static const double softening = 0.02; /* keeps close encounters finite */

void tree_init(struct tree *tree) {
    *tree = (struct tree){0};
}

void tree_free(struct tree *tree) {
    free(tree->nodes);
    tree_init(tree);
}

static int add_node(struct tree *tree, double cx, double cy, double half) {
    if (tree->used == tree->capacity) {
        int capacity = tree->capacity ? 2 * tree->capacity : 1024;
        struct tree_node *nodes = realloc(tree->nodes, (size_t)capacity * sizeof *nodes);
        if (!nodes)
            err(EXIT_FAILURE, "out of memory for %d tree nodes", capacity);
        tree->nodes = nodes;
        tree->capacity = capacity;
    }
    tree->nodes[tree->used] = (struct tree_node){.cx = cx, .cy = cy, .half = half};
    return tree->used++;
}

/* The number of the child square of this node that (x, y) lies in; created if it is missing. */
static int child_at(struct tree *tree, int node, double x, double y) {
    const struct tree_node *n = &tree->nodes[node];
    int quadrant = (x >= n->cx) + 2 * (y >= n->cy);
    if (n->children[quadrant])
        return n->children[quadrant];
    double quarter = 0.5 * n->half;
    double cx = n->cx + (quadrant & 1 ? quarter : -quarter);
    double cy = n->cy + (quadrant & 2 ? quarter : -quarter);
    int child = add_node(tree, cx, cy, quarter);
    tree->nodes[node].children[quadrant] = child;
    return child;
}

/* Adds a mass to a node's total; x and y hold moments until summarise_nodes divides them. */
static void add_moment(struct tree_node *node, double x, double y, double mass) {
    node->mass += mass;
    node->x += mass * x;
    node->y += mass * y;
}

/* Moves what a leaf holds one level down, so that it becomes an inner node. */
static void split_leaf(struct tree *tree, int node) {
    struct tree_node leaf = tree->nodes[node];
    int child = child_at(tree, node, leaf.x / leaf.mass, leaf.y / leaf.mass);
    tree->nodes[child].mass = leaf.mass;
    tree->nodes[child].x = leaf.x;
    tree->nodes[child].y = leaf.y;
    tree->nodes[child].is_leaf = 1;
    tree->nodes[node].is_leaf = 0;
}

static void insert_body(struct tree *tree, const struct body *body) {
    int node = 0;
    for (int depth = 0; depth < DEPTH_MAX && tree->nodes[node].mass > 0.0; depth++) {
        if (tree->nodes[node].is_leaf)
            split_leaf(tree, node);
        add_moment(&tree->nodes[node], body->x, body->y, body->mass);
        node = child_at(tree, node, body->x, body->y);
    }
    tree->nodes[node].is_leaf = 1;
    add_moment(&tree->nodes[node], body->x, body->y, body->mass);
}

static void summarise_nodes(struct tree *tree) {
    for (int i = 0; i < tree->used; i++) {
        tree->nodes[i].x /= tree->nodes[i].mass;
        tree->nodes[i].y /= tree->nodes[i].mass;
    }
}

void tree_build(struct tree *tree, const struct body *bodies, int count) {
    double extent = 0.0;
    for (int i = 0; i < count; i++)
        extent = fmax(extent, fmax(fabs(bodies[i].x), fabs(bodies[i].y)));
    tree->used = 0;
    add_node(tree, 0.0, 0.0, 1.001 * extent + softening);
    for (int i = 0; i < count; i++)
        insert_body(tree, &bodies[i]);
    summarise_nodes(tree);
}

void tree_accelerate(const struct tree *tree, struct body *body, double opening) {
    int stack[STACK_MAX];
    int top = 0;
    double ax = 0.0, ay = 0.0;
    stack[top++] = 0;
    while (top > 0) {
        const struct tree_node *node = &tree->nodes[stack[--top]];
        double dx = node->x - body->x;
        double dy = node->y - body->y;
        double square = dx * dx + dy * dy;
        double edge = 2.0 * node->half;
        if (node->is_leaf || edge * edge < opening * opening * square) {
            double softened = square + softening * softening;
            double pull = node->mass / (softened * sqrt(softened));
            ax += pull * dx;
            ay += pull * dy;
            continue;
        }
        for (int q = 0; q < 4; q++)
            if (node->children[q])
                stack[top++] = node->children[q];
    }
    body->ax = ax;
    body->ay = ay;
}
