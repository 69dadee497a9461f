/* Poison pills: sentinel items that make a worker exit. Many programs end their workers by putting
 * one empty item for each of them behind the work, or one that each hands on. How many there are
 * follows the number of workers, so the model closes the queue instead. */
#ifndef PERSIK_MODELGEN_LOWER_POISON_PILLS_H
#define PERSIK_MODELGEN_LOWER_POISON_PILLS_H

#include "base/map.h"
#include "modelgen/lower/lower_input.h"

enum poison_pill {
    POISON_PILL_NONE,
    POISON_PILL_FIRST, /* puts the first such item: closes the queue */
    POISON_PILL_OTHER, /* puts another one */
    POISON_PILL_TAKEN, /* takes one */
};

struct poison_pills {
    size_t n_explanations;
    enum poison_pill **of; /* per explanation: per section; NULL: it has none */
    bool *in_passing;      /* per explanation: such items are put where the work is put */
    struct map
        of_call; /* of calls on semaphores and queues: (thread, record) -> enum poison_pill */
};

/* poison_pills_free() ends it. */
struct poison_pills poison_pills_find(const struct lower_input *input);
void poison_pills_free(struct poison_pills *poison_pills);

enum poison_pill poison_pills_of(const struct poison_pills *poison_pills, size_t guard,
                                 size_t section);

/* Does the section take an item from the guard's queue, or put some there, that is none of these?
 */
bool poison_pills_takes_work(const struct poison_pills *poison_pills,
                             const struct monitors *monitors, size_t guard, size_t section);
bool poison_pills_puts_work(const struct poison_pills *poison_pills,
                            const struct monitors *monitors, size_t guard, size_t section);

/* Of a call that puts or takes by itself: on a semaphore that counts work, or on a pipe. */
enum poison_pill poison_pills_of_call(const struct poison_pills *poison_pills, size_t thread,
                                      size_t record);

/* Is the section there only to put such an item, whatever the guard? */
bool poison_pills_puts(const struct poison_pills *poison_pills, size_t section);

/* The guard to whose queue the section puts such an item in a loop that puts work: no round of that
 * loop, which there are as many of as there is work. -1: none. */
int poison_pills_in_passing(const struct poison_pills *poison_pills, size_t section);

#endif
