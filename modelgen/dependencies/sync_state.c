#include "modelgen/dependencies/sync_state.h"

#include <stdlib.h>

#include "base/memory.h"

#define NO_OBJECT ((UINT64_C(1) << 48) - 1) /* what a record has that is on none */

/* A spin lock may be used as a mutex and the other way round; descriptors are files and sockets. */
static enum api_object likeness(enum api_object on) {
    return on == ON_SPIN ? ON_MUTEX : on == ON_SOCKET ? ON_FILE : on;
}

/* Nobody has done anything to it; at the end of the objects. */
static struct sync_object *add_object(struct sync_states *states, enum api_object on) {
    struct sync_object *object = VECTOR_ADD(&states->objects);
    *object = (struct sync_object){.on = on,
                                   .context = TRACE_NO_CONTEXT,
                                   .release = NO_GIVER,
                                   .write = NO_GIVER,
                                   .signal = NO_GIVER,
                                   .opened = NO_GIVER,
                                   .doer = NO_GIVER,
                                   .closed = NO_GIVER,
                                   .gate = DEPENDENCIES_NONE};
    return object;
}

uint32_t sync_states_find(struct sync_states *states, enum api_object on, uint64_t address) {
    on = likeness(on);
    uint64_t key = address | (uint64_t)on << 48;
    int index = map_get(&states->indices, key, -1);
    if (index >= 0)
        return (uint32_t)index;
    index = (int)states->objects.count;
    map_put(&states->indices, key, index);
    add_object(states, on)->address = address;
    return (uint32_t)index;
}

uint32_t sync_states_pool(struct sync_states *states, const struct token_pool *pool) {
    size_t index = states->objects.count;
    struct sync_object *object = add_object(states, ON_NONE);
    object->pool = pool;
    object->owed = pool->start < 0 ? (size_t)-pool->start : 0;
    for (int i = 0; i < pool->start; i++)
        tokens_give(&object->given, NO_GIVER);
    return (uint32_t)index;
}

uint32_t sync_states_index(struct sync_states *states, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    bool has_object = info->object != ON_NONE && info->object != ON_THREAD &&
                      info->object != ON_TEAM && info->object != ON_SHARE &&
                      record->object != NO_OBJECT;
    if (!has_object)
        return DEPENDENCIES_NONE;
    uint32_t index = sync_states_find(states, info->object, record->object);
    struct sync_object *object = &states->objects.items[index];
    if (!object->is_named) {
        object->context = record->context;
        object->is_named = info->api_class != CLASS_CREATE;
    }
    return index;
}

void sync_states_free(struct sync_states *states) {
    for (size_t i = 0; i < states->objects.count; i++) {
        free(states->objects.items[i].given.items);
        free(states->objects.items[i].room.items);
    }
    free(states->objects.items);
    map_free(&states->indices);
}

void tokens_give(struct tokens *tokens, struct giver giver) {
    *VECTOR_ADD(tokens) = giver;
}

struct giver tokens_take(struct tokens *tokens) {
    return tokens->taken < tokens->count ? tokens->items[tokens->taken++] : NO_GIVER;
}

static void restart(struct tokens *tokens, int amount) {
    tokens->count = tokens->taken = 0;
    for (int i = 0; i < amount; i++) /* there from the start: nobody gave them */
        tokens_give(tokens, NO_GIVER);
}

#define MOST_TOKENS 1000000 /* more never run out */

void sync_object_begin(struct sync_object *object, int amount) {
    object->release = object->write = object->signal = object->opened = object->doer = NO_GIVER;
    object->written = false;
    object->parties = object->on == ON_BARRIER && amount > 0 ? (uint32_t)amount : 0;
    object->arrived = 0;
    bool is_number = amount >= 0 && amount <= MOST_TOKENS;
    object->counts = object->on == ON_ITEMS || (object->on == ON_SEMAPHORE && is_number);
    object->is_bounded = object->on == ON_ITEMS && amount > 0 && is_number;
    restart(&object->given, object->on == ON_SEMAPHORE && is_number ? amount : 0);
    restart(&object->room, object->is_bounded ? amount : 0);
}
