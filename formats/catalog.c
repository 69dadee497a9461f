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

const char *const api_object_names[] = {
    [ON_NONE] = "object",         [ON_MUTEX] = "mutex",         [ON_RWLOCK] = "rwlock",
    [ON_CONDITION] = "condition", [ON_SEMAPHORE] = "semaphore", [ON_BARRIER] = "barrier",
    [ON_SPIN] = "spin lock",      [ON_ONCE] = "once",           [ON_THREAD] = "thread",
    [ON_FILE] = "descriptor",     [ON_SOCKET] = "socket",       [ON_QUEUE] = "message queue",
    [ON_ITEMS] = "queue",         [ON_EVENT] = "event",         [ON_FUTEX] = "futex",
    [ON_TEAM] = "team",           [ON_SHARE] = "shared work",
};

int api_find(const char *name) {
    for (int i = 0; i < API_COUNT; i++)
        if (strcmp(api_catalog[i].name, name) == 0)
            return i;
    return -1;
}

static int find_without_prefixes(const char *name) {
    static const char *const prefixes[] = {"_", "GI_", "libc_", "new_", "IO_"};
    int api = api_find(name);
    for (size_t i = 0; api < 0 && i < sizeof prefixes / sizeof *prefixes;) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) != 0) {
            i++;
            continue;
        }
        name += length;
        api = api_find(name);
        i = 0;
    }
    return api;
}

int api_find_internal(const char *name) {
    int api = find_without_prefixes(name);
    if (api >= 0 || strncmp(name, "__", 2) != 0)
        return api;
    char whole[64];
    size_t length = strlen(name);
    if (length + strlen("_np") >= sizeof whole)
        return -1;
    memcpy(whole, name, length + 1);
    for (char *end = strrchr(whole, '_'); api < 0 && end; end = strrchr(whole, '_')) {
        memcpy(end, "_np", sizeof "_np"); /* __pthread_clockjoin_ex: of what is not portable */
        api = find_without_prefixes(whole);
        *end = '\0';
        api = api < 0 ? find_without_prefixes(whole) : api;
    }
    return api;
}

bool api_is_openmp(enum api api) {
    return api >= API_GOMP_parallel && api <= API_omp_get_thread_num;
}
