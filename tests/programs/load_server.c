/* A server of one thread that serves one request at a time, by sleeping, for `persik load` to be
 * held against (tests/load.sh, bench/load.sh).
 *
 * usage: load_server KIND [--service US] [--exponential] [--stall MS --stall-at N] [--each N]
 *
 * KIND is http, lines, udp; or, all over HTTP: early (closes in the middle of the reply), silent
 * (never replies), error (503), chunked, endless (no length: the reply ends with the connection),
 * noise (no HTTP). --service: of each request, the mean with --exponential; --stall: request N
 * takes so much longer; --each: the connection is closed after N requests.
 *
 * Prints its port on stdout. On SIGTERM it prints, on stderr, how many requests it served, the mean
 * of their service times in seconds, and the mean of the squares; and exits 0. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FDS = 65536, REQUEST_BYTES = 4096 };

static const char *kind;
static double service_s, stall_s;
static long stall_at = -1, each;
static int exponential;

static long served;
static double sum_s, sum_squares;
static long requests_of[MOST_FDS];
static volatile sig_atomic_t ended;

static void end(int number) {
    (void)number;
    ended = 1;
}

static int is(const char *name) {
    return strcmp(kind, name) == 0;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_s(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR && !ended)
        continue;
}

static void serve(void) {
    double time = exponential ? -service_s * log(1 - drand48()) : service_s;
    if (served == stall_at)
        time += stall_s;
    if (time > 0)
        sleep_s(time);
}

/* All that the server did for a request since `began_s`. */
static void count(double began_s) {
    double took = now_s() - began_s;
    served++;
    sum_s += took;
    sum_squares += took * took;
}

static const char *reply(void) {
    if (is("lines"))
        return "VALUE 1\r\nEND\r\n";
    if (is("early"))
        return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello";
    if (is("error"))
        return "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    if (is("chunked"))
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
               "chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    if (is("endless"))
        return "HTTP/1.1 200 OK\r\n\r\nhello";
    if (is("noise"))
        return "220 ready\r\n";
    return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
}

/* One request is as much as is read at once: they are small, and the client sends one at a time. */
static void answer(int connection) {
    char request[REQUEST_BYTES];
    double began_s = now_s();
    ssize_t n = recv(connection, request, sizeof request, 0);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            close(connection);
        return;
    }
    if (is("silent"))
        return;
    serve();
    int last = each > 0 && ++requests_of[connection] % each == 0;
    send(connection, reply(), strlen(reply()), MSG_NOSIGNAL);
    count(began_s);
    if (last || is("early") || is("endless"))
        close(connection);
}

static void answer_datagram(int socket) {
    char request[REQUEST_BYTES];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    double began_s = now_s();
    ssize_t n = recvfrom(socket, request, sizeof request, 0, (struct sockaddr *)&from, &length);
    if (n < 0)
        return;
    serve();
    sendto(socket, request, (size_t)n, 0, (struct sockaddr *)&from, length);
    count(began_s);
}

static void accept_all(int listener, int epoll) {
    int connection, one = 1;
    while ((connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connection >= MOST_FDS)
            errx(1, "too many connections");
        requests_of[connection] = 0;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = connection};
        epoll_ctl(epoll, EPOLL_CTL_ADD, connection, &event);
    }
}

static int listen_on(int type) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, type | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) < 0 ||
        (type == SOCK_STREAM && listen(listener, 4096) < 0) ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        err(1, "cannot listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void parse(int argc, char **argv) {
    kind = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--exponential") == 0)
            exponential = 1;
        else if (strcmp(argv[i], "--service") == 0)
            service_s = atof(value) / 1e6;
        else if (strcmp(argv[i], "--stall") == 0)
            stall_s = atof(value) / 1e3;
        else if (strcmp(argv[i], "--stall-at") == 0)
            stall_at = atol(value);
        else if (strcmp(argv[i], "--each") == 0)
            each = atol(value);
    }
}

int main(int argc, char **argv) {
    parse(argc, argv);
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int listener = listen_on(is("udp") ? SOCK_DGRAM : SOCK_STREAM);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    while (!ended) {
        if (epoll_wait(epoll, &event, 1, 100) != 1)
            continue;
        if (event.data.fd != listener)
            answer(event.data.fd);
        else if (is("udp"))
            answer_datagram(listener);
        else
            accept_all(listener, epoll);
    }
    double n = served ? (double)served : 1;
    fprintf(stderr, "%ld %.9f %.12f\n", served, sum_s / n, sum_squares / n);
    return 0;
}
