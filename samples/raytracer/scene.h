/* The scene and the light transport: no thread, no state. */
#ifndef RAYTRACER_SCENE_H
#define RAYTRACER_SCENE_H

enum { SCENE_SPHERES = 48, SCENE_LIGHTS = 2 };

typedef struct {
    double x, y, z;
} vec3;

struct material {
    vec3 colour;
    double mirror; /* share of the light that is reflected, 0..1 */
};

struct sphere {
    vec3 centre;
    double radius;
    struct material material;
};

struct light {
    vec3 position;
    vec3 colour;
};

struct scene {
    struct sphere spheres[SCENE_SPHERES];
    struct light lights[SCENE_LIGHTS];
};

/* Fills the scene with the same spheres and lamps every time. */
void scene_init(struct scene *scene);

/* The colour that the camera sees in this direction (any length); components are 0 or more. Reads
 * the scene only: any number of threads may call it at once. */
vec3 scene_look(const struct scene *scene, vec3 direction);

#endif
