/* memcached_load PORT CONNECTIONS REQUESTS: asks a memcached on this machine for values, over so
 * many connections, each with one request under way, one in ten a store; then ends the server,
 * which must have been started with -A. Prints the requests per second. Every answer is looked at;
 * a wrong one is exit status 1, and after DEADLINE_S the alarm clock ends it all. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS = 1000, /* at most */
    KEYS = 10000,
    VALUE_BYTES = 1000,
    STORE_EACH = 10,
    DEADLINE_S = 60
};

struct connection {
    char answer[VALUE_BYTES + 200];
    size_t used;
};

static struct connection connections[CONNECTIONS];
static struct pollfd sockets[CONNECTIONS];
static long to_send, to_receive;
static char value[VALUE_BYTES + 1];

static void fail(const char *what) {
    fprintf(stderr, "memcached_load: %s\n", what);
    exit(1);
}

static int connect_to(int port) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("cannot connect: is memcached running?");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_text(int fd, const char *text, size_t length) {
    if (write(fd, text, length) != (ssize_t)length)
        fail("cannot send");
}

static void send_request(int fd) {
    char text[VALUE_BYTES + 100];
    int key = rand() % KEYS, length;
    if (to_send % STORE_EACH == 0)
        length = snprintf(text, sizeof text, "set key%d 0 0 %d\r\n%s\r\n", key, VALUE_BYTES, value);
    else
        length = snprintf(text, sizeof text, "get key%d\r\n", key);
    send_text(fd, text, (size_t)length);
    to_send--;
}

static bool ends_with(const struct connection *connection, const char *end) {
    size_t length = strlen(end);
    return connection->used >= length &&
           memcmp(connection->answer + connection->used - length, end, length) == 0;
}

/* An answer is complete with its last line; values hold no line ends. */
static void receive(int fd, struct connection *connection) {
    ssize_t got = read(fd, connection->answer + connection->used,
                       sizeof connection->answer - connection->used);
    if (got <= 0)
        fail("the server has closed a connection, or answers more than was asked");
    connection->used += (size_t)got;
    if (ends_with(connection, "ERROR\r\n"))
        fail("the server does not understand");
    if (!ends_with(connection, "END\r\n") && !ends_with(connection, "STORED\r\n"))
        return;
    connection->used = 0;
    to_receive--;
    if (to_send > 0)
        send_request(fd);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    int port = argc == 4 ? atoi(argv[1]) : 0, count = argc == 4 ? atoi(argv[2]) : 0;
    long requests = argc == 4 ? atol(argv[3]) : 0;
    if (port <= 0 || count <= 0 || count > CONNECTIONS || requests < count) {
        fprintf(stderr, "usage: memcached_load PORT CONNECTIONS REQUESTS\n");
        return 2;
    }
    alarm(DEADLINE_S);
    memset(value, 'x', VALUE_BYTES);
    for (int i = 0; i < count; i++)
        sockets[i] = (struct pollfd){.fd = connect_to(port), .events = POLLIN};
    to_send = to_receive = requests;
    double start = seconds();
    for (int i = 0; i < count; i++)
        send_request(sockets[i].fd);
    while (to_receive > 0) {
        if (poll(sockets, (nfds_t)count, -1) < 0)
            fail("cannot wait for answers");
        for (int i = 0; i < count; i++)
            if (sockets[i].revents)
                receive(sockets[i].fd, &connections[i]);
    }
    printf("%ld requests, %.0f per second\n", requests, (double)requests / (seconds() - start));
    const char end[] = "shutdown\r\n";
    send_text(sockets[0].fd, end, sizeof end - 1);
    return 0;
}
