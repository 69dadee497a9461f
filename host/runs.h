/* The runs of the program under test, for whoever waits for them: on a terminal the line "run 2 of
 * 3, 4 s left" stands below what was said, and is renewed, while one of them goes on. */
#ifndef PERSIK_HOST_RUNS_H
#define PERSIK_HOST_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* So many runs there will be, those that were made included, as far as is known. 0, as at first:
 * nobody knows. */
void runs_expect(size_t n);

/* Another recording begins: its runs are counted anew. */
void runs_restart(void);

/* Around each run. `shown`: its output goes where ours goes; on a terminal nothing is drawn into
 * it. The runs are counted, and the longest one so far tells how long the others will take. */
void runs_begin(bool shown);
void runs_end(void);

#endif
