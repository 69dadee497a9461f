/* Lists of waiting threads. */
#ifndef PERSIK_SIMULATOR_WAIT_LIST_H
#define PERSIK_SIMULATOR_WAIT_LIST_H

#include "simulator/state.h"

void wait_list_append(struct wait_list *list, struct thread *thread);
void wait_list_push(struct wait_list *list, struct thread *thread);
void wait_list_remove(struct thread *thread); /* from the list it is in, if any */

#endif
