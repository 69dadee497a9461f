/* server KIND THREADS PORT-FILE: a server whose requests are computation. It listens on a free port
 * of the loopback interface, writes its number and its process id into the file, and ends upon
 * SIGTERM.
 *
 *   queue    main accepts, and hands the connections to the threads by a bounded queue
 *   accept   each thread accepts for itself
 *   epoll    main accepts, and gives connections in turn to the threads, each with its event loop
 *   shared   main accepts; all threads wait for the same connections
 *
 * A request is a line of REQUEST_BYTES: how many rounds to compute. The answer is as long. With
 * `queue` and `accept` a connection is for one request, else for many. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 16, CAPACITY = 64, THREADS = 64, EVENTS = 16 };

static int listener, stop_event;
static volatile sig_atomic_t stopped;

static void check(bool fine, const char *what) {
    if (!fine) {
        perror(what);
        exit(1);
    }
}

/* ---- a request ---- */

static unsigned long compute(unsigned long rounds) {
    volatile unsigned long start = 1;
    unsigned long x = start;
    for (unsigned long i = 0; i < rounds; i++)
        x = x * 6364136223846793005UL + 1442695040888963407UL;
    return x;
}

/* False: the client has closed the connection. */
static bool serve(int connection) {
    char text[REQUEST_BYTES + 1] = "";
    if (read(connection, text, REQUEST_BYTES) != REQUEST_BYTES)
        return false;
    unsigned long result = compute(strtoul(text, NULL, 10));
    snprintf(text, sizeof text, "%014lx\n", result & 0xffffffff);
    return write(connection, text, REQUEST_BYTES) == REQUEST_BYTES;
}

/* ---- one that accepts, a queue, and threads ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    int connections[CAPACITY];
    int first, count;
    bool closed;
} queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};

static void queue_put(int connection) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == CAPACITY)
        pthread_cond_wait(&queue.not_full, &queue.mutex);
    queue.connections[(queue.first + queue.count++) % CAPACITY] = connection;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.mutex);
}

/* -1: there is nothing more. */
static int queue_get(void) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == 0 && !queue.closed)
        pthread_cond_wait(&queue.not_empty, &queue.mutex);
    int connection = -1;
    if (queue.count > 0) {
        connection = queue.connections[queue.first];
        queue.first = (queue.first + 1) % CAPACITY;
        queue.count--;
        pthread_cond_signal(&queue.not_full);
    }
    pthread_mutex_unlock(&queue.mutex);
    return connection;
}

static void queue_close(void) {
    pthread_mutex_lock(&queue.mutex);
    queue.closed = true;
    pthread_cond_broadcast(&queue.not_empty);
    pthread_mutex_unlock(&queue.mutex);
}

static void *take_connections(void *unused) {
    int connection;
    while ((connection = queue_get()) >= 0) {
        serve(connection);
        close(connection);
    }
    return unused;
}

static void accept_into_queue(void) {
    int connection;
    while ((connection = accept(listener, NULL, NULL)) >= 0)
        queue_put(connection);
    queue_close();
}

/* ---- each thread accepts ---- */

static void *accept_connections(void *unused) {
    int connection;
    while ((connection = accept(listener, NULL, NULL)) >= 0) {
        serve(connection);
        close(connection);
    }
    return unused;
}

/* ---- event loops ---- */

static int loops[THREADS];

static void watch(int loop, int descriptor, unsigned how, int operation) {
    struct epoll_event event = {.events = EPOLLIN | how, .data.fd = descriptor};
    check(epoll_ctl(loop, operation, descriptor, &event) == 0, "epoll_ctl");
}

static void *run_loop(void *argument) {
    int loop = *(int *)argument;
    struct epoll_event events[EVENTS];
    while (!stopped) {
        int n = epoll_wait(loop, events, EVENTS, -1);
        for (int i = 0; i < n; i++)
            if (events[i].data.fd != stop_event && !serve(events[i].data.fd))
                close(events[i].data.fd);
    }
    return NULL;
}

static void *run_shared_loop(void *argument) {
    int loop = *(int *)argument;
    struct epoll_event event;
    while (!stopped) {
        if (epoll_wait(loop, &event, 1, -1) != 1 || event.data.fd == stop_event)
            continue;
        if (serve(event.data.fd))
            watch(loop, event.data.fd, EPOLLONESHOT, EPOLL_CTL_MOD);
        else
            close(event.data.fd);
    }
    return NULL;
}

static void accept_into_loops(int n_loops, unsigned how) {
    int connection;
    for (int next = 0; (connection = accept(listener, NULL, NULL)) >= 0; next++)
        watch(loops[next % n_loops], connection, how, EPOLL_CTL_ADD);
    eventfd_write(stop_event, 1);
}

/* ---- the whole ---- */

static void stop(int number) {
    (void)number;
    stopped = 1;
    shutdown(listener, SHUT_RD); /* whoever accepts is told */
}

static void listen_on_free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    check(listen(listener, 1024) == 0, "listen");
}

static void tell_port(const char *port_file) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    check(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
    char part[4096];
    snprintf(part, sizeof part, "%s.part", port_file);
    FILE *file = fopen(part, "w");
    check(file != NULL, part);
    fprintf(file, "%d %d\n", ntohs(address.sin_port), getpid());
    fclose(file);
    check(rename(part, port_file) == 0, port_file);
}

int main(int argc, char **argv) {
    check(argc == 4, "usage: server queue|accept|epoll|shared THREADS PORT-FILE");
    const char *kind = argv[1];
    int threads = atoi(argv[2]);
    check(threads > 0 && threads <= THREADS, "THREADS");
    bool shared = strcmp(kind, "shared") == 0, own = strcmp(kind, "epoll") == 0;
    void *(*routine)(void *) = shared                        ? run_shared_loop
                               : own                         ? run_loop
                               : strcmp(kind, "accept") == 0 ? accept_connections
                                                             : take_connections;
    struct sigaction on_stop = {.sa_handler = stop};
    sigaction(SIGTERM, &on_stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    listen_on_free_port();
    stop_event = eventfd(0, 0);
    for (int i = 0; i < (own ? threads : 1); i++) {
        loops[i] = epoll_create1(0);
        watch(loops[i], stop_event, 0, EPOLL_CTL_ADD);
    }
    pthread_t workers[THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i], NULL, routine, &loops[own ? i : 0]);
    tell_port(argv[3]);
    if (own || shared)
        accept_into_loops(own ? threads : 1, own ? 0 : EPOLLONESHOT);
    else if (routine == take_connections)
        accept_into_queue();
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
