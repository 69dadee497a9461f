/* Round robin: a turn variable goes from thread to thread; everyone computes in parallel and
 * commits when it is its turn, holding the lock while committing. */
#include <pthread.h>

#include "support.h"

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t next;
    int turn;
    int players;
} round_robin;

static round_robin table;

static void my_turn(round_robin *r, int me) {
    pthread_mutex_lock(&r->mutex);
    while (r->turn != me)
        pthread_cond_wait(&r->next, &r->mutex);
}

static void pass_on(round_robin *r) {
    r->turn = (r->turn + 1) % r->players;
    pthread_cond_broadcast(&r->next);
    pthread_mutex_unlock(&r->mutex);
}

static uint64_t journal;
static int moves;

static void *player(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int move = me; move < moves; move += table.players) {
        uint64_t thought = burn((uint64_t)move, 1300);
        my_turn(&table, me);
        journal = burn(journal + thought, 80);
        pass_on(&table);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    pthread_t threads[n];
    moves = scaled(options, 360);
    table.players = n;
    pthread_mutex_init(&table.mutex, NULL);
    pthread_cond_init(&table.next, NULL);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, player, (void *)(intptr_t)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    print_result(journal);
    return 0;
}
