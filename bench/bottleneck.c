/* bottleneck ACT: programs that each have one limit, for bench/bottleneck.sh. Compiled with
 * -DRELIEVED the limit is gone, or half of it, and all else is as it was.
 *
 * - lock: two threads compute, half of it under one mutex / under one mutex each.
 * - device: four threads wait for a device under one mutex / under one mutex each.
 * - permits: six threads wait for a device, of which two may do so at once / any number.
 * - queue: a thread puts items into a queue with room for one / for all, another one takes them.
 * - stage: as queue, with room enough, but that making an item takes longest / half as long.
 * - serial: the first thread computes alone / half as long, then two share the rest.
 * - uneven: of two threads, one has three times as much to compute as / as much as the other.
 * - convoy: six threads sleep, then each needs one mutex for a moment / a mutex of its own.
 * - readers: six readers hold a lock for a device, which a writer holds half of the time / nobody.
 * - crowd: six threads share out items, whose ends are under a lock that spins / as many threads as
 * cores.
 * - cores: four threads compute (the script gives one core / two).
 * - accept: a thread accepts connections of eight clients, and computes for each longer than the
 * three who answer them / half as long. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef RELIEVED
enum { IS_RELIEVED = 1 };
#else
enum { IS_RELIEVED = 0 };
#endif

enum { MOST_THREADS = 6, ITEMS = 400 };

static void wait_for_device(long us) {
    struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

static void compute(long us) {
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < us);
}

/* From 0 to 2 * `mean`, the same in each run. */
static long scattered(unsigned *state, long mean) {
    *state = *state * 1664525U + 1013904223U;
    return (long)(*state >> 16) % (2 * mean);
}

static void run(void *(*routine)(void *), long count) {
    pthread_t threads[MOST_THREADS];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, routine, (void *)(intptr_t)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- locks and permits ---- */

static pthread_mutex_t locks[MOST_THREADS];
static sem_t permits;

static pthread_mutex_t *lock_of(void *thread) {
    return &locks[IS_RELIEVED ? (intptr_t)thread : 0];
}

static void *use_lock(void *thread) {
    for (int i = 0; i < 400; i++) {
        compute(400);
        pthread_mutex_lock(lock_of(thread));
        compute(1200);
        pthread_mutex_unlock(lock_of(thread));
    }
    return NULL;
}

static void *use_device(void *thread) {
    for (int i = 0; i < 40; i++) {
        compute(2000);
        pthread_mutex_lock(lock_of(thread));
        wait_for_device(6000);
        pthread_mutex_unlock(lock_of(thread));
    }
    return NULL;
}

static void *use_permit(void *thread) {
    for (int i = 0; i < 40; i++) {
        compute(1000);
        sem_wait(&permits);
        wait_for_device(10000);
        sem_post(&permits);
    }
    return thread;
}

static void *use_lock_briefly(void *thread) {
    for (int i = 0; i < 400; i++) {
        wait_for_device(200);
        pthread_mutex_lock(lock_of(thread));
        compute(250);
        pthread_mutex_unlock(lock_of(thread));
    }
    return NULL;
}

/* Writers first, else six readers would hardly ever let one in. */
static pthread_rwlock_t tables[MOST_THREADS];

static void init_tables(void) {
    pthread_rwlockattr_t writers_first;
    pthread_rwlockattr_init(&writers_first);
    pthread_rwlockattr_setkind_np(&writers_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    for (int i = 0; i < MOST_THREADS; i++)
        pthread_rwlock_init(&tables[i], &writers_first);
}

static void *read_table(pthread_rwlock_t *table) {
    for (int i = 0; i < 100; i++) {
        pthread_rwlock_rdlock(table);
        wait_for_device(4000);
        pthread_rwlock_unlock(table);
        compute(200);
    }
    return NULL;
}

static void *write_table(pthread_rwlock_t *table) {
    for (int i = 0; i < 60; i++) {
        pthread_rwlock_wrlock(table);
        wait_for_device(6000);
        pthread_rwlock_unlock(table);
        wait_for_device(4000);
    }
    return NULL;
}

/* The first one writes. */
static void *use_table(void *thread) {
    pthread_rwlock_t *table = &tables[IS_RELIEVED ? (intptr_t)thread : 0];
    return thread ? read_table(table) : write_table(table);
}

static pthread_mutex_t next_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t result_lock;
static int next_item;

static bool take_item(void) {
    pthread_mutex_lock(&next_mutex);
    bool is_there = next_item++ < 2400;
    pthread_mutex_unlock(&next_mutex);
    return is_there;
}

static void *compute_items(void *argument) {
    while (take_item()) {
        compute(300);
        pthread_spin_lock(&result_lock);
        compute(200);
        pthread_spin_unlock(&result_lock);
    }
    return argument;
}

/* ---- a queue ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t arrived, taken;
    int items, room;
    bool closed;
} jobs = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .arrived = PTHREAD_COND_INITIALIZER,
          .taken = PTHREAD_COND_INITIALIZER};
static long make_us, use_us;

static void put_job(void) {
    pthread_mutex_lock(&jobs.mutex);
    while (jobs.items == jobs.room)
        pthread_cond_wait(&jobs.taken, &jobs.mutex);
    jobs.items++;
    pthread_cond_signal(&jobs.arrived);
    pthread_mutex_unlock(&jobs.mutex);
}

static void close_jobs(void) {
    pthread_mutex_lock(&jobs.mutex);
    jobs.closed = true;
    pthread_cond_signal(&jobs.arrived);
    pthread_mutex_unlock(&jobs.mutex);
}

static bool take_job(void) {
    pthread_mutex_lock(&jobs.mutex);
    while (jobs.items == 0 && !jobs.closed)
        pthread_cond_wait(&jobs.arrived, &jobs.mutex);
    bool is_there = jobs.items > 0;
    if (is_there) {
        jobs.items--;
        pthread_cond_signal(&jobs.taken);
    }
    pthread_mutex_unlock(&jobs.mutex);
    return is_there;
}

static void *make_jobs(void *argument) {
    unsigned state = 1;
    for (int i = 0; i < ITEMS; i++) {
        compute(scattered(&state, make_us));
        put_job();
    }
    close_jobs();
    return argument;
}

static void *use_jobs(void *argument) {
    unsigned state = 2;
    while (take_job())
        compute(scattered(&state, use_us));
    return argument;
}

static void run_jobs(void) {
    pthread_t maker, user;
    pthread_create(&maker, NULL, make_jobs, NULL);
    pthread_create(&user, NULL, use_jobs, NULL);
    pthread_join(maker, NULL);
    pthread_join(user, NULL);
}

/* ---- connections ---- */

enum { CLIENTS = 8, CONNECTIONS = 400, ANSWERERS = 3 };
static int listener;
static int accepted[CLIENTS + 1]; /* behind `jobs`: no more are open than there are clients */
static int first_accepted, last_accepted;

static int listen_somewhere(struct sockaddr_in *address) {
    socklen_t size = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server, (struct sockaddr *)address, size) != 0 || listen(server, 64) != 0 ||
        getsockname(server, (struct sockaddr *)address, &size) != 0)
        exit(1);
    return server;
}

static void ask(const struct sockaddr_in *address) {
    char answer;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(server, (const struct sockaddr *)address, sizeof *address) != 0 ||
        read(server, &answer, 1) != 1)
        exit(1);
    close(server);
}

/* Each client is a process of its own, so that it is none of the recorded program's threads. */
static void start_clients(const struct sockaddr_in *address) {
    for (int c = 0; c < CLIENTS; c++) {
        if (fork() == 0) {
            for (int i = 0; i < CONNECTIONS / CLIENTS; i++)
                ask(address);
            _exit(0);
        }
    }
}

static void *answer(void *argument) {
    while (take_job()) {
        pthread_mutex_lock(&next_mutex);
        int client = accepted[first_accepted++ % (CLIENTS + 1)];
        pthread_mutex_unlock(&next_mutex);
        compute(1000);
        if (write(client, "!", 1) != 1)
            exit(1);
        close(client);
    }
    return argument;
}

static void *accept_all(void *argument) {
    for (int i = 0; i < CONNECTIONS; i++) {
        int client = accept(listener, NULL, NULL);
        compute(IS_RELIEVED ? 1000 : 2000);
        pthread_mutex_lock(&next_mutex);
        accepted[last_accepted++ % (CLIENTS + 1)] = client;
        pthread_mutex_unlock(&next_mutex);
        put_job();
    }
    for (int i = 0; i < ANSWERERS; i++)
        close_jobs();
    return argument;
}

static void run_server(void) {
    struct sockaddr_in address;
    pthread_t threads[ANSWERERS + 1];
    listener = listen_somewhere(&address);
    start_clients(&address);
    pthread_create(&threads[ANSWERERS], NULL, accept_all, NULL);
    for (int i = 0; i < ANSWERERS; i++)
        pthread_create(&threads[i], NULL, answer, NULL);
    for (int i = 0; i <= ANSWERERS; i++)
        pthread_join(threads[i], NULL);
    while (wait(NULL) > 0)
        ;
}

/* ---- shares of a computation ---- */

static void *compute_share(void *thread) {
    long share = IS_RELIEVED ? 2 : thread ? 1 : 3;
    for (long i = 0; i < share * 50; i++)
        compute(4000);
    return NULL;
}

static void *compute_half(void *thread) {
    for (int i = 0; i < 100; i++)
        compute(4000);
    return thread;
}

int main(int argc, char **argv) {
    const char *act = argc > 1 ? argv[1] : "";
    for (int i = 0; i < MOST_THREADS; i++)
        pthread_mutex_init(&locks[i], NULL);
    sem_init(&permits, 0, IS_RELIEVED ? MOST_THREADS : 2);
    jobs.room = 1;
    make_us = use_us = 2000;
    if (strcmp(act, "lock") == 0) {
        run(use_lock, 2);
    } else if (strcmp(act, "device") == 0) {
        run(use_device, 4);
    } else if (strcmp(act, "permits") == 0) {
        run(use_permit, 6);
    } else if (strcmp(act, "queue") == 0) {
        jobs.room = IS_RELIEVED ? ITEMS : 1;
        run_jobs();
    } else if (strcmp(act, "stage") == 0) {
        jobs.room = 16;
        make_us = IS_RELIEVED ? 1500 : 3000;
        use_us = 1000;
        run_jobs();
    } else if (strcmp(act, "serial") == 0) {
        compute(IS_RELIEVED ? 300000 : 600000);
        run(compute_half, 2);
    } else if (strcmp(act, "uneven") == 0) {
        run(compute_share, 2);
    } else if (strcmp(act, "convoy") == 0) {
        run(use_lock_briefly, 6);
    } else if (strcmp(act, "readers") == 0) {
        init_tables();
        run(use_table, 6);
    } else if (strcmp(act, "crowd") == 0) {
        pthread_spin_init(&result_lock, PTHREAD_PROCESS_PRIVATE);
        run(compute_items, IS_RELIEVED ? 2 : 6);
    } else if (strcmp(act, "cores") == 0) {
        run(compute_half, 4);
    } else if (strcmp(act, "accept") == 0) {
        jobs.room = CLIENTS;
        run_server();
    } else {
        fprintf(stderr,
                "usage: bottleneck lock|device|permits|queue|stage|serial|uneven|convoy|readers|"
                "crowd|cores|accept\n");
        return 2;
    }
    return 0;
}
