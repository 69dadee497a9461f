#include "modelgen/events/object_origin.h"

#include <stdlib.h>

#include "base/memory.h"

/* Behind user space, and still within a record's 48 bits. */
#define FIRST_ADDRESS 0xf00000000000

uint64_t object_origins_add(struct object_origins *origins, enum object_origin origin) {
    *VECTOR_ADD(origins) = origin;
    return FIRST_ADDRESS + origins->count - 1;
}

enum object_origin object_origins_get(const struct object_origins *origins, uint64_t address) {
    if (!origins || address < FIRST_ADDRESS || address - FIRST_ADDRESS >= origins->count)
        return ORIGIN_RECORDED;
    return origins->items[address - FIRST_ADDRESS];
}

void object_origins_free(struct object_origins *origins) {
    free(origins->items);
}

bool object_origin_counts_outstanding(enum object_origin origin) {
    return origin == ORIGIN_MAILBOX || origin == ORIGIN_COUNTDOWN;
}
