/* A client for the serve_*.c. Usage: ask free          prints a port that is free
 *                                   ask tcp|udp PORT N asks N times, 0 when each answer came
 * With $PERSIK_LOAD_RESULT it writes there what `persik validate --load` compares. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int print_free_port(void) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int any = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(any, (struct sockaddr *)&address, length) != 0 ||
        getsockname(any, (struct sockaddr *)&address, &length) != 0)
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    return 0;
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int write_result(int n, double took_ns) {
    const char *path = getenv("PERSIK_LOAD_RESULT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!path)
        return 0;
    if (!file)
        return 1;
    double mean_ns = took_ns / n; /* one client asks: all the time somebody is served */
    fprintf(file,
            "{\"requests\": %d, \"errors\": 0, \"seconds\": %.9f, \"throughput_per_s\": %.3f, "
            "\"response_ns\": {\"mean\": %.0f, \"p50\": %.0f, \"p95\": %.0f, \"p99\": %.0f, "
            "\"max\": %.0f}}\n",
            n, took_ns / 1e9, n / (took_ns / 1e9), mean_ns, mean_ns, mean_ns, mean_ns, mean_ns);
    return fclose(file);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "free") == 0)
        return print_free_port();
    if (argc != 4)
        return 2;
    struct sockaddr_in address = loopback(atoi(argv[2]));
    int n = atoi(argv[3]);
    int server = socket(AF_INET, strcmp(argv[1], "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM, 0);
    struct timeval patience = {.tv_sec = 5};
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("ask");
        return 1;
    }
    double start_ns = now_ns();
    for (int i = 0; i < n; i++) {
        char text[16] = "request\n";
        if (write(server, text, 8) != 8 || read(server, text, sizeof text) != 8) {
            fprintf(stderr, "ask: no answer\n");
            return 1;
        }
    }
    return write_result(n, now_ns() - start_ns);
}
