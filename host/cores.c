#include "host/cores.h"

#include <sched.h>

#include "base/memory.h"

int *cores_allowed(size_t *n) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    *n = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    int *cores = memory_alloc((size_t)CPU_COUNT(&allowed), sizeof *cores);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed))
            cores[(*n)++] = i;
    return cores;
}

static bool prefer(pthread_attr_t *attributes, int priority) {
    const struct sched_param parameters = {.sched_priority = priority};
    return pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED) == 0 &&
           pthread_attr_setschedpolicy(attributes, SCHED_FIFO) == 0 &&
           pthread_attr_setschedparam(attributes, &parameters) == 0;
}

bool cores_start(pthread_t *thread, int core, int priority, void *(*routine)(void *),
                 void *context) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    bool started = pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores) == 0 &&
                   (priority == CORES_USUAL_PRIORITY || prefer(&attributes, priority)) &&
                   pthread_create(thread, &attributes, routine, context) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}
