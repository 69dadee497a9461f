/* Jobs shared out among threads. */
#ifndef PERSIK_SIMULATOR_CREW_H
#define PERSIK_SIMULATOR_CREW_H

/* Does number `job`; `worker` (0 ..) tells who is at it, each at one job at a time. */
typedef void (*crew_job)(void *context, int job, int worker);

/* Does the jobs from `first` to before `end` with up to so many workers, of which the calling
 * thread is one. When no further thread can be had it works alone. Returns when all are done. */
void crew_run(int workers, int first, int end, crew_job job, void *context);

#endif
