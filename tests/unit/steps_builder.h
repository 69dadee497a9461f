/* Writes recorded runs as graphs of steps by hand, for unit tests of critical-path/. All times are
 * in nanoseconds. dependencies_free() ends a run. */
#ifndef PERSIK_TESTS_STEPS_BUILDER_H
#define PERSIK_TESTS_STEPS_BUILDER_H

#include "formats/dependencies.h"

#define NONE DEPENDENCIES_NONE

/* Who and what there is, by name; the first NULL ends each list. Names stay the caller's. */
struct steps_names {
    const char *threads[5];
    const char *places[5]; /* functions: place p is line 10 + p of t.c */
    const char *root;      /* which calls all of these in line 20; NULL: none does */
    struct dependency_object objects[5];
};

/* A run without steps on so many cores, which were recorded, as were the operations. */
struct dependencies *steps_new(const struct steps_names *names, int cores);

/* Appends a step of the thread that ends at `end_ns`, as may the run, and hangs on nothing. The
 * step is given to be changed, and holds until the next one. */
struct dependency_step *steps_add(struct dependencies *all, int thread, int place,
                                  enum step_kind kind, uint64_t end_ns);

/* The same, with an operation on the object with which it ends. */
struct dependency_step *steps_act(struct dependencies *all, int thread, int place,
                                  enum step_kind kind, uint64_t end_ns,
                                  enum step_operation operation, uint32_t operand);

#endif
