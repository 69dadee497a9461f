#include "scene.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_BOUNCES = 4 };

/* ------------------------------------------------------------------------------------ vectors */

static vec3 vec_add(vec3 a, vec3 b) {
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static vec3 vec_sub(vec3 a, vec3 b) {
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static vec3 vec_mul(vec3 a, vec3 b) {
    return (vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static vec3 vec_scale(vec3 a, double k) {
    return (vec3){a.x * k, a.y * k, a.z * k};
}

static double vec_dot(vec3 a, vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec3 vec_normalise(vec3 a) {
    return vec_scale(a, 1.0 / sqrt(vec_dot(a, a)));
}

/* -------------------------------------------------------------------------------------- scene */

struct ray {
    vec3 origin;
    vec3 direction; /* unit length */
};

struct hit {
    double distance;
    vec3 point;
    vec3 normal;
    struct material material;
};

static double random_unit(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

void scene_init(struct scene *scene) {
    uint64_t seed = 20170101;
    for (int i = 0; i < SCENE_SPHERES; i++) {
        struct sphere *s = &scene->spheres[i];
        s->radius = 0.25 + 0.55 * random_unit(&seed);
        s->centre.x = -6.0 + 12.0 * random_unit(&seed);
        s->centre.y = s->radius + 1.5 * random_unit(&seed);
        s->centre.z = 3.0 + 12.0 * random_unit(&seed);
        s->material.colour.x = 0.3 + 0.7 * random_unit(&seed);
        s->material.colour.y = 0.3 + 0.7 * random_unit(&seed);
        s->material.colour.z = 0.3 + 0.7 * random_unit(&seed);
        s->material.mirror = i % 3 == 0 ? 0.7 : 0.15;
    }
    scene->lights[0] = (struct light){{-6.0, 9.0, -3.0}, {0.7, 0.7, 0.6}};
    scene->lights[1] = (struct light){{7.0, 6.0, 2.0}, {0.3, 0.3, 0.4}};
}

/* Distance along the ray to the sphere, or INFINITY. */
static double sphere_intersect(const struct sphere *s, const struct ray *ray) {
    vec3 to_centre = vec_sub(s->centre, ray->origin);
    double along = vec_dot(to_centre, ray->direction);
    double inside = s->radius * s->radius - vec_dot(to_centre, to_centre) + along * along;
    if (inside < 0.0)
        return INFINITY;
    double half_chord = sqrt(inside);
    if (along - half_chord > 1e-6)
        return along - half_chord;
    return along + half_chord > 1e-6 ? along + half_chord : INFINITY;
}

static void plane_intersect(const struct ray *ray, struct hit *hit) {
    if (ray->direction.y >= -1e-9)
        return;
    double distance = -ray->origin.y / ray->direction.y;
    if (distance <= 1e-6 || distance >= hit->distance)
        return;
    hit->distance = distance;
    hit->point = vec_add(ray->origin, vec_scale(ray->direction, distance));
    hit->normal = (vec3){0.0, 1.0, 0.0};
    bool dark = ((int)floor(hit->point.x) + (int)floor(hit->point.z)) & 1;
    hit->material.colour = dark ? (vec3){0.15, 0.15, 0.2} : (vec3){0.85, 0.85, 0.8};
    hit->material.mirror = 0.1;
}

static bool scene_intersect(const struct scene *scene, const struct ray *ray, struct hit *hit) {
    const struct sphere *nearest = NULL;
    *hit = (struct hit){.distance = INFINITY};
    for (int i = 0; i < SCENE_SPHERES; i++) {
        double distance = sphere_intersect(&scene->spheres[i], ray);
        if (distance < hit->distance) {
            hit->distance = distance;
            nearest = &scene->spheres[i];
        }
    }
    if (nearest) {
        hit->point = vec_add(ray->origin, vec_scale(ray->direction, hit->distance));
        hit->normal = vec_normalise(vec_sub(hit->point, nearest->centre));
        hit->material = nearest->material;
    }
    plane_intersect(ray, hit);
    return isfinite(hit->distance);
}

static bool scene_in_shadow(const struct scene *scene, const struct ray *ray, double limit) {
    for (int i = 0; i < SCENE_SPHERES; i++)
        if (sphere_intersect(&scene->spheres[i], ray) < limit)
            return true;
    return false;
}

/* Diffuse and specular light that arrives directly from the lamps. */
static vec3 shade_direct(const struct scene *scene, const struct ray *ray, const struct hit *hit) {
    vec3 colour = vec_scale(hit->material.colour, 0.08);
    for (int i = 0; i < SCENE_LIGHTS; i++) {
        const struct light *light = &scene->lights[i];
        vec3 to_light = vec_sub(light->position, hit->point);
        double distance = sqrt(vec_dot(to_light, to_light));
        struct ray shadow = {hit->point, vec_scale(to_light, 1.0 / distance)};
        double facing = vec_dot(hit->normal, shadow.direction);
        if (facing <= 0.0 || scene_in_shadow(scene, &shadow, distance))
            continue;
        vec3 diffuse = vec_mul(hit->material.colour, light->colour);
        colour = vec_add(colour, vec_scale(diffuse, facing));
        vec3 half_way = vec_normalise(vec_sub(shadow.direction, ray->direction));
        double shine = pow(fmax(0.0, vec_dot(half_way, hit->normal)), 60.0);
        colour = vec_add(colour, vec_scale(light->colour, 0.5 * shine));
    }
    return colour;
}

static vec3 trace_ray(const struct scene *scene, struct ray ray) {
    vec3 colour = {0.0, 0.0, 0.0};
    double weight = 1.0;
    for (int bounce = 0; bounce <= MAX_BOUNCES && weight > 0.01; bounce++) {
        struct hit hit;
        if (!scene_intersect(scene, &ray, &hit)) {
            double up = 0.5 * (ray.direction.y + 1.0);
            vec3 sky = {1.0 - 0.5 * up, 1.0 - 0.3 * up, 1.0};
            return vec_add(colour, vec_scale(sky, weight));
        }
        vec3 direct = shade_direct(scene, &ray, &hit);
        colour = vec_add(colour, vec_scale(direct, weight * (1.0 - hit.material.mirror)));
        weight *= hit.material.mirror;
        double twice = 2.0 * vec_dot(ray.direction, hit.normal);
        ray.direction = vec_sub(ray.direction, vec_scale(hit.normal, twice));
        ray.origin = hit.point;
    }
    return colour;
}

vec3 scene_look(const struct scene *scene, vec3 direction) {
    struct ray ray = {{0.0, 2.0, -4.0}, vec_normalise(direction)};
    return trace_ray(scene, ray);
}
