/* A server with one event loop, which sends back what it gets. Usage: serve_epoll PORT. SIGTERM
 * ends it in an orderly way. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int number) {
    (void)number;
    ended = 1;
}

static int listen_on(int port) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((unsigned short)port)};
    int yes = 1, listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 64) != 0)
        return -1;
    return listener;
}

static void watch(int loop, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
}

static void answer(int connection) {
    char text[512];
    ssize_t n = read(connection, text, sizeof text);
    if (n <= 0 || write(connection, text, (size_t)n) != n)
        close(connection);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    int loop = epoll_create1(0), listener = listen_on(argc > 1 ? atoi(argv[1]) : 0);
    if (listener < 0) {
        perror("serve_epoll");
        return 1;
    }
    watch(loop, listener);
    while (!ended) {
        struct epoll_event events[16];
        int n = epoll_wait(loop, events, 16, -1);
        for (int i = 0; i < n; i++) {
            int descriptor = events[i].data.fd;
            int connection = descriptor == listener ? accept(listener, NULL, NULL) : -1;
            if (connection >= 0)
                watch(loop, connection);
            else if (descriptor != listener)
                answer(descriptor);
        }
    }
    puts("ended");
    return 0;
}
