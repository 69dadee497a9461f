/* Items that tell who takes them to go home: many programs end their workers by putting one empty
 * item for each of them behind the work, or one that everybody hands on. How many there are follows
 * the number of workers, so the model closes the queue instead. */
#ifndef PERSIK_MODELGEN_GRAPH_FAREWELLS_H
#define PERSIK_MODELGEN_GRAPH_FAREWELLS_H

#include "base/map.h"
#include "modelgen/graph/stream.h"

enum farewell {
    FAREWELL_NONE,
    FAREWELL_FIRST, /* puts the first such item: closes the queue */
    FAREWELL_OTHER, /* puts another one */
    FAREWELL_TAKEN, /* takes one */
};

struct farewells {
    size_t n_guards;
    enum farewell **of; /* per guard: per section; NULL: it has none */
    bool *in_passing;   /* per guard: such items are put where the work is put */
    struct map of_call; /* of calls on semaphores and queues: (thread, record) -> enum farewell */
};

/* farewells_free() ends it. */
struct farewells farewells_find(const struct stream_input *input);
void farewells_free(struct farewells *farewells);

enum farewell farewells_of(const struct farewells *farewells, size_t guard, size_t section);

/* Does the section take an item from the guard's queue, or put some there, that is none of these?
 */
bool farewells_takes_work(const struct farewells *farewells, const struct monitors *monitors,
                          size_t guard, size_t section);
bool farewells_puts_work(const struct farewells *farewells, const struct monitors *monitors,
                         size_t guard, size_t section);

/* Of a call that puts or takes by itself: on a semaphore that counts work, or on a pipe. */
enum farewell farewells_of_call(const struct farewells *farewells, size_t thread, size_t record);

/* Is the section there only to put such an item, whatever the guard? */
bool farewells_puts(const struct farewells *farewells, size_t section);

/* The guard to whose queue the section puts such an item in a loop that puts work: no round of that
 * loop, which there are as many of as there is work. -1: none. */
int farewells_in_passing(const struct farewells *farewells, size_t section);

#endif
