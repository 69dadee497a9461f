/* Queues that their consumers feed themselves, until all is done: tasks that make other tasks,
 * nodes of a tree. What an item leads to depends on which one it is, which the model does not know;
 * how many are taken in all is measured, and the queue ends with the last one. */
#ifndef PERSIK_MODELGEN_LOWER_SELF_FEEDING_QUEUE_H
#define PERSIK_MODELGEN_LOWER_SELF_FEEDING_QUEUE_H

#include "modelgen/lower/poison_pills.h"

/* How many items are taken from the guard's queue in all, where its takers put them there and close
 * it; 0: it is no such queue. Those that tell takers to go home do not count. */
double self_feeding_queue_total(const struct lower_input *input,
                                const struct poison_pills *poison_pills, size_t guard);

#endif
