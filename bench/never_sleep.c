/* Preloaded into a client (request-cost.sh): it asks for news again and again instead of sleeping until there are
 * some, so that nobody has to wake it. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int ppoll(struct pollfd *files, nfds_t n, const struct timespec *timeout, const sigset_t *signals) {
    (void)timeout;
    (void)signals;
    struct timespec none = {0, 0};
    return (int)syscall(SYS_ppoll, files, n, &none, NULL, 0);
}
