/* A quadtree of point masses after Barnes and Hut (Nature 324, 1986), in the plane. */
#ifndef GALAXY_TREE_H
#define GALAXY_TREE_H

struct body {
    double x, y;
    double vx, vy;
    double ax, ay; /* pull of the other bodies */
    double mass;
};

struct tree_node {
    double mass;
    double x, y;     /* centre of mass */
    double cx, cy;   /* centre of the square */
    double half;     /* half its edge */
    int children[4]; /* node numbers, 0: none (the root is nobody's child) */
    int is_leaf;     /* holds one body, or several at the same place */
};

struct tree {
    struct tree_node *nodes;
    int used;
    int capacity;
};

/* Empty tree, to be freed with tree_free. */
void tree_init(struct tree *tree);
void tree_free(struct tree *tree);

/* Replaces the tree's contents by these bodies (at least one). Exits when memory runs out. */
void tree_build(struct tree *tree, const struct body *bodies, int count);

/* Sets the body's acceleration. A square is taken as one mass when its edge is less than opening
 * times its distance. The body may itself be in the tree. Reads the tree only: any number of
 * threads may call it at once for different bodies. */
void tree_accelerate(const struct tree *tree, struct body *body, double opening);

#endif
