/* Where in a JSON file something is: "nodes[12].edges[0].to". Built on the stack while walking
 * down, turned into text only when there is an error to report. Private to formats/. */
#ifndef PERSIK_FORMATS_JSON_PLACE_H
#define PERSIK_FORMATS_JSON_PLACE_H

#include <stdio.h>

struct place {
    const struct place *above; /* NULL at the top */
    const char *key;           /* NULL for an array element */
    size_t index;
};

#define PLACE_KEY(above_, key_)     (&(const struct place){.above = (above_), .key = (key_)})
#define PLACE_INDEX(above_, index_) (&(const struct place){.above = (above_), .index = (index_)})

/* Writes the place into `text`; returns the number of bytes used, never above `size` - 1. */
static inline size_t place_text(const struct place *place, char *text, size_t size) {
    size_t used = place->above ? place_text(place->above, text, size) : 0;
    int more = place->key ? snprintf(text + used, size - used, "%s%s", used ? "." : "", place->key)
                          : snprintf(text + used, size - used, "[%zu]", place->index);
    if (more < 0)
        return used;
    return used + (size_t)more < size ? used + (size_t)more : size - 1;
}

#endif
