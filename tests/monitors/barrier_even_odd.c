/* Two counters in turn, for even and odd rounds: who is last in a round clears the other
 * one, which everybody has left by then. */
#include <stdbool.h>
#include <threads.h>

#include "support.h"

struct team {
    mtx_t lock;
    cnd_t cond[2];
    int here[2];
    int size;
};

static struct team team;

static void team_sync(struct team *t, unsigned round) {
    unsigned side = round % 2;
    mtx_lock(&t->lock);
    if (++t->here[side] == t->size) {
        t->here[!side] = 0;
        cnd_broadcast(&t->cond[side]);
    } else {
        while (t->here[side] != t->size)
            cnd_wait(&t->cond[side], &t->lock);
    }
    mtx_unlock(&t->lock);
}

struct member {
    thrd_t thread;
    unsigned first, end;
    uint64_t sum;
};

static unsigned rounds;

static int play(void *argument) {
    struct member *m = argument;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = m->first; i < m->end; i++)
            m->sum += burn(round * 60 + i, 90);
        team_sync(&team, round);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    unsigned n = (unsigned)options.threads;
    struct member *members = calloc(n, sizeof *members);
    rounds = (unsigned)scaled(options, 100);
    team.size = options.threads;
    mtx_init(&team.lock, mtx_plain);
    cnd_init(&team.cond[0]);
    cnd_init(&team.cond[1]);
    for (unsigned i = 0; i < n; i++) {
        members[i].first = 60 * i / n;
        members[i].end = 60 * (i + 1) / n;
        thrd_create(&members[i].thread, play, &members[i]);
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        thrd_join(members[i].thread, NULL);
        sum += members[i].sum;
    }
    free(members);
    print_result(sum);
    return 0;
}
