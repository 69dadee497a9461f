/* A server whose replies have a size and cost computation, for bench/network.sh.
 *
 * usage: reply_server KIND PORT THREADS COMPUTE_US REPLY_BYTES CONGESTION
 *
 * KIND is `kept`: each thread has an event loop and a listening socket of its own, and connections
 * are for many requests; or `each`: all threads accept from one socket, a connection is for one
 * request. A request is a line, a reply one of REPLY_BYTES; CONGESTION is TCP's way of avoiding
 * jams, such as cubic or bbr. It listens on all interfaces, and
 * ends upon SIGTERM. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_THREADS = 64, ROUNDS_PER_US = 600, EVENTS = 16, BACKLOG = 1024 };

static unsigned long rounds;
static size_t reply_bytes;
static char *reply;

static void compute(void) {
    volatile unsigned long start = 1;
    unsigned long x = start;
    for (unsigned long i = 0; i < rounds; i++)
        x = x * 6364136223846793005UL + 1442695040888963407UL;
    start = x;
}

static int listen_on(int port, const char *congestion) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)) < 0)
        err(1, "no congestion control %s", congestion);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listener, BACKLOG) < 0)
        err(1, "cannot listen on port %d", port);
    return listener;
}

/* One request. False: the client has closed the connection. */
static bool serve(int connection) {
    char text[256];
    if (read(connection, text, sizeof text) <= 0)
        return false;
    compute();
    return write(connection, reply, reply_bytes) == (ssize_t)reply_bytes;
}

static void *serve_each(void *argument) {
    int listener = *(int *)argument;
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        serve(connection);
        close(connection);
    }
    return NULL;
}

static void watch(int loop, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
}

static void *serve_kept(void *argument) {
    int listener = *(int *)argument, loop = epoll_create1(EPOLL_CLOEXEC);
    watch(loop, listener);
    for (;;) {
        struct epoll_event events[EVENTS];
        int n = epoll_wait(loop, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            int descriptor = events[i].data.fd;
            if (descriptor == listener)
                watch(loop, accept(listener, NULL, NULL));
            else if (!serve(descriptor))
                close(descriptor);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 7)
        errx(2, "see the head of reply_server.c");
    bool is_kept = strcmp(argv[1], "kept") == 0;
    int port = atoi(argv[2]), threads = atoi(argv[3]);
    rounds = strtoul(argv[4], NULL, 10) * ROUNDS_PER_US;
    reply_bytes = strtoul(argv[5], NULL, 10);
    reply = malloc(reply_bytes);
    if (!reply || threads < 1 || threads > MOST_THREADS)
        errx(2, "see the head of reply_server.c");
    memset(reply, 'a', reply_bytes);
    reply[reply_bytes - 1] = '\n';

    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    static int listeners[MOST_THREADS];
    for (int i = 0; i < threads; i++) {
        listeners[i] = is_kept || i == 0 ? listen_on(port, argv[6]) : listeners[0];
        pthread_t thread;
        if (pthread_create(&thread, NULL, is_kept ? serve_kept : serve_each, &listeners[i]) != 0)
            errx(1, "no thread");
    }
    int number;
    sigwait(&ending, &number);
    return 0;
}
