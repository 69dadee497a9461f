#include "tests/unit/steps_builder.h"

#include "base/memory.h"

static void add_threads(struct dependencies *all, const char *const *names) {
    while (names[all->n_threads])
        all->n_threads++;
    all->threads = memory_alloc(all->n_threads, sizeof *all->threads);
    for (size_t t = 0; t < all->n_threads; t++)
        all->threads[t].name = memory_strdup(names[t]);
}

static void add_places(struct dependencies *all, const char *const *functions, const char *root) {
    while (functions[all->n_places])
        all->n_places++;
    all->places = memory_alloc(all->n_places, sizeof *all->places);
    for (size_t p = 0; p < all->n_places; p++) {
        struct dependency_place *place = &all->places[p];
        place->n_frames = root ? 2 : 1;
        place->frames = memory_alloc(place->n_frames, sizeof *place->frames);
        place->frames[0] = (struct dependency_frame){memory_strdup(functions[p]),
                                                     memory_strdup("t.c"), 10 + (int)p};
        if (root)
            place->frames[1] =
                (struct dependency_frame){memory_strdup(root), memory_strdup("t.c"), 20};
    }
}

static void add_objects(struct dependencies *all, const struct dependency_object *objects) {
    while (objects[all->n_objects].kind)
        all->n_objects++;
    all->objects = memory_alloc(all->n_objects, sizeof *all->objects);
    for (size_t o = 0; o < all->n_objects; o++) {
        all->objects[o] = objects[o];
        all->objects[o].kind = memory_strdup(objects[o].kind);
        all->objects[o].name = memory_strdup(objects[o].name);
    }
}

struct dependencies *steps_new(const struct steps_names *names, int cores) {
    struct dependencies *all = memory_alloc(1, sizeof *all);
    *all = (struct dependencies){
        .cores = cores, .has_cores = true, .has_wakers = true, .has_operations = true};
    add_threads(all, names->threads);
    add_places(all, names->places, names->root);
    add_objects(all, names->objects);
    return all;
}

struct dependency_step *steps_add(struct dependencies *all, int thread, int place,
                                  enum step_kind kind, uint64_t end_ns) {
    all->steps = memory_resize(all->steps, all->n_steps + 1, sizeof *all->steps);
    struct dependency_step *step = &all->steps[all->n_steps++];
    *step = (struct dependency_step){.end_ns = end_ns,
                                     .kind = kind,
                                     .thread = (uint32_t)thread,
                                     .place = (uint32_t)place,
                                     .object = NONE,
                                     .cause = NONE,
                                     .limit = NONE,
                                     .operand = NONE};
    all->run_ns = end_ns > all->run_ns ? end_ns : all->run_ns;
    return step;
}

struct dependency_step *steps_act(struct dependencies *all, int thread, int place,
                                  enum step_kind kind, uint64_t end_ns,
                                  enum step_operation operation, uint32_t operand) {
    struct dependency_step *step = steps_add(all, thread, place, kind, end_ns);
    step->operation = operation;
    step->operand = operand;
    return step;
}
