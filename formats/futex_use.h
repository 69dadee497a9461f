/* What the operation of a futex(2) call is for. */
#ifndef PERSIK_FORMATS_FUTEX_USE_H
#define PERSIK_FORMATS_FUTEX_USE_H

#include <linux/futex.h>

enum futex_use { FUTEX_WAITS, FUTEX_WAKES, FUTEX_ELSE };

/* `operation`: the call's second argument. What is moved to another word, without being woken, is
 * not told. */
static inline enum futex_use futex_use_of(int operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
        return FUTEX_WAITS;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_UNLOCK_PI:
        return FUTEX_WAKES;
    default:
        return FUTEX_ELSE;
    }
}

#endif
