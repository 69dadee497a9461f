/* server_load PORT RATE REQUESTS ROUNDS CONNECTIONS PROTOCOL: an open load for server.c. Requests
 * are sent at random times (Poisson, RATE a second), whether or not answers come; how much each
 * computes is exponential, of ROUNDS on average. CONNECTIONS 0: each request has a connection of
 * its own; else they go over so many, one under way on each. Over udp these are ports. Then it
 * prints the throughput per second, and the mean and the 95th percentile of the response time in
 * ms, from when each request was to be sent. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_BYTES = 16, LIMIT = 4096 };

struct connection {
    double due; /* of the request under way */
    int got;    /* bytes of its answer */
    int state;
};

enum { CLOSED, IDLE, BUSY };

static struct connection connections[LIMIT];
static struct pollfd sockets[LIMIT];
static int n_connections, port, is_udp;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double exponential(double mean) {
    return -mean * log(1 - drand48());
}

static void open_connection(int c) {
    int one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sockets[c] = (struct pollfd){socket(AF_INET, is_udp ? SOCK_DGRAM : SOCK_STREAM, 0), POLLIN, 0};
    if (sockets[c].fd < 0 ||
        connect(sockets[c].fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    if (!is_udp)
        setsockopt(sockets[c].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connections[c] = (struct connection){.state = IDLE};
}

static void send_request(int c, double due, double rounds) {
    char text[REQUEST_BYTES + 1];
    snprintf(text, sizeof text, "%15.0f\n", exponential(rounds));
    if (write(sockets[c].fd, text, REQUEST_BYTES) != REQUEST_BYTES)
        fail("write");
    connections[c] = (struct connection){due, 0, BUSY};
}

/* A connection that is free, any of them; -1: none. */
static int find_free(int own_each) {
    int first = n_connections > 0 ? (int)(drand48() * n_connections) : 0;
    for (int i = 0; i < n_connections; i++) {
        int c = (first + i) % n_connections;
        if (connections[c].state == (own_each ? CLOSED : IDLE))
            return c;
    }
    if (!own_each || n_connections == LIMIT)
        return -1;
    sockets[n_connections].fd = -1;
    return n_connections++;
}

/* True: the answer is complete. */
static int receive(int c) {
    char text[REQUEST_BYTES];
    ssize_t got = read(sockets[c].fd, text, sizeof text);
    if (got <= 0)
        fail("the server closed a connection");
    connections[c].got += (int)got;
    return connections[c].got == REQUEST_BYTES;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv) {
    if (argc != 7)
        fail("usage: server_load PORT RATE REQUESTS ROUNDS CONNECTIONS PROTOCOL");
    is_udp = strcmp(argv[6], "udp") == 0;
    port = atoi(argv[1]);
    double rate = atof(argv[2]), rounds = atof(argv[4]);
    int requests = atoi(argv[3]), own_each = atoi(argv[5]) == 0;
    double *responses = calloc((size_t)requests, sizeof *responses), sum = 0;
    int answered = 0, sent = 0;
    srand48(time(NULL) ^ getpid());
    for (n_connections = 0; n_connections < atoi(argv[5]); n_connections++)
        open_connection(n_connections);
    double start = now() + 0.05, due = start + exponential(1 / rate);
    while (answered < requests) {
        int c;
        for (; sent < requests && now() >= due && (c = find_free(own_each)) >= 0; sent++) {
            if (own_each)
                open_connection(c);
            send_request(c, due, rounds);
            due += exponential(1 / rate);
        }
        double wait = sent < requests ? fmax(due - now(), 0) : 1;
        if (sent < requests && now() >= due)
            wait = 1; /* for an answer: no connection is free */
        struct timespec limit = {(time_t)wait, (long)(1e9 * (wait - floor(wait)))};
        if (ppoll(sockets, (nfds_t)n_connections, &limit, NULL) <= 0)
            continue;
        for (c = 0; c < n_connections; c++) {
            if (!sockets[c].revents || connections[c].state != BUSY || !receive(c))
                continue;
            responses[answered] = now() - connections[c].due;
            sum += responses[answered++];
            connections[c].state = own_each ? CLOSED : IDLE;
            if (own_each) {
                close(sockets[c].fd);
                sockets[c].fd = -1;
            }
        }
    }
    double seconds = now() - start;
    qsort(responses, (size_t)requests, sizeof *responses, compare);
    printf("%.2f %.3f %.3f\n", requests / seconds, 1e3 * sum / requests,
           1e3 * responses[requests * 95 / 100]);
    free(responses);
    return 0;
}
