/* KIND: divide and conquer: each call makes a thread for one half of its part and of its threads
 * BUILD: gcc -g -O2 -pthread halving_sum.c -o halving_sum
 * RUN: persik profile -- ./halving_sum 4; predict -- ./halving_sum {threads} */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { LEAVES = 1200 };

struct part {
    int from, to, threads;
    uint64_t sum;
};

static void add_up(struct part *part);

static void *add_up_half(void *arg) {
    add_up(arg);
    return NULL;
}

static void add_up(struct part *part) {
    if (part->threads < 2) {
        for (int leaf = part->from; leaf < part->to; leaf++)
            part->sum += work((uint64_t)leaf, 1000);
        return;
    }
    int middle = part->from + (part->to - part->from) / 2;
    struct part lower = {part->from, middle, part->threads / 2, 0};
    struct part upper = {middle, part->to, part->threads - part->threads / 2, 0};
    pthread_t id;
    if (pthread_create(&id, NULL, add_up_half, &lower))
        abort();
    add_up(&upper);
    pthread_join(id, NULL);
    /* what its halves need to become one */
    part->sum = lower.sum + upper.sum + work(lower.sum, part->to - part->from);
}

int main(int argc, char **argv) {
    struct part all = {0, LEAVES, argc > 1 ? atoi(argv[1]) : 2, 0};
    add_up(&all);
    printf("%llu\n", (unsigned long long)all.sum);
    return 0;
}
