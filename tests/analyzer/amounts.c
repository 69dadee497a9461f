/* Parameters of objects, and where the thread count goes on its way to them. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>

enum { PERMITS = 7, MAX_THREADS = 64 };

struct options {
    int threads, rounds;
};

struct config {
    unsigned parties, doubled;
    pthread_barrier_t workers, everyone, twice, fixed, half;
};

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; //= created mutex global:one
static mtx_t modern;
static struct { sem_t permits, slots; } shared;

static int parse(const char *text) {
    int value = atoi(text);
    return value > 0 ? value : 1;
}

static struct options read_options(int argc, char **argv) {
    struct options options = {.threads = 4, .rounds = 10};
    if (argc > 1)
        options.threads = parse(argv[1]);
    if (argc > 2)
        options.rounds = parse(argv[2]);
    if (options.threads > MAX_THREADS)
        options.threads = MAX_THREADS;
    return options;
}

static void init(struct config *config, int threads, int rounds) {
    config->parties = (unsigned)threads + 1;
    config->doubled = 2 * (unsigned)threads;
    pthread_barrier_init(&config->workers, NULL, (unsigned)threads); //= amount 1 0
    pthread_barrier_init(&config->everyone, NULL, config->parties);  //= amount 1 1
    pthread_barrier_init(&config->twice, NULL, config->doubled);     //= amount 2 0
    pthread_barrier_init(&config->fixed, NULL, 2);                   //= amount constant 2
    pthread_barrier_init(&config->half, NULL, (unsigned)rounds);     //= amount unknown
    sem_init(&shared.permits, 0, PERMITS);                           //= amount constant 7
    sem_init(&shared.slots, 0, (unsigned)threads * 3 - 1);           //= amount 3 -1
    mtx_init(&modern, mtx_plain);
}

static int run(void *arg) {
    pthread_mutex_t *const alias = &one;
    pthread_mutex_lock(alias); //= fragment pthread_mutex_lock global:one
    pthread_mutex_unlock(&one);
    sem_wait(&shared.permits); //= fragment sem_wait global:shared.permits
    return arg == NULL;
}

static void start(thrd_t *thread, int (*routine)(void *)) {
    thrd_create(thread, routine, NULL); //= created thread run
}

static void visit_all(int threads) {
    for (int i = 1; i < threads; i++) //= bound threads 1 -1
        mtx_lock(&modern);
    for (int i = 0; i <= threads; i += 1) //= bound threads 1 1
        mtx_lock(&modern);
    for (int i = 2 * threads - 1; i >= 0; i--) //= bound threads 2 0
        mtx_lock(&modern);
    for (int i = 0; threads + 3 > i; ++i) //= bound threads 1 3
        mtx_lock(&modern);
    for (int i = 0; i < threads; i += 2) //= bound threads unknown
        mtx_lock(&modern);
    for (int i = 0; i < threads; i++) //= bound threads unknown
        if (mtx_trylock(&modern) != thrd_success)
            break;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct config config;
    thrd_t threads[MAX_THREADS];
    init(&config, options.threads, options.rounds);
    for (int i = 0; i < options.threads; i++) //= bound threads
        start(&threads[i], run);
    visit_all(options.threads);
    for (int i = 0; i < options.rounds; i++) //= bound fixed
        mtx_lock(&modern);
    return 0;
}
