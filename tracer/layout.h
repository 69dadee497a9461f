/* Where variables lie in the memory of a program, by its debug information. */
#ifndef PERSIK_TRACER_LAYOUT_H
#define PERSIK_TRACER_LAYOUT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a variable, how far it is from a mutex: both fields of one record, or both global. Access
 * paths are those of formats/facts.h: "struct queue.mutex", "global:credits.left". */
struct layout_pair {
    const char *mutex, *variable; /* the caller's */
    bool found;                   /* then: */
    int64_t offset;               /* of the variable, from the mutex */
    unsigned bytes;               /* of a whole number, 1 to 8 */
    bool is_signed;
};

/* Looks for all pairs that are not found yet. One that is not told, or not told clearly (namesakes
 * that differ), or whose variable is no whole number, stays without. */
void layout_find(Dwarf *debug, struct layout_pair *pairs, size_t n_pairs);

#endif
