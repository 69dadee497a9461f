/* KIND: libuv's pool of threads: an event loop gives it work and gets the results back
 * BUILD: gcc -g -O2 uv_pool.c -o uv_pool -l:libuv_a.a -pthread -ldl -lrt   (libuv1-dev)
 * RUN: UV_THREADPOOL_SIZE=4 persik profile -- ./uv_pool; -- env UV_THREADPOOL_SIZE={threads} ./uv_pool */
#include <stdint.h>
#include <stdio.h>

#include <uv.h>

#include "work.h"

enum { REQUESTS = 1000, MOST_ASKED = 64 };

static int asked;
static uint64_t sum;

struct request {
    uv_work_t work;
    uint64_t seed, result;
};

static void compute(uv_work_t *of) {
    struct request *request = of->data;
    request->result = work(request->seed, 1000);
}

static void ask(struct request *request);

static void take(uv_work_t *of, int status) {
    struct request *request = of->data;
    if (status == 0)
        sum += request->result;
    ask(request);
}

static void ask(struct request *request) {
    if (asked == REQUESTS)
        return;
    request->seed = (uint64_t)++asked;
    request->work.data = request;
    uv_queue_work(uv_default_loop(), &request->work, compute, take);
}

int main(void) {
    static struct request requests[MOST_ASKED];
    for (int i = 0; i < MOST_ASKED; i++)
        ask(&requests[i]);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
