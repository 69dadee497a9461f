/* Which index has the thread with this handle.
 *
 * A fixed open-addressed table; handles are thread control block addresses, which libc uses again,
 * so few are ever needed and none is removed. Both the creating thread and the new one register:
 * the new one because it may run, end and have its handle reused before pthread_create returns, the
 * creating one because it may join before the new one has run. The new thread's word stands; the
 * creating thread only replaces an older index. */
#include "tracer/probe/inside.h"
#include "tracer/probe/memory.h"

#include <string.h>

#define SLOTS (1u << 15)

struct slot {
    uint64_t handle; /* 0 = free */
    int32_t index;
};

static struct slot *slots;

bool threads_start(void) {
    slots = memory_private(SLOTS * sizeof *slots);
    return slots != NULL;
}

void threads_forget(void) {
    for (uint32_t i = 0; i < SLOTS; i++)
        if (slots[i].handle != 0) /* untouched pages stay so */
            slots[i] = (struct slot){0, 0};
}

/* The handle's slot, made when `add`; NULL: none, or the table is full. */
static struct slot *find(uint64_t handle, bool add) {
    if (slots == NULL)
        return NULL;
    uint32_t at = (uint32_t)((handle * 0x9e3779b97f4a7c15ull) >> 40);
    for (uint32_t tries = 0; tries < 64; tries++, at++) {
        struct slot *slot = &slots[at % SLOTS];
        uint64_t seen = __atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE);
        if (seen == handle)
            return slot;
        if (seen != 0)
            continue;
        if (!add)
            return NULL;
        if (__atomic_compare_exchange_n(&slot->handle, &seen, handle, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            seen == handle)
            return slot;
    }
    return NULL;
}

/* Stored plus 1: a slot whose handle is just being registered reads as unknown. */
void threads_register(pthread_t thread, int32_t index, bool if_newer) {
    struct slot *slot = find(thread, true);
    if (slot == NULL)
        return;
    int32_t seen = __atomic_load_n(&slot->index, __ATOMIC_ACQUIRE);
    while (!if_newer || seen < index + 1)
        if (__atomic_compare_exchange_n(&slot->index, &seen, index + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return;
}

int32_t threads_find(pthread_t thread) {
    const struct slot *slot = find(thread, false);
    return slot == NULL ? -1 : __atomic_load_n(&slot->index, __ATOMIC_ACQUIRE) - 1;
}
