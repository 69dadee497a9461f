/* Hand-made objects that are told apart by who moves what, and look-alikes of them. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE 8

/* ---- readers and writers, all in one counter ---- */

static struct gate {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int state; /* -1: a writer */
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static bool gate_closed;
static int turned_away;

static void gate_read(void) {
    pthread_mutex_lock(&gate.lock);
    while (gate.state < 0) {
        pthread_cond_wait(&gate.freed, &gate.lock);
        if (gate_closed) { /* who leaves need not look again */
            turned_away++;
            pthread_mutex_unlock(&gate.lock);
            return;
        }
    }
    gate.state++;
    pthread_mutex_unlock(&gate.lock);
}

static void gate_write(void) {
    pthread_mutex_lock(&gate.lock);
    while (gate.state != 0)
        pthread_cond_wait(&gate.freed, &gate.lock);
    gate.state = -1;
    pthread_mutex_unlock(&gate.lock);
}

static void gate_leave(void) {
    pthread_mutex_lock(&gate.lock);
    if (gate.state > 0)
        gate.state--;
    else
        gate.state = 0;
    pthread_cond_broadcast(&gate.freed);
    pthread_mutex_unlock(&gate.lock);
}

/* ---- buffers that go round, looked for with goto ---- */

struct buffer {
    struct buffer *next;
};

static struct store {
    pthread_mutex_t lock;
    pthread_cond_t back;
    struct buffer *free;
} store = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};

static struct buffer *store_take(void) {
    pthread_mutex_lock(&store.lock);
again:
    if (!store.free) {
        pthread_cond_wait(&store.back, &store.lock);
        goto again;
    }
    struct buffer *buffer = store.free;
    store.free = buffer->next;
    pthread_mutex_unlock(&store.lock);
    return buffer;
}

static void store_give(struct buffer *buffer) {
    pthread_mutex_lock(&store.lock);
    buffer->next = store.free;
    store.free = buffer;
    pthread_mutex_unlock(&store.lock);
    pthread_cond_signal(&store.back); /* belongs to the section before it */
}

/* ---- tickets ---- */

static struct desk {
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned next, serving;
} desk;

static void desk_enter(void) {
    pthread_mutex_lock(&desk.lock);
    unsigned mine = desk.next++;
    while (mine != desk.serving)
        pthread_cond_wait(&desk.called, &desk.lock);
    pthread_mutex_unlock(&desk.lock);
}

static void desk_leave(void) {
    pthread_mutex_lock(&desk.lock);
    desk.serving++;
    pthread_cond_broadcast(&desk.called);
    pthread_mutex_unlock(&desk.lock);
}

/* ---- a queue whose items others call; memcpy() stores and loads ---- */

typedef struct {
    void (*run)(void *);
    void *argument;
} errand;

static struct office {
    pthread_mutex_t lock;
    pthread_cond_t more, room;
    errand errands[SIZE];
    unsigned first, count;
} office;

static void unlock(void *lock) {
    pthread_mutex_unlock(lock);
}

static bool office_has_room(const struct office *o) {
    unsigned used = o->count;
    if (used >= SIZE)
        return false;
    return true;
}

static void office_add(const errand *e) {
    pthread_mutex_lock(&office.lock);
    pthread_cleanup_push(unlock, &office.lock);
    while (!office_has_room(&office))
        pthread_cond_wait(&office.room, &office.lock);
    memcpy(&office.errands[(office.first + office.count++) % SIZE], e, sizeof *e);
    pthread_cond_signal(&office.more);
    pthread_cleanup_pop(1);
}

static void office_next(errand *e) {
    pthread_mutex_lock(&office.lock);
    do {
        if (office.count)
            break;
        pthread_cond_wait(&office.more, &office.lock);
    } while (1);
    memcpy(e, &office.errands[office.first], sizeof *e);
    office.first = (office.first + 1) % SIZE;
    office.count--;
    pthread_cond_signal(&office.room);
    pthread_mutex_unlock(&office.lock);
}

static void *clerk(void *unused) {
    for (;;) {
        errand e;
        office_next(&e);
        if (!e.run)
            return unused;
        e.run(e.argument);
    }
}

/* ---- an item leaves its list when it is done ---- */

struct letter {
    struct letter *next;
};

static struct post {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct letter *first, **last;
} post;

static void post_send(struct letter *letter) {
    letter->next = NULL;
    int failed = pthread_mutex_lock(&post.lock);
    if (failed)
        post.first = NULL; /* never happens */
    *post.last = letter;
    post.last = &letter->next;
    pthread_cond_signal(&post.more);
    pthread_mutex_unlock(&post.lock);
}

static void tape_write(long item);

static void *carrier(void *unused) {
    post.last = &post.first;
    pthread_mutex_lock(&post.lock);
    for (;;) {
        if (!post.first) {
            pthread_cond_wait(&post.more, &post.lock);
            continue;
        }
        struct letter *letter = post.first;
        pthread_mutex_unlock(&post.lock);
        tape_write((long)letter);
        pthread_mutex_lock(&post.lock);
        post.first = letter->next;
        if (!post.first)
            post.last = &post.first;
    }
    return unused;
}

/* ---- look-alike: who waits until all have come takes no turn ---- */

static struct roll {
    pthread_mutex_t lock;
    pthread_cond_t came;
    int present;
} roll;

static void roll_answer(void) {
    pthread_mutex_lock(&roll.lock);
    roll.present++;
    pthread_cond_signal(&roll.came);
    pthread_mutex_unlock(&roll.lock);
}

static void roll_call(int all) {
    pthread_mutex_lock(&roll.lock);
    while (roll.present < all)
        pthread_cond_wait(&roll.came, &roll.lock);
    pthread_mutex_unlock(&roll.lock);
}

static void roll_again(void) {
    pthread_mutex_lock(&roll.lock);
    roll.present = 0;
    pthread_mutex_unlock(&roll.lock);
}

/* ---- look-alike: who writes when it is full drops the oldest ---- */

static struct tape {
    pthread_mutex_t lock;
    pthread_cond_t more;
    long items[SIZE];
    unsigned head, count;
} tape;

static void tape_write(long item) {
    pthread_mutex_lock(&tape.lock);
    tape.items[(tape.head + tape.count) % SIZE] = item;
    if (tape.count == SIZE)
        tape.head = (tape.head + 1) % SIZE;
    else
        tape.count++;
    pthread_cond_signal(&tape.more);
    pthread_mutex_unlock(&tape.lock);
}

static long tape_read(void) {
    pthread_mutex_lock(&tape.lock);
    while (tape.count == 0)
        pthread_cond_wait(&tape.more, &tape.lock);
    long item = tape.items[tape.head];
    tape.head = (tape.head + 1) % SIZE;
    tape.count--;
    pthread_mutex_unlock(&tape.lock);
    return item;
}

/* ---- look-alike: a condition to sleep on ---- */

static struct clock {
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stop;
    long ticks;
} watch;

static void *watch_run(void *unused) {
    pthread_mutex_lock(&watch.lock);
    while (!watch.stop) {
        struct timespec until = {time(NULL) + 1, 0};
        pthread_cond_timedwait(&watch.stopped, &watch.lock, &until);
        watch.ticks++;
    }
    pthread_mutex_unlock(&watch.lock);
    return unused;
}

static void watch_stop(void) {
    pthread_mutex_lock(&watch.lock);
    watch.stop = true;
    pthread_cond_signal(&watch.stopped);
    pthread_mutex_unlock(&watch.lock);
}

/* ---- reports to one condition before it waits on another ---- */

static struct swap {
    pthread_mutex_t lock;
    pthread_cond_t emptied, filled;
    int empty, full;
} swap;

static void swap_empty(void) {
    pthread_mutex_lock(&swap.lock);
    swap.empty++;
    pthread_cond_signal(&swap.emptied);
    while (swap.full == 0)
        pthread_cond_wait(&swap.filled, &swap.lock);
    swap.full--;
    pthread_mutex_unlock(&swap.lock);
}

static void swap_full(void) {
    pthread_mutex_lock(&swap.lock);
    while (swap.empty == 0)
        pthread_cond_wait(&swap.emptied, &swap.lock);
    swap.empty--;
    swap.full++;
    pthread_cond_signal(&swap.filled);
    pthread_mutex_unlock(&swap.lock);
}

/* ---- a program that uses them ---- */

static void *run(void *arg) {
    gate_read();
    gate_leave();
    gate_write();
    gate_leave();
    struct buffer *buffer = store_take();
    store_give(buffer);
    desk_enter();
    desk_leave();
    tape_write(tape_read());
    roll_answer();
    swap_empty();
    return arg;
}

int main(void) {
    pthread_t thread, other, third, fourth;
    struct letter letter;
    errand last = {NULL, NULL};
    static struct buffer buffers[3];
    for (int i = 0; i < 3; i++)
        store_give(&buffers[i]);
    pthread_create(&thread, NULL, run, NULL);
    pthread_create(&other, NULL, clerk, NULL);
    pthread_create(&third, NULL, watch_run, NULL);
    office_add(&(errand){free, NULL});
    office_add(&last);
    tape_write(1);
    watch_stop();
    pthread_create(&fourth, NULL, carrier, NULL);
    post_send(&letter);
    roll_call(1);
    roll_again();
    swap_full();
    pthread_join(thread, NULL);
    return 0;
}
