/* Where threads meet: flags, barriers, starting and joining pools. */
#ifndef PERSIK_SIMULATOR_MEETINGS_H
#define PERSIK_SIMULATOR_MEETINGS_H

#include "simulator/state.h"

enum progress flag_wait(struct engine *engine, struct thread *thread, struct shared *object);
enum progress flag_signal(struct engine *engine, struct thread *thread, struct shared *object);
enum progress barrier_wait(struct engine *engine, struct thread *thread, struct shared *object);
enum progress pool_create(struct engine *engine, struct thread *thread, int pool);
enum progress pool_join(struct engine *engine, struct thread *thread, int pool);

/* The running thread, which holds no numbers of orders any more, ends. */
enum progress pool_leave(struct engine *engine, struct thread *thread);

#endif
