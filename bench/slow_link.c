/* A network as slow as one to clients far away, for experiments on machines whose kernel has none
 * (netem): two network interfaces (TUN), each in a network namespace of its own, and this program
 * as the wire between them. Each direction sends one packet at a time, with all its headers, for
 *
 *     bytes / bandwidth
 *
 * and it arrives the latency after it was sent whole. No packet is lost or overtaken. What the
 * kernels at both ends do (TCP's windows, acknowledgements) is theirs.
 *
 * usage: slow_link --latency US [--bandwidth BYTES/S]
 *
 * One end is made in the network namespace in which the program is started, with the address
 * 10.77.0.1; the other in a new one, which is the program's own, with 10.77.0.2: to run something
 * there, nsenter --net=/proc/PID/ns/net. Prints a line when the link is up. On SIGTERM, or when its
 * parent ends, it prints by how many microseconds packets were delivered late in the mean, and
 * ends, and with it both interfaces. Root only. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_BYTES = 1500, MOST_UNDER_WAY = 16384 };

struct packet {
    uint64_t due_ns;
    size_t n;
    unsigned char bytes[PACKET_BYTES];
};

/* From one interface to the other; a ring of what is on the way. */
struct direction {
    int from, to;
    uint64_t free_ns; /* when all was sent that came so far */
    struct packet *packets;
    size_t first, n;
};

static volatile sig_atomic_t ended;
static double late_ns, delivered; /* sum and number */
static uint64_t latency_ns;
static double bytes_per_s; /* 0: no limit */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* An interface of this network namespace, which goes with its descriptor. */
static int interface_new(const char *address) {
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "slowlink");
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &request) < 0)
        err(77, "no network interface of our own");
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in *given = (struct sockaddr_in *)&request.ifr_addr;
    *given = (struct sockaddr_in){.sin_family = AF_INET};
    inet_pton(AF_INET, address, &given->sin_addr);
    if (ioctl(any, SIOCSIFADDR, &request) < 0)
        err(1, "cannot give %s to an interface", address);
    inet_pton(AF_INET, "255.255.255.0", &given->sin_addr);
    if (ioctl(any, SIOCSIFNETMASK, &request) < 0)
        err(1, "cannot set a network's mask");
    request.ifr_qlen = MOST_UNDER_WAY / 2; /* packets wait in here, and none is dropped before */
    if (ioctl(any, SIOCSIFTXQLEN, &request) < 0)
        err(1, "cannot set an interface's queue");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(any, SIOCSIFFLAGS, &request) < 0)
        err(1, "cannot start an interface");
    close(any);
    return tun;
}

static void take_packets(struct direction *way) {
    while (way->n < MOST_UNDER_WAY) {
        struct packet *packet = &way->packets[(way->first + way->n) % MOST_UNDER_WAY];
        ssize_t n = read(way->from, packet->bytes, sizeof packet->bytes);
        if (n <= 0)
            return;
        uint64_t now = now_ns();
        uint64_t begin = way->free_ns > now ? way->free_ns : now;
        way->free_ns = begin + (bytes_per_s > 0 ? (uint64_t)(1e9 * (double)n / bytes_per_s) : 0);
        packet->due_ns = way->free_ns + latency_ns;
        packet->n = (size_t)n;
        way->n++;
    }
}

/* Until when nothing is due. */
static uint64_t deliver_packets(struct direction *way) {
    for (; way->n > 0; way->n--, way->first = (way->first + 1) % MOST_UNDER_WAY) {
        const struct packet *packet = &way->packets[way->first];
        uint64_t now = now_ns();
        if (packet->due_ns > now)
            return packet->due_ns;
        late_ns += (double)(now - packet->due_ns);
        delivered++;
        if (write(way->to, packet->bytes, packet->n) < 0 && errno != EIO)
            warn("a packet is lost");
    }
    return UINT64_MAX;
}

static void wait_until(uint64_t due_ns, const struct direction ways[2]) {
    struct pollfd files[2] = {{.fd = ways[0].from, .events = POLLIN},
                              {.fd = ways[1].from, .events = POLLIN}};
    uint64_t now = now_ns(), left_ns = due_ns > now ? due_ns - now : 0;
    struct timespec left = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
    ppoll(files, 2, due_ns == UINT64_MAX ? NULL : &left, NULL);
}

static void end(int number) {
    (void)number;
    ended = 1;
}

static void read_options(int argc, char **argv) {
    static const struct option options[] = {{"latency", required_argument, NULL, 'l'},
                                            {"bandwidth", required_argument, NULL, 'b'},
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'l')
            latency_ns = (uint64_t)(1000 * atof(optarg));
        else if (c == 'b')
            bytes_per_s = atof(optarg);
        else
            errx(2, "see the head of slow_link.c");
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int near = interface_new("10.77.0.1");
    if (unshare(CLONE_NEWNET) < 0)
        err(77, "no network namespace of our own");
    int far = interface_new("10.77.0.2");
    struct direction ways[2] = {{.from = near, .to = far}, {.from = far, .to = near}};
    for (int i = 0; i < 2; i++) {
        ways[i].packets = malloc(MOST_UNDER_WAY * sizeof *ways[i].packets);
        if (!ways[i].packets)
            err(1, "no memory");
    }
    /* A wire does not wait for a core. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});
    puts("up");
    fflush(stdout);
    while (!ended) {
        uint64_t due_ns = UINT64_MAX;
        for (int i = 0; i < 2; i++) {
            take_packets(&ways[i]);
            uint64_t next_ns = deliver_packets(&ways[i]);
            due_ns = next_ns < due_ns ? next_ns : due_ns;
        }
        wait_until(due_ns, ways);
    }
    printf("%.1f\n", delivered > 0 ? late_ns / delivered / 1e3 : 0);
    return 0;
}
