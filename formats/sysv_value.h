/* What a record says of a call on System V semaphores: which one of the set, and what the call adds
 * to it, in one value (formats/catalog.def). */
#ifndef PERSIK_FORMATS_SYSV_VALUE_H
#define PERSIK_FORMATS_SYSV_VALUE_H

#include <stdint.h>

/* Several operations at once; no set has so many semaphores (SEMMSL is at most 65536, and 32000 as
 * Linux comes). */
#define SYSV_SEVERAL INT32_MAX

/* Never negative: that says that a call has failed. */
static inline int32_t sysv_value(int number, int added) {
    return number >= 0 && number < INT16_MAX ? number << 16 | (uint16_t)added : SYSV_SEVERAL;
}

static inline int sysv_number(int32_t value) {
    return value >> 16;
}

static inline int sysv_added(int32_t value) {
    return (int16_t)value;
}

#endif
