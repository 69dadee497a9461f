/* Work items with a queue node inside them, a circular list with an exit message that stays in it,
 * idle threads are counted and signalled only when there are any. */
#include <pthread.h>
#include <stddef.h>

#include "support.h"

struct queue_node {
    struct queue_node *next, *prev;
};

struct work_req {
    void (*work)(struct work_req *req);
    struct queue_node wq;
    uint64_t value;
};

static pthread_cond_t cond;
static pthread_mutex_t mutex;
static unsigned int idle_threads;
static unsigned int nthreads;
static pthread_t *threads;
static struct queue_node exit_message;
static struct queue_node wq;

static void queue_init(struct queue_node *q) {
    q->next = q->prev = q;
}

static int queue_empty(const struct queue_node *q) {
    return q == q->next;
}

static void queue_insert_tail(struct queue_node *h, struct queue_node *q) {
    q->next = h;
    q->prev = h->prev;
    q->prev->next = q;
    h->prev = q;
}

static void queue_remove(struct queue_node *q) {
    q->prev->next = q->next;
    q->next->prev = q->prev;
}

static void *worker(void *arg) {
    struct queue_node *q;
    struct work_req *w;

    pthread_mutex_lock(&mutex);
    for (;;) {
        while (queue_empty(&wq)) {
            idle_threads += 1;
            pthread_cond_wait(&cond, &mutex);
            idle_threads -= 1;
        }
        q = wq.next;
        if (q == &exit_message) {
            pthread_cond_signal(&cond);
            pthread_mutex_unlock(&mutex);
            break;
        }
        queue_remove(q);
        pthread_mutex_unlock(&mutex);
        w = (struct work_req *)((char *)q - offsetof(struct work_req, wq));
        w->work(w);
        pthread_mutex_lock(&mutex);
    }
    return arg;
}

static void post(struct queue_node *q) {
    pthread_mutex_lock(&mutex);
    queue_insert_tail(&wq, q);
    if (idle_threads > 0)
        pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static void work_submit(struct work_req *req, void (*work)(struct work_req *req)) {
    req->work = work;
    post(&req->wq);
}

static void do_stat(struct work_req *req) {
    req->value = burn(req->value, 400);
}

static void do_scandir(struct work_req *req) {
    req->value = burn(req->value, 1600);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = scaled(options, 480);
    struct work_req *reqs = calloc((size_t)n, sizeof(*reqs));
    uint64_t sum = 0;

    nthreads = (unsigned)options.threads;
    threads = calloc(nthreads, sizeof(*threads));
    pthread_cond_init(&cond, NULL);
    pthread_mutex_init(&mutex, NULL);
    queue_init(&wq);
    for (unsigned i = 0; i < nthreads; i++)
        pthread_create(threads + i, NULL, worker, NULL);
    for (int i = 0; i < n; i++) {
        reqs[i].value = burn((uint64_t)i, 190);
        work_submit(&reqs[i], i % 4 == 1 ? do_scandir : do_stat);
    }
    post(&exit_message);
    for (unsigned i = 0; i < nthreads; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++)
        sum += reqs[i].value;
    free(threads);
    free(reqs);
    print_result(sum);
    return 0;
}
