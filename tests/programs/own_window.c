/* KIND: a ring with a mutex and conditions that one thread alone fills and empties
 * BUILD: gcc -g -O2 -pthread own_window.c -o own_window
 * RUN: persik profile -- ./own_window 2; predict -- ./own_window {threads} */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { PACKETS = 1500, WIDTH = 16, MOST_THREADS = 64 };

struct window {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    uint64_t sent[WIDTH];
    unsigned first, count;
};

static struct window windows[MOST_THREADS];
static atomic_int next_packet;
static atomic_ullong sum;

static void window_add(struct window *window, uint64_t packet) {
    pthread_mutex_lock(&window->mutex);
    while (window->count == WIDTH)
        pthread_cond_wait(&window->not_full, &window->mutex);
    window->sent[(window->first + window->count++) % WIDTH] = packet;
    pthread_cond_signal(&window->not_empty);
    pthread_mutex_unlock(&window->mutex);
}

static uint64_t window_take(struct window *window) {
    pthread_mutex_lock(&window->mutex);
    while (window->count == 0)
        pthread_cond_wait(&window->not_empty, &window->mutex);
    uint64_t packet = window->sent[window->first];
    window->first = (window->first + 1) % WIDTH;
    window->count--;
    pthread_cond_signal(&window->not_full);
    pthread_mutex_unlock(&window->mutex);
    return packet;
}

static void *send_packets(void *arg) {
    struct window *window = arg;
    uint64_t mine = 0;
    for (int packet; (packet = atomic_fetch_add(&next_packet, 1)) < PACKETS;) {
        int pieces = 1 + packet % WIDTH;
        for (int i = 0; i < pieces; i++)
            window_add(window, (uint64_t)(packet + i));
        mine += work((uint64_t)packet, 800);
        for (int i = 0; i < pieces; i++)
            mine ^= window_take(window);
    }
    atomic_fetch_add(&sum, mine);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++) {
        pthread_mutex_init(&windows[i].mutex, NULL);
        pthread_cond_init(&windows[i].not_full, NULL);
        pthread_cond_init(&windows[i].not_empty, NULL);
        pthread_create(&ids[i], NULL, send_packets, &windows[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
