/* A UDP server with two threads, which send back what they get. Usage: serve_udp PORT */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int server;

static void *serve(void *context) {
    char text[512];
    for (;;) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t n = recvfrom(server, text, sizeof text, 0, (struct sockaddr *)&from, &length);
        if (n > 0)
            sendto(server, text, (size_t)n, 0, (struct sockaddr *)&from, length);
    }
    return context;
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 0)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    server = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("serve_udp");
        return 1;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, serve, NULL);
    serve(NULL);
}
