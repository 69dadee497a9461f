/* A pool of threads whose results are collected in the order of the jobs. A thread takes a job when
 * there is one and when its result has a place to go; else it sleeps on a condition of its own, and
 * whoever brings about either wakes one sleeper. All is guarded by one mutex. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct job {
    struct job *next;
    unsigned number;
    uint64_t result;
};

struct hand {
    struct crew *crew;
    pthread_t thread;
    pthread_cond_t wake;
    bool asleep;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t may_submit, may_collect;
    struct job *first, **last;         /* not begun yet */
    struct job *done;                  /* in any order */
    unsigned n_queued, n_begun, limit; /* begun: and not collected yet */
    unsigned submitted, collected;
    bool ended;
    int n_hands;
    struct hand *hands;
};

static void wake_one(struct crew *crew) {
    for (int i = 0; i < crew->n_hands; i++)
        if (crew->hands[i].asleep) {
            pthread_cond_signal(&crew->hands[i].wake);
            return;
        }
}

static void crew_submit(struct crew *crew) {
    struct job *job = calloc(1, sizeof *job);
    pthread_mutex_lock(&crew->lock);
    while (crew->n_queued >= crew->limit)
        pthread_cond_wait(&crew->may_submit, &crew->lock);
    job->number = crew->submitted++;
    *crew->last = job;
    crew->last = &job->next;
    crew->n_queued++;
    wake_one(crew);
    pthread_mutex_unlock(&crew->lock);
}

static struct job *take_job(struct crew *crew) {
    struct job *job = crew->first;
    crew->first = job->next;
    if (!crew->first)
        crew->last = &crew->first;
    crew->n_begun++;
    if (crew->n_queued-- >= crew->limit)
        pthread_cond_signal(&crew->may_submit);
    return job;
}

static void finish_job(struct crew *crew, struct job *job) {
    pthread_mutex_lock(&crew->lock);
    job->next = crew->done;
    crew->done = job;
    if (job->number == crew->collected)
        pthread_cond_broadcast(&crew->may_collect);
    pthread_mutex_unlock(&crew->lock);
}

static void *hand_start(void *arg) {
    struct hand *hand = arg;
    struct crew *crew = hand->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->ended) {
        if (!crew->first || crew->n_begun >= crew->limit) {
            hand->asleep = true;
            pthread_cond_wait(&hand->wake, &crew->lock);
            hand->asleep = false;
            continue;
        }
        struct job *job = take_job(crew);
        pthread_mutex_unlock(&crew->lock);
        job->result = burn(job->number, job->number % 4 ? 300 : 2500);
        finish_job(crew, job);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static struct job *find_next(struct crew *crew) {
    for (struct job **at = &crew->done; *at; at = &(*at)->next)
        if ((*at)->number == crew->collected) {
            struct job *job = *at;
            *at = job->next;
            return job;
        }
    return NULL;
}

static uint64_t crew_collect(struct crew *crew) {
    struct job *job;
    pthread_mutex_lock(&crew->lock);
    while (!(job = find_next(crew)))
        pthread_cond_wait(&crew->may_collect, &crew->lock);
    crew->collected++;
    crew->n_begun--;
    wake_one(crew);
    pthread_mutex_unlock(&crew->lock);
    uint64_t result = job->result;
    free(job);
    return result;
}

static void crew_end(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->ended = true;
    for (int i = 0; i < crew->n_hands; i++)
        pthread_cond_signal(&crew->hands[i].wake);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->n_hands; i++)
        pthread_join(crew->hands[i].thread, NULL);
}

struct feed {
    struct crew *crew;
    int jobs;
    uint64_t sum;
};

/* Now the crew has nothing to do; then there is more than it may begin, as nobody collects. */
static bool is_feeder_slow(int job) {
    return job / 30 % 2 == 0;
}

static void *feed_start(void *arg) {
    struct feed *feed = arg;
    for (int i = 0; i < feed->jobs; i++) {
        crew_submit(feed->crew);
        if (is_feeder_slow(i))
            feed->sum = burn(feed->sum, 900);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct crew crew = {.limit = 2 * (unsigned)options.threads, .n_hands = options.threads};
    struct feed feed = {&crew, scaled(options, 300), 0};
    pthread_t feeder;
    uint64_t sum = 0;

    crew.last = &crew.first;
    crew.hands = calloc((size_t)options.threads, sizeof *crew.hands);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.may_submit, NULL);
    pthread_cond_init(&crew.may_collect, NULL);
    for (int i = 0; i < options.threads; i++) {
        crew.hands[i].crew = &crew;
        pthread_cond_init(&crew.hands[i].wake, NULL);
        pthread_create(&crew.hands[i].thread, NULL, hand_start, &crew.hands[i]);
    }
    pthread_create(&feeder, NULL, feed_start, &feed);
    for (int i = 0; i < feed.jobs; i++)
        sum = burn(sum + crew_collect(&crew), is_feeder_slow(i) ? 500 : 1000);
    pthread_join(feeder, NULL);
    crew_end(&crew);
    free(crew.hands);
    print_result(sum ^ feed.sum);
    return 0;
}
