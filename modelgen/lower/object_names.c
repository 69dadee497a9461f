#include "modelgen/lower/object_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"

static const struct trace_context no_calls;

/* The calls that lead to the object's first use, or to its first use behind its making. */
static const struct trace_context *calls_of(const struct lower_input *input, int object,
                                            bool made) {
    const struct sync_object *is = &input->sections->objects[object];
    uint32_t context = made ? is->context : is->used_context;
    return context == TRACE_NO_CONTEXT ? &no_calls : &input->trace->contexts[context];
}

static bool same_frame(const struct trace_context *a, const struct trace_context *b, size_t depth) {
    if (a->n_frames <= depth || b->n_frames <= depth)
        return a->n_frames == b->n_frames;
    return a->frames[depth].line == b->frames[depth].line &&
           strcmp(a->frames[depth].function, b->frames[depth].function) == 0;
}

/* Of objects that cannot be told apart one stands for all; a mutex and its part are not two. */
static bool is_namesake(const struct lower_input *input, int object, int other) {
    const struct sync_object *a = &input->sections->objects[object];
    const struct sync_object *b = &input->sections->objects[other];
    return object != other && a->kind == b->kind && a->class_id != b->class_id &&
           a->whole != other && b->whole != object &&
           same_frame(calls_of(input, object, true), calls_of(input, other, true), 0);
}

/* The nearest caller's function that no namesake has at this distance; NULL when there is none. */
static const char *telling_caller(const struct lower_input *input, int object, bool made) {
    const struct trace_context *own = calls_of(input, object, made);
    for (size_t depth = made; depth < own->n_frames; depth++) {
        bool tells = true;
        for (size_t o = 0; o < input->sections->n_objects && tells; o++) {
            const struct trace_context *other = calls_of(input, (int)o, made);
            tells = !is_namesake(input, object, (int)o) || other->n_frames <= depth ||
                    strcmp(own->frames[depth].function, other->frames[depth].function) != 0;
        }
        if (tells)
            return own->frames[depth].function;
    }
    return NULL;
}

static bool has_namesake(const struct lower_input *input, int object) {
    for (size_t o = 0; o < input->sections->n_objects; o++)
        if (is_namesake(input, object, (int)o))
            return true;
    return false;
}

static bool same_users(const struct object_users *users, int a, int b) {
    for (int p = 0; p < (int)users->n_pools; p++)
        if (object_users_has(users, a, p) != object_users_has(users, b, p))
            return false;
    return true;
}

/* ", of A and B": the pool that nothing like it has, or all its pools where no namesake has the
 * same. Empty: they do not tell. The caller frees. */
static char *telling_users(const struct lower_input *input, int object) {
    const struct object_users *users = &input->sections->users;
    int own = input->sections->objects[object].own_pool;
    char *text = memory_strdup("");
    for (size_t o = 0; o < input->sections->n_objects && own < 0; o++)
        if (is_namesake(input, object, (int)o) && same_users(users, object, (int)o))
            return text;
    for (int p = 0; p < (int)users->n_pools; p++) {
        if (own >= 0 ? own != p : !object_users_has(users, object, p))
            continue;
        char *longer =
            memory_format("%s%s%s", text, *text ? " and " : ", of ", input->pools->pools[p].name);
        free(text);
        text = longer;
    }
    return text;
}

/* What the calls on it were in the program: to tell of a command, and to look at its slot. */
static const char *path_of_slot(const struct lower_input *input, const struct sync_object *slot) {
    const char *path = source_path(input->trace, input->facts, slot->context, ON_CONDITION);
    if (!path)
        path = source_path(input->trace, input->facts, slot->context, ON_SEMAPHORE);
    return path ? path : source_path(input->trace, input->facts, slot->context, ON_MUTEX);
}

char *name_of_object(const struct lower_input *input, int object, const char *what,
                     const char *path) {
    const struct sync_object *is = &input->sections->objects[object];
    char *place = source_place(input->trace, is->context);
    if (!path)
        path = is->origin == ORIGIN_MAILBOX
                   ? path_of_slot(input, is)
                   : source_path(input->trace, input->facts, is->context, is->kind);
    char *telling = NULL;
    if (has_namesake(input, object)) {
        const char *caller = telling_caller(input, object, true);
        if (!caller)
            caller = telling_caller(input, object, false);
        telling = caller ? memory_format(", in %s", caller) : telling_users(input, object);
    }
    char *name = memory_format("%s%s%s, %s%s", what, path ? " " : "", path ? path : "", place,
                               telling ? telling : "");
    free(telling);
    free(place);
    return name;
}
