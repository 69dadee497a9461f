/* Time off the CPU: disks (one queue each, and its servers), private devices and sleeping. */
#ifndef PERSIK_SIMULATOR_DISK_H
#define PERSIK_SIMULATOR_DISK_H

#include "simulator/state.h"

/* The node's requests to its disk, one after the other; PROGRESS_YES for a cache hit. Those that
 * are made ahead the thread does not wait for, but for those that it made so before. */
enum progress disk_access(struct engine *engine, struct thread *thread, struct shared *disk);

/* The disk has served a request that was made ahead by reader number `index` of the engine's. */
void disk_complete_ahead(struct engine *engine, int index);

/* As disk_access(), of a thread that sleeps. False: it had none to make. */
bool disk_ask(struct engine *engine, struct thread *thread, struct shared *disk);

/* Off the CPU for the node's `wait_ns`. */
enum progress pause_thread(struct engine *engine, struct thread *thread);

/* The disk has served a request of this thread. True: that was the last one of those at its node,
 * and the thread, which still sleeps, is to be walked on. */
bool disk_complete(struct engine *engine, struct thread *thread, struct shared *disk);

#endif
