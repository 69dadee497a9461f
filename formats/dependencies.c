#include "formats/dependencies.h"

#include <stdlib.h>

static void free_place(struct dependency_place *place) {
    for (size_t f = 0; f < place->n_frames; f++) {
        free(place->frames[f].function);
        free(place->frames[f].file);
    }
    free(place->frames);
}

void dependencies_free(struct dependencies *dependencies) {
    if (!dependencies)
        return;
    for (size_t p = 0; p < dependencies->n_places; p++)
        free_place(&dependencies->places[p]);
    for (size_t o = 0; o < dependencies->n_objects; o++) {
        free(dependencies->objects[o].kind);
        free(dependencies->objects[o].name);
    }
    for (size_t t = 0; t < dependencies->n_threads; t++)
        free(dependencies->threads[t].name);
    free(dependencies->task_kind);
    free(dependencies->tasks);
    free(dependencies->steps);
    free(dependencies->places);
    free(dependencies->objects);
    free(dependencies->threads);
    free(dependencies);
}
