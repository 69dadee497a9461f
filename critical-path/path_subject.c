#include "critical-path/path_subject.h"

#include "base/memory.h"
#include "base/path.h"

static const char *const link_names[LINK_KINDS] = {
    [LINK_NONE] = "?",
    [LINK_LOCK] = "a lock",
    [LINK_SIGNAL] = "a signal to who waits",
    [LINK_PERMIT] = "a permit",
    [LINK_BARRIER] = "a barrier",
    [LINK_CREATE] = "a thread's start",
    [LINK_JOIN] = "a thread's end",
    [LINK_ONCE] = "what is done once",
    [LINK_ITEM] = "an item",
    [LINK_SPACE] = "room in a queue",
    [LINK_BYTES] = "bytes",
    [LINK_NOTICE] = "a signal to a thread",
    [LINK_CORE] = "a core",
    [LINK_WAKER] = "something that no call shows",
};

const char *path_link_name(const struct dependency_step *step) {
    return link_names[step->cause_kind];
}

bool path_holds_a_lock(const struct dependency_step *step) {
    return step->object != DEPENDENCIES_NONE &&
           (step->kind == STEP_COMPUTE || step->kind == STEP_SLEEP || step->kind == STEP_READY);
}

enum path_subject path_subject_of(const struct dependency_step *step) {
    switch ((enum step_kind)step->kind) {
    case STEP_COMPUTE:
        return PATH_COMPUTING;
    case STEP_SLEEP:
        return PATH_SLEEPING;
    case STEP_DEVICE:
        return PATH_DEVICE;
    case STEP_OUTSIDE:
        return PATH_OUTSIDE;
    case STEP_READY:
        return step->cause != DEPENDENCIES_NONE ? PATH_CORE : PATH_WAKING;
    case STEP_BLOCKED:
        return PATH_HAND_OVER;
    default:
        return PATH_UNKNOWN;
    }
}

char *path_place_name(const struct dependency_place *place) {
    if (place->n_frames == 0)
        return memory_strdup("?");
    const struct dependency_frame *frame = &place->frames[0];
    if (!frame->file || frame->line == 0)
        return memory_strdup(frame->function);
    return memory_format("%s (%s:%d)", frame->function, path_name(frame->file), frame->line);
}

char *path_object_name(const struct dependency_object *object) {
    return memory_format("%s %s", object->kind, object->name);
}
