/* Each worker has a slot of its own for a command, and carries it out with the slot locked: whoever
 * waits for it waits in the lock. Main takes the last share of each frame itself. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

enum slot_state { IDLE, BUSY, QUIT };

struct crew_slot {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum slot_state state;
    int number, of, frame;
    uint64_t sum;
};

#define STRIPES 24

/* The stripes of the frame that fall to this one of `of` hands. */
static void draw_stripes(struct crew_slot *slot) {
    for (int stripe = slot->number; stripe < STRIPES; stripe += slot->of)
        slot->sum += burn((uint64_t)(slot->frame * STRIPES + stripe), 700);
}

static void *slot_main(void *arg) {
    struct crew_slot *slot = arg;
    bool quits = false;
    while (!quits) {
        pthread_mutex_lock(&slot->lock);
        while (slot->state == IDLE)
            pthread_cond_wait(&slot->changed, &slot->lock);
        if (slot->state == BUSY)
            draw_stripes(slot);
        quits = slot->state == QUIT;
        slot->state = IDLE;
        pthread_cond_signal(&slot->changed);
        pthread_mutex_unlock(&slot->lock);
    }
    return NULL;
}

static void slot_command(struct crew_slot *slot, enum slot_state command) {
    pthread_mutex_lock(&slot->lock);
    slot->state = command;
    pthread_cond_signal(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
}

static void slot_wait(struct crew_slot *slot) {
    pthread_mutex_lock(&slot->lock);
    while (slot->state != IDLE)
        pthread_cond_wait(&slot->changed, &slot->lock);
    pthread_mutex_unlock(&slot->lock);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct crew_slot *slots = calloc((size_t)options.threads, sizeof *slots);
    int others = options.threads - 1;
    for (int i = 0; i < options.threads; i++) {
        slots[i].number = i;
        slots[i].of = options.threads;
        pthread_mutex_init(&slots[i].lock, NULL);
        pthread_cond_init(&slots[i].changed, NULL);
    }
    for (int i = 0; i < others; i++)
        pthread_create(&slots[i].thread, NULL, slot_main, &slots[i]);
    for (int frame = 0; frame < scaled(options, 30); frame++) {
        for (int i = 0; i < options.threads; i++)
            slots[i].frame = frame;
        for (int i = 0; i < others; i++)
            slot_command(&slots[i], BUSY);
        draw_stripes(&slots[others]);
        for (int i = 0; i < others; i++)
            slot_wait(&slots[i]);
    }
    uint64_t sum = slots[others].sum;
    for (int i = 0; i < others; i++) {
        slot_command(&slots[i], QUIT);
        pthread_join(slots[i].thread, NULL);
        sum += slots[i].sum;
    }
    free(slots);
    print_result(sum);
    return 0;
}
