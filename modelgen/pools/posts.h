/* Command slots that are made of semaphores: each worker waits on one of its own, which only its
 * creator releases; when it has done what it was told to, it releases another one, its own or one
 * for all, on which only the creator waits. */
#ifndef PERSIK_MODELGEN_POOLS_POSTS_H
#define PERSIK_MODELGEN_POOLS_POSTS_H

#include "formats/facts.h"
#include "modelgen/run/view.h"

/* Shows the calls on such semaphores, where that explains each of them, as slots_as_commands()
 * does. `facts` may be NULL. */
void posts_as_commands(struct view *view, const struct facts *facts);

#endif
