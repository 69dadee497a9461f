/* A flame graph: where time passed, by what was called. The outermost call is at the bottom, as
 * wide as its time; what it called lies on it. Tooltips have the figures. */
#ifndef PERSIK_HTML_FLAME_H
#define PERSIK_HTML_FLAME_H

#include <stddef.h>
#include <stdio.h>

struct flame_stack {
    size_t n_frames;
    const char *const *frames; /* outermost first */
    double value;              /* above 0 */
};

/* `stacks` in the order of their frames, so that those that begin alike stand side by side. `shown`
 * writes a value as people read it, in at most 63 characters. Without a stack, a sentence. */
void flame_print(FILE *out, const struct flame_stack *stacks, size_t n,
                 void (*shown)(double value, char text[64]));

#endif
