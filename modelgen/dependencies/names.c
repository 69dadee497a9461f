#include "modelgen/dependencies/names.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/source_correlation.h"

static struct dependency_place place_of(const struct trace_context *context) {
    struct dependency_place place = {.n_frames = context->n_frames};
    place.frames = memory_alloc(place.n_frames, sizeof *place.frames);
    for (size_t f = 0; f < place.n_frames; f++) {
        const struct trace_frame *frame = &context->frames[f];
        place.frames[f] = (struct dependency_frame){memory_strdup(frame->function),
                                                    memory_strdup(frame->file), frame->line};
    }
    return place;
}

/* As the source calls it, else by where it is used. */
static char *name_of(const struct trace *trace, const struct facts *facts,
                     const struct sync_object *object) {
    if (object->on == ON_FILE)
        return memory_format("%llu", (unsigned long long)object->address);
    const char *path = source_path(trace, facts, object->context, object->on);
    return path ? memory_strdup(path) : source_place(trace, object->context);
}

/* Of several with the same name, from the second one on: " #2". */
static char *tell_apart(struct map *seen, char *name, enum api_object on) {
    uint64_t key = map_mix_text((uint64_t)on + 1, name);
    int number = map_get(seen, key, 0) + 1;
    map_put(seen, key, number);
    if (number == 1)
        return name;
    char *numbered = memory_format("%s #%d", name, number);
    free(name);
    return numbered;
}

static struct dependency_object pool_object(const struct token_pool *pool) {
    return (struct dependency_object){memory_strdup(pool->kind), memory_strdup(pool->name), true,
                                      pool->start};
}

void names_fill(struct dependencies *all, const struct trace *trace, const struct facts *facts,
                const struct sync_states *states) {
    struct trace view = *trace; /* in which wrappers are no places */
    view.contexts = call_sites_without_wrappers(trace);
    all->n_places = trace->n_contexts;
    all->places = memory_alloc(all->n_places, sizeof *all->places);
    for (size_t c = 0; c < all->n_places; c++)
        all->places[c] = place_of(&view.contexts[c]);
    struct map seen = MAP_EMPTY;
    all->n_objects = states->objects.count;
    all->objects = memory_alloc(all->n_objects, sizeof *all->objects);
    for (size_t o = 0; o < all->n_objects; o++) {
        const struct sync_object *object = &states->objects.items[o];
        if (object->pool) {
            all->objects[o] = pool_object(object->pool);
            continue;
        }
        char *name = tell_apart(&seen, name_of(&view, facts, object), object->on);
        all->objects[o] = (struct dependency_object){
            .kind = memory_strdup(api_object_names[object->on]), .name = name};
    }
    map_free(&seen);
    free(view.contexts);
}
