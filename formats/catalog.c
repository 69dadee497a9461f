#include "formats/catalog.h"

#include <string.h>

const struct api_info api_catalog[API_COUNT] = {
#define API(name, class_, object_, op_, probe_, object_argument, mutex_argument, amount_argument,  \
            timeout_argument, ...)                                                                 \
    [API_##name] = {#name,          CLASS_##class_,  ON_##object_,                                 \
                    OP_##op_,       PROBE_##probe_,  object_argument,                              \
                    mutex_argument, amount_argument, timeout_argument},
#define ROLE(name, class_, object_, op_)                                                           \
    [ROLE_##name] = {                                                                              \
        "user:" #name, CLASS_##class_, ON_##object_, OP_##op_, PROBE_TIMED, -1, -1, -1, -1},
#include "formats/catalog.def"
#undef API
};

int api_find(const char *name) {
    for (int i = 0; i < API_COUNT; i++)
        if (strcmp(api_catalog[i].name, name) == 0)
            return i;
    return -1;
}

const char *api_class_name(enum api_class api_class) {
    static const char *const names[] = {
        [CLASS_SYNC] = "sync", [CLASS_IN] = "in",         [CLASS_OUT] = "out",
        [CLASS_IO] = "io",     [CLASS_THREAD] = "thread", [CLASS_CREATE] = "create",
        [CLASS_TIME] = "time",
    };
    return names[api_class];
}

const char *api_op_name(enum api_op op) {
    static const char *const names[OP_COUNT] = {
        [OP_NONE] = "none",
        [OP_LOCK] = "lock",
        [OP_TRYLOCK] = "trylock",
        [OP_TIMEDLOCK] = "timedlock",
        [OP_UNLOCK] = "unlock",
        [OP_RDLOCK] = "rdlock",
        [OP_TRYRDLOCK] = "tryrdlock",
        [OP_TIMEDRDLOCK] = "timedrdlock",
        [OP_WRLOCK] = "wrlock",
        [OP_TRYWRLOCK] = "trywrlock",
        [OP_TIMEDWRLOCK] = "timedwrlock",
        [OP_RWUNLOCK] = "rwunlock",
        [OP_WAIT] = "wait",
        [OP_TIMEDWAIT] = "timedwait",
        [OP_SIGNAL] = "signal",
        [OP_BROADCAST] = "broadcast",
        [OP_ACQUIRE] = "acquire",
        [OP_TRYACQUIRE] = "tryacquire",
        [OP_TIMEDACQUIRE] = "timedacquire",
        [OP_RELEASE] = "release",
        [OP_BARRIER] = "barrier",
        [OP_ONCE] = "once",
        [OP_INIT] = "init",
        [OP_DESTROY] = "destroy",
        [OP_CREATE] = "create",
        [OP_JOIN] = "join",
        [OP_TRYJOIN] = "tryjoin",
        [OP_DETACH] = "detach",
        [OP_EXIT] = "exit",
        [OP_YIELD] = "yield",
        [OP_SLEEP] = "sleep",
        [OP_OPEN] = "open",
        [OP_CLOSE] = "close",
        [OP_READ] = "read",
        [OP_WRITE] = "write",
        [OP_SYNC] = "sync",
        [OP_STAT] = "stat",
        [OP_SEEK] = "seek",
        [OP_POLL] = "poll",
        [OP_ACCEPT] = "accept",
        [OP_CONNECT] = "connect",
        [OP_SEND] = "send",
        [OP_RECEIVE] = "receive",
        [OP_PUT] = "put",
        [OP_TRYPUT] = "tryput",
        [OP_GET] = "get",
        [OP_TRYGET] = "tryget",
        [OP_FORK] = "fork",
        [OP_FIRST_TAKE] = "first take",
        [OP_TAKE] = "take",
        [OP_FIRST_SPLIT] = "first split",
        [OP_TAKE_SPLIT] = "take split",
        [OP_ORDERED] = "ordered",
        [OP_TASK] = "task",
        [OP_TASKWAIT] = "task wait",
        [OP_WHO] = "who",
    };
    return names[op];
}
