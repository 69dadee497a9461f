#include "modelgen/lower/object_selection.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/notes.h"

/* Whom the signal wakes. */
static const char *waiter_of(const struct writer *writer, int index) {
    const struct trace *trace = writer->in->trace;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (at.event->api == ROLE_acquire &&
            sections_object(writer->in->sections, at.event) == index)
            return trace->threads[at.thread].start_routine;
    return "?";
}

/* Tokens of that name. Takes `evidence`. */
static int tokens(struct writer *writer, int index, const char *what, char *evidence) {
    int result = model_add_object(writer->model, OBJECT_TOKENS, objects_name(writer, index, what));
    writer->model->objects[result].evidence = evidence;
    return result;
}

static int signal_tokens(struct writer *writer, int index) {
    const struct sync_object *object = &writer->in->sections->objects[index];
    char *what = memory_format("signal to %s", waiter_of(writer, index));
    int result = tokens(
        writer, index, what,
        memory_format("%.0f waits for a signal that another thread sent", object->operations));
    free(what);
    return result;
}

/* There while nothing is outstanding: who gives a command takes one away, who has done it brings it
 * back. */
static int completion_tokens(struct writer *writer, int index) {
    int result = tokens(writer, index, "completion", NULL);
    writer->model->objects[result].amount = model_builder_constant(1);
    writer->model->objects[result].condition = true;
    return result;
}

static int mailbox_tokens(struct writer *writer, int index) {
    int result = completion_tokens(writer, index);
    notes_add(
        writer->model,
        "%s: the workers' slots are modelled as one queue of commands; which worker a command "
        "is for is left out",
        writer->model->objects[result].name);
    writer->model->objects[result].evidence = memory_strdup(
        "each worker has a slot of its own for a command and for the news that it is done");
    return result;
}

static int countdown_tokens(struct writer *writer, int index) {
    int result = completion_tokens(writer, index);
    writer->model->objects[result].evidence =
        memory_strdup("in each round as many pieces of work were handed out as were done before "
                      "the last worker released the semaphore");
    return result;
}

/* What parked threads wait for. */
static int parking_tokens(struct writer *writer, int index) {
    return tokens(writer, index, "work",
                  memory_strdup("each thread waits on a semaphore of its own, and is woken only "
                                "when it has nothing else to do; which of them is left out"));
}

/* Results that are there. */
static int future_tokens(struct writer *writer, int index) {
    int result = tokens(writer, index, "results",
                        memory_strdup("results of other threads, fetched in the order in which "
                                      "they come (std::future)"));
    notes_add(writer->model,
              "%s: which result is waited for is left out: so many are, in the order in which "
              "they come",
              writer->model->objects[result].name);
    return result;
}

/* The pool that follows --threads by how many of its threads the semaphore lets live; MODEL_NONE:
 * none. */
static int limited_pool(const struct thread_pools *pools, const struct sync_object *semaphore) {
    for (size_t p = 0; p < pools->n_pools; p++)
        if (pools->pools[p].scales && pools->pools[p].limit == semaphore->address &&
            pools->pools[p].size == semaphore->parties)
            return (int)p;
    return MODEL_NONE;
}

static int permits(struct writer *writer, int index) {
    const struct sync_object *object = &writer->in->sections->objects[index];
    int pool = limited_pool(writer->in->pools, object);
    int result = tokens(writer, index, "semaphore", NULL);
    writer->model->objects[result].amount =
        pool == MODEL_NONE ? model_builder_constant(object->parties > 0 ? object->parties : 0)
                           : model_builder_per_thread(0, pool, 1);
    if (object->parties < 0)
        notes_add(writer->model, "%s: its initial value was not seen, taken as 0",
                  writer->model->objects[result].name);
    return result;
}

static int counted_permits(struct writer *writer, int index) {
    return tokens(writer, index, "semaphore",
                  memory_strdup("its count is an atomic variable: only waits and wake-ups were "
                                "recorded, the rest follows from what the threads came to next"));
}

static int draft_semaphore(struct writer *writer, int index) {
    switch (writer->in->sections->objects[index].origin) {
    case ORIGIN_MAILBOX:
        return mailbox_tokens(writer, index);
    case ORIGIN_COUNTDOWN:
        return countdown_tokens(writer, index);
    case ORIGIN_SIGNAL:
        return signal_tokens(writer, index);
    case ORIGIN_PARKING:
        return parking_tokens(writer, index);
    case ORIGIN_COUNTED:
        return counted_permits(writer, index);
    case ORIGIN_FUTURE:
        return future_tokens(writer, index);
    default:
        return permits(writer, index);
    }
}

int objects_semaphore(struct writer *writer, int index) {
    if (writer->object_of[index] == UNDECIDED)
        writer->object_of[index] = draft_semaphore(writer, index);
    return writer->object_of[index];
}
