#include "load/sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum { MOST_EVENTS = 256 };

struct sockets {
    const struct target *target;
    int epoll, most;
    int *descriptors; /* by slot; -1: none */
};

struct sockets *sockets_new(const struct target *target, int most, struct error *error) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        error_set(error, "cannot wait for connections: %s", strerror(errno));
        return NULL;
    }
    struct sockets *sockets = memory_alloc(1, sizeof *sockets);
    sockets->target = target;
    sockets->epoll = epoll;
    sockets->most = most;
    sockets->descriptors = memory_alloc((size_t)most, sizeof *sockets->descriptors);
    for (int i = 0; i < most; i++)
        sockets->descriptors[i] = -1;
    /* The kernel wakes sleepers up to 50 us late, to wake several at once. */
    prctl(PR_SET_TIMERSLACK, 1UL);
    return sockets;
}

void sockets_free(struct sockets *sockets) {
    if (!sockets)
        return;
    for (int i = 0; i < sockets->most; i++)
        if (sockets->descriptors[i] >= 0)
            close(sockets->descriptors[i]);
    close(sockets->epoll);
    free(sockets->descriptors);
    free(sockets);
}

static uint64_t now_ns(void *context) {
    (void)context;
    return clock_now_ns(CLOCK_MONOTONIC);
}

static int connect_socket(const struct sockets *sockets, int descriptor) {
    const struct target *target = sockets->target;
    int one = 1;
    if (target->protocol != LOAD_DATAGRAMS)
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(descriptor, (const struct sockaddr *)&target->address, target->address_bytes) < 0 &&
        errno != EINPROGRESS)
        return -errno;
    return 0;
}

static int open_slot(void *context, int slot) {
    struct sockets *sockets = context;
    const struct target *target = sockets->target;
    int type = target->protocol == LOAD_DATAGRAMS ? SOCK_DGRAM : SOCK_STREAM;
    int descriptor = socket(target->address.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -errno;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.fd = slot};
    int status = connect_socket(sockets, descriptor);
    if (status == 0 && epoll_ctl(sockets->epoll, EPOLL_CTL_ADD, descriptor, &event) < 0)
        status = -errno;
    if (status < 0)
        close(descriptor);
    else
        sockets->descriptors[slot] = descriptor;
    return status;
}

static void close_slot(void *context, int slot) {
    struct sockets *sockets = context;
    close(sockets->descriptors[slot]);
    sockets->descriptors[slot] = -1;
}

static ssize_t send_bytes(void *context, int slot, const char *bytes, size_t n) {
    struct sockets *sockets = context;
    ssize_t sent = send(sockets->descriptors[slot], bytes, n, MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
}

static ssize_t receive_bytes(void *context, int slot, char *bytes, size_t n) {
    struct sockets *sockets = context;
    ssize_t received = recv(sockets->descriptors[slot], bytes, n, 0);
    return received < 0 ? -errno : received;
}

static int wait_for_events(void *context, uint64_t until_ns, struct transport_event *events,
                           int most) {
    struct sockets *sockets = context;
    uint64_t now = now_ns(NULL);
    uint64_t left_ns = until_ns > now ? until_ns - now : 0;
    struct timespec left = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
    struct epoll_event found[MOST_EVENTS];
    int n =
        epoll_pwait2(sockets->epoll, found, most < MOST_EVENTS ? most : MOST_EVENTS, &left, NULL);
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < n; i++)
        events[i] =
            (struct transport_event){.slot = found[i].data.fd,
                                     .readable = found[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP),
                                     .writable = found[i].events & (EPOLLOUT | EPOLLERR),
                                     .ended = found[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)};
    return n;
}

struct transport sockets_transport(struct sockets *sockets) {
    return (struct transport){.context = sockets,
                              .now_ns = now_ns,
                              .open = open_slot,
                              .send = send_bytes,
                              .receive = receive_bytes,
                              .close = close_slot,
                              .wait = wait_for_events};
}
