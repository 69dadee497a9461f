/* server KIND THREADS PORT-FILE: a server whose requests are computation. It listens on a free port
 * of the loopback interface, writes its number, its process id and the protocol into the file, and
 * ends upon SIGTERM.
 *
 *   queue    main accepts, and hands the connections to the threads by a bounded queue
 *   accept   each thread accepts for itself
 *   epoll    main accepts, and gives connections in turn to the threads, each with its event loop
 *   shared   main accepts; all threads wait for the same connections
 *   helped   main runs an event loop, which accepts; threads compute, and tell it by an eventfd
 *   thread   main accepts, and makes a thread for each connection, which ends with it
 *   limited  the same, with at most THREADS at a time
 *   kept     as `thread`, but connections are for many requests
 *   udp      each thread receives datagrams from the same socket
 *   udp-poll each thread waits for the same socket by poll(), then tries to receive
 *   udp-own  each thread has a socket of its own for the port, and an event loop
 *
 * A request is a line of REQUEST_BYTES: how many rounds to compute. The answer is as long. With
 * `queue`, `accept`, `helped`, `thread` and `limited` a connection is for one request, else for
 * many. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
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

/* Puts the answer in the place of the request. */
static void answer(char text[REQUEST_BYTES + 1]) {
    unsigned long result = compute(strtoul(text, NULL, 10));
    snprintf(text, REQUEST_BYTES + 1, "%015lx\n", result & 0xffffffff);
}

/* False: the client has closed the connection. */
static bool serve(int connection) {
    char text[REQUEST_BYTES + 1] = "";
    if (read(connection, text, REQUEST_BYTES) != REQUEST_BYTES)
        return false;
    answer(text);
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

/* ---- an event loop with helpers ---- */

enum { DESCRIPTORS = 1024 };

static char texts[DESCRIPTORS][REQUEST_BYTES + 1]; /* by connection */
static int done_event;
static struct {
    pthread_mutex_t mutex;
    int connections[DESCRIPTORS];
    int count;
} done = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *help(void *unused) {
    int connection;
    while ((connection = queue_get()) >= 0) {
        answer(texts[connection]);
        pthread_mutex_lock(&done.mutex);
        done.connections[done.count++] = connection;
        pthread_mutex_unlock(&done.mutex);
        eventfd_write(done_event, 1);
    }
    return unused;
}

static void hand_over_next(void) {
    int connection = accept(listener, NULL, NULL);
    if (connection < 0)
        return;
    if (connection < DESCRIPTORS &&
        read(connection, texts[connection], REQUEST_BYTES) == REQUEST_BYTES)
        queue_put(connection);
    else
        close(connection);
}

static void reply_to_done(void) {
    eventfd_t times;
    int connections[DESCRIPTORS];
    eventfd_read(done_event, &times);
    pthread_mutex_lock(&done.mutex);
    int count = done.count;
    memcpy(connections, done.connections, sizeof *connections * (size_t)count);
    done.count = 0;
    pthread_mutex_unlock(&done.mutex);
    for (int i = 0; i < count; i++) {
        check(write(connections[i], texts[connections[i]], REQUEST_BYTES) > 0, "write");
        close(connections[i]);
    }
}

static void run_helped_loop(int loop) {
    struct epoll_event events[EVENTS];
    watch(loop, listener, 0, EPOLL_CTL_ADD);
    watch(loop, done_event, 0, EPOLL_CTL_ADD);
    while (!stopped) {
        int n = epoll_wait(loop, events, EVENTS, -1);
        for (int i = 0; i < n; i++)
            if (events[i].data.fd == listener)
                hand_over_next();
            else if (events[i].data.fd == done_event)
                reply_to_done();
    }
    queue_close();
}

/* ---- a thread for each connection ---- */

static sem_t may_live; /* in `limited` */

static void *serve_one_and_end(void *connection) {
    serve((int)(long)connection);
    close((int)(long)connection);
    return NULL;
}

static void *serve_limited(void *connection) {
    serve_one_and_end(connection);
    sem_post(&may_live);
    return NULL;
}

static void *serve_all_and_end(void *connection) {
    while (serve((int)(long)connection))
        ;
    close((int)(long)connection);
    return NULL;
}

static void accept_into_threads(void *(*routine)(void *)) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (;;) {
        if (routine == serve_limited)
            sem_wait(&may_live);
        pthread_t thread;
        long connection = accept(listener, NULL, NULL);
        if (connection < 0)
            return;
        check(pthread_create(&thread, &detached, routine, (void *)connection) == 0, "a thread");
    }
}

/* ---- datagrams ---- */

static int sockets[THREADS];

/* False: there is none, or the server ends. */
static bool serve_datagram(int from, int flags) {
    char text[REQUEST_BYTES + 1] = "";
    struct sockaddr_in client;
    socklen_t length = sizeof client;
    if (recvfrom(from, text, REQUEST_BYTES, flags, (struct sockaddr *)&client, &length) !=
        REQUEST_BYTES)
        return false;
    answer(text);
    return sendto(from, text, REQUEST_BYTES, 0, (struct sockaddr *)&client, length) > 0;
}

static void *receive_datagrams(void *unused) {
    while (!stopped)
        serve_datagram(listener, 0);
    return unused;
}

static void *poll_datagrams(void *unused) {
    struct pollfd ready[] = {{listener, POLLIN, 0}, {stop_event, POLLIN, 0}};
    while (!stopped)
        if (poll(ready, 2, -1) > 0)
            serve_datagram(listener, MSG_DONTWAIT);
    return unused;
}

static void *loop_over_datagrams(void *argument) {
    int number = (int)((int *)argument - loops);
    struct epoll_event event;
    while (!stopped)
        if (epoll_wait(loops[number], &event, 1, -1) == 1 && event.data.fd != stop_event)
            while (serve_datagram(sockets[number], MSG_DONTWAIT))
                ;
    return NULL;
}

/* ---- the whole ---- */

static void stop(int number) {
    (void)number;
    stopped = 1;
    shutdown(listener, SHUT_RD); /* whoever accepts or receives is told */
    eventfd_write(stop_event, 1);
}

static struct sockaddr_in own_address(void) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    check(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
    return address;
}

/* `port` 0: a free one. */
static int bound_socket(int type, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, bound = socket(AF_INET, type, 0);
    if (type == SOCK_DGRAM)
        setsockopt(bound, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    check(bind(bound, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    return bound;
}

static void listen_on_free_port(void) {
    listener = bound_socket(SOCK_STREAM, 0);
    check(listen(listener, 1024) == 0, "listen");
}

static void receive_on_free_port(int n_sockets) {
    listener = sockets[0] = bound_socket(SOCK_DGRAM, 0);
    for (int i = 1; i < n_sockets; i++)
        sockets[i] = bound_socket(SOCK_DGRAM, ntohs(own_address().sin_port));
}

static void tell_port(const char *port_file, bool udp) {
    struct sockaddr_in address = own_address();
    char part[4096];
    snprintf(part, sizeof part, "%s.part", port_file);
    FILE *file = fopen(part, "w");
    check(file != NULL, part);
    fprintf(file, "%d %d %s\n", ntohs(address.sin_port), getpid(), udp ? "udp" : "tcp");
    fclose(file);
    check(rename(part, port_file) == 0, port_file);
}

static const struct kind {
    const char *name;
    void *(*routine)(void *);
    bool udp, has_own, makes_threads; /* each thread has its own loop; for each connection */
} kinds[] = {
    {"queue", take_connections, false, false, false},
    {"accept", accept_connections, false, false, false},
    {"epoll", run_loop, false, true, false},
    {"shared", run_shared_loop, false, false, false},
    {"helped", help, false, false, false},
    {"thread", serve_one_and_end, false, false, true},
    {"limited", serve_limited, false, false, true},
    {"kept", serve_all_and_end, false, false, true},
    {"udp", receive_datagrams, true, false, false},
    {"udp-poll", poll_datagrams, true, false, false},
    {"udp-own", loop_over_datagrams, true, true, false},
};

static const struct kind *kind_named(const char *name) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    fprintf(stderr, "server: no kind %s\n", name);
    exit(1);
}

static void start_loops(const struct kind *kind, int threads) {
    stop_event = eventfd(0, 0);
    done_event = eventfd(0, 0);
    for (int i = 0; i < (kind->has_own ? threads : 1); i++) {
        loops[i] = epoll_create1(0);
        watch(loops[i], stop_event, 0, EPOLL_CTL_ADD);
        if (kind->udp)
            watch(loops[i], sockets[i], 0, EPOLL_CTL_ADD);
    }
}

int main(int argc, char **argv) {
    check(argc == 4, "usage: server KIND THREADS PORT-FILE");
    const struct kind *kind = kind_named(argv[1]);
    int threads = atoi(argv[2]);
    check(threads > 0 && threads <= THREADS, "THREADS");
    struct sigaction on_stop = {.sa_handler = stop};
    sigaction(SIGTERM, &on_stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (kind->udp)
        receive_on_free_port(kind->has_own ? threads : 1);
    else
        listen_on_free_port();
    start_loops(kind, threads);
    sem_init(&may_live, 0, (unsigned)threads);
    pthread_t workers[THREADS];
    for (int i = 0; i < threads && !kind->makes_threads; i++)
        pthread_create(&workers[i], NULL, kind->routine, &loops[kind->has_own ? i : 0]);
    tell_port(argv[3], kind->udp);
    if (kind->makes_threads)
        accept_into_threads(kind->routine);
    else if (kind->routine == take_connections)
        accept_into_queue();
    else if (kind->routine == help)
        run_helped_loop(loops[0]);
    else if (kind->routine == run_loop || kind->routine == run_shared_loop)
        accept_into_loops(kind->has_own ? threads : 1, kind->has_own ? 0 : EPOLLONESHOT);
    for (int i = 0; i < threads && !kind->makes_threads; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
