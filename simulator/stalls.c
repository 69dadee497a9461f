#include "simulator/stalls.h"

#include <stdio.h>
#include <string.h>

#include "simulator/cpu.h"
#include "simulator/stores.h"
#include "simulator/wait_list.h"

#define MAX_STALLS 1e6

/* Adds `prefix`, the thread's place and `suffix` to what is said of the first stall. */
static void tell_place(struct engine *engine, const char *prefix, const struct thread *thread,
                       const char *suffix) {
    const struct model *model = engine->plan->model;
    const struct node *node = &model->nodes[thread->node];
    bool has_object = node->object != MODEL_NONE;
    size_t length = strlen(engine->stalled_at);
    snprintf(engine->stalled_at + length, sizeof engine->stalled_at - length,
             "%snode %d (%s)%s%s%s", prefix, thread->node, node->name, has_object ? ", " : "",
             has_object ? model->objects[node->object].name : "", suffix);
}

static void tell_stall(struct engine *engine, const struct thread *thread, const char *what) {
    char suffix[80];
    snprintf(suffix, sizeof suffix, ": %s", what);
    if (!engine->stalled_at[0])
        tell_place(engine, "", thread, suffix);
}

void stall_note(struct engine *engine, const struct thread *thread, const char *what) {
    tell_stall(engine, thread, what);
    if (++engine->stalls >= MAX_STALLS)
        snprintf(engine->failure, sizeof engine->failure,
                 "the model stalls all the time, first at %s; mend it, or build it again",
                 engine->stalled_at);
}

static bool is_waiting(const struct thread *thread) {
    return thread->state == THREAD_BLOCKED || thread->is_spinning;
}

static double waiting_since(const struct thread *thread) {
    return thread->is_spinning ? thread->waits_since_ns : thread->since_ns;
}

#define MOST_PLACES 5 /* that are told of one stall */

static bool is_told(const struct thread *const *told, int n, const struct thread *thread) {
    for (int i = 0; i < n; i++)
        if (told[i]->node == thread->node)
            return true;
    return false;
}

/* At a place that is not told yet; NULL: nobody waits there. */
static const struct thread *last_waiter(const struct engine *engine,
                                        const struct thread *const *told, int n) {
    const struct thread *last = NULL;
    for (int i = 0; i < engine->plan->n_threads; i++) {
        const struct thread *thread = &engine->threads[i];
        if (is_waiting(thread) && !is_told(told, n, thread) &&
            (!last || waiting_since(thread) > waiting_since(last)))
            last = thread;
    }
    return last;
}

/* Everyone waits: the first time the places are told. Whoever began to wait last is nearest to the
 * cause; who waits since long ago may only wait for the end, as idle threads of a library. */
static void tell_waiters(struct engine *engine) {
    if (engine->stalled_at[0])
        return;
    const struct thread *told[MOST_PLACES];
    for (int n = 0; n < MOST_PLACES && (told[n] = last_waiter(engine, told, n)); n++)
        if (n == 0)
            tell_stall(engine, told[n], "everyone waits");
        else
            tell_place(engine, n > 1 ? "; " : ", the others at ", told[n], "");
}

/* A model that stalls so often in one run does not get right by going on: whoever waits longest,
 * who mostly waits for the others to end, brings the run to its end. */
#define MANY_STALLS 50

/* How surely a thread that waits there waits for what will come: who is at a barrier, or waits for
 * threads to end, does so as long as others are held up somewhere else. */
static int patience(const struct engine *engine, enum node_kind kind) {
    if (kind == NODE_WAIT)
        return 0;
    return engine->stalls >= MANY_STALLS ? 1 : kind == NODE_BARRIER ? 2 : kind == NODE_JOIN ? 3 : 1;
}

/* Of those with the least patience. NULL: nobody waits. */
static struct thread *longest_waiter(struct engine *engine) {
    struct thread *longest = NULL;
    int least = 0;
    for (int i = 0; i < engine->plan->n_threads; i++) {
        struct thread *thread = &engine->threads[i];
        int own = patience(engine, engine->plan->nodes[thread->node].kind);
        if (!is_waiting(thread) || (longest && own > least))
            continue;
        if (!longest || own < least || waiting_since(thread) < waiting_since(longest))
            longest = thread;
        least = own;
    }
    return longest;
}

/* What is put into a queue that its takers fill again comes at random here, where in the program an
 * item leads to those that must follow it: as long as some are left, one is there. */
static bool find_item(struct engine *engine) {
    for (int i = 0; i < engine->plan->n_objects; i++)
        if (engine->objects[i].kind == OBJECT_QUEUE && queue_go_on(engine, &engine->objects[i]))
            return true;
    return false;
}

static void note_guess(struct engine *engine, const struct thread *thread) {
    if (engine->guessed++ == 0)
        engine->guessed_since_ns = engine->now_ns;
    engine->guessed_wait_ns += engine->now_ns - waiting_since(thread);
}

/* A flag stands for a predicate that is not known. When nothing else in the program can move, the
 * real predicate must have come true, or the real program would have hung: such a wait ends, and
 * that is no stall, but counted: what the program did must show that it was so. */
void stall_break(struct engine *engine) {
    if (find_item(engine))
        return;
    struct thread *longest = longest_waiter(engine);
    if (!longest) {
        snprintf(engine->failure, sizeof engine->failure,
                 "nothing is left to happen, but the run has not ended: the model never creates "
                 "some of its threads, build it again");
        return;
    }
    tell_waiters(engine);
    if (engine->plan->nodes[longest->node].kind == NODE_WAIT)
        note_guess(engine, longest);
    else
        stall_note(engine, longest, "everyone waits");
    if (longest->phase == PHASE_RETAKE && longest->locks_since_ns >= 0) {
        longest->phase = longest->after_retake; /* without the mutex */
    } else {
        bool says_no = engine->plan->nodes[longest->node].says_no;
        longest->granted = says_no ? OUTCOME_NO : OUTCOME_YES;
        /* whoever gave up a mutex to wait takes it again, as if he had been told */
        *(longest->phase == PHASE_RETAKE ? &longest->after_retake : &longest->phase) =
            PHASE_GRANTED;
    }
    if (longest->waits_in)
        wait_list_remove(longest);
    longest->locks_since_ns = -1;
    longest->condition = NULL;
    if (longest->is_spinning)
        cpu_stop_spinning(engine, longest);
    else
        cpu_wake(engine, longest, NULL);
}
