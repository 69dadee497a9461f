/* A server with a thread per connection, which sends back each line. Usage: serve_threads PORT
 * [HABIT]: what it does besides.
 *   leaves      drops to the user nobody when it is root, as many servers do
 *   refuses     ends at once with exit status 3
 *   dies        is killed by its own SIGSEGV upon the first line
 *   silent      never listens
 *   deaf        ignores SIGTERM
 *   background  goes on in a child and ends, as daemons do
 *   prefork     two children serve, too, with the same socket
 *   fails       has exit status 7 when SIGTERM ends it
 *   itself      is its only client, and ends by itself after a while
 *   busy        computes for 2 seconds, during which it could be asked, and ends by itself
 */
#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *habit = "";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long served;

static int has(const char *name) {
    return strcmp(habit, name) == 0;
}

static void *serve(void *context) {
    int connection = (int)(long)context;
    char text[512];
    ssize_t n;
    while ((n = read(connection, text, sizeof text)) > 0) {
        if (has("dies"))
            raise(SIGSEGV);
        pthread_mutex_lock(&mutex);
        served++;
        pthread_mutex_unlock(&mutex);
        if (write(connection, text, (size_t)n) != n)
            break;
    }
    close(connection);
    return NULL;
}

static int listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 64) != 0) {
        perror("serve_threads");
        exit(1);
    }
    return listener;
}

/* Connected to its own socket for longer than anybody waits for a first client. */
static void ask_itself(int listener) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int client = socket(AF_INET, SOCK_STREAM, 0);
    getsockname(listener, (struct sockaddr *)&address, &length);
    if (connect(client, (struct sockaddr *)&address, length) != 0)
        exit(1);
    usleep(2500000);
    exit(0);
}

static void end(int number) {
    (void)number;
    _exit(7);
}

static void prepare(void) {
    if (has("refuses"))
        exit(3);
    if (has("deaf"))
        signal(SIGTERM, SIG_IGN);
    if (has("fails"))
        signal(SIGTERM, end);
    if (has("background") && fork() != 0)
        exit(0);
    while (has("silent"))
        pause();
}

int main(int argc, char **argv) {
    habit = argc > 2 ? argv[2] : "";
    prepare();
    int listener = listen_on(argc > 1 ? atoi(argv[1]) : 0);
    if (has("leaves") && getuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
        return 1;
    if (has("itself"))
        ask_itself(listener);
    if (has("busy")) {
        while (clock() < 2 * CLOCKS_PER_SEC)
            ;
        return 0;
    }
    for (int i = 0; has("prefork") && i < 2; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            break;
        }
    for (;;) {
        pthread_t thread;
        int connection = accept(listener, NULL, NULL);
        if (connection < 0 || pthread_create(&thread, NULL, serve, (void *)(long)connection) != 0)
            return 1;
        pthread_detach(thread);
    }
}
