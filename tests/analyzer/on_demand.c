/* Threads that are created when there is work for one more, up to a limit. */
#include <pthread.h>
#include <stdlib.h>

struct crew {
    pthread_mutex_t lock;
    int started, limit, idle;
};

static struct { int workers, left; } settings;

static struct crew helpers;
static int running, blocks_read;

static void *work(void *arg) {
    return arg;
}

static void *report(void *arg) {
    return arg;
}

static void *help(void *arg) {
    return arg;
}

static void *sum(void *arg) {
    return arg;
}

static pthread_t launch(void *(*routine)(void *), void *arg) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, routine, arg) != 0) //= spawned one help
        exit(1);
    return thread;
}

/* Takes what is there: its loop counts no threads, though it may start one. */
static int refill(int first) {
    if (settings.workers > 1) {
        if (first)
            launch(report, NULL); //= spawned one report
    }
    settings.left--;
    return settings.left;
}

static void skip(int bytes) {
    while (bytes > settings.left) {
        bytes -= settings.left;
        refill(bytes == 0);
    }
}

/* Now and then there is a sum to be made: as many threads as the text is long count for nothing. */
static void search(int length) {
    int position = 0, summed = 0;
    while (position < length) {
        position++;
        if (position > summed) {
            summed += 4096;
            launch(sum, NULL); //= spawned one sum
        }
    }
}

static void read_blocks(int blocks) {
    launch(report, NULL); //= spawned one report
    do {
        blocks_read++;
        if (running < blocks_read && running < settings.workers) {
            launch(work, NULL); //= spawned threads work
            running++;
        }
    } while (blocks_read < blocks);
}

static void start_helper(struct crew *crew) {
    crew->started++;
    launch(help, crew); //= spawned threads help
}

static void need_helper(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
    int idle = crew->idle;
    pthread_mutex_unlock(&crew->lock);
    if (idle > 0 || crew->started == crew->limit)
        return;
    start_helper(crew);
}

static void try_often(void) {
    pthread_t thread;
    for (int failed = 0; failed < 3; failed++)
        if (pthread_create(&thread, NULL, report, NULL) == 0) //= created thread report
            return;
}

int main(int argc, char **argv) {
    settings.workers = argc > 1 ? atoi(argv[1]) : 2;
    helpers.limit = settings.workers;
    skip(argc);
    search(argc * 10000);
    read_blocks(100);
    for (int i = 0; i < 100; i++)
        need_helper(&helpers);
    try_often();
    return 0;
}
