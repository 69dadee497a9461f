/* Threads that follow each other at a distance: frames of a video of which each needs the rows of
 * the one before, rows of a picture that may only be so far as the row above (wave fronts), batches
 * of which each thread takes one through reading, working and writing, in their order.
 *
 * Each frame or row has a progress counter with a mutex of its own, or an entry of an array of
 * them. Whoever works on it makes steps: sections that tell how far it has come. Before its own
 * steps it looks how far the one before is, and waits: the one just before in the order of their
 * first steps or, where several pictures are worked on side by side, the n-th before. Which
 * it is, and how far that must be ahead, is the same for all and found by replaying the trace.
 * Where one mutex guards all the progress, each run has the same number of steps, which is tried
 * out. */
#ifndef PERSIK_MODELGEN_SYNC_WAVEFRONT_REPLAY_H
#define PERSIK_MODELGEN_SYNC_WAVEFRONT_REPLAY_H

#include "modelgen/sync/pattern_replay.h"

/* Of the waits in the finder's history that nothing explains yet. True: found, and added to the
 * monitors' patterns. */
bool wavefront_replay_find(const struct finder *finder);

#endif
