/*
 * tornado: a web server with an acceptor, a queue and a pool of workers.
 *
 * The acceptor takes connections and puts them into a bounded queue. Each worker takes one, reads a
 * GET request, looks for the file (stat), opens, reads and sends it, and closes the connection; or
 * goes on with it, if asked to keep connections alive. What limits it is the disk when the files
 * are not in memory, else the cores, the more so with --compute.
 *
 * SIGTERM and SIGINT end it in an orderly way: what is accepted is still served.
 */
#define _GNU_SOURCE
#include "http.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    SILENCE_S = 2,                /* a connection on which nothing comes is closed */
    BACKLOG = 1024,               /* connections that the kernel accepts for us */
    ROUNDS_PER_MICROSECOND = 250, /* of --compute, about */
};

/* --------------------------------------------------------------------------------------- queue */

/* First in, first out, at most capacity connections. */
struct connection_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    int *slots;
    int capacity;
    int first; /* slot of the oldest connection */
    int count;
    bool closed;
};

static void queue_init(struct connection_queue *queue, int capacity) {
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    queue->slots = calloc((size_t)capacity, sizeof *queue->slots);
    if (!queue->slots)
        err(EXIT_FAILURE, "out of memory for a queue of %d connections", capacity);
    queue->capacity = capacity;
    queue->first = 0;
    queue->count = 0;
    queue->closed = false;
}

/* Waits for room. */
static void queue_put(struct connection_queue *queue, int connection) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity)
        pthread_cond_wait(&queue->not_full, &queue->mutex);
    queue->slots[(queue->first + queue->count) % queue->capacity] = connection;
    queue->count++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

/* Waits for a connection. -1: the queue is closed and empty. */
static int queue_take(struct connection_queue *queue) {
    int connection = -1;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    if (queue->count > 0) {
        connection = queue->slots[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->mutex);
    return connection;
}

/* No connection will be put any more: those who wait for one need not. */
static void queue_close(struct connection_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

static void queue_destroy(struct connection_queue *queue) {
    free(queue->slots);
    pthread_cond_destroy(&queue->not_full);
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->mutex);
}

/* ------------------------------------------------------------------------------------- threads */

struct server {
    struct site site;
    int listener;
    struct connection_queue queue;
    pthread_t acceptor;
    struct worker *workers;
    int threads;
};

struct worker {
    struct server *server;
    pthread_t thread;
    struct http http;
};

/* Until main shuts the listening socket. */
static void *acceptor_run(void *arg) {
    struct server *server = arg;
    struct timeval silence = {.tv_sec = SILENCE_S};
    int one = 1;
    for (;;) {
        int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0 && errno == EINVAL)
            return NULL;
        if (connection < 0) {
            if (errno != EINTR && errno != ECONNABORTED)
                warn("cannot accept a connection");
            continue;
        }
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        queue_put(&server->queue, connection);
    }
}

static void *worker_run(void *arg) {
    struct worker *worker = arg;
    int connection;
    while ((connection = queue_take(&worker->server->queue)) >= 0)
        http_serve(&worker->http, connection);
    return NULL;
}

static pthread_t start_thread(void *(*run)(void *), void *arg) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, run, arg);
    if (errno)
        err(EXIT_FAILURE, "cannot create a thread");
    return thread;
}

static void start_threads(struct server *server) {
    server->workers = calloc((size_t)server->threads, sizeof *server->workers);
    if (!server->workers)
        err(EXIT_FAILURE, "out of memory for %d threads", server->threads);
    for (int i = 0; i < server->threads; i++) {
        struct worker *worker = &server->workers[i];
        worker->server = server;
        worker->http.site = &server->site;
        worker->thread = start_thread(worker_run, worker);
    }
    server->acceptor = start_thread(acceptor_run, server);
}

static void join_threads(struct server *server) {
    shutdown(server->listener, SHUT_RD); /* accept fails with EINVAL from here on */
    pthread_join(server->acceptor, NULL);
    queue_close(&server->queue);
    for (int i = 0; i < server->threads; i++)
        pthread_join(server->workers[i].thread, NULL);
}

/* ---------------------------------------------------------------------------------------- main */

struct options {
    int port;
    int threads;
    int queue;
    int compute_us;
    bool keep_alive;
    const char *root;
};

static const char usage[] =
    "Usage: tornado [options]\n"
    "Serves files over HTTP: one acceptor, a queue of connections, N workers.\n"
    "  --port N        on the loopback address (default 0: any free one)\n"
    "  --threads N     workers (default 4)\n"
    "  --queue N       connections that wait for a worker (default 128)\n"
    "  --root FOLDER   what is served (default .)\n"
    "  --compute N     compute for about N microseconds per request (default 0)\n"
    "  --keep-alive    serve several requests per connection\n"
    "  --help          show this text\n"
    "Prints `listening on port N`. SIGTERM ends it.\n";

static int parse_count(const char *option, const char *text, int min, int max) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < min || value > max)
        errx(EXIT_USAGE, "--%s: '%s' is not a whole number from %d to %d", option, text, min, max);
    return (int)value;
}

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"port", required_argument, NULL, 'p'},    {"threads", required_argument, NULL, 't'},
        {"queue", required_argument, NULL, 'q'},   {"root", required_argument, NULL, 'r'},
        {"compute", required_argument, NULL, 'c'}, {"keep-alive", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    struct options options = {.threads = 4, .queue = 128, .root = "."};
    int c;
    while ((c = getopt_long(argc, argv, "p:t:q:r:c:kh", longs, NULL)) != -1) {
        switch (c) {
        case 'p':
            options.port = parse_count("port", optarg, 0, 65535);
            break;
        case 't':
            options.threads = parse_count("threads", optarg, 1, MAX_THREADS);
            break;
        case 'q':
            options.queue = parse_count("queue", optarg, 1, 1000000);
            break;
        case 'r':
            options.root = optarg;
            break;
        case 'c':
            options.compute_us = parse_count("compute", optarg, 0, 1000000);
            break;
        case 'k':
            options.keep_alive = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        default:
            errx(EXIT_USAGE, "see --help");
        }
    }
    if (optind < argc)
        errx(EXIT_USAGE, "unexpected argument '%s': see --help", argv[optind]);
    struct stat status;
    if (stat(options.root, &status) < 0 || !S_ISDIR(status.st_mode))
        errx(EXIT_USAGE, "--root: '%s' is no folder", options.root);
    return options;
}

static int listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        err(EXIT_FAILURE, "cannot make a socket");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, BACKLOG) < 0)
        err(EXIT_FAILURE, "cannot listen on port %d", port);
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("listening on port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

/* Taken by sigwait in main alone: all threads inherit the mask. */
static sigset_t block_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return signals;
}

static void print_results(const struct server *server) {
    uint64_t requests = 0, bytes = 0, checksum = 0;
    for (int i = 0; i < server->threads; i++) {
        requests += server->workers[i].http.requests;
        bytes += server->workers[i].http.bytes;
        checksum += server->workers[i].http.checksum;
    }
    printf("tornado: %llu requests, %llu bytes of files, %d threads, computed %016llx\n",
           (unsigned long long)requests, (unsigned long long)bytes, server->threads,
           (unsigned long long)checksum);
}

int main(int argc, char **argv) {
    struct options options = parse_options(argc, argv);
    static struct server server;
    server.site = (struct site){.root = options.root,
                                .keep_alive = options.keep_alive,
                                .compute_rounds = options.compute_us * ROUNDS_PER_MICROSECOND};
    server.threads = options.threads;
    sigset_t signals = block_signals();
    queue_init(&server.queue, options.queue);
    server.listener = listen_on(options.port);
    start_threads(&server);

    int number;
    sigwait(&signals, &number);
    join_threads(&server);
    close(server.listener);
    print_results(&server);
    queue_destroy(&server.queue);
    free(server.workers);
    return EXIT_SUCCESS;
}
